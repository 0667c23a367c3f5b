"""What makers of this project run; not in the wheel."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
