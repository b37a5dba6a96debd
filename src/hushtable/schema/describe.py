"""Description of texts found where numbers or dates were expected: kinds and counts, never the texts."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pyarrow.compute as pc

from hushtable.schema.dates import DAY_FIRST
from hushtable.schema.numbers import INFINITY, plain_numbers

__all__ = ["MARKERS", "describe"]

MARKERS: tuple[str, ...] = (
    "?", "na", "n/a", "#n/a", "#na", "<na>", "nan", "null", "none", "nil", "-", "--", "---", ".", "..", "*",
    "unknown", "unk", "missing", "not available", "not applicable", "not known", "not stated", "not specified",
    "no data", "n.a.", "k.a.", "keine angabe", "tbd", "#value!", "#null!", "(blank)", "(null)", "undefined",
)  # fmt: skip
"""Texts that often represent a missing value, in lower case. None of them counts as missing unless listed."""

_NUMBER = r"[+-]?\d+([.,]\d+)*"
_SHAPES: tuple[tuple[str, str, str], ...] = (
    (r"^[+-]?\d{1,3}([,.' \x{00a0}\x{202f}]\d{3})+([.,]\d+)?$", "number with thousands separators",
     "numbers with thousands separators"),
    (r"^[+-]?\d+,\d+$", "number with a decimal comma", "numbers with a decimal comma"),
    (rf"^{_NUMBER}\s*%$", "percentage", "percentages"),
    (rf"^[\p{{Sc}}]\s*{_NUMBER}$|^{_NUMBER}\s*[\p{{Sc}}]$", "amount with a currency sign",
     "amounts with a currency sign"),
    (INFINITY, "infinite number", "infinite numbers"),
    (r"^\d{4}-\d{2}-\d{2}($|[T ])", "ISO date or impossible date", "ISO dates or impossible dates"),
    (DAY_FIRST, "date that is not ISO", "dates that are not ISO"),
    (rf"^[<>≤≥~]=?\s*{_NUMBER}$|^{_NUMBER}\s*(-|–|to|\.\.)\s*{_NUMBER}$|^{_NUMBER}\+$", "bound or range",
     "bounds or ranges"),
)  # fmt: skip


def describe(text: pa.Array) -> str:
    """Return the number of (trimmed, distinct) texts of each kind, the most frequent kind first.

    Examples
    --------
    >>> describe(pa.array(["1,000", "2,500", "n/a", "many"]))
    '2 numbers with thousands separators, 1 missing-value marker, 1 text'
    """
    counts: Counter[tuple[str, str]] = Counter()
    left = text
    marker = pc.is_in(pc.utf8_lower(left), pa.array(MARKERS))
    counts["missing-value marker", "missing-value markers"] = _true(marker)
    left = left.filter(pc.invert(marker))
    for pattern, one, many in _SHAPES:
        hit = pc.match_substring_regex(left, pattern)
        counts[one, many] = _true(hit)
        left = left.filter(pc.invert(hit))
    numbers = plain_numbers(left)
    counts["number", "numbers"] = _true(numbers)
    counts["text", "texts"] = len(left) - _true(numbers)
    return ", ".join(f"{n:,} {one if n == 1 else many}" for (one, many), n in counts.most_common() if n)


def _true(mask: pa.Array) -> int:
    return int(pc.sum(mask).as_py() or 0)
