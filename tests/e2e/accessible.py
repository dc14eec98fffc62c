"""What axe-core, kept in `axe/`, finds on a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from playwright.sync_api import Page

AXE: Final = (Path(__file__).parent / "axe/axe.min.js").read_text()
ASK: Final = """axe.run(document, {resultTypes: ['violations']}).then((found) => found.violations
    .filter((one) => ['serious', 'critical'].includes(one.impact))
    .map((one) => `${one.id}: ${one.nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`))"""


def serious(page: Page) -> list[str]:
    """What is serious or critical. It runs beside the policy of the page, which lets no other script in."""
    session = page.context.new_cdp_session(page)
    session.send("Runtime.evaluate", {"expression": AXE})
    told = session.send("Runtime.evaluate", {"expression": ASK, "awaitPromise": True, "returnByValue": True})
    session.detach()
    found: list[str] = told["result"]["value"]
    return found
