"""A sample is drawn from the public folder alone, keeps the counts of every class, and refuses what it cannot draw."""

from __future__ import annotations

import collections
import datetime
import itertools
import json
import shutil

import numpy as np
import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.errors import DataError, IncompatibleError, UsageError, VerificationError
from hushtable.io.files import read_table, write_table
from hushtable.release.forms.reading import read_cells
from hushtable.release.forms.regions import Regions
from hushtable.release.sample.opened import write_sample
from hushtable.release.sample.sample import MOST_TIMES, vague_columns
from hushtable.schema.columns import Role
from hushtable.table.plan import ColumnPlan

FORMS = ["counts", "regions", "sets", "intervals", "nodes", "midpoint"]
JOBS = ["clerk", "cook", "a, b", "*", "null", None]


def people(n=200):
    return pa.table(
        {
            "name": [f"person {i}" for i in range(n)],
            "age": [18 + (7 * i) % 60 for i in range(n)],
            "height": [150 + ((13 * i) % 400) / 10 for i in range(n)],
            "born": [datetime.date(1960, 1, 1) + datetime.timedelta(days=(97 * i) % 12000) for i in range(n)],
            "job": [JOBS[(i * i) % 6] for i in range(n)],
            "pay": [1000 + i for i in range(n)],
            "seen": [["yes", "no"][i % 2] for i in range(n)],
        }
    )


def released(cells="counts", **more):
    policy = ht.Policy(
        columns={
            "name": {"role": "identifier"},
            "age": {"role": "quasi", "hierarchy": {"intervals": [5, 20, 40]}},
            "height": {"role": "quasi", "hierarchy": {"intervals": [2.5, 10, 50]}},
            "born": {"role": "quasi", "hierarchy": {"dates": ["year", "decade", "century"]}},
            "job": {"role": "quasi"},
            "pay": {"role": "sensitive"},
            "seen": {"role": "insensitive"},
        },
        models=[ht.KAnonymity(k=5)],
        cells=cells,
        **more,
    )
    return ht.anonymize(people(), policy)


def classes(release):
    names = ["age", "height", "born", "job"]
    found = collections.defaultdict(list)
    for i, row in enumerate(zip(*(release.table.column(n).to_pylist() for n in names), strict=True)):
        found[row].append(i)
    return found.values()


def test_types_and_columns_are_those_of_the_original():
    for cells in FORMS:
        drawn = released(cells).sample()
        assert drawn.column_names == released(cells).table.column_names
        assert "name" not in drawn.column_names
        wanted = people().schema
        # of bins and nodes only bounds are known, and here these are whole
        changed = {"height": pa.int64()} if cells in ("counts", "nodes") else {}
        changed |= {"age": pa.float64()} if cells == "midpoint" else {}
        for name in drawn.column_names:
            assert drawn.schema.field(name).type == changed.get(name, wanted.field(name).type), (cells, name)


def test_values_of_a_class_are_dealt_without_replacement():
    release = released({"counts": {"digits": 0, "dates": "day"}})
    drawn, original = release.sample(seed=4), people()
    for name in ("age", "height", "born", "job"):
        assert collections.Counter(drawn[name].to_pylist()) == collections.Counter(original[name].to_pylist())
    from hushtable.testing.covers import counted

    for rows in classes(release):
        cell = release.table["age"][rows[0]].as_py()
        ages = collections.Counter(str(drawn["age"][i].as_py()) for i in rows)
        assert ages == dict(counted(cell))
    # published columns stay with their row
    assert drawn["pay"].equals(release.table["pay"]) and drawn["seen"].equals(release.table["seen"])


