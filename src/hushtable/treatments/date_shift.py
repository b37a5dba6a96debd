"""Date shift: all dates of a person are shifted by the same secret number of days.

The number lies between -``days`` and ``days``, is never 0, and comes from an HMAC of the person and of ``days`` under
the key. So the number of days between two events of one person stays exact, even across the tables of a project, if
``days`` is the same. These distances are published unchanged, and may single the person out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import pyarrow as pa

from hushtable.errors import DataError, IncompatibleError, counted
from hushtable.io.secret import keyed_hash
from hushtable.io.text import to_labels
from hushtable.params import AtLeast
from hushtable.schema.columns import Kind
from hushtable.treatments.base import Given, Treatment
from hushtable.treatments.keyed import Keyed


@dataclass(frozen=True)
class DateShift(Keyed, Treatment):
    """Shifts all dates of a person by the same secret number of days.

    Parameters
    ----------
    days : int
    by : str, optional
    key : str, optional
    fresh : bool

    Examples
    --------
    >>> import hushtable as ht
    >>> table = pa.table({"patient": ["a", "a", "b", "b"], "sex": ["f", "f", "m", "m"],
    ...                   "seen": ["2024-01-01", "2024-01-11", "2024-05-01", "2024-05-03"]})
    >>> policy = ht.Policy(identifiers=["patient"], quasi=["sex"], entity="patient", models=[ht.AverageRisk(average=1)],
    ...                    insensitive={"seen": {"kind": "date", "treatment": ht.DateShift(days=30)}})
    >>> first, second, *_ = ht.anonymize(table, policy).frame["seen"].to_pylist()
    >>> (second - first).days
    10
    """

    days: Annotated[int, AtLeast(1), "largest number of days that dates are shifted by"] = 365
    by: Annotated[str | None, "column that identifies each row's person; defaults to the policy's entity"] = None

    name: ClassVar[str] = "date-shift"
    promise: ClassVar[str] = (
        "Guarantees nothing: the days between a person's dates are exact, and anyone who knows one date knows all. "
        "This is pseudonymization, not anonymization."
    )
    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.DATE})
    joint: ClassVar[bool] = True
    per_person: ClassVar[bool] = True
    record_by_record: ClassVar[bool] = True

    def reads(self, entity: str | None) -> tuple[str, ...]:
        """Return the column that identifies each row's person."""
        person = self.by or entity
        if person is None:
            raise IncompatibleError(
                "The treatment date-shift shifts all dates of a person together, but the policy has no 'entity'.",
                hint="Set 'entity', or 'by' of date-shift, to the column that identifies each row's person.",
            )
        return (person,)

    def treat(self, given: Given) -> pa.Array:
        """Shift the dates."""
        (name,) = self.reads(given.entity)
        person = given.others[name]
        if person.missing:
            raise DataError(
                f"{counted(person.missing, 'row has', 'rows have')} no {name!r}, so it is unknown which dates to "
                "shift together.",
                code="no-person",
                hint="Fill in every row's person, or remove these rows.",
            )
        key = self.hashing(given, "date-shift")
        # one digest for several ``days`` would reveal the sign of a shift to those who have both releases
        shifts = [
            _shift(keyed_hash([label.encode()], key, f"person within {self.days} days"), self.days)
            for label in to_labels(person.values).to_pylist()
        ]
        return given.changed(given.numbers() + np.array([*shifts, 0], dtype=np.float64)[person.codes()])


def _shift(digest: str, days: int) -> int:
    """Return a number from -days to days without 0, uniform up to one in 2**190."""
    found = int(digest, 16) % (2 * days) - days
    return found if found < 0 else found + 1
