"""The guard of the whole app (pages, REST and web sockets), as ASGI middleware."""

from __future__ import annotations

import hmac
import html
import ipaddress
import json
import re
import secrets
import socket
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hushtable.errors import UsageError

_SAFE = ("GET", "HEAD", "OPTIONS")
_SMALL = 20 * 2**20
_UPLOAD = re.compile(r"/api/projects/[^/]+/data|/_nicegui/client/[^/]+/upload/.*")
_REFUSALS = {
    "host": (HTTPStatus.MISDIRECTED_REQUEST, "The studio does not answer to this host name."),
    "origin": (HTTPStatus.FORBIDDEN, "Only the studio's own pages may request this."),
    "session": (HTTPStatus.UNAUTHORIZED, "Open the address with the token that the studio printed at startup."),
    "token": (HTTPStatus.FORBIDDEN, "This is not the token of the running studio. Use the address that it printed."),
    "large": (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The upload is larger than the studio allows."),
}


class RequestGuard:
    """Admit only requests to this machine's name, from the studio's own pages, and with the session's token.

    Parameters
    ----------
    app : ASGI application
    access : Access
    largest : int
        Largest upload in bytes; other requests are far smaller.
    """

    def __init__(self, app: ASGIApp, access: Access, largest: int) -> None:
        self.app = app
        self.access = access
        self.largest = largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Guard one request or web socket."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = _headers(scope)
        refusal = self._refusal(scope, headers)
        if scope["type"] == "websocket":
            if refusal:
                await receive()
                await send({"type": "websocket.close", "code": 1008})
            else:
                await self.app(scope, receive, send)
            return
        nonce = secrets.token_urlsafe(16)
        guarded = _Response(send, security_headers(_shown_host(headers, refusal), nonce), nonce)
        if refusal:
            await self._refuse(guarded, headers, refusal)
            return
        if scope["method"] in _SAFE and _token(scope) is not None:
            await self._welcome(guarded, scope)
            return
        await self._limited(scope, receive, guarded, headers)

    def _refusal(self, scope: Scope, headers: Mapping[str, str]) -> str:
        host = headers.get("host", "")
        if not self.access.host_ok(host):
            return "host"
        socket = scope["type"] == "websocket"
        origin = headers.get("origin")
        if origin is not None and not self.access.origin_ok(origin, host):
            return "origin"
        if not socket and scope["method"] in _SAFE and _token(scope) is not None:
            return "" if self.access.token_ok(_token(scope) or "") else "token"
        if self.access.bearer_ok(headers):
            return ""
        if not self.access.cookie_ok(headers):
            return "session"
        # a browser sends the cookie by itself: what changes something must come from a page of ours, and say so
        if (socket or scope["method"] not in _SAFE) and origin is None:
            return "origin"
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and headers.get("sec-fetch-mode") != "navigate":
            return "origin"
        return ""

    async def _refuse(self, send: Send, headers: Mapping[str, str], reason: str) -> None:
        status, sentence = _REFUSALS[reason]
        if "text/html" in headers.get("accept", ""):
            body = _page("hushtable studio", f"<p>{html.escape(sentence)}</p>")
            await _respond(send, status, body, "text/html; charset=utf-8")
            return
        said = {"error": "Refused", "code": reason, "message": sentence, "hint": ""}
        await _respond(send, status, json.dumps(said).encode(), "application/json")

    async def _welcome(self, send: Send, scope: Scope) -> None:
        """Turn the token in the address into a cookie, and the address into one without it.

        Returns a page that forwards itself instead of a redirect: browsers withhold strict cookies after redirects that
        began at another site, such as a link in a mail program.
        """
        rest = [(k, v) for k, v in parse_qsl(scope.get("query_string", b"").decode("latin-1")) if k != "token"]
        # never an attacker's host: browsers take a backslash for a slash, and a second one begins a host
        target = "/" + quote(scope["path"].lstrip("/")) + (f"?{urlencode(rest)}" if rest else "")
        safe = html.escape(target)
        onward = f'<meta http-equiv="refresh" content="0;url={safe}">'
        body = _page("hushtable studio", f'<p><a href="{safe}">Open the studio</a></p>', onward)
        cookie = f"{self.access.cookie}={self.access.session}; Path=/; HttpOnly; SameSite=Strict"
        await _respond(send, HTTPStatus.OK, body, "text/html; charset=utf-8", {"set-cookie": cookie})

    async def _limited(self, scope: Scope, receive: Receive, send: _Response, headers: Mapping[str, str]) -> None:
        # a form wraps the file in some lines of its own
        limit = self.largest + 10_000 if _UPLOAD.fullmatch(scope["path"]) else min(_SMALL, self.largest)
        stated = headers.get("content-length", "0")
        if not stated.isdigit() or int(stated) > limit:
            await self._refuse(send, headers, "large")
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > limit:
                send.status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
                return {"type": "http.disconnect"}
            return message

        try:
            await self.app(scope, counted, send)
        except ClientDisconnect:
            # the app saw the end of the truncated body; a client that disconnected needs no answer
            if seen > limit and not send.started:
                await self._refuse(send, headers, "large")


class _Response:
    """Adds the headers to a response, and the nonce to a page's scripts."""

    def __init__(self, send: Send, headers: Mapping[str, str], nonce: str) -> None:
        self._send = send
        self._headers = headers
        self._nonce = nonce
        self._page: MutableMapping[str, Any] | None = None
        self._body = b""
        self.status: int | None = None
        self.started = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            given = {name.lower(): value for name, value in message.get("headers", [])}
            added = {name.encode(): value.encode("latin-1") for name, value in self._headers.items()}
            if b"cache-control" not in given:
                added[b"cache-control"] = b"no-store"
            kept = [(n, v) for n, v in message.get("headers", []) if n.lower() not in added]
            message = {**message, "headers": [*kept, *added.items()], "status": self.status or message["status"]}
            if given.get(b"content-type", b"").startswith(b"text/html"):
                self._page = message
                return
        elif message["type"] == "http.response.body" and self._page is not None:
            self._body += message.get("body", b"")
            if message.get("more_body"):
                return
            body = with_nonce(self._body, self._nonce)
            headers = [(n, v) for n, v in self._page["headers"] if n.lower() != b"content-length"]
            await self._send({**self._page, "headers": [*headers, (b"content-length", str(len(body)).encode())]})
            message = {"type": "http.response.body", "body": body}
        await self._send(message)


def _headers(scope: Scope) -> dict[str, str]:
    """Return the request's headers; a header that occurs twice is dropped."""
    found: dict[str, str] = {}
    for name, value in scope.get("headers", []):
        key = name.decode("latin-1").lower()
        found[key] = "\0" if key in found and key in ("host", "origin") else value.decode("latin-1")
    return found


def _token(scope: Scope) -> str | None:
    query = parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
    return next((value for key, value in query if key == "token"), None)


def _shown_host(headers: Mapping[str, str], refusal: str) -> str:
    return "" if refusal == "host" else headers.get("host", "")


def _page(title: str, body: str, head: str = "") -> bytes:
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>{head}</head>'
        f"<body><main><h1>{title}</h1>{body}</main></body></html>"
    ).encode()


