"""A hostile page in another origin, in a browser that has the studio open: it reads nothing and changes nothing.

    python -m fuzz.hostile [--guesses 200]

The page is served from another port of this machine (the same site, so cookies travel), from another site, and, as
after DNS rebinding, under a foreign name from the studio's own port. Exits 1 where anything was read or changed.
"""

from __future__ import annotations

import argparse
import http.server
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fuzz.canaries import table, words_in
from fuzz.studio_kills import Client
from tests.browser.studio_driver import QUIET, Server, chromium_program

__all__ = ["ATTEMPTS", "attack", "browsing", "hosted", "learned", "prepared"]

FOREIGN = ("evil.example", "rebound.example")
HOSTS = ("127.0.0.1", "localhost", "evil.example")

# every attempt returns what it learned, or throws; "opened" of a web socket is learning too
ATTEMPTS = """
async ([base, project, guesses]) => {
  const found = {};
  const paths = ['/', '/api/projects', `/api/projects/${project}/data`, '/api/openapi.json', `/p/${project}/data`,
                 '/_nicegui_ws/socket.io/?EIO=4&transport=polling'];
  const patient = promise => Promise.race([promise, new Promise(done => setTimeout(() => done('nothing'), 4000))]);
  const attempt = async (name, what) => {
    try { found[name] = String(await patient(what())).slice(0, 2000); } catch (error) { found[name] = 'refused'; }
  };
  for (const path of paths) {
    for (const credentials of ['include', 'omit']) {
      await attempt(`fetch ${credentials} ${path}`, async () => (await fetch(base + path, {credentials})).text());
      await attempt(`no-cors ${credentials} ${path}`, async () => {
        const answer = await fetch(base + path, {credentials, mode: 'no-cors'});
        return answer.type === 'opaque' && (await answer.text()) === '' ? 'refused' : answer.text();
      });
    }
  }
  const posts = {method: 'POST', credentials: 'include', mode: 'no-cors', body: '{"name": "hacked"}'};
  for (const kind of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])
    await attempt(`post ${kind}`, async () => {
      await fetch(`${base}/api/projects`, {...posts, headers: {'content-type': kind}});
      return 'refused';
    });
  await attempt('post json', async () => (await fetch(`${base}/api/projects`, {...posts, mode: 'cors',
    headers: {'content-type': 'application/json'}})).text());
  await attempt('delete', async () => (await fetch(`${base}/api/projects/${project}`,
    {method: 'DELETE', credentials: 'include'})).text());
  await attempt('beacon', async () => { navigator.sendBeacon(`${base}/api/projects`, '{"name": "hacked"}');
    return 'refused'; });
  for (const path of ['/_nicegui_ws/socket.io/?EIO=4&transport=websocket', '/'])
    await attempt(`socket ${path}`, () => new Promise(done => {
      const socket = new WebSocket(base.replace('http', 'ws') + path);
      socket.onopen = () => done('opened');
      socket.onerror = () => done('refused');
    }));
  await attempt('events', () => new Promise(done => {
    const source = new EventSource(`${base}/api/projects`, {withCredentials: true});
    source.onmessage = event => done(event.data);
    source.onerror = () => { source.close(); done('refused'); };
  }));
  const element = (tag, attributes) => new Promise(done => {
    const made = Object.assign(document.createElement(tag), attributes);
    made.onload = () => done(tag === 'iframe' ? 'loaded' : 'read');
    made.onerror = () => done('refused');
    document.body.append(made);
  });
  for (const path of paths.slice(0, 5)) {
    const url = base + path;
    await attempt(`img ${path}`, () => element('img', {src: url}));
    await attempt(`script ${path}`, () => element('script', {src: url}));
    await attempt(`module ${path}`, () => import(url));
    await attempt(`style ${path}`, () => element('link', {rel: 'stylesheet', href: url}));
    await attempt(`object ${path}`, async () => {
      const made = Object.assign(document.createElement('object'), {data: url});
      document.body.append(made);
      await new Promise(done => setTimeout(done, 300));
      return made.contentDocument ? made.contentDocument.body.innerText || 'refused' : 'refused';
    });
    await attempt(`frame ${path}`, async () => {
      const frame = Object.assign(document.createElement('iframe'), {src: url});
      document.body.append(frame);
      await new Promise(done => setTimeout(done, 500));
      return frame.contentDocument ? frame.contentDocument.body.innerText || 'refused' : frame.contentWindow.document;
    });
    await attempt(`window ${path}`, async () => {
      const opened = window.open(url, '_blank');
      if (!opened) return 'refused';
      await new Promise(done => setTimeout(done, 1000));
      opened.postMessage('{"name": "hacked"}', '*');
      return opened.closed ? 'refused' : opened.document.body.innerText || 'refused';
    });
  }
  await attempt('worker', () => { new Worker(`${base}/`); return 'started'; });
  await attempt('service worker', async () => { await navigator.serviceWorker.register(`${base}/sw.js`);
    return 'registered'; });
  await attempt('storage', async () =>
    JSON.stringify([document.cookie, {...localStorage}, {...sessionStorage}]));
  let let_in = 0;
  for (let n = 0; n < guesses; n++) {
    const token = btoa(String(Math.random())).slice(0, 32);
    try { let_in += (await fetch(`${base}/api/projects?token=${token}`, {credentials: 'omit'})).ok; }
    catch (error) { continue; }
  }
  found['guessed tokens'] = let_in ? `${let_in} let in` : 'refused';
  return found;
}
"""
FORM = """
([base, kind, target]) => {
  const form = document.createElement('form');
  Object.assign(form, {method: 'POST', action: `${base}/api/projects`, enctype: kind, target});
  const field = Object.assign(document.createElement('input'), {name: '{"name": "hacked", "x": "', value: '"}'});
  form.append(field);
  document.body.append(form, Object.assign(document.createElement('iframe'), {name: 'frame'}));
  form.submit();
}
"""


