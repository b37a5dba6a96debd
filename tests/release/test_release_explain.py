"""Explanations are computed: every number in them is counted again here, from plain rows."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hushtable as ht
from hushtable.datasets import patients, patients_policy
from hushtable.errors import PrivacyLeakWarning, UsageError
from support_core import first_of


def cells_of_rows(release: Any) -> list[tuple[Any, ...] | None]:
    """The published quasi-identifiers of every input row; None for suppressed ones."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        aligned = release.aligned()
    names = [c.name for c in release.encoded.quasi]
    published = iter(zip(*(aligned.column(name).to_pylist() for name in names), strict=True))
    return [next(published) if kept else None for kept in release.kept.tolist()]


@pytest.mark.parametrize(
    "algorithm", ["mondrian", "lattice-sweep", "localpk", "optimal", "datafly", "top-down-specialization", "mdav",
                  "k-member", "anti-unification"],
)  # fmt: skip
def test_class_sizes_are_those_of_the_published_cells(algorithm: str) -> None:
    policy = ht.Policy(**{**patients_policy(), "algorithm": {algorithm: {}}, "suppression": 0.05})
    release = ht.anonymize(patients(400), policy)
    cells = cells_of_rows(release)
    sizes = Counter(c for c in cells if c is not None)
    for row in range(0, 400, 23):
        found = release.explain(row)
        assert found.released == (cells[row] is not None)
        assert found.people == (0 if cells[row] is None else sizes[cells[row]])
        assert found.as_dict()["row"] == row


def by_zip(zips: list[str], algorithm: str, k: int, **settings: Any) -> Any:
    table = pa.table({"zip": zips, "pay": list(range(len(zips)))})
    policy = ht.Policy(
        quasi={"zip": {"hierarchy": {"prefix": "*"}, "cells": "nodes"}},
        sensitive=["pay"],
        models=[ht.KAnonymity(k=k)],
        algorithm=algorithm,
        **settings,
    )
    return ht.anonymize(table, policy)


def test_global_levels_this_record_breaks_the_model() -> None:
    release = by_zip(["111", "111", "112", "211", "211", "211"], "optimal", 2)
    assert release.table.column("zip").to_pylist() == ["11*", "11*", "11*", "21*", "21*", "21*"]
    (story,) = release.explain(2).columns
    assert story.published == "generalized to level 1 of 3, a cell of 2 of 3 values"
    assert story.why == (
        "With its exact 'zip', its class would have 1 person: k-anonymity (k=2) requires >= 2, but would have 1."
    )


def test_global_levels_another_record_breaks_the_model() -> None:
    release = by_zip(["111", "111", "112", "211", "211", "211"], "optimal", 2)
    (story,) = release.explain(0).columns
    assert story.why == (
        "With its exact 'zip', its class would have 2 people and satisfy the models, but values are published in the "
        "same way for all: 1 person elsewhere would be in classes that do not. With the 0 already suppressed, that is "
        "more than the 0 that the policy allows."
    )


def test_suppressed_under_global_levels() -> None:
    release = by_zip(["111", "111", "111", "111", "111", "999"], "optimal", 2, suppression=0.2)
    assert release.n_suppressed == 1
    found = release.explain(5)
    assert not found.released
    assert found.sentences == (
        "Row 5 was suppressed, as were 1 of 6 records; the policy allows 20% of the people (1) to be suppressed.",
        "At the published levels, its class would have 1 person: k-anonymity (k=2) requires >= 2, but would have 1.",
    )


def test_local_cuts_are_all_tried() -> None:
    table = pa.table({"age": [1, 2, 3, 10, 11, 12, 13], "pay": list("abcdefg")})
    policy = ht.Policy(quasi=["age"], sensitive=["pay"], models=[ht.KAnonymity(k=3)])
    release = ht.anonymize(table, policy)
    (story,) = release.explain(4).columns
    assert story.published == "published as a region of 4 of 7 values"
    assert story.why == (
        "Cut in two anywhere along 'age', a part of its class would violate a model; cut most evenly, one part would "
        "have "
        "2 people: k-anonymity (k=3) requires >= 3, but would have 2."
    )


def test_a_class_that_could_be_cut_is_said_to_be() -> None:
    """Where nothing but the algorithm stopped, it is said; else a model is named."""
    zips = ["111"] * 4 + ["112"] * 4
    table = pa.table({"zip": zips, "age": [30, 30, 31, 31, 40, 40, 41, 41]})
    policy = ht.Policy(quasi=["zip", "age"], models=[ht.KAnonymity(k=4)], algorithm="optimal")
    release = ht.anonymize(table, policy)
    stories = {c.column: c for c in release.explain(0).columns}
    widened = [c for c in stories.values() if c.why]
    assert widened
    for story in widened:
        parts = Counter(zip(table.column(story.column).to_pylist(), cells_of_rows(release), strict=True))
        if min(parts.values()) >= 4:
            assert "no model would be violated" in story.why
        else:
            assert "requires >= 4" in story.why or "published in the same way" in story.why


