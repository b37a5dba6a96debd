"""The ledger's verdict on a release: which promises it breaks, for how many people, never for whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hushtable.arrays import IntArray
from hushtable.errors import UsageError, VerificationError, counted


@dataclass(frozen=True)
class LedgerFinding:
    """One model that does not hold for some people in combination with earlier releases.

    Attributes
    ----------
    model : str
    parameters : mapping
    how : str
        "crowd" if too few people share a trace, "values" if too little is open about their values,
        "undecided" if that was not determined, "linked" if linked tables prevent a check.
    people : int
        Number of people for whom it breaks.
    worst : float
        The worst score among them.
    bound : str
        Requirement of the model, in words.
    promised : str
        The earlier release that promised it; empty for the new one.
    left, came : int
        Number of these people who are not in the new release, and who are only in it.
    certain : int
        Number of them with a single possible value.
    columns, linking : tuple of str
        The columns of the values, and those of them that only link rows.
    records : int64 array
        The records concerned, by their position among all; for finding a remedy, and never shown.
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
    linking: tuple[str, ...] = ()
    records: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64), repr=False, compare=False)

    @property
    def key(self) -> tuple[str, ...]:
        """The columns of the model."""
        return self.columns[: len(self.columns) - len(self.linking)]

    def sentence(self) -> str:
        """Return the finding in words."""
        given = ", ".join(f"{k}={v}" for k, v in self.parameters.items())
        by = f", promised by {self.promised}," if self.promised else ""
        people = counted(self.people, "person", "people")
        if self.how == "linked":
            return (
                f"{people} of this release {'is' if self.people == 1 else 'are'} in {self.promised} as well, and one "
                "of the two has linked tables. What their events reveal together cannot be judged"
            )
        if self.how == "undecided":
            return (
                f"{self.model}({given}){by} could not be decided for {people}, so it is not accepted. Smaller changes "
                "to classes can be decided; for releases added by 0.1.0, the ledger does not know whose value changed"
            )
        return (
            f"{self.model}({given}){by} fails for {people}: {self.worst:.6g} (required: {self.bound}). {self.story()}"
        )

    def story(self) -> str:
        """Return what an adversary would do."""
        moved = self.people - self.left - self.came
        parts = [
            f"{counted(n, 'person', 'people')} {what}"
            for n, what in ((self.left, "left"), (self.came, "came"), (moved, "changed groups"))
            if n
        ]
        parts = parts or ["nobody left or came"]
        seen = ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + parts[-1]
        if self.how == "crowd":
            return f"An adversary who sees that {seen} is left with too few candidates"
        names = " and ".join(self.key) or "value"
        linked = f" and recognizes the same rows by {' and '.join(self.linking)}" if self.linking else ""
        known = (
            f"knows the {names} of {counted(self.certain, 'person', 'people')} with certainty"
            if self.certain
            else f"learns too much about their {names}"
        )
        return f"An adversary who sees that {seen} and subtracts the values of the others{linked} {known}"

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready summary."""
        return {
            "model": self.model, "parameters": dict(self.parameters), "how": self.how, "people": self.people,
            "worst": self.worst, "needed": self.bound, "promised_by": self.promised, "left": self.left,
            "came": self.came, "certain": self.certain, "columns": list(self.columns),
        }  # fmt: skip


@dataclass(frozen=True)
class LedgerVerdict:
    """Whether a release may follow the earlier ones.

    Attributes
    ----------
    earlier : int
        Releases it was compared with.
    people : int
        People of the release.
    known : int
        People of the release who are in an earlier one.
    findings : tuple of LedgerFinding
    already : str
        The name of the earlier release that is the same; empty if there is none.
    advice : tuple of str
        Changes that would be accepted.
    asked : tuple of str
        Questions to answer before the release is accepted.

    Examples
    --------
    >>> finding = LedgerFinding("k-anonymity", {"k": 3}, "crowd", 4, 2, ">= 3", left=1, came=1)
    >>> verdict = LedgerVerdict(1, 9, 4, (finding,))
    >>> verdict.ok
    False
    >>> verdict.findings[0].sentence()  # doctest: +ELLIPSIS
    'k-anonymity(k=3) fails for 4 people: 2 (required: >= 3). An adversary who sees that 1 person left, 1 person came
    and ...'
    """

    earlier: int
    people: int
    known: int
    findings: tuple[LedgerFinding, ...] = ()
    already: str = ""
    advice: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every promise holds, and no question is open."""
        return not self.findings and not self.asked

    def raise_if_refused(self) -> None:
        """Raise ``VerificationError`` with every model that fails, or ``UsageError`` with the open questions."""
        if self.ok:
            return
        if not self.findings:
            first, *more = self.asked[0].split(". ", 1)
            raise UsageError(f"{first}.", code="ledger-asks", hint=" ".join([*more, *self.asked[1:]]))
        details = "; ".join(f.sentence() for f in self.findings)
        if any(f.how == "linked" for f in self.findings):
            raise VerificationError(
                f"{details}.",
                code="ledger-linked",
                hint="Do not publish it. Publish the earlier release again unchanged, or a release of other people.",
            )
        if not self.earlier:
            # nothing but the release itself: its classes have enough rows, of fewer people
            raise VerificationError(
                "A ledger counts people, and some have several rows in this release. Counted by people, it breaks its "
                f"promise: {details}.",
                code="ledger-refused",
                hint="Set 'entity' in the policy to the column that identifies each row's person, and run it again.",
            )
        raise VerificationError(
            f"In combination with {counted(self.earlier, 'earlier release', 'earlier releases')} of the same people, "
            f"this release breaks a promise: {details}.",
            code="ledger-refused",
            hint=" ".join(["Do not publish it.", *self.advice]),
        )

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready summary."""
        details = {"advice": list(self.advice), "asked": list(self.asked)}
        return {"accepted": self.ok, **vars(self), "findings": [f.as_dict() for f in self.findings], **details}
