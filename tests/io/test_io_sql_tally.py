"""A database that counts its own rows says what the local audit says, and no row leaves it."""

from __future__ import annotations

import math
import secrets

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support_sql import CANARY, execute

import hushtable as ht
from hushtable.errors import DataError
from hushtable.io.sql import read_sql, write_sql
from hushtable.io.sql_postgres import PostgresDatabase

NAN = float("nan")
ROWS = st.lists(
    st.tuples(
        st.sampled_from([0.0, -0.0, 1.5, NAN, None]),
        st.sampled_from(["a", "A", "", "é", None]),
        st.sampled_from([1, 2, None]),
        st.sampled_from(["flu", "gout", "", "1", None]),
        st.sampled_from([0.0, -0.0, 2.5, NAN, None]),
        st.sampled_from([f"p{i}" for i in range(9)]),
    ),
    min_size=1,
    max_size=30,
)
FEW = settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
ASKED = [
    (["age", "town"], [], None),
    (["age", "town", "sex"], ["illness", "pay"], None),
    (["town", "sex"], ["pay"], "who"),
    ("sex", [], "who"),
]


def alike(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(alike(a[k], b[k]) for k in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-12)
    return a == b


def same_audits(address, rows):
    names = ["age", "town", "sex", "illness", "pay", "who"]
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    types = [pa.float64(), pa.string(), pa.int32(), pa.string(), pa.float64(), pa.string()]
    table = pa.table([pa.array(columns[n], t) for n, t in zip(names, types, strict=True)], names=names)
    write_sql(table, address, table="people", overwrite=True)
    stored = read_sql(address, table="people")
    for quasi, sensitive, entity in ASKED:
        there = ht.audit(f"{address}?table=people", quasi, sensitive, entity=entity)
        here = ht.audit(stored, quasi, sensitive, entity=entity)
        assert alike(there.as_dict(), here.as_dict()), (quasi, sensitive, entity)
        assert there.holds(k=2) == here.holds(k=2)
        assert there.heading == here.heading


@FEW
@given(rows=ROWS)
def test_duckdb_counts_as_we_do(rows, tmp_path):
    same_audits(f"duckdb:///{tmp_path / 'clinic.db'}", rows)


@FEW
@given(rows=ROWS)
def test_postgres_counts_as_we_do(rows, postgres):
    same_audits(postgres, rows)


@pytest.fixture(params=["duckdb", "postgresql"])
def base(request, tmp_path):
    return f"duckdb:///{tmp_path / 'clinic.db'}" if request.param == "duckdb" else request.getfixturevalue("postgres")


def test_collations_types_and_names_that_are_ours(base):
    name = f"src{secrets.token_hex(4)}"
    collation = '"und-x-icu"' if base.startswith("postgresql") else "NOCASE"
    execute(
        base,
        f'CREATE TABLE {name} (k0 varchar(9) COLLATE {collation}, "w" numeric(5, 2), v0 date, "n" boolean, '
        "t timestamp)",
        f"INSERT INTO {name} VALUES ('A', 1.5, '2020-01-01', true, '2020-01-01 10:00'), "
        "('a', 1.50, '2020-01-01', true, '2020-01-01 11:00'), (NULL, NULL, NULL, NULL, NULL)",
    )
    asked = f"{base}?query=SELECT * FROM {name} -- all of it"
    for quasi, sensitive in ((["k0"], ["w", "v0", "n", "t"]), (["w", "v0", "n", "t"], ["k0"])):
        there, here = ht.audit(asked, quasi, sensitive), ht.audit(read_sql(asked), quasi, sensitive)
        assert alike(there.as_dict(), here.as_dict())
    assert ht.audit(asked, "k0").classes == 3


def test_people_with_many_rows_weigh_one_person(base):
    who = ["p"] * 23 + ["q", "r"]
    many = pa.table({"sex": ["f"] * 23 + ["m", "m"], "illness": ["a", "b"] * 12 + ["a"], "who": who})
    write_sql(many, base, table="many", overwrite=True)
    there, here = (ht.audit(data, "sex", "illness", entity="who") for data in (f"{base}?table=many", many))
    assert (there.rows, there.k, there.smallest) == (here.rows, here.k, here.smallest) == (3, 1, {1: 1, 2: 1})
    assert there["alpha"] == pytest.approx(here["alpha"])


@pytest.mark.parametrize(
    ("people", "words"),
    [(["p", None], "has 1 missing"), (["p", ""], "has 1 missing"), (["p", " p\u2003"], "differ only in spaces"),
     (["Zoe\u0308", "Zo\u00eb"], "differ only in spaces")],
)  # fmt: skip
def test_people_are_refused_as_we_refuse_them(base, people, words):
    table = pa.table({"sex": ["f", "m"], "who": people})
    write_sql(table, base, table="twice", overwrite=True)
    for data in (f"{base}?table=twice", table):
        with pytest.raises(DataError, match=words):
            ht.audit(data, "sex", entity="who")


def test_refusals(base):
    write_sql(pa.table({"age": [1.5], "town": ["x"]}), base, table="few", overwrite=True)
    with pytest.raises(DataError, match="Did you mean 'age'"):
        ht.audit(f"{base}?table=few", "agee")
    with pytest.raises(DataError, match="numbers with a fraction"):
        ht.audit(f"{base}?table=few", "town", entity="age")
    with pytest.raises(DataError, match="has no rows"):
        ht.audit(f"{base}?query=SELECT * FROM few WHERE age > 2", "age")
    with pytest.raises(DataError, match="has no rows"):
        ht.audit(f"{base}?query=SELECT * FROM few WHERE age > 2", "age", "town")
    odd = "ARRAY[1]" if base.startswith("postgresql") else "[1]"
    with pytest.raises(DataError, match="'l' "):
        ht.audit(f"{base}?query=SELECT {odd} AS l, 1 AS a", "l", "a")
    shaky = "SELECT mod(x, 3) AS r, random() < 0.5 AS s FROM generate_series(1, 5000) AS g(x)"
    with pytest.raises(DataError, match="same rows each time"):
        ht.audit(f"{base}?query={shaky}", "r", "s")


def test_no_cell_of_a_quasi_identifier_leaves(postgres, monkeypatch):
    """Every answer of the server is looked at: none names a person, a class, or what a class is about."""
    names = [f"{CANARY}{i}" for i in range(9)]
    table = pa.table({"age": names, "illness": ["a", "b", "c"] * 3, "who": names})
    write_sql(table, postgres, table="seen", overwrite=True)
    seen = []
    real = PostgresDatabase.answering

    def watching(self, place):
        manager = real(self, place)
        enter = type(manager).__enter__

        class Watched:
            def __enter__(self):
                ask = enter(manager)
                return lambda text: seen.append(ask(text)) or seen[-1]

            def __exit__(self, *error):
                return manager.__exit__(*error)

        return Watched()

    monkeypatch.setattr(PostgresDatabase, "answering", watching)
    found = ht.audit(f"{postgres}?table=seen", ["age"], ["illness"], entity="who")
    assert found.k == 1
    assert len(seen) == 4 and not any(CANARY in str(answer.to_pydict()) for answer in seen)
    assert seen[-1].num_rows == 3, "nine classes of one person each, of three compositions"
