"""Proofs: every position that a player can come into, level by level, and whether its move keeps
the game value."""
