"""The `selfplay` command: one file per command, and the drawing of boards and tables.

At import nothing heavy is loaded: each command imports what it needs when it runs.
"""
