"""Tests mirror the rooms: a module's test is where its name says."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
