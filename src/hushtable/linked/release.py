"""A linked release: the same tables with fresh random keys, written completely or not at all."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from hushtable._version import __version__, code_digest
from hushtable.algorithms.base import Progress
from hushtable.arrays import BoolArray, IntArray
from hushtable.errors import DataError, UsageError
from hushtable.io.atomic import atomic_write_text
from hushtable.io.dictionaries import compact, encode, to_codes
from hushtable.io.files import read_table, write_table
from hushtable.io.formulas import guard_table
from hushtable.io.frames import to_arrow
from hushtable.io.inferred import settle
from hushtable.io.secret import keyed_hash, load_secret
from hushtable.io.sql import writing_sql
from hushtable.io.sql_place import SqlPlace
from hushtable.io.text import to_labels
from hushtable.io.versions import FORMATS
from hushtable.linked.links import Links, link
from hushtable.linked.policy import LinkedPolicy, read_policy
from hushtable.linked.recoding import LinkedProblem, RecodedEvents
from hushtable.linked.sources import addresses, read_events, read_linked
from hushtable.linked.verify import LinkedVerification, promise_of, shown_cells, verify_linked
from hushtable.params import typed
from hushtable.release.companion import (
    check_private,
    load_evidence,
    own_companion,
    read_companion,
    release_folders,
    release_mark,
    write_companion,
)
from hushtable.release.evidence import HOW_TO_READ
from hushtable.release.publish import published_order
from hushtable.release.verify import Evidence
from hushtable.schema.columns import Role
from hushtable.table.coins import Coins

if TYPE_CHECKING:
    from hushtable.attacks.base import AttackResult
    from hushtable.ledger.describe import Described
    from hushtable.ledger.key import LedgerKey
    from hushtable.report.content import Report
    from hushtable.risk.before_after import RiskSummary

KIND = "linked"
"""The name in ``release.json`` for a release of linked tables."""

_log = logging.getLogger(__package__)


@dataclass(frozen=True)
class LinkedRelease:
    """Published tables of people and their events, verified.

    Attributes
    ----------
    tables : mapping of str to pyarrow.Table
        The published tables: rows sorted by their cells, then by their random keys.
    policy : LinkedPolicy
    verification : LinkedVerification
    measures : mapping
        Information loss, table by table. It depends on the original, so it is not published.
    links : Links, optional
        The original tables, if they are known.
    origin : mapping of str to int64 array
        For each published table, the original row of each row. It links rows to people, so it is private.

    Examples
    --------
    >>> from hushtable.linked.run import anonymize_linked
    >>> policy = LinkedPolicy(
    ...     tables={"people": {"key": "id", "columns": {"age": {"role": "quasi", "kind": "numeric"}}},
    ...             "visits": {"of": "people", "columns": {"reason": {"role": "quasi"}}}},
    ...     knows=1, models=[{"k-anonymity": {"k": 2}}], suppression=0.4)
    >>> people = {"id": [7, 8, 9, 10], "age": [30, 31, 52, 53]}
    >>> visits = {"id": [7, 8, 8, 9, 10], "reason": ["cold", "cold", "burn", "cold", "cold"]}
    >>> release = anonymize_linked({"people": pa.table(people), "visits": pa.table(visits)}, policy)
    >>> found = release.risk()
    >>> found["events"].before.highest, found["events"].after.highest
    (1.0, 0.5)
    >>> found["combinations"].before.of_one_person, found["combinations"].after.of_one_person
    (9, 0)
    >>> release.attack("event-linkage").counts
    {'fewest_candidates': 2}
    >>> release.sample()["people"]["age"].type
    DataType(int64)
    >>> release.report(attacks=False).summary.ok
    True
    """

    tables: Mapping[str, pa.Table]
    policy: LinkedPolicy
    verification: LinkedVerification
    measures: Mapping[str, Any] = field(default_factory=dict)
    links: Links | None = field(default=None, repr=False)
    origin: Mapping[str, IntArray] = field(default_factory=dict, repr=False)
    folder: Path | None = None
    """where it was opened from"""
    made_by: tuple[str, str | None] = ("", None)
    """the version that made it, and the digest of its code if that is known"""

    def verify(self) -> LinkedVerification:
        """Recompute the promise from the published tables."""
        return verify_linked(self.tables, self.policy)

    def published(self) -> Links:
        """Return the published tables with their keys matched."""
        return link(self.tables, self.policy, published=True)

    def evidence(self) -> tuple[Evidence, ...]:
        """Return what every model achieves for the worst combination that an adversary may know."""
        links = self.published()
        events, promise = promise_of(links, *shown_cells(links))
        return promise.evidence(events)

    def summary(self) -> dict[str, Any]:
        """Return a summary of the run as data, without any cell values."""
        rows = {name: table.num_rows for name, table in self.tables.items()}
        return {"hushtable": __version__, "kind": KIND, "rows": rows, **self.verification.as_dict(),
                "measures": dict(self.measures)}  # fmt: skip

    def original(self) -> Links:
        """Return the original tables.

        Raises
        ------
        UsageError
            If the release was opened without them.
        """
        if self.links is None or not self.origin:
            raise UsageError(
                "The release was opened without its original.",
                code="needs-original",
                hint="Open it with the original tables: open_release(folder, tables), or --data.",
            )
        return self.links

    @typed
    def risk(self, *, threshold: float = 0.09, comparison: Literal[">", ">="] = ">") -> RiskSummary:
        """Assess the risk from an adversary who knows as many events of a person as the policy says.

        Parameters
        ----------
        threshold : float
            Risk above which a person is at risk.
        comparison : {">", ">="}

        Returns
        -------
        RiskSummary
            ``attributes``: only attributes are known. ``events``: the most revealing events that the policy lets an
            adversary know. ``combinations``: how many of those there are, and how many only one person has.
        """
        from hushtable.linked.risk import linked_risks

        return linked_risks(self, threshold, comparison)

    @typed
    def attack(self, name: str, *, control: Mapping[str, Any] | None = None) -> AttackResult:
        """Run one attack from ``hushtable.linked.attacks.ATTACKS``.

        Parameters
        ----------
        name : str
        control : mapping of str to DataFrame, optional
            Tables of people who are not in the release, for ``event-membership``.
        """
        from hushtable.linked.attacks import attack_release

        return attack_release(self, [name], control=control)[0]

    def described(self, key: LedgerKey, *, name: str = "", person: str | None = None) -> Described:
        """Return what a ledger stores about the release."""
        from hushtable.linked.ledger import describe_linked

        return describe_linked(self, key, name=name, person=person)

    @typed
    def sample(self, *, seed: int = 0) -> dict[str, pa.Table]:
        """Draw tables with the original's columns and types from the published tables alone.

        Every generalized cell gets a value drawn uniformly from those that it covers. A mask whose values the policy
        does not list stays a mask, and a fully suppressed column ('*') is left empty. Other cells, rows and keys stay,
        so every reference remains valid. A row that matches a person does so by chance. The result depends only on
        public files and the seed, so it cannot weaken the release.

        Parameters
        ----------
        seed : int
            The same seed gives the same rows.
        """
        from hushtable.linked.sample import sample_linked

        return sample_linked(self, seed=seed)

    @typed
    def report(
        self,
        path: str | os.PathLike[str] | None = None,
        template: str = "general",
        *,
        attacks: bool | Sequence[str] = True,
        about: Any = None,
        progress: Progress | None = None,
        **parameters: Any,
    ) -> Report:
        """Gather the evidence about the release, and write it as an HTML page with a JSON file.

        Parameters
        ----------
        path : path, optional
            The HTML file. Defaults to writing nothing.
        template : str
            The audience of the report.
        attacks : bool or sequence of str
            All attacks, none, or those named.
        about : mapping or path, optional
            Dataset, purpose, organisation, signer.
        progress : callable, optional
        **parameters
            Parameters of the template: ``threshold``, ``comparison``.
        """
        from hushtable.linked.report import report_linked
        from hushtable.report.page.page import check_paths, write_report

        if path is not None:
            check_paths(path)
        found = report_linked(self, template, parameters, attacks=attacks, about=about, progress=progress)
        if path is not None:
            write_report(found, path)
        return found

    @typed
    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        format: Literal["csv", "parquet"] | None = None,
        overwrite: bool = False,
        to: str | None = None,
    ) -> Path:
        """Write all tables, ``policy.yaml``, ``release.json`` and the private companion, all or nothing.

        Parameters
        ----------
        folder : path
        format : {"csv", "parquet"}, optional
            Defaults to the policy's.
        overwrite : bool
        to : str, optional
            A database that also gets the tables, in one transaction: ``duckdb:///open.db?schema=NAME``.

        Raises
        ------
        VerificationError
            If the tables violate the policy, as an edited folder may.
        """
        self.verification.raise_if_violated()
        ending = format or self.policy.output.format
        guarded = ending == "csv" and self.policy.output.reader == "spreadsheet"
        with release_folders(folder, overwrite=overwrite) as (target, private):
            for name, table in self.tables.items():
                write_table(guard_table(table) if guarded else table, target / f"{name}.{ending}")
            atomic_write_text(target / "policy.yaml", HOW_TO_READ + self.policy.to_yaml())
            public = {name: value for name, value in self.summary().items() if name != "measures"}
            mark = {"format": FORMATS["release"], "release": release_mark(target)}
            public = {**mark, **public, "files": {name: f"{name}.{ending}" for name in self.tables}}
            atomic_write_text(target / "release.json", json.dumps(public, indent=2) + "\n")
            if self.origin:
                # which row belongs to which person: attacks score their guesses with it
                write_table(pa.table({"row": self.origin[self.policy.people]}), private / "rows.arrow")
            original = None if self.links is None else _input_mark(self.links)
            kept = {"kind": KIND, "release": mark["release"], "code_sha256": code_digest(), "input": original}
            write_companion(private, target, {**kept, "measures": dict(self.measures)})
            if to is not None:
                # last, just before the folder appears: any earlier failure leaves the database unchanged
                places = [(SqlPlace.of(one), self.tables[name]) for name, one in addresses(to, self.tables).items()]
                with writing_sql(places, overwrite=overwrite):
                    pass
        _log.info("Saved a release of %d tables", len(self.tables), extra={"tables": len(self.tables)})
        return Path(folder)


@typed
def open_linked(
    folder: str | os.PathLike[str],
    policy: LinkedPolicy | None = None,
    original: Any = None,
    *,
    files: str | os.PathLike[str] | None = None,
) -> LinkedRelease:
    """Open a linked release from its folder, and verify it.

    Parameters
    ----------
    folder : path
    policy : LinkedPolicy, optional
        The policy to verify against. Defaults to the folder's ``policy.yaml``.
    original : mapping of str to DataFrame, or path or address, or several; optional
        The exact tables that were released. With them, the private companion is read too.
    files : path, optional
        Base folder for files that the policy refers to. Defaults to the release's folder.

    Raises
    ------
    DataError
        If a table is absent, or these are not the tables that were released.
    """
    place = Path(folder)
    found = read_policy(place / "policy.yaml") if policy is None else policy
    if files is not None:
        found = found.based_in(files)
    if not isinstance(found, LinkedPolicy):
        raise DataError(f"The release in {place.name!r} is not one of linked tables.", code="not-linked",
                        hint="Open it with hushtable.open_release.")  # fmt: skip
    tables = {}
    for name in (found.people, *found.events):
        there = [file for file in (place / f"{name}.csv", place / f"{name}.parquet") if file.exists()]
        if len(there) != 1:
            raise DataError(f"The folder must have exactly one file for table {name!r}.", code="no-table",
                            hint="Copy all files of the release.")  # fmt: skip
        unescape = found.output.reader == "spreadsheet" and there[0].suffix == ".csv"
        tables[name] = read_events(there[0], unescape_formulas=unescape)
    verification = verify_linked(tables, found)
    public = load_evidence(place / "release.json") if (place / "release.json").is_file() else {}
    opened = LinkedRelease(tables, found, verification, folder=place, made_by=(str(public.get("hushtable", "")), None))
    if original is None:
        return opened
    private = own_companion(place)
    kept = read_companion(private, place)
    check_private(private, kept, ["rows.arrow"])
    links = link(_tables(original, found), found)
    if kept.get("input") not in (None, _input_mark(links)):
        raise DataError("These are not the tables that were released: people, their order or the number of events "
                        "differ.", code="other-input", hint="Give exactly the tables that the run read.")  # fmt: skip
    origin = {found.people: read_table(private / "rows.arrow")["row"].to_numpy()}
    made_by = (opened.made_by[0], kept.get("code_sha256"))
    return replace(opened, measures=kept["measures"], links=links, origin=origin, made_by=made_by)


def linked_measures(folder: Path) -> dict[str, Any]:
    """Return the information loss of a linked release from its private companion."""
    found: dict[str, Any] = read_companion(own_companion(folder), folder)["measures"]
    if not found:
        raise UsageError("The release was saved from a copy that was opened without its original, so its "
        "information loss is not known.", code="needs-original",
                         hint="Measure the folder that 'hushtable run' wrote.")  # fmt: skip
    return found


def _tables(original: Any, policy: LinkedPolicy) -> dict[str, pa.Table]:
    """Return the original tables, read from their sources unless they are tables."""
    if isinstance(original, Mapping):
        return {name: to_arrow(table) for name, table in original.items()}
    sources = list(original) if isinstance(original, list | tuple) else [original]
    if not all(isinstance(source, str | os.PathLike) for source in sources):
        raise UsageError("The original of linked tables is a mapping of names to tables, or paths or addresses.",
                         code="wrong-type", hint="Give the folder that holds the files of all tables.")  # fmt: skip
    return read_linked([s if isinstance(s, str) else Path(s) for s in sources], policy)


def _input_mark(links: Links) -> str:
    """Return a keyed hash of the people in the tables, their order, and the number of events."""
    people, secret = links.people, load_secret()
    parts = [repr({name: table.num_rows for name, table in links.tables.items()}).encode()]
    for key in links.policy.tables[links.policy.people].key:
        one = encode(people[key])
        texts = to_labels(one.dictionary).to_pylist()
        parts += [str(text).encode("utf-8", "surrogatepass") for text in texts]
        parts.append(to_codes(one).astype("<i8").tobytes())
    return keyed_hash(parts, secret, "people of linked tables")


def publish_linked(
    problem: LinkedProblem, people: pa.Table, source_rows: IntArray, recoded: RecodedEvents
) -> tuple[dict[str, pa.Table], dict[str, IntArray]]:
    """Return the tables to publish, and the original row of each of their rows.

    Parameters
    ----------
    problem : LinkedProblem
        The original tables, and the coins that assign the keys: without the secret, nobody can tell which original key
        a new one replaces.
    people : pyarrow.Table
        The published people, without a key.
    source_rows : int64 array
        The original row of each of them.
    recoded : RecodedEvents
        The events as they are published.
    """
    links, coins, policy = problem.links, problem.coins, problem.links.policy
    keys = {
        name: _fresh(links, name, ~recoded.dropped[links.part(name)], coins)
        for name in policy.parents() - {policy.people}
    }
    keys[policy.people] = _fresh(links, policy.people, np.ones(links.people.num_rows, dtype=np.bool_), coins)
    # columns that a key shares with the key of the parent table keep the parent's number
    numbers = {policy.people: dict.fromkeys(policy.tables[policy.people].key, keys[policy.people])}
    first = _sorted(people, {key: values[source_rows] for key, values in numbers[policy.people].items()})
    tables, origin = {policy.people: first[0]}, {policy.people: source_rows[first[1]]}
    for name in policy.events:
        table = policy.tables[name]
        rows = np.flatnonzero(~recoded.dropped[links.part(name)])
        shown: dict[str, Any] = {}
        own = zip(problem.columns.get(name) or [], recoded.levels.get(name) or [], strict=True)
        generalised = dict(zip(table.named(Role.QUASI), own, strict=False))
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
        cells = settle(pa.table(shown), links.tables[name].schema)
        tables[name], order = _sorted(cells, {key: values[rows] for key, values in numbers[name].items()})
        origin[name] = rows[order]
    return tables, origin


def _fresh(links: Links, name: str, kept: BoolArray, coins: Coins) -> IntArray:
    """Return a new key for each published row of a table: 1, 2, 3, ... in an order that depends on the secret.

    Suppressed rows get none: gaps between the keys would reveal how many there are.
    """
    lots = coins.purse(f"keys of {name}").lots_of_combinations(links.key_ranks(name))
    rows = np.flatnonzero(kept)
    found = np.zeros(len(lots), dtype=np.int64)
    found[rows[np.argsort(lots[rows], kind="stable")]] = np.arange(1, len(rows) + 1)
    return found


def _sorted(cells: pa.Table, keys: Mapping[str, IntArray]) -> tuple[pa.Table, IntArray]:
    """Return a table with its keys, its rows sorted by their cells and then by the keys, and their order."""
    numbers = {name: pa.array(values) for name, values in keys.items()}
    whole = pa.table({**{name: cells[name] for name in cells.column_names}, **numbers})
    order = published_order(whole)
    names = [*keys, *cells.column_names]
    # no value of a dropped row may remain in a dictionary
    return compact(whole.select(names).take(pa.array(order))), order
