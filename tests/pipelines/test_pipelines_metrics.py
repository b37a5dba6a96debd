from __future__ import annotations

import re

import pytest

from hushtable.errors import Infeasible, OutputError
from hushtable.pipelines.metrics import measured, openmetrics

LINE = re.compile(r'# (TYPE|HELP) [a-z_]+ .+|[a-z_]+(\{[a-z]+="(\\.|[^"\\])*"\})? -?[0-9]+(\.[0-9]+)?|# EOF')


def values(text: str) -> dict[str, float]:
    """Read the text as a monitoring system would."""
    lines = text.splitlines()
    assert text.endswith("# EOF\n")
    assert all(LINE.fullmatch(line) for line in lines)
    samples = [line.rpartition(" ") for line in lines if not line.startswith("#")]
    return {name.partition("{")[0].removeprefix("hushtable_run_"): float(value) for name, _, value in samples}


def test_what_a_run_is_monitored_by(tmp_path):
    file = tmp_path / "a.prom"
    with measured(file, target='a"\n\\') as known:
        known.tell({"rows": 9, "records": 10, "suppressed": 1, "classes": 2, "models": [], "hushtable": "0"})
    found = values(file.read_text())
    assert (found["success"], found["exit_code"], found["released"]) == (1, 0, 9)
    assert 0 <= found["duration_seconds"] < 60
    assert r'{target="a\"\n\\"}' in file.read_text()


@pytest.mark.parametrize(("error", "code"), [(Infeasible("no"), 3), (KeyboardInterrupt(), 130), (ValueError("x"), 70)])
def test_a_run_that_fails_is_told_too(tmp_path, error, code):
    file = tmp_path / "a.prom"
    with pytest.raises(type(error)), measured(file):
        raise error
    found = values(file.read_text())
    assert (found["success"], found["exit_code"]) == (0, code)
    assert "records" not in found


def test_without_a_file_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with measured(None) as known:
        pass
    assert known["success"] == 1
    assert list(tmp_path.iterdir()) == []
    assert openmetrics({"unknown": 1}) == "# EOF"


def test_metrics_that_cannot_be_written_stop_a_run_before_it_begins(tmp_path):
    """Otherwise, the job would fail with its release already in place."""
    begun, file = [], tmp_path / "no" / "hushtable.prom"
    with pytest.raises(OutputError, match=r"hushtable\.prom' cannot be written"), measured(file):
        begun.append(True)
    assert begun == [] and list(tmp_path.iterdir()) == []
