"""Playing on the page in Chromium: warnings, touch, why, and what it asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from selfplay.game.position import Position
from tests.cli.command import json_lines, run
from tests.web.conftest import TIMEOUT
from tests.web.test_browser import wait_for_moves

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


pytestmark = pytest.mark.browser

CONTESTED = "44352551123"


def columns_by_value(moves: str) -> tuple[int, int]:
    """A column that keeps the value of the game, and one that gives it away, from 1."""
    (said,) = json_lines(run("solve", moves, "--json").stdout)
    scores, best = said["scores"], said["best"]
    assert isinstance(scores, list)
    assert isinstance(best, list)
    worse = next(c for c, score in enumerate(scores) if score is not None and c not in best)
    return best[0] + 1, worse + 1


def test_a_move_that_gives_the_win_away_waits(page: Page, address: str) -> None:
    right, wrong = columns_by_value(CONTESTED)
    start = f"{address}#moves={CONTESTED}&x=small&o=human"
    page.goto(start)
    page.locator("#warn").check()
    page.locator(".value", has_text="in ").first.wait_for()
    page.keyboard.press(str(wrong))
    warning = page.locator("#warning")
    warning.get_by_text(" away.").wait_for()
    assert page.locator("#log li").count() == len(CONTESTED) + 1
    # It is no move yet: not of the address, nor to review or to undo.
    for key in "vxu":
        page.keyboard.press(key)
    assert (warning.is_visible(), page.url) == (True, start)
    page.keyboard.press(str(right))
    assert "Take your move back" in page.locator("#alert").inner_text()
    page.keyboard.press("Enter")  # the focus is on Take it back
    assert (warning.is_visible(), page.url) == (False, start)
    page.keyboard.press(str(wrong))
    warning.get_by_role("button", name="Play it anyway").click()
    wait_for_moves(page, len(CONTESTED) + 2)
    page.keyboard.press("u")
    page.keyboard.press(str(right))
    wait_for_moves(page, len(CONTESTED) + 2)
    assert not warning.is_visible()
    # What is not known in time is let through; the switch is remembered.
    page.route("**/api/values", lambda route: None)
    page.goto("about:blank")
    page.goto(start)
    assert page.locator("#warn").is_checked()
    page.keyboard.press(str(wrong))
    wait_for_moves(page, len(CONTESTED) + 2)
    assert not warning.is_visible()


def test_a_whole_game_by_touch(browser: Browser, address: str) -> None:
    page = browser.new_page(has_touch=True, viewport={"width": 390, "height": 844})
    page.set_default_timeout(TIMEOUT)
    page.goto(f"{address}#x=human&o=small:level=1&seed=3")
    page.locator("#values").uncheck()
    position = Position()
    while not position.is_over:
        page.locator(".column").nth(position.legal_moves[-1]).tap()
        position = position.play(position.legal_moves[-1])
        if not position.is_over:
            wait_for_moves(page, position.ply + 1)
            said = page.locator("#log li").nth(position.ply).inner_text()
            words = said.removeprefix("small, level 1: column ")
            position = position.play(int(words[0]) - 1)
    wait_for_moves(page, position.ply)
    result = {1: "You ● win", 2: "small, level 1 ○ wins", None: "A draw"}[position.winner]
    assert page.locator("#status").inner_text() == result
    page.locator("#new").tap()
    assert page.locator("#log li").count() == 0
    page.close()


def test_why_marks_the_cells_of_each_line(page: Page, address: str, tree: str) -> None:
    moves, said = position_with_cells(tree)
    seats = "x=human&o=small" if len(moves) % 2 else "x=small&o=human"
    page.goto(f"{address}#moves={moves}{said['move'] + 1}&{seats}")
    page.keyboard.press("w")
    page.locator("#reasons-text p").first.wait_for()
    assert places(page, ".cell.why") == {place(cell) for cell in said["cells"]}
    page.locator(".path summary").click()
    told = page.locator(".path li").all_inner_texts()
    assert told == said["path"]
    marking = [cells for cells in said["path_cells"] if cells]
    buttons = page.locator(".condition")
    assert buttons.count() == len(marking)
    for number, cells in enumerate(marking):
        buttons.nth(number).focus()
        assert places(page, ".cell.split") == {place(cell) for cell in cells}
    page.keyboard.press("Escape")
    assert places(page, ".cell.split") == set()


def position_with_cells(tree: str) -> tuple[str, dict[str, object]]:
    """A position in which a split on the path is about cells, and what `explain` says."""
    for moves in ("4435255", "44352551", "4444", "435", "41526374", "3343"):
        (said,) = json_lines(run("explain", tree, moves, "--json").stdout)
        if any(said["path_cells"]):
            return moves, said
    raise AssertionError


def place(cell: list[int]) -> str:
    """Where the board is drawn column by column from the bottom, ten units to a cell."""
    return f"translate({cell[0] * 10 + 5} {(5 - cell[1]) * 10 + 5})"


def places(page: Page, which: str) -> set[str | None]:
    return {one.get_attribute("transform") for one in page.locator(which).all()}


def test_levels_and_boards_ask_no_other_machine(browser: Browser, address: str) -> None:
    asked: list[str] = []
    page = browser.new_page()
    page.set_default_timeout(TIMEOUT)
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}#moves=44&x=human&o=small")
    page.locator("#values").uncheck()
    page.locator("#opinion-playing").check()
    page.locator("#legend", has_text="small thinks").wait_for()
    assert page.locator(".opinion").count() == 7
    page.keyboard.press("v")  # a review has the board, without opinions
    assert page.locator("#legend").is_hidden()
    page.keyboard.press("Escape")
    page.locator("#o-level").select_option("2")
    assert page.url == f"{address}#moves=44&x=human&o=small:level=2"
    page.locator("#choice summary").click()
    for number, value in enumerate(("5", "4", "3")):
        page.locator("#choice select").nth(number).select_option(value)
    page.locator("#opinion-playing").uncheck()
    page.locator("#start").click()
    page.locator(".column").nth(5).wait_for(state="detached")
    assert page.locator(".column").count() == 5
    assert page.locator("#choice summary").inner_text() == "Board 5x4, 3 in a row"
    assert "o=mcts:10000&board=5x4&connect=3" in page.url
    assert "small" not in page.locator("#o").inner_text()
    assert page.locator("#o-level").is_hidden()
    assert len(asked) > 10
    assert [url for url in asked if not url.startswith(address)] == []
    page.close()


def test_a_browser_may_forbid_to_keep_anything(page: Page, address: str) -> None:
    forbid = (
        "Object.defineProperty(window, 'localStorage', {get() { throw new Error('forbidden') }})"
    )
    page.add_init_script(forbid)
    page.goto(f"{address}#x=human&o=random")
    page.locator("#values").uncheck()
    page.keyboard.press("4")
    wait_for_moves(page, 2)
    page.keyboard.press("x")
    page.locator("#status", has_text="No puzzles yet").wait_for()
