"""The guard: every line of what the studio promises about who may talk to it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support_studio import BASE, TOKEN, TestClient

from hushtable.errors import UsageError
from hushtable.studio.web.rest import api
from hushtable.studio.web.safety import Access, RequestGuard


@pytest.fixture
def guarded(studio):
    return RequestGuard(api(studio), Access("127.0.0.1", 8080, TOKEN), studio.largest)


@pytest.fixture
def browser(guarded):
    """A browser with the session's cookie, and without any other right."""
    with TestClient(guarded, base_url=BASE, raise_server_exceptions=False) as client:
        answer = client.get(f"/?token={TOKEN}")
        assert answer.status_code == 200
        yield client


def test_without_the_token_nothing_is_told(guarded):
    with TestClient(guarded, base_url=BASE) as client:
        for path in ("/", "/api/projects", "/api/openapi.json", "/_nicegui/3/static/nicegui.js"):
            assert client.get(path).status_code == 401, path
        assert client.get("/?token=wrong").status_code == 403
        assert client.get("/api/projects?token=").status_code == 403
        assert client.get("/api/projects", headers={"authorization": "Bearer wrong"}).status_code == 401
        page = client.get("/", headers={"accept": "text/html"})
        assert "token" in page.text and TOKEN not in page.text


def test_the_token_becomes_a_strict_cookie_and_leaves_the_address(guarded):
    with TestClient(guarded, base_url=BASE) as client:
        answer = client.get(f"/p/abc?token={TOKEN}&x=1")
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and TOKEN not in cookie
        assert "url=/p/abc?x=1" in answer.text and TOKEN not in answer.text
        assert client.get("/api/projects").status_code == 200


def test_the_way_on_never_leaves_the_studio(guarded):
    with TestClient(guarded, base_url=BASE) as client:
        answer = client.get(f"{BASE}/%5Cevil.example/?token={TOKEN}")
        assert 'url=/%5Cevil.example/"' in answer.text, "browsers take a backslash for a slash"
        answer = client.get(f"{BASE}//evil.example/%22%3E%3Cscript%3E?token={TOKEN}")
        assert "url=/evil.example" in answer.text and "<script>" not in answer.text


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8080", "127.0.0.1.evil.example:8080", "localhost:9999", "127.0.0.1", "", "[::1",
     "user@127.0.0.1:8080", "127.0.0.1:8080/x", "0.0.0.0:8080", "192.168.0.5:8080"],
)  # fmt: skip
def test_another_host_name_is_refused(browser, host):
    """DNS rebinding: the browser believes that an attacker's name is this machine."""
    answer = browser.get("/api/projects", headers={"host": host})
    assert answer.status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost:8080", "[::1]:8080", "LOCALHOST:8080"])
def test_this_machines_names_are_taken(browser, host):
    cookie = "; ".join(f"{k}={v}" for k, v in browser.cookies.items())
    assert browser.get("/api/projects", headers={"host": host, "cookie": cookie}).status_code == 200


@given(host=st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=40))
def test_no_odd_host_passes(host):
    if Access("127.0.0.1", 8080, TOKEN).host_ok(host):
        name = host.lower().rsplit(":", 1)[0].strip("[]")
        assert name == "localhost" or name.startswith(("127.", "0:")) or "::" in name


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "https://127.0.0.1:8080", "http://127.0.0.1:9999", "http://localhost:8080"],
)
def test_a_foreign_origin_is_refused(browser, origin):
    assert browser.get("/api/projects", headers={"origin": origin}).status_code == 403
    assert browser.post("/api/projects", json={"name": "x"}, headers={"origin": origin}).status_code == 403


def test_a_change_with_the_cookie_alone_is_refused(browser):
    """CSRF: a form on another page sends the cookie (were it not strict), but no origin of ours."""
    assert browser.post("/api/projects", json={"name": "x"}).status_code == 403
    assert browser.delete("/api/projects/000000000000").status_code == 403
    assert browser.post("/api/projects", json={"name": "x"}, headers={"origin": BASE}).status_code == 201
    site = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
    assert browser.get("/api/projects", headers=site).status_code == 403


