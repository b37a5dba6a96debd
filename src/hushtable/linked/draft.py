"""A starter policy for a database: its foreign keys give people and events, its rows suggest the roles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from hushtable.errors import DataError, UsageError, did_you_mean
from hushtable.io.sql_base import TableKeys
from hushtable.io.versions import FORMATS
from hushtable.policy.starter import column_lines, with_quasi
from hushtable.policy.text import in_a_comment, write_yaml
from hushtable.schema.columns import Role
from hushtable.schema.profile import ColumnProfile, profile


@dataclass(frozen=True)
class TableJoin:
    """How a table is joined to the others.

    Attributes
    ----------
    of : str or None
        The table that its rows belong to; None for people.
    by : tuple of str
    key : tuple of str
    others : mapping of str to str
        Columns of other foreign keys, and the table that each refers to.
    """

    of: str | None
    by: tuple[str, ...]
    key: tuple[str, ...]
    others: Mapping[str, str]


def join_tables(keys: Mapping[str, TableKeys], people: str | None = None) -> dict[str, TableJoin]:
    """Return how tables are joined by foreign keys: people first, each table after the one it belongs to.

    A table with several paths to people belongs to the table farthest from them: a diagnosis belongs to its stay.

    Parameters
    ----------
    keys : mapping of str to TableKeys
    people : str, optional
        The table of people. Defaults to the one that most other tables refer to.

    Raises
    ------
    DataError
        If no foreign key joins the tables, or two tables could be the table of people.

    Examples
    --------
    >>> keys = {"ill": TableKeys((), {("who",): ("people", ("id",))}), "people": TableKeys(("id",), {})}
    >>> join_tables(keys)["ill"].of
    'people'
    """
    if people is not None and people not in keys:
        raise UsageError(f"There is no table {people!r} in the schema.", code="no-table",
                         hint=did_you_mean(people, keys))  # fmt: skip
    leading = {name: _leading(keys, name) for name in ([people] if people else keys)}
    if not any(leading.values()):
        raise DataError(
            "No foreign key in the schema refers from one table to another.",
            code="no-foreign-keys",
            hint="Declare them in the database, or write the policy's 'tables' by hand: see docs/linked.md.",
        )
    # if the same tables refer to both, choose the one with more foreign keys
    direct = Counter(above for one in keys.values() for above, _ in one.references.values())
    most = max((len(below), direct[name]) for name, below in leading.items())
    roots = [name for name, below in leading.items() if (len(below), direct[name]) == most]
    if len(roots) > 1:
        raise DataError(
            f"{', '.join(map(repr, roots))} could each be the table of people.",
            code="people",
            hint="Say which one with --people NAME.",
        )
    (root,) = roots
    depth = leading[root]
    order = [root, *sorted(depth, key=lambda name: (depth[name], name))]
    chosen = {name: _chosen(keys[name], depth, root, name) for name in order[1:]}
    key = {name: keys[name].key for name in order}
    for columns in chosen.values():
        above, to = columns[1]
        if to and key[above] != to:
            # keys need not be primary keys
            key[above] = to
    found = {root: TableJoin(None, (), key[root], _others(keys[root], ()))}
    for name, (by, (above, _)) in chosen.items():
        found[name] = TableJoin(above, by, key[name], _others(keys[name], by))
    return found


def _leading(keys: Mapping[str, TableKeys], root: str) -> dict[str, int]:
    """Return the tables that refer to one, with the length of the longest path; a path visits no table twice."""
    depth = {root: 0}
    for _ in keys:
        for name, own in keys.items():
            if name != root:
                ways = [depth[above] + 1 for above, _ in own.references.values() if above in depth and above != name]
                if ways and max(ways) < len(keys):
                    depth[name] = max(ways)
    del depth[root]
    return depth


def _chosen(
    own: TableKeys, depth: Mapping[str, int], root: str, name: str
) -> tuple[tuple[str, ...], tuple[str, tuple[str, ...]]]:
    ways = [(by, to) for by, to in own.references.items() if to[0] == root or (to[0] in depth and to[0] != name)]
    found = max(ways, key=lambda way: depth.get(way[1][0], 0))
    if depth.get(found[1][0], 0) >= depth[name]:
        raise DataError("The foreign keys of the schema form a cycle.", code="cycle",
                        hint="Write the policy's 'tables' by hand: every table must lead to people.")  # fmt: skip
    return found


def _others(own: TableKeys, by: tuple[str, ...]) -> dict[str, str]:
    return {
        column: above
        for columns, (above, _) in own.references.items()
        for column in columns
        if columns != by and column not in (*by, *own.key)
    }


def draft_policy(joined: Mapping[str, TableJoin], tables: Mapping[str, pa.Table], name: str, left: int) -> str:
    """Return a commented starter policy, as YAML text.

    Parameters
    ----------
    joined : mapping of str to TableJoin
    tables : mapping of str to pyarrow.Table
    name : str
        The database, for the heading.
    left : int
        Number of tables in the schema that do not refer to people.
    """
    return "\n".join([*_heading(name, left), *_tables(joined, tables), *_settings(), ""])


def _heading(name: str, left: int) -> Iterator[str]:
    yield f"# A starter policy for the tables of {in_a_comment(name)}, joined by its foreign keys."
    yield "# Every role below is a suggestion. Read the reasons, ask who could know what, and correct them."
    if left:
        yield f"# Tables of the schema that do not refer to people, and are not published: {left}."
    yield f"format: {FORMATS['policy']}"


def _tables(joined: Mapping[str, TableJoin], tables: Mapping[str, pa.Table]) -> Iterator[str]:
    yield "tables:"
    for name, own in joined.items():
        yield ""
        yield f"  # {tables[name].num_rows:,} rows"
        yield from _indented(write_yaml({name: {}}).replace(" {}", ""), 2)
        for setting, value in (("of", own.of), ("by", list(own.by)), ("key", list(own.key))):
            if value:
                yield from _indented(write_yaml({setting: value}), 4)
        keys = {*own.key, *own.by}
        rest = tables[name].select([c for c in tables[name].column_names if c not in keys])
        columns = list(_columns(own, rest))
        yield "    columns:" if columns else "    columns: {}"
        yield from (f"    {line}" if line else "" for line in columns)


def _columns(own: TableJoin, table: pa.Table) -> Iterator[str]:
    for column, above in own.others.items():
        yield f"  # drop: a foreign key that refers to {in_a_comment(above)}"
        yield from _indented(write_yaml({column: {"role": "drop"}}), 2)
    table = table.select([c for c in table.column_names if c not in own.others])
    if not table.num_rows or not table.num_columns:
        for column in table.column_names:
            yield "  # drop: the table has no rows"
            yield from _indented(write_yaml({column: {"role": "drop"}}), 2)
        return
    found = profile(table)
    suited: Callable[[ColumnProfile], ColumnProfile] = _event if own.of is not None else (lambda column: column)
    for one in map(suited, (found if own.of is not None else with_quasi(found)).columns):
        yield from column_lines(one, (), protected=False)


def _event(column: ColumnProfile) -> ColumnProfile:
    """Return the column with a role for events, without a hierarchy built from the data."""
    if column.role in (Role.WEIGHT, Role.CLUSTER):
        column = replace(column, role=Role.DROP)
    made = column.hierarchy == "frequency" or (
        isinstance(column.hierarchy, Mapping) and "quantiles" in str(column.hierarchy.get("intervals"))
    )
    return replace(column, hierarchy="flat", hierarchy_reason="") if made else column


def _settings() -> Iterator[str]:
    yield ""
    yield "# How many events of a person an adversary may know: 1 to 4, or all."
    yield "knows: 2"
    yield "# All of these must hold for the people who match. 'hushtable models' lists all models."
    yield "# For a sensitive column of events, add for example distinct-l: {l: 3, on: table.column}."
    yield from write_yaml({"models": [{"k-anonymity": {"k": 5}}]}).rstrip("\n").split("\n")
    yield "# Share of the events that may be suppressed, from 0 to 1."
    yield "suppression: 0.2"


def _indented(text: str, by: int) -> Iterator[str]:
    yield from (" " * by + line for line in text.rstrip("\n").split("\n"))
