"""The features of positions and moves."""
