"""Canaries in the browser: after a session with the studio, no cell is in what the browser keeps.

    python -m fuzz.storage

Looked at are the addresses of pages and requests, their titles, cookies, local and session storage, IndexedDB and
caches, and, once it is closed, every file of the browser's profile. Exits 1 where a cell is in any of them.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from fuzz.canaries import POLICY, towns, words_in
from fuzz.hostile import browsing, prepared
from fuzz.studio_kills import Client
from tests.browser.studio_driver import STEPS, Server

__all__ = ["session"]

STORED = """
async () => {
  const found = {cookies: document.cookie, title: document.title, address: location.href, name: window.name,
                 local: {...localStorage}, session: {...sessionStorage}, state: history.state,
                 caches: [], databases: []};
  for (const name of await caches.keys())
    for (const request of await (await caches.open(name)).keys()) found.caches.push(request.url);
  for (const {name} of await indexedDB.databases()) {
    const database = await new Promise(done => {
      const asked = indexedDB.open(name); asked.onsuccess = () => done(asked.result);
    });
    for (const store of database.objectStoreNames) {
      const all = database.transaction(store).objectStore(store).getAll();
      found.databases.push(await new Promise(done => { all.onsuccess = () => done(all.result); }));
    }
  }
  return JSON.stringify(found);
}
"""


def _released(client: Client, project: str) -> None:
    """Give the project its policy and make a release, with everything that the pages show of one."""
    from hushtable.policy.text import write_yaml

    client.call("PUT", f"/projects/{project}/files/towns.csv", content=towns().encode())
    columns = {**POLICY["columns"], "town": {**POLICY["columns"]["town"], "hierarchy": "files/towns.csv"}}
    client.call("PUT", f"/projects/{project}/policy", json={"yaml": write_yaml({**POLICY, "columns": columns})})
    client.done(client.call("POST", f"/projects/{project}/runs"))
    for what in ("risk", "attack", "verify", "report"):
        client.done(client.call("POST", f"/projects/{project}/runs/1/{what}", json={}))


def _visit(context: Any, server: Server, project: str) -> tuple[int, list[str]]:
    """Open every step as a person would; return how much was looked at, and what was kept."""
    looked, wrong = 0, []
    asked: list[str] = []
    page = context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(server.url)
    page.get_by_role("heading", name="Projects", exact=True).wait_for()
    for step in ("", *STEPS):
        page.goto(f"{server.base}/p/{project}/{step}" if step else server.base)
        page.locator("h1").first.wait_for()
        if step == "compare":
            page.get_by_role("checkbox", name="Show my original rows with the release").click()
            page.get_by_role("cell", name="original", exact=True).first.wait_for()
        page.wait_for_timeout(700)
        looked += 1
        wrong += [f"{step or 'home'}: a cell of {w}" for w in sorted(words_in(page.evaluate(STORED).encode()))]
    cookies = str(context.cookies())
    wrong += [f"cookies: a cell of {w}" for w in sorted(words_in(cookies.encode()))]
    wrong += [f"an address: a cell of {w}" for url in asked for w in sorted(words_in(url.encode()))]
    if not any(words_in(url.encode()) for url in [*asked, "zqname0001"]):
        wrong.append("the search finds nothing at all")
    return looked + len(asked) + 1, wrong


def session(folder: Path, kind: Any = None) -> tuple[int, list[str]]:
    """Use a studio; return how much was looked at, and what was kept of people."""
    server = Server(folder / "studio")
    profile = folder / "profile"
    try:
        client = Client(server)
        project = prepared(client)
        _released(client, project)
        with browsing(profile, kind) as context:
            looked, wrong = _visit(context, server, project)
            time.sleep(1)  # browsers write some of it later
    finally:
        server.stop()
    for path in profile.rglob("*"):
        if path.is_file() and not path.is_symlink():
            looked += 1
            place = path.relative_to(profile)
            wrong += [f"the browser's {place}: a cell of {w}" for w in sorted(words_in(path.read_bytes()))]
    return looked, wrong


def main() -> int:
    """Use a studio and look."""
    with tempfile.TemporaryDirectory(prefix="hushtable-storage-", ignore_cleanup_errors=True) as folder:
        looked, wrong = session(Path(folder))
    print(f"storage    {looked} places {'WRONG' if wrong else 'fine'}", flush=True)
    print("\n".join(wrong), end="\n" if wrong else "", flush=True)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
