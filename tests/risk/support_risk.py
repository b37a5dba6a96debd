"""Small tables and slow, obvious twins: plain Python on lists of records."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import strategies as st

from hushtable.release.exposure import Exposure


@st.composite
def tables(draw, columns=(1, 4), rows=(1, 14), values=3):
    """Columns of small numbers, by name."""
    n = draw(st.integers(*rows))
    d = draw(st.integers(*columns))
    return {f"q{j}": draw(st.lists(st.integers(0, values - 1), min_size=n, max_size=n)) for j in range(d)}


def keys(table, names=None):
    """Each record as the tuple of its cells."""
    return list(zip(*(table[name] for name in (names or table)), strict=True))


def class_sizes(table, names=None):
    """For each record, how many records look like it."""
    found = Counter(keys(table, names))
    return [found[key] for key in keys(table, names)]


def exposed(sizes, **more):
    """A table with classes of these sizes."""
    rows = [number for number, size in enumerate(sizes) for _ in range(size)]
    return Exposure.of({"q": rows}, **more)


def pitman_labels(n, theta, alpha, seed):
    """The class of every person of Pitman's partition, person by person."""
    rng = np.random.default_rng(seed)
    sizes, label = [1], [0]
    for i in range(1, n):
        if rng.random() < (theta + len(sizes) * alpha) / (theta + i):
            label.append(len(sizes))
            sizes.append(1)
            continue
        while True:  # join a class with a chance proportional to (size - alpha)
            other = label[rng.integers(i)]
            if rng.random() < (sizes[other] - alpha) / sizes[other]:
                break
        label.append(other)
        sizes[other] += 1
    return np.array(label)
