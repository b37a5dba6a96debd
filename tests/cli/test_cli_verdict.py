"""What the verdict and its price list look like on a terminal."""

from __future__ import annotations

import io

from rich.console import Console

from hushtable.cli.verdict import print_verdict
from hushtable.engines.verdict import Numbers, PolicyChange, Verdict

BEFORE, AFTER = Numbers(0.5, 0.4, 0.3), Numbers(0.4, 0.3, 0.2)


def printed(*changes: PolicyChange) -> str:
    to = Console(file=io.StringIO(), width=500)
    print_verdict(to, Verdict("coarse", BEFORE, (), 0.0, changes, tried=len(changes)))
    return to.file.getvalue()


def test_a_line_of_the_policy_is_written():
    change = PolicyChange(
        "quasi", "without 'Row'", "Row: {role: drop}", BEFORE, AFTER, 10, "the column is not published"
    )
    assert "counts off by 40.0% -> 30.0%. Write 'Row: {role: drop}'; then the column is not published." in printed(
        change
    )


def test_a_model_is_removed_and_names_keep_their_capitals():
    setting = "remove distinct-l (on=Outcome, l=3) from models"
    change = PolicyChange("model", "without distinct-l", setting, BEFORE, AFTER, 10, "'Outcome' may be learned")
    assert "Remove distinct-l (on=Outcome, l=3) from models; then 'Outcome' may be learned." in printed(change)
