"""The likely hierarchy of a column, with the reason in one sentence. A suggestion to start from; a person decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hushtable.arrays import AnyArray
from hushtable.io.text import to_labels
from hushtable.schema.bands import round_cuts
from hushtable.schema.classifications.recognise import recognise
from hushtable.schema.columns import Kind
from hushtable.schema.hints import QUASI, name_hint, words_of
from hushtable.schema.prepare import Prepared

__all__ = ["DATES", "Suggested", "code_reason", "suggest_hierarchy"]

DATES = {"dates": ["month", "quarter", "year", "decade"]}
"""The hierarchy of dates."""

_POSTCODE = {"zip", "zipcode", "postcode", "postal", "postleitzahl", "plz"}
_FEW = 6
"""With so few labels, groups would be of little use."""
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