def test_a_program_with_the_token_needs_no_origin(client):
    assert client.post("/api/projects", json={"name": "by program"}).status_code == 201


def test_web_sockets_need_the_cookie_and_our_origin(guarded, browser):
    from starlette.websockets import WebSocketDisconnect

    for headers in ({"origin": "http://evil.example"}, {}):
        with pytest.raises(WebSocketDisconnect) as refused, browser.websocket_connect("/_nicegui_ws/", headers=headers):
            pass
        assert refused.value.code == 1008
    cookieless = type(browser)(guarded, base_url=BASE)
    with (
        pytest.raises(WebSocketDisconnect) as refused,
        cookieless.websocket_connect("/_nicegui_ws/", headers={"origin": BASE}),
    ):
        pass
    assert refused.value.code == 1008


def test_no_other_origin_is_admitted(client):
    headers = client.get("/api/projects").headers
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'" and policy["frame-ancestors"] == "'none'"
    for sources in policy.values():
        for source in sources.split():
            assert source.startswith("'") or source in ("data:", "blob:", "ws://127.0.0.1:8080"), source
    assert "unsafe-inline" not in policy["script-src"]
    assert headers["x-content-type-options"] == "nosniff" and headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer" and headers["x-frame-options"] == "DENY"


def test_refusals_carry_the_headers_too(browser):
    assert "content-security-policy" in browser.get("/", headers={"host": "evil.example"}).headers


def test_an_oversized_upload_is_refused(client, studio):
    project = studio.create("big")
    over = b"a,b\n" + b"1,2\n" * (studio.largest // 4 + 10_000)
    url = f"/api/projects/{project.id}/data?name=big.csv"
    assert client.put(url, content=over).status_code == 413
    # without a stated length it is counted while it comes

    def chunks():
        for start in range(0, len(over), 2**20):
            yield over[start : start + 2**20]

    assert client.put(url, content=chunks()).status_code == 413
    assert list((project.folder / "data").iterdir()) == []
    assert client.post("/api/projects", content=b"x" * (21 * 2**20)).status_code == 413


def test_other_machines_need_a_token_of_the_users_own():
    for host in ("0.0.0.0", "192.168.1.5", "::", "example.org"):
        for token in ("", "short"):
            with pytest.raises(UsageError, match="--token"):
                Access(host, 8080, token)
    access = Access("0.0.0.0", 8080, TOKEN)
    assert access.host_ok("192.168.1.5:8080") and not access.host_ok("evil.example:8080")
    assert access.url().startswith("http://127.0.0.1:8080/?token=")


def test_tokens_are_random():
    assert Access("127.0.0.1", 1).token != Access("127.0.0.1", 1).token
    assert Access("127.0.0.1", 1).session != Access("127.0.0.1", 1).session
    assert TOKEN not in repr(Access("127.0.0.1", 1, TOKEN).session)


def test_pages_get_the_nonce_and_their_true_length():
    """Whatever pieces a page comes in; a page that fails in the middle leaves no half answer behind."""

    async def app(scope, receive, send):
        headers = [(b"content-type", b"text/html; charset=utf-8"), (b"content-length", b"30")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if scope["path"] == "/fails":
            raise RuntimeError("a cell of the table")
        await send({"type": "http.response.body", "body": b"<script>1</script>", "more_body": True})
        await send({"type": "http.response.body", "body": b"<p>a page</p>"})

    guarded = RequestGuard(app, Access("127.0.0.1", 8080, TOKEN), 1000)
    client = TestClient(guarded, base_url=BASE, raise_server_exceptions=False)
    client.headers["authorization"] = f"Bearer {TOKEN}"
    answer = client.get("/")
    nonce = answer.text.split('nonce="')[1].split('"')[0]
    assert f"'nonce-{nonce}'" in answer.headers["content-security-policy"]
    assert answer.text.endswith("<p>a page</p>") and int(answer.headers["content-length"]) == len(answer.content)
    assert client.get("/").text != answer.text, "a nonce is used once"
    failed = client.get("/fails")
    assert failed.status_code == 500 and "cell" not in failed.text
