"""Machines that guess, against the studio's REST API: no server error, and no cell in a refusal.

    python -m fuzz.api [--examples 60] [--seconds 600]

Every operation of the API's own description (schemathesis) gets requests that fit it and requests that do not, about
things that are there and things that are not; every one that takes a body gets bodies that are none. Exits 1 where an
answer is a server error or a refusal shows a cell.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fuzz.canaries import words_in

__all__ = ["BODIES", "guess"]

BODIES = (
    *(b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 50_000, b"null", b"NaN", b'{"name": NaN}', b"1e999"),
    *(b'"\\ud800"', b'{"name": "\\ud800"}', b'{"yaml": "\\u0000"}', b"9" * 5000, b'{"name": ' + b"9" * 5000 + b"}"),
    *(b'{"a": 1, "a": 2}', b"x" * 1_000_000, b'{"rows": 1e400}', b'{"levels": {"age": -1}}', b'{"names": ["../../x"]}'),
    b'[{"k-anonymity": []}]',
)
"""Bodies that no call expects."""

There = Callable[[], dict[str, Any]]


def guess(
    client: Any,
    openapi: dict[str, Any],
    there: There,
    examples: int,
    *,
    bodies: Sequence[bytes] = BODIES,
    until: float = float("inf"),
) -> Counter[str]:
    """Guess at every operation; return the answers' kinds by operation.

    Parameters
    ----------
    client : test client
    openapi : mapping
        The API's description.
    there : callable
        Gives the names of things that are there, for path parameters; what was deleted is made again.
    examples : int
        Of each kind, for each operation.
    bodies : sequence of bytes
        For each operation that takes a body.
    until : float
        When to stop, by the monotonic clock.

    Raises
    ------
    AssertionError
        At a server error, or a refusal that shows a cell.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import schemathesis

    seen: Counter[str] = Counter()
    for result in schemathesis.openapi.from_dict(openapi).get_all_operations():
        operation = result.ok()
        name = f"{operation.method.upper()} {operation.path}"
        for mode in schemathesis.GenerationMode:
            _drawn(client, operation, mode, there, examples, until, seen)
        if operation.method.upper() in ("GET", "DELETE"):
            continue
        at = operation.path.format_map(_Known(there()))
        for number, body in enumerate(bodies):
            for kind in ("application/json", ("text/plain", "application/octet-stream")[number % 2]):
                if time.monotonic() < until:
                    given = {"method": operation.method, "url": at, "content": body}
                    _ask(client, name, {**given, "headers": {"content-type": kind}}, seen)
    return seen


class _Known(dict[str, Any]):
    def __missing__(self, key: str) -> str:
        return "nothing"


def _drawn(
    client: Any, operation: Any, mode: Any, there: There, examples: int, until: float, seen: Counter[str]
) -> None:
    """Requests that fit the description, or do not."""
    from hypothesis import HealthCheck, given, settings
    from hypothesis.errors import Unsatisfiable

    r = random.Random(0)
    name = f"{operation.method.upper()} {operation.path}"

    @settings(
        max_examples=examples, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case: Any) -> None:
        if time.monotonic() < until:
            _ask(client, name, _request(case, there, r), seen)

    try:
        check()
    except Unsatisfiable:
        return  # some operations cannot be called wrongly


def _ask(client: Any, name: str, sent: dict[str, Any], seen: Counter[str]) -> None:
    answer = client.request(**sent)
    kind = "server error" if answer.status_code >= 500 else "refused" if answer.status_code >= 400 else "taken"
    seen[f"{name}: {kind}"] += 1
    assert answer.status_code < 500, (name, repr(sent)[:300], answer.text[:500])
    shown = words_in(answer.content) - words_in(repr(sent).encode()) if kind == "refused" else set()
    assert not shown, (name, answer.text[:500])


def _request(case: Any, there: There, r: random.Random) -> dict[str, Any]:
    """The case as a request; two out of three are about something that is there."""
    if r.random() < 0.67:
        for name, value in there().items():
            if name in (case.path_parameters or {}):
                case.path_parameters[name] = value
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sent = case.as_transport_kwargs(base_url="http://127.0.0.1:8080")
    sent = {k: v for k, v in sent.items() if k in ("method", "url", "params", "json", "data", "headers")}
    sent["headers"] = {k: v for k, v in (sent.get("headers") or {}).items() if k.lower() != "authorization"}
    if isinstance(sent.get("data"), bytes | str):
        sent["content"] = sent.pop("data")
    return sent


def main() -> int:
    """Guess at a studio of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from starlette.testclient import TestClient

    from fuzz.hostile import prepared
    from hushtable.studio.service import Studio
    from hushtable.studio.web.rest import api
    from hushtable.studio.web.safety import Access, RequestGuard

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=60, help="of each kind, for each operation")
    parser.add_argument("--seconds", type=float, default=600)
    options = parser.parse_args()
    token, wrong, seen = "a-token-of-the-fuzzer-1234", "", Counter[str]()
    with tempfile.TemporaryDirectory(prefix="hushtable-api-", ignore_cleanup_errors=True) as folder:
        studio = Studio(Path(folder), largest=30 * 2**20)
        guarded = RequestGuard(api(studio), Access("127.0.0.1", 8080, token), studio.largest)
        with TestClient(guarded, base_url="http://127.0.0.1:8080", raise_server_exceptions=False) as client:
            client.headers["authorization"] = f"Bearer {token}"
            made: dict[str, Any] = {}

            def there() -> dict[str, Any]:
                found = made.get("project")
                if found is None or client.get(f"/api/projects/{found}").status_code != 200:
                    made.update(project=prepared(_Direct(client, studio)), number=1, column="age", kind="models")
                    made.update(name="release.csv", job=studio.jobs.store.jobs(limit=1)[0].id)
                return made

            until = time.monotonic() + options.seconds
            try:
                seen = guess(client, api(studio).openapi(), there, options.examples, until=until)
            except AssertionError as error:
                wrong = str(error)
        studio.stop()
    operations = len({name.rpartition(":")[0] for name in seen})
    print(
        f"api        {sum(seen.values())} requests to {operations} operations {'WRONG' if wrong else 'fine'}",
        flush=True,
    )
    print(wrong, end="\n" if wrong else "", flush=True)
    return int(bool(wrong))


class _Direct:
    """What ``fuzz.hostile.prepared`` needs of a client, without a server."""

    def __init__(self, client: Any, studio: Any) -> None:
        self._client, self._studio = client, studio

    def call(self, method: str, path: str, **options: Any) -> Any:
        return self._client.request(method, f"/api{path}", **options).json()

    def done(self, job: dict[str, Any]) -> None:
        self._studio.jobs.wait(job["id"], 120)


if __name__ == "__main__":
    sys.exit(main())
