"""Tournaments: who meets whom, the games, scores and ratings."""
