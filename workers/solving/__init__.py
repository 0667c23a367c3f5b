"""Solving many positions: chunks of them, the files of their parts, and who solves them."""