@pytest.mark.parametrize("cells", FORMS)
def test_drawn_values_lie_in_their_cells(cells):
    release = released(cells)
    drawn = release.sample(seed=2)
    names = ["age", "height", "born", "job"]
    if cells == "midpoint":
        names = ["born", "job"]
    from hushtable.release.sample.sample import read_columns

    readings, codes = read_columns(release.table, release.plan.table, release.plan.algorithm.recoding)
    for name in names:
        found, cell = readings[name], codes[name]
        for i, value in enumerate(drawn[name].to_pylist()):
            atoms = found.atoms[found.offsets[cell[i]] : found.offsets[cell[i] + 1]].tolist()
            if value is None:
                assert 0 in atoms
            elif found.numbers:
                number = (value - datetime.date(1970, 1, 1)).days if isinstance(value, datetime.date) else value
                assert any(found.low[a] <= number <= found.high[a] for a in atoms if a)
                assert any(number < found.high[a] or found.closed[a] for a in atoms if a)
            else:
                assert value in [found.labels[a].as_py() for a in atoms]


@pytest.mark.parametrize("cells", FORMS)
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_the_public_folder_gives_the_same_sample(tmp_path, cells, format):
    release = released(cells)
    folder = release.save(tmp_path / "release", format=format)
    shutil.rmtree(tmp_path / "release.private")
    opened = ht.open_release(folder)
    assert opened.sample(seed=9, rows=317).equals(release.sample(seed=9, rows=317))


def test_the_seed_decides():
    release = released()
    assert release.sample(seed=1).equals(release.sample(seed=1))
    assert not release.sample(seed=1).equals(release.sample(seed=2))
    # on any machine, with any version
    assert released().sample(seed=1)["age"].to_pylist()[:5] == GOLDEN


def test_fewer_and_more_rows():
    release = released({"counts": {"digits": 0, "dates": "day"}})
    assert release.sample(rows=7).num_rows == 7
    more = release.sample(rows=450)
    assert more.num_rows == 450
    ages = collections.Counter(people()["age"].to_pylist())
    assert collections.Counter(more["age"].to_pylist()[:400]) == {age: 2 * n for age, n in ages.items()}
    first, second = more.slice(0, 200), more.slice(200, 200)
    assert not first.equals(second)
    with pytest.raises(UsageError, match="more than 100 times the 200") as caught:
        release.sample(rows=200 * MOST_TIMES + 1)
    assert caught.value.code == "rows"
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(UsageError, match=r"at least one row|must be an int or None, not (float|bool)"):
            release.sample(rows=wrong)


def test_the_kind_of_frame_is_that_of_the_original():
    pd = pytest.importorskip("pandas")
    policy = ht.Policy(quasi=["age"], sensitive=["pay"], models=[ht.KAnonymity(k=5)], cells="counts")
    frame = people().select(["age", "pay"]).to_pandas()
    drawn = ht.anonymize(frame, policy).sample()
    assert isinstance(drawn, pd.DataFrame) and drawn["age"].dtype == frame["age"].dtype


def test_rules_are_kept_and_counts_stay():
    release = released({"counts": {"digits": 0, "dates": "day"}})
    rules = ["age < 30 -> job != cook", "job = 'a, b' -> height < 185 and age >= 20"]
    rules.append("pay > 1100 -> job in {clerk, cook, null, 'a, b', '*', 'null'}")
    drawn = release.sample(seed=3, where=rules)
    for age, job, height in zip(*(drawn[n].to_pylist() for n in ("age", "job", "height")), strict=True):
        assert not (age < 30 and job == "cook")
        assert job != "a, b" or (height < 185 and age >= 20)


def test_a_rule_that_the_original_keeps_costs_no_count():
    ages = [i % 80 for i in range(400)]
    states = ["N" if age < 15 else ["N", "M", "W"][age % 3] for age in ages]
    table = pa.table({"age": ages, "state": states, "town": [str(i % 7) + "x" for i in range(400)]})
    policy = ht.Policy(quasi=["town", "age", "state"], models=[ht.KAnonymity(k=20)], cells={"counts": {"digits": 0}})
    release = ht.anonymize(table, policy)
    plain = release.sample(seed=1)
    broken = [a < 15 and s != "N" for a, s in zip(plain["age"].to_pylist(), plain["state"].to_pylist(), strict=True)]
    assert any(broken)
    drawn = release.sample(seed=1, where=["age < 15 -> state = N"])
    pairs = list(zip(drawn["age"].to_pylist(), drawn["state"].to_pylist(), strict=True))
    assert not any(a < 15 and s != "N" for a, s in pairs)
    for name in ("age", "state"):
        assert collections.Counter(drawn[name].to_pylist()) == collections.Counter(table[name].to_pylist())


