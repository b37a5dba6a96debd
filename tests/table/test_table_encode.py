"""Encoding: codes, people, population and background rows, and what is refused."""

from __future__ import annotations

import datetime
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.api import anonymize
from hushtable.engines import local
from hushtable.errors import DataError, Infeasible, PolicyError
from hushtable.models.bayes_optimal import BayesOptimal
from hushtable.models.delta_presence import DeltaPresence
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.k_map import KMap
from hushtable.policy.policy import Policy
from hushtable.schema.columns import Kind, Missing, Role
from hushtable.table.coded_columns import smallest
from hushtable.table.encode import encode
from hushtable.table.people import PERSON_UNITS
from hushtable.table.plan import ColumnPlan, SideTables, TablePlan
from hushtable.table.ranks import dense_ranks
from support_core import PEOPLE, WHO, people_table, plan_of, quasi, random_people, sensitive

MODEL = [KAnonymity(k=2)]


def decoded(column) -> list:
    labels = column.coded.labels[0]
    return [labels[c] for c in column.codes.tolist()]


def test_codes_stand_for_the_values():
    table = random_people(50, seed=2, missing=0.2)
    encoded = encode(table, TablePlan(PEOPLE))
    age, country = encoded.quasi
    assert decoded(age) == [None if a is None else str(a) for a in table["age"].to_pylist()]
    assert decoded(country) == table["country"].to_pylist()
    assert decoded(encoded.sensitive[0]) == table["illness"].to_pylist()
    assert age.codes.dtype == country.codes.dtype == np.uint8
    assert encoded.bytes_per_row == 3


@pytest.mark.parametrize(("size", "dtype"), [(1, "u1"), (256, "u1"), (257, "u2"), (65536, "u2"), (65537, "u4")])
def test_smallest_type(size, dtype):
    assert smallest(size) == np.dtype(dtype)


@pytest.mark.parametrize("n", [256, 257])
def test_codes_at_the_edge_of_a_type(n):
    table = pa.table({"x": [*range(n), None], "s": ["a"] * (n + 1)})
    column = encode(table, TablePlan((quasi("x"), sensitive("s")))).quasi[0]
    assert decoded(column) == [*map(str, range(n)), None]


@given(st.lists(st.integers(0, 8), min_size=1, max_size=40), st.data())
def test_people_are_counted_exactly_and_never_above_their_number(owners, data):
    who = [f"p{o}" for o in owners]
    rows = Counter(who)
    labels = data.draw(st.lists(st.integers(0, 2), min_size=len(who), max_size=len(who)))
    table = pa.table({"x": [0] * len(who), "who": who})
    encoded = encode(table, TablePlan((quasi("x"), WHO), entity="who"))
    stats = encoded.stats_of(np.array(labels), 3, ())
    for g in range(3):
        mine = [w for w, label in zip(who, labels, strict=True) if label == g]
        exact = sum((Fraction(1, rows[w]) for w in mine), Fraction(0))
        if max(rows.values()) <= 22:
            assert Fraction(int(stats.units[g]), stats.unit) == exact
        assert stats.sizes[g] <= len(set(mine))
    assert encoded.reference().people <= len(rows)


def test_people_with_more_rows_than_can_be_shared_exactly_still_count_as_whole_people():
    who = ["a"] * 23 + ["b"] * 46 + ["c"] * 1001
    table = pa.table({"x": [i % 5 for i in range(len(who))], "who": who})
    encoded = encode(table, TablePlan((quasi("x"), WHO), entity="who"))
    assert encoded.sample_units == 3 * encoded.unit
    outcome = local.run(table, plan_of([KAnonymity(k=3)], (quasi("x"), WHO), entity="who"))
    assert outcome.verification.people == 3


