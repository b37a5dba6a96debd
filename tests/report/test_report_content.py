from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.errors import UsageError
from hushtable.registry import templates
from hushtable.report.content import About, read_about
from hushtable.report.gather.facts import recipient_evidence
from hushtable.report.page.page import page
from hushtable.report.templates.hipaa import HIPAA

PEOPLE = pa.table(
    {
        "age": [20, 20, 20, 20, 50, 50, 50, 50],
        "town": ["a", "a", "b", "b"] * 2,
        "note": list("uvwxyzst"),
        "illness": ["flu", "gout", "cold", "cold", "flu", "flu", "gout", "cold"],
    }
)
POLICY = ht.Policy(
    quasi={"age": {"cells": "sets"}, "town": {"cells": "sets"}},
    sensitive=["illness"],
    insensitive=["note"],
    models=[ht.KAnonymity(k=2)],
)


@pytest.fixture
def release() -> ht.Release:
    return ht.anonymize(PEOPLE, POLICY)


def test_each_recipient_is_assessed_by_what_it_holds(release) -> None:
    about = read_about(
        {
            "recipients": [
                {"name": "public"},
                {"name": "school", "holds": ["age", "town"]},
                {"name": "clinic", "holds": ["age", "note"], "terms": "contract"},
            ]
        }
    )
    public, school, clinic = recipient_evidence(release, about, 0.3, ">")
    assert (public.smallest, public.highest, public.share_at_risk, public.share_learned) == (8, 1 / 8, 0.0, 0.0)
    # four groups of two; in two of them both have one illness
    assert (school.smallest, school.highest, school.average, school.share_at_risk) == (2, 0.5, 0.5, 1.0)
    assert (school.learned, school.share_learned) == ("illness", 0.5)
    # the note is published as it is, and everybody has an own one
    assert (clinic.smallest, clinic.highest, clinic.share_learned, clinic.terms) == (1, 1.0, 1.0, "contract")


def test_a_recipient_who_holds_the_sensitive_column_learns_nothing_more(release) -> None:
    (found,) = recipient_evidence(release, read_about({"recipients": [{"name": "x", "holds": ["illness"]}]}), 0.3, ">")
    assert (found.learned, found.share_learned) == (None, 0.0)


def test_a_column_that_is_not_published(release) -> None:
    about = About(recipients=({"name": "x", "holds": ["agee"]},))
    with pytest.raises(UsageError, match=r"holds the column 'agee', which is not published\. Did you mean 'age'"):
        recipient_evidence(release, about, 0.3, ">")


def test_the_page_says_it_all(release, tmp_path: Path) -> None:
    file = tmp_path / "about.yaml"
    file.write_text("dataset: Admissions\npurpose: research\nrecipients: [{name: <School>, holds: [age]}]\n")
    report = HIPAA().report(release, attacks=False, about=file)
    text = page(report)
    for words in ("Admissions", "research", "&lt;School&gt;", "Before you publish", "I have read this evidence"):
        assert words in text
    assert report.findings[1].question == "Is it very small for each anticipated recipient?"
    assert report.facts.usefulness.grade in ("useful", "coarse", "nearly empty")
    assert any("note" in line for line in report.facts.warnings)


def test_without_recipients_nothing_is_claimed(release) -> None:
    report = HIPAA().report(release, attacks=False)
    assert report.findings[1].status == "to judge"


@pytest.mark.parametrize("text", ["- a", "dataset: [", "datset: x", "recipients: [{holds: [age]}]", "3"])
def test_files_that_say_something_else(text: str, tmp_path: Path) -> None:
    (tmp_path / "about.yaml").write_text(text)
    with pytest.raises(UsageError):
        read_about(tmp_path / "about.yaml")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_about(tmp_path / "absent.yaml")


def test_the_first_sentence_does_not_claim_more_than_was_read():
    """The published cells do not show which rows belong to one person, so they were not enough."""
    who = PEOPLE.append_column("who", pa.array(list("aabbccdd")))
    policy = ht.Policy(
        identifiers=["who"],
        quasi=["age"],
        sensitive=["illness"],
        models=[ht.KAnonymity(k=2)],
        entity="who",
        rest="drop",
    )
    general = templates.build("general")
    several, one = (
        general.report(ht.anonymize(table, chosen), attacks=False).summary.verdict
        for table, chosen in ((who, policy), (PEOPLE, POLICY))
    )
    assert "from the published cells and which rows belong to the same person" in several
    assert "recomputed from the published cells, " in one
