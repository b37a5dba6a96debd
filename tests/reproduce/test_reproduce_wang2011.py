"""Counting attacked records, bands of times, and what is said about them."""

from __future__ import annotations

import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.datasets.locate import find_data
from hushtable.models.k_anonymity import KAnonymity
from hushtable.reproduce import wang2011 as paper
from hushtable.reproduce.wang2011 import Point, attacked, measured, records

needs_adult = pytest.mark.skipif(find_data("adult/adult.data") is None, reason="Adult is not here")


def test_attacked_records_are_those_of_classes_with_one_value():
    people = pa.table({"age": [1, 1, 2, 2, 2, 3, 3], "status": ["a", "a", "a", "b", "a", "b", "b"]})
    policy = ht.Policy(quasi=["age"], sensitive=["status"], models=[KAnonymity(k=2)], cells="sets")
    assert attacked(ht.anonymize(people, policy), "status", ["b"]) == (4, 2)


def timed(low: float, high: float) -> Point:
    return Point(0, 0, 0, 0, 0, low, (low, high))


@pytest.mark.parametrize(
    ("first", "last", "grows"),
    [((1, 2), (3, 4), True), ((3, 4), (1, 2), False), ((1, 3), (2, 4), None), ((1, 2), (2, 3), None)],
)
def test_times_decide_only_where_bands_are_apart(first, last, grows):
    assert paper._grows([{2.0: timed(*first), 6.0: timed(*last)}]) is grows
    assert paper._longer({2.0: timed(*last)}, {2.0: timed(*first)}) is grows


def test_small_tables():
    items = paper.examples(0, quick=False)
    assert [(i.name, i.verdict) for i in items] == [(f"Table {n}", "exact") for n in ("I", "II", "III")]
    # of HIV, Table I leaks everything and Table III half
    leaks = [next(r.ours for r in i.rows if "leakage" in r.setting) for i in items]
    assert leaks == [1.0, 0.3333, 0.5]


@needs_adult
def test_the_records_are_those_of_the_four_values():
    assert records().num_rows == 20045
    (item,) = paper.table_4(0, quick=True)
    assert "21,429 records" in next(r.result for r in item.readings if r.favoured)


@needs_adult
def test_attacked_records_fall_with_k_on_the_papers_samples():
    """Figure 4 on three samples of 6,000: both lines end lower, and (alp, dif) lies below k-anonymity for every k."""
    lines = {name: [measured(of(k), 6000, 0, 3) for k in (2, 4, 6)] for name, of in paper._models(0.01).items()}
    plain, guarded = ([p.attacked for p in lines[name]] for name in ("k-anonymity", "(alp, dif)"))
    assert plain[0] > plain[1] > plain[2] > 0
    assert all(g < p for g, p in zip(guarded, plain, strict=True))
    assert all(p.guarded == 0 for p in lines["(alp, dif)"])


@needs_adult
def test_a_smaller_alp_binds_where_dif_does_not():
    """Never more attacked records with a smaller alp, and the paper's two differ without dif."""
    found = [measured(paper._divorced(alp, 0.01, 1.0)(2), 6000, 0, 3).attacked for alp in (0.43, 0.41, 0.38, 0.3)]
    assert found == sorted(found, reverse=True) and found[0] > found[1] > found[2]
    same = [measured(paper._divorced(alp, 0.01)(2), 6000, 0, 3).attacked for alp in (0.43, 0.41)]
    assert same[0] == same[1]


@needs_adult
def test_precision_of_alp_dif_rises_with_k_where_records_are_suppressed():
    """The "no" of Figure 6: fewer steps at a larger k, for v = 5%; the same precision for every k without v."""
    ends = {v: [measured(paper._models(v)["(alp, dif)"](k), 6000, 0, 3) for k in (2, 6)] for v in (0.0, 0.05)}
    assert ends[0.0][0].prec == ends[0.0][1].prec
    assert ends[0.05][0].prec < ends[0.05][1].prec and ends[0.05][0].steps > ends[0.05][1].steps


@needs_adult
def test_a_quick_run():
    items = {i.name: i for work in (paper.figures, paper.times) for i in work(0, True)}
    assert set(items) == {f"Figure {i}" for i in range(4, 11)}
    for item in items.values():
        assert sum(r.published == "yes" for r in item.rows) == 2
        assert all(len(line.points) in (2, 6) for picture in item.pictures for line in picture.lines)
    assert len(items["Figure 6"].readings) == len(paper.SHARES)
    assert all(line.band for line in items["Figure 7"].pictures[0].lines)
