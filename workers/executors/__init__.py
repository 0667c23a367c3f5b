"""Who does the work: this process, or Ray actors on one machine or many."""
