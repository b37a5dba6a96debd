"""Sun et al. on small tables: every experiment gives rows, and what must hold by definition does."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.algorithms.lattice.incognito import minimal_nodes
from hushtable.api import run_plan
from hushtable.engines.local import problem_of
from hushtable.errors import DataError
from hushtable.registry import algorithms
from hushtable.release.plan import Plan
from hushtable.reproduce import sun2011, sun_global
from hushtable.reproduce.papers import COLUMNS
from hushtable.reproduce.sun_disclosures import PUBLISHED, READINGS
from hushtable.reproduce.sun_runs import ALGORITHMS, NAMES, Bench, Disclosures, models_of
from hushtable.reproduce.sun_tables import (
    ADULT,
    CATEGORIES,
    HEIGHTS,
    INCOMES,
    adult_plan,
    adult_table,
    census_like,
    census_plan,
)


@pytest.fixture(scope="module")
def rows():
    try:
        return list(sun2011.rows(quick=True))
    except DataError as error:
        if error.code != "data-not-found":
            raise
        pytest.skip(str(error))


def those(rows, experiment):
    return [r for r in rows if r["experiment"].startswith(experiment)]


def test_every_experiment_has_rows_of_one_form(rows):
    assert all(tuple(r) == COLUMNS for r in rows)
    for experiment in ("Table 9", "Similarity", "Table 10", *(f"Figure {f}" for f in ("2(a)", "2(b)", "3(a)", "3(b)",
                       "4(a)", "4(b)", "4(c)", "5(a)", "5(b)"))):  # fmt: skip
        assert those(rows, experiment), experiment
    assert all(r["ours"] is not None for r in rows)


def test_published_numbers_stand_beside_ours(rows):
    published = {r["setting"].rpartition(", seed")[0]: r["published"] for r in those(rows, "Table 10")}
    assert published["k=4, p=2, model 1: p, localpk"] == 30
    assert published["k=4, p=2, model 3: (p, alpha), incognito"] == 6
    assert {r["setting"]: r["published"] for r in those(rows, "Table 9")}["age"] == HEIGHTS["age"] == 5
    attacked = those(rows, "Similarity attack, open tables")
    assert [r["published"] for r in attacked] == [13, "similar to model 3", 4]


def test_no_table_is_open_under_model_2(rows):
    found = [
        r for r in those(rows, READINGS["one"]) + those(rows, "Similarity attack, open") if "model 2" in r["setting"]
    ]
    assert len(found) == 4 * len(ALGORITHMS) + 1
    assert {r["ours"] for r in found} == {0}


def test_table_10_is_counted_three_ways(rows):
    """What must hold by definition: p+ leaves no class in one category, alpha > 0 none wholly top secret."""
    counts = {
        reading: {r["setting"].rpartition(" classes")[0]: r["ours"] for r in those(rows, experiment)}
        for reading, experiment in READINGS.items()
    }
    assert len(counts["one"]) == 4 * 3 * len(ALGORITHMS)
    for setting, one in counts["one"].items():
        top, half, classes = counts["top"][setting], counts["half"][setting], int(setting.rpartition(", ")[2])
        assert 0 <= top <= one <= half <= classes
        if "model 3" in setting:
            assert top == 0
        if "model 2" in setting or "p=3" in setting:
            assert one == 0
    # and the definitions are what keeps them away: model 1 has both kinds
    plain = {s: n for s, n in counts["one"].items() if s.startswith("k=3, p=2, model 1: p, localpk")}
    assert min(plain.values()) > 0
    assert min(counts["top"][s] for s in plain) > 0


@pytest.fixture(scope="module")
def whole_adult(rows):
    return Bench(adult_table(4), {len(ADULT): adult_plan()})


@pytest.mark.parametrize(("k", "p"), list(PUBLISHED))
def test_disclosures_on_adult_under_models_2_and_3(whole_adult, k, p):
    """On all 45,222 records: none wholly in one category under p+, none wholly top secret with alpha > 0."""
    models = models_of(k=k, p=p, alpha=1)
    assert whole_adult.run(len(ADULT), models[1], "localpk").disclosures.one == 0
    assert whole_adult.run(len(ADULT), models[2], "localpk").disclosures.top == 0


def test_disclosures_by_hand():
    """One pass over the published rows of a class gives the same numbers."""
    bench = Bench(census_like(400, seed=2), {3: census_plan()})
    category = {str(i): name for name, (low, high) in INCOMES.items() for i in range(low, high + 1)}
    models = models_of(k=3, p=2, alpha=1)[0]
    got = bench.run(3, models, "k-member")
    plan = Plan(census_plan(), models, algorithms.build("k-member"))
    release = run_plan(census_like(400, seed=2), plan)
    classes: dict[tuple[str, ...], list[str]] = {}
    for record in release.table.to_pylist():
        cells = (record["age"], record["birthplace"], record["occupation"])
        classes.setdefault(cells, []).append(category[str(record["income"])])
    one = [c for c in classes.values() if len(set(c)) == 1]
    half = [c for c in classes.values() if max(map(c.count, c)) * 2 > len(c)]
    top = [c for c in one if c[0] == next(iter(INCOMES))]
    assert got.disclosures == Disclosures(len(one), len(top), len(half)) and got.classes == len(classes)
    assert len(one) > len(top) > 0


def test_the_contradiction_about_alpha_is_printed(rows):
    found = those(rows, "Figure 3(b), contradiction") + those(rows, "Figure 5(b), contradiction")
    assert len(found) == len(ALGORITHMS) + 1
    for r in found:
        assert "weaker" in r["published"] and "Definition 4" in r["published"]
        assert "falls" not in r["ours"]


def test_parts(rows, monkeypatch):
    monkeypatch.setattr(sun2011, "_adult", lambda *a, **k: iter(["adult"]))
    monkeypatch.setattr(sun2011, "_census", lambda *a, **k: iter(["census"]))
    assert list(sun2011.rows(part="local")) == ["adult", "census"]
    only = list(sun2011.rows(part="global", quick=True))
    assert {r["experiment"].partition(",")[0] for r in only} == {"Table 9", "Similarity attack"}


def test_records_at_risk_by_hand(rows):
    """One pass over the rows of a minimal table gives the same number."""
    plan = adult_plan(2)
    table = adult_table(3, 400).select([c.name for c in plan.columns])
    problem = problem_of(table, Plan(plan, models_of(k=2, p=2, alpha=1)[0], algorithms.build("incognito")))
    category = {value: name for name, values in CATEGORIES.items() for value in values}
    for node in [*minimal_nodes(problem), np.array([0, 0])]:
        classes: dict[tuple[int, ...], list[str]] = {}
        for i, condition in enumerate(table.column("condition").to_pylist()):
            key = tuple(int(c.coded.levels[h][c.codes[i]]) for c, h in zip(problem.table.quasi, node, strict=True))
            classes.setdefault(key, []).append(category[condition])
        expected = sum(len(found) for found in classes.values() if len(set(found)) == 1)
        assert sun_global.at_risk(problem, np.asarray(node)) == expected
    assert expected > 0


def test_census_has_the_papers_domains():
    table = census_like(20_000, seed=1)
    assert table == census_like(20_000, seed=1) != census_like(20_000, seed=2)
    domains = {"age": (16, 93), "birthplace": (1, 710), "occupation": (1, 983), "income": (1, 100)}
    for name, (low, high) in domains.items():
        values = table.column(name).to_numpy()
        assert values.min() == low and values.max() >= 0.99 * high and values.max() <= high
    assert [low for low, _ in INCOMES.values()] == [1, 21, 41, 71]


def test_a_setting_is_run_once():
    bench = Bench(census_like(500, seed=1), {3: census_plan()})
    models = models_of(k=3, p=2, alpha=1)[2]
    assert bench.run(3, models, "localpk") is bench.run(3, models, "localpk")
    assert 0 < bench.run(3, models, "localpk").distortion < bench.run(3, models, "incognito").distortion <= 1


def test_names():
    assert len(NAMES) == 3 and len(ADULT) == 7 and sun2011.PARTS == ("global", "local")
