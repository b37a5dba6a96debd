"""A checker that knows only the definitions: rows as dictionaries, exact fractions, no code of hushtable.

Deliberately slow and obvious. ``complaints`` takes what was published and what it was made of, and returns a sentence
for every promise that does not hold.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

__all__ = ["complaints"]

Row = Mapping[str, Any]
DUST = 1e-9
"""What a comparison of logarithms and roots may be off by; comparisons of fractions are exact."""


def complaints(
    published: Sequence[Row], source: Sequence[Row], policy: Mapping[str, Any], shown: Sequence[str]
) -> list[str]:
    """Return what is wrong with a release; ``shown`` are the columns that make up a class."""
    found = []
    columns = policy["columns"]
    for name, column in columns.items():
        if column["role"] == "identifier" and published and name in published[0]:
            found.append("an identifier was published")
    allowed = math.floor(Fraction(str(policy.get("suppression", 0))) * len(source) + Fraction(1, 10**9))
    if len(source) - len(published) > allowed:
        found.append("more was suppressed than allowed")
    for name, column in columns.items():
        if column["role"] == "sensitive":
            extra = Counter(_plain(r[name]) for r in published) - Counter(_plain(r[name]) for r in source)
            if extra:
                found.append("a sensitive value was published that nobody has")
    classes: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in published:
        classes[tuple(_plain(row[name]) for name in shown)].append(row)
    for model in policy["models"]:
        ((name, parameters),) = model.items()
        on = parameters.get("on")
        if name in WHOLE:
            if not WHOLE[name](list(classes.values()), parameters):
                found.append(f"{name} does not hold")
            continue
        everyone = [_plain(r[on]) for r in source] if on else []
        categories = columns[on].get("categories", {}) if on else {}
        for rows in classes.values():
            values = [_plain(r[on]) for r in rows] if on else []
            if not MODELS[name](_Class(rows, values, everyone, categories), parameters):
                found.append(f"{name} does not hold in a class of {len(rows)}")
                break
    return found


class _Class:
    def __init__(
        self, rows: Sequence[Row], values: list[Any], everyone: list[Any], categories: Mapping[str, Sequence[Any]]
    ) -> None:
        self.n = len(rows)
        self.values = values
        self.count = Counter(values)
        self.descending = sorted(self.count.values(), reverse=True)
        self.everyone = Counter(everyone)
        self.category_of = {_plain(v): i for i, members in enumerate(categories.values()) for v in members}
        self.n_categories = len(categories)

    def share(self, value: Any) -> Fraction:
        return Fraction(self.count[value], self.n)

    def usual(self, value: Any) -> Fraction:
        return Fraction(self.everyone[value], sum(self.everyone.values()))

    def most(self) -> Fraction:
        return max(self.share(v) for v in self.count)

    def categories(self) -> Counter[int]:
        return Counter(self.category_of[v] for v in self.values)

    def weight(self) -> Fraction:
        m = self.n_categories
        return sum((Fraction(self.category_of[v], m - 1) if m > 1 else Fraction(1) for v in self.values), Fraction(0))

    def effective(self) -> float:
        return math.exp(-sum(float(self.share(v)) * math.log(self.share(v)) for v in self.count))


def _plain(value: Any) -> Any:
    return None if value is None or (isinstance(value, float) and math.isnan(value)) else value


def _recursive(c: _Class, factor: Any, l: int) -> bool:
    return len(c.count) >= l and c.descending[0] < _exact(factor) * sum(c.descending[l - 1 :])


def _exact(number: Any) -> Fraction:
    return Fraction(str(number))


def _earth_mover(c: _Class, ordered: bool) -> Fraction:
    values = list(c.everyone)
    if not ordered:
        return sum((abs(c.share(v) - c.usual(v)) for v in values), Fraction(0)) / 2
    values.sort(key=lambda v: (v is not None, v))
    if len(values) == 1:
        return Fraction(0)
    carried = moved = Fraction(0)
    for v in values:
        carried += c.share(v) - c.usual(v)
        moved += abs(carried)
    return moved / (len(values) - 1)


def _likeness(c: _Class, p: Row) -> bool:
    for v in c.count:
        usual, share = c.usual(v), c.share(v)
        bound = float(p["beta"])
        if p.get("variant") == "enhanced":
            bound = min(bound, -math.log(usual))
        if share > usual and float((share - usual) / usual) > bound + DUST:
            return False
    return True


def _similar(c: _Class, p: Row) -> bool:
    eps = _exact(p["eps"])
    for x in c.count:
        if x is None:
            like = c.count[None]
        else:
            x_exact = _exact(x)
            reach = eps * abs(x_exact) if p.get("relative") else eps
            like = sum(1 for y in c.values if y is not None and abs(_exact(y) - x_exact) <= reach)
        if Fraction(like, c.n) > 1 / _exact(p["m"]):
            return False
    return True


def _l_alpha(c: _Class, p: Row) -> bool:
    diverse = {
        "probabilistic": lambda: c.most() <= 1 / _exact(p["l"]),
        "distinct": lambda: len(c.count) >= _exact(p["l"]),
        "entropy": lambda: c.effective() >= float(p["l"]) - DUST,
    }[p.get("diversity", "probabilistic")]
    return diverse() and c.weight() >= _exact(p["alpha"])


MODELS: dict[str, Callable[[_Class, Row], bool]] = {
    "k-anonymity": lambda c, p: c.n >= p["k"],
    "p-sensitive": lambda c, p: len(c.count) >= p["p"],
    "distinct-l": lambda c, p: len(c.count) >= p["l"],
    "p-plus-sensitive": lambda c, p: len(c.categories()) >= p["p"],
    "p-alpha-sensitive": lambda c, p: len(c.count) >= p["p"] and c.weight() >= _exact(p["alpha"]),
    "probabilistic-l": lambda c, p: c.most() <= 1 / _exact(p["l"]),
    "entropy-l": lambda c, p: c.effective() >= float(p["l"]) - DUST,
    "recursive-cl": lambda c, p: _recursive(c, p["c"], p["l"]),
    "negation-recursive-cl": lambda c, p: _recursive(c, p["c"], p["l"] + p["n"]),
    "l-alpha": _l_alpha,
    "alpha-k": lambda c, p: c.n >= p["k"] and c.most() <= _exact(p["alpha"]),
    "alpha-beta-k": lambda c, p: (
        c.n >= p["k"]
        and len(c.count) >= p["beta"]
        and c.n - 2 * max(c.categories().values()) >= _exact(p["alpha"])
    ),
    "a-d": lambda c, p: (
        len(c.categories()) >= p["d"] and Fraction(max(c.categories().values()), c.n) <= _exact(p["a"])
    ),
    "eps-m": _similar,
    "t-closeness": lambda c, p: _earth_mover(c, p.get("distance") == "ordered") <= _exact(p["t"]),
    "beta-likeness": _likeness,
    "delta-disclosure": lambda c, p: all(
        c.count[v] > 0 and abs(math.log(c.share(v) / c.usual(v))) < float(p["delta"]) + DUST for v in c.everyone
    ),
    "bayes-optimal": lambda c, p: all(abs(c.share(v) - c.usual(v)) < _exact(p["theta"]) for v in c.everyone),
    "m-confidentiality": lambda c, p: max(c.count.values()) <= Fraction(min(p["k"], c.n)) / _exact(p["m"]),
    "value-bounds": lambda c, p: all(c.share(v) <= _exact(b) for v, b in p["bounds"].items()),
    "m-invariance": lambda c, p: c.n >= p["m"] and max(c.count.values()) == 1,
}


def _average_risk(classes: list[list[Row]], p: Row) -> bool:
    sizes = [len(rows) for rows in classes]
    average, highest = Fraction(len(sizes), sum(sizes)), Fraction(1, min(sizes))
    return all(
        p.get(name) is None or risk <= _exact(p[name]) for name, risk in (("average", average), ("maximum", highest))
    )


def _leakage(classes: list[list[Row]], p: Row) -> bool:
    for value, bound in p["alp"].items():
        shares = [(Fraction(sum(1 for r in rows if r[p["on"]] == value)), len(rows)) for rows in classes]
        have = sum(y for y, _ in shares)
        if not have:
            continue
        average = sum(y * y / x for y, x in shares) / have
        if average > _exact(bound):
            return False
        limit = p.get("dif", {}).get(value)
        if limit is not None and any(y / x - average > _exact(limit) for y, x in shares):
            return False
    return True


WHOLE: dict[str, Callable[[list[list[Row]], Row], bool]] = {"average-risk": _average_risk, "alp-dif": _leakage}
