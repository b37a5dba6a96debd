"""Whose a published row is, and whether its cells are true of them: no code of hushtable."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from fuzz.cells import covers, is_missing, number, same

__all__ = ["link", "recoding_of", "untrue"]

Row = Mapping[str, Any]


def recoding_of(policy: Mapping[str, Any]) -> str:
    """How the algorithm publishes groups: the name of a recoding, which the caller adds to the policy."""
    return str(policy.get("recoding", "local"))


def _names(policy: Mapping[str, Any], *roles: str) -> list[str]:
    return [name for name, column in policy["columns"].items() if column["role"] in roles]


def _as_it_was(cell: Any, value: Any, loose: bool) -> bool:
    """Whether a column that is not generalized still holds what it held."""
    gone = [x is None or x != x or (loose and x == "") for x in (cell, value)]
    return all(gone) if any(gone) else bool(cell == value)


def link(
    published: Sequence[Row], source: Sequence[Row], policy: Mapping[str, Any], *, loose: bool = False
) -> list[int] | None:
    """Return a record of its own for every published row; None where some row can be nobody's.

    A row is a record's where all that is not generalized is as it was and every cell covers what the record holds.
    """
    recoding = recoding_of(policy)
    apart = recoding == "bucket"
    kept = _names(policy, "insensitive") if apart else _names(policy, "sensitive", "insensitive")
    exact = _names(policy, "quasi") if apart else []
    recoded = [] if apart or recoding == "centroid" else _names(policy, "quasi")
    tokens = policy.get("missing_values", ())
    # where sensitive values are dealt out anew, what counts as missing is published as nothing
    dealt = _names(policy, "sensitive") if recoding == "numbered" else []

    def held(record: Row, name: str) -> Any:
        return None if name in dealt and is_missing(record[name], tokens) else record[name]

    def fits(row: Row, record: Row) -> bool:
        return all(_as_it_was(row[n], held(record, n), loose) for n in (*kept, *exact)) and all(
            _midpoint(row[n], n, policy) or covers(row[n], record[n], policy["columns"][n], tokens) for n in recoded
        )

    if "ticket" in policy["columns"]:
        place = {record["ticket"]: i for i, record in enumerate(source)}
        found = [place.get(row["ticket"]) for row in published]
        if None in found or len(set(found)) < len(found):
            return None
        owner = [i for i in found if i is not None]
        return owner if all(fits(row, source[i]) for row, i in zip(published, owner, strict=True)) else None
    if apart:
        return None if _apart(published, source, policy) else list(range(len(published)))
    return _matched([[i for i, record in enumerate(source) if fits(row, record)] for row in published])


def _matched(candidates: Sequence[Sequence[int]]) -> list[int] | None:
    """Give every row a candidate of its own, moving others over where that helps."""
    taken: dict[int, int] = {}

    def give(row: int, tried: set[int]) -> bool:
        for record in candidates[row]:
            if record not in tried:
                tried.add(record)
                if record not in taken or give(taken[record], tried):
                    taken[record] = row
                    return True
        return False

    if not all(give(row, set()) for row in range(len(candidates))):
        return None
    owner = {row: record for record, row in taken.items()}
    return [owner[row] for row in range(len(candidates))]


def _apart(published: Sequence[Row], source: Sequence[Row], policy: Mapping[str, Any]) -> bool:
    """Whether people, or values, were published that nobody has; who is whose cannot be told."""
    for names in (_names(policy, "quasi", "insensitive"), _names(policy, "sensitive")):
        shown = Counter(repr([_known(row[n]) for n in names]) for row in published)
        if shown - Counter(repr([_known(row[n]) for n in names]) for row in source):
            return True
    return False


def _known(value: Any) -> Any:
    return None if value != value else value


def _midpoint(cell: Any, name: str, policy: Mapping[str, Any]) -> bool:
    """Whether a cell may be the middle of a range, which does not tell what it covers."""
    style = policy["columns"][name].get("cells") or policy.get("cells")
    return style == "midpoint" and (cell is None or number(cell) is not None)


def untrue(
    published: Sequence[Row],
    source: Sequence[Row],
    owner: Sequence[int],
    policy: Mapping[str, Any],
    classes: Sequence[Sequence[int]],
) -> list[str]:
    """Return what classes say that is not so: middles, representatives, and values that stand apart from people."""
    recoding = recoding_of(policy)
    (parameters,) = policy.get("algorithm", {"mondrian": {}}).values()
    if "ticket" not in policy["columns"]:
        # without it nobody can tell which of several equal rows a class holds
        return []
    found = []
    if recoding == "bucket":
        names = _names(policy, "sensitive")
        for places in classes:
            shown = Counter(repr([_known(published[p][n]) for n in names]) for p in places)
            if shown != Counter(repr([_known(source[owner[p]][n]) for n in names]) for p in places):
                found.append("a group's sensitive values are not those of its people")
        return found
    tokens = policy.get("missing_values", ())
    for name in _names(policy, "quasi"):
        column = policy["columns"][name]
        for places in classes:
            cell = published[places[0]][name]
            held = [source[owner[p]][name] for p in places]
            known = [v for v in held if not is_missing(v, tokens)]
            if "kind" not in column and any(isinstance(v, str) and not v.strip() for v in held):
                # blanks may be values or not
                continue
            if recoding == "centroid":
                if not _represents(cell, known, column, whole=bool(parameters.get("round"))):
                    found.append(f"{name}: not the representative of its class")
            elif "population" in policy or "background" in policy:
                # cells cover those people too
                continue
            elif not (all(covers(cell, v, column, tokens) for v in held) or _middle(cell, held, known)):
                found.append(f"{name}: not the middle of its class")
    return found


def _middle(cell: Any, held: Sequence[Any], known: Sequence[Any]) -> bool:
    if cell is None:
        return len(known) < len(held)
    numbers = [number(v) for v in known]
    shown = number(cell)
    if shown is None or len(known) < len(held) or not all(n is not None for n in numbers):
        return False
    ends = [n for n in numbers if n is not None]
    return _near(shown, (min(ends) + max(ends)) / 2, max(map(abs, ends)))


def _near(shown: Fraction, wanted: Fraction, size: Fraction) -> bool:
    return abs(shown - wanted) <= Fraction(1, 10**9) * max(size, Fraction(1, 10**300))


def _represents(cell: Any, known: Sequence[Any], column: Mapping[str, Any], *, whole: bool) -> bool:
    """Whether a cell is the mean, the mean day, the lower median or the most frequent of a class's values."""
    if not known:
        return cell is None
    if cell is None:
        return False
    kind = column.get("kind")
    if column.get("order"):
        order = column["order"]
        return bool(_unescaped(cell) == sorted(known, key=order.index)[(len(known) - 1) // 2])
    if isinstance(known[0], datetime.date) and kind in (None, "date"):
        days = [v.toordinal() for v in known]
        return same(str(cell), datetime.date.fromordinal(math.floor(Fraction(sum(days), len(days)))))
    numbers = [number(v) for v in known]
    ends = [n for n in numbers if n is not None]
    if kind != "nominal" and len(ends) == len(known) and number(cell) is not None:
        mean, shown = sum(ends, Fraction(0)) / len(ends), number(cell)
        good = shown is not None and _near(shown, mean, max(map(abs, ends)))
        if good or (whole and shown == round(mean)) or not isinstance(known[0], str):
            return good or (whole and shown == round(mean))
        # digits may be codes, where nobody says that they are numbers
    # 0.0 and -0.0 are one value
    keys = [number(v) if isinstance(v, float) else repr(v) for v in known]
    counted = Counter(keys)
    most = max(counted.values())
    return any(same(_unescaped(cell), v, column) for v, key in zip(known, keys, strict=True) if counted[key] == most)


def _unescaped(cell: Any) -> Any:
    return cell[1:] if isinstance(cell, str) and cell.startswith("\\") else cell
