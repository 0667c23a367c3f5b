"""Perfect play: the exact kernel, the solver, the opening book, and game review."""
