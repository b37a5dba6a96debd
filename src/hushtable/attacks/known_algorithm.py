"""Known algorithm: an adversary with the code replays it, and keeps the worlds that give the same release.

The adversary has the public files, the policy, everybody's quasi-identifiers and the code: everything but the local
secret. Whether a world (an assignment of the values of each class to its people) could be true can therefore be tested:
the algorithm and the guards are run on it, and it remains if they make the same classes. The coins are part of the
world: some are tossed again at every other step, and the lot that a record has drawn usually moves with its value.
Worlds are explored as a random walk: some people exchange values within their classes, or all classes with the same
values do so in the same way. A step to a world that gives a different release is not taken. All worlds that remain are
equally likely, so the share of a value in a person's worlds is the belief in it.

If no model depends on sensitive values, the classes cannot depend on them, and nothing has to be replayed: the belief
is the class's share. In large releases, only some people are attacked, in as many worlds as time allows (``worlds``).
A walk through few worlds stays near the truth, where it starts, so its rate is too high rather than too low. The attack
uses one release, considers all worlds equally likely, and does not know how frequent values are.

Baseline: the promise itself. It is the largest share of a class that the models would allow a value; if they set no
limit, it is the value's published share.

References
----------
R. C.-W. Wong, A. W.-C. Fu, K. Wang, J. Pei, "Minimality attack in privacy preserving data publishing", 2007;
X. Xiao, Y. Tao, N. Koudas, "Transparent anonymization: thwarting adversaries who know the algorithm", 2010.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Annotated, ClassVar

import numpy as np
import numpy.typing as npt

from hushtable import rng
from hushtable.algorithms.base import Recoding
from hushtable.arrays import FloatArray, IntArray
from hushtable.attacks.base import AttackResult, SensitiveAttack
from hushtable.attacks.minimality import modes
from hushtable.attacks.view import View
from hushtable.errors import HushtableError, UsageError
from hushtable.kernels.grouping import group_rows
from hushtable.models.base import SensitiveModel, Stat
from hushtable.models.compose import AllOf
from hushtable.params import AtLeast
from hushtable.release.settle import group_and_recode, settle
from hushtable.table.coded_columns import SensitiveColumn
from hushtable.table.coins import Coins
from hushtable.table.encoded import EncodedTable
from hushtable.table.stats import GroupStats, Histogram, Key

_WORK = 2_000_000
"""Total number of replayed records if the number of worlds is not given."""

_FEWEST = 24
_MOST = 240


@dataclass(frozen=True)
class KnownAlgorithm(SensitiveAttack):
    """Replays the algorithm on other worlds, and learns from those that give the same release.

    Parameters
    ----------
    worlds : int, optional
        Number of worlds to try. Defaults to 24 to 240, fewer for larger tables.
    on : str, optional
        The sensitive column.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> table = pa.table({"age": list(range(20, 60)), "disease": ["flu", "gout", "HIV", "cold"] * 10})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.DistinctL(l=2)], algorithm="anatomy")
    >>> result = ht.anonymize(table, policy).attack("known-algorithm")
    >>> result.interval[0] <= result.baseline
    True
    """

    worlds: Annotated[int | None, AtLeast(4), "number of worlds to try; by default fewer for larger tables"] = None

    name: ClassVar[str] = "known-algorithm"
    knowledge: ClassVar[str] = (
        "The adversary knows the code, the policy, all public files and everybody's quasi-identifiers and class, but "
        "not the local secret."
    )
    remedy: ClassVar[str] = (
        "Choose an algorithm that only checks sensitive values or chooses by secret coins (see 'hushtable "
        "algorithms'), or write 'guard: [minimality]' in the policy, which forms groups without using sensitive values."
    )

    def run(self, view: View) -> AttackResult:
        """Walk through the worlds, and score the best guesses."""
        if view.algorithm.recoding is Recoding.CONCEALED:
            raise UsageError(
                f"The {self.name} attack exchanges values within classes, and {view.algorithm.name} makes no classes.",
                code="no-classes",
                hint="That algorithm draws with secret coins which of k records belongs to whom, each with the same "
                "chance.",
            )
        column = self.column(view)
        histogram = view.histogram(column)
        value, group = view.truth(column), view.labels[view.released]
        promise = _promised(view.model, histogram, column, view)
        guess = modes(histogram)[group]
        guessed: IntArray = np.arange(len(value))
        tried = kept = 0
        if view.model.histogram_keys():
            walk, draw = _Walk(view), _Draw(view.seed)
            tried = self.worlds or int(np.clip(_WORK // max(len(value), 1), _FEWEST, _MOST))
            people = np.concatenate([slots[slots >= 0] for slots in walk.slots])
            rows = people[np.sort(draw.shuffled(len(people))[: max(1, tried // 8)])]
            fates, kept = _fates(walk, view, column, rows, tried, draw)
            guessed = np.searchsorted(view.released, rows)
            guess[guessed] = _believed(fates, guess[guessed])
        openly = float((histogram.max(histogram.units) / np.maximum(histogram.totals(), 1))[group[guessed]].mean())
        counts = {
            **view.base_counts(),
            "worlds tried": tried,
            "worlds that give the same release": kept,
            "right by the published shares alone, expected": openly,
        }
        return self.result(
            len(guessed),
            int(np.count_nonzero(guess[guessed] == value[guessed])),
            float(promise[group[guessed]].mean()),
            counts,
        )


def _promised(model: AllOf, histogram: Histogram, column: SensitiveColumn, view: View) -> FloatArray:
    """Return the share that the models would allow the most frequent value of each class; without a limit, its share.

    The other records of the class are spread evenly over the other values, or as in the whole table.
    """
    key: Key = (column.name,)
    plain = {Stat.SIZE, Stat.HISTOGRAM}
    asked = [
        m
        for m in model.members
        if isinstance(m, SensitiveModel) and m.key == key and m.stats_needed() <= plain and not m.table_level
    ]
    size, own = (x.astype(np.int64) for x in (histogram.totals(), histogram.max(histogram.units)))
    share = own / np.maximum(size, 1)
    if not asked or not len(size):
        return np.asarray(share)
    reference = view.table.reference([key])
    mode = modes(histogram)
    whole = reference.attribute(key).units.astype(np.float64)
    most = own.copy()
    for spread in (np.ones(len(whole)), whole):
        low, high = own.copy(), size.copy()
        while np.any(low < high):
            middle = (low + high + 1) // 2
            stats = _classes(mode, middle, size, spread, key)
            holds = np.all([m.satisfied(stats, reference) for m in asked], axis=0)
            low, high = np.where(holds, middle, low), np.where(holds, high, middle - 1)
        most = np.maximum(most, low)
    promised = most / np.maximum(size, 1)
    return np.asarray(np.where(most < size, promised, share))


def _classes(mode: IntArray, most: IntArray, size: IntArray, spread: FloatArray, key: Key) -> GroupStats:
    """Return classes of these sizes with these counts of one value; the others are spread over the other values."""
    weights = np.tile(spread, (len(mode), 1))
    weights[np.arange(len(mode)), mode] = 0.0
    total = weights.sum(axis=1, keepdims=True)
    ideal = weights / np.where(total > 0, total, 1.0) * (size - most)[:, None]
    counts = np.floor(ideal).astype(np.int64)
    # what rounding left goes to the largest remainders
    lack = size - most - counts.sum(axis=1)
    order = np.argsort(-(ideal - counts), axis=1, kind="stable")
    turn = np.argsort(order, axis=1, kind="stable")
    counts += (turn < lack[:, None]) & (weights > 0)
    counts[np.arange(len(mode)), mode] = size - counts.sum(axis=1) + counts[np.arange(len(mode)), mode]
    group, value = np.nonzero(counts)
    histogram = Histogram.from_pairs(group, value, counts[group, value], len(mode))
    return GroupStats(size.astype(np.int64), histograms={key: histogram})


class _Replayed(Coins):
    """Coins of a world: the original ones, until they are tossed again."""

    def __init__(self, real: Coins, store: _Store, path: str = "") -> None:
        super().__init__(real.key)
        object.__setattr__(self, "_given", (real, store, path))

    _given: tuple[Coins, _Store, str]

    def purse(self, purpose: str) -> Coins:
        """Return the world's coins for one purpose."""
        real, store, path = self._given
        return _Replayed(real.purse(purpose), store, f"{path}/{purpose}")

    def words(self, stream: str, n: int) -> npt.NDArray[np.uint64]:
        """Return the world's words."""
        real, store, path = self._given
        name = f"{path}/{stream}"
        known = store.words.get(name, np.empty(0, dtype=np.uint64))
        if len(known) < n:
            store.words[name] = known = np.concatenate([known, real.words(stream, n)[len(known) :]])
        return known[:n].copy()

    def lots(self, table: EncodedTable) -> npt.NDArray[np.uint64]:
        """Return the lot of every row in the world."""
        real, store, _ = self._given
        if store.lots is None:
            store.lots = real.lots(table)
        return store.lots