def test_a_rule_that_no_row_can_keep_is_named():
    with pytest.raises(UsageError) as caught:
        released().sample(where=["age >= 0 -> job = pilot"])
    assert caught.value.code == "rule-impossible" and "'age >= 0 -> job = pilot'" in caught.value.message
    # nothing is drawn that it names
    with pytest.raises(UsageError, match="could not be satisfied"):
        released().sample(where=["pay < 0"])


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("agee < 3", "no such column"),
        ("name = x", "no such column"),
        ("job < cook", "have no order"),
        ("age < old", "not a number"),
        ("born < soon", "not a date"),
        ("age 3", "comparison is missing"),
    ],
)
def test_bad_rules(rule, why):
    with pytest.raises(UsageError, match=why) as caught:
        released().sample(where=[rule])
    assert caught.value.code == "rule"


def test_rules_of_dates_and_order():
    table = pa.table({"day": [datetime.date(2020, 1, 1 + i % 28) for i in range(60)], "size": ["S", "M", "L"] * 20})
    policy = ht.Policy(
        columns={"day": {"role": "quasi"}, "size": {"role": "quasi", "order": ["S", "M", "L"]}},
        models=[ht.KAnonymity(k=20)],
        cells={"counts": {"dates": "day"}},
    )
    drawn = ht.anonymize(table, policy).sample(where=["day < 2020-01-05 -> size > S", "size >= L -> day != 2020-01-28"])
    for day, size in zip(drawn["day"].to_pylist(), drawn["size"].to_pylist(), strict=True):
        assert day >= datetime.date(2020, 1, 5) or size != "S"
        assert size != "L" or day != datetime.date(2020, 1, 28)


def test_patterns_tell_nothing():
    policy = ht.Policy(quasi=["age", "job"], models=[ht.KAnonymity(k=5)], algorithm=ht.AntiUnification())
    with pytest.raises(IncompatibleError, match="nothing shows what a blank hides") as caught:
        ht.anonymize(people().select(["age", "job"]), policy).sample()
    assert caught.value.code == "nothing-to-draw"


def test_a_column_of_stars():
    table = pa.table({"job": ["a", "b"] * 10, "age": [1, 2] * 10})
    more = {"models": [ht.KAnonymity(k=20)], "algorithm": ht.Optimal(), "cells": "nodes"}
    flat = ht.anonymize(table, ht.Policy(quasi=["job", "age"], **more))
    with pytest.raises(IncompatibleError, match=r"'\*' everywhere.* Drop the column in the policy"):
        flat.sample()
    tree = {"tree": {"x": ["a", "c"], "y": ["b"]}}
    known = ht.Policy(columns={"job": {"role": "quasi", "hierarchy": tree}, "age": {"role": "insensitive"}}, **more)
    assert set(ht.anonymize(table, known).sample(rows=200)["job"].to_pylist()) == {"a", "b", "c"}


