"""Tournaments: the games, scores and ratings."""
