"""Compiled code that all searches share: the interface to numba, board states, rollouts."""

from contextlib import chdir
from pathlib import Path

with chdir(Path(__file__).parent):  # numba reads settings from the current folder
    import numba as numba