def test_one_column_of_stars_is_left_empty(tmp_path):
    table = pa.table({"job": [f"job {i}" for i in range(20)], "age": [1, 2] * 10, "ill": ["flu", "gout"] * 10})
    policy = ht.Policy(
        columns={"job": {"role": "quasi", "hierarchy": "flat"}, "age": {"role": "quasi"}, "ill": {"role": "sensitive"}},
        models=[ht.KAnonymity(k=5)], algorithm=ht.Optimal(), cells="nodes",
    )  # fmt: skip
    release = ht.anonymize(table, policy)
    assert set(release.table["job"].to_pylist()) == {"*"} and set(release.table["age"].to_pylist()) == {"1", "2"}
    for rows in (5, None, 50):
        drawn = release.sample(rows=rows)
        assert drawn.column_names == release.table.column_names
        assert drawn["job"].null_count == drawn.num_rows == (rows or 20)
        assert drawn["age"].null_count == 0
    assert collections.Counter(release.sample()["age"].to_pylist()) == {1: 10, 2: 10}
    note = write_sample(release, tmp_path / "drawn.csv")
    assert note["empty"] == ["job"] and json.loads((tmp_path / "drawn.json").read_text())["empty"] == ["job"]
    for refused in (lambda: release.sample(where=["job = a"]), release.condense):
        with pytest.raises(IncompatibleError, match=r"'job' is published as '\*' everywhere"):
            refused()


def test_buckets_deal_sensitive_values():
    policy = ht.Policy(quasi=["age", "job"], sensitive=["seen"], models=[ht.DistinctL(l=2)], algorithm=ht.Anatomy())
    release = ht.anonymize(people().select(["age", "job", "seen"]), policy)
    drawn = release.sample(seed=1)
    assert drawn.column_names == ["age", "job", "seen"]
    assert drawn["age"].to_pylist() == [int(v) for v in release.table["age"].to_pylist()]
    assert collections.Counter(drawn["seen"].to_pylist()) == collections.Counter(release.table["seen"].to_pylist())
    assert drawn["seen"].to_pylist() != release.table["seen"].to_pylist()


def test_centroids_are_their_own_values():
    policy = ht.Policy(quasi=["age", "height"], models=[ht.KAnonymity(k=5)], algorithm=ht.Mdav())
    release = ht.anonymize(people().select(["age", "height"]), policy)
    assert release.sample()["height"].to_pylist() == release.table["height"].to_pylist()


def edited(folder, change):
    table = read_table(folder / "release.csv", unescape_formulas=True)
    rows = table.to_pydict()
    change(rows)
    write_table(pa.table(rows), folder / "release.csv")
    shutil.rmtree(folder.with_name("release.private"), ignore_errors=True)
    return ht.open_release(folder)


def test_an_edited_folder_is_refused(tmp_path):
    folder = released().save(tmp_path / "release")
    text = (folder / "release.csv").read_text()
    (folder / "release.csv").write_text(text.replace(": 1", ": 2"))
    # the companion knows the file
    with pytest.raises(DataError) as caught:
        ht.open_release(folder).sample()
    assert caught.value.code == "changed-file"
    shutil.rmtree(tmp_path / "release.private")
    with pytest.raises(DataError, match="do not match their classes") as caught:
        ht.open_release(folder).sample()
    assert caught.value.code == "changed-cells"
    with pytest.raises(DataError, match="do not match their classes"):
        ht.open_release(folder).verify()

    def one_cell(rows):
        rows["age"][0] = "{19: 1}"

    (folder / "release.csv").write_text(text)
    with pytest.raises((DataError, VerificationError)):
        edited(folder, one_cell).sample()
    (folder / "release.csv").write_text(text)

    def fewer(rows):
        for name in rows:
            rows[name] = rows[name][:-1]

    with pytest.raises(DataError, match="has a different number"):
        edited(folder, fewer).sample()


def test_classes_that_are_not_neighbours():
    """Published rows are sorted by all cells, so a column in front of the quasi-identifiers tears classes apart."""
    table = pa.table({"pay": [i % 11 for i in range(60)], "age": [20 + i % 30 for i in range(60)]})
    policy = ht.Policy(
        columns={"pay": {"role": "sensitive"}, "age": {"role": "quasi"}}, models=[ht.KAnonymity(k=10)], cells="counts"
    )
    release = ht.anonymize(table, policy)
    labels = release.table["age"].to_pylist()
    assert sum(a != b for a, b in itertools.pairwise(labels)) + 1 > release.verification.classes
    drawn = release.sample(seed=1, where=["age < 25 -> pay < 10"])
    assert drawn["pay"].equals(release.table["pay"])
    from hushtable.testing.covers import counted

    for cell in set(labels):
        rows = [i for i, c in enumerate(labels) if c == cell]
        assert sorted(drawn["age"][i].as_py() for i in rows) == sorted(
            int(v) for v, n in counted(cell) for _ in range(n)
        )


