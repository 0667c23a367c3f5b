"""Review, practice, branches and taking a game away, in Chromium."""

from __future__ import annotations

import json
import re
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.solver.review import review as find_mistakes
from selfplay.solver.solver import Solver
from tests.cli.command import run
from tests.web.conftest import TIMEOUT
from tests.web.server import serving
from tests.web.test_review import BOARD, GAME

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

NO_VALUES = "localStorage.setItem('values', 'off')"
PUZZLE, KEEPING = "45235131", {1, 3, 5}
"""A position on the board of the review, and the columns that keep its win; others draw."""


def review(page: Page, address: str, moves: str, mistakes: int) -> None:
    page.goto(f"{address}#moves={moves}&x=human&o=human&board={BOARD}")
    page.keyboard.press("v")
    page.locator("#review-panel [role=status]", has_text=f"{mistakes} mistakes").wait_for()


def test_review_jumps_to_every_mistake_by_keyboard(page: Page, address: str) -> None:
    solver = Solver(Board.parse(BOARD))
    moves = [int(digit) - 1 for digit in GAME]
    positions = list(accumulate(moves, Position.play, initial=Position(solver.board)))
    mistakes = find_mistakes(positions[:-1], moves, solver, 60).mistakes
    assert {one.kind for one in mistakes} == {"win to draw", "win to loss", "draw to loss"}
    review(page, address, GAME, len(mistakes))
    status, slider = page.locator("#status"), page.get_by_role("slider")
    page.keyboard.press("Home")
    for one in mistakes:
        page.keyboard.press("n")
        assert status.inner_text() == f"Review: stone {one.number} of {len(GAME)}"
        assert slider.get_attribute("aria-valuenow") == str(one.number)
        before, after = one.kind.split(" to ")
        left = "a draw is left" if after == "draw" else "the other side wins"
        said = page.locator("#review-panel p", has_text=f"Stone {one.number}, ").inner_text()
        assert f"column {one.played + 1}: gives away the {before}: {left}. Better: col" in said
        assert re.findall(r"\d", said.partition("Better")[2]) == [f"{c + 1}" for c in one.better]
        listed = page.locator("[aria-current=step]").inner_text()
        assert listed == f"{one.number}: column {one.played + 1}, {before} → {after}"
    page.keyboard.press("N")
    page.keyboard.press("ArrowLeft")
    assert status.inner_text() == f"Review: stone 17 of {len(GAME)}"
    assert page.locator(".mistake").count() == len(mistakes)
    page.locator("#review-panel summary").click()
    assert page.locator("#review-panel tbody tr").count() == len(GAME)
    page.keyboard.press("Escape")
    assert page.locator("#review-panel").is_hidden()
    assert page.url == f"{address}#moves={GAME}&x=human&o=human&board={BOARD}"


def test_practice_accepts_what_keeps_the_value_and_nothing_else(page: Page, address: str) -> None:
    page.goto(address)
    page.evaluate("localStorage.setItem('puzzles', '[{\"moves\": 4}, {')")
    page.reload()
    review(page, address, PUZZLE + "4", 3)
    stored = page.evaluate("localStorage.getItem('puzzles')")
    first, *others = json.loads(stored)
    assert (first["moves"], first["played"], len(others)) == (PUZZLE, 3, 2)
    broken = [{**first, "values": [0] * 5}, None, {**first, "moves": GAME}]
    count = page.locator("#practice p").first
    for column in KEEPING:
        # What is broken is left out, and nothing is solved yet.
        kept = json.dumps([*broken, first, *others])
        page.evaluate("stored => localStorage.setItem('puzzles', stored)", kept)
        page.reload()
        page.keyboard.press("x")
        for wrong in set(range(1, 6)) - KEEPING:
            page.keyboard.press(str(wrong))
            text = page.locator("#practice [role=status]").inner_text()
            gives_away = f"Column {wrong} gives away the win: a draw is left."
            assert text == f"{gives_away} Try again."
        assert count.inner_text() == "Puzzle 1 of 3; 0 solved."
        page.keyboard.press(str(column))
        text = page.locator("#practice [role=status]").inner_text()
        assert text.startswith(f"Right: column {column} keeps the win.")
        assert count.inner_text() == "Puzzle 1 of 3; 1 solved."


def test_branches_are_kept_and_a_game_can_be_taken_away(
    page: Page, address: str, tmp_path: Path
) -> None:
    page.add_init_script(NO_VALUES)
    page.goto(f"{address}#moves=44&x=human&o=human")
    branches = page.locator("#branches")
    assert branches.is_hidden()
    for key in "3uu5":
        page.keyboard.press(key)
    texts = [one.inner_text() for one in branches.locator("button").all()]
    assert texts == ["1: 4", "2–3: 4 3", "2: 5"]
    page.get_by_role("button", name="Stones 2 to 3: columns 4, 3").click()
    assert "#moves=443&" in page.url
    assert branches.locator("[aria-current]").inner_text() == "2–3: 4 3"
    page.keyboard.press("u")
    page.keyboard.press("r")
    assert "#moves=443&" in page.url
    page.get_by_role("button", name="Stone 1: columns 4").click()
    page.keyboard.press("r")  # what was played last from there
    page.keyboard.press("r")
    assert "#moves=443&" in page.url
    page.locator("#take-away summary").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    download.value.save_as(tmp_path / "game.txt")
    done = run("play", "--replay", str(tmp_path / "game.txt"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "after 3 stones" in done.stdout


def test_a_server_that_died_goes_on_from_the_address(browser: Browser) -> None:
    page = browser.new_page(reduced_motion="reduce")
    page.set_default_timeout(TIMEOUT)
    page.add_init_script(NO_VALUES)
    moves = page.locator("#log li")
    with serving() as (process, address):
        page.goto(f"{address}#moves=44&x=human&o=random")
        page.keyboard.press("3")
        moves.nth(3).wait_for()
        process.kill()
        process.wait()
        page.keyboard.press("5")
        page.locator("#alert", has_text="is `selfplay web` still running?").wait_for()
        assert page.locator("#alert").inner_text().endswith("running?")
    left = page.url
    assert re.search(r"#moves=443\d5&", left)
    with serving("--port", str(urlsplit(address).port)) as (_, again):
        assert again == address
        page.get_by_role("button", name="Continue").click()
        moves.nth(5).wait_for()
        there = page.url
        page.goto("about:blank")
        page.goto(left)
        moves.nth(5).wait_for()
        assert page.url == there
    page.close()