@dataclass
class _Store:
    """All coins of a world."""

    words: dict[str, npt.NDArray[np.uint64]] = field(default_factory=dict)
    lots: npt.NDArray[np.uint64] | None = None


@dataclass
class _World:
    """The adversary's unknowns: the sensitive values of every row and of the counterfeits, and the coins."""

    codes: dict[str, IntArray]
    fakes: dict[str, IntArray]
    store: _Store


class _Walk:
    """The worlds of a release, each a step from another."""

    def __init__(self, view: View) -> None:
        if view.problem is None:
            raise UsageError(
                "The known-algorithm attack needs the input of the algorithm, which is not available.",
                code="no-problem",
                hint="Run the attack where the release was made.",
            )
        self._view, self._problem, self._guards = view, view.problem, view.guards
        self._algorithm = view.algorithm
        self._from_groups = not view.guards and view.algorithm.recoding in (Recoding.GLOBAL, Recoding.LOCAL)
        fakes = view.counterfeits
        self.world = _World(
            {c.name: np.asarray(c.codes, dtype=np.int64).copy() for c in self._problem.table.sensitive},
            {} if fakes is None else {name: codes.copy() for name, codes in fakes.codes.items()},
            _Store(),
        )
        if not self.consistent(self.world):
            raise UsageError(
                "The algorithm does not reproduce this release, so it cannot be replayed.",
                code="not-reproduced",
                hint="A release that was stopped by a time limit or made by another version cannot be attacked this "
                "way.",
            )
        table = self._problem.table
        order = table.canonical_order
        order = order[(order < table.n_sample)]
        order = order[view.labels[order] >= 0]
        owner = np.concatenate([view.labels[order], [] if fakes is None else fakes.groups]).astype(np.int64)
        # slots: the class's people, then its counterfeits, which have numbers below 0
        slots = np.concatenate([order, [] if fakes is None else -1 - np.arange(len(fakes))]).astype(np.int64)
        by_class, offsets = group_rows(owner, view.n_groups)
        self.slots = [slots[by_class[a:b]] for a, b in pairwise(offsets.tolist())]

    def consistent(self, world: _World) -> bool:
        """Whether the algorithm gives the same release for a world."""
        problem = self._problem
        table = replace(
            problem.table,
            sensitive=tuple(
                replace(c, codes=world.codes[c.name].astype(c.codes.dtype)) for c in problem.table.sensitive
            ),
        )
        given = replace(problem, store=table, tossed=_Replayed(problem.coins, world.store), progress=_silent)
        if world.fakes:
            given = replace(given, reference=table.reference(problem.model.histogram_keys()))
        try:
            if self._from_groups:
                given = given.as_read_by(self._algorithm)
                partition = self._algorithm.run(given)
                if _same_classes(partition.labels[: table.n_sample].astype(np.int64), self._view.labels):
                    # values that stay in their class change neither its cells nor what the models say about it
                    return True
                recoded = settle(given.grouped, partition, self._algorithm.recoding)
            else:
                _, recoded = group_and_recode(given, self._algorithm, self._guards)
        except HushtableError:
            return False
        if recoded is None:
            return False
        labels = recoded.labels if recoded.buckets is None else recoded.buckets
        return _same_classes(np.asarray(labels[: table.n_sample], dtype=np.int64), self._view.labels)

    def stepped(self, moves: list[tuple[IntArray, IntArray]], draw: _Draw) -> _World:
        """Return a world in which some slots have the values of others, usually with their lots; some coins are new."""
        return _tossed(self.exchanged(moves, draw, carried=draw.chance() < 0.75), draw)

    def exchanged(self, moves: list[tuple[IntArray, IntArray]], draw: _Draw, *, carried: bool) -> _World:
        """Return a world in which some slots have the values of others; if ``carried``, with their lots."""
        now = self.world
        codes = {name: own.copy() for name, own in now.codes.items()}
        fakes = {name: own.copy() for name, own in now.fakes.items()}
        lots = None if now.store.lots is None else now.store.lots.copy()
        for to, source in moves:
            for name in codes:
                cells = now.codes[name][np.maximum(source, 0)]
                if (source < 0).any():
                    cells[source < 0] = now.fakes[name][-1 - source[source < 0]]
                codes[name][to[to >= 0]] = cells[to >= 0]
                if (to < 0).any():
                    fakes[name][-1 - to[to < 0]] = cells[to < 0]
            if carried and lots is not None and now.store.lots is not None:
                # a lot moves with its value, and those with a counterfeit's value draw a new one
                direct, anew = (to >= 0) & (source >= 0), (to >= 0) & (source < 0)
                lots[to[direct]] = now.store.lots[source[direct]]
                lots[to[anew]] = draw.words(int(anew.sum()))
        return _World(codes, fakes, _Store(dict(now.store.words), lots))

    def alike(self, group: int) -> list[tuple[IntArray, IntArray]] | None:
        """Return the classes with the same values as one whose values all differ, slots in the order of values."""
        wanted, order = self._content(group)
        if any(a == b for a, b in pairwise(wanted)):
            return None
        found = [(self.slots[group], order)]
        for other in range(len(self.slots)):
            if other != group and len(self.slots[other]) == len(order):
                held, places = self._content(other)
                if held == wanted:
                    found.append((self.slots[other], places))
        return [(slots[places], slots[places]) for slots, places in found]

    def _content(self, group: int) -> tuple[list[tuple[int, ...]], IntArray]:
        slots = self.slots[group]
        held = [
            tuple(int(self.world.codes[n][s] if s >= 0 else self.world.fakes[n][-1 - s]) for n in self.world.codes)
            for s in slots.tolist()
        ]
        order = sorted(range(len(held)), key=lambda i: held[i])
        return [held[i] for i in order], np.array(order, dtype=np.int64)


