"""`python -m scripts.web_pictures FOLDER`: take the pictures of the pages in the documents."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SHOWN = ("examples/tiny",)
PATIENCE = 60_000
WIDE = (1180, 760)
GAME = "#moves=43443443637&x=human&o=tree&seed=1"
LOST = "#moves=412251112213445542257&x=human&o=human"


@contextmanager
def serving() -> Iterator[str]:
    """`selfplay web`, and its address."""
    command = [sys.executable, "-m", "selfplay", "web", "--no-browser", "--port", "0", *SHOWN]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def why(page: Page) -> None:
    page.locator("#log li").nth(11).wait_for()
    page.locator("#why").click()
    page.locator("#reasons-text p").first.wait_for()
    page.locator(".value", has_text="in ").first.wait_for()


def review(page: Page) -> None:
    page.locator("#review").click()
    page.locator("#review-panel", has_text="mistakes").wait_for()
    page.get_by_role("button", name="Previous mistake").click()


def model(page: Page) -> None:
    page.locator("#examples figure").first.wait_for()


def run(page: Page) -> None:
    page.locator(".chart").nth(3).wait_for()
    page.locator("#games tbody tr").first.wait_for()


PICTURES = {
    "web-board": (GAME, WIDE, "light", why),
    "web-review": (LOST, WIDE, "dark", review),
    "web-model": ("model#moves=44352", WIDE, "light", model),
    "web-run": ("run?name=tiny", WIDE, "light", run),
}


def take(browser: Browser, address: str, folder: Path) -> None:
    for name, (path, (width, height), scheme, act) in PICTURES.items():
        page = browser.new_page(
            viewport={"width": width, "height": height},
            color_scheme="dark" if scheme == "dark" else "light",
            reduced_motion="reduce",
        )
        page.set_default_timeout(PATIENCE)
        page.goto(address + path)
        act(page)
        page.wait_for_load_state("networkidle")
        page.screenshot(path=folder / f"{name}.png")
        page.close()


def main() -> None:
    folder = Path(sys.argv[1])
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with serving() as address, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        take(browser, address, folder)
        browser.close()


if __name__ == "__main__":
    main()