class _Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>Win a prize</title><body>Win a prize</body>")

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def hosted() -> Iterator[int]:
    """Serve the hostile page from a port of this machine."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


@contextmanager
def browsing(profile: Path, kind: Any = None) -> Iterator[Any]:
    """A browser with a profile on the disk, in which foreign names lead to this machine.

    Parameters
    ----------
    profile : path
    kind : playwright's browser type, optional
        Where playwright is running already.
    """
    if kind is None:
        from playwright.sync_api import sync_playwright

        with sync_playwright() as play, browsing(profile, play.chromium) as context:
            yield context
        return
    program = chromium_program()
    if program is None:
        raise RuntimeError("needs Chromium: apt-get install chromium")
    rules = ", ".join(f"MAP {name} 127.0.0.1" for name in FOREIGN)
    context = kind.launch_persistent_context(
        profile, executable_path=program, args=[*QUIET, "--no-sandbox", f"--host-resolver-rules={rules}"]
    )
    context.set_default_timeout(60_000)
    yield context
    context.close()


def prepared(client: Client) -> str:
    """Return a project full of canaries."""
    import io

    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(table(), sink)
    project: str = client.call("POST", "/projects", json={"name": "People"})["id"]
    client.done(client.call("PUT", f"/projects/{project}/data?name=people.parquet", content=sink.getvalue()))
    return project


def _state(client: Client) -> Any:
    """All that a page could have changed."""
    projects = client.call("GET", "/projects")
    return projects, [client.call("GET", f"/projects/{p['id']}/policy") for p in projects], client.call("GET", "/jobs")


def attack(folder: Path, guesses: int, hosts: Sequence[str] = HOSTS, kind: Any = None) -> tuple[int, list[str]]:
    """Let hostile pages try everything; return how much was tried, and what they got.

    Parameters
    ----------
    folder : path
        For the studio and the browser.
    guesses : int
        Of the token, from each page.
    hosts : sequence of str
        Where the pages are.
    kind : playwright's browser type, optional
        Where playwright is running already.
    """
    server, tried, wrong = Server(folder / "studio"), 0, []
    try:
        client = Client(server)
        project = prepared(client)
        before = _state(client)
        port = server.base.rpartition(":")[2]
        with browsing(folder / "profile", kind) as context, hosted() as other:
            victim = context.new_page()
            victim.goto(server.url)
            victim.get_by_role("heading", name="Projects", exact=True).wait_for()
            for origin in (f"http://{host}:{other}" for host in hosts):
                page = context.new_page()
                page.goto(origin)
                found = page.evaluate(ATTEMPTS, [server.base, project, guesses])
                tried += len(found)
                wrong += [f"{origin}: {name}: {got[:200]!r}" for name, got in learned(found).items()]
                for encoding in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
                    for target in ("frame", "_blank"):
                        page.evaluate(FORM, [server.base, encoding, target])
                        tried += 1
                page.wait_for_timeout(500)
                page.close()
            rebound = context.new_page()
            for path in ("/", "/api/projects", f"/api/projects/{project}/data"):
                answer = rebound.goto(f"http://rebound.example:{port}{path}")
                tried += 1
                if answer is None or answer.status != 421 or words_in(rebound.content().encode()):
                    wrong.append(f"rebound.example: {path}: {answer and answer.status}")
            if not victim.get_by_role("heading", name="Projects", exact=True).is_visible():
                wrong.append("the studio's own page is gone")
        if _state(client) != before:
            wrong.append("something was changed")
    finally:
        server.stop()
    return tried, wrong


def learned(found: dict[str, str]) -> dict[str, str]:
    """Return the attempts that got something; a page's own storage, empty, is nothing."""
    return {name: got for name, got in found.items() if got not in ("refused", "nothing", '["",{},{}]')}


def main() -> int:
    """Attack a studio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--guesses", type=int, default=200, help="of the token, from each origin")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hushtable-hostile-", ignore_cleanup_errors=True) as folder:
        tried, wrong = attack(Path(folder), options.guesses)
    print(f"hostile    {tried} attempts {'WRONG' if wrong else 'fine'}", flush=True)
    print("\n".join(wrong), end="\n" if wrong else "", flush=True)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