def test_k_people_not_k_rows():
    table = pa.table({"x": [1] * 50 + [9] * 50, "who": ["a"] * 50 + ["b"] * 50})
    columns = (quasi("x", Kind.NUMERIC), WHO)
    with pytest.raises(Infeasible, match="2 people"):
        local.run(table, plan_of([KAnonymity(k=3)], columns, entity="who"))
    outcome = local.run(table, plan_of(MODEL, columns, entity="who"))
    assert set(outcome.published["x"].to_pylist()) == {"[1, 9]"}


def test_one_row_per_person_needs_no_weights():
    table = pa.table({"x": [1, 2], "who": ["a", "b"]})
    encoded = encode(table, TablePlan((quasi("x"), WHO), entity="who"))
    assert (encoded.unit, len(encoded.row_units)) == (1, 0)


@pytest.mark.parametrize("other", ["Zoe\u0308", " Zo\u00eb", "Zo\u00eb\u00a0"])
def test_a_person_whose_name_is_written_in_two_ways_is_not_two(other):
    table = pa.table({"x": ["1", "1"], "who": ["Zo\u00eb", other]})
    with pytest.raises(DataError, match="differ only in spaces"):
        encode(table, TablePlan((quasi("x"), WHO), entity="who"))


def test_an_entity_column_with_gaps_is_refused():
    table = pa.table({"x": [1, 2], "who": ["canary", None]})
    with pytest.raises(DataError, match="'who' has 1 missing") as caught:
        encode(table, TablePlan((quasi("x"), WHO), entity="who"))
    assert "canary" not in str(caught.value)


def population_case(seed: int):
    generator = np.random.default_rng(seed)
    population = random_people(200, seed, missing=0.05).select(["age", "country"])
    rows = generator.choice(200, 60, replace=False)
    sample = population.take(pa.array(rows)).append_column("illness", pa.array(["flu", "cold"] * 30))
    return sample, population


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("model", [KMap(k=5), DeltaPresence(low=0.0, high=0.6)], ids=repr)
def test_population_rows_are_in_the_class_whose_cells_cover_them(seed, model):
    sample, population = population_case(seed)
    outcome = local.run(sample, plan_of([model], side_tables=SideTables(population=population)))
    table, labels = outcome.problem.table, outcome.recoded.labels
    assert outcome.published.num_rows == 60
    assert outcome.verification.people == 60
    members: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for row, label in enumerate(labels.tolist()):
        members[label][row >= table.n_sample] += 1
    assert sum(m[1] for m in members.values()) == 200
    for people, population_people in members.values():
        if people and isinstance(model, KMap):
            assert population_people >= 5
        elif people:
            assert people / population_people <= 0.6 + 1e-9
    for cells, column in zip(outcome.recoded.cells, table.quasi, strict=True):
        assert np.all(cells.low[labels] <= column.codes) and np.all(column.codes <= cells.high[labels])


def test_population_of_another_type_is_refused_without_a_value():
    sample = people_table([(30, "Fiji", "flu")] * 4)
    population = pa.table({"age": ["thirty-canary"] * 4, "country": ["Fiji"] * 4})
    with pytest.raises(DataError, match="'age'") as caught:
        local.run(sample, plan_of([KMap(k=2)], side_tables=SideTables(population=population)))
    assert "canary" not in str(caught.value) + repr(caught.value.__cause__)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_population_without_a_quasi_identifier_is_refused():
    sample = people_table([(30, "Fiji", "flu")] * 4)
    with pytest.raises(DataError, match="no column 'country'"):
        local.run(sample, plan_of([KMap(k=2)], side_tables=SideTables(population=pa.table({"age": [30]}))))


def background_of(sample: pa.Table) -> pa.Table:
    n = sample.num_rows
    return sample.append_column("probability", pa.array([1 / n] * n))


def test_background_mass_travels_with_the_rows():
    sample = random_people(40, 3)
    side_tables = SideTables(background=background_of(sample), background_on="illness")
    plan = plan_of([KAnonymity(k=4), BayesOptimal(theta=0.9, background=True)], side_tables=side_tables)
    outcome = local.run(sample, plan)
    background = outcome.verification.stats.background
    assert background.units.sum() == pytest.approx(background.unit, rel=1e-9)
    assert outcome.published.num_rows == 40


