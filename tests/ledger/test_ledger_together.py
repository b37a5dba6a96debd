"""What releases tell together, end to end: columns that come and go, values that are gone, and no promises."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

import hushtable as ht
from fuzz.histories import Held, Release, beliefs
from hushtable.errors import DataError, HushtableError
from hushtable.ledger.ledger import Ledger

TWO = [ht.DistinctL(l=2, on="ill")]


def policy(models, sensitive=("ill",), insensitive=(), **columns):
    roles = {"who": {"role": "identifier"}, "age": {"role": "quasi"}}
    roles |= {c: {"role": "sensitive"} for c in sensitive} | {c: {"role": "insensitive"} for c in insensitive}
    settings = {name: {**role, **columns.get(name, {})} for name, role in roles.items()}
    return ht.Policy(columns=settings, models=models, algorithm={"optimal": {"fixed": {"age": 0}}})


def release(rows, rules, names=("age", "ill")):
    """Rows by person: the class, as an age that is published as it is, and the values."""
    columns = zip(*rows.values(), strict=True)
    return ht.anonymize(pa.table({"who": list(rows), **dict(zip(names, map(list, columns), strict=True))}), rules)


@pytest.fixture
def book(tmp_path):
    return Ledger(tmp_path / "releases.ledger")


def test_a_column_links_rows_though_the_judged_one_is_new(book):
    """Two releases fix P's city, and everybody of that city has a low income."""
    first, later = {}, {}
    homes = [
        ("P", 1, 5, "Rome", "low"),
        ("Q", 1, 6, "Oslo", "low"),
        ("R", 2, 5, "Bern", "high"),
        ("S", 2, 6, "Bonn", "high"),
    ]
    for who, then, now, city, income in homes:
        for i, ill in enumerate(["flu", "HIV"]):
            first[f"{who}{i}"], later[f"{who}{i}"] = (then, ill, city), (now, income, city)
    book.add(release(first, policy(TWO, insensitive=["city"]), ("age", "ill", "city")))
    rules = policy([ht.DistinctL(l=2, on="income")], ("income",), ("city",), income={"same_as": False})
    verdict = book.check(release(later, rules, ("age", "income", "city")))
    assert not verdict.ok and verdict.findings[0].linking == ("city",)


@pytest.mark.parametrize("beside", [("city",), ("city", "weight")])
def test_a_column_that_some_people_do_not_keep_does_not_hide_another(book, beside):
    people = "PQRSTUVWXY"
    ill = ["flu", "HIV", "HIV", "flu", *["flu", "HIV"] * 3]
    places = [[1, 1, 2, 2, *[3] * 6], [5, 6, 5, 6, *[7] * 6]]
    weights = ["123456789A", "WXYZ56789A"]
    made = []
    for classes, weight in zip(places, weights, strict=True):
        rows = {p: (classes[i], ill[i], f"city {p}", weight[i])[: 2 + len(beside)] for i, p in enumerate(people)}
        made.append(release(rows, policy(TWO, insensitive=beside), ("age", "ill", *beside)))
    book.add(made[0])
    verdict = book.check(made[1])
    assert not verdict.ok and max(f.people for f in verdict.findings) >= 4


def test_what_two_releases_linked_is_remembered_when_a_third_lacks_the_column(tmp_path):
    drawn, people, checked = random.Random(3), "ABCDEFG", 0
    rules, bare = policy(TWO, insensitive=["city"]), policy(TWO)
    for turn in range(120):
        ill, city = ({p: drawn.choice(values) for p in people} for values in ("abc", "xyz"))
        classes = [{p: drawn.randrange(2) for p in people} for _ in range(3)]

        def known(upto, ill=ill, city=city, classes=classes):
            made = [
                Release(("ill", "city")[: 2 if e < 2 else 1],
                        tuple(Held(ord(p), 0, classes[e][p], (ill[p], city[p])[: 2 if e < 2 else 1]) for p in people))
                for e in range(upto)
            ]  # fmt: skip
            found = beliefs(made, ("ill", "city"))
            return found is not None and any(len({v[0] for v, p in s.items() if p}) == 1 for s in found.values())

        if known(2) or not known(3):
            continue
        book = Ledger(tmp_path / f"{turn}.ledger")
        try:
            for e in range(2):
                rows = {p: (classes[e][p], ill[p], city[p]) for p in people}
                book.add(release(rows, rules, ("age", "ill", "city")))
            last = release({p: (classes[2][p], ill[p]) for p in people}, bare)
        except HushtableError:
            continue
        checked += 1
        assert not book.check(last).ok
    assert checked


