"""Random quasi-identifiers: values as they come, tame or messy, and the settings somebody might give their column."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

__all__ = ["FORMS", "QUASI", "Column", "draw_column"]

FORMS = ["nodes", "intervals", "regions", "sets", "counts", "midpoint"]
"""How columns are published; some algorithms have forms of their own."""

TREE = {"north": ["Norway", "Sweden"], "south": ["Spain", "Italy", "Malta"], "far": ["Peru"]}
DEEP = {"Europe": {"north": ["Norway", "Sweden"], "south": ["Spain", "Italy", "Malta"]}, "far": {"west": ["Peru"]}}
ROWS = [[leaf, node] for node, leaves in TREE.items() for leaf in leaves]
ORDER = ["none", "low", "mid, or so", "high", "null"]
FIRST = datetime.date(2024, 2, 27)

AWKWARD = [
    *(
        "*",
        "0*",
        "**",
        "null",
        "{a}",
        "{a, b}",
        "[1, 2]",
        "\\",
        "\\null",
        "a,b",
        "a, b",
        "a\nb",
        'say "x"',
        "=1+1",
        "-",
        "\n=x",
        " @x",
    ),
    *(
        "'x",
        "'=x",
        " 01",
        "01 ",
        "é",
        "e\u0301",
        "ß",
        "SS",
        "\u00a0",
        "日本",
        "😀",
        "..",
        "a..b",
        "nan",
        "NaN",
        "\t",
        "None",
    ),
    *("[a", "a}", "\\*", "0", "00", "-0", "1e3", "true", "+1"),
]


@dataclass(frozen=True)
class Column:
    """A column drawn for one case: its Arrow type by name, the values rows are filled from, and its settings."""

    type: str
    pool: list[Any]
    settings: dict[str, Any] = field(default_factory=dict)


def _whole(r: random.Random) -> list[Any]:
    if r.random() < 0.15:
        return [0, -1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 2**62, -(2**62)]
    return [18, 19, 25, 26, 40, 41, 77] if r.random() < 0.7 else list(range(-3, 60, r.choice([1, 7])))


def _real(r: random.Random) -> list[Any]:
    if r.random() < 0.2:
        return [0.0, -0.0, 5e-324, 1e-300, 1.5e308, -1.5e308, 0.1, 0.30000000000000004, 0.3, 1e16, 1e22, float("nan")]
    return [0.5, 1.25, 1.5, 3e3, -7.5, 0.1 + 0.2, 2.0]


def _day(r: random.Random) -> list[Any]:
    if r.random() < 0.2:
        edges = ["0001-01-01", "9999-12-31", "1969-12-31", "1970-01-01", "1899-12-31", "1900-02-28", "2000-02-29"]
        return [datetime.date.fromisoformat(day) for day in edges]
    return [FIRST + datetime.timedelta(days=d) for d in (0, 1, 2, 3, 40, 41, 400, 4000)]


def _text(r: random.Random) -> list[Any]:
    return r.sample(AWKWARD, r.randint(2, 12))


def _postcode(r: random.Random) -> list[Any]:
    if r.random() < 0.2:
        return [*r.sample(AWKWARD, 5), "", "0123é", "日本語"]
    return ["01234", "01239", "01300", "99", "9", "01301"]


NUMBERS: list[dict[str, Any]] = [
    {"kind": "numeric"},
    {},
    {"kind": "numeric", "hierarchy": "flat"},
    {"kind": "numeric", "hierarchy": {"intervals": [5, 20]}},
    {"kind": "numeric", "hierarchy": {"intervals": [0.5, 10]}},
    {"kind": "numeric", "hierarchy": {"intervals": {"widths": [10, 30], "low": 20, "high": 70, "origin": 5}}},
    {"kind": "numeric", "hierarchy": {"intervals": {"cuts": [[0, 20, 26, 40], [26]]}}},
    {"kind": "numeric", "hierarchy": {"intervals": {"quantiles": [4, 2]}}},
    {"kind": "numeric", "hierarchy": {"frequency": 2}},
    {"kind": "nominal", "hierarchy": {"frequency": 3}},
    {"kind": "nominal", "hierarchy": {"prefix": {"mask": "#", "from_end": False}}},
]
TEXTS: list[dict[str, Any]] = [
    {"kind": "nominal"},
    {},
    {"kind": "nominal", "hierarchy": "flat"},
    {"kind": "nominal", "hierarchy": {"prefix": "*"}},
    {"kind": "nominal", "hierarchy": {"prefix": {"mask": "_", "steps": [1, 3]}}},
    {"kind": "nominal", "hierarchy": {"prefix": {"mask": "*", "from_end": False}}},
    {"kind": "nominal", "hierarchy": {"frequency": 2}},
]
DATES: list[dict[str, Any]] = [
    {"kind": "date"},
    {},
    {"kind": "date", "hierarchy": "dates"},
    {"kind": "date", "hierarchy": {"dates": ["month", "year", "century"]}},
    {"kind": "date", "hierarchy": {"dates": ["day", "quarter", "decade"]}},
    {"kind": "date", "hierarchy": {"frequency": 3}},
]

QUASI: dict[str, tuple[Sequence[str], Callable[[random.Random], list[Any]], Sequence[dict[str, Any]]]] = {
    "age": (["int64"], _whole, NUMBERS),
    "stay": (["int8", "int16", "uint8", "uint64"], lambda r: [1, 2, 3, 5, 8, 13, 21, 100], NUMBERS),
    "income": (["float64"], _real, NUMBERS),
    "rate": (["float32"], lambda r: [0.5, 0.25, 1.75, 100.0, 16777216.0], NUMBERS),
    "price": (
        ["decimal"],
        lambda r: [Decimal(x) for x in ("0.10", "0.30", "-0.50", "12.00", "12.05", "99999.99")],
        NUMBERS,
    ),
    "postcode": (["string", "large_string", "dictionary"], _postcode, TEXTS),
    "word": (["string"], _text, TEXTS),
    "country": (
        ["string", "dictionary"],
        lambda r: [leaf for leaves in TREE.values() for leaf in leaves],
        [
            {"kind": "nominal", "hierarchy": {"tree": TREE}},
            {"hierarchy": {"tree": DEEP}},
            {"kind": "nominal", "hierarchy": {"taxonomy": {"rows": ROWS}}},
            {"kind": "nominal"},
        ],
    ),
    "grade": (
        ["string"],
        lambda r: ORDER,
        [
            {"kind": "ordinal", "order": ORDER},
            {"order": ORDER, "hierarchy": {"frequency": 2}},
            {"kind": "ordinal", "order": [*ORDER, "never"], "hierarchy": "flat"},
        ],
    ),
    "born": (["date32"], _day, DATES),
    "seen": (["timestamp"], lambda r: [datetime.datetime(2024, 2, d, h) for d in (27, 28, 29) for h in (0, 23)], DATES),
    "smoker": (["bool"], lambda r: [True, False], [{"kind": "nominal"}, {}]),
    "sex": (["string"], lambda r: ["f", "m"], [{"kind": "nominal"}]),
    "nothing": (["string"], lambda r: [None], [{"kind": "nominal"}, {}]),
}
"""Types that a column may have, the values that it may hold, and what a policy may say of it."""


def draw_column(name: str, r: random.Random) -> Column:
    """Draw a type, a few values and the settings of one of the columns above."""
    types, values, settings = QUASI[name]
    pool = values(r)
    if len(pool) > 3 and r.random() < 0.5:
        pool = r.sample(pool, r.randint(2, min(len(pool), 5)))
    chosen = dict(r.choice(settings))
    if r.random() < 0.15:
        chosen["weight"] = r.choice([0.5, 2, 10])
    if r.random() < 0.15:
        chosen["cells"] = r.choice(FORMS)
    return Column(r.choice(types), pool, chosen)
