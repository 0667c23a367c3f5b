"""Side-by-side benchmarks: what is compared runs in one process, in turns."""
