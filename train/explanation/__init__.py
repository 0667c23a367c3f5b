"""Why a tree makes a move: in the words of players, and as its path through the tree."""
