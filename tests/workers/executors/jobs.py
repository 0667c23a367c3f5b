"""Jobs for tests of executors: small, and with something wrong with them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from selfplay.errors import InputError


@dataclass(frozen=True)
class Squares:
    """Gives squares; does to some items what it is told."""

    folder: str = ""
    bad: int = -1
    how: str = ""
    seconds: float = 0.0

    def prepare(self) -> Callable[[int], int]:
        if self.how == "unwilling":
            raise InputError("the run is not to be seen from here")
        if self.how == "unable":
            raise RuntimeError("no such kernel")
        return self.square

    def square(self, item: int) -> int:
        time.sleep(self.seconds)
        times = 0
        if self.folder:
            times = self.times(item)
            (Path(self.folder) / f"{item}-{times}").touch()
        if item == self.bad:
            self.be_bad(times)
        return item * item

    def be_bad(self, times: int) -> None:
        match self.how:
            case "raise":
                raise ZeroDivisionError("poisoned")
            case "full disk":
                raise OSError(28, "No space left on device")
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "die once" if times == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            case "kill idle" if times == 0:  # all others have nothing left to do by then
                time.sleep(2)
                mine = os.getppid()
                for process in Path("/proc").glob("[0-9]*"):
                    if is_worker_of(process, mine) and int(process.name) != os.getpid():
                        os.kill(int(process.name), signal.SIGKILL)
                os.kill(os.getpid(), signal.SIGKILL)
            case "hang once" if times == 0:
                time.sleep(60)

    def times(self, item: int) -> int:
        """How often it was begun."""
        return len(list(Path(self.folder).glob(f"{item}-*")))


def is_worker_of(process: Path, parent: int) -> bool:
    try:
        status = (process / "stat").read_text().rpartition(")")[2].split()
        return int(status[1]) == parent and b"ray::Worker" in (process / "cmdline").read_bytes()
    except OSError:
        return False
