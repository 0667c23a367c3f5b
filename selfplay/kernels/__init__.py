"""Compiled code that all searches share: the compiler's seam, board states, rollouts."""
