"""Tables at a terminal of 80 columns, and in a pipe."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from selfplay.cli import rendering
from selfplay.cli.rendering import plain_table
from selfplay.wording import counted, shortened

NAMES = [f"tree:models/of/a/long/way/{which}" for which in ("first", "second")]


def lines(width: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    out = Console(file=StringIO(), width=width)
    monkeypatch.setattr(rendering, "console", lambda: out)
    rows = [(name, "1,234", "x" * 40) for name in NAMES]
    out.print(plain_table(("", "mistakes", "optimal"), rows))
    return out.file.getvalue().splitlines()  # type: ignore[attr-defined, no-any-return]


def test_names_keep_their_end_where_a_terminal_is_narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    header, *rows = lines(80, monkeypatch)
    assert header.strip().startswith("mistakes")
    for row, name in zip(rows, NAMES, strict=True):
        short = row.split()[0]
        assert short.startswith("…")
        assert name.endswith(short[1:])
        assert len(short) >= 20
    assert all(len(row) <= 80 for row in rows)


def test_nothing_is_shortened_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rendering.console().width > 1000  # stdout is no terminal here
    assert [row.split()[0] for row in lines(10_000, monkeypatch)[1:]] == NAMES


def test_a_table_without_titles_has_no_empty_line() -> None:
    out = Console(file=StringIO(), width=80)
    out.print(plain_table(("", ""), [("shards", "2 of 2")]))
    assert out.file.getvalue() == "shards  2 of 2\n"  # type: ignore[attr-defined]


def test_words_for_numbers_and_names() -> None:
    assert [counted(n, "shard") for n in (0, 1, 2000)] == ["0 shards", "1 shard", "2,000 shards"]
    assert [counted(n, "leaf", "leaves") for n in (1, 2)] == ["1 leaf", "2 leaves"]
    assert shortened("tree:models/first", 8) == "…s/first"
    assert shortened("tree:models/first - tree:models/second", 23) == "…els/first - …ls/second"
    assert shortened("greedy", 6) == "greedy"
