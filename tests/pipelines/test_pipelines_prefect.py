"""The flow that the documentation shows, run by Prefect."""

from __future__ import annotations

import re
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "pipelines.md"


def test_the_documented_flow_makes_a_release_twice_the_same(place, program):
    codes = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    (flow,) = (code for code in codes if "@flow" in code)
    (place / "nightly.py").write_text(flow, encoding="utf-8")
    env = {
        "PREFECT_HOME": str(place / "prefect"),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        # a busy machine takes its time to start the server
        "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
    }
    first = program("prefect", sys.executable, "nightly.py", **env)
    assert "'changed': True" in first
    again = program("prefect", sys.executable, "nightly.py", **env)
    assert "'changed': False" in again
    assert (place / "release" / "release.csv").is_file()
    assert "hushtable_run_success" in (place / "nightly.prom").read_text()
