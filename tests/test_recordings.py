"""The recordings in docs/recordings: complete, of this version's commands, and without anything of a machine."""

from __future__ import annotations

import html
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs" / "generator"))

recordings = pytest.importorskip("recordings", reason="needs a system with terminals")
from terminal import WIDTH, Block, Screen, Style, drawn  # noqa: E402 the folder has to be known first

PICTURES = ROOT / "docs" / "recordings"


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("one\r\ntwo", "one\ntwo"),
        ("10%\r20%\r\x1b[2Kdone", "done"),
        ("a\r\nb\r\n\x1b[1A\x1b[2K\x1b[1A\x1b[2Kc", "c"),
        ("\x1b[?25l\x1b[1;31mError\x1b[0m\x1b[?25h", "Error"),
        ("abc\b\bX", "aXc"),
        ("a\x1b[5Cb\x1b[2Gc", "ac    b"),
        ("keep\x1b[Kall\r\n\x1b[38;5;2mx\x1b[0m\x1b[J", "keepall\nx"),
        ("\x1b]0;title\x07text\x1b[?2004l", "text"),
        ("x" * (WIDTH + 1), "x" * WIDTH + "\nx"),
    ],
)
def test_what_is_left_on_the_screen(written: str, seen: str) -> None:
    screen = Screen()
    screen.feed(written)
    assert screen.text() == seen


def test_colours_and_places() -> None:
    screen = Screen()
    screen.feed("  \x1b[1;32mgo\x1b[0m <&>")
    assert screen.lines[0][2] == ("g", Style("green", bold=True))
    picture = ET.fromstring(drawn([Block(screen.lines, 0.5)], "a <title>", "what it shows"))
    texts = list(picture.iter("{http://www.w3.org/2000/svg}text"))
    assert [t.text for t in texts] == ["a <title>", "go", "<&>"]
    assert texts[1].get("class") == "green bold"
    assert float(texts[2].get("x", 0)) > float(texts[1].get("x", 0)) > 16


def _texts(name: str) -> list[str]:
    picture = ET.fromstring((PICTURES / f"{name}.svg").read_text(encoding="utf-8"))
    return [t.text or "" for t in picture.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("name", recordings.SESSIONS)
def test_every_session_is_recorded_and_shown(name: str) -> None:
    session = recordings.SESSIONS[name]
    words = " ".join(_texts(name)).replace(" \\ ", " ")
    for step in session.steps:
        assert " ".join(step.split()) in " ".join(words.split()), "make recordings"
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md"))
    assert f"recordings/{name}.svg" in pages
    picture = html.unescape((PICTURES / f"{name}.svg").read_text(encoding="utf-8"))
    assert not re.search(r"/(tmp|home|root|work|usr|var)\b", picture)
    assert "Traceback" not in picture
    assert "http" not in picture.replace("http://www.w3.org/2000/svg", "")


def test_no_recording_is_left_over() -> None:
    assert {p.stem for p in PICTURES.iterdir()} == set(recordings.SESSIONS)


def test_the_same_commands_give_the_same_picture() -> None:
    name = "scientist"
    assert recordings.record(recordings.SESSIONS[name]) == (PICTURES / f"{name}.svg").read_text(encoding="utf-8"), (
        "make recordings"
    )
