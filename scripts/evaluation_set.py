"""Make the bundled evaluation set anew: python -m scripts.evaluation_set"""

from __future__ import annotations

import sys

from selfplay.train.evaluation.positions import BUNDLED, sample, scored


def on_progress(done: int, of: int) -> None:
    if done % 100 == 0:
        print(f"{done:,} of {of:,} positions scored", file=sys.stderr, flush=True)


if __name__ == "__main__":
    scored(sample(), on_progress).save(BUNDLED)
