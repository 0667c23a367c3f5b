"""The page in Chromium."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from selfplay.game.position import Position
from tests.cli.command import json_lines, run

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


def wait_for_moves(page: Page, number: int) -> None:
    page.locator("#log li").nth(number - 1).wait_for()


def test_a_whole_game_by_keyboard(page: Page, address: str) -> None:
    page.goto(f"{address}#x=human&o=small")
    page.locator("#values").uncheck()
    position = Position()
    while not position.is_over:
        # A column that is open, reached by the arrow keys; the same by its number every other time.
        column = position.legal_moves[0]
        if position.ply % 4:
            page.keyboard.press(str(column + 1))
        else:
            page.locator(".column").first.focus()
            for _ in range(column):
                page.keyboard.press("ArrowRight")
            page.keyboard.press("Enter")
        position = position.play(column)
        if not position.is_over:
            wait_for_moves(page, position.ply + 1)
            said = page.locator("#log li").nth(position.ply).inner_text()
            found = re.match(r"small: column (\d)", said)
            assert found is not None, said
            position = position.play(int(found[1]) - 1)
    wait_for_moves(page, position.ply)
    result = {1: "You ● win", 2: "small ○ wins", None: "A draw"}[position.winner]
    assert page.locator("#status").inner_text() == result
    assert page.url == f"{address}#moves={position.notation}&x=human&o=small"
    page.keyboard.press("4")
    assert page.locator("#alert").inner_text() == "The game is over."


def test_undo_redo_and_a_link_lead_to_the_same_board(page: Page, address: str) -> None:
    page.goto(f"{address}#moves=44&x=human&o=small")
    page.keyboard.press("3")
    wait_for_moves(page, 4)
    link = page.url
    page.keyboard.press("u")
    assert page.url == f"{address}#moves=44&x=human&o=small"
    page.keyboard.press("r")
    assert page.url == link
    labels = names(page)
    page.goto("about:blank")
    page.goto(link)
    wait_for_moves(page, 4)
    assert names(page) == labels


def names(page: Page) -> list[str]:
    """The names of the columns' buttons without game values, which come later."""
    found = page.locator(".column").all()
    return [",".join((one.get_attribute("aria-label") or "").split(",")[:2]) for one in found]


def test_why_marks_the_cells_that_explain_names(page: Page, address: str, tree: str) -> None:
    moves = "4435255"
    (said,) = json_lines(run("explain", tree, moves, "--json").stdout)
    assert isinstance(said["move"], int)
    page.goto(f"{address}#moves={moves}{said['move'] + 1}&x=human&o=small")
    page.keyboard.press("w")
    page.locator("#reasons").wait_for()
    text = page.locator("#reasons-text").inner_text()
    assert isinstance(said["sentences"], list)
    for sentence in said["sentences"]:
        assert sentence in text
    marked = page.locator(".cell.why").all()
    # The board is drawn column by column from the bottom, ten units to a cell.
    places = {one.get_attribute("transform") for one in marked}
    assert isinstance(said["cells"], list)
    assert places == {f"translate({c * 10 + 5} {(5 - r) * 10 + 5})" for c, r in said["cells"]}


def test_values_have_a_word_a_shape_and_a_name(page: Page, address: str) -> None:
    page.goto(f"{address}#moves=44352551123&x=human&o=human")
    (said,) = json_lines(run("solve", "44352551123", "--json").stdout)
    assert isinstance(said["scores"], list)
    page.locator(".value", has_text="in ").first.wait_for()
    for column, score in enumerate(said["scores"]):
        sign = "▲ win" if score > 0 else "▼ loss" if score < 0 else "◆ draw"
        shown = page.locator(".value").nth(column).inner_text()
        assert " ".join(shown.split()).startswith(sign)
        name = page.locator(".column").nth(column).get_attribute("aria-label") or ""
        assert ("wins" if score > 0 else "loses" if score < 0 else "draws") in name


def test_what_is_wrong_is_said(page: Page, address: str) -> None:
    page.goto(f"{address}#moves=4&x=human&o=nobody")
    page.locator("#alert", has_text="no player 'nobody'").wait_for()
    page.locator("#pause", has_text="Continue").wait_for()
    page.goto(f"{address}#moves=49")
    page.locator("#alert", has_text="column 9 is not on the board").wait_for()


def test_nothing_is_wider_than_a_small_phone(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 320, "height": 640})
    page.goto(f"{address}#moves=44&x=human&o=human")
    wait_for_moves(page, 2)
    box = page.locator("html").evaluate_handle
    assert box("element => element.scrollWidth").json_value() == 320