@pytest.mark.parametrize("probability", [[0.5, 0.6], [1.5, -0.5], [float("nan"), 1.0], ["canary", "1"]])
def test_background_probabilities_must_be_probabilities(probability):
    sample = people_table([(30, "Fiji", "flu"), (31, "Fiji", "cold")])
    background = sample.append_column("probability", pa.array(probability))
    with pytest.raises(DataError, match="probabilities") as caught:
        local.problem_of(sample, plan_of(MODEL, side_tables=SideTables(background=background, background_on="illness")))
    assert "canary" not in str(caught.value)


def test_roles_must_fit_the_table():
    table = people_table([(30, "Fiji", "flu")])
    with pytest.raises(PolicyError, match="no role in the policy: 'illness'"):
        encode(table, TablePlan(PEOPLE[:2]))
    with pytest.raises(PolicyError, match="does not have: 'pay'"):
        encode(table, TablePlan((*PEOPLE, quasi("pay"))))
    with pytest.raises(PolicyError, match="no quasi-identifier"):
        encode(table.select(["illness"]), TablePlan(PEOPLE[2:]))
    with pytest.raises(DataError, match="no rows"):
        encode(table.slice(0, 0), TablePlan(PEOPLE))


def test_missing_values_can_be_refused():
    table = people_table([(30, None, "flu"), (None, None, "flu")])
    with pytest.raises(DataError, match="'age' has 1 missing"):
        encode(table, TablePlan(PEOPLE, missing=Missing.ERROR))


def test_missing_sensitive_values_are_values():
    table = people_table([(30, "Fiji", None), (31, "Fiji", "flu")])
    outcome = local.run(table, plan_of(MODEL))
    assert sorted(outcome.published["illness"].to_pylist(), key=str) == [None, "flu"]


@pytest.mark.parametrize(
    "values", [[0.0, 5e-324], [-1.7e308, 0.0, 1.7e308], [-(2**63), 0, 2**63 - 1], [0.1, 0.1 + 1e-17, 0.3]]
)
def test_positions_ascend_over_the_whole_scale(values):
    table = pa.table({"x": values, "s": ["a"] * len(values)})
    positions = encode(table, TablePlan((quasi("x", Kind.NUMERIC), sensitive("s")))).quasi[0].positions
    assert positions[0] == 0 and positions[-1] == 2**30
    assert np.all(np.diff(positions) >= 0)


CELLS = [
    [True, False, None],
    ["b", None, "a", "b"],
    [None, None],
    [2.5, None, -1.0],
    [b"x", b"a"],
]


@pytest.mark.parametrize("cells", CELLS, ids=str)
@pytest.mark.parametrize("chunks", [1, 2])
def test_dense_ranks_follow_the_order_of_cells(cells, chunks):
    array = pa.chunked_array([pa.array(cells), pa.array(cells)][:chunks])
    ranks, bound = dense_ranks(array)
    known = sorted({c for c in cells if c is not None})
    expected = [0 if c is None else 1 + known.index(c) for c in cells] * chunks
    assert ranks.tolist() == expected
    assert max(expected) < bound


def test_dense_ranks_of_text_views_and_repeated_dictionaries():
    assert dense_ranks(pa.array(["b", "a"], pa.string_view()))[0].tolist() == [2, 1]
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["x", "x", "a"]))
    assert dense_ranks(twice)[0].tolist() == [2, 2, 1]


def test_nested_insensitive_columns_are_refused():
    table = pa.table({"x": [1, 2], "notes": [["canary"], ["b"]]})
    with pytest.raises(DataError, match="'notes'") as caught:
        encode(table, TablePlan((quasi("x"), ColumnPlan("notes", Role.INSENSITIVE))))
    assert "canary" not in str(caught.value)


def test_repeated_column_names_are_refused():
    table = pa.Table.from_arrays([pa.array([1, 2]), pa.array([1, 2])], names=["x", "x"])
    with pytest.raises(DataError, match="'x'"):
        encode(table, TablePlan((quasi("x"),)))


