"""How often a player keeps the game value, on positions with exact scores."""
