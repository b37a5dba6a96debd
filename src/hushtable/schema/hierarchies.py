"""The likely hierarchy of a column, with the reason in one sentence. A suggestion to start from; a person decides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hushtable.arrays import AnyArray, IntArray
from hushtable.io.text import to_labels
from hushtable.schema.classifications.base import NAMES, Classification, classification
from hushtable.schema.columns import Kind
from hushtable.schema.hints import QUASI, name_hint, words_of
from hushtable.schema.prepare import Prepared

DATES = {"dates": ["month", "quarter", "year", "decade"]}
"""The hierarchy of dates."""

_POSTCODE = {"zip", "zipcode", "postcode", "postal", "postleitzahl", "plz"}
_FEW = 6
"""With this few labels, groups would be of little use."""
_OLDEST = 130
_MOST_VALUES = 50_000
"""A column with more values belongs to no classification."""


@dataclass(frozen=True)
class Suggested:
    """A hierarchy as written in a policy, and the kind that it needs.

    Attributes
    ----------
    kind : Kind
    kind_reason : str
    hierarchy : Any
    reason : str
        Empty if it follows only from the kind and the number of values.
    """

    kind: Kind
    kind_reason: str
    hierarchy: Any
    reason: str = ""


def suggest_hierarchy(column: Prepared, ignored: tuple[str, ...] = ()) -> Suggested:
    """Return the likely hierarchy of a column.

    Parameters
    ----------
    column : Prepared
    ignored : tuple of str
        Texts that probably represent a missing value.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from hushtable.schema.prepare import prepare
    >>> found = suggest_hierarchy(prepare(pa.array(["Ohio", "Texas", "Maine"]), name="home"))
    >>> found.hierarchy, found.reason
    ({'standard': 'us-states'}, 'its values are states of the United States')
    """
    kind, why, counts = column.kind, column.reason, column.counts()
    texts = to_labels(column.values).to_pylist() if len(column.values) <= _MOST_VALUES else []
    kept = [i for i, text in enumerate(texts) if text.strip() not in ignored]
    if kind is not Kind.DATE:
        found = recognise(column.name, [texts[i] for i in kept], counts[kept])
        if found is not None:
            of, unknown = found.classification.name, found.unknown
            wanted = {"classification": of, "others": "other"} if unknown else of
            more = f"; {unknown} other{' becomes' if unknown == 1 else 's become'} the group 'other'" if unknown else ""
            kind_reason = why if kind is Kind.NOMINAL else found.reason
            return Suggested(Kind.NOMINAL, kind_reason, {"standard": wanted}, found.reason + more)
    if not _POSTCODE.isdisjoint(words_of(column.name)):
        return Suggested(
            Kind.NOMINAL, "a postal code is not a number" if kind is Kind.NUMERIC else why, {"prefix": "*"}
        )
    if kind is Kind.NUMERIC:
        return _of_numbers(column)
    if kind is Kind.DATE:
        return Suggested(kind, why, DATES)
    return Suggested(kind, why, "frequency" if len(counts) > _FEW else "flat")


def _of_numbers(column: Prepared) -> Suggested:
    numbers, counts = column.values.to_numpy(zero_copy_only=False), column.counts()
    if reason := code_reason(column.name, numbers):
        return Suggested(Kind.NOMINAL, reason, "frequency" if len(counts) > _FEW else "flat")
    kind, why = column.kind, column.reason
    if name_hint(column.name, {"age": QUASI["age"]}) and len(numbers) and numbers[0] >= 0 and numbers[-1] <= _OLDEST:
        return Suggested(kind, why, {"standard": "ages"}, "its name suggests ages, for which there are standard bands")
    cuts = round_cuts(numbers, counts)
    if cuts:
        skew = "many of its numbers are 0" if 0 in numbers else "a few of its numbers are very large"
        reason = f"{skew}, so bands of round numbers fit better than quantiles"
        return Suggested(kind, why, {"intervals": {"cuts": cuts}}, reason)
    # quantiles: the cut points come from the data when the policy is run, and are not published
    bins = [n for n in (16, 8, 4, 2) if n < len(numbers)]
    return Suggested(kind, why, {"intervals": {"quantiles": bins}} if bins else "flat")


# Whole numbers that are codes: their order means nothing.


_CODES = (
    "code codes recode category class classification type kind status industry occupation sector race ethnicity region"
    " state county fips district department relationship citizenship nationality religion language marital sex gender"
    " sic soc isco isced nace naics msa puma stratum"
)
_QUANTITIES = (
    "age ages number num count amount sum total income salary wage wages earnings weeks week hours hour days day months"
    " month years year minutes seconds size weight height score rate ratio percent share price cost value gain loss"
    " points grade temperature pressure distance length width latitude longitude lat lon"
)
_MOST = 1000
"""More numbers than this are hardly codes of groups."""


def code_reason(name: str, numbers: AnyArray) -> str:
    """Return why the numbers of a column are codes; ``""`` if they are numbers.

    Parameters
    ----------
    name : str
        The column's name.
    numbers : array
        Its distinct values.

    Examples
    --------
    >>> import numpy as np
    >>> code_reason("detailed industry recode", np.arange(52))
    "its name suggests codes ('industry'), and its numbers are few and whole"
    >>> code_reason("weeks worked in year", np.arange(53)), code_reason("income", np.arange(52))
    ('', '')
    >>> code_reason("married", np.arange(2))
    'it has only two values, numbered like the answers to a question'
    """
    words = words_of(name)
    hints = [word for word in words if word in _CODES.split()]
    few = 1 < len(numbers) <= _MOST and numbers.dtype.kind in "iu" and bool((numbers >= 0).all())
    if not few or not set(_QUANTITIES.split()).isdisjoint(words):
        return ""
    if numbers.tolist() in ([0, 1], [1, 2]):
        # as labels they are published as they are; as numbers they would become regions such as '>= 1'
        return "it has only two values, numbered like the answers to a question"
    if not hints:
        return ""
    return f"its name suggests codes ({hints[0]!r}), and its numbers are few and whole"


# Recognition of the classification of a column's values, with the reason.


_FEWEST = 3
"""Minimum number of different values for a conclusion."""
_FIRST = 200
"""Number of values examined before deciding on a closer look."""
_UNKNOWN_VALUES, _UNKNOWN_RECORDS, _FEW_UNKNOWN = 0.2, 0.1, 3
"""Shares of values and records that a classification may not know; more records if there are this few values."""


@dataclass(frozen=True)
class Recognised:
    """A classification that fits a column.

    Attributes
    ----------
    classification : Classification
    unknown : int
        Number of the column's values that it does not know.
    reason : str
    """

    classification: Classification
    unknown: int
    reason: str


def recognise(name: str, values: Sequence[str], counts: IntArray) -> Recognised | None:
    """Return the classification of a column's values, or None.

    It must know nearly all values. Ambiguous codes, such as two-digit numbers, are only taken for a classification if
    the column's name suggests it.

    Parameters
    ----------
    name : str
        Name of the column.
    values : sequence of str
        Its distinct values.
    counts : int64 array
        How often each occurs.

    Examples
    --------
    >>> import numpy as np
    >>> found = recognise("dx", ["I21.9", "J45.0", "E11"], np.array([5, 4, 3]))
    >>> found.classification.name, found.reason
    ('icd-10', 'its values are ICD-10 codes')
    >>> recognise("points", ["10", "20", "30"], np.array([5, 4, 3])) is None
    True
    """
    words = set(words_of(name))
    found: list[tuple[int, int, Recognised]] = []
    for known in map(classification, NAMES):
        named, about = (not words.isdisjoint(listed.split()) for listed in (known.named, known.about))
        if sum(known.place(value) is None for value in values[:_FIRST]) > len(values[:_FIRST]) / 2:
            continue
        fits = [known.place(value) is not None for value in values]
        n = sum(fits)
        outside = int(counts.sum() - counts[fits].sum())
        many = outside > _UNKNOWN_RECORDS * counts.sum() and len(fits) - n > _FEW_UNKNOWN
        if n < _FEWEST or len(fits) - n > _UNKNOWN_VALUES * len(fits) or many:
            continue
        if named or known.telling([value for value, fit in zip(values, fits, strict=True) if fit], about):
            reason = f"{'its' if n == len(fits) else 'nearly all of its'} values are {known.title}"
            found.append((named, n, Recognised(known, len(fits) - n, reason)))
    # two that fit equally well: no answer
    found.sort(key=lambda one: one[:2], reverse=True)
    return found[0][2] if found and [one[:2] for one in found].count(found[0][:2]) == 1 else None


# Bands of round numbers for skewed columns.
#
# Most people have no capital gain, a few have a hundred thousand. Quantiles of such a column are one value and a rest.
# Therefore, zero is a band of its own, and the amounts are cut at round numbers near their quantiles. Cut points appear
# in the policy, which is published with a release. So each has at least twenty records on either side, and is rounded:
# it is no person's value.


_FEW_NUMBERS = 16
"""With this few values, quantiles are the values themselves."""
_BANDS = 16
_LEAST = 20
"""Minimum number of records in a band."""
_HEAVY = 1 / 8
"""A value with a larger share of the records spoils quantiles."""
_TAIL = 4
"""Minimum ratio of the 90th percentile to the median of a long tail."""

_Number = int | float


def round_cuts(numbers: AnyArray, counts: IntArray) -> list[list[_Number]]:
    """Return the cut points of every level, the finest first, for a skewed column; none for any other.

    Parameters
    ----------
    numbers : array
        Distinct values, ascending.
    counts : int64 array
        How often each occurs.

    Examples
    --------
    >>> gains = np.array([0, *range(520, 6000, 280)])
    >>> round_cuts(gains, np.array([9000, *np.full(20, 30)]))[2:]
    [[1, 2000, 4000], [1, 4000], [1]]
    >>> round_cuts(np.arange(1, 100), np.full(99, 9))
    []
    """
    above = numbers > 0
    amounts, people = numbers[above], counts[above]
    n, total = int(people.sum()), int(counts.sum())
    zeros = int(counts[numbers == 0].sum())
    if len(numbers) <= _FEW_NUMBERS or n < 2 * _LEAST or not np.isfinite(numbers).all():
        return []
    reached = np.cumsum(people)
    middle, tenth = (amounts[np.searchsorted(reached, share * n)] for share in (0.5, 0.9))
    if zeros <= _HEAVY * total and not (tenth >= _TAIL * middle and n > total / 2):
        return []
    whole = numbers.dtype.kind in "iu"
    # the twentieth amount, not the least, says where amounts begin
    begin = 1 if whole else 10.0 ** math.floor(math.log10(amounts[np.searchsorted(reached, _LEAST)]))
    ends: list[_Number] = [0] if int(counts[numbers < 0].sum()) >= _LEAST else []
    ends += [_plain(begin)] if zeros >= _LEAST else []
    bands = min(_BANDS, n // _LEAST)
    wanted = (amounts[np.searchsorted(reached, n * i / bands)] for i in range(1, bands))
    cuts = _supported([_rounded(float(amount), whole) for amount in wanted], amounts, people, ends)
    levels = [ends + cuts[step - 1 :: step] for step in (1, 2, 4, 8, 16)]
    return [level for i, level in enumerate(levels) if level and level not in levels[:i]]


def _rounded(amount: float, whole: bool) -> _Number:
    """Return a number near the amount with one digit, or two of which the second is 5."""
    step = 10.0 ** math.floor(math.log10(amount)) / 2
    step = max(step, 1.0) if whole else step
    return _plain(round(amount / step) * step)


def _plain(number: float) -> _Number:
    text = float(f"{number:.6g}")
    return int(text) if text.is_integer() else text


def _supported(cuts: list[_Number], amounts: AnyArray, people: IntArray, ends: list[_Number]) -> list[_Number]:
    """Return the ascending cuts that leave enough records in every band."""
    kept: list[_Number] = []
    last = max(ends, default=0)
    for cut in sorted(set(cuts)):
        inside = int(people[(amounts >= last) & (amounts < cut)].sum())
        if cut > last and inside >= _LEAST and int(people[amounts >= cut].sum()) >= _LEAST:
            kept.append(cut)
            last = cut
    return kept
