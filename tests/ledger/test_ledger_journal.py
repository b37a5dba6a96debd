"""The file: whatever is changed, cut off or left half-done is noticed; two processes do not get in each other's way."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import textwrap

import pytest
from support_processes import at_once

from hushtable.errors import DataError, OutputError
from hushtable.ledger import journal as module
from hushtable.ledger.journal import Journal
from hushtable.ledger.key import read_key, write_key

RECORDS = [b'{"n":1}', b'{"n":2,"text":"x"}', b"{}"]


@pytest.fixture
def made(tmp_path):
    journal = Journal(tmp_path / "ledger", patience=0.2)
    for record in RECORDS:
        add(journal, record)
    return journal


def add(journal, record):
    with journal.changing() as (_, append):
        append(record)


def records(journal):
    with journal.reading() as opened:
        return opened.records


def test_records_come_back_in_order(made):
    assert records(made) == RECORDS
    assert made.path.read_bytes().startswith(b"hushtable ledger 1\n")


def test_a_ledger_that_was_never_made_is_empty_and_stays_unmade(tmp_path):
    journal = Journal(tmp_path / "ledger")
    assert records(journal) == [] and not journal.exists()
    assert list(tmp_path.iterdir()) == []


def test_only_the_owner_may_read_the_secret(made):
    assert stat.S_IMODE(made.key_path.stat().st_mode) == 0o600
    os.chmod(made.key_path, 0o640)
    with pytest.raises(DataError, match="may be read or changed by others") as caught:
        records(made)
    assert "chmod 600" in caught.value.hint


def test_the_key_may_lie_elsewhere(tmp_path):
    (tmp_path / "safe").mkdir()
    journal = Journal(tmp_path / "ledger", tmp_path / "safe" / "secret")
    add(journal, b"{}")
    assert sorted(p.name for p in tmp_path.rglob("*") if p.is_file()) == ["ledger", "secret"]
    assert records(journal) == [b"{}"]


def test_every_changed_byte_is_noticed(made):
    for path in (made.path, made.key_path):
        whole = path.read_bytes()
        for at in range(len(whole)):
            for flip in (1, 0x20, 0x80) if at % 9 == 0 else (1,):
                changed = whole[:at] + bytes([whole[at] ^ flip]) + whole[at + 1 :]
                path.write_bytes(changed)
                with pytest.raises(DataError):
                    records(made)
                with pytest.raises(DataError), made.changing():
                    pytest.fail("it was opened")
                assert path.read_bytes() == changed, "a refusal wrote something"
        path.write_bytes(whole)
        os.chmod(path, 0o600)
    assert records(made) == RECORDS


def test_every_truncation_is_noticed(made):
    for path in (made.path, made.key_path):
        whole = path.read_bytes()
        for length in range(len(whole)):
            path.write_bytes(whole[:length])
            with pytest.raises(DataError):
                records(made)
            with pytest.raises(DataError), made.changing():
                pytest.fail("it was opened")
            assert path.read_bytes() == whole[:length]
        path.write_bytes(whole)
    assert records(made) == RECORDS


def test_more_than_was_added_is_noticed(made):
    whole = made.path.read_bytes()
    line = whole.split(b"\n")[1] + b"\n"
    for more in (b"x", b"\n", line):
        made.path.write_bytes(whole + more)
        with pytest.raises(DataError, match="after its end"):
            records(made)


def test_records_cannot_change_places_or_go(made):
    first, *lines, last = made.path.read_bytes().split(b"\n")
    for other in ([lines[1], lines[0], lines[2]], lines[:2], lines[1:], [*lines, lines[0]]):
        made.path.write_bytes(b"\n".join([first, *other, last]))
        with pytest.raises(DataError, match="was changed"):
            records(made)


def test_the_key_of_another_ledger_is_noticed(made, tmp_path):
    other = Journal(tmp_path / "other")
    for record in RECORDS:
        add(other, record)
    made.key_path.write_bytes(other.key_path.read_bytes())
    with pytest.raises(DataError, match="was changed"):
        records(made)


def test_a_lost_file_is_not_replaced(made):
    secret = made.key_path.read_bytes()
    made.key_path.unlink()
    with pytest.raises(DataError, match="cannot be read"):
        add(made, b"{}")
    assert not made.key_path.exists()
    made.key_path.write_bytes(secret)
    os.chmod(made.key_path, 0o600)
    made.path.unlink()
    with pytest.raises(DataError, match="is missing"):
        add(made, b"{}")
    assert not made.path.exists()


@pytest.mark.parametrize("kept", ["nothing", "a part", "all but the end", "all"])
def test_an_addition_that_was_killed_counts_wholly_or_not_at_all(made, kept, monkeypatch):
    """The head announces the record, then it is written; the process may die anywhere."""
    before = made.path.read_bytes()
    real = module._append
    shares = {"nothing": 0, "a part": 20, "all but the end": -1, "all": None}

    def dies(stream, at, text):
        real(stream, at, text[: shares[kept]])
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_append", dies)
    with pytest.raises(KeyboardInterrupt):
        add(made, b'{"n":4}')
    monkeypatch.setattr(module, "_append", real)
    expected = [*RECORDS, b'{"n":4}'] if kept == "all" else RECORDS
    assert records(made) == expected
    assert made.path.read_bytes().startswith(before)
    add(made, b'{"n":5}')
    assert records(made) == [*expected, b'{"n":5}']
    assert read_key(made.key_path).head.pending is None


def test_making_a_ledger_may_be_killed_too(tmp_path, monkeypatch):
    journal = Journal(tmp_path / "ledger")
    real = module._append

    def dies(stream, at, text):
        real(stream, at, text[:7])
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_append", dies)
    with pytest.raises(KeyboardInterrupt):
        add(journal, b"{}")
    monkeypatch.setattr(module, "_append", real)
    assert records(journal) == []
    add(journal, b"{}")
    assert records(journal) == [b"{}"]


def test_an_announcement_does_not_excuse_tampering(made):
    key = read_key(made.key_path)
    head = key.head
    pending = type(head)(head.count + 1, head.size + 10, "0" * 64)
    write_key(made.key_path, type(key)(key.secret, type(head)(head.count, head.size, head.last, pending)))
    whole = made.path.read_bytes()
    made.path.write_bytes(whole + b"x" * 11)
    with pytest.raises(DataError, match="after its end"):
        records(made)
    made.path.write_bytes(whole[:-1])
    with pytest.raises(DataError, match="end is missing"):
        records(made)
    made.path.write_bytes(whole + b"x" * 10)
    assert records(made) == RECORDS


def test_a_busy_ledger_is_one_clear_error(made):
    with made.changing():
        with pytest.raises(OutputError, match="Another process") as caught:
            records(made)
        assert caught.value.code == "ledger-busy"
    assert records(made) == RECORDS


def _add_many(path, name, times):
    for i in range(times):
        add(Journal(path), f'{{"{name}":{i}}}'.encode())


def test_two_processes_adding_at_once_keep_both(tmp_path):
    path = tmp_path / "ledger"
    at_once(_add_many, [(path, name, 8) for name in "ab"])
    found = records(Journal(path))
    assert len(found) == 16
    for name in "ab":
        assert [r for r in found if name.encode() in r] == [f'{{"{name}":{i}}}'.encode() for i in range(8)]


def test_kill_minus_nine_at_any_moment_leaves_a_sound_ledger(tmp_path):
    """A process adds without end and says what it has added; whatever it said is there, and at most one more."""
    path = tmp_path / "ledger"
    script = textwrap.dedent(
        """
        import sys, pathlib
        from hushtable.ledger.journal import Journal
        journal, n = Journal(pathlib.Path(sys.argv[1])), int(sys.argv[2])
        while True:
            with journal.changing() as (opened, append):
                append(b'{"n":%d,"pad":"%s"}' % (n, b"x" * 200_000))
            print(n, flush=True)
            n += 1
        """
    )
    said = 0
    for turn in range(4):
        worker = subprocess.Popen(
            [sys.executable, "-c", script, str(path), str(said)], stdout=subprocess.PIPE, text=True
        )
        try:
            for _ in range(2 + turn):
                said = int(worker.stdout.readline()) + 1
        finally:
            os.kill(worker.pid, signal.SIGKILL)
            rest = worker.stdout.read().split()
            worker.stdout.close()
            worker.wait()
        said = max([said, *(int(n) + 1 for n in rest)])
        found = records(Journal(path))
        assert said <= len(found) <= said + 1
        said = len(found)
        assert [r[: r.index(b",")] for r in found] == [b'{"n":%d' % n for n in range(said)]
