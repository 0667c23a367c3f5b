"""What a tree sees of a position, or of a move in it."""
