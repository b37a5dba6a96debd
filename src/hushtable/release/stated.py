"""What ``release.json`` states of the whole table, held against what the published rows and the policy tell.

Receivers have to believe the counts that a policy publishes, but no more than the rows leave open: every published
value is in the whole table too, what is more there was suppressed, and the policy says how much may be.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hushtable.errors import DataError
from hushtable.release.saved_reference import stated_counts
from hushtable.release.verify import Published, joint_codes
from hushtable.table.reference import Attribute, Reference
from hushtable.table.stats import Key

__all__ = ["check_counts", "check_sizes"]


def check_sizes(told: Mapping[str, Any], rows: int, suppression: float | None, *, numbered: bool) -> None:
    """Refuse a ``release.json`` of another number of rows, or of more suppressed records than the policy allows.

    Examples
    --------
    >>> check_sizes({"rows": 3, "records": 4, "suppressed": 1}, 3, 0.0, numbered=False)
    Traceback (most recent call last):
    hushtable.errors.DataError: release.json speaks of more suppressed people than the policy allows. ...
    """
    if told["rows"] != rows:
        raise _mismatch(f"The published file has {rows} rows, release.json speaks of another number.")
    if numbered:
        return
    records, suppressed = stated_counts([told["records"], told["suppressed"]]).tolist()
    if records != rows + suppressed:
        raise _mismatch("release.json counts other records than the published and the suppressed ones.")
    if suppression is not None and suppressed > int(np.floor(suppression * records + 1e-9)):
        raise _mismatch("release.json speaks of more suppressed people than the policy allows.")


def check_counts(published: Published, reference: Reference, suppression: float | None) -> None:
    """Refuse counts of the whole table that the published rows contradict.

    Parameters
    ----------
    published : Published
    reference : Reference
        As stated.
    suppression : float, optional
        The share of the people that the policy allows to be left out; any where it is not known.

    Examples
    --------
    >>> import pyarrow as pa
    >>> published = Published((pa.array(["a", "a"]),), {"pay": np.array([0, 1])}, {"pay": 2})
    >>> check_counts(published, Reference.of(2, Attribute.of("pay", ["1", "2"], [1, 1])), 0.0)
    >>> check_counts(published, Reference.of(2, Attribute.of("pay", ["1", "2"], [2, 0])), 0.0)
    Traceback (most recent call last):
    hushtable.errors.DataError: release.json counts fewer values of 'pay' in the whole table than are published. ...
    """
    rows = len(published.quasi[0])
    if rows > reference.units:
        raise _mismatch("release.json claims more people in the classes than in the whole table.")
    if suppression is not None and reference.units - rows > int(np.floor(suppression * reference.units + 1e-9)):
        raise _mismatch("release.json speaks of more suppressed people than the policy allows.")
    for key, attribute in reference.attributes.items():
        if not attribute.whole:
            continue
        name = "+".join(key)
        if int(attribute.units.sum()) != reference.units:
            raise _mismatch(f"release.json counts {name!r} over another number of people than the whole table has.")
        if _beyond(published, key, attribute):
            raise _mismatch(f"release.json counts fewer values of {name!r} in the whole table than are published.")


def _beyond(published: Published, key: Key, attribute: Attribute) -> int:
    """How many published values are more than the whole table is said to have."""
    codes, size = joint_codes([published.sensitive[n] for n in key], [published.sizes[n] for n in key])
    shown, count = np.unique(codes, return_counts=True)
    assert size == len(attribute.units)
    return int(np.maximum(count - attribute.units[shown], 0).sum())


def _mismatch(message: str) -> DataError:
    return DataError(message, code="mismatch", hint="Take the release.json that was written with this release.")