async def _respond(send: Send, status: int, body: bytes, kind: str, headers: Mapping[str, str] | None = None) -> None:
    given = {"content-type": kind, "content-length": str(len(body)), **(headers or {})}
    raw = [(name.encode(), value.encode("latin-1")) for name, value in given.items()]
    await send({"type": "http.response.start", "status": int(status), "headers": raw})
    await send({"type": "http.response.body", "body": body})


# The headers of every response: no other origin may be loaded, embed the studio, or receive anything.


_SCRIPT = re.compile(rb"<script(?=[\s>])")


def security_headers(host: str, nonce: str) -> dict[str, str]:
    """Return the headers for a response.

    Pages are built in the browser by Vue, which compiles templates and uses inline styles: hence ``unsafe-eval`` and
    inline styles. Inline scripts need the response's own nonce.

    Parameters
    ----------
    host : str
        The request's host, already checked: older browsers do not accept ``'self'`` for its web socket.
    nonce : str
    """
    policy = {
        "default-src": "'none'",
        "script-src": f"'self' 'nonce-{nonce}' 'unsafe-eval'",
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": f"'self' ws://{host}",
        "worker-src": "'self' blob:",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
        "object-src": "'none'",
    }
    return {
        "content-security-policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": "camera=(), microphone=(), geolocation=(), usb=(), payment=()",
    }