def test_a_release_that_was_streamed(tmp_path):
    write_table(people().drop_columns(["name"]), tmp_path / "people.csv")
    policy = ht.Policy(
        quasi=["age", "height", "born", "job"], insensitive=["pay", "seen"], models=[ht.KAnonymity(k=5)], cells="counts"
    )
    release = ht.run(tmp_path / "people.csv", policy, tmp_path / "release", engine="stream")
    assert release.sample(seed=2).equals(ht.open_release(tmp_path / "release").sample(seed=2))


GOLDEN = [33, 21, 30, 30, 21]


def test_many_rows_are_dealt_by_the_kernels():
    n = 6000
    table = pa.table({"age": np.arange(n) % 83, "job": [JOBS[:5][i % 5] for i in range(n)]})
    policy = ht.Policy(quasi=["age", "job"], models=[ht.KAnonymity(k=10)], cells={"counts": {"digits": 0}})
    drawn = ht.anonymize(table, policy).sample(seed=1)
    assert collections.Counter(drawn["age"].to_pylist()) == collections.Counter(table["age"].to_pylist())


@pytest.mark.parametrize("cells", ["regions", "intervals"])
@pytest.mark.parametrize(
    "values",
    [
        [0.0, 1e308, 1.5e308, 1.7e308],
        [-1.7e308, -1.5e308, 0.5, 1.7e308],
        [-(2**63), -(2**62), 2**62, 2**63 - 1],
        [2**62, 2**62 + 1, 2**62 + 4, 2**62 + 5],
        [-5e-324, 0.0, 5e-324, 1e-300],
    ],
)
def test_numbers_of_any_size(cells, values):
    policy = ht.Policy(quasi=["x"], models=[ht.KAnonymity(k=2)], cells=cells, algorithm={"mondrian": {}})
    release = ht.anonymize(pa.table({"x": values}), policy)
    drawn = release.sample(seed=3).column("x").to_pylist()
    assert np.isfinite(np.array(drawn, float)).all()
    # round bounds may not show that values are fractions
    assert {type(v) for v in drawn} == {type(values[0])} or (cells == "regions" and isinstance(values[0], float))


def test_an_open_end_may_be_a_fraction():
    """The lower bounds are whole numbers, the upper ones are not."""
    found = read_cells(Regions(), pa.array(["< -2.25", ">= -2"]), ColumnPlan("x", Role.QUASI))
    assert np.all(found.low <= found.high) and found.low.min() == -2.5


def test_columns_of_many_stars_are_named_in_the_note(tmp_path):
    """The mean of such a column was far off (18.5 instead of 11.3 years), and nothing said so."""
    table = pa.table({"age": [*range(20, 40)], "years": [0] * 8 + [*range(1, 13)]})
    release = ht.anonymize(table, ht.Policy(quasi=["age", "years"], models=[ht.KAnonymity(k=4)], algorithm="mdav"))
    stars = release.table["years"].to_pylist().count("*") / 20
    note = write_sample(release, tmp_path / "drawn.csv")
    assert note["vague"] == ({"years": stars} if stars >= 0.1 else {})
    vague = vague_columns(pa.table({"age": ["*", "*", "1", "2"], "years": ["*"] * 3 + ["1"]}), release.plan.table)
    assert list(vague.items()) == [("years", 0.75), ("age", 0.5)]
    assert vague_columns(pa.table({"age": [1, 2], "years": ["1", "2"]}), release.plan.table) == {}
