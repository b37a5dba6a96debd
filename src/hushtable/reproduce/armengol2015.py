"""Armengol and Torra 2015: how good trees are that learn from patterns, and how many records the patterns discard.

Data: Adult's training part (32,561 records, the paper's DB), eight quasi-identifiers with the age in steps of five
years (below 20 and from 90 on in one step each), unknown values as a value of their own, salary as the confidential
attribute: one set for each of its two values to begin with.

Readings. *long* = 2 is "at most two indifferent values"; as a minimum length of 2, the other reading, it is shown
beside it. The trees are not the paper's J48 but scikit-learn's, with information gain, at least two records a leaf
and cost-complexity pruning that gives the original records the published accuracy; an indifferent attribute counts as
the shares of its values. Whether the paper's trees weigh a pattern by its records is not said: both are shown. Some
published accuracies lie below that of always guessing the more frequent class, which is shown too. Published numbers
of patterns are not expected to match: for (>,<) they exceed what groups of K records without overlap could be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from hushtable import rng
from hushtable.algorithms.pattern.common import INDIFFERENT, Condition
from hushtable.algorithms.pattern.search import Records, find_patterns
from hushtable.arrays import FloatArray, IntArray
from hushtable.datasets import load_adult
from hushtable.kernels.grouping import group_rows
from hushtable.reproduce.papers import Row, row

__all__ = ["SIZES", "TABLE_1", "TABLE_2", "Learned", "learn_patterns", "rows"]

SIZES = (5, 10, 20, 30)
"""The paper's K."""

COMBINATIONS: dict[str, tuple[Condition, ...]] = {"(<,>)": ("<", ">"), "(>,<)": (">", "<")}

TABLE_1 = {
    ("DB", "S1"): (83.32, 83.32, 83.32, 83.32),
    ("(<,>)", "S1"): (73.19, 72.51, 80.38, 80.58),
    ("(>,<)", "S1"): (81.28, 81.51, 82.05, 72.18),
    ("DB", "uci"): (83.12, 83.12, 83.12, 83.12),
    ("(<,>)", "uci"): (73.23, 72.38, 80.34, 80.82),
    ("(>,<)", "uci"): (81.01, 81.75, 81.82, 72.18),
    ("DB", "DB"): (83.42, 83.42, 83.42, 83.42),
    ("(<,>)", "DB"): (73.01, 72.12, 80.27, 80.71),
    ("(>,<)", "DB"): (81.42, 81.66, 81.72, 71.73),
}
"""Published accuracy in percent: (model, test set) -> one for each of ``SIZES``."""

TABLE_2 = {
    "(<,>)": ((2779, 3299), (1542, 5231), (821, 7681), (570, 9671)),
    "(>,<)": ((10453, 2578), (4956, 5042), (2307, 7396), (1343, 9613)),
}
"""Published patterns and discarded records: combination -> one pair for each of ``SIZES``."""

_QUASI = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")
_CLASS = "salary-class"
_S1 = 11486
_PRUNING = 2e-4


@dataclass(frozen=True)
class Learned:
    """The patterns of one run, as the paper counts them: a record may match several.

    Attributes
    ----------
    values : (patterns, attributes) int64 array
        Codes, or ``INDIFFERENT``.
    classes, counts : int64 arrays
        The class of each pattern, and its records.
    rest : int
        Records that match none.
    """

    values: IntArray
    classes: IntArray
    counts: IntArray
    rest: int


def learn_patterns(
    columns: Sequence[IntArray], classes: IntArray, *, k: int, conditions: Sequence[Condition], length: int
) -> Learned:
    """Run the paper's ANONYMIZE: one set per class, every condition until it finds nothing more.

    Examples
    --------
    >>> found = learn_patterns([np.array([0, 0, 0, 1])], np.array([0, 0, 1, 0]), k=2, conditions="<>", length=1)
    >>> found.values.tolist(), found.counts.tolist(), found.rest
    ([[0]], [2], 2)
    """
    records = Records(columns, [int(c.max()) + 1 for c in columns], [False] * len(columns))
    left = np.ones(len(classes), dtype=np.bool_)
    values, owners, counts = [], [], []
    for condition in conditions:
        while left.any():
            labels = np.where(left, classes, -1)
            start, offsets = group_rows(labels, int(classes.max()) + 1)
            filled = np.diff(offsets) > 0
            found = find_patterns(
                records, start, np.append(offsets[:-1][filled], offsets[-1]), condition=condition, length=length,
                judge=lambda _, at: (np.diff(at) >= k, np.diff(at) > k),
            )  # fmt: skip
            if not len(found):
                break
            values.append(found.values)
            owners.append(classes[found.rows[found.offsets[:-1]]])
            counts.append(np.diff(found.offsets))
            left[found.rows] = False
    if not values:
        nothing = np.empty(0, dtype=np.int64)
        return Learned(np.empty((0, len(columns)), dtype=np.int64), nothing, nothing, int(left.sum()))
    return Learned(np.concatenate(values), np.concatenate(owners), np.concatenate(counts), int(left.sum()))


