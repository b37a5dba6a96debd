"""Tables that do not fit on the driver: the same groups and the same cells."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from support_spark import VISITS, WHO, held, plain, same, same_cells, visits

import hushtable as ht
from hushtable import registry
from hushtable.algorithms.lattice import branch_and_bound, space
from hushtable.api import run_plan
from hushtable.engines.spark import driver_rows as drawing
from hushtable.engines.spark import publish, summary
from hushtable.errors import HushtableError, IncompatibleError
from hushtable.models.entropy_l import EntropyL
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.t_closeness import TCloseness
from hushtable.release.companion import companion_of, read_companion
from hushtable.release.forms.counts import Counts
from hushtable.release.forms.midpoint import Midpoint
from hushtable.release.forms.nodes import Nodes
from hushtable.release.forms.sets import Sets
from hushtable.schema.columns import Kind, Missing, Role
from hushtable.testing import model_examples, random_case
from support_core import PEOPLE, plan_of, random_people

pytestmark = pytest.mark.spark

CANARY = "xq-canary"

FAR = [
    "mondrian", "localpk", "optimal", "samarati", "datafly", "incognito", "greedy-loss", "information-cuts",
    "top-down-specialization", "bottom-up-generalization",
]  # fmt: skip


@pytest.mark.parametrize(
    ("models", "settings", "group_rows"),
    [
        ([KAnonymity(k=3), EntropyL(l=1.5)], {"cells": Sets(), "entity": "who"}, 20),
        ([TCloseness(t=0.001)], {}, 5),  # cannot be cut at all: published from its counts
    ],
)
def test_rows_that_do_not_fit_on_the_driver(on_spark, far_away, models, settings, group_rows, tmp_path):
    table = random_people(150, 7, missing=0.1)
    table = table.append_column("who", pa.array([f"p{i % 100}" for i in range(150)]))
    plan = plan_of(models, (WHO, *PEOPLE), document={"seed": 0}, **settings)
    want = run_plan(table, plan)
    far_away(group_rows)
    got = on_spark(table, plan, 3)
    assert not got.origin.outcome.on_driver
    assert got.frame.toArrow().to_pydict() == plain(want.table).to_pydict()
    assert got.verification.as_dict() == want.verification.as_dict()
    assert got.measures() == pytest.approx(want.measures())
    assert got.summary()["notes"] == {}
    with pytest.raises(IncompatibleError, match="driverRows"):
        got.risk()
    got.save(tmp_path / "out")
    want.save(tmp_path / "local")
    for name in ("release.csv", "policy.yaml"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "local" / name).read_bytes()


def test_a_table_without_sensitive_columns(on_spark, far_away):
    table = random_people(90, 4).drop_columns(["illness"])
    plan = plan_of([KAnonymity(k=3)], PEOPLE[:2])
    want = run_plan(table, plan)
    same(on_spark(table, plan), want)
    far_away(20)
    assert on_spark(table, plan).frame.toArrow().to_pydict() == plain(want.table).to_pydict()


@pytest.mark.parametrize(
    "case",
    [
        ("mondrian", {}, {"cells": Midpoint()}),
        ("mondrian", {"nominal": "children"}, {"cells": Nodes()}),
        ("information-cuts", {}, {}),
        ("greedy-loss", {}, {}),
        ("top-down-specialization", {}, {}),
        ("optimal", {}, {}),
    ],
)
def test_where_the_combinations_fit_they_are_rows_with_weights(on_spark, far_away, case, tmp_path):
    name, parameters, settings = case
    table = visits(200, 1)
    algorithm = registry.algorithms.build(name, parameters)
    models = [KAnonymity(k=3), EntropyL(l=1.2)]
    plan = plan_of(models, VISITS, algorithm, suppression=0.1, document={"seed": 0}, **settings)
    want = run_plan(table, plan)
    far_away(20, driver_rows=table.num_rows - 1)
    got = on_spark(table, plan, 3)
    assert got.origin.outcome.summarised
    same_cells(got, want)
    assert json.dumps(got.risk().as_dict()) == json.dumps(want.risk().as_dict())
    assert got.attack("homogeneity").rate == want.attack("homogeneity").rate
    got.save(tmp_path / "spark")
    want.save(tmp_path / "local")
    public = [(tmp_path / engine / "release.json").read_bytes() for engine in ("spark", "local")]
    assert public[0] == public[1]
    kept = [read_companion(companion_of(tmp_path / engine), tmp_path / engine) for engine in ("spark", "local")]
    for part in ("reference", "class_counts", "kinds", "files"):
        assert kept[0][part] == kept[1][part]


@pytest.mark.parametrize(
    ("name", "parameters", "models", "suppression", "settings", "limit", "partitions"),
    [
        pytest.param("optimal", {}, [KAnonymity(k=4)], 0.1, {}, 30, 1, marks=pytest.mark.slow),
        ("optimal", {"objective": "entropy"}, [KAnonymity(k=3), EntropyL(l=1.5)], 0.05, {"entity": "who"}, 40, 7),
        ("samarati", {}, [KAnonymity(k=3), EntropyL(l=1.3)], 0.1, {}, 150, 3),
        ("incognito", {}, [KAnonymity(k=3)], 0.0, {}, 60, 3),
        ("datafly", {}, [KAnonymity(k=3)], 0.1, {"missing": Missing.WILDCARD}, 1, 3),
    ],
)
def test_where_they_do_not_nodes_are_judged_by_aggregations(
    on_spark, far_away, spark, monkeypatch, name, parameters, models, suppression, settings, limit, partitions
):
    # a small table takes the ways of a large one, on both engines
    monkeypatch.setattr(space, "WORTH_ROLLING", 20)
    monkeypatch.setattr(branch_and_bound, "MANY", 50)
    monkeypatch.setattr(branch_and_bound, "PATIENCE", 3)
    table = visits(200, 1)
    algorithm = registry.algorithms.build(name, parameters)
    plan = plan_of(models, VISITS, algorithm, suppression=suppression, document={"seed": 0}, **settings)
    want = run_plan(table, plan)
    far_away(20, driver_rows=limit)
    got = on_spark(table, plan, partitions)
    assert not got.origin.outcome.summarised
    same_cells(got, want)
    got.unpersist()
    assert held(spark) == 0


@pytest.mark.parametrize(
    ("models", "settings", "group_rows", "partitions"),
    [
        ([KAnonymity(k=3), EntropyL(l=1.5)], {}, 80, 7),
        ([KAnonymity(k=4)], {"cells": Sets(), "entity": "who"}, 100, 3),
        ([KAnonymity(k=3), EntropyL(l=1.2)], {"cells": Nodes()}, 10_000, 1),
    ],
)
def test_localpk_level_by_level(on_spark, far_away, spark, models, settings, group_rows, partitions):
    table = visits(150, 3)
    plan = plan_of(models, VISITS, ht.Localpk(), document={"seed": 0}, **settings)
    want = run_plan(table, plan)
    far_away(group_rows)
    got = on_spark(table, plan, partitions)
    same_cells(got, want)
    got.unpersist()
    assert held(spark) == 0


@pytest.mark.parametrize("entity", [pytest.param(None, marks=pytest.mark.slow), "who"])
def test_localpk_divides_other_spellings_of_a_sensitive_value_alike(on_spark, far_away, entity):
    table = visits(120, 5)
    draw = np.random.default_rng(3)
    pay = pa.array(draw.choice(["1", "1.0", "01.0", "2", "2.0"], table.num_rows))
    table = table.set_column(table.column_names.index("illness"), "illness", pay)
    columns = tuple(replace(c, kind=Kind.NUMERIC) if c.name == "illness" else c for c in VISITS)
    plan = plan_of([KAnonymity(k=3), EntropyL(l=1.2)], columns, ht.Localpk(), document={"seed": 0}, entity=entity)
    want = run_plan(table, plan)
    far_away(60)
    same_cells(on_spark(table.take(pa.array(draw.permutation(table.num_rows))), plan, 3), want)


def test_the_names_of_values_that_are_suppressed_are_not_written(on_spark, far_away, tmp_path):
    table = visits(60, 1)
    rare = pa.table(
        {"age": [99], "zip": ["999"], "country": ["Fiji"], "illness": [CANARY], "note": ["n"], "who": ["w"]}
    )
    table = pa.concat_tables([table, rare.cast(table.schema)])
    plan = plan_of([KAnonymity(k=3)], VISITS, ht.Optimal(fixed={"age": 1}), suppression=0.2, document={"seed": 0})
    want = run_plan(table, plan)
    assert CANARY not in want.table["illness"].to_pylist()
    far_away(20)
    got = on_spark(table, plan, 3)
    same_cells(got, want)
    got.save(tmp_path / "out")
    assert CANARY not in (tmp_path / "out" / "release.json").read_text()


def drawn(seed: int):
    """A random table, policy, and how little the driver holds."""
    draw = np.random.default_rng(seed)
    case = random_case(seed, int(draw.integers(10, 60)), entity=bool(draw.random() < 0.3))
    name = str(draw.choice(FAR))
    chosen = [KAnonymity(k=2)]
    chosen += model_examples(registry.models[str(draw.choice(list(registry.models)))], case)[:1]
    suppression = float(draw.choice([0.0, 0.0, 0.2]))
    limits = int(draw.choice([1, 7, 30, case.table.num_rows - 1])), int(draw.choice([5, 20, 1000]))
    return case, name, chosen, suppression, limits, int(draw.choice([1, 3, 7]))


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 80))])
def test_random_policies(on_spark, far_away, monkeypatch, seed):
    case, name, models, suppression, (driver_rows, group_rows), partitions = drawn(seed)
    plan = tried(lambda: case.plan(models, registry.algorithms.build(name, {}), suppression=suppression))
    if isinstance(plan, HushtableError):
        return
    if seed % 2:
        monkeypatch.setattr(publish, "_WORTH", 0)
        bare = [replace(c, role=Role.IDENTIFIER) if c.role is Role.INSENSITIVE else c for c in plan.table.columns]
        plan = replace(plan, table=replace(plan.table, columns=tuple(bare)))
    want = tried(lambda: run_plan(case.table, plan))
    far_away(group_rows, driver_rows)
    got = tried(lambda: on_spark(case.table, plan, partitions))
    if isinstance(got, IncompatibleError) and got.code == "spark-engine":
        assert "driver" in str(got)
    elif isinstance(want, HushtableError):
        assert (type(got), str(got)) == (type(want), str(want))
    else:
        # a small table may fit after all
        (same if got.origin.outcome.on_driver else same_cells)(got, want)


def tried(call):
    """What a call returns, or the error that it raises."""
    try:
        return call()
    except HushtableError as error:
        return error


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"algorithm": ht.Mondrian(mode="relaxed")}, "mondrian, with these parameters, distinguishes equal records"),
        ({"algorithm": ht.Mdav(quality="fast")}, "mdav, with these parameters, distinguishes equal records"),
        ({"algorithm": ht.GreedyLoss()}, "greedy-loss remembers which combinations"),
        ({"algorithm": ht.Mondrian(nominal="children")}, "children are not counted"),
        ({"suppression": 0.1}, "suppression weighs all groups"),
        ({"cells": Midpoint()}, "depend on all classes"),
    ],
)
def test_what_needs_all_rows_in_one_place_is_refused(on_spark, far_away, change, reason):
    far_away(20)
    with pytest.raises(IncompatibleError, match=reason) as refused:
        on_spark(visits(60, 1), plan_of([KAnonymity(k=3)], VISITS, **change))
    assert refused.value.code == "spark-engine"
    assert "strict mondrian" in refused.value.hint


@pytest.mark.parametrize(
    ("name", "suppression", "limit"),
    [("optimal", 0.1, 200), ("optimal", 0.1, 30), ("mondrian", 0.0, 1), ("localpk", 0.0, 1)],
)
def test_measures_are_counted_and_do_not_depend_on_the_classes_that_are_drawn(
    on_spark, far_away, monkeypatch, name, suppression, limit
):
    for module in (drawing, summary):
        monkeypatch.setattr(module, "KNOWN", 20)
    table = visits(200, 2)
    plan = plan_of([KAnonymity(k=3)], VISITS, registry.algorithms.build(name, {}), suppression=suppression)
    want = run_plan(table, plan)
    far_away(50, driver_rows=limit)
    got = on_spark(table, plan, 3)
    assert got.origin.outcome.known.weight < 1
    counted = [name for name in registry.measures if not name.startswith("accuracy")]
    assert got.measures(counted) == pytest.approx(want.measures(counted), rel=1e-9, nan_ok=True)
    assert 0 < got.measure("accuracy", model="tree") <= 1


def test_tasks_without_rows_add_nothing():
    """Spark gives every partition a task, and those of a small table may be empty."""
    from hushtable.engines.spark.compared import _summed

    def add(columns, records):
        return np.array([float((columns[0] * records).sum())])

    def batch(codes):
        return pa.record_batch({"o0": pa.array(codes, pa.int64()), "n": pa.array([2] * len(codes), pa.int64())})

    assert list(_summed(add, ["o0"], [])) == list(_summed(add, ["o0"], [batch([])])) == []
    (found,) = _summed(add, ["o0"], [batch([1, 2]), batch([]), batch([3])])
    assert found.to_pydict() == {"sums": [[12.0]], "n": [6]}


@pytest.mark.parametrize("name", ["mondrian", "optimal"])
def test_counts_need_the_records_on_the_driver(on_spark, far_away, name):
    """Distinct combinations do not tell how many records have them."""
    table = random_people(60, 7, missing=0.1)
    table = pa.concat_tables([table, table.slice(0, 30), table.slice(5, 30)])
    algorithm = registry.algorithms.build(name)
    plan = plan_of([KAnonymity(k=3)], PEOPLE, document={"seed": 0}, cells=Counts(), algorithm=algorithm)
    assert on_spark(table, plan, 3).frame.toArrow().to_pydict() == plain(run_plan(table, plan).table).to_pydict()
    far_away(20)
    with pytest.raises(IncompatibleError, match="the cells of a class count its rows"):
        on_spark(table, plan, 3)
