"""The privacy models as their papers define them, over the rows of one class: no code of hushtable."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

__all__ = ["MERGING", "MODELS", "WHOLE", "Class"]

Row = Mapping[str, Any]
DUST = 1e-9
"""What a comparison of logarithms and roots may be off by; comparisons of fractions are exact but for it."""
GRAIN = Fraction(1, 10**9)


class Class:
    """The rows of a class, the value of each in the column that a model is about, and each one's share of a person."""

    def __init__(
        self, rows: Sequence[Row], values: list[Any], weights: list[Fraction], settings: Mapping[str, Any]
    ) -> None:
        self.rows, self.values, self.weights, self.settings = rows, values, weights, settings
        self.size = sum(weights, Fraction(0))
        self.people = math.floor(self.size)
        self.count: dict[Any, Fraction] = defaultdict(Fraction)
        for value, weight in zip(values, weights, strict=True):
            self.count[value] += weight
        self.descending = sorted(self.count.values(), reverse=True)
        self.table: Class = self
        self.population: list[Row] | None = None
        self.beliefs: list[Row] | None = None

    def share(self, value: Any) -> Fraction:
        return self.count.get(value, Fraction(0)) / self.size

    def most(self) -> Fraction:
        return self.descending[0] / self.size

    def different(self) -> int:
        """Different values; several of one person hide nobody."""
        return min(len(self.count), self.people)

    def place(self, value: Any) -> int:
        (found,) = (i for i, members in enumerate(self.settings["categories"].values()) if value in members)
        return found

    def categories(self) -> dict[int, Fraction]:
        found: dict[int, Fraction] = defaultdict(Fraction)
        for value, amount in self.count.items():
            found[self.place(value)] += amount
        return found

    def weight(self) -> Fraction:
        last = len(self.settings["categories"]) - 1
        return sum(
            (amount * (Fraction(self.place(v), last) if last else 1) for v, amount in self.count.items()), Fraction(0)
        )

    def effective(self) -> float:
        shares = [float(self.share(v)) for v in self.count]
        return min(math.exp(-sum(s * math.log(s) for s in shares)), self.people)

    def diversity(self) -> Fraction:
        return min(1 / self.most(), Fraction(self.people))


def _exact(number: Any) -> Fraction:
    return Fraction(str(number))


def _recursive(c: Class, factor: Any, l: int) -> bool:
    enough = len(c.count) >= l and c.people >= l
    return enough and c.descending[0] < _exact(factor) * sum(c.descending[l - 1 :])


def _moved(c: Class, shares: Mapping[Any, Fraction], usual: Mapping[Any, Fraction]) -> Fraction:
    """Half the sum of differences between two distributions."""
    return (
        sum((abs(shares.get(v, Fraction(0)) - usual.get(v, Fraction(0))) for v in {*shares, *usual}), Fraction(0)) / 2
    )


def _shares(c: Class, name: Callable[[Any], Any] = lambda v: v) -> dict[Any, Fraction]:
    found: dict[Any, Fraction] = defaultdict(Fraction)
    for value in c.count:
        found[name(value)] += c.share(value)
    return found


def _carried(shares: Sequence[Fraction], usual: Sequence[Fraction]) -> Fraction:
    """What is carried between neighbors, from the first to the last, where these are 1 apart."""
    if len(usual) < 2:
        return Fraction(0)
    carried = moved = Fraction(0)
    for mine, theirs in zip(shares, usual, strict=True):
        carried += mine - theirs
        moved += abs(carried)
    return moved / (len(usual) - 1)


def _paths(tree: Any, path: tuple[str, ...] = ()) -> dict[Any, tuple[str, ...]]:
    if not isinstance(tree, Mapping):
        return dict.fromkeys(tree, path)
    return {leaf: p for name, below in tree.items() for leaf, p in _paths(below, (*path, name)).items()}


def _close(c: Class, p: Row) -> bool:
    return _distance(c, p.get("distance", "equal")) <= _exact(p["t"]) + GRAIN


def _distance(c: Class, how: str) -> Fraction:
    if how == "equal":
        return _moved(c, _shares(c), _shares(c.table))
    if how == "ordered":
        values = sorted(c.table.count, key=lambda v: (v is not None, v or 0))
        return _carried([c.share(v) for v in values], [c.table.share(v) for v in values])
    if how == "weights":
        places = range(len(c.settings["categories"]))
        mine, theirs = _shares(c, c.place), _shares(c.table, c.place)
        return _carried([mine.get(i, Fraction(0)) for i in places], [theirs.get(i, Fraction(0)) for i in places])
    # two values are as far apart as the lowest node above both is high: a share moves once per level it leaves
    paths = _paths(c.settings["hierarchy"]["tree"])
    height = 1 + max(map(len, paths.values()))
    total = Fraction(0)
    for depth in range(1, height + 1):

        def node(value: Any, depth: int = depth) -> Any:
            # short branches end in their leaf, which stands for itself on the levels below; a missing one is alone
            path = (*paths.get(value, ()), ("leaf", value))
            return path[:depth] if len(path) >= depth else (*path, *[("leaf", value)] * (depth - len(path)))

        total += _moved(c, _shares(c, node), _shares(c.table, node))
    return total / height


