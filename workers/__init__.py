"""Who does the work and where: the plan of a run, and the executors that carry it out."""
