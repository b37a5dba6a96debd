"""The parts of a reproduction: items (a table, a figure or an example of a paper), each with its verdict.

An item has rows of ``{experiment, setting, published, ours}``, pictures drawn from them, the readings that were tried
where the paper is ambiguous, and the reason for its verdict. All of it is plain data that survives a round trip to
JSON.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

Value: TypeAlias = float | int | str | None

VERDICTS = ("exact", "within", "same trend", "differs")
"""From best to worst."""

Verdict = Literal["exact", "within", "same trend", "differs"]

_WITHIN = 0.25
"""The largest relative difference between numbers that count as close."""

YES, NO, UNDECIDED = "yes", "no", "undecided"


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Row(_Data):
    """One number or statement: what was published and what we get."""

    experiment: str
    setting: str
    published: Value
    ours: Value


class PaperReading(_Data):
    """One way to read a paper: its name, what comes out, and whether the published figures favor it."""

    question: str
    reading: str
    result: str
    favoured: bool = False


class Cell(_Data):
    """A cell of a table: the published value and ours, or only ours if the paper has none."""

    published: Value = None
    ours: Value = None


class Table(_Data):
    """A table of the paper, with both values in every cell."""

    kind: Literal["table"] = "table"
    caption: str
    head: tuple[str, ...]
    names: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]


class Line(_Data):
    """A line of a figure, ours or published; ``band`` has the lowest and highest value at each point."""

    name: str
    points: tuple[tuple[float, float], ...]
    published: bool = False
    band: tuple[tuple[float, float], ...] = ()


class Lines(_Data):
    """A figure with lines; ``zero`` says whether its scale begins at 0."""

    kind: Literal["lines"] = "lines"
    caption: str
    x: str
    y: str
    lines: tuple[Line, ...]
    zero: bool = True


class Squares(_Data):
    """Points in the plane and the boxes that an algorithm put around them: (left, bottom, right, top)."""

    kind: Literal["squares"] = "squares"
    caption: str
    x: str
    y: str
    points: tuple[tuple[float, float], ...]
    boxes: tuple[tuple[float, float, float, float], ...]


Picture: TypeAlias = Table | Lines | Squares


class Item(_Data):
    """A table, a figure or an example of a paper.

    Attributes
    ----------
    name, about : str
        Its name in the paper, and what it shows.
    verdict : str
        One of ``VERDICTS``; ``words`` says it exactly.
    reason : str
        The reason for the verdict.
    readings, pictures, rows : tuples
    """

    name: str
    about: str
    verdict: Verdict
    words: str
    reason: str
    readings: tuple[PaperReading, ...] = ()
    pictures: tuple[Picture, ...] = Field(default=())
    rows: tuple[Row, ...] = ()


def row(experiment: str, setting: str, published: Any, ours: Any) -> Row:
    """Return one row; ``published`` is None if the paper does not give it.

    Examples
    --------
    >>> row("Table 10", "k=3", 25, 0).ours
    0
    """
    return Row(experiment=experiment, setting=setting, published=_plain(published), ours=_plain(ours))


def _plain(value: Any) -> Value:
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, bool):
        return YES if plain else NO
    # JSON has no NaN
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain


def statement(experiment: str, words: str, holds: bool | None) -> Row:
    """Return a row for a statement in words; None if our numbers do not decide it.

    Examples
    --------
    >>> statement("Figure 5", "time grows with k", None).ours
    'undecided'
    """
    return row(experiment, words, YES, UNDECIDED if holds is None else holds)


def judge(rows: Sequence[Row]) -> tuple[Verdict, str]:
    """Return the verdict on rows, and its exact wording. Rows without a published value do not count.

    Statements are rows whose published value is "yes". Values within 25% of the published ones are close; a trend is
    the same if every statement that our numbers decide holds.

    Examples
    --------
    >>> judge([row("T", "a", 3, 3), row("T", "b", 2.5, 2.5)])
    ('exact', 'exact: 2 of 2 values')
    >>> judge([row("T", "a", 100, 90), row("T", "b", 5, 5)])
    ('within', 'within 10%: 1 of 2 values exact')
    >>> judge([row("F", "a", 100, 9), statement("F", "falls", True), statement("F", "is slower", None)])
    ('same trend', 'same trend: 1 of 2 statements holds, 1 undecided; 0 of 1 value exact, the others off by up to 91%')
    >>> judge([statement("F", "falls", False)])
    ('differs', 'differs: 0 of 1 statement holds')
    """
    said = [r.ours for r in rows if r.published == YES]
    values = [(r.published, r.ours) for r in rows if r.published is not None and r.published != YES]
    same = sum(p == o for p, o in values)
    gaps = [_gap(p, o) for p, o in values]
    holding, open_ = said.count(YES), said.count(UNDECIDED)
    words = []
    if said:
        plural = "statement" if len(said) == 1 else "statements"
        undecided = f", {open_} undecided" if open_ else ""
        words.append(f"{holding} of {len(said)} {plural} {'holds' if holding < 2 else 'hold'}{undecided}")
    agrees = holding + open_ == len(said)
    count = f"{same} of {len(values)} {'value' if len(values) == 1 else 'values'}"
    if values and same == len(values) and agrees:
        return "exact", "; ".join([f"exact: {count}", *words])
    if values and agrees and max(gaps) <= _WITHIN:
        return "within", "; ".join([f"within {_percent(max(gaps))}: {count} exact", *words])
    if values:
        off = "" if math.isinf(max(gaps)) else f", the others off by up to {_percent(max(gaps))}"
        words.append(f"{count} exact{off}")
    verdict: Verdict = "same trend" if said and agrees and holding else "differs"
    return verdict, f"{verdict}: {'; '.join(words)}"


def _percent(share: float) -> str:
    return f"{100 * share:.2g}%" if share < 0.1 else f"{100 * share:,.0f}%"


def _gap(published: Value, ours: Value) -> float:
    """The relative difference of ours from the published value; infinite if they cannot be compared."""
    if published == ours:
        return 0.0
    if isinstance(published, int | float) and isinstance(ours, int | float) and published:
        return abs(ours / published - 1)
    return math.inf


def item_of(
    name: str, about: str, rows: Sequence[Row], reason: str, *, readings: Sequence[PaperReading] = (),
    pictures: Sequence[Picture] = (), more: Sequence[Row] = (),
) -> Item:  # fmt: skip
    """Return an item with the verdict on its rows.

    Parameters
    ----------
    name, about, reason : str
    rows : sequence of Row
        The rows to judge.
    readings, pictures : sequences
    more : sequence of Row
        Rows that are stored but not judged, such as those of other readings.

    Examples
    --------
    >>> item_of("Table 1", "levels", [row("Table 1", "age", 5, 5)], "").verdict
    'exact'
    """
    verdict, words = judge(rows)
    return Item(
        name=name, about=about, verdict=verdict, words=words, reason=reason, readings=tuple(readings),
        pictures=tuple(pictures), rows=(*rows, *more),
    )  # fmt: skip


def nearest(question: str, results: Sequence[tuple[str, str, float]]) -> list[PaperReading]:
    """Return a reading for each (name, result, distance from the published figures); the nearest are favored.

    Examples
    --------
    >>> [r.favoured for r in nearest("levels", [("2", "17 tables", 4.0), ("3", "24 tables", 3.0)])]
    [False, True]
    """
    least = min((distance for *_, distance in results), default=0.0)
    return [
        PaperReading(question=question, reading=name, result=result, favoured=distance == least)
        for name, result, distance in results
    ]
