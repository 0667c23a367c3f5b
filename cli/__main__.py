"""`python -m cli` is `selfplay`."""

from cli.main import main

main()
