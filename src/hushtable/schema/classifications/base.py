"""The base of classifications, and their names.

A classification assigns a value to groups, from the narrowest to the widest. It knows values by their code, so no list
of titles is needed if a license forbids shipping one.
"""

from __future__ import annotations

import importlib
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property

NAMES = ("countries", "icd-10", "isced-2011", "isco-08", "nace-2", "naics-2022", "us-states", "us-zip3")
"""Names in policies. The file of ``icd-10`` is ``icd_10.py``."""


@dataclass(frozen=True)
class Classification:
    """A classification.

    Attributes
    ----------
    name : str
        Name in policies.
    title : str
        Description of its values, in the plural.
    source, version : str
        Publisher and edition.
    levels : tuple of str
        Names of its groups, the narrowest first.
    place : callable
        Returns the groups of a value, one for each level, or None for an unknown value.
    codes : callable
        Returns values for every group, in the usual spelling.
    named : str
        Words in a column's name that mean this classification.
    about : str
        Words in a column's name that suggest it, among other things.
    forms : tuple of tuples of str
        All spellings of every value, the usual one first, if a column may have any of them.
    telling : callable
        Whether values that it knows are hardly anything else, given the values and whether the column's name has a
        word of ``about``.

    Examples
    --------
    >>> classification("icd-10").place("I21.9")
    ('I21*', 'I20-I25', 'IX (I00-I99)')
    """

    name: str
    title: str
    source: str
    version: str
    levels: tuple[str, ...]
    place: Callable[[str], tuple[str, ...] | None]
    codes: Callable[[], Iterable[str]]
    named: str = ""
    about: str = ""
    forms: tuple[tuple[str, ...], ...] = ()
    telling: Callable[[list[str], bool], bool] = lambda _values, _about: False

    @cached_property
    def members(self) -> dict[str, tuple[str, ...]]:
        """The values of every group, in their usual spelling."""
        found: dict[str, dict[str, None]] = {}
        for code in self.codes():
            for group in self.place(code) or ():
                found.setdefault(group, {})[code] = None
        return {group: tuple(codes) for group, codes in found.items()}

    def spelt_like(self, values: Iterable[str]) -> dict[str, str]:
        """Return every value in the spelling that most of these have; nothing if there is only one.

        Examples
        --------
        >>> classification("us-states").spelt_like(["OH", "TX"])["Maine"]
        'ME'
        """
        texts = {value.strip() for value in values}
        found = [sum(text in texts for text in spellings) for spellings in zip(*self.forms, strict=True)]
        best = found.index(max(found)) if any(found) else 0
        return {row[0]: row[best] for row in self.forms}


@cache
def classification(name: str) -> Classification:
    """Return a classification by its name in policies.

    Examples
    --------
    >>> classification("us-states").place("Ohio")
    ('East North Central', 'Midwest')
    """
    module = importlib.import_module(f"hushtable.schema.classifications.{name.replace('-', '_')}")
    found: Classification = module.CLASSIFICATION
    return found


def named_or_many(values: list[str], about: bool) -> bool:
    """Whether values are conclusive: names, or short codes in a column with a matching name.

    Examples
    --------
    >>> named_or_many(["Ohio", "Texas"], False), named_or_many(["OH", "TX"], False), named_or_many(["OH", "TX"], True)
    (True, False, True)
    >>> named_or_many(["1", "2", "4"], True)
    False
    """
    texts = [value.strip() for value in values]
    if sum(len(text) > 3 for text in texts) > len(texts) / 2:
        return True
    return about and (len(texts) >= 10 or not all(text.isdecimal() for text in texts))


def spelling(text: str) -> str:
    """Return a name without case, accents, punctuation and small words, so that its spellings are equal.

    Examples
    --------
    >>> spelling(" Côte-d'Ivoire"), spelling("The Bahamas"), spelling("Trinidad & Tobago")
    ('cotedivoire', 'bahamas', 'trinidadtobago')
    """
    plain = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    words = "".join(c if c.isalnum() or c in "'’" else " " for c in plain).replace("'", "").replace("’", "").split()
    kept = [word for word in words if word not in {"the", "and", "of"}]
    return "".join(kept)
