"""`python -m selfplay` is the command."""

from selfplay.cli import main

main()