@dataclass(frozen=True)
class _Coded:
    """Both parts of Adult as codes of common domains."""

    train: tuple[IntArray, ...]
    test: tuple[IntArray, ...]
    sizes: tuple[int, ...]
    train_class: IntArray
    test_class: IntArray


def _steps(table: pa.Table, name: str) -> pa.Array:
    column = table.column(name).combine_chunks()
    if name == "age":
        age = column.to_numpy()
        column = pa.array(np.where(age < 20, 0, np.where(age >= 90, 90, age // 5 * 5)).astype(str))
    return column


def _load() -> _Coded:
    train, test = load_adult("train"), load_adult("test")
    coded: list[tuple[IntArray, IntArray, int]] = []
    for name in (*_QUASI, _CLASS):
        both = pa.concat_arrays([_steps(train, name), _steps(test, name)])
        known = sorted({v for v in both.to_pylist() if v is not None})
        place = {None: len(known), **{value: code for code, value in enumerate(known)}}
        codes = np.array([place[v] for v in both.to_pylist()], dtype=np.int64)
        coded.append((codes[: train.num_rows], codes[train.num_rows :], len(place)))
    *quasi, salary = coded
    return _Coded(
        tuple(c[0] for c in quasi), tuple(c[1] for c in quasi), tuple(c[2] for c in quasi), salary[0], salary[1]
    )


def _features(columns: Sequence[IntArray], data: _Coded) -> FloatArray:
    """One feature per value; an indifferent attribute has the shares that its values have in DB."""
    parts = []
    for codes, train, size in zip(columns, data.train, data.sizes, strict=True):
        shares = np.bincount(train, minlength=size) / len(train)
        parts.append(np.vstack([np.eye(size), shares])[np.where(codes == INDIFFERENT, size, codes)])
    return np.column_stack(parts).astype(np.float32)


def _tree(features: FloatArray, classes: IntArray, weights: IntArray | None, seed: int) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, ccp_alpha=_PRUNING, random_state=seed)
    return tree.fit(features, classes, sample_weight=weights)


def rows(seed: int = 0, quick: bool = False) -> Iterator[Row]:
    """Yield {experiment, setting, published, ours} for Tables 1 and 2.

    Parameters
    ----------
    seed : int
        Of the sample S1 and of the trees.
    quick : bool
        Only the largest of the paper's K.
    """
    data = _load()
    sizes = SIZES[-1:] if quick else SIZES
    learned = {
        (name, k, length): learn_patterns(data.train, data.train_class, k=k, conditions=conditions, length=length)
        for name, conditions in COMBINATIONS.items()
        for k in sizes
        for length in (len(_QUASI) - 2, 2)
    }
    yield from _table_1(data, learned, seed, sizes)
    yield from _table_2(learned, sizes)


def _table_1(
    data: _Coded, learned: dict[tuple[str, int, int], Learned], seed: int, sizes: Sequence[int]
) -> Iterator[Row]:
    original, later = _features(data.train, data), _features(data.test, data)
    drawn = np.sort(np.argsort(rng.uniform(seed, "armengol2015/S1", len(original)), kind="stable")[:_S1])
    tests = {
        "S1": (original[drawn], data.train_class[drawn]),
        "uci": (later, data.test_class),
        "DB": (original, data.train_class),
    }
    for test, (_, classes) in tests.items():
        share = float(np.bincount(classes).max()) / len(classes)
        yield _percent(f"always the more frequent class; test {test}", None, share)
    whole = _tree(original, data.train_class, None, seed)
    for test, (features, classes) in tests.items():
        score = whole.score(features, classes)
        yield _percent(f"tree of the originals; test {test}", TABLE_1["DB", test][0], score)
    for name in COMBINATIONS:
        for k in sizes:
            found = learned[name, k, len(_QUASI) - 2]
            features = _features(list(found.values.T), data)
            for how, weights in (("", None), (", weighted by records", found.counts)):
                tree = _tree(features, found.classes, weights, seed)
                for test, (unseen, classes) in tests.items():
                    setting = f"{name} K={k}: tree of one row per pattern{how}; test {test}"
                    yield _percent(setting, TABLE_1[name, test][SIZES.index(k)], tree.score(unseen, classes))


def _table_2(learned: dict[tuple[str, int, int], Learned], sizes: Sequence[int]) -> Iterator[Row]:
    readings = {len(_QUASI) - 2: "at most two indifferent", 2: "other reading: at least two fixed"}
    for length, reading in readings.items():
        for name in COMBINATIONS:
            for k in sizes:
                patterns, rest = TABLE_2[name][SIZES.index(k)]
                found = learned[name, k, length]
                yield row("Table 2, discarded records", f"{name} K={k}; {reading}", rest, found.rest)
                yield row("Table 2, patterns", f"{name} K={k}; {reading}", patterns, len(found.values))


def _percent(setting: str, published: float | None, share: float) -> Row:
    return row("Table 1, accuracy %", setting, published, round(100 * float(share), 2))
