"""A linked release: the same tables, with fresh random keys, whole or not at all."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from hushtable._version import __version__
from hushtable.arrays import BoolArray, IntArray
from hushtable.errors import DataError
from hushtable.io.atomic import atomic_write_text
from hushtable.io.files import read_table, write_table
from hushtable.io.formulas import guard_table
from hushtable.io.sql.access import writing_sql
from hushtable.io.sql.place import SqlPlace
from hushtable.io.versions import FORMATS
from hushtable.linked.links import Links, link
from hushtable.linked.policy import LinkedPolicy, read_policy
from hushtable.linked.recoding import EventColumn, Recoded
from hushtable.linked.sources import addresses, read_events
from hushtable.linked.verify import LinkedVerification, verify_linked
from hushtable.params import typed
from hushtable.release.companion import (
    check_private,
    own_companion,
    read_companion,
    release_folders,
    release_mark,
    write_companion,
)
from hushtable.release.publish import published_order
from hushtable.schema.columns import Role
from hushtable.table.coins import Coins

__all__ = ["KIND", "LinkedRelease", "open_linked", "publish_linked"]

KIND = "linked"
"""What ``release.json`` calls a release of linked tables."""

_log = logging.getLogger(__package__)


@dataclass(frozen=True)
class LinkedRelease:
    """Published tables of people and their events, verified.

    Attributes
    ----------
    tables : mapping of str to pyarrow.Table
        What is published: rows sorted by what they show, then by their random keys.
    policy : LinkedPolicy
    verification : LinkedVerification
    measures : mapping
        What was lost, table by table. It depends on the original, so it is not published.
    links : Links, optional
        The original tables. A release that was opened from a folder has none.
    origin : mapping of str to int64 array
        For each published table, the original row of each row. It links rows to people.
    """

    tables: Mapping[str, pa.Table]
    policy: LinkedPolicy
    verification: LinkedVerification
    measures: Mapping[str, Any] = field(default_factory=dict)
    links: Links | None = field(default=None, repr=False)
    origin: Mapping[str, IntArray] = field(default_factory=dict, repr=False)

    def verify(self) -> LinkedVerification:
        """Recompute the promise from the published tables."""
        return verify_linked(self.tables, self.policy)

    def published(self) -> Links:
        """Return the published tables with their keys matched."""
        return link(self.tables, self.policy, published=True)

    def summary(self) -> dict[str, Any]:
        """Return what was done, as data; no value of a record."""
        rows = {name: table.num_rows for name, table in self.tables.items()}
        return {"hushtable": __version__, "kind": KIND, "rows": rows, **self.verification.as_dict(),
                "measures": dict(self.measures)}  # fmt: skip

    @typed
    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        format: Literal["csv", "parquet"] | None = None,
        overwrite: bool = False,
        to: str | None = None,
    ) -> Path:
        """Write all tables, ``policy.yaml`` and ``release.json``, all or nothing. The companion says what was lost.

        Parameters
        ----------
        folder : path
        format : {"csv", "parquet"}, optional
            Defaults to the policy's.
        overwrite : bool
        to : str, optional
            A database that gets the tables too, in one transaction: ``duckdb:///open.db?schema=NAME``.

        Raises
        ------
        VerificationError
            If the tables break their promise, as those of an edited folder may.
        """
        self.verification.raise_if_violated()
        ending = format or self.policy.output.format
        guarded = ending == "csv" and self.policy.output.reader == "spreadsheet"
        with release_folders(folder, overwrite=overwrite) as (target, private):
            for name, table in self.tables.items():
                write_table(guard_table(table) if guarded else table, target / f"{name}.{ending}")
            atomic_write_text(target / "policy.yaml", self.policy.to_yaml())
            public = {name: value for name, value in self.summary().items() if name != "measures"}
            mark = {"format": FORMATS["release"], "release": release_mark(target)}
            public = {**mark, **public, "files": {name: f"{name}.{ending}" for name in self.tables}}
            atomic_write_text(target / "release.json", json.dumps(public, indent=2) + "\n")
            if self.origin:
                # whose row is whose: attacks score their guesses with it
                write_table(pa.table({"row": self.origin[self.policy.people]}), private / "rows.arrow")
            write_companion(
                private, target, {"kind": KIND, "release": mark["release"], "measures": dict(self.measures)}
            )
            if to is not None:
                # the last step but the folder's appearing: what fails before leaves the database as it was
                places = [(SqlPlace.of(one), self.tables[name]) for name, one in addresses(to, self.tables).items()]
                with writing_sql(places, overwrite=overwrite):
                    pass
        _log.info("Saved a release of %d tables", len(self.tables), extra={"tables": len(self.tables)})
        return Path(folder)


@typed
def open_linked(
    folder: str | os.PathLike[str],
    policy: LinkedPolicy | None = None,
    original: Mapping[str, pa.Table] | None = None,
) -> LinkedRelease:
    """Open a linked release from its folder, and verify it.

    Parameters
    ----------
    folder : path
    policy : LinkedPolicy, optional
        What was promised. Defaults to the folder's ``policy.yaml``.
    original : mapping of str to pyarrow.Table, optional
        The very tables that were released. With them, the private companion is read too.
    """
    place = Path(folder)
    found = read_policy(place / "policy.yaml") if policy is None else policy
    if not isinstance(found, LinkedPolicy):
        raise DataError(f"The release in {place.name!r} is not one of linked tables.", code="not-linked",
                        hint="Open it with hushtable.open_release.")  # fmt: skip
    tables = {}
    for name in (found.people, *found.events):
        files = [file for file in (place / f"{name}.csv", place / f"{name}.parquet") if file.exists()]
        if len(files) != 1:
            raise DataError(f"The folder does not have one file of table {name!r}.", code="no-table",
                            hint="A release of linked tables is whole: copy all of its files.")  # fmt: skip
        unescape = found.output.reader == "spreadsheet" and files[0].suffix == ".csv"
        tables[name] = read_events(files[0], unescape_formulas=unescape)
    verification = verify_linked(tables, found)
    if original is None:
        return LinkedRelease(tables, found, verification)
    private = own_companion(place)
    kept = read_companion(private, place)
    check_private(private, kept, ["rows.arrow"])
    origin = {found.people: read_table(private / "rows.arrow")["row"].to_numpy()}
    return LinkedRelease(tables, found, verification, kept["measures"], link(original, found), origin)


def publish_linked(
    links: Links,
    people: pa.Table,
    source_rows: IntArray,
    columns: Mapping[str, list[EventColumn]],
    recoded: Recoded,
    dropped: BoolArray,
    coins: Coins,
) -> tuple[dict[str, pa.Table], dict[str, IntArray]]:
    """Return the tables to publish, and the original row of each of their rows.

    Parameters
    ----------
    links : Links
        The original tables.
    people : pyarrow.Table
        The published people, without a key.
    source_rows : int64 array
        The original row of each of them.
    columns, recoded, dropped
        The events as they are published.
    coins : Coins
        Deal the keys: nobody else can tell which original key a new one stands for.
    """
    policy = links.policy
    keys = {
        name: _fresh(links, name, ~dropped[links.offsets[name] :][: links.tables[name].num_rows], coins)
        for name in policy.parents() - {policy.people}
    }
    keys[policy.people] = _fresh(links, policy.people, np.ones(links.people.num_rows, dtype=np.bool_), coins)
    # keys may have columns in common with those of the table above, which keep its number
    numbers = {policy.people: dict.fromkeys(policy.tables[policy.people].key, keys[policy.people])}
    first = _sorted(people, {key: values[source_rows] for key, values in numbers[policy.people].items()})
    tables, origin = {policy.people: first[0]}, {policy.people: source_rows[first[1]]}
    for name in policy.events:
        table = policy.tables[name]
        rows = np.flatnonzero(~dropped[links.offsets[name] :][: links.tables[name].num_rows])
        shown: dict[str, Any] = {}
        generalised = dict(zip(table.named(Role.QUASI), zip(columns.get(name) or [], recoded.levels.get(name) or [],
                                                             strict=True), strict=False))  # fmt: skip
        for column, settings in table.columns.items():
            if column in generalised:
                one, levels = generalised[column]
                shown[column] = one.published(levels).take(pa.array(rows))
            elif settings.role.published:
                shown[column] = links.tables[name][column].take(pa.array(rows))
        above = numbers[str(table.of)]
        pairs = zip(policy.by(name), policy.tables[str(table.of)].key, strict=True)
        numbers[name] = {column: above[key][links.owner[name]] for column, key in pairs}
        if name in keys:
            numbers[name] |= {key: keys[name] for key in table.key if key not in numbers[name]}
        tables[name], order = _sorted(pa.table(shown), {key: values[rows] for key, values in numbers[name].items()})
        origin[name] = rows[order]
    return tables, origin


def _fresh(links: Links, name: str, kept: BoolArray, coins: Coins) -> IntArray:
    """Return a new key for each published row of a table: 1, 2, 3, ... in an order that only the secret tells.

    Suppressed rows get none: gaps between the keys would say how many there are.
    """
    lots = coins.purse(f"keys of {name}").lots_of_combinations(links.key_ranks(name))
    rows = np.flatnonzero(kept)
    found = np.zeros(len(lots), dtype=np.int64)
    found[rows[np.argsort(lots[rows], kind="stable")]] = np.arange(1, len(rows) + 1)
    return found


def _sorted(cells: pa.Table, keys: Mapping[str, IntArray]) -> tuple[pa.Table, IntArray]:
    """Return a table with its keys, rows sorted by what they show and then by the keys, and their order."""
    numbers = {name: pa.array(values) for name, values in keys.items()}
    whole = pa.table({**{name: cells[name] for name in cells.column_names}, **numbers})
    order = published_order(whole)
    names = [*keys, *cells.column_names]
    return whole.select(names).take(pa.array(order)), order
