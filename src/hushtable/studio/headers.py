"""The headers of every response: no other origin may be loaded, embedded in, or told anything."""

from __future__ import annotations

import re

__all__ = ["security_headers", "with_nonce"]

_SCRIPT = re.compile(rb"<script(?=[\s>])")


def security_headers(host: str, nonce: str) -> dict[str, str]:
    """Return the headers for a response.

    Pages are built in the browser by Vue, which compiles templates and takes inline styles: hence ``unsafe-eval``
    and inline styles. Inline scripts need the response's own nonce.

    Parameters
    ----------
    host : str
        The request's host, already checked: older browsers do not take ``'self'`` for its web socket.
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
    """Return a page whose scripts carry the nonce; text of the page's own data never holds a bare ``<script``.

    Examples
    --------
    >>> with_nonce(b"<script>1</script>", "n")
    b'<script nonce="n">1</script>'
    """
    return _SCRIPT.sub(f'<script nonce="{nonce}"'.encode(), page)
