"""Learned weights: what features and lines are worth, and how that is fitted."""