def _likeness(c: Class, p: Row) -> bool:
    for v in c.count:
        usual, share = c.table.share(v), c.share(v)
        bound = float(p["beta"])
        if p.get("variant") == "enhanced" and usual < 1:
            bound = min(bound, -math.log(usual))
        if share > usual and float((share - usual) / usual) > bound + DUST:
            return False
    return True


def _similar(c: Class, p: Row) -> bool:
    eps = _exact(p["eps"])
    for x in c.count:
        if x is None:
            like = c.count[None]
        else:
            reach = eps * abs(x) if p.get("relative") else eps
            like = sum((a for y, a in c.count.items() if y is not None and abs(y - x) <= reach), Fraction(0))
        if like / c.size > 1 / _exact(p["m"]) + GRAIN:
            return False
    return bool(c.people >= p["m"])


def _l_alpha(c: Class, p: Row) -> bool:
    diverse: dict[str, Callable[[], bool]] = {
        "probabilistic": lambda: c.diversity() >= _exact(p["l"]) - GRAIN,
        "distinct": lambda: c.different() >= _exact(p["l"]),
        "entropy": lambda: c.effective() >= float(p["l"]) - DUST,
    }
    return diverse[p.get("diversity", "probabilistic")]() and c.weight() >= _exact(p["alpha"]) - GRAIN


def _alpha_k(c: Class, p: Row) -> bool:
    bounded = [c.share(v) for v in c.count if not p.get("only") or v in p["only"]]
    return c.size >= p["k"] and max(bounded, default=Fraction(0)) <= _exact(p["alpha"]) + GRAIN


def _disclosure(c: Class, p: Row) -> bool:
    return all(
        v in c.count and abs(math.log(c.share(v) / c.table.share(v))) < float(p["delta"]) + DUST for v in c.table.count
    )


def _bayes(c: Class, p: Row) -> bool:
    if not p.get("background") or not c.beliefs:
        # nobody of the class is known to the adversary beyond the table's shares
        return all(abs(c.share(v) - c.table.share(v)) < _exact(p["theta"]) for v in c.table.count)
    names = [name for name in c.beliefs[0] if name not in ("disease", "probability")]
    about: dict[str, dict[Any, float]] = defaultdict(lambda: defaultdict(float))
    for row in c.beliefs:
        about[repr([row[n] for n in names])][row["disease"]] += row["probability"]
    whole = sum(sum(mass.values()) for mass in about.values())
    of_class: dict[Any, float] = defaultdict(float)
    for mass in about.values():
        for value, amount in mass.items():
            of_class[value] += amount / whole
    return all(_learned(c, mass, of_class) < float(p["theta"]) + DUST for mass in about.values())


def _learned(c: Class, mass: Mapping[Any, float], of_class: Mapping[Any, float]) -> float:
    """The greatest change of belief about one person."""
    total = sum(mass.values())
    prior = {v: mass.get(v, 0.0) / total for v in {*of_class, *c.count}}
    odds = {v: float(c.count[v]) * (prior[v] / of_class[v] if of_class.get(v) else 1.0) for v in list(c.count)}
    sums = sum(odds.values())
    if not sums:
        return 1.0
    return max(abs(prior[v] - odds.get(v, 0.0) / sums) for v in prior if mass.get(v) or not of_class.get(v))


def _guarded(c: Class, p: Row) -> bool:
    paths = _paths(c.settings["hierarchy"]["tree"])

    def under(value: Any, node: str) -> bool:
        return node in ("*", value) or node in paths.get(value, ())

    for node in {row[p["guard"]] for row in c.rows} - {None, ""}:
        inside = sum((a for v, a in c.count.items() if under(v, node)), Fraction(0))
        if inside / c.size > _exact(p["breach"]) + GRAIN:
            return False
    return True


