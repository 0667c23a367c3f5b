"""Monte Carlo tree search: the kernel that grows the tree, and the player."""
