"""Where generating and training meet: rounds of improvement."""