def with_nonce(page: bytes, nonce: str) -> bytes:
    """Return a page whose scripts carry the nonce; the page's own data never contains a bare ``<script``.

    Examples
    --------
    >>> with_nonce(b"<script>1</script>", "n")
    b'<script nonce="n">1</script>'
    """
    return _SCRIPT.sub(f'<script nonce="{nonce}"'.encode(), page)


# Access control of the studio: the right host, the right origin, and the token of this session.


_SHORTEST = 16


def is_loopback(host: str) -> bool:
    """Whether an address is this machine's own.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass(frozen=True)
class Access:
    """The rules of one session.

    Parameters
    ----------
    host : str
        Address that the studio listens on. Any address other than loopback needs a token that the user chose.
    port : int
    token : str, optional
        Defaults to a random one.

    Raises
    ------
    UsageError
        If others could reach the studio and no token was given, or it is too short.

    Examples
    --------
    >>> Access("0.0.0.0", 8080)
    Traceback (most recent call last):
    hushtable.errors.UsageError: Other machines could reach the studio at '0.0.0.0'. Choose a secret of at least 16
    characters with --token, or remove --host.
    >>> access = Access("127.0.0.1", 8080)
    >>> access.host_ok("localhost:8080"), access.host_ok("evil.example:8080")
    (True, False)
    """

    host: str
    port: int
    token: str = ""
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    def __post_init__(self) -> None:
        if not is_loopback(self.host) and len(self.token) < _SHORTEST:
            raise UsageError(
                f"Other machines could reach the studio at {self.host!r}.",
                code="no-token",
                hint=f"Choose a secret of at least {_SHORTEST} characters with --token, or remove --host.",
            )
        if not self.token:
            object.__setattr__(self, "token", secrets.token_urlsafe(24))

    @property
    def cookie(self) -> str:
        """Name of the session cookie. Cookies do not distinguish ports, so the name does."""
        return f"hushtable-{self.port}"

    def url(self) -> str:
        """The address to open."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host  # noqa: S104 compared, not bound
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/?token={self.token}"

    def host_ok(self, host: str) -> bool:
        """Whether a request was sent to a name of this machine, and not to one that an attacker's DNS returned."""
        try:
            parts = urlsplit(f"//{host}")
            name, port = parts.hostname or "", parts.port
        except ValueError:
            return False
        if parts.username is not None or parts.path or port not in (self.port, None if self.port == 80 else self.port):
            return False
        if is_loopback(self.host):
            return is_loopback(name)
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name in {"localhost", self.host, socket.gethostname().lower(), socket.getfqdn().lower()}
        return True  # an address is no name, so no DNS can lend it to anybody

    def origin_ok(self, origin: str, host: str) -> bool:
        """Whether the request comes from a page of the studio itself."""
        return origin.lower() == f"http://{host}".lower() and self.host_ok(host)

    def token_ok(self, token: str) -> bool:
        """Whether this is the token of the session."""
        return hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode("utf-8", "replace"))

    def bearer_ok(self, headers: Mapping[str, str]) -> bool:
        """Whether a program sent the token."""
        scheme, _, token = headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and self.token_ok(token.strip())

    def cookie_ok(self, headers: Mapping[str, str]) -> bool:
        """Whether a browser sent the session's cookie."""
        cookies: SimpleCookie = SimpleCookie()
        try:
            cookies.load(headers.get("cookie", ""))
        except CookieError:
            return False
        found = cookies.get(self.cookie)
        return found is not None and hmac.compare_digest(found.value.encode(), self.session.encode())
