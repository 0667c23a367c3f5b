"""`python -m cli` is `selfplay`."""

from cli import main

main()
