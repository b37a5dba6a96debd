"""What a ledger stores about a linked release: the people in it and their classes, but no events.

Two releases of the same people can be combined by their events, and the ledger cannot judge whether the promise
survives that. So it accepts a linked release only if nobody in it is in an earlier release, and then accepts no later
release of the same people. An identical release, cell by cell and key by key, reveals nothing new and is accepted.
"""

from __future__ import annotations

import datetime
import hashlib
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hushtable.io.canonical import table_digest
from hushtable.io.dictionaries import encode, to_codes
from hushtable.io.text import to_labels
from hushtable.ledger.describe import Described, joint, person_keys
from hushtable.ledger.entry import Entry
from hushtable.ledger.key import LedgerKey
from hushtable.ledger.promise import Promise, sealed
from hushtable.ledger.spelling import Spelling, plain
from hushtable.linked.verify import shown_cells
from hushtable.models.compose import AllOf
from hushtable.table.reference import Reference

if TYPE_CHECKING:
    from hushtable.linked.release import LinkedRelease


def describe_linked(release: LinkedRelease, key: LedgerKey, *, name: str = "", person: str | None = None) -> Described:
    """Describe a linked release for a ledger.

    Parameters
    ----------
    release : LinkedRelease
        Must have its original.
    key : LedgerKey
        The ledger's key.
    name : str
    person : str, optional
        Column of the table of people that identifies them in other releases. Defaults to the key.
    """
    release.verification.raise_if_violated()
    people, policy = release.original().people, release.policy
    column = person
    if column is None:
        own = policy.tables[policy.people].key
        column = own[0] if len(own) == 1 else "key"
        # the same people, in any order of the key's columns in the policy
        people = people if len(own) == 1 else pa.table({column: _key_as_text([people[part] for part in sorted(own)])})
    persons_of, older = person_keys(people, column, key, Spelling())
    persons = persons_of[release.origin[policy.people]]
    classes = shown_cells(release.published())[0]
    order = np.lexsort((classes, persons[:, 1], persons[:, 0]))
    codes, n = classes[order].reshape(-1, 1), len(classes)
    digest = hashlib.sha256()
    for table, content in sorted(release.tables.items()):
        digest.update(table.encode() + b"\0" + table_digest(content))
    promise = Promise(0, "", AllOf(()), Reference(units=n, unit=1))
    entry = Entry(
        name=name,
        added=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        digest=key.table(digest.digest()),
        sensitive=(),
        unit=1,
        persons=persons[order],
        records=np.zeros(n, dtype=np.uint64),
        classes=codes[:, 0],
        counterfeits=np.zeros(int(classes.max()) + 1, dtype=np.int64),
        values=(),
        **joint(codes, np.ones(n, dtype=np.int64)),
        tags=np.zeros((n, 0), dtype=np.uint64),
        sealed=sealed(promise, key),
        linked=True,
    )
    return Described(entry, np.zeros((n, 0), dtype=np.int64), promise, older)


def _key_as_text(columns: list[pa.ChunkedArray]) -> pa.Array:
    """Return the parts of a key as one text."""
    texts = []
    for column in columns:
        one = encode(column)
        labels = np.array([plain(text or "") for text in to_labels(one.dictionary).to_pylist()] + [""], dtype=object)
        texts.append(labels[to_codes(one)].tolist())
    return pa.array(["\x1f".join(parts) for parts in zip(*texts, strict=True)])
