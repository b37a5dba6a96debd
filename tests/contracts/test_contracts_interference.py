"""Nothing in a public folder depends on suppressed records, or on what a published cell hides."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest
from support_stream import small_pieces

from hushtable.algorithms.base import Algorithm, Partition
from hushtable.algorithms.lattice.optimal import Optimal
from hushtable.algorithms.partition.localpk import Localpk
from hushtable.algorithms.partition.mondrian import Mondrian
from hushtable.api import run_plan
from hushtable.engines.stream import is_streamable
from hushtable.hierarchy.frequency import Frequency
from hushtable.models.k_anonymity import KAnonymity
from hushtable.registry import algorithms, guards, models
from hushtable.release.forms.nodes import Nodes
from hushtable.release.guard import Guard
from hushtable.schema.columns import Missing
from hushtable.testing import (
    check_interference,
    interference_checks,
    model_examples,
    random_case,
    with_hierarchies,
)
from hushtable.testing.cases import chosen_forms
from hushtable.testing.features import with_features
from hushtable.testing.interference_checks import CHANGES
from hushtable.testing.public_files import SOURCES, local_files, streamed_files

NAMES = list(models)
VARIANTS = [
    *(cls.build({}) for cls in algorithms.values() if not cls.samples),
    Mondrian(mode="relaxed"),
    Mondrian(nominal="children"),
    Localpk(),
]
IDS = [f"{algorithm.name}-{number}" for number, algorithm in enumerate(VARIANTS)]
STYLES = chosen_forms()
WHATS = list(CHANGES)
QUASI = ("age", "height", "postcode", "country", "size", "visit")


def case_of(turn, rows=24, form=None):
    """Cases in which cell styles, hierarchies, meanings of gaps and people with several rows take turns."""
    case = random_case(
        turn,
        rows,
        cells=STYLES[turn % len(STYLES)] if form is None else form,
        missing=list(Missing)[turn // 2 % 3],
        entity=turn % 5 == 4,
    )
    return with_hierarchies(case, turn)


def checked(algorithm, turns, *, some=False, **more):
    """Check with k-anonymity, or what comes near it, and with models that take turns; with ``some`` changes only."""
    done = Counter()
    for turn in turns:
        case = case_of(turn)
        for i, name in enumerate(("k-anonymity" if turn % 2 else "distinct-l", NAMES[turn * 7 % len(NAMES)])):
            for example in model_examples(models[name], case.suited(algorithm), 1):
                changes = [WHATS[0], WHATS[1 + (turn + i) % (len(WHATS) - 1)]] if some else WHATS
                done += check_interference([example], algorithm, case, seed=turn, changes=changes, **more)
    return done


@pytest.mark.parametrize("number", range(len(VARIANTS)), ids=IDS)
def test_every_algorithm(number):
    done = checked(VARIANTS[number], range(number, number + 2), some=True)
    # some suppress nobody, and k-concealing refuses most models that take turns
    some = VARIANTS[number].name in ("mondrian", "optimal", "datafly", "localpk", "mdav", "k-member", "anatomy")
    assert done["suppressed"] >= 2 if some else done.total(), done


@pytest.mark.parametrize("style", STYLES, ids=str)
@pytest.mark.parametrize("algorithm", [Optimal(), Mondrian(), Localpk()], ids=str)
def test_every_hierarchy_and_style(algorithm, style):
    done = Counter()
    # counts refuse the wildcard, which takes turns with other meanings of gaps
    for turn in range(7 if style.by_members else 13):
        changes = [WHATS[0], WHATS[1 + turn % (len(WHATS) - 1)]]
        done += check_interference([KAnonymity(k=2)], algorithm, case_of(turn, form=style), changes=changes, seed=turn)
    assert done[WHATS[0]] >= 4 and done["suppressed"] >= 8, done


@pytest.mark.parametrize("guard", guards)
def test_every_guard(guard):
    done = Counter()
    for turn, algorithm in enumerate((Mondrian(), Localpk(), Optimal(), Mondrian(mode="relaxed"))):
        done += checked(algorithm, [turn], some=True, guards=[guards.build(guard)])
    assert done["suppressed"] >= 6, done


@pytest.mark.parametrize("number", [i for i, one in enumerate(VARIANTS) if is_streamable(one)], ids=IDS.__getitem__)
def test_streaming(number):
    files = partial(streamed_files, formats=("csv", "parquet")[number % 2 :][:1])
    with small_pieces():
        done = checked(VARIANTS[number], [number], some=True, files=files)
    assert done.total(), done


@pytest.mark.parametrize("number", range(len(VARIANTS)), ids=IDS)
def test_the_same_rows_come_with_the_same_files(number):
    done = checked(VARIANTS[number], [number], some=True, replay=False)
    assert done.total(), done


def featured(source, turns):
    """Check tables with everything that tables may have, made and published in one way."""
    done = Counter()
    for turn in turns:
        case, algorithm = with_features(case_of(turn), turn), VARIANTS[turn * 5 % len(VARIANTS)]
        changes = [WHATS[0], WHATS[1 + turn % (len(WHATS) - 1)]]
        more = {"changes": changes, "seed": turn, "files": SOURCES[source], "replay": turn % 5 > 0}
        if turn % 6 == 1:
            more["guards"] = [guards.build(list(guards)[turn // 6 % len(guards)])]
        chosen = [KAnonymity(k=3)]
        if turn % 4 == 2:
            chosen = model_examples(models[NAMES[turn * 7 % len(NAMES)]], case.suited(algorithm), 1) or chosen
        with small_pieces():
            done += check_interference(chosen, algorithm, case, **more)
    return done


@pytest.mark.parametrize("source", SOURCES)
def test_every_feature(source):
    place = 20 * list(SOURCES).index(source)
    done = featured(source, range(place, place + 14))
    assert done["suppressed"] >= 3, done


def test_times_keep_their_zones_after_the_pandas_of_spark_was_imported(monkeypatch):
    # importing pyspark.pandas, as pandera does, sets this for the whole process
    monkeypatch.setenv("PYARROW_IGNORE_TIMEZONE", "1")
    place = 20 * list(SOURCES).index("SQLite")
    assert featured("SQLite", range(place, place + 4)).total()


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES)
def test_every_feature_on_many_tables(source):
    # streaming refuses most of what is drawn
    done = featured(source, range(1000, 1600 if source == "streamed" else 1300))
    assert done["suppressed"] >= 50, done


def test_the_same_rows_are_published_often_enough():
    done = checked(Mondrian(), range(4), replay=False)
    assert sum(done[what] for what in CHANGES) >= 10, done


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(VARIANTS)), ids=IDS)
def test_every_algorithm_on_many_tables(number):
    checked(VARIANTS[number], range(100, 160))
    checked(VARIANTS[number], range(100, 130), replay=False)
    if is_streamable(VARIANTS[number]):
        with small_pieces():
            checked(VARIANTS[number], range(100, 115), files=streamed_files)


@pytest.mark.slow
@pytest.mark.parametrize("guard", guards)
@pytest.mark.parametrize("number", range(len(VARIANTS)), ids=IDS)
def test_every_guard_on_many_tables(number, guard):
    checked(VARIANTS[number], range(200, 215), guards=[guards.build(guard)])


@dataclass(frozen=True)
class Talkative(Frequency):
    """Names its nodes after all values, as hushtable 0.1.0 did."""

    def draft(self, values, kind, *, column, counts):
        return replace(super().draft(values, kind, column=column, counts=counts), naming=None)


@dataclass(frozen=True)
class Widest(Guard):
    """Widens the first column's cells to the last value of the table, whoever has it."""

    name: ClassVar[str] = "toy-widest"

    def recoded(self, problem, recoded, coins):
        last = recoded.cells[0].column.coded.labels[0][-1]
        return replace(recoded, published=(pa.array([last] * recoded.n_groups, pa.string()), *recoded.published[1:]))


