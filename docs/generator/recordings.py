"""Recordings of terminals, for docs/recordings: ``make recordings``.

Runs the real commands in a terminal of their own, on patients that hushtable generates, and draws what is left on the
screen. The same commands give the same pictures: no times, no paths of this machine, nobody's values.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from dataclasses import dataclass
from pathlib import Path

from terminal import WIDTH, Block, Screen, Style, drawn

__all__ = ["SESSIONS", "Session", "record"]

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "docs" / "recordings"
_PATIENCE = 600
"""Seconds to wait for a command."""

_PROMPTS = (">>> ", "... ")


@dataclass(frozen=True)
class Session:
    """What is done in a terminal.

    Attributes
    ----------
    title : str
    words : str
        What it shows, for who cannot see it.
    before : tuple of str
        Commands that nobody sees.
    steps : tuple of str
        Commands of the shell, or lines of Python.
    python : bool
    """

    title: str
    words: str
    steps: tuple[str, ...]
    before: tuple[str, ...] = ("hushtable demo --rows 1000 --output demo && cp demo/patients.csv .",)
    python: bool = False


_STARTED = (
    *Session.before,
    "hushtable init patients.csv && sed -i 's/^  occupation: .*/  occupation: {role: insensitive}/' policy.yaml",
)
_RELEASED = (*_STARTED, "hushtable run policy.yaml --data patients.csv")

SESSIONS = {
    "steward-describe": Session(
        "a data steward: describe the table",
        "hushtable init profiles a table and writes a starter policy; hushtable check finds no problems.",
        ("hushtable init patients.csv", "hushtable check policy.yaml --data patients.csv"),
    ),
    "steward-publish": Session(
        "a data steward: publish",
        "hushtable run anonymizes the table and verifies it; hushtable verify repeats that from the file alone.",
        (
            "hushtable run policy.yaml --data patients.csv",
            "hushtable verify release",
        ),
        _STARTED,
    ),
    "steward-evidence": Session(
        "a data steward: attack it, and hand over the evidence",
        "hushtable attack shows what adversaries learn; hushtable report writes the evidence for whoever signs it.",
        (
            "hushtable attack release --data patients.csv --only homogeneity,linkage",
            "hushtable report release --data patients.csv --only homogeneity,linkage",
        ),
        _RELEASED,
    ),
    "scientist": Session(
        "a data scientist: pandas in, pandas out",
        "In Python, a pandas frame is described, anonymized under k-anonymity and distinct-l, measured and attacked.",
        (
            "import hushtable as ht",
            "from hushtable.datasets import patients",
            "people = patients(1000).to_pandas()",
            "policy = ht.draft_policy(people).with_column('occupation', role='insensitive')",
            "release = ht.anonymize(people, policy)",
            "release.frame[['age', 'sex', 'postcode', 'diagnosis']].head(4)",
            "release.verify().ok",
            "f'lost: {release.measure(\"ncp\"):.1%}'",
            "found = release.attack('linkage')",
            "f'people who are found: {found.rate:.1%}, by chance: {found.baseline:.1%}'",
        ),
        (),
        python=True,
    ),
    "engineer-gate": Session(
        "a platform engineer: from database to database, with a gate",
        "A table in SQLite is published in another one; verify exits with 0, and with 1 where a cell was changed.",
        (
            "hushtable run policy.yaml --data sqlite:///clinic.db --table patients "
            "--to 'sqlite:///open.db?table=patients' --json | grep -E 'records|released|published'",
            "hushtable verify 'sqlite:///open.db?table=patients' -p policy.yaml; echo exit code $?",
            "sed '2s/female/male/' release/release.csv > edited.csv",
            "hushtable verify edited.csv -p policy.yaml; echo exit code $?",
            "sed 's/k: 5/k: 2000/' policy.yaml > hard.yaml",
            "hushtable run hard.yaml --data patients.csv --output hard; echo exit code $?",
        ),
        (
            *_STARTED,
            'python -c "import hushtable as ht; from hushtable.io.files import read_table as r; '
            "ht.write_sql(r('patients.csv'), 'sqlite:///clinic.db', table='patients')\"",
        ),
    ),
    "engineer-nightly": Session(
        "a platform engineer: the nightly job",
        "The nightly job publishes, finds nothing new, and leaves yesterday's release where a column is missing.",
        (
            "python nightly.py policy.yaml patients.csv published --highest-risk 0.2",
            "python nightly.py policy.yaml patients.csv published --highest-risk 0.2; echo exit code $?",
            "cut -d, -f1,2,4- patients.csv > tonight.csv",
            "python nightly.py policy.yaml tonight.csv published --highest-risk 0.2; echo exit code $?",
            "ls published",
        ),
        (*_STARTED, f"cp {ROOT / 'examples' / 'nightly.py'} ."),
    ),
}


def main() -> None:
    """Record all sessions, or those that are named."""
    TARGET.mkdir(exist_ok=True)
    for name in sys.argv[1:] or SESSIONS:
        sys.stderr.write(f"{name}\n")
        (TARGET / f"{name}.svg").write_text(record(SESSIONS[name]), encoding="utf-8")


def record(session: Session) -> str:
    """Run a session in a folder of its own and return its picture."""
    with tempfile.TemporaryDirectory() as home:
        environment = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}",
            "HOME": home,
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "COLUMNS": str(WIDTH),
            "PYTHON_BASIC_REPL": "1",
            "PYTHONWARNINGS": "ignore",
        }
        for command in session.before:
            _unseen(command, home, environment)
        blocks = _python(session, home, environment) if session.python else _shell(session, home, environment)
        picture = drawn(blocks, session.title, session.words)
    for foreign in (home, str(ROOT), sys.prefix, tempfile.gettempdir()):
        if foreign in picture:
            raise SystemExit("The recording shows a path of this machine.")
    return picture


def _unseen(command: str, home: str, environment: dict[str, str]) -> None:
    words = ["/bin/sh", "-c", command]
    done = subprocess.run(words, cwd=home, env=environment, capture_output=True, text=True)  # noqa: S603 our own words
    if done.returncode:
        raise SystemExit(f"{command}: {done.stderr}")


def _shell(session: Session, home: str, environment: dict[str, str]) -> list[Block]:
    blocks = []
    for number, command in enumerate(session.steps):
        asked, said = Screen(), Screen()
        asked.style = Style("green", bold=True)
        asked.feed("\n$ " if number else "$ ")
        asked.style = Style(bold=True)
        asked.feed(_folded(command))
        blocks.append(Block(asked.lines, 1.5 if number else 0.3))
        said.feed(_run(["/bin/sh", "-c", command], home, environment))
        blocks.append(Block(_trimmed(said), 0.9))
    return [block for block in blocks if block.lines]


def _folded(command: str) -> str:
    """A command over several lines where it is too long for one."""
    if len(command) <= WIDTH - 2:
        return command
    at = command.rfind(" ", 0, WIDTH - 4)
    return f"{command[:at]} \\\r\n    {command[at + 1 :]}"


def _trimmed(screen: Screen) -> list[list[tuple[str, Style]]]:
    """The lines of a screen without those at its ends that show nothing."""
    lines = list(screen.lines)
    while lines and not "".join(c for c, _ in lines[-1]).strip():
        lines.pop()
    while lines and not "".join(c for c, _ in lines[0]).strip():
        lines.pop(0)
    return lines


def _python(session: Session, home: str, environment: dict[str, str]) -> list[Block]:
    screen = Screen()
    screen.feed(_run([sys.executable, "-q"], home, environment, session.steps))
    lines = _trimmed(screen)
    while lines and "".join(c for c, _ in lines[-1]).strip() in ("", ">>>"):
        lines.pop()
    blocks: list[list[list[tuple[str, Style]]]] = []
    for line in lines:
        typed = "".join(c for c, _ in line[:4]) in _PROMPTS
        shown = [(c, Style("green", bold=True) if n < 3 else Style(bold=True)) for n, (c, _) in enumerate(line)]
        if typed or not blocks:
            blocks.append([])
        blocks[-1].append(shown if typed else line)
    return [Block(block, 1.0 if number else 0.3) for number, block in enumerate(blocks)]


def _run(command: list[str], home: str, environment: dict[str, str], typed: tuple[str, ...] = ()) -> str:
    """Run a command in a terminal, type what it asks for, and return everything that it wrote."""
    inside, outside = pty.openpty()
    os.set_inheritable(outside, True)
    fcntl.ioctl(outside, termios.TIOCSWINSZ, struct.pack("HHHH", 200, WIDTH, 0, 0))
    process = subprocess.Popen(  # noqa: S603 our own words
        command, cwd=home, env=environment, stdin=outside, stdout=outside, stderr=outside, start_new_session=True
    )
    os.close(outside)
    said, waiting = b"", [*typed, "\x04"] if typed else []
    try:
        while select.select([inside], [], [], _PATIENCE)[0]:
            try:
                some = os.read(inside, 1 << 16)
            except OSError:  # the terminal is gone with its last process
                break
            if not some:
                break
            said += some
            if waiting and said.endswith(tuple(p.encode() for p in _PROMPTS)):
                line = waiting.pop(0)
                os.write(inside, line.encode() + (b"" if line == "\x04" else b"\r"))
        process.wait(_PATIENCE)
    finally:
        os.close(inside)
        if process.poll() is None:
            process.kill()
    return said.decode()


if __name__ == "__main__":
    if shutil.which("sh") is None:
        sys.exit("A shell is needed.")
    main()
