"""Why a move is made, in the words of players."""
