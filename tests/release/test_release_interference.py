"""What only suppressed records hold is in no name, no kind and no type of what is published."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest

from hushtable.algorithms.base import Algorithm, Partition, Problem, Recoding
from hushtable.api import run_plan
from hushtable.engines import stream
from hushtable.errors import DataError
from hushtable.hierarchy.frequency import Frequency
from hushtable.hierarchy.intervals import Intervals
from hushtable.hierarchy.prefix import Prefix
from hushtable.models.eps_m import EpsM
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.k_map import KMap
from hushtable.release.forms.intervals import Ranges
from hushtable.release.forms.midpoint import Midpoint
from hushtable.release.forms.nodes import Nodes
from hushtable.release.forms.sets import Sets
from hushtable.release.guards.downcoding import DowncodingGuard
from hushtable.schema.columns import Format, Kind
from hushtable.table.coins import Coins
from hushtable.table.plan import SideTables
from support_core import Given, plan_of, quasi, sensitive

TOWNS = ["aachen", "bonn", "celle", "dessau", "emden", "fulda", "gera", "hamm"]


@dataclass(frozen=True)
class AtLevel(Algorithm):
    """Full-domain recoding of one column to a level; the last ``gone`` rows are suppressed."""

    level: int = 1
    gone: int = 1
    name: ClassVar[str] = "toy-at-level"
    recoding: ClassVar[Recoding] = Recoding.GLOBAL

    def run(self, problem: Problem) -> Partition:
        column = problem.table.quasi[0]
        labels = column.coded.levels[self.level][column.codes].astype(np.int64)
        labels[problem.table.n_sample - self.gone : problem.table.n_sample] = -1
        return Partition(labels, int(labels.max()) + 1, levels=(self.level,))


@dataclass(frozen=True)
class Points(Given):
    """The centroids of given groups."""

    name: ClassVar[str] = "toy-points"
    recoding: ClassVar[Recoding] = Recoding.CENTROID


NODES = Nodes()


def published(values, column, algorithm, *, kind=None, cells=NODES, **more):
    table = pa.table({"x": pa.array(values, kind), "ill": [("flu", "cold")[i % 2] for i in range(len(values))]})
    plan = plan_of([KAnonymity(k=2)], (column, sensitive("ill")), algorithm, cells=cells, suppression=0.5, **more)
    return run_plan(table, plan).table.column("x").to_pylist()


def one_group(n, gone=1):
    return Given((*(0 for _ in range(n - gone)), *(-1 for _ in range(gone))))


class TestNodesThatWereMadeFromTheData:
    def test_the_only_inhabitant_of_a_town_is_suppressed(self):
        values = [town for town in TOWNS[:7] for _ in range(3)] + ["hamm"]
        column = quasi("x", Kind.NOMINAL, hierarchy=Frequency(fanout=2))
        shown = published(values, column, AtLevel())
        assert any(".." in cell for cell in shown)
        assert not any("hamm" in cell for cell in shown)

    def test_a_number_outside_the_range_is_suppressed(self):
        values = [age for age in range(50, 57) for _ in range(3)] + [9999]
        shown = published(values, quasi("x", Kind.NUMERIC, hierarchy=Frequency(fanout=2)), AtLevel(), kind=pa.int64())
        assert set(shown) == {"50..51", "52..53", "54", "55..56"}

    def test_classes_at_one_node_have_one_name(self):
        """With full-domain recoding the name comes from all published values there, whatever class they are in."""
        table = pa.table(
            {
                "x": [*["aachen"] * 2, *["bonn"] * 2, *["celle"] * 4, *["dessau"] * 4, "emden"],
                "sex": [*"mmff", *"mmmm", *"ffff", "m"],
                "ill": ["flu"] * 13,
            }
        )
        town = quasi("x", Kind.NOMINAL, hierarchy=Frequency(fanout=2))
        columns = (town, quasi("sex", Kind.NOMINAL), sensitive("ill"))

        @dataclass(frozen=True)
        class BySex(AtLevel):
            def run(self, problem):
                town, sex = problem.table.quasi
                node = town.coded.levels[1][town.codes].astype(np.int64)
                labels = np.where(np.arange(13) < 12, 2 * node + sex.codes, -1)
                return Partition(labels, int(labels.max()) + 1, levels=(1, 0))

        release = run_plan(table, plan_of([KAnonymity(k=2)], columns, BySex(), suppression=0.2))
        cells = set(zip(*(release.table.column(n).to_pylist() for n in ("x", "sex")), strict=True))
        assert {("aachen..bonn", "f"), ("aachen..bonn", "m")} <= cells

    @pytest.mark.parametrize("more", [[], ["gera", "hamm", "ulm"], ["aa", "ab", "ac"]])
    def test_a_class_of_its_own_is_named_by_its_own_values(self, more):
        """Whichever node, or only the root, covers them in a tree that suppressed records have a say in."""
        values = ["aachen", "bonn", "aachen", "bonn", "celle", "celle", *more]
        labels = (0, 0, 0, 0, 1, 1, *(-1 for _ in more))
        column = quasi("x", Kind.NOMINAL, hierarchy=Frequency(fanout=2))
        assert set(published(values, column, Given(labels))) == {"aachen..bonn", "celle"}

    def test_quantiles_are_named_by_published_values(self):
        values = [v for v in (1, 2, 3, 4, 5, 6) for _ in range(2)] + [7, 7, 7, 9999]
        column = quasi("x", Kind.NUMERIC, hierarchy=Intervals(quantiles=(4,)))
        shown = set(published(values, column, AtLevel(gone=4), kind=pa.int64()))
        assert not any("7" in cell or "9999" in cell for cell in shown)
        assert any(cell.startswith("[") and cell.endswith("]") for cell in shown)

    def test_open_ends_that_the_policy_declares_stay(self):
        values = [10, 11, 10, 11, 30, 31, 30, 31, 35, 35, 90, 91, 92, 95]
        column = quasi("x", Kind.NUMERIC, hierarchy=Intervals(quantiles=(2,), low=20, high=90))
        shown = published(values, column, AtLevel(gone=2), kind=pa.int64())
        assert {"< 20", ">= 90"} < set(shown)
        local = published(values, column, Given((0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, -1, -1)), kind=pa.int64())
        assert set(local) == {"< 20", "[30, 35]", ">= 90"}

    @pytest.mark.parametrize("from_end", [True, False])
    @pytest.mark.parametrize("algorithm", [AtLevel(level=2), one_group(5)], ids=["global", "local"])
    def test_masks_do_not_tell_how_long_a_suppressed_code_is(self, from_end, algorithm):
        column = quasi("x", Kind.NOMINAL, hierarchy=Prefix(from_end=from_end))
        shown = {
            longest: set(published(["14248", "14249", "14248", "14249", longest], column, level))
            for longest, level in [("14250", algorithm), ("1425000", _higher(algorithm, 2))]
        }
        assert shown["14250"] == shown["1425000"]
        assert {len(cell) for cell in shown["14250"]} <= {1, 5}

    def test_members_of_sets_stand_in_an_order_that_suppressed_records_have_no_say_in(self):
        column = quasi("x", Kind.NOMINAL, hierarchy=Prefix())
        orders = {
            published(["AB", "AB 1", "AB", "AB 1", longest], column, one_group(5), cells=Sets())[0]
            for longest in ("AB", "AB 1", "AB 1 far longer")
        }
        assert orders == {"{AB, AB 1}"}

    def test_a_population_outside_the_ends_of_a_name_is_not_covered(self):
        """Whoever reads aachen..bonn knows that nobody from celle is meant, so celle does not hide anybody."""
        table = pa.table({"x": ["aachen", "bonn", "dessau", "dessau"], "ill": ["flu"] * 4})
        people = pa.table({"x": [*table.column("x").to_pylist(), *["celle"] * 5]})
        column = quasi("x", Kind.NOMINAL, hierarchy=Frequency(fanout=2))
        labels = (0, 0, 1, 1, 0, 0, 1, 1, *(-1,) * 5)
        known = SideTables(population=people)
        plan = plan_of([KMap(k=2)], (column, sensitive("ill")), Given(labels), cells=Nodes(), side_tables=known)
        outcome = run_plan(table, plan)
        assert set(outcome.table.column("x").to_pylist()) == {"aachen..bonn", "dessau"}
        assert sorted(outcome.verification.stats.population.tolist()) == [2, 2]


def _higher(algorithm, by):
    return replace(algorithm, level=algorithm.level + by) if isinstance(algorithm, AtLevel) else algorithm


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("cells", [Ranges(), Sets(), Nodes()])
def test_guards_do_not_widen_cells_with_values_of_suppressed_records(seed, cells):
    values = ["bonn", "celle", "bonn", "celle", "emden", "fulda", "emden", "fulda", "dessau"]
    table = pa.table({"x": values, "ill": ["flu"] * 9})
    column = quasi("x", Kind.NOMINAL, hierarchy=Frequency(fanout=2))
    plan = plan_of(
        [KAnonymity(k=2)], (column, sensitive("ill")), Given((0, 0, 0, 0, 1, 1, 1, 1, -1)), cells=cells,
        suppression=0.5, coins=Coins(bytes([seed])),
    )  # fmt: skip
    release = run_plan(table, replace(plan, guards=(DowncodingGuard(),)))
    assert not any("dessau" in cell for cell in release.table.column("x").to_pylist())


class TestTypes:
    """A fraction in a suppressed record makes a column of fractions, but not a published one."""

    @pytest.mark.parametrize("last", ["7", "7.5"])
    def test_midpoints(self, last):
        values = ["1", "1", "3", "3", last]
        column = quasi("x", Kind.NUMERIC)
        shown = published(values, column, Given((0, 0, 1, 1, -1)), cells=Midpoint())
        assert shown == [1, 1, 3, 3] and {type(cell) for cell in shown} == {int}

    @pytest.mark.parametrize("last", ["7", "7.5"])
    def test_centroids(self, last):
        shown = published(["1", "3", "4", "6", last], quasi("x", Kind.NUMERIC), Points((0, 0, 1, 1, -1)))
        assert shown == [2, 2, 5, 5] and {type(cell) for cell in shown} == {int}


class TestKinds:
    """A kind that is inferred may not be that of suppressed records."""

    def test_a_quasi_identifier_that_reads_as_text_because_of_a_suppressed_record(self):
        values = ["30", "31", "30", "31", "unknown"]
        with pytest.raises(DataError, match="only because of suppressed records") as caught:
            published(values, quasi("x"), one_group(5))
        assert caught.value.code == "kind-of-suppressed"
        assert "30" not in str(caught.value) and "unknown" not in str(caught.value)
        assert "kind: numeric" in caught.value.hint
        assert set(published(values, quasi("x", Kind.NOMINAL), one_group(5), cells=Sets())) == {"{30, 31}"}
        assert set(published(values[:4], quasi("x"), one_group(4, 0), cells=Ranges())) == {"[30, 31]"}

    @pytest.mark.parametrize("last", ["32", "unknown"])
    def test_a_format_implies_the_kind(self, last):
        column = replace(quasi("x"), format=Format.ANY_SPELLING)
        shown = published(["30", "31", "30", "31", last], column, one_group(5), cells=Sets())
        assert set(shown) == {"{30, 31}"}

    def test_a_sensitive_column_that_reads_as_text_because_of_a_suppressed_record(self, tmp_path):
        table = pa.table({"x": ["a"] * 4 + ["b"], "pay": ["1", "2", "30", "4", "none"]})
        columns = (quasi("x", Kind.NOMINAL), sensitive("pay", None))
        plan = plan_of([KAnonymity(k=2)], columns, one_group(5), suppression=0.5)
        with pytest.raises(DataError, match="'pay' is read as text only because of suppressed records"):
            run_plan(table, plan)
        import pyarrow.parquet as pq

        pq.write_table(table, tmp_path / "t.parquet")
        with pytest.raises(DataError, match="'pay' is read as text only because of suppressed records"):
            stream.run_files([tmp_path / "t.parquet"], plan, tmp_path / "out")
        assert not (tmp_path / "out").exists()
        declared = (quasi("x", Kind.NOMINAL), sensitive("pay", Kind.NUMERIC))
        plan = plan_of([EpsM(eps=1.0, m=2)], declared, one_group(5), suppression=0.5, missing_values=("none",))
        assert run_plan(table, plan).verification.ok
