"""Running jobs: executors, the generation of runs, tournaments, and opening books."""
