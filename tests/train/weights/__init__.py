"""Learned weights of features and lines."""
