"""What the ledger says about a release: which models break together with earlier ones, for how many, never for whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hushtable.errors import VerificationError

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
        How the releases are put together.
    people : int
        For how many it does not hold.
    worst : float
        The worst score among them.
    bound : str
        What the model needs, in words.
    """

    model: str
    parameters: Mapping[str, Any]
    how: str
    people: int
    worst: float
    bound: str

    def sentence(self) -> str:
        """The finding in words."""
        given = ", ".join(f"{k}={v}" for k, v in self.parameters.items())
        people = counted(self.people, "person", "people")
        return f"{self.model}({given}) breaks for {people} {self.how}: {self.worst:.6g}, not {self.bound}"


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

    Examples
    --------
    >>> verdict = Verdict(1, 9, 4, (Finding("k-anonymity", {"k": 3}, "by intersection", 4, 2, ">= 3"),))
    >>> verdict.ok
    False
    >>> verdict.findings[0].sentence()
    'k-anonymity(k=3) breaks for 4 people by intersection: 2, not >= 3'
    """

    earlier: int
    people: int
    known: int
    findings: tuple[Finding, ...] = ()
    already: str = ""

    @property
    def ok(self) -> bool:
        """Whether every model holds."""
        return not self.findings

    def raise_if_refused(self) -> None:
        """Raise ``VerificationError`` with every model that breaks; return silently otherwise."""
        if self.ok:
            return
        if not self.earlier:
            # nothing but the release itself: its classes have enough rows, of fewer people
            raise VerificationError(
                "A ledger counts people, and some have several rows of this release. Counted by people it breaks what "
                f"it promises: {'; '.join(f.sentence() for f in self.findings)}.",
                code="ledger-refused",
                hint="Name the column that says whose a row is as 'entity' in the policy, and run it again.",
            )
        raise VerificationError(
            f"Together with {counted(self.earlier, 'earlier release', 'earlier releases')} of the same people this "
            "release breaks what it promises: "
            f"{'; '.join(f.sentence() for f in self.findings)}.",
            code="ledger-refused",
            hint="Do not publish it. Publish the same classes again, more general ones, or use m-invariance.",
        )

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready summary."""
        return {
            "accepted": self.ok,
            "earlier": self.earlier,
            "people": self.people,
            "known": self.known,
            "already": self.already,
            "findings": [
                {
                    "model": f.model,
                    "parameters": dict(f.parameters),
                    "how": f.how,
                    "people": f.people,
                    "worst": f.worst,
                    "needed": f.bound,
                }
                for f in self.findings
            ],
        }
