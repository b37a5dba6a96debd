from __future__ import annotations

import os
import signal
import threading

import pytest

from hushtable.cli import signals
from hushtable.errors import Cancelled


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_that_got_lost_is_remembered(number, code):
    before = signal.getsignal(number)
    with signals.handled_signals():
        signals.raise_if_cancelled()
        # compiled code swallows the exception that the handler raises
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
        with pytest.raises(Cancelled) as stopped:
            signals.raise_if_cancelled()
    assert stopped.value.exit_code == code
    assert signal.getsignal(number) is before
    with signals.handled_signals():
        assert signals.signalled() is None


def test_once_the_result_is_in_place_a_signal_changes_nothing():
    with signals.handled_signals():
        signals.nearly_done()
        os.kill(os.getpid(), signal.SIGINT)
        assert signals.signalled() is None


def test_another_thread_leaves_signals_alone():
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def work():
        with signals.handled_signals():
            signals.nearly_done()
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]


def test_an_error_after_a_signal_is_the_cancellation(call, policy, people, monkeypatch, tmp_path):
    def kernel(*args, **kwargs):
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        raise SystemError("returned a result with an exception set")

    monkeypatch.setattr("hushtable.engines.local.encode", kernel)
    answer = call("run", policy, "--data", people)
    assert answer.code == 130
    assert answer.err == "Canceled.\nNothing was written.\n"
    assert not (tmp_path / "release").exists()


def test_ctrl_c_skips_the_verdict_and_not_the_release(call, policy, people, monkeypatch, tmp_path):
    """On a table of 15,000 rows with k-member, Ctrl-C was ignored for half a minute."""

    def waits(release, progress):
        os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError("the verdict went on")

    monkeypatch.setattr("hushtable.engines.verdict.verdict_of", waits)
    answer = call("run", policy, "--data", people)
    assert answer.code == 0
    assert "written to" in answer.out and "Costliest" not in answer.out
    assert (tmp_path / "release" / "release.json").is_file()
