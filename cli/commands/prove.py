"""`selfplay prove`: whether a player ever gives the game value away."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer import Argument, Option

from selfplay.cli.executors import check_executor_options, executor_of, print_failures
from selfplay.cli.options import Address, Json, Memory, Workers
from selfplay.errors import InputError, printable
from selfplay.game.board import Board
from selfplay.game.position import FIRST, SECOND
from selfplay.solver.mistakes import RESULT_NAMES
from selfplay.wording import counted

if TYPE_CHECKING:
    from selfplay.workers.proof.walk import Proof, Walk

Side = Literal["first", "second"]
_SHOWN = 10


def prove(
    player: Annotated[
        str | None,
        Argument(
            metavar="PLAYER",
            help="Player whose move follows from the stones alone, such as tree:MODEL. "
            "[default: that of --check]",
            show_default=False,
        ),
    ] = None,
    side: Annotated[
        Side | None, Option("--as", help="Who the player is. [default: first]", show_default=False)
    ] = None,
    start: Annotated[
        str | None,
        Option("--from", metavar="MOVES", help="Begin after these moves, such as 44."),
    ] = None,
    stones: Annotated[
        int | None,
        Option(min=0, metavar="N", help="Ask the player in positions with up to N stones."),
    ] = None,
    size: Annotated[
        str | None,
        Option("--board", metavar="COLUMNSxROWS", help="Board size. [default: 7x6]"),
    ] = None,
    connect: Annotated[
        int | None, Option(metavar="K", help="Stones in a row that win. [default: 4]")
    ] = None,
    out: Annotated[
        str | None,
        Option(
            metavar="RUN",
            help="Folder for the walk, its certificate, and the mistakes as a run. "
            "[default: proof-…, by what is proven]",
        ),
    ] = None,
    check: Annotated[
        Path | None,
        Option(metavar="CERTIFICATE", help="Repeat the walk of a certificate, and compare."),
    ] = None,
    teach: Annotated[
        str | None,
        Option(
            metavar="MODEL",
            help="Output file: the tree, taught a move that keeps the value wherever it erred. "
            "The walk goes on with these moves.",
        ),
    ] = None,
    memory: Memory = 64,
    workers: Workers = None,
    address: Address = None,
    as_json: Json = False,
) -> None:
    """Prove that a player never gives the game value away, or show where it does.

    Walks through all positions that the player can come into, by its own moves and all replies, and
    judges each of its moves by the exact solver. A branch ends where it gives the value away. With
    --teach it goes on with a better move, which a tree is taught: then prove the tree of that file.

    The exit code is 0 if nothing is given away, and 1 if something is. Ctrl-C finishes the parts in
    progress; the same command resumes, with any number of workers, and a larger --stones goes on
    from where a smaller one ended.

    Example: selfplay prove perfect --board 4x4 --connect 3 --workers 0
    """
    from selfplay.workers.proof.walk import Proof

    check_executor_options(workers, address)
    jobs = _Jobs(memory, workers, address, as_json=as_json)
    if check is not None:
        if any(given is not None for given in (side, start, stones, size, connect, out, teach)):
            raise InputError("--check repeats what the certificate says: leave the others out")
        _check(check, player, jobs)
        return
    if player is None:
        raise InputError("a PLAYER is missing, such as tree")
    board = Board.parse(size or "7x6", 4 if connect is None else connect)
    who = {"first": FIRST, "second": SECOND}[side or "first"]
    proof = Proof.of(player, board, start or "", who, teaches=teach is not None)
    folder = out or f"proof-{proof.digest[:8]}"
    _check_extent(proof, stones, folder)
    if teach is not None:
        _teach(proof, stones, folder, teach, jobs)
    else:
        _prove(proof, stones, folder, jobs)


class _Jobs:
    """How walks are run and shown."""

    def __init__(
        self, memory: int, workers: int | None, address: str | None, *, as_json: bool
    ) -> None:
        self.memory, self.workers, self.address = memory, workers, address
        self.as_json = as_json

    def walk(self, proof: Proof, folder: Path, stones: int | None) -> Walk:
        """A complete walk; an interrupted one is a StoppedError, a failed one a JobError."""
        from selfplay.cli.compilation import announce_compilation
        from selfplay.cli.proof_progress import levels_and_bar
        from selfplay.pipeline.job import run_job
        from selfplay.registry import PlayerSpec
        from selfplay.solver.solver import Solver
        from selfplay.workers.executors.stopping import Stop
        from selfplay.workers.proof.players import Asking
        from selfplay.workers.proof.walk import Walk, begin, run

        announce_compilation(proof.board)
        walk = Walk(proof=proof, folder=folder, most_stones=stones)
        asking = Asking(PlayerSpec.parse(proof.player), proof.board)
        begin(walk, asking, Solver(proof.board, memory=self.memory))
        executor = executor_of(self.workers, self.address)
        ended = run_job(
            partial(run, walk, executor, self.memory),
            walk,
            executor,
            levels_and_bar(as_json=self.as_json),
            Stop(),
        )
        print_failures(walk.failed, "part")
        where = f"{counted(len(walk.levels), 'level')} of the walk are complete"
        ended.raise_unless_complete(where, f"the same command resumes from {folder}")
        return walk


def _check_extent(proof: Proof, stones: int | None, out: str) -> None:
    if "://" in out:
        raise InputError("a walk needs a folder of this machine: --out is no URI")
    if stones is not None and stones < proof.first_stones:
        raise InputError(
            f"--stones {stones} asks nothing: the player is asked first with "
            f"{counted(proof.first_stones, 'stone')}"
        )


def _prove(proof: Proof, stones: int | None, out: str, jobs: _Jobs) -> None:
    from selfplay.workers.proof.certificate import certificate_of, save

    folder = Path(out)
    walk = jobs.walk(proof, folder / "walk", stones)
    file = folder / "certificate.json"
    certificate = certificate_of(walk)
    save(certificate, file)
    _print_verdict(walk, certificate, as_json=jobs.as_json)
    if not jobs.as_json:
        print(f"{printable(str(file))}: repeat it with `selfplay prove --check`")
    _save_mistakes(proof, walk, out, jobs)
    if walk.mistakes:
        raise typer.Exit(1)


def _teach(proof: Proof, stones: int | None, out: str, file: str, jobs: _Jobs) -> None:
    from selfplay.pipeline.teaching import check_can_be_taught, taught_model
    from selfplay.train.model import ready_to_write

    check_can_be_taught(proof.player)
    ready_to_write(file)
    walk = jobs.walk(proof, Path(out) / "walk", stones)
    model = taught_model(proof, walk.folder)
    model.save(file)
    taught = len(model.taught or ())
    if jobs.as_json:
        record = {"event": "taught", "model": file, "fingerprint": model.fingerprint}
        print(json.dumps({**record, "taught": taught, "whole": walk.is_whole}))
    else:
        print(f"{printable(file)}: the tree, taught {counted(taught, 'position')}")
        print(f"prove it with: selfplay prove tree:{printable(file)}")
    _save_mistakes(proof, walk, out, jobs)


def _save_mistakes(proof: Proof, walk: Walk, out: str, jobs: _Jobs) -> None:
    from selfplay.cli.data_card import write_card
    from selfplay.workers.proof.mistakes import save_mistakes

    dataset = save_mistakes(proof, walk.folder, out)
    if dataset is None:
        return
    write_card(dataset)
    if not jobs.as_json:
        print(f"{dataset.place}: {counted(dataset.positions, 'mistake')} as a run")


def _check(file: Path, player: str | None, jobs: _Jobs) -> None:
    from selfplay.workers.proof.certificate import certificate_of, differences, load, proof_in
    from selfplay.workers.proof.files import remove

    certificate = load(file)
    proof = proof_in(certificate, file, player)
    folder = file.with_name(f"{file.name}.check")
    walk = jobs.walk(proof, folder, certificate["stones"])
    found = list(differences(certificate, certificate_of(walk)))
    remove(folder)
    if jobs.as_json:
        print(json.dumps({"event": "check", "certificate": str(file), "differences": found}))
    else:
        for difference in found:
            print(printable(difference))
        said = counted(len(found), "difference") if found else "found again"
        print(f"{printable(str(file))}: {said}; {certificate_of(walk)['verdict']}")
    if found:
        raise typer.Exit(1)


def _print_verdict(walk: Walk, certificate: dict[str, Any], *, as_json: bool) -> None:
    from selfplay.workers.proof.lines import shortest, worst

    lines = []
    if walk.mistakes:
        reached = walk.proof, walk.folder, walk.most_stones
        lines = [
            {"line": m.line, "from": RESULT_NAMES[m.value], "to": RESULT_NAMES[m.after]}
            for m in (shortest(*reached), *worst(*reached, _SHOWN))
        ]
    positions = sum(level["positions"] for level in walk.levels)
    if as_json:
        fields = ("player", "verdict", "value", "mistakes", "checksum")
        record = {name: certificate[name] for name in fields}
        found = {"shortest": lines[0], "worst": lines[1:]} if lines else {}
        print(json.dumps({"event": "verdict", **record, "positions": positions, **found}))
        return
    who = f"{certificate['player']} as {certificate['as']} player"
    start = f"after {walk.proof.start}" if walk.proof.start else "the empty board"
    extent = "" if walk.is_whole else f" with up to {walk.levels[-1]['stones']} stones"
    print(f"\n{printable(who)}, {walk.proof.board}, {start}, a {certificate['value']}:")
    print(f"{counted(positions, 'position')}{extent}, {counted(walk.mistakes, 'mistake')}")
    if not lines:
        said = "proven: it never gives the value away" if walk.is_whole else "none so far"
        print(said)
        return
    print("each line ends with the mistake: the shortest line, then the worst")
    for line in (lines[0], *(line for line in lines[1:] if line != lines[0])):
        print(f"{line['from']} to {line['to']}  {line['line']}")
