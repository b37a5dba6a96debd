"""Counting attacked records, checking sentences, drawing figures."""

from __future__ import annotations

import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.datasets.locate import find_data
from hushtable.models.k_anonymity import KAnonymity
from hushtable.reproduce import wang2011 as paper
from hushtable.reproduce.wang_sentences import SENTENCES, Sentence

needs_adult = pytest.mark.skipif(find_data("adult/adult.data") is None, reason="Adult is not here")


def test_attacked_records_are_those_of_classes_with_one_value():
    people = pa.table({"age": [1, 1, 2, 2, 2, 3, 3], "status": ["a", "a", "a", "b", "a", "b", "b"]})
    policy = ht.Policy(quasi=["age"], sensitive=["status"], models=[KAnonymity(k=2)], cells="sets")
    assert paper.attacked(ht.anonymize(people, policy), "status", ["b"]) == (4, 2)


@pytest.mark.parametrize(
    ("grows", "lines", "holds"),
    [
        (1, {"x": {1: 0.0, 2: 5.0, 3: 3.0}}, True),
        (1, {"x": {1: 0.0, 2: 1.0}, "y": {1: 2.0, 2: 2.0}}, True),
        (1, {"x": {1: 2.0, 2: 2.0}}, False),
        (-1, {"x": {1: 0.0, 2: 1.0}, "y": {1: 2.0, 2: 1.0}}, False),
    ],
)
def test_directions(grows, lines, holds):
    assert Sentence("Figure 0", "", grows).holds(lines) is holds


def test_comparisons():
    lines = {"x": {1: 1.0, 2: 2.0}, "y": {1: 0.0, 2: 2.5}}
    assert Sentence("Figure 0", "", 0, "x", "y").holds(lines)
    assert not Sentence("Figure 0", "", 0, "y", "x").holds(lines)


def test_every_sentence_speaks_of_lines_that_are_drawn():
    for sentence in SENTENCES:
        assert sentence.figure in {f"Figure {i}" for i in range(4, 11)}
        assert bool(sentence.grows) != bool(sentence.higher and sentence.lower)


@needs_adult
def test_the_records_are_those_of_the_four_values():
    assert paper._records().num_rows == 20045


@needs_adult
def test_attacked_records_fall_with_k_on_the_papers_samples():
    """Figure 4 on three samples of 6,000: both lines end lower, and (alp, dif) lies below k-anonymity for every k."""
    protected = paper.AlpDif(alp=paper.ALP, dif=paper.DIF, on=paper.STATUS)
    lines = {}
    for name, more in (("k-anonymity", []), ("(alp, dif)", [protected])):
        for k in (2, 4, 6):
            runs = [
                paper._measure(paper._sample(6000, 0, t), [KAnonymity(k=k), *more], "greedy-loss", paper.PROTECTED)
                for t in range(3)
            ]
            lines.setdefault(name, []).append(sum(everyone for _, _, everyone, _ in runs))
            if more:
                assert all(guarded == 0 for *_, guarded in runs)
    plain, guarded = lines["k-anonymity"], lines["(alp, dif)"]
    assert plain[0] > plain[1] > plain[2] > 0
    assert all(g < p for g, p in zip(guarded, plain, strict=True))


@needs_adult
def test_attacked_records_fall_with_alp_on_the_papers_samples():
    """Figure 9 and further down: never more with a smaller alp, and in the end fewer, whatever k and dif."""
    found = paper.smaller_alp()
    assert len(found) == 4
    for curve in found.values():
        assert list(curve) == sorted(curve, reverse=True)
        attacked = list(curve.values())
        assert attacked == sorted(attacked, reverse=True) and attacked[0] > attacked[-1]
    # the paper's two alp differ where dif does not bind first
    assert found[1.0, 2][0.43] > found[1.0, 2][0.41] > found[1.0, 2][0.38]


@needs_adult
def test_a_quick_run(tmp_path):
    rows = list(paper.rows(quick=True))
    lines = paper.lines_of(rows)
    assert {len(points) for line in lines.values() for points in line.values()} == {2, 6}
    four = lines["Figure 4"]
    assert list(four) == [
        "k-anonymity", "k-anonymity, protected values", "(alp, dif)", "(alp, dif), protected values",
    ]  # fmt: skip
    assert all(y == 0 for y in four["(alp, dif), protected values"].values())
    assert all(lines["Figure 6"]["k-anonymity"][k] >= lines["Figure 6"]["(alp, dif)"][k] for k in (2, 4))
    sentences = [r for r in rows if "in words" in r["experiment"]]
    assert [r["setting"] for r in sentences] == [s.words for s in SENTENCES]
    files = paper.write(tmp_path, rows)
    assert len(files) == 14
    assert all(path.stat().st_size > 1000 for path in files)
    assert {path.suffix for path in files} == {".png", ".svg"}