def test_joint_columns_count_pairs():
    table = pa.table({"x": [1] * 5, "a": list("ppqqp"), "b": list("uvuuu")})
    encoded = encode(table, TablePlan((quasi("x"), sensitive("a"), sensitive("b"))))
    stats = encoded.stats_of(np.zeros(5, dtype=np.int64), 1, [("a", "b")])
    assert sorted(stats.histogram(("a", "b")).units.tolist()) == [1, 2, 2]
    assert PERSON_UNITS % 22 == 0


SPELT = ["1", "1.0", "01", "+1", "2", "2.0", "02", "+2"]
TIMES = [datetime.datetime(2024, 2, 27, hour) for hour in range(8)]
DIVERSE = [{"distinct-l": {"l": 2}}]


@pytest.mark.parametrize(
    ("key", "pay", "models", "algorithm"),
    [
        ([1, 1, 1, 1, 9, 9, 9, 9], SPELT, [{"k-anonymity": {"k": 3}}], "mdav"),
        ([5] * 8, SPELT, DIVERSE, "m-invariant"),
        (TIMES, ["1", "1", "2", "2", "3", "3", "1", "2"], DIVERSE, "anatomy"),
    ],
)
def test_cells_that_are_written_differently_break_ties_not_the_order_of_rows(key, pay, models, algorithm):
    table = pa.table({"key": key, "pay": pay})
    columns = {"key": {"role": "quasi"}, "pay": {"role": "sensitive", "kind": "numeric"}}
    policy = Policy(columns=columns, models=models, algorithm=algorithm, suppression=0.25)
    turned = table.take(pa.array(range(7, -1, -1)))
    assert anonymize(turned, policy).table.equals(anonymize(table, policy).table)


def test_a_population_of_numbers_beside_a_table_of_text_has_no_people_called_nan():
    plan = TablePlan((ColumnPlan("pay", Role.QUASI, Kind.NOMINAL),))
    population = pa.table({"pay": pa.array([1.0, 2.5, float("nan"), None], pa.float64())})
    found = encode(pa.table({"pay": ["1", "2.5", None]}), plan, SideTables(population))
    assert found.quasi[0].coded.labels[0] == (None, "1", "2.5")
    assert found.quasi[0].codes.tolist() == [1, 2, 0, 1, 2, 0, 0]


def test_joint_columns_of_too_many_combinations_are_refused_before_any_work():
    n = 8200
    table = pa.table({"age": [1] * n, "pay": range(n), "rent": range(n)})
    columns = {"age": {"role": "quasi"}, "pay": {"role": "sensitive"}, "rent": {"role": "sensitive"}}
    jointly = Policy(columns=columns, models=[{"distinct-l": {"l": 2, "on": ["pay", "rent"]}}])
    with pytest.raises(PolicyError, match=r"'pay' and 'rent' taken jointly have 67240000 combinations"):
        anonymize(table, jointly)
    alone = Policy(columns=columns, models=[{"distinct-l": {"l": 2}}])
    assert anonymize(table, alone).table.num_rows == n


def test_ordinal_leaves_that_nobody_has_stand_in_the_declared_order():
    sizes = ["small", "medium", "large", "huge"]
    policy = Policy(
        quasi={
            "size": {
                "kind": "ordinal",
                "order": sizes,
                "hierarchy": {"taxonomy": {"tree": {"x": ["small", "large"], "y": ["medium", "huge"]}}},
            }
        },
        models=[KAnonymity(k=2)],
    )
    release = anonymize(pa.table({"size": ["large", "small", "large"]}), policy)
    (size,) = release.encoded.quasi
    assert size.coded.values.to_pylist() == sizes
    assert release.frame["size"].to_pylist() == ["[small, large]"] * 3
    assert release.recoded.cells[0].leaves.tolist() == [3]
    assert release.encoded.quasi[0].codes.tolist() == [2, 0, 2]