def _tossed(world: _World, draw: _Draw) -> _World:
    """Toss some coins of a world again, at every other step."""
    words, lots = world.store.words, world.store.lots
    if draw.chance() < 0.5:
        part = 2.0 ** -draw.below(12)
        for name, own in words.items():
            again = draw.uniform(len(own)) < part
            if again.any():
                words[name] = np.where(again, draw.words(len(own)), own)
        if lots is not None:
            lots = np.where(draw.uniform(len(lots)) < part, draw.words(len(lots)), lots)
    return replace(world, store=_Store(words, lots))


def exchanges(view: View, tries: int) -> tuple[int, int]:
    """Let pairs of people of one class exchange their values and lots, and count how often the release stays the same.

    If secret coins decide who gets which value, the other world was just as likely, so it has to give the same release.
    A belief about a single person does not show whether it does: if a public rule decides, exchanging two values
    everywhere often gives the same release, and only one person's value reveals those of the others.

    Parameters
    ----------
    view : View
    tries : int
        Number of pairs to draw.

    Returns
    -------
    tuple of int
        Number of exchanges, and number of those that give the same release.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> table = pa.table({"age": list(range(20, 60)), "disease": ["flu", "gout", "HIV", "cold"] * 10})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.DistinctL(l=2)], algorithm="anatomy")
    >>> exchanges(View.of(ht.anonymize(table, policy)), 8)
    (8, 8)
    """
    walk, draw = _Walk(view), _Draw(view.seed)
    held = np.stack(list(walk.world.codes.values()))
    pairs: list[IntArray] = []
    for slots in walk.slots:
        people = slots[slots >= 0]
        both = [np.array([a, b]) for i, a in enumerate(people) for b in people[:i]]
        pairs += [pair for pair in both if (held[:, pair[0]] != held[:, pair[1]]).any()]
    chosen = [pairs[at] for at in draw.shuffled(len(pairs))[:tries].tolist()]
    same = sum(walk.consistent(walk.exchanged([(pair, pair[::-1])], draw, carried=True)) for pair in chosen)
    return len(chosen), same


