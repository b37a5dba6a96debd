"""Coins: the same where the secret is, unguessable where it is not, unrelated between tables and policies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from hushtable.hierarchy.spec import parse_hierarchy
from hushtable.io.secret import SECRET
from hushtable.schema.columns import Kind, Role
from hushtable.table.coins import Coins, policy_digest, table_digest
from hushtable.table.encode import encode
from hushtable.table.plan import ColumnPlan, SideTables, TablePlan
from hushtable.testing import random_case


def test_coins_depend_on_secret_table_policy_and_purpose(monkeypatch, tmp_path):
    def tossed(secret, table, policy, purpose):
        monkeypatch.setenv(SECRET, str(tmp_path / secret))
        return tuple(Coins.of_release(table, policy).purse(purpose).words("x", 3).tolist())

    first = tossed("mine", b"table", b"policy", "minimality")
    assert first == tossed("mine", b"table", b"policy", "minimality")
    others = [
        tossed("yours", b"table", b"policy", "minimality"),
        tossed("mine", b"another", b"policy", "minimality"),
        tossed("mine", b"table", b"another", "minimality"),
        tossed("mine", b"tablep", b"olicy", "minimality"),
        tossed("mine", b"table", b"policy", "downcoding"),
    ]
    assert len({first, *others}) == 6


def test_a_longer_draw_begins_like_a_shorter_one():
    coins = Coins(b"k")
    assert coins.words("a", 9)[:4].tolist() == coins.words("a", 4).tolist() != coins.words("b", 4).tolist()
    assert Coins(b"bk").words("a", 2).tolist() != Coins(b"k").words("ab", 2).tolist()


def test_numbers_are_even_and_within_their_limits():
    coins = Coins(b"even")
    numbers = coins.uniform("u", 20_000)
    assert numbers.min() >= 0 and numbers.max() < 1 and abs(numbers.mean() - 0.5) < 0.02
    drawn = coins.below("b", np.full(9_000, 3))
    assert np.bincount(drawn, minlength=3).min() > 2_800 and drawn.max() == 2
    assert coins.below("b", np.array([1, 1])).tolist() == [0, 0]


def test_the_digest_of_a_policy_is_that_of_all_it_says():
    assert policy_digest({"a": 1, "b": [2]}) == policy_digest({"b": [2], "a": 1})
    assert policy_digest({"a": 1}) != policy_digest({"a": 2})
    assert policy_digest({"a": 1, "seed": 7}) == policy_digest({"a": 1, "seed": 8})


@pytest.mark.parametrize("entity", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_digest_of_a_table_does_not_depend_on_the_order_of_its_rows(seed, entity):
    case = random_case(seed, 30, entity=entity)
    shuffled = case.table.take(pa.array(np.random.default_rng(seed).permutation(30)))
    assert table_digest(case.encoded([])) == table_digest(replace(case, table=shuffled).encoded([]))


@pytest.mark.parametrize("column", ["disease", "income"])
def test_another_value_of_one_record_gives_another_digest(column):
    case = random_case(3, 30)
    cells = case.table.column(column).to_pylist()
    at = next(i for i in range(1, 30) if cells[i] != cells[0])
    cells[0], cells[at] = cells[at], cells[0]
    other = case.table.set_column(
        case.table.column_names.index(column), column, pa.array(cells, case.table.column(column).type)
    )
    assert table_digest(case.encoded([])) != table_digest(replace(case, table=other).encoded([]))


def test_another_hierarchy_gives_another_digest(tmp_path):
    """The policy names a file or a function, and two releases with different levels must not share coins."""
    table = pa.table({"x": ["a", "b", "c"]})
    digests = set()
    for levels in ("a;A\nb;A\nc;C\n", "a;A\nb;C\nc;C\n", "a;A\nb;A\nc;D\n"):
        (tmp_path / "x.csv").write_text(levels)
        column = ColumnPlan("x", Role.QUASI, Kind.NOMINAL, parse_hierarchy("x.csv", "x", tmp_path))
        digests.add(table_digest(encode(table, TablePlan((column,)))))
    assert len(digests) == 3


def test_rows_with_a_weight_stand_for_equal_records():
    """As on Spark, where the driver holds each combination once."""
    drawn = random_case(5, 40).encoded([])
    twice = np.repeat(np.arange(40), 2)[:60]
    table = replace(
        drawn,
        quasi=tuple(replace(c, codes=c.codes[twice]) for c in drawn.quasi),
        sensitive=tuple(replace(c, codes=c.codes[twice]) for c in drawn.sensitive),
        n_sample=60, n_rows=60,
    )  # fmt: skip
    codes = np.column_stack([c.codes for c in (*table.quasi, *table.sensitive)])
    _, first, count = np.unique(codes, axis=0, return_index=True, return_counts=True)
    assert len(first) < 60
    fewer = replace(
        table,
        quasi=tuple(replace(c, codes=c.codes[first]) for c in table.quasi),
        sensitive=tuple(replace(c, codes=c.codes[first]) for c in table.sensitive),
        n_sample=len(first), n_rows=len(first), row_units=count.astype(np.int64),
    )  # fmt: skip
    assert table_digest(fewer) == table_digest(table)


def test_every_row_has_its_own_lot_whatever_the_order_of_rows():
    case = random_case(8, 50)
    table = case.encoded([])
    lots = Coins(b"key").lots(table)
    assert len(set(lots.tolist())) == table.n_rows
    order = np.random.default_rng(1).permutation(50)
    again = Coins(b"key").lots(replace(case, table=case.table.take(pa.array(order))).encoded([]))

    # equal rows may have changed places among themselves, so lots are compared with what the rows hold
    def held(lots, rows):
        shown = rows.drop_columns(["name", "person"])
        cells = [tuple(row.values()) for row in shown.to_pylist()]
        return sorted(zip(map(repr, cells), lots.tolist(), strict=True))

    assert held(lots[:50], case.table) == held(again[:50], case.table.take(pa.array(order)))


def test_lots_of_combinations_are_those_of_their_codes():
    coins = Coins(b"key")
    codes = [np.array([0, 1, 0, 1]), np.array([5, 5, 5, 6], dtype=np.uint8)]
    lots = coins.lots_of_combinations(codes)
    assert lots[0] == lots[2] and len(set(lots.tolist())) == 3
    assert coins.lots_of_combinations([c[1:] for c in codes]).tolist() == lots[1:].tolist()
    assert Coins(b"other").lots_of_combinations(codes).tolist() != lots.tolist()


def _beside(**given):
    """A table's digest with a population or a background of a few people."""
    table = pa.table({"age": ["20", "30", "20"], "disease": ["flu", "cold", "flu"]})
    plan = TablePlan((ColumnPlan("age", Role.QUASI), ColumnPlan("disease", Role.SENSITIVE)))
    return table_digest(encode(table, plan, SideTables(background_on="disease", **given)))


def test_another_population_or_background_gives_another_digest():
    """The policy names a file, and groups depend on what is in it: two releases must not share coins."""

    def believed(*shares):
        rows = {"age": ["20", "20", "30"], "disease": ["flu", "cold", "cold"], "probability": shares}
        return pa.table(rows)

    populations = [pa.table({"age": ages}) for ages in (["20", "30"], ["20", "20", "30"], ["20", "30", "30"])]
    backgrounds = [believed(0.5, 0.25, 0.25), believed(0.25, 0.5, 0.25), believed(0.25, 0.25, 0.5)]
    digests = {_beside(population=one) for one in populations} | {_beside(background=one) for one in backgrounds}
    assert len({_beside(), *digests}) == 7


def test_the_order_of_a_population_and_a_background_does_not_matter():
    people = pa.table({"age": ["30", "20", "20", None]})
    beliefs = pa.table({"age": ["20", "30"], "disease": ["flu", "cold"], "probability": [0.75, 0.25]})
    back = pa.array([1, 0])
    assert _beside(population=people, background=beliefs) == _beside(
        population=people.take(pa.array([3, 2, 0, 1])), background=beliefs.take(back)
    )
