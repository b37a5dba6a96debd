"""Releases of Spark name nodes, and depend on suppressed records, as little as those of one machine."""

from __future__ import annotations

import pyarrow as pa
import pytest
from support_spark import same_cells, visits

from hushtable.algorithms.lattice.optimal import Optimal
from hushtable.algorithms.partition.localpk import Localpk
from hushtable.api import run_plan
from hushtable.errors import DataError
from hushtable.hierarchy.frequency import Frequency
from hushtable.hierarchy.intervals import Intervals
from hushtable.hierarchy.prefix import Prefix
from hushtable.models.k_anonymity import KAnonymity
from hushtable.release.forms.nodes import Nodes
from hushtable.schema.columns import Kind
from hushtable.testing import check_same_rows, random_case, with_hierarchies
from support_core import plan_of, quasi, sensitive

pytestmark = pytest.mark.spark

MADE = (
    quasi("age", Kind.NUMERIC, hierarchy=Intervals(quantiles=(4,))),
    quasi("zip", Kind.NOMINAL, hierarchy=Prefix(steps=(1, 2))),
    quasi("country", Kind.NOMINAL, hierarchy=Frequency(fanout=3)),
    sensitive("illness"),
)


def people():
    """Some have codes and towns that nobody else has, and numbers far from all others."""
    table = visits(60, 2).select(["age", "zip", "country", "illness"])
    odd = {"age": [9999, -5], "zip": ["199", "777"], "country": ["Aruba", "Zambia"], "illness": ["flu", "cold"]}
    return pa.concat_tables([table, pa.table(odd)])


@pytest.mark.parametrize("limit", [pytest.param(90, marks=pytest.mark.slow), 30])
def test_names_of_nodes_with_global_recoding(on_spark, far_away, limit):
    plan = plan_of([KAnonymity(k=3)], MADE, Optimal(), suppression=0.2, document={"seed": 0})
    want = run_plan(people(), plan)
    gone = set(people().column("country").to_pylist()) - set(people().filter(want.kept).column("country").to_pylist())
    assert gone, "a country of suppressed records alone"
    shown = {cell for c in MADE[:3] for cell in want.table.column(c.name).to_pylist() if cell}
    assert not any(name in cell for name in gone for cell in shown)
    assert any(".." in cell or cell.startswith("[") for cell in shown)
    far_away(20, driver_rows=limit)
    same_cells(on_spark(people(), plan, 3), want)


def test_names_of_nodes_with_local_recoding(on_spark, far_away):
    plan = plan_of([KAnonymity(k=3)], MADE, Localpk(), cells=Nodes(), document={"seed": 0})
    want = run_plan(people(), plan)
    far_away(40, driver_rows=1)
    same_cells(on_spark(people(), plan, 3), want)


def test_a_kind_that_only_suppressed_records_decide_is_refused(on_spark, far_away):
    table = visits(60, 2).select(["zip", "illness"])
    table = pa.concat_tables([table, pa.table({"zip": ["none"], "illness": ["flu"]})])
    columns = (quasi("zip", None, hierarchy=Prefix()), sensitive("illness"))
    plan = plan_of([KAnonymity(k=3)], columns, Optimal(), suppression=0.1, document={"seed": 0})
    far_away(20, driver_rows=1)
    with pytest.raises(DataError, match="'zip' is read as text only because of suppressed records"):
        on_spark(table, plan, 3)


@pytest.mark.slow
def test_the_same_rows_come_with_the_same_files(on_spark, tmp_path):
    made = []

    def files(table, plan):
        made.append(tmp_path / str(len(made)))
        on_spark(table, plan, 2).save(made[-1])
        return {f"csv/{path.name}": path.read_bytes() for path in made[-1].iterdir()}

    changes = ("other values in suppressed records", "another order of the rows")
    case = with_hierarchies(random_case(5, 24, cells=Nodes()), 5)
    done = check_same_rows([KAnonymity(k=2)], Optimal(), case, files=files, changes=changes, seed=5)
    assert done["another order of the rows"], done
