"""A comparison: every setting is run on the project's table and measured; no release is kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hushtable.comparison.run import compare as compare_settings
from hushtable.io.atomic import atomic_write_text
from hushtable.io.json_values import plain
from hushtable.policy.policy import Policy
from hushtable.studio.comparing import FILE
from hushtable.studio.policies import confined
from hushtable.studio.projects import Project
from hushtable.studio.tasks import Report
from hushtable.studio.work.tables import table_of


def compare(project: Project, report: Report, policy: Mapping[str, Any], grid: Mapping[str, Any]) -> dict[str, Any]:
    """Compare settings; those finished before a cancellation need not be run again."""
    report(0.0, "reading")
    found = compare_settings(
        table_of(project),
        confined(project, Policy(**policy)),
        {name: grid[name] for name in ("algorithms", "models", "suppression") if grid.get(name)},
        results=project.folder / "comparison.jsonl",
        progress=lambda done, total: report(done / max(total, 1), f"{done} of {total} settings"),
    )
    atomic_write_text(project.folder / FILE, json.dumps(plain(found.as_dict()), allow_nan=False))
    return {"settings": len(found.rows)}
