"""An account: the ledger that a policy names, and the commitments of its releases."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from hushtable.errors import DataError, counted
from hushtable.ledger.describe import describe, person_column
from hushtable.ledger.entry import Entry
from hushtable.ledger.judge import check_judgeable
from hushtable.ledger.key import Key
from hushtable.ledger.ledger import Ledger, held_against
from hushtable.ledger.signatures import Commitments, commitments
from hushtable.ledger.spelling import Spelling
from hushtable.ledger.verdict import Verdict
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
        Column that identifies each record's person.
    key : Path, optional
        The ledger's key, if it is not next to the ledger.
    records : int, optional
        Number of its releases to use, from the first. Defaults to all. It is recorded with a release, so that
        the release can be reproduced after others have been added.
    folder : Path, optional
        Folder that the policy's files are relative to.
    spelling : Spelling
        Names of people, columns and values in the ledger.
    new : bool
        Whether the ledger is new.
    expect_new_people : bool
        Whether a release may have nobody in common with any earlier one.
    held : Verdict, optional
        Result of the comparison with earlier releases.
    repeating : bool
        Whether a release is being reproduced that was made when the ledger had ``records`` releases.
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
        """Return the ledger's key and the releases to use.

        Raises
        ------
        DataError
            If the ledger does not exist, was changed, or has fewer releases than before.
        """
        book = Ledger(self.file, key=self.key)
        if not self.repeating and not self.new and not book.exists():
            raise DataError(
                f"There is no ledger {str(self.file)!r}, so earlier releases are unknown.",
                code="no-ledger",
                hint="Restore it, or mount its folder. If nothing was ever published, write 'new: true' below "
                "'ledger' in the policy.",
            )
        key, entries = book.opened()
        if not self.repeating and self.records not in (None, len(entries)):
            raise DataError(
                f"The ledger {str(self.file)!r} has {counted(len(entries), 'release', 'releases')}, but the policy "
                f"expects {self.records} of them ('records').",
                code="ledger-shorter" if len(entries) < (self.records or 0) else "ledger-grown",
                hint="Remove 'records' from the policy: it is there so that 'hushtable verify --rerun' can repeat "
                "the release that it came with. If the ledger lost releases, restore it.",
            )
        if not self.repeating and self.new and entries:
            raise DataError(
                f"The policy says that the ledger {str(self.file)!r} is new, but it has "
                f"{counted(len(entries), 'release', 'releases')}.",
                code="ledger-not-new",
                hint="Remove 'new: true' from the policy: with it, a missing ledger would go unnoticed.",
            )
        if self.records is not None and len(entries) < self.records:
            raise DataError(
                f"The ledger {str(self.file)!r} has {len(entries)} releases; the release was made when it had "
                f"{self.records}.",
                code="ledger-shorter",
                hint="Give the folder of the policy's files with --files.",
            )
        return key, entries[: self.records]

    def summary(self) -> dict[str, Any]:
        """Return the ledger, the person column, and the result of the comparison, as data."""
        return {"file": str(self.file), "person": self.person, "releases": self.records, **self.told()}

    def told(self, *, counted: bool = True) -> dict[str, int]:
        """Return the public result of the comparison; the number of people only if rows are ``counted``."""
        if self.held is None:
            return {}
        people = {"of_these_people": self.held.known} if counted else {}
        return {"held_against": self.held.earlier, **people}

    def pinned(self) -> Account:
        """Return the account as of now; from here on, it uses the releases that exist now."""
        return self if self.repeating else replace(self, records=len(self.opened()[1]), new=False, repeating=True)

    def again(self) -> Account:
        """Return the account as it was when the release was made."""
        return replace(self, repeating=True)

    def check(self, model: AllOf) -> None:
        """Refuse models that cannot be checked across releases."""
        check_judgeable(model)

    def commitments(self, table: pa.Table, columns: TablePlan, model: AllOf) -> Commitments | None:
        """Return the signatures of the people of a table; None if models use no column, or several."""
        keys = model.histogram_keys()
        if len(keys) != 1:
            return None
        key, entries = self.opened()
        return commitments(table, columns, next(iter(keys)), entries, key, self.person, self.spelling)

    def hold(self, release: Released) -> Account:
        """Return the account with the result of comparing a release.

        Raises
        ------
        VerificationError
            If the release breaks a promise in combination with those in the ledger.
        """
        key, entries = self.opened()
        if not entries:
            return replace(self, held=Verdict(0, 0, 0))
        now = describe(release, key, person=self.person, folder=self.folder)
        verdict = held_against(now, entries, key, expect_new_people=self.expect_new_people)
        verdict.raise_if_refused()
        return replace(self, held=verdict)
