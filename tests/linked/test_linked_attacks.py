"""Attacks on linked releases: a control of real people, equal events, and events that nobody thought of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from hushtable.datasets.hospital import hospital, hospital_policy
from hushtable.errors import UsageError
from hushtable.linked import attacks
from hushtable.linked.attacks import attack_release, hold_out, play_linked
from hushtable.linked.policy import LinkedPolicy
from hushtable.linked.run import anonymize_linked

QUASI = {"role": "quasi"}


def policy(**changes):
    tables = {
        "people": {"key": "id", "columns": {"age": {"role": "quasi", "kind": "numeric"}}},
        "visits": {"of": "people", "columns": {"reason": QUASI, "code": {"role": "insensitive"}}},
    }
    return LinkedPolicy(**{"tables": tables, "knows": 1, "models": [{"k-anonymity": {"k": 5}}], **changes})


def tables(n, seed, ages=(20, 60), reasons="abc"):
    draw = np.random.default_rng(seed)
    reason = [reasons[i] for i in draw.integers(0, len(reasons), 2 * n)]
    return {
        "people": pa.table({"id": [f"{seed}/{i}" for i in range(n)], "age": draw.integers(*ages, n)}),
        "visits": pa.table({"id": [f"{seed}/{i // 2}" for i in range(2 * n)], "reason": reason,
                            "code": [f"{seed}-{i}" for i in range(2 * n)]}),
    }  # fmt: skip


def test_membership_needs_real_people_who_are_outside():
    release = anonymize_linked(tables(60, 1), policy())
    with pytest.raises(UsageError, match="real people who are not in the release"):
        attack_release(release, ["event-membership"])
    results, refused = play_linked(release)
    assert [r.name for r in results] == ["event-linkage", "event-sweep"]
    assert "--control FOLDER" in refused["event-membership"]
    assert "no sensitive column" in refused["event-inference"]


def test_membership_is_a_coin_where_outsiders_are_alike():
    release = anonymize_linked(tables(300, 1), policy(crowd=150))
    found = release.attack("event-membership", control=tables(300, 2))
    assert (found.targets, found.baseline) == (600, 0.5)
    assert found.interval[0] < 0.5 < found.interval[1]


@pytest.mark.parametrize("other", [{"ages": (70, 90)}, {"reasons": "xyz"}])
def test_membership_finds_strangers_by_attributes_or_events(other):
    release = anonymize_linked(tables(300, 1), policy(crowd=150))
    # the last class has no upper end, so old people may be in it; the first has no lower one
    control = tables(300, 2, **other)
    found = release.attack("event-membership", control=control)
    if "reasons" in other:
        assert found.rate > 0.9
    exact = replace(release, tables={**release.tables, "people": bounded(release.tables["people"])})
    assert exact.attack("event-membership", control=control).rate > 0.9


def bounded(people):
    """The same classes with both ends published."""
    ends = {c: f"[{10 if c.startswith('<') else 20}, 60)" for c in people["age"].unique().to_pylist()}
    return people.set_column(1, "age", pa.array([ends[c] for c in people["age"].to_pylist()]))


def test_held_out_people_take_their_events_with_them():
    given, whole = LinkedPolicy(**hospital_policy()), hospital(80)
    released, control = hold_out(whole, given, 0.25)
    assert {n: released[n].num_rows + control[n].num_rows for n in whole} == {n: t.num_rows for n, t in whole.items()}
    ids = [set(part["people"]["person"].to_pylist()) for part in (released, control)]
    assert (len(ids[1]), ids[0] & ids[1]) == (20, set())
    for part, own in zip((released, control), ids, strict=True):
        assert set(part["labs"]["person"].to_pylist()) <= own
        assert set(part["diagnoses"]["stay"].to_pylist()) <= set(part["stays"]["stay"].to_pylist())


def test_two_equal_events_are_looked_for_twice():
    people = pa.table({"id": list("abcd"), "age": [30] * 4})
    visits = pa.table({"id": list("aabbcd"), "reason": ["x"] * 6, "code": list("123456")})
    release = anonymize_linked({"people": people, "visits": visits},
                               policy(knows=2, models=[{"k-anonymity": {"k": 2}}]))  # fmt: skip
    view = attacks._View.of(release, None)
    assert len(view.candidates(0, [("visits", 0), ("visits", 1)])) == 2
    assert len(view.candidates(0, [("visits", 0)])) == 4


def test_the_sweep_uses_columns_that_nobody_thought_of():
    release = anonymize_linked(tables(60, 1), policy())
    by_name = {r.name: r for r in attack_release(release)}
    assert by_name["event-sweep"].rate == 1.0  # every visit has a code of its own
    assert by_name["event-linkage"].interval[0] < 0.2


def test_relative_dates_are_attacked_as_published():
    people = pa.table({"id": list(range(8)), "age": [30] * 8, "born": [f"1990-01-0{i + 1}" for i in range(8)]})
    visits = pa.table({"id": list(range(8)), "day": [f"1990-01-{i + 11}" for i in range(8)]})
    given = {"people": {"key": "id", "columns": {"age": QUASI, "born": {"role": "drop"}}},
             "visits": {"of": "people", "columns": {"day": QUASI}, "relative": {"day": "born"}}}  # fmt: skip
    release = anonymize_linked(
        {"people": people, "visits": visits}, LinkedPolicy(tables=given, models=[{"k-anonymity": {"k": 8}}])
    )
    assert attack_release(release, ["event-linkage"])[0].counts["fewest_candidates"] == 8
