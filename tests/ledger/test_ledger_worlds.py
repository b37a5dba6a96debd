"""An adversary who writes down every world that the published classes allow, held against the ledger's judgment."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from support_ledger import people, verdict_of

from fuzz import ledger
from fuzz.histories import beliefs, random_history
from hushtable.ledger.search import IndependentPart, Limits, evened, expected, possible
from hushtable.models.distinct_l import DistinctL

TWO = DistinctL(l=2, on="disease")


@pytest.mark.parametrize("first", range(0, 160, 40))
def test_beliefs_and_verdicts_are_those_of_all_worlds(first):
    """A slice of the campaign in fuzz/ledger.py: several releases, records, columns, counterfeits, changed values."""
    ends = set()
    for seed in range(first, first + 40):
        end, wrong = ledger.run_case(seed)
        assert not wrong, seed
        ends.add(end)
    assert "refused" in ends


@pytest.mark.slow
def test_beliefs_and_verdicts_are_those_of_all_worlds_in_many_histories():
    for seed in range(160, 10_160):
        assert not ledger.run_case(seed)[1], seed


@pytest.mark.parametrize("seed", range(40))
def test_searching_finds_the_same_values_as_counting(seed):
    """Parts that are too large to be counted: which values are possible is exact there too."""
    releases = random_history(seed)
    if len(releases) < 2 or (theirs := beliefs(releases, ("disease",))) is None:
        return
    ours = ledger.believed(releases, ("disease",), Limits(60, -1))
    assert ours is not None
    for piece, shares in ours.items():
        assert shares.keys() == {v for v, p in theirs[piece].items() if p}
        assert sum(shares.values()) == pytest.approx(1)


def part(n: int) -> IndependentPart:
    """So many people in one class, as many values."""
    kind, value = np.divmod(np.arange(n * n), n)
    none, one = np.zeros(n * n, dtype=np.int64), np.ones(n * n, dtype=np.int64)
    return IndependentPart(
        np.ones(n, dtype=np.int64), kind, none, one, np.arange(n * n), value, one, np.ones(n, dtype=np.int64)
    )


def test_what_takes_too_long_is_not_decided():
    assert expected(part(3), 10_000).tolist() == [pytest.approx(1 / 3)] * 9
    assert expected(part(9), 100) is None
    # one kind alone may have more arrangements than there is time for
    ten = ([0] * 10, [0] * 10, [80] * 10, range(10), range(10), [1] * 10, [40] * 10)
    crowd = IndependentPart(np.array([400]), *(np.array(x) for x in ten))
    assert expected(crowd, 100) is None
    assert possible(part(4), Limits(0)) is None
    occurs = possible(part(4), Limits(60))
    assert occurs is not None and occurs.all()
    assert evened(part(4), occurs) == pytest.approx(0.25)


@pytest.mark.parametrize("error", [ImportError, MemoryError, RuntimeError])
def test_a_solver_that_fails_decides_nothing(monkeypatch, error):
    def broken(*_, **__):
        raise error("no")

    monkeypatch.setattr("scipy.optimize.milp", broken)
    assert possible(part(4), Limits(60)) is None
    again = [people(x="1a 2b 3a 4b"), people(x="1a 2b 5a 6b")]
    verdict = verdict_of(again, TWO, limits=Limits(60, -1))
    assert not verdict.ok and {f.how for f in verdict.findings} == {"undecided"}
    assert "could not be decided" in verdict.findings[0].sentence()


@pytest.mark.parametrize(("x", "bound"), [([1.0] * 16, -16.0), ([0.5] * 16, -16.0), (list(np.eye(4).ravel()), None)])
def test_an_answer_of_the_solver_is_checked(monkeypatch, x, bound):
    """Whole numbers that do not solve the equations decide nothing, nor does a best that the solver does not tell."""
    found = SimpleNamespace(x=np.array(x), status=0, mip_dual_bound=bound)
    monkeypatch.setattr("scipy.optimize.milp", lambda *_, **__: found)
    assert possible(part(4), Limits(60)) is None


def test_equations_without_a_solution_are_not_accepted():
    """A ledger of 0.1.0 does not say whose value has changed: the same three have another one now."""
    changed = [people(x="1a 2b 3c"), people(x="1a 2a 3b")]
    assert {f.how for f in verdict_of(changed, TWO, tags=False).findings} == {"undecided"}


@pytest.mark.parametrize(
    "releases",
    [
        # the two in both classes have one a and one b, since neither class leaves them more of either
        [people(x="1a 2b 3b"), people(x="1a 2b 4a")],
        # 3 and 4 have a and b; what is left of the new class to 2 and 5 is a and c, and 2 has b or c
        [people(x="1b 2c", y="3b 4a"), people(x="5a 4a 3b 2c")],
        [people(x="1a 2b 3a 4b 5c"), people(x="2b 3a 5c", y="4b 6c")],
        # no class is left together, and every value is in all classes; but b went and a came
        [people(x="1b 2a 3b", y="4b 5a"), people(x="4b 2a", y="3b 5a 6a")],
        # by the last two 1 and 2 have one b and one c; the first one has them in two classes
        [
            people(x="0b 2c", y="1b 3b 4c 5c 6c 7b"),
            people(x="0b 3b 4c 5c", y="1b 2c 6c 7b"),
            people(x="0b 1b 3b 4c", y="2c 5c 6c 7b"),
        ],
    ],
)
def test_what_only_several_classes_tell_together(releases):
    verdict = verdict_of(releases, TWO)
    assert not verdict.ok and verdict.findings[0].certain


def test_two_who_came_with_another_value_each_hide_who_left():
    assert verdict_of([people(x="1b 2a 3b", y="4b 5a"), people(x="4b 2a 7b", y="3b 5a 6a")], TWO).ok


def test_what_was_known_before_is_not_held_against_a_new_release():
    first, later = people(x="1b 2a 3b", y="4b 5a"), people(x="4b 2a", y="3b 5a 6a")
    assert not verdict_of([first, later], TWO).ok
    (finding,) = verdict_of([first, later, later], TWO).findings
    assert finding.people == 1  # 6 is published again, and is known; of 1, who left before, nothing is new