def _credible_share(m: int, k: int) -> float:
    """The greatest share of a value such that a block of k or more with a greater one makes it no likelier than 1/m."""

    def credible(block: int, share: float) -> float:
        above = range(math.floor(share * block) + 1, block + 1)
        chance = [math.comb(block, x) * share**x * (1 - share) ** (block - x) for x in above]
        return sum(x * y for x, y in zip(above, chance, strict=True)) / sum(chance) / block

    low, high = 0.0, 1 / m
    for _ in range(40):
        middle = (low + high) / 2
        if all(credible(block, middle) <= 1 / m for block in range(k, 60)):
            low = middle
        else:
            high = middle
    return low


def _presence(c: Class, p: Row) -> bool:
    if c.population is None:
        return True
    if not c.population:
        return False
    share = c.size / len(c.population)
    return _exact(p["low"]) - GRAIN <= share <= _exact(p["high"]) + GRAIN


MODELS: dict[str, Callable[[Class, Row], bool]] = {
    "k-anonymity": lambda c, p: c.size >= p["k"],
    "p-sensitive": lambda c, p: c.different() >= p["p"],
    "distinct-l": lambda c, p: c.different() >= p["l"],
    "p-plus-sensitive": lambda c, p: min(len(c.categories()), c.people) >= p["p"],
    "p-alpha-sensitive": lambda c, p: c.different() >= p["p"] and c.weight() >= _exact(p["alpha"]) - GRAIN,
    "probabilistic-l": lambda c, p: c.diversity() >= _exact(p["l"]) - GRAIN,
    "entropy-l": lambda c, p: c.effective() >= float(p["l"]) - DUST,
    "recursive-cl": lambda c, p: _recursive(c, p["c"], p["l"]),
    "negation-recursive-cl": lambda c, p: _recursive(c, p["c"], p["l"] + p["n"]),
    "l-alpha": _l_alpha,
    "alpha-k": _alpha_k,
    "alpha-beta-k": lambda c, p: (
        c.size >= p["k"]
        and c.different() >= p["beta"]
        and c.size - 2 * max(c.categories().values()) >= _exact(p["alpha"]) - GRAIN
    ),
    "a-d": lambda c, p: (
        min(len(c.categories()), c.people) >= p["d"] and max(c.categories().values()) / c.size <= _exact(p["a"]) + GRAIN
    ),
    "eps-m": _similar,
    "t-closeness": _close,
    "beta-likeness": _likeness,
    "delta-disclosure": _disclosure,
    "bayes-optimal": _bayes,
    # the limit itself is too much: there a block of four needs two of a value to be refused, not one
    "m-confidentiality": lambda c, p: c.size >= p["k"] and float(c.most()) <= _credible_share(p["m"], p["k"]),
    "value-bounds": lambda c, p: all(c.share(v) <= _exact(b) + GRAIN for v, b in p["bounds"].items()),
    "m-invariance": lambda c, p: c.different() >= p["m"] and c.descending[0] <= 1,
    "guarding-nodes": _guarded,
    "k-map": lambda c, p: c.population is None or len(c.population) >= p["k"],
    "delta-presence": _presence,
}
"""Whether a class keeps what a model promises."""


def _average_risk(classes: list[Class], p: Row) -> bool:
    average = len(classes) / sum((c.size for c in classes), Fraction(0))
    highest = 1 / min(c.size for c in classes)
    return all(
        p.get(name) is None or risk <= _exact(p[name]) + GRAIN
        for name, risk in (("average", average), ("maximum", highest))
    )


def _leakage(classes: list[Class], p: Row) -> bool:
    for value in {*p.get("alp", {}), *p.get("dif", {})}:
        shares = [(c.count.get(value, Fraction(0)), c.size) for c in classes]
        have = sum((y for y, _ in shares), Fraction(0))
        if not have:
            continue
        average = sum((y * y / x for y, x in shares), Fraction(0)) / have
        if average > _exact(p["alp"].get(value, 1)) + GRAIN:
            return False
        limit = p.get("dif", {}).get(value)
        if limit is not None and any(y / x - average > _exact(limit) + GRAIN for y, x in shares):
            return False
    return True


WHOLE: dict[str, Callable[[list[Class], Row], bool]] = {"average-risk": _average_risk, "alp-dif": _leakage}
"""Whether a table, all its classes together, keeps what a model promises."""

MERGING = {
    *("k-anonymity", "p-sensitive", "distinct-l", "p-plus-sensitive", "p-alpha-sensitive", "probabilistic-l"),
    *("entropy-l", "recursive-cl", "negation-recursive-cl", "l-alpha", "alpha-k", "alpha-beta-k", "a-d"),
    *("t-closeness", "beta-likeness", "delta-disclosure", "bayes-optimal", "value-bounds", "average-risk", "k-map"),
    *("delta-presence", "m-confidentiality"),
}
"""Models that hold for two classes together where they hold for each."""
