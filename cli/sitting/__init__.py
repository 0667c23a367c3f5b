"""People and players at a board: the game, what they may ask, and two ways of showing it."""