@dataclass(frozen=True)
class Chatty(Algorithm):
    """Notes how many distinct values the table has, suppressed ones included."""

    name: ClassVar[str] = "toy-chatty"

    def run(self, problem):
        table = problem.table
        labels = np.zeros(table.n_rows, dtype=np.int64)
        labels[np.flatnonzero(table.quasi[0].codes == table.quasi[0].coded.size - 1)[:1]] = -1
        return Partition(labels, 1, notes={"increment": sum(c.coded.size for c in table.quasi)})


def measured(table, plan):
    """Files with a measure over the original, to the last digit."""
    release = run_plan(table, plan)
    return local_files(table, plan) | {"csv/measure": repr(release.measures(["loss"])).encode()}


class TestPlantedLeaksAreFound:
    """The check is worth something only if it fails where it should."""

    def test_names_of_nodes(self, monkeypatch):
        def check(hierarchy):
            monkeypatch.setattr(interference_checks, "_HIERARCHIES", dict.fromkeys(QUASI, (hierarchy,)))
            cases = (case_of(turn, 30, Nodes()) for turn in range(6))
            return sum((check_interference([KAnonymity(k=3)], Localpk(), case) for case in cases), Counter())

        assert check(Frequency(fanout=2))["other values in suppressed records"] > 3
        with pytest.raises(AssertionError, match=r"suppressed records.* changes csv/release\.csv"):
            check(Talkative(fanout=2))

    def test_cells_that_a_guard_widens(self):
        def check():
            for turn in range(6):
                check_interference([KAnonymity(k=3)], Mondrian(), case_of(turn), guards=[Widest()])

        with pytest.raises(AssertionError, match=r"suppressed records.* changes csv/release\.csv"):
            check()

    def test_a_measure_over_the_original(self):
        with pytest.raises(AssertionError, match="changes csv/measure"):
            check_interference([KAnonymity(k=2)], Mondrian(), case_of(1), files=measured)

    def test_a_note(self):
        def check():
            for turn in range(6):
                case = case_of(turn, form=Nodes())
                check_interference([KAnonymity(k=2)], Chatty(), case, seed=turn, replay=False)

        with pytest.raises(AssertionError, match=r"changes csv/release\.json"):
            check()
