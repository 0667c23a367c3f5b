"""Generating a run: its plan, its games, its shards, and its status."""