@dataclass
class _Draw:
    """Random numbers of the attack, which are reproducible."""

    seed: int
    turn: int = 0

    def words(self, n: int) -> npt.NDArray[np.uint64]:
        self.turn += 1
        return rng.bits(self.seed, f"attacks/known-algorithm/{self.turn}", n)

    def uniform(self, n: int) -> FloatArray:
        return (self.words(n) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def chance(self) -> float:
        return float(self.uniform(1)[0])

    def below(self, limit: int) -> int:
        return min(int(self.chance() * limit), limit - 1)

    def shuffled(self, n: int) -> IntArray:
        return np.argsort(self.words(n), kind="stable").astype(np.int64)


def _silent(share: float, what: str) -> None:
    pass


def _same_classes(one: IntArray, other: IntArray) -> bool:
    """Whether two labelings divide the records in the same way, and suppress the same ones."""
    if not np.array_equal(one < 0, other < 0):
        return False
    inside = one >= 0
    if not inside.any():
        return True
    pairs = np.unique(one[inside] * (int(other.max()) + 1) + other[inside])
    return len(pairs) == len(np.unique(one[inside])) == len(np.unique(other[inside]))


def _fates(
    walk: _Walk, view: View, column: SensitiveColumn, rows: IntArray, budget: int, draw: _Draw
) -> tuple[IntArray, int]:
    """Return how often each of these people has each value in the worlds of a walk, and the number of steps."""
    fates = np.zeros((len(rows), column.coded.size), dtype=np.int64)
    kept = 0
    for step in range(budget):
        made = walk.stepped(_moves(walk, view.labels[rows], rows, draw), draw)
        if walk.consistent(made):
            walk.world = made
            kept += 1
        # the walk begins at the truth, so its first third is not counted
        if 3 * step >= budget:
            fates[np.arange(len(rows)), walk.world.codes[column.name][rows]] += 1
    return fates, kept


def _believed(fates: IntArray, usual: IntArray) -> IntArray:
    """Return the most likely value of each person, or the class's most frequent one if the difference may be chance."""
    best, often = fates.max(axis=1), fates[np.arange(len(fates)), usual]
    likelier = best > often + 1.5 * np.sqrt(best + often)
    return np.where(likelier, fates.argmax(axis=1), usual)


def _moves(walk: _Walk, classes: IntArray, rows: IntArray, draw: _Draw) -> list[tuple[IntArray, IntArray]]:
    """Draw the next step: some people exchange values with others of their class, or all classes with the same values.

    Every step can be reversed with the same probability, which makes all worlds equally likely.
    """
    if draw.below(8) == 0:
        alike = walk.alike(int(classes[draw.below(len(classes))]))
        if alike is not None:
            turn = draw.shuffled(len(alike[0][0]))
            return [(to, source[turn]) for to, source in alike]
    some = draw.shuffled(len(rows))[: 2 ** draw.below(1 + len(rows).bit_length())]
    moves: list[tuple[IntArray, IntArray]] = []
    met: set[int] = set()
    for at in some.tolist():
        slots = walk.slots[int(classes[at])]
        pair = np.array([rows[at], slots[draw.below(len(slots))]])
        if pair[0] != pair[1] and met.isdisjoint(pair.tolist()):
            met.update(pair.tolist())
            moves.append((pair, pair[::-1]))
    return moves
