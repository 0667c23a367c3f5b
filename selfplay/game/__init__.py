"""The game: boards, positions, openings, every position ply by ply, and matches."""
