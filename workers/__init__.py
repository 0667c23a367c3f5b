"""Running jobs: executors, the generation of runs, and tournaments."""
