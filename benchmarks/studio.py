"""How long each page of the studio takes to show a wide table: 200,000 rows and 42 columns, with a release.

    python benchmarks/studio.py [--rows N] [--columns N] [--data FILE] [--width PIXELS] [--json]

Prints for every page the seconds from asking for it until it shows what it is about, and until nothing on it is
being checked any more. Needs Chromium and hushtable[studio].
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable.io.files import write_table

ROOT = Path(__file__).resolve().parents[1]
# page -> what has to be there
PAGES = {
    "data": "main td",
    "columns": "#ht-grid tr.col",
    "hierarchies": "a.ht-line",
    "hierarchies?column={column}": "main .ht-chart",
    "protect": "main .q-select",
    "run": "main h3",
    "explore": "main .ht-chart",
    "compare": "main svg.chart",
    "attack": "main .q-btn",
    "export": "main a[download]",
}
_ENOUGH = 300_000


def table(rows: int, columns: int, seed: int = 7) -> pa.Table:
    """Return a table as a census has it: an age, an illness, and codes, money and labels in turn."""
    random = np.random.default_rng(seed)
    made: dict[str, Any] = {"age": random.integers(0, 91, rows), "illness": random.integers(0, 12, rows).astype(str)}
    for i in range(columns - 2):
        if i % 3 == 0:
            made[f"code_{i}"] = random.integers(0, 5 + 3 * i, rows)
        elif i % 3 == 1:
            made[f"money_{i}"] = np.where(random.random(rows) < 0.8, 0, random.integers(1, 2000, rows))
        else:
            made[f"label_{i}"] = np.char.add("value ", random.integers(0, 3 + i, rows).astype(str))
    return pa.table(made)


def pages(browser: Any, server: Any, width: int) -> list[dict[str, Any]]:
    """Make a release of the studio's only project, and look at every page of it."""
    from tests.browser.studio_driver import connected, open_page

    page = open_page(browser, server, viewport={"width": width, "height": 900})
    page.set_default_timeout(_ENOUGH)
    page.locator("main a.ht-link").first.click()
    page.locator("main td").first.wait_for()
    base = page.url.rsplit("/", 1)[0]
    page.goto(f"{base}/columns")
    column = page.locator("#ht-grid tr.col[data-role=quasi]").first.get_attribute("data-name")
    page.goto(f"{base}/run")
    connected(page)
    page.get_by_role("button", name="Start a run").click()
    page.get_by_role("heading", name="Release 1:").wait_for()
    found = []
    for name, wanted in PAGES.items():
        began = time.perf_counter()
        page.goto(f"{base}/{name.format(column=column)}")
        page.locator(f"{wanted}:visible").first.wait_for()
        shown = time.perf_counter() - began
        page.get_by_text("Checking ...").first.wait_for(state="detached")
        checked = time.perf_counter() - began
        found.append({"page": name.partition("=")[0], "seconds": round(shown, 3), "checked": round(checked, 3)})
    page.context.close()
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--columns", type=int, default=42)
    parser.add_argument("--data", type=Path, help="a table of your own")
    parser.add_argument("--width", type=int, default=1440)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    from playwright.sync_api import sync_playwright

    from tests.browser.studio_driver import QUIET, Server, chromium_program

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        data = given.data or Path(folder) / "wide.csv"
        if given.data is None:
            write_table(table(given.rows, given.columns), data)
        server = Server(Path(folder) / "home", str(data))
        try:
            browser = play.chromium.launch(executable_path=chromium_program(), args=[*QUIET, "--no-sandbox"])
            found = pages(browser, server, given.width)
            browser.close()
        finally:
            server.stop()
    lines = [f"{row['page']:<20} {row['seconds']:6.2f} s {row['checked']:6.2f} s" for row in found]
    sys.stdout.write(json.dumps(found, indent=2) if given.json else "\n".join(["page, shown, checked", *lines]))
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
