"""Minimax with alpha-beta pruning: the kernel, the heuristics, and the players."""
