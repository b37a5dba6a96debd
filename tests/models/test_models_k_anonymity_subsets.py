"""k-anonymity over subsets of columns: counted again by hand, on what several algorithms publish."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hushtable as ht
from hushtable.errors import Infeasible, ParameterError, PolicyError, VerificationError
from hushtable.models.base import Monotone
from hushtable.models.compose import AllOf
from hushtable.release.verify import Published, verify
from hushtable.schema.columns import Missing
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats

ISSUE_352 = pd.DataFrame(
    {
        "province": list("2332424223"),
        "activity": list("AAAABBBBAA"),
        "sex": ["Female"] * 3 + ["Male"] + ["Female"] * 4 + ["Male"] * 2,
        "income": ["high", "low", "low", "low", "high", "medium", "high", "low", "high", "medium"],
    }
)
"""The table of sdcMicro's issue 352, where two rows '2, A' stay after kAnon with combs = 2 and k = 3."""


def fewest(rows, subsets):
    """The slow twin: the fewest rows that show a combination of so many columns."""
    rows = [tuple(row) for row in rows]
    return min(
        min(Counter(tuple(row[j] for j in chosen) for row in rows).values())
        for chosen in combinations(range(len(rows[0])), min(subsets, len(rows[0])))
    )


def policy(frame, algorithm, **given):
    """Return a policy with all columns as quasi-identifiers."""
    columns = {name: {"role": "quasi", "kind": "nominal"} for name in frame.columns}
    return ht.Policy(columns=columns, models=[{"k-anonymity": given}], algorithm=algorithm)


@pytest.mark.parametrize("algorithm", ["local-suppression", "optimal", "datafly", "mondrian", "mdav", "incognito"])
def test_no_pair_of_columns_shows_fewer_than_three(algorithm):
    if algorithm == "mdav":
        frame = ISSUE_352.apply(lambda c: pd.factorize(c)[0])
        release = ht.anonymize(
            frame, ht.Policy(quasi=[*frame], models=[ht.KAnonymity(k=3, subsets=2)], algorithm="mdav")
        )
    else:
        release = ht.anonymize(ISSUE_352, policy(ISSUE_352, algorithm, k=3, subsets=2))
    assert release.verify().ok
    assert fewest(release.frame.astype(str).to_numpy(), 2) >= 3


def test_listed_combinations_and_no_others():
    listed = [["province", "activity"], ["sex"]]
    release = ht.anonymize(ISSUE_352, policy(ISSUE_352, "local-suppression", k=3, combinations=listed))
    rows = release.frame
    for chosen in listed:
        assert rows.groupby(chosen).size().min() >= 3
    # four rows of activity B lose their province; nothing else has to go
    assert int((rows == "*").to_numpy().sum()) == 4
    assert fewest(rows.to_numpy(), 4) == 1


def test_what_sdcmicro_published_is_refused():
    """Two rows show '2, A', as in the issue."""
    shown = ISSUE_352.assign(province=["2", "3", "3", None, "4", None, "4", None, "2", "3"])
    release = ht.anonymize(ISSUE_352, policy(ISSUE_352, "optimal", k=3, subsets=2))
    columns = tuple(pa.array(shown[c]) for c in shown)
    model = AllOf((ht.KAnonymity(k=3, subsets=2),))
    found = verify(
        Published(columns, {}, {}, names=tuple(shown.columns)), model, Reference.of(10), Missing.OWN_CATEGORY
    )
    assert not found.ok and found.evidence[0].achieved < 3
    with pytest.raises(VerificationError):
        found.raise_if_violated()
    assert release.verify().ok


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=6, max_size=24),
    st.integers(2, 4),
    st.integers(1, 4),
    st.sampled_from(["local-suppression", "optimal", "samarati"]),
)
def test_releases_are_counted_again(rows, k, subsets, algorithm):
    frame = pd.DataFrame(rows, columns=list("abcd")).astype(str)
    release = ht.anonymize(frame, policy(frame, algorithm, k=k, subsets=subsets))
    assert len(release.frame) == len(rows)
    assert fewest(release.frame.to_numpy(), subsets) >= k
    assert release.verify().evidence[0].achieved == fewest(release.frame.to_numpy(), subsets)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_scores_are_those_of_the_slow_twin(data):
    rows = data.draw(st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=1, max_size=12, unique=True))
    units = data.draw(st.lists(st.integers(1, 4), min_size=len(rows), max_size=len(rows)))
    m = data.draw(st.integers(1, 3))
    cells = {name: np.array([row[j] for row in rows]) for j, name in enumerate("abc")}
    stats = GroupStats(np.array(units), cells=cells)
    model = ht.KAnonymity(k=3, subsets=m)
    people = [row for row, n in zip(rows, units, strict=True) for _ in range(n)]
    least = [
        min(sum(all(other[j] == row[j] for j in chosen) for other in people) for chosen in combinations(range(3), m))
        for row in rows
    ]
    assert model.score(stats, Reference.of(len(people))).tolist() == least
    assert bool(model.table_satisfied(stats, Reference.of(len(people)))[0]) == (min(least) >= 3)
    rare = model.exposing(stats, Reference.of(len(people)))
    for i, row in enumerate(rows):
        for j in range(3):
            expected = sum(
                j in chosen and sum(all(o[q] == row[q] for q in chosen) for o in people) < 3
                for chosen in combinations(range(3), m)
            )
            assert rare[i, j] == expected


