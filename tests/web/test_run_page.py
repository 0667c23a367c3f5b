"""The page of a run in Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from selfplay.storage.dataset import Dataset
from selfplay.storage.statistics import statistics
from tests.storage.made import make_run
from tests.web.conftest import watched_page
from tests.web.server import serving
from tests.web.test_runs import SPEC

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    """The page of a run with its first shard."""
    make_run(tmp_path / "run", SPEC, range(1))
    with serving(str(tmp_path / "run")) as (_, address), watched_page(browser, address) as page:
        page.set_viewport_size({"width": 320, "height": 640})
        page.goto(address)
        page.get_by_role("link", name="Runs").click()
        page.get_by_role("link", name="run", exact=True).click()
        yield page


def test_it_sees_a_run_grow_and_agrees_with_info(page: Page, tmp_path: Path) -> None:
    page.locator("#facts", has_text="1 of 6").wait_for()
    make_run(tmp_path / "run", SPEC)
    page.locator("#facts", has_text="6 of 6").wait_for()
    page.locator("#counted", has_text="6 of 6").wait_for()
    numbers = statistics(Dataset(tmp_path.joinpath("run").as_posix()))
    totals = page.locator("#totals").inner_text()
    assert f"{numbers.unique_positions:,}" in totals
    assert Dataset(str(tmp_path / "run")).fingerprint in totals
    page.locator(".chart summary").first.click()
    shown = page.locator(".chart").first.locator("tbody tr").all_inner_texts()
    assert [row.split() for row in shown] == [
        [f"{column}", f"{count:,}"] for column, count in enumerate(numbers.moves, 1)
    ]
    assert page.evaluate("document.documentElement.scrollWidth") == 320


def test_a_game_opens_on_the_board(page: Page) -> None:
    page.locator("#games button", has_text="2").first.click()
    page.locator("#game-title", has_text="In game 2").wait_for()
    cells = page.locator("#games tbody tr").nth(2).locator("th, td").all_inner_texts()
    opening, moves = cells[3], cells[-1]
    for _ in moves[int(opening) :]:
        page.locator("#forth").click()
    page.locator("#place", has_text=f"{moves}: {len(moves)} stones").wait_for()
    page.locator("#open").click()
    page.locator("#log li").nth(len(moves) - 1).wait_for()
    assert f"#moves={moves}&x=human&o=human" in page.url
