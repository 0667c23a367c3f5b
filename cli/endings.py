"""How a command ends that does not end well."""

from __future__ import annotations


class StoppedError(Exception):
    """Ctrl-C, or what amounts to it; the message says what is there and how to go on."""