def test_centroids_patterns_and_buckets_have_words_of_their_own() -> None:
    table = pa.table({"age": [1, 2, 3, 10, 11, 12], "job": list("xxyyzz"), "disease": list("abcabc")})
    base = {"quasi": ["age", "job"], "sensitive": ["disease"]}
    mean = ht.anonymize(table, ht.Policy(**base, models=[ht.KAnonymity(k=3)], algorithm="mdav")).explain(0)
    assert mean.columns[0].published == "replaced by the mean of its class"
    assert "k-anonymity (k=3) requires >= 3" in mean.columns[0].why
    blank = ht.anonymize(table, ht.Policy(**base, models=[ht.KAnonymity(k=3)], algorithm="anti-unification")).explain(0)
    assert blank.columns[0].published == "blanked: the records of its class differ"
    assert "its class would have 1 person: k-anonymity (k=3) requires >= 3, but would have 1." in blank.columns[0].why
    apart = ht.Policy(**base, models=[{"distinct-l": {"l": 3}}], algorithm="anatomy")
    told = ht.anonymize(table, apart).explain(0)
    assert {c.published for c in told.columns} == {"published exactly"}
    assert "distinct-l (l=3, on 'disease') requires >= 3, but would have 1" in told.sentences[0]
    assert f"a group of {told.people:g} people" in told.sentences[0]


def test_models_of_the_whole_table_are_named() -> None:
    table = pa.table({"age": [1, 1, 1, 2, 2, 2], "pay": list("abcdef")})
    policy = ht.Policy(
        quasi=["age"], sensitive=["pay"], models=[ht.KAnonymity(k=2), {"average-risk": {"average": 0.2}}]
    )
    (story,) = ht.anonymize(table, policy).explain(0).columns
    assert "average-risk" in story.why
    assert "over the whole table" in story.why


def test_suppressed_under_local_recoding_says_whether_a_class_covers_it() -> None:
    policy = ht.Policy(**{**patients_policy(), "suppression": 0.05})
    release = ht.anonymize(patients(600), policy)
    rows = np.flatnonzero(~release.kept)
    assert len(rows)
    for row in rows.tolist():
        found = release.explain(row)
        assert found.columns == ()
        assert "belongs to 1 person" in found.sentences[1]
        assert re.search(r"No published class covers it|A published class covers it", found.sentences[2])


def test_no_value_of_anybody_is_shown() -> None:
    table = pa.table(
        {
            "name": [f"CANARY-name-{i}" for i in range(12)],
            "city": [f"CANARY-city-{i % 5}" for i in range(12)],
            "age": [777000 + i for i in range(12)],
            "disease": [f"CANARY-disease-{i % 4}" for i in range(12)],
        }
    )
    bounds = {"value-bounds": {"bounds": {"CANARY-disease-1": 0.9}}}
    policy = ht.Policy(
        identifiers=["name"], quasi=["city", "age"], sensitive=["disease"], models=[ht.KAnonymity(k=3), bounds]
    )
    release = ht.anonymize(table, policy)
    for row in range(12):
        text = f"{release.explain(row)} {release.explain(row).as_dict()} {release.explain(row)!r}"
        assert "CANARY" not in text
        assert "7770" not in text


@pytest.mark.parametrize("row", [-1, 4, 1.0, "0", True, None])
def test_rows_that_are_not_there(row: Any) -> None:
    table = pa.table({"age": [30, 31, 52, 53]})
    release = ht.anonymize(table, ht.Policy(quasi=["age"], models=[ht.KAnonymity(k=2)]))
    with pytest.raises(UsageError, match=r"Rows are numbered from 0 to 3\."):
        release.explain(row)


def test_numbers_of_numpy_are_numbers() -> None:
    table = pa.table({"age": [30, 31, 52, 53]})
    release = ht.anonymize(table, ht.Policy(quasi=["age"], models=[ht.KAnonymity(k=2)]))
    assert release.explain(np.int64(3)) == release.explain(3)


def test_people_are_counted_where_rows_are_visits() -> None:
    table = pa.table({"who": ["a", "a", "b", "c", "d", "d"], "age": [30, 30, 31, 52, 53, 53]})
    policy = ht.Policy(identifiers=["who"], quasi=["age"], models=[ht.KAnonymity(k=2)], entity="who")
    found = ht.anonymize(table, policy).explain(0)
    assert found.people == 2
    assert found.sentences[0] == "Row 0 is in a class of 2 people."


