"""Overlapping cells under models that do not survive merging."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hushtable.algorithms.base import Partition
from hushtable.algorithms.lattice.optimal import Optimal
from hushtable.algorithms.partition.lattice_sweep import LatticeSweep
from hushtable.arrays import FloatArray
from hushtable.engines import local
from hushtable.errors import HushtableError, IncompatibleError, NotFound
from hushtable.models.alp_dif import AlpDif
from hushtable.models.base import Monotone, PrivacyModel
from hushtable.models.delta_presence import DeltaPresence
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.k_map import KMap
from hushtable.params import AtLeast
from hushtable.release.forms.intervals import Ranges
from hushtable.release.forms.midpoint import Midpoint
from hushtable.release.forms.nodes import Nodes
from hushtable.release.forms.sets import Sets
from hushtable.release.recode import recode
from hushtable.release.settle import merge_overlapping, settle
from hushtable.schema.columns import Cover, Kind, Missing
from hushtable.table.plan import SideTables
from hushtable.table.reference import Reference
from hushtable.table.stats import GroupStats
from hushtable.testing.cases import chosen_forms
from support_core import COUNTRIES, PEOPLE, PLACES, Given, people_table, plan_of, random_people


@dataclass(frozen=True)
class Crowd(PrivacyModel):
    """Between k and m people in a class. Survives nothing."""

    k: Annotated[int, AtLeast(1), "least"]
    m: Annotated[int, AtLeast(1), "most"]
    name: ClassVar[str] = "toy-crowd"
    monotone: ClassVar[Monotone] = Monotone.NONE

    @property
    def bound(self) -> float:
        return self.k

    def score(self, groups: GroupStats, table: Reference) -> FloatArray:
        return np.where(groups.sizes <= self.m, groups.sizes, 0.0)


CONTINENT = {country: name for name, countries in PLACES.items() for country in countries}


def leaves(cell: str | None, column: str, values: list) -> set:
    """What a published cell could stand for, read from its text."""
    if cell is None:
        return {None}
    if cell == "*":
        return set(values)
    if cell[:1] in ("<", ">") or cell.endswith(")"):
        low, high = {"<": ("-inf", cell[2:]), ">": (cell[3:], "inf")}.get(cell[0]) or cell[1:-1].split(", ")
        return {v for v in values if v is not None and float(low) <= v < float(high)}
    if cell.startswith("["):
        low, high = (int(x) for x in cell[1:-1].split(", "))
        return {v for v in values if v is not None and low <= v <= high}
    if cell.startswith("{"):
        return {None if x == "null" else x if column == "country" else int(x) for x in cell[1:-1].split(", ")}
    if cell in PLACES:
        return set(PLACES[cell])
    return {cell if column == "country" else int(cell)}


def overlapping(table: pa.Table, source: pa.Table) -> list:
    shown = sorted({(row["age"], row["country"]) for row in table.to_pylist()}, key=str)
    ages = [*source["age"].to_pylist()]
    places = [*COUNTRIES, *([None] if source["country"].null_count else [])]
    cover = [(leaves(a, "age", ages), leaves(c, "country", places)) for a, c in shown]
    return [
        (shown[i], shown[j])
        for i, j in itertools.combinations(range(len(shown)), 2)
        if cover[i][0] & cover[j][0] and cover[i][1] & cover[j][1]
    ]


ROWS = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(0, 9)), st.one_of(st.none(), st.sampled_from(COUNTRIES))),
    min_size=2,
    max_size=20,
)


@pytest.mark.parametrize("style", [Nodes(), Ranges(), Sets()])
@settings(max_examples=60)
@given(ROWS, st.data())
def test_settled_classes_do_not_overlap(style, rows, data):
    table = people_table([(*r, "flu") for r in rows])
    labels = data.draw(st.lists(st.integers(0, 4), min_size=len(rows), max_size=len(rows)))
    most = data.draw(st.sampled_from([6, 30]))
    plan = plan_of([Crowd(k=2, m=most)], algorithm=Given(tuple(labels)), cells=style)
    problem = local.problem_of(table, plan)
    recoded = settle(problem, Partition(np.array(labels), 5))
    if recoded is None:
        with pytest.raises(NotFound):
            local.run(table, plan)
        return
    outcome = local.run(table, plan)
    assert overlapping(outcome.published, table) == []
    sizes = np.bincount(outcome.recoded.labels)
    assert sizes.min() >= 2 and sizes.max() <= most
    for g in set(labels):
        assert len({int(x) for x, label in zip(recoded.labels, labels, strict=True) if label == g}) == 1


@pytest.mark.parametrize("style", [Nodes(), Ranges(), Sets()])
@pytest.mark.parametrize("others", [[], [Crowd(k=1, m=100)]])
@settings(max_examples=60)
@given(ROWS, ROWS, st.data())
def test_people_whom_a_settled_class_covers_count_with_it(style, others, rows, more, data):
    """Classes that are merged cover people whose own class was suppressed: delta-presence has to count them."""
    everyone = [*rows, *more]
    table = people_table([(*r, "flu") for r in rows])
    population = people_table([(*r, "flu") for r in everyone]).select(["age", "country"])
    total = len(rows) + len(everyone)
    labels = np.array(data.draw(st.lists(st.integers(-1, 3), min_size=total, max_size=total)))
    assume((labels[: len(rows)] >= 0).any())
    models = [*others, DeltaPresence(low=0.0, high=1.0)]
    problem = local.problem_of(table, plan_of(models, cells=style, side_tables=SideTables(population=population)))
    recoded = settle(problem, Partition(labels, 4))
    assume(recoded is not None)
    values = [[r[j] for r in everyone] for j in (0, 1)]
    places = [*COUNTRIES, *([None] if None in values[1] else [])]
    shown = list(zip(*(column.to_pylist() for column in recoded.published), strict=True))
    cover = [(leaves(a, "age", values[0]), leaves(c, "country", places)) for a, c in shown]
    for person, label in zip(everyone, recoded.labels[len(rows) :].tolist(), strict=True):
        fitting = [g for g, (ages, countries) in enumerate(cover) if person[0] in ages and person[1] in countries]
        assert fitting == ([label] if label >= 0 else [])


def test_overlap_is_not_allowed_where_a_model_counts_whom_a_class_covers():
    # of the two people of 'Europe' beside Spain, one is in the release: but four more of Spain are covered by it
    rows = [(1, "Spain", "flu")] * 4 + [(1, "France", "flu")]
    population = people_table([*rows, (1, "Italy", "flu")])
    plan = plan_of(
        [DeltaPresence(low=0.4, high=1.0)],
        algorithm=Given((0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1)),
        cells=Nodes(),
        side_tables=SideTables(population=population),
    )
    assert local.run(people_table(rows), plan).published["country"].to_pylist() == ["Europe"] * 5


def test_overlap_is_allowed_where_the_model_survives_merging():
    # Europe beside Spain: k-anonymity does not mind
    rows = [(1, "Spain", "flu")] * 2 + [(1, "France", "flu"), (1, "Italy", "flu")]
    plan = plan_of([KAnonymity(k=2)], algorithm=Given((0, 0, 1, 1)), cells=Nodes())
    outcome = local.run(people_table(rows), plan)
    assert set(outcome.published["country"].to_pylist()) == {"Spain", "Europe"}
    strict = plan_of([Crowd(k=2, m=9)], algorithm=Given((0, 0, 1, 1)), cells=Nodes())
    assert set(local.run(people_table(rows), strict).published["country"].to_pylist()) == {"Europe"}


def test_interleaved_sets_share_nothing():
    rows = [(1, c, "flu") for c in ("China", "France", "Japan", "Italy")]
    table = people_table(rows)
    plan = plan_of([Crowd(k=2, m=9)], cells=Sets())
    problem = local.problem_of(table, plan)
    recoded = recode(problem.table, Partition(np.array([0, 1, 0, 1]), 2))
    assert merge_overlapping(recoded.cells)[1] == 2


@pytest.mark.parametrize("style", [form for form in chosen_forms() if not form.counts_records])
def test_mondrian_under_a_model_that_survives_nothing(style):
    table = random_people(60, seed=4, missing=0.1)
    try:
        outcome = local.run(table, plan_of([Crowd(k=2, m=60)], cells=style))
    except NotFound:
        pytest.fail("the whole table is satisfied, so something must be found")
    assert outcome.verification.ok
    if style.cover(Kind.NUMERIC) is not Cover.NODE:  # nodes of a flat hierarchy are values and the root, above all
        assert outcome.verification.classes > 1
    if style != Midpoint():
        assert overlapping(outcome.published, table) == []


def test_nothing_found_is_said():
    with pytest.raises(NotFound, match="mondrian found no partition that satisfies toy-crowd") as caught:
        local.run(random_people(30, 1), plan_of([Crowd(k=2, m=3)]))
    assert isinstance(caught.value, HushtableError) and caught.value.exit_code == 3


def test_wildcards_are_refused_for_models_that_do_not_survive_merging():
    with pytest.raises(IncompatibleError, match="toy-crowd does not survive merging"):
        plan_of([Crowd(k=2, m=9)], PEOPLE, missing=Missing.WILDCARD)


@pytest.mark.parametrize("algorithm", [Optimal(), LatticeSweep()])
def test_classes_of_the_population_alone_are_not_joined_to_any(algorithm):
    # nobody of the sample is in Fiji, and a class that is not published need not have two people
    rows = [(1, country, illness) for country in ("China", "France") for illness in ("flu", "HIV") * 2]
    others = people_table([(1, country, "flu") for country in ("China", "France", "Fiji") for _ in range(5)])
    models = [KAnonymity(k=2), KMap(k=3), AlpDif(alp={"flu": 0.6}, on="illness")]
    outcome = local.run(
        people_table(rows), plan_of(models, algorithm=algorithm, side_tables=SideTables(population=others))
    )
    assert outcome.published["country"].to_pylist() == ["China"] * 4 + ["France"] * 4
    assert outcome.verification.stats.take([0, 1]).population.tolist() == [5, 5]
