"""The games of a run: its plan, the games, the shards, and how far it is."""