def test_records_of_nobody_are_counted_apart(tmp_path: Any) -> None:
    """m-invariance publishes counterfeits, and the verifier's scores count them as it does."""
    people = {"name": ["a", "b", "c", "d"], "age": [21, 22, 41, 42], "disease": ["flu", "cold", "flu", "gout"]}
    rules = ht.Policy(
        identifiers=["name"], quasi=["age"], models=[ht.MInvariance(m=2)], algorithm="m-invariant",
        sensitive={"disease": {"categories": {"all": ["flu", "cold", "gout"]}}}, ledger=str(tmp_path / "ledger"),
    )  # fmt: skip
    ledger = ht.Ledger(tmp_path / "ledger")
    ledger.add(ht.anonymize(pa.table(people), first_of(rules)))
    later = pa.table({"name": ["a", "c", "e"], "age": [21, 41, 43], "disease": ["flu", "flu", "gout"]})
    release = ht.anonymize(later, rules)
    assert release.table.num_rows > release.n_released
    told = [release.explain(row) for row in range(3)]
    assert any("counterfeit" in one.sentences[0] for one in told)
    for one in told:
        assert one.people >= 1
        assert re.search(r"m-invariance \(m=2, on 'disease'\): [23] \(required: >= 2", one.sentences[1])
    report = release.report(tmp_path / "evidence.html", attacks=False)
    fakes = release.table.num_rows - release.n_released
    assert report.facts.treatment.counterfeits == fakes
    page = (tmp_path / "evidence.html").read_text(encoding="utf-8")
    for said in ("belong to nobody", f"(3 records and {fakes} counterfeits, ", "belong to nobody and are not counted."):
        assert said in page
    # the bars are about people, whatever stands beside them
    people = Counter(release.verification.stats.sizes.tolist())
    assert [b.after for b in report.facts.bands[:2]] == [people[1] / 3, people[2] * 2 / 3]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 12), st.sampled_from("abc")), min_size=6, max_size=40),
    st.integers(2, 4),
    st.sampled_from(["mondrian", "localpk", "mdav", "anti-unification"]),
)
def test_what_would_have_been_is_counted_again(rows: list[tuple[int, str]], k: int, algorithm: str) -> None:
    """Every number of a reason, from the plain rows of the record's class."""
    table = pa.table({"age": [r[0] for r in rows], "job": [r[1] for r in rows]})
    policy = ht.Policy(quasi=["age", "job"], models=[ht.KAnonymity(k=k)], algorithm=algorithm)
    release = ht.anonymize(table, policy)
    cells = cells_of_rows(release)
    for row in range(0, len(rows), 3):
        if cells[row] is None:
            continue
        members = [rows[i] for i, c in enumerate(cells) if c == cells[row]]
        for story in release.explain(row).columns:
            if not story.why:
                continue
            own = [m[0 if story.column == "age" else 1] for m in members]
            if story.why.startswith("Its class has only one value"):
                assert len(set(own)) == 1
            elif story.why.startswith("Cut in two"):
                _check_cut(story.why, own, k)
            else:
                _check_exact(story.why, own, own.count(rows[row][0 if story.column == "age" else 1]), k)


def _check_cut(why: str, own: list[Any], k: int) -> None:
    cuts = [sum(v <= at for v in own) for at in sorted(set(own))[:-1]]
    sides = [(low, len(own) - low) for low in cuts]
    best = max(min(pair) for pair in sides)
    if best >= k:
        assert "no model would be violated" in why
        low, high = map(int, re.findall(r"(\d+) p", why))
        assert (low, high) in sides
        assert min(low, high) == best
    else:
        assert f"one part would have {best} p" in why
        assert f"requires >= {k}, but would have {best}." in why


def _check_exact(why: str, own: list[Any], same: int, k: int) -> None:
    assert why.startswith("With its exact")
    if same < k:
        assert f"its class would have {same} p" in why
        assert f"requires >= {k}, but would have {same}." in why
    elif min(Counter(own).values()) < k:
        assert f"another part would have {min(Counter(own).values())} p" in why
    else:
        assert "no model would be violated" in why


def test_models_of_several_conditions_are_told_by_their_own_quantities() -> None:
    table = pa.table({"age": [30, 31, 52, 53], "ill": ["flu", "cold", "flu", "cold"]})
    models = [ht.AlphaK(alpha=0.5, k=2)]
    release = ht.anonymize(table, ht.Policy(quasi=["age"], sensitive=["ill"], models=models))
    text = str(release.explain(0))
    assert "alpha 0.5, k 2 (required: alpha <= 0.5, k >= 2)" in text
    assert "requires alpha <= 0.5, k >= 2, but would have alpha 1, k 1" in text
