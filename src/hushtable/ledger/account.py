"""An account: which ledger a policy names, and what its releases commit a new one to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from hushtable.errors import DataError
from hushtable.ledger.describe import describe, person_column
from hushtable.ledger.entry import Entry
from hushtable.ledger.judge import check_judgeable
from hushtable.ledger.key import Key
from hushtable.ledger.ledger import Ledger, held_against
from hushtable.ledger.signatures import Commitments, commitments
from hushtable.ledger.spelling import Spelling
from hushtable.ledger.verdict import Verdict, counted
from hushtable.models.compose import AllOf
from hushtable.release.released import Released
from hushtable.table.plan import TablePlan

__all__ = ["Account"]


@dataclass(frozen=True)
class Account:
    """The ledger of a policy.

    Attributes
    ----------
    file : Path
    person : str
        The column that says whose a record is.
    key : Path, optional
        The ledger's key, where it does not lie beside it.
    records : int, optional
        How many of its releases count, from the first; all where left out. It is written down with a release, so that
        the release can be made again after others have been added.
    folder : Path, optional
        What the policy's files are relative to.
    spelling : Spelling
        How people, columns and values are called in the ledger.
    new : bool
        Whether there is no such ledger yet.
    expect_new_people : bool
        Whether a release may have nobody in common with any earlier one.
    held : Verdict, optional
        What the release was held against.
    repeating : bool
        Whether a release is made again that was made when the ledger had ``records`` releases.
    """

    file: Path
    person: str
    key: Path | None = None
    records: int | None = None
    folder: Path | None = None
    spelling: Spelling = field(default_factory=Spelling)
    new: bool = False
    expect_new_people: bool = False
    held: Verdict | None = None
    repeating: bool = False

    @classmethod
    def of(cls, document: Any, folder: Path | None) -> Account | None:
        """Return the account that a policy names, if any; its files are relative to the folder."""
        named = document.get("ledger")
        if named is None:
            return None
        base = folder or Path()
        key = named.get("key")
        return cls(
            file=base / named["file"],
            person=person_column(document, None),
            key=None if key is None else base / key,
            records=named.get("records"),
            folder=folder,
            spelling=Spelling.of(document, folder),
            new=bool(named.get("new")),
            expect_new_people=bool(named.get("expect_new_people")),
        )

    def opened(self) -> tuple[Key, list[Entry]]:
        """Return the ledger's key and the releases that count.

        Raises
        ------
        DataError
            If the ledger is not there, not as it was left, or has fewer releases than were there before.
        """
        book = Ledger(self.file, key=self.key)
        if not self.repeating and not self.new and not book.exists():
            raise DataError(
                f"There is no ledger {str(self.file)!r}, so nothing tells what was published before.",
                code="no-ledger",
                hint="Bring it back, or mount where it is. If nothing was ever published, write 'new: true' below "
                "'ledger' in the policy.",
            )
        key, entries = book.opened()
        if not self.repeating and self.records not in (None, len(entries)):
            raise DataError(
                f"The ledger {str(self.file)!r} has {counted(len(entries), 'release', 'releases')}, but the policy "
                f"counts {self.records} of them ('records').",
                code="ledger-shorter" if len(entries) < (self.records or 0) else "ledger-grown",
                hint="Take 'records' out of the policy: it stands there so that 'hushtable verify --rerun' can repeat "
                "the release that it came with. If the ledger lost releases, bring it back.",
            )
        if not self.repeating and self.new and entries:
            raise DataError(
                f"The policy says that the ledger {str(self.file)!r} is new, but it has "
                f"{counted(len(entries), 'release', 'releases')}.",
                code="ledger-not-new",
                hint="Take 'new: true' out of the policy: with it, a ledger that is gone would go unnoticed.",
            )
        if self.records is not None and len(entries) < self.records:
            raise DataError(
                f"The ledger {str(self.file)!r} has {len(entries)} releases; the release was made when it had "
                f"{self.records}.",
                code="ledger-shorter",
                hint="Say where the files are that the policy names (--files).",
            )
        return key, entries[: self.records]

    def summary(self) -> dict[str, Any]:
        """Return which ledger it is, whose a record is, and what the release was held against, as data."""
        return {"file": str(self.file), "person": self.person, "releases": self.records, **self.told()}

    def told(self, *, counted: bool = True) -> dict[str, int]:
        """Return what the release was held against, for everybody; how many people only where rows are ``counted``."""
        if self.held is None:
            return {}
        people = {"of_these_people": self.held.known} if counted else {}
        return {"held_against": self.held.earlier, **people}

    def pinned(self) -> Account:
        """Return the account as of now; from here on it counts the releases that there are now."""
        return self if self.repeating else replace(self, records=len(self.opened()[1]), new=False, repeating=True)

    def again(self) -> Account:
        """Return the account as it was when the release was made."""
        return replace(self, repeating=True)

    def check(self, model: AllOf) -> None:
        """Refuse models that cannot be judged across releases."""
        check_judgeable(model)

    def commitments(self, table: pa.Table, columns: TablePlan, model: AllOf) -> Commitments | None:
        """Return the signatures that people of a table have; None where models look at no column, or at several."""
        keys = model.histogram_keys()
        if len(keys) != 1:
            return None
        key, entries = self.opened()
        return commitments(table, columns, next(iter(keys)), entries, key, self.person, self.spelling)

    def hold(self, release: Released) -> Account:
        """Return the account with what a release was held against.

        Raises
        ------
        VerificationError
            If the release breaks a promise together with those in the ledger.
        """
        key, entries = self.opened()
        if not entries:
            return replace(self, held=Verdict(0, 0, 0))
        now = describe(release, key, person=self.person, folder=self.folder)
        verdict = held_against(now, entries, key, expect_new_people=self.expect_new_people)
        verdict.raise_if_refused()
        return replace(self, held=verdict)
