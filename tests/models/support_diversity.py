"""Random groups, an exact view of them for slow twins, and attacks on declared monotonicity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from hushtable.models.base import Monotone, PrivacyModel
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import GroupStats, Histogram

N_VALUES = 6
CATEGORIES = (0, 0, 1, 2, 2, 3)
LABELS = ("HIV", "cancer", "hepatitis", "asthma", "obesity", "flu")

Group = dict[int, int]
"""Value -> units."""
Exact = dict[int, Fraction]
"""Value -> people."""

# Sun et al., Table 4: eight diseases in four categories, the most sensitive first.
SUN = ("HIV", "Cancer", "Phthisis", "Hepatitis", "Obesity", "Asthma", "Flu", "Indigestion")
SUN_CATEGORIES = (0, 0, 1, 1, 2, 2, 3, 3)


@dataclass(frozen=True)
class Sample:
    """Groups whose counts are whole units of 1 / ``unit`` of a person."""

    groups: tuple[Group, ...]
    unit: int = 1

    def stats(self) -> GroupStats:
        triples = [(g, v, u) for g, group in enumerate(self.groups) for v, u in group.items()]
        columns = np.array(triples, dtype=np.int64).reshape(-1, 3).T
        histogram = Histogram.from_pairs(*columns, len(self.groups), self.unit)
        units = np.array([sum(g.values()) for g in self.groups], dtype=np.int64)
        return GroupStats(units, self.unit, {("disease",): histogram})

    def table(self, labels: Sequence[str] = LABELS, categories: Sequence[int] | None = CATEGORIES) -> Reference:
        total: Counter[int] = Counter()
        for group in self.groups:
            total.update(group)
        attribute = Attribute(
            ("disease",),
            labels,
            np.array([total[v] for v in range(len(labels))], dtype=np.int64),
            self.unit,
            categories=None if categories is None else np.array(categories, dtype=np.int64),
            n_categories=0 if categories is None else max(categories) + 1,
        )
        return Reference(sum(total.values()), self.unit, {attribute.key: attribute})

    def exact(self) -> list[Exact]:
        return [{v: Fraction(u, self.unit) for v, u in g.items()} for g in self.groups]

    def satisfied(self, model: PrivacyModel) -> list[bool]:
        return model.satisfied(self.stats(), self.table()).tolist()


def of_values(*groups: Sequence[str], labels: Sequence[str] = SUN) -> Sample:
    """Groups written as lists of labels."""
    return Sample(tuple(dict(Counter(labels.index(label) for label in group)) for group in groups))


@st.composite
def samples(draw: st.DrawFn, max_groups: int = 5, max_units: int = 9) -> Sample:
    """A few groups, some empty, in whole or in sixths of people."""
    unit = draw(st.sampled_from([1, 1, 6]))
    counts = st.dictionaries(st.integers(0, N_VALUES - 1), st.integers(1, max_units * unit // min(unit, 2)))
    return Sample(tuple(draw(st.lists(counts, min_size=1, max_size=max_groups))), unit)


def agree(model: PrivacyModel, sample: Sample, twin: Callable[[Exact], bool]) -> None:
    """The model says of all groups at once what the twin says of each."""
    assert sample.satisfied(model) == [twin(group) for group in sample.exact()]


def people(group: Exact) -> Fraction:
    return sum(group.values(), Fraction(0))


def whole(group: Exact) -> int:
    return int(people(group))


def weight(group: Exact) -> Fraction:
    return sum((n * Fraction(CATEGORIES[v], max(CATEGORIES)) for v, n in group.items()), Fraction(0))


def categories(group: Exact) -> Exact:
    out: Exact = {}
    for value, n in group.items():
        out[CATEGORIES[value]] = out.get(CATEGORIES[value], Fraction(0)) + n
    return out


def attack(model: PrivacyModel, sample: Sample) -> None:
    """Try to falsify every declared flag, starting from the satisfied groups of a sample."""
    good = [g for g, ok in zip(sample.groups, sample.satisfied(model), strict=True) if ok]
    changed: list[Group] = []
    if Monotone.ADD in model.monotone:
        changed += [_plus(g, {v: u}) for g in good for v in range(N_VALUES) for u in {1, sample.unit}]
    if Monotone.MERGE in model.monotone:
        changed += [_plus(a, b) for i, a in enumerate(good) for b in good[i:]]
    if Monotone.SUPPRESS in model.monotone:
        changed += [_plus(g, {v: -1}) for g in good for v in g if sum(g.values()) > 1]
    if changed:
        assert all(Sample(tuple(changed), sample.unit).satisfied(model))


def verdicts(model: PrivacyModel, *groups: Group) -> list[bool]:
    """Which of these groups are satisfied, for counter-examples: before, after."""
    return Sample(groups).satisfied(model)


def prefilter_holds(model: PrivacyModel, sample: Sample) -> None:
    """No group below ``min_group_size`` is satisfied."""
    for group, ok in zip(sample.exact(), sample.satisfied(model), strict=True):
        assert not (ok and people(group) < model.min_group_size())


def same_as_trying(model: PrivacyModel, sample: Sample) -> None:
    """``contributes`` is what adding one record of every value to every group shows."""
    stats, table = sample.stats(), sample.table()
    now = model.score(stats, table)
    for value in range(N_VALUES):
        then = model.score(stats.with_one_more(("disease",), np.full(len(stats), value)), table)
        gain = then - now if model.sense == ">=" else now - then
        clear = np.abs(gain) > 1e-8
        got = model.contributes(stats, table)[:, value]
        assert got[clear].tolist() == (gain > 0)[clear].tolist()
        assert not got[gain == 0].any()


def grow(model: PrivacyModel, sample: Sample, rounds: int = 80) -> None:
    """Add to every violated group the rarest value that contributes, until none is violated."""
    stats, table = sample.stats(), sample.table()
    for _ in range(rounds):
        stats = stats.take(~model.satisfied(stats, table))
        if not len(stats):
            return
        helps = model.contributes(stats, table)
        assert helps.shape == (len(stats), N_VALUES)
        assert helps.any(axis=1).all()
        held = stats.histogram(("disease",)).as_matrix(N_VALUES)
        rarest = np.where(helps, held, np.inf).argmin(axis=1)
        stats = stats.with_one_more(("disease",), rarest.astype(np.int64))
    raise AssertionError("no progress")


def _plus(a: Group, b: Group) -> Group:
    return {v: n for v in {*a, *b} if (n := a.get(v, 0) + b.get(v, 0)) > 0}
