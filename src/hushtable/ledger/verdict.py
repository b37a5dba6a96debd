"""What the ledger says about a release: which promises break with it, for how many people, never for whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hushtable.arrays import IntArray
from hushtable.errors import UsageError, VerificationError

__all__ = ["Finding", "Verdict", "counted"]


def counted(n: int, one: str, many: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "person", "people"), counted(1200, "person", "people")
    ('1 person', '1,200 people')
    """
    return f"{n:,} {one if n == 1 else many}"


@dataclass(frozen=True)
class Finding:
    """One model that does not hold for somebody once the releases are put together.

    Attributes
    ----------
    model : str
    parameters : mapping
    how : str
        "crowd" where too few people are left together, "values" where too little is left open of their values,
        "undecided" where that was not found out, "linked" where linked tables keep it from being judged.
    people : int
        Whom it breaks for.
    worst : float
        The worst score among them.
    bound : str
        What the model needs, in words.
    promised : str
        The earlier release that promised it; empty where it is the new one.
    left, came : int
        How many of these people the new release leaves out, and how many only it has.
    certain : int
        How many of them have a single value left.
    columns, beside : tuple of str
        The columns of the values, and those of them that only link rows.
    records : int64 array
        Which records it concerns, by their place among all; for whoever looks for a remedy, and never shown.
    """

    model: str
    parameters: Mapping[str, Any]
    how: str
    people: int
    worst: float
    bound: str
    promised: str = ""
    left: int = 0
    came: int = 0
    certain: int = 0
    columns: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    records: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64), repr=False, compare=False)

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that the model looks at."""
        return self.columns[: len(self.columns) - len(self.beside)]

    def sentence(self) -> str:
        """The finding in words."""
        given = ", ".join(f"{k}={v}" for k, v in self.parameters.items())
        by = f", promised by {self.promised}," if self.promised else ""
        people = counted(self.people, "person", "people")
        if self.how == "linked":
            return (
                f"{people} of this release {'is' if self.people == 1 else 'are'} in {self.promised} as well, and one "
                "of the two has linked tables. What their events tell together cannot be judged"
            )
        if self.how == "undecided":
            return (
                f"{self.model}({given}){by} could not be decided for {people}, so it is not accepted. Classes that "
                "change less can be decided; of releases that 0.1.0 added, the ledger does not know whose value changed"
            )
        return f"{self.model}({given}){by} breaks for {people}: {self.worst:.6g}, not {self.bound}. {self.story()}"

    def story(self) -> str:
        """What an adversary would do."""
        moved = self.people - self.left - self.came
        parts = [
            f"{counted(n, 'person', 'people')} {what}"
            for n, what in ((self.left, "left"), (self.came, "came"), (moved, "changed groups"))
            if n
        ]
        parts = parts or ["nobody left or came"]
        seen = ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + parts[-1]
        if self.how == "crowd":
            return f"Somebody who sees that {seen} is left with too few people to choose from"
        names = " and ".join(self.key) or "value"
        linked = f" and finds the same rows again by {' and '.join(self.beside)}" if self.beside else ""
        known = (
            f"knows the {names} of {counted(self.certain, 'person', 'people')} for certain"
            if self.certain
            else f"can tell too much about their {names}"
        )
        return f"Somebody who sees that {seen}, subtracts what the others have{linked}, {known}"

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready summary."""
        return {
            "model": self.model, "parameters": dict(self.parameters), "how": self.how, "people": self.people,
            "worst": self.worst, "needed": self.bound, "promised_by": self.promised, "left": self.left,
            "came": self.came, "certain": self.certain, "columns": list(self.columns),
        }  # fmt: skip


@dataclass(frozen=True)
class Verdict:
    """Whether a release may follow the earlier ones.

    Attributes
    ----------
    earlier : int
        Releases it was compared with.
    people : int
        People of the release.
    known : int
        People of the release who are in an earlier one.
    findings : tuple of Finding
    already : str
        The name of the earlier release that is this very one; empty where there is none.
    advice : tuple of str
        Changes that would be accepted.
    asked : tuple of str
        What has to be answered before the release is accepted.

    Examples
    --------
    >>> verdict = Verdict(1, 9, 4, (Finding("k-anonymity", {"k": 3}, "crowd", 4, 2, ">= 3", left=1, came=1),))
    >>> verdict.ok
    False
    >>> verdict.findings[0].sentence()  # doctest: +ELLIPSIS
    'k-anonymity(k=3) breaks for 4 people: 2, not >= 3. Somebody who sees that 1 person left, 1 person came and ...'
    """

    earlier: int
    people: int
    known: int
    findings: tuple[Finding, ...] = ()
    already: str = ""
    advice: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every promise holds, and nothing is left to be answered."""
        return not self.findings and not self.asked

    def raise_if_refused(self) -> None:
        """Raise ``VerificationError`` with every model that breaks, ``UsageError`` with what has to be answered."""
        if self.ok:
            return
        if not self.findings:
            first, *more = self.asked[0].split(". ", 1)
            raise UsageError(f"{first}.", code="ledger-asks", hint=" ".join([*more, *self.asked[1:]]))
        told = "; ".join(f.sentence() for f in self.findings)
        if any(f.how == "linked" for f in self.findings):
            raise VerificationError(
                f"{told}.",
                code="ledger-linked",
                hint="Do not publish it. Publish the earlier release again as it is, or a release of other people.",
            )
        if not self.earlier:
            # nothing but the release itself: its classes have enough rows, of fewer people
            raise VerificationError(
                "A ledger counts people, and some have several rows of this release. Counted by people it breaks what "
                f"it promises: {told}.",
                code="ledger-refused",
                hint="Name the column that says whose a row is as 'entity' in the policy, and run it again.",
            )
        raise VerificationError(
            f"Together with {counted(self.earlier, 'earlier release', 'earlier releases')} of the same people this "
            f"release breaks a promise: {told}.",
            code="ledger-refused",
            hint=" ".join(["Do not publish it.", *self.advice]),
        )

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready summary."""
        told = {"advice": list(self.advice), "asked": list(self.asked)}
        return {"accepted": self.ok, **vars(self), "findings": [f.as_dict() for f in self.findings], **told}