GONE = {"p": "HIV", "q": "HIV", "o1": "flu", "o2": "gout", "o3": "cold", "o4": "flu"}


@pytest.mark.parametrize(
    ("l", "newcomers"), [(2, ()), (2, ("HIV", "flu", "cold", "gout")), (3, ("HIV", "flu", "cold", "gout"))]
)
def test_people_to_whom_nothing_was_promised_are_not_made_certain(book, l, newcomers):
    """Whatever the new table knows of their values, and however little was left open before."""
    first = {w: (1, v) for w, v in GONE.items()}
    first |= {"z1": (2, "flu"), "z2": (2, "flu"), "y1": (2, "HIV"), "y2": (2, "HIV")}
    second = {"p": (3, "HIV"), "q": (3, "HIV"), "z1": (3, "flu"), "z2": (3, "flu")}
    third = {w: (5, GONE[w]) for w in ("o1", "o2", "o3", "o4")} | {f"n{i}": (6, v) for i, v in enumerate(newcomers)}
    for rows in (first, second):
        book.add(release(rows, policy([ht.KAnonymity(k=2)])))
    verdict = book.check(release(third, policy([ht.KAnonymity(k=2), ht.DistinctL(l=l, on="ill")])))
    assert max(f.certain for f in verdict.findings) == 6


def test_two_who_leave_with_values_that_nobody_else_has_hide_each_other(book):
    first = {"p": (1, "HIV"), "q": (1, "Zika"), "o1": (1, "flu"), "o2": (1, "gout"), "x": (2, "flu"), "y": (2, "gout")}
    book.add(release(first, policy(TWO)))
    assert book.check(release({w: first[w] for w in ("o1", "o2", "x", "y")}, policy(TWO))).ok


def test_a_name_that_no_earlier_release_has_is_asked_about_and_two_of_one_are_refused(book):
    rows = {p: (1, ill) for p, ill in zip("pqrs", ["flu", "HIV", "gout", "flu"], strict=True)}
    book.add(release(rows, policy(TWO)))
    typo = policy([ht.DistinctL(l=2, on="diag")], ["diag"], diag={"same_as": "illness"})
    assert "No earlier release has a column 'illness'" in book.check(release(rows, typo, ("age", "diag"))).asked[0]
    both = policy(TWO, ["ill", "diag"], diag={"same_as": "ill"})
    twice = {p: (*values, "a") for p, values in rows.items()}
    with pytest.raises(DataError, match="Two columns are called 'ill'"):
        book.check(release(twice, both, ("age", "ill", "diag")))


def test_values_of_most_people_that_changed_are_asked_about(book):
    rows = {f"p{i}": (i // 5, ill) for i, ill in enumerate(["flu", "HIV", "gout", "flu", "cold"] * 2)}
    book.add(release(rows, policy(TWO)))
    other = {p: (c, f"{ill} ({ill})") for p, (c, ill) in rows.items()}
    asked = book.check(release(other, policy(TWO))).asked
    assert "Most people have a different value of 'ill' than before" in asked[0]
    assert book.check(release(other, policy(TWO, ill={"changes": True}))).ok


def test_one_value_in_two_spellings_is_refused(book):
    rows = {p: (1, ill) for p, ill in zip("pqrs", ["flu", "HIV", " flu", "gout"], strict=True)}
    with pytest.raises(DataError, match="contains several spellings of a value"):
        book.check(release(rows, policy(TWO)))
