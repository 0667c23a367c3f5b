"""What axe-core finds wrong with a page: names, roles and contrasts for screen readers and eyes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page


def faults(page: Page) -> list[str]:
    """A line for each fault; the test is skipped where axe-core is not installed."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="no axe: pip install axe-playwright-python"
    )
    return [
        f"{found['id']}: {node['html']}"
        for found in axe.Axe().run(page).response["violations"]
        for node in found["nodes"]
    ]
