"""The game in the terminal: the board, its keys, menus and saved games."""