def test_several_tables_are_judged_one_by_one():
    cells = {"a": np.array([0, 0, 0, 1]), "b": np.array([0, 1, 0, 1])}
    stats = GroupStats(np.array([2, 2, 1, 3]), cells=cells, tables=np.array([0, 2, 4]))
    model = ht.KAnonymity(k=2, subsets=1)
    assert model.table_satisfied(stats, Reference.of(8)).tolist() == [True, False]
    assert model.score(stats, Reference.of(8)).tolist() == [2, 2, 1, 3]


def test_merging_classes_may_leave_others_alone():
    """Why it declares neither MERGE nor ADD: two classes become one, and a third is the last to show its age."""
    model = ht.KAnonymity(k=3, subsets=1)
    cells = {"age": np.array([1, 1, 2, 2]), "city": np.array([1, 2, 1, 2])}
    assert model.table_satisfied(GroupStats(np.array([2, 1, 3, 2]), cells=cells), Reference.of(8)).all()
    # the first and the third class become '*, 1'
    merged = {"age": np.array([9, 1, 2]), "city": np.array([1, 2, 2])}
    assert not model.table_satisfied(GroupStats(np.array([5, 1, 2]), cells=merged), Reference.of(8)).any()
    assert model.monotone is Monotone.COARSEN and ht.KAnonymity(k=4).monotone == Monotone.ADD | Monotone.MERGE


def test_forty_columns_can_be_published():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(np.minimum(rng.geometric(0.6, (400, 40)), 3), columns=[f"c{j:02}" for j in range(40)]).astype(
        str
    )
    release = ht.anonymize(frame, policy(frame, "local-suppression", k=3, subsets=2))
    assert release.verify().ok and fewest(release.frame.to_numpy(), 2) >= 3
    assert (release.frame == "*").to_numpy().mean() < 0.02
    assert fewest(release.frame.to_numpy(), 40) == 1


def test_a_saved_release_is_verified_from_its_rows(tmp_path):
    release = ht.anonymize(
        ISSUE_352, policy(ISSUE_352, "local-suppression", k=3, combinations=[["province", "activity"]])
    )
    release.save(tmp_path / "out")
    again = ht.open_release(tmp_path / "out")
    assert again.verify().ok and again.table.to_pylist() == release.table.to_pylist()


def test_what_is_refused():
    with pytest.raises(ParameterError, match="both 'subsets' and 'combinations'"):
        ht.KAnonymity(k=2, subsets=1, combinations=[["a"]])
    with pytest.raises(ParameterError, match="names no columns"):
        ht.KAnonymity(k=2, combinations=[[]])
    with pytest.raises(PolicyError, match="'shoe', which is not a quasi-identifier"):
        ht.anonymize(ISSUE_352, policy(ISSUE_352, "optimal", k=3, combinations=[["shoe"]]))
    with pytest.raises(Infeasible, match="k=11 but the table has 10 people"):
        ht.anonymize(ISSUE_352, policy(ISSUE_352, "optimal", k=11, subsets=2))
