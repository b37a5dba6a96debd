"""m-invariance over three releases, to an adversary who knows the algorithm and all of them, but not the secret.

Two adversaries, both made by simulation with random secrets. One has seen thousands of histories of a handful of
people, and believes what was true where the very same releases were published. The other learns from everything that
can be counted in larger histories (how often values are published and where, who is new, who is alone, who is first),
and guesses in histories that it has not seen. Nobody's value may be guessed more often than 1/m.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pyarrow as pa
import pytest

from hushtable.algorithms.base import Algorithm, Partition, Problem, Recoding
from hushtable.algorithms.earlier import Earlier
from hushtable.algorithms.invariant import m_invariant
from hushtable.algorithms.invariant.m_invariant import MInvariant, alone, divide
from hushtable.attacks.base import wilson
from hushtable.engines import local
from hushtable.errors import HushtableError
from hushtable.models.m_invariance import MInvariance
from hushtable.schema.columns import Kind
from hushtable.table.coins import Coins
from hushtable.table.encode import encode
from support_core import plan_of, quasi, sensitive

VALUES = 6
COLUMNS = (
    quasi("age", Kind.NUMERIC),
    quasi("zip", Kind.NUMERIC),
    sensitive("disease", categories={"all": tuple("abcdef")}),
)


@dataclass
class Published:
    """A release: for every class the people in it and its values."""

    classes: list[tuple[frozenset[int], tuple[int, ...]]]


def published(problem: Problem, partition: Partition, people: list[int]) -> Published:
    codes = problem.table.sensitive[0].codes
    members, values = defaultdict(set), defaultdict(list)
    for row, label in enumerate(partition.labels.tolist()):
        if label >= 0:
            members[label].add(people[row])
            values[label].append(int(codes[row]))
    if partition.counterfeits is not None:
        fakes = partition.counterfeits
        for label, value in zip(fakes.groups.tolist(), fakes.codes["disease"].tolist(), strict=True):
            values[label].append(value)
    return Published([(frozenset(members[g]), tuple(sorted(values[g]))) for g in sorted(members)])


@cache
def problem_of(places: tuple[tuple[int, int], ...], m: int, values: int) -> Problem:
    """The problem of some people whose values are not known yet."""
    plan = plan_of([MInvariance(m=m)], COLUMNS, MInvariant(), document={"m": m})
    everything = encoded([(1, 1)] * values, list("abcdef"[:values]), plan).sensitive[0]
    table = encoded(places, ["a"] * len(places), plan)
    codes = np.zeros(len(places), dtype=np.int64)
    return local.problem_from(replace(table, sensitive=(replace(everything, codes=codes),)), plan)


def encoded(places, values, plan):
    table = pa.table({"age": [a for a, _ in places], "zip": [z for _, z in places], "disease": values})
    return encode(table, plan.table)


def history(places, values, schedule, m, key, algorithm=MInvariant(), domain=VALUES) -> list[Published] | None:  # noqa: B008
    """Publish the people of each turn; None where that cannot be done."""
    signature: dict[int, tuple[int, ...]] = {}
    lonely: set[int] = set()
    found = []
    for turn, present in enumerate(schedule):
        own = values[turn] if isinstance(values, dict) else values
        empty = problem_of(tuple(places[p] for p in present), m, domain)
        column = empty.table.sensitive[0]
        codes = np.array([own[p] for p in present])
        table = replace(empty.table, sensitive=(replace(column, codes=codes),))
        kinds = sorted({signature[p] for p in present if p in signature})
        last = np.array([kinds.index(signature[p]) if p in signature else -1 for p in present])
        kept = np.array([own[p] in signature.get(p, ()) for p in present])
        apart = np.array([p in lonely for p in present])
        problem = replace(
            empty, store=table, reference=table.reference([("disease",)]), tossed=Coins(f"{key}/{turn}".encode()),
            earlier=Earlier(
                ("disease",), tuple(kinds), np.where(kept, last, -1), np.where(kept, -1, last), apart
            ) if turn else None,
        )  # fmt: skip
        try:
            release = published(problem, algorithm.run(problem), list(present))
        except HushtableError:
            return None
        found.append(release)
        for people, shown in release.classes:
            assert len(shown) == len(set(shown)) >= m
            for person in people:
                if own[person] in signature.get(person, ()):
                    assert signature[person] == shown
                else:
                    assert not set(signature.get(person, ())) & set(shown)
                    signature[person] = shown
                    lonely.difference_update({person})
                    lonely.update({person} if len(people) == 1 else ())
    return found


def schedules(random, n: int) -> list[list[int]]:
    """Who is in each of three releases: some leave, some come, some come back."""
    first = random.random(n) < 0.7
    second = np.where(first, random.random(n) < 0.7, random.random(n) < 0.5)
    third = np.where(first | second, random.random(n) < 0.7, True)
    return [np.flatnonzero(here).tolist() for here in (first, second, third)]


@pytest.mark.parametrize("m", [2, 3])
def test_whoever_has_seen_the_same_releases_before_believes_no_more_than_1_in_m(m):
    """One of four or six leaves, one comes, and the one comes back; two live at the same place."""
    places = [(1, 5), (2, 5), (4, 4), (4, 4), (3, 1), (6, 2), (6, 5)][: 2 * m + 1]
    first, come = list(range(len(places) - 1)), len(places) - 1
    schedule = [first, [p for p in [*first, come] if p != 1], [*first, come]]
    random = np.random.default_rng(m)
    believed: dict[object, Counter[tuple[int, int]]] = defaultdict(Counter)
    right = targets = 0
    for run in range(3000):
        values = random.integers(0, m + 1, len(places)).tolist()
        releases = history(places, values, schedule, m, run, domain=m + 1)
        if releases is None:
            continue
        # names of values do not matter: the first that is shown is 0, and so on
        seen: dict[int, int] = {}
        shown = []
        for release in releases:
            for people, own in sorted(release.classes, key=lambda c: sorted(c[0])):
                for value in own:
                    seen.setdefault(value, len(seen))
                shown.append((people, tuple(sorted(seen[v] for v in own))))
        key = tuple(shown)
        for person in range(len(places)):
            truth = seen[values[person]]
            if run >= 1500 and believed[key]:
                options = [(count, -v) for (p, v), count in believed[key].items() if p == person]
                right += -max(options)[1] == truth
                targets += 1
            if run < 1500:
                believed[key][person, truth] += 1
    assert targets > 300
    assert wilson(right, targets)[0] <= 1 / m


def features(releases: list[Published], schedule: list[list[int]], places) -> list[tuple[int, int, list[float]]]:
    """All that can be counted: person, candidate value, numbers."""
    shown = [Counter(v for _, own in r.classes for v in own) for r in releases]
    lonely = [Counter(v for people, own in r.classes for v in own if len(people) < len(own)) for r in releases]
    joined = set(schedule[0])
    new = [set(present) - joined for present in schedule]
    fresh = []
    for turn, release in enumerate(releases):
        new[turn] = set(schedule[turn]) - joined if turn else set()
        joined |= set(schedule[turn])
        fresh.append(Counter(v for people, own in release.classes for v in own if people & new[turn]))
    mixed = [
        Counter(v for people, own in r.classes for v in own if people & new[t] and people - new[t])
        for t, r in enumerate(releases)
    ]
    ages = [defaultdict(list) for _ in releases]
    for t, release in enumerate(releases):
        for people, own in release.classes:
            for v in own:
                ages[t][v] += [places[p][0] for p in people]
    out = []
    for t, release in enumerate(releases):
        for people, own in release.classes:
            ranked = sorted(people, key=lambda p: places[p])
            for person in people:
                for place, value in enumerate(own):
                    numbers = [float(t), float(len(people)), float(ranked.index(person)), float(place)]
                    numbers += [float(person in new[t]), float(len(people & new[t]))]
                    for u in range(len(releases)):
                        numbers += [c[u][value] for c in (shown, lonely, fresh, mixed)]
                    numbers += [min((c[t][v] for v in own), default=0) - c[t][value] for c in (shown, fresh, mixed)]
                    numbers.append(places[person][0] - float(np.mean(ages[t][value])))
                    out.append((person, value, numbers))
    return out


EVEN = [0.22, 0.2, 0.18, 0.16, 0.14, 0.1]
UNEVEN = [0.4, 0.25, 0.15, 0.1, 0.06, 0.04]


def learned(m: int, histories: int, n: int, algorithm: Algorithm, seed: int, shares=EVEN) -> tuple[int, int]:
    """Train on half of the histories; return right guesses and guesses in the other half."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    random = np.random.default_rng(seed)
    rows, truth, who = [], [], []
    for run in range(histories):
        places = [(int(a), int(z)) for a, z in random.integers(0, [n // 2, 9], (n, 2))]
        values = random.choice(VALUES, n, p=shares).tolist()
        schedule = schedules(random, n)
        releases = history(places, values, schedule, m, f"{seed}-{run}", algorithm)
        for person, value, numbers in [] if releases is None else features(releases, schedule, places):
            rows.append(numbers)
            truth.append(values[person] == value)
            who.append((run, int(numbers[0]), person, value))
    half = sum(run < histories // 2 for run, *_ in who)
    model = HistGradientBoostingClassifier(max_iter=60, random_state=0).fit(np.array(rows[:half]), truth[:half])
    belief = model.predict_proba(np.array(rows[half:]))[:, 1]
    best: dict[tuple[int, int, int], tuple[float, int, bool]] = {}
    for (run, turn, person, value), chance, true in zip(who[half:], belief, truth[half:], strict=True):
        guess = float(chance), value, bool(true)
        best[run, turn, person] = max(best.get((run, turn, person), guess), guess)
    return sum(true for *_, true in best.values()), len(best)


@dataclass(frozen=True)
class Careless(MInvariant):
    """Newcomers are alone with a counterfeit whose value is drawn evenly, however frequent values are."""

    def _continued(self, problem: Problem, earlier: Earlier) -> Partition:
        codes = problem.table.sensitive[0].codes
        order = problem.secret_order.tolist()
        known = [r for r in order if earlier.of_row[r] >= 0]
        signature = {r: earlier.signatures[int(earlier.of_row[r])] for r in known}
        buckets = divide(known, {r: int(codes[r]) for r in known}, signature)
        new = {r: int(codes[r]) for r in order if earlier.of_row[r] < 0}
        more = []
        for row, value in new.items():
            other = int(problem.coins.purse("toy").below(f"{row}", np.array([VALUES - 1]))[0])
            signature = tuple(sorted([value, other + (other >= value)]))
            more += alone([row], new, [signature])
        return m_invariant._partition(problem, [*buckets, *more], earlier.key)


@pytest.mark.parametrize("m", [2, 3, 4])
def test_whoever_learns_from_all_that_can_be_counted_guesses_no_better_than_1_in_m(m):
    assert MInvariant.recoding is Recoding.NUMBERED
    right, guesses = learned(m, 40, 90, MInvariant(), seed=m)
    assert guesses > 1000
    assert wilson(right, guesses)[0] <= 1 / m


def test_that_adversary_knows_how_frequent_values_are():
    """The test above can fail: alone with a counterfeit, one has the more frequent value, unless care is taken."""
    right, guesses = learned(2, 40, 90, Careless(), 2, UNEVEN)
    assert wilson(right, guesses)[0] > 0.51
    right, guesses = learned(2, 40, 90, MInvariant(), 2, UNEVEN)
    assert wilson(right, guesses)[0] <= 0.5


@pytest.mark.parametrize(("m", "newcomers", "hot"), [(2, 12, 0.8), (2, 40, 0.8), (3, 40, 0.6)])
def test_an_outbreak_among_newcomers_is_not_told(m, newcomers, hot):
    """Most of those who come have one value, which few had before. The guess: what their classes have most often."""
    right = guesses = 0
    for run in range(30):
        random = np.random.default_rng(run)
        places = [(int(a), int(z)) for a, z in random.integers(0, [40, 9], (60 + newcomers, 2))]
        outbreak = int(random.integers(0, VALUES))
        values = [*random.integers(0, VALUES, 60).tolist(), *np.where(
            random.random(newcomers) < hot, outbreak, random.integers(0, VALUES, newcomers)).tolist()]  # fmt: skip
        everybody = list(range(60 + newcomers))
        releases = history(places, values, [everybody[:60], everybody], m, f"outbreak {run}")
        if releases is None:
            continue
        fresh = Counter(v for people, own in releases[1].classes for v in own if people & set(everybody[60:]))
        for people, own in releases[1].classes:
            for person in people & set(everybody[60:]):
                right += max(own, key=lambda v: (fresh[v], -v)) == values[person]
                guesses += 1
    assert guesses > 250
    # people of one outbreak are right or wrong together: 30 of them
    assert right / guesses <= 1 / m + 0.15


def test_a_changed_value_is_not_given_away():
    """It is none of the old signature; the new one has m other values, and nobody else is in the class."""
    changed = met = 0
    for run in range(12):
        random = np.random.default_rng(run)
        places = [(int(a), int(z)) for a, z in random.integers(0, [40, 9], (90, 2))]
        before = random.integers(0, VALUES, 90)
        after = np.where(random.random(90) < 0.2, random.integers(0, VALUES, 90), before)
        everybody = list(range(90))
        schedule = [everybody[:60], everybody]
        releases = history(places, {0: before.tolist(), 1: after.tolist()}, schedule, 2, f"changed {run}")
        if releases is None:
            continue
        old = {p: set(own) for people, own in releases[0].classes for p in people}
        for people, own in releases[1].classes:
            for person in people:
                if person in old and int(after[person]) not in old[person]:
                    changed += 1
                    met += len(people) > 1
                    assert not old[person] & set(own) and len(own) >= 2
    assert changed > 20 and met == 0


@pytest.mark.slow
@pytest.mark.parametrize("m", [2, 3, 4])
def test_the_same_of_many_histories(m):
    right, guesses = learned(m, 200, 150, MInvariant(), seed=10 + m)
    assert wilson(right, guesses)[0] <= 1 / m
