"""Access control of the studio: the right host, the right origin, and the token of this session."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from hushtable.errors import UsageError

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
