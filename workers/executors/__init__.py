"""Executors: they run a job in this process, or on Ray actors on one machine or many."""
