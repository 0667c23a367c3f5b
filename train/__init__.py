"""Decision trees: grown from rows, kept in files, asked for moves and for their reasons."""
