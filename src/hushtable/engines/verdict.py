"""A verdict on a release: how useful it is, and which setting costs most.

The price list comes from trials: the policy is run without each quasi-identifier, without each model of sensitive
columns, and with other suppression limits. For tables with more than ``SAMPLE`` rows, trials use evenly spaced rows;
the best changes are then tried on the whole table if that takes only seconds. Everything here depends on the original,
so it must stay within the organization.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hushtable.errors import IncompatibleError, Infeasible, NotFound, ParameterError
from hushtable.io.figures import share
from hushtable.models.base import PrivacyModel, Threat
from hushtable.release.plan import Plan
from hushtable.schema.columns import Role
from hushtable.table.plan import TablePlan
from hushtable.utility.ncp import ncp_of_columns
from hushtable.utility.pair_error import PairError
from hushtable.utility.query_error import QueryError

if TYPE_CHECKING:
    from hushtable.engines.release import Release
    from hushtable.release.comparison import Comparison, RowComparison

SAMPLE = 4_000
"""Maximum number of rows in a trial."""

LARGE = 2_000_000
"""Number of rows above which there are no trials, so that a verdict after a run takes little time."""

_WHOLE = 3_000_000
_SILENT = 0.9
_LISTED = 4
_GAIN = 0.01
_LIMITS = (0.02, 0.05)
_GRADES = (("nearly empty", 0.5, 0.5), ("coarse", 0.2, 0.25))


@dataclass(frozen=True)
class Numbers:
    """Three numbers about the loss, each from 0 (none) to about 1 (everything).

    Attributes
    ----------
    ncp : float
        Share of the detail of the quasi-identifiers that is lost.
    query_error : float
        Median error of counts over ranges of two or three columns. NaN if no column varies.
    pair_error : float
        Mean distance of the counts of pairs of columns. NaN if there is only one column.
    """

    ncp: float
    query_error: float
    pair_error: float

    @property
    def cost(self) -> float:
        """The rank of changes: the mean of the numbers that are defined."""
        known = [min(value, 1.0) for value in (self.ncp, self.query_error, self.pair_error) if not math.isnan(value)]
        return sum(known) / len(known)

    def as_dict(self) -> dict[str, float | None]:
        """JSON-ready data."""
        return {name: None if math.isnan(value) else value for name, value in asdict(self).items()}


@dataclass(frozen=True)
class PolicyChange:
    """A change of the policy, and its effect.

    Attributes
    ----------
    kind : {"quasi", "model", "suppression"}
    what : str
        The change in words.
    setting : str
        What to write in the policy.
    before, after : Numbers
        For the same rows and columns; if a column is dropped, for the others.
    rows : int
        Number of rows in the trial.
    price : str
        What the change gives up.
    """

    kind: str
    what: str
    setting: str
    before: Numbers
    after: Numbers
    rows: int
    price: str

    @property
    def gain(self) -> float:
        """The decrease of the cost."""
        return self.before.cost - self.after.cost

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready data."""
        return {**asdict(self), "before": self.before.as_dict(), "after": self.after.as_dict()}

    def __str__(self) -> str:
        numbers = [("detail lost", self.before.ncp, self.after.ncp)]
        if not math.isnan(self.before.query_error + self.after.query_error):
            numbers.append(("counts off by", self.before.query_error, self.after.query_error))
        others = "in the other columns " if self.kind == "quasi" else ""
        return f"{self.what}: {others}" + ", ".join(f"{name} {share(a)} -> {share(b)}" for name, a, b in numbers)


@dataclass(frozen=True, repr=False)
class Verdict:
    """How useful a release is.

    Attributes
    ----------
    grade : {"useful", "coarse", "nearly empty"}
    numbers : Numbers
    silent : tuple of str
        Columns whose cells cover nearly all of their domain.
    suppressed : float
        Share of the records that are suppressed.
    changes : tuple of PolicyChange
        The price list, the change that gains most first.
    tried : int
        Number of changes that were tried.
    """

    grade: str
    numbers: Numbers
    silent: tuple[str, ...]
    suppressed: float
    changes: tuple[PolicyChange, ...] = ()
    tried: int = 0

    @property
    def words(self) -> str:
        """The verdict in a few sentences."""
        return " ".join(self._sentences())

    def _sentences(self) -> Iterator[str]:
        yield {
            "useful": "The release is useful.",
            "coarse": "The release is coarse: totals hold, details do not.",
            "nearly empty": "The release is nearly empty: it protects people, but says little about them.",
        }[self.grade]
        n = self.numbers
        kept = f"It keeps {share(1 - n.ncp)} of the detail of its quasi-identifiers"
        counts = f"half of the counts taken from it are off by more than {share(n.query_error)}."
        if math.isnan(n.query_error):
            yield f"{kept}."
        elif any(self.grade == grade and n.ncp < ncp for grade, ncp, _ in _GRADES):
            # the counts alone decided the grade
            yield f"{kept}, but {counts}"
        else:
            yield f"{kept}. {counts.capitalize()}"
        if not math.isnan(n.pair_error):
            yield f"Counts of pairs of columns differ by {share(n.pair_error)} on average."
        if self.suppressed:
            yield f"{share(self.suppressed)} of the records are suppressed."
        if self.silent:
            *others, last = map(repr, self.silent)
            named = f"{', '.join(others)} and {last}" if others else last
            yield f"{named} {'say' if others else 'says'} almost nothing: most cells cover nearly all values."

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready data; no value of a record."""
        return {
            "grade": self.grade,
            "words": self.words,
            "numbers": self.numbers.as_dict(),
            "silent": list(self.silent),
            "suppressed": self.suppressed,
            "changes": [change.as_dict() for change in self.changes],
            "tried": self.tried,
        }

    def __repr__(self) -> str:
        lines = [self.words]
        if self.changes:
            lines += ["", "What costs most:", *(f"  {change}" for change in self.changes)]
        return "\n".join(lines)


def verdict_of(release: Release, progress: Callable[[float, str], None] | None = None) -> Verdict:
    """Judge a release, and find the settings that cost most.

    Parameters
    ----------
    release : Release
        Must have its original.
    progress : callable, optional
        Called with (share done, what is being done); may raise ``Cancelled``.

    Returns
    -------
    Verdict
        Without a price list if the table has more than two million rows, or the release is an addition to another.
    """
    comparison = release.comparison()
    large = comparison.n > LARGE
    numbers = _numbers(comparison.rows if large else comparison)
    numbers = replace(numbers, ncp=float(ncp_of_columns(comparison).mean()))
    silent = _silent(comparison)
    changes, tried = ((), 0) if large or not release.repeatable else _prices(release, comparison.rows, progress)
    return Verdict(_grade(numbers), numbers, silent, comparison.n_suppressed / comparison.n, changes, tried)


def _numbers(comparison: Comparison) -> Numbers:
    return Numbers(
        float(ncp_of_columns(comparison).mean()),
        QueryError(queries=200).compute(comparison),
        PairError().compute(comparison),
    )


def _grade(numbers: Numbers) -> str:
    for grade, ncp, error in _GRADES:
        if numbers.ncp >= ncp or numbers.query_error >= error:
            return grade
    return "useful"


def _silent(comparison: Comparison) -> tuple[str, ...]:
    """Columns whose cells cover nearly all of their domain."""
    lost = ncp_of_columns(comparison)
    varied = [cells.column.coded.size - int(cells.column.coded.missing) > 1 for cells in comparison.cells]
    return tuple(
        cells.column.name
        for cells, ncp, several in zip(comparison.cells, lost.tolist(), varied, strict=True)
        if several and ncp >= _SILENT
    )


@dataclass(frozen=True)
class _Trial:
    """A change to try."""

    kind: str
    what: str
    setting: str
    price: str
    plan: Plan
    without: str = ""

    def numbers_of(self, comparison: RowComparison) -> Numbers:
        """The numbers of a release that can be compared with those of the trial."""
        place = [cells.column.name for cells in comparison.cells].index(self.without) if self.without else None
        if place is None:
            return _numbers(comparison)
        kept = [j for j in range(len(comparison.cells)) if j != place]
        cells = tuple(comparison.cells[j] for j in kept)
        table = replace(comparison.table, quasi=tuple(comparison.table.quasi[j] for j in kept))
        return _numbers(replace(comparison, cells=cells, table=table))


def _prices(
    release: Release, made: RowComparison, progress: Callable[[float, str], None] | None
) -> tuple[tuple[PolicyChange, ...], int]:
    plan = replace(release.plan, account=None, coins=None)
    trials = list(_trials(plan, release.n_suppressed > 0))
    if not trials:
        return (), 0
    original = release.treated([c.name for c in plan.table.columns if c.role.published or c.name == plan.table.entity])
    plan = _reading_only(plan, original)
    trials = [replace(trial, plan=_reading_only(trial.plan, original)) for trial in trials]
    sample = _evenly(original, SAMPLE)
    whole = sample.num_rows == original.num_rows
    before = made if whole else _made(sample, plan)
    trials += [trial for trial in [_costly(sample, plan)] if trial is not None]
    found = list(_changes(trials, sample, before, progress))
    listed = [pair for pair in _ranked(found) if pair[1].gain >= _GAIN][:_LISTED]
    if not whole and original.num_rows * len(plan.table.named(Role.QUASI)) <= _WHOLE:
        listed = _ranked(_changes([trial for trial, _ in listed], original, made, progress))
    return tuple(change for _, change in listed if change.gain > 0), len(trials)


def _changes(
    trials: Sequence[_Trial],
    table: pa.Table,
    before: RowComparison | None,
    progress: Callable[[float, str], None] | None,
) -> Iterator[tuple[_Trial, PolicyChange]]:
    """The results of all trials that lead to a release."""
    for i, trial in enumerate(trials):
        if progress is not None:
            progress(i / len(trials), f"trying it {trial.what}")
        after = None if before is None else _tried(table, trial.plan)
        if before is not None and after is not None:
            numbers = trial.numbers_of(before)
            yield (
                trial,
                PolicyChange(trial.kind, trial.what, trial.setting, numbers, after, table.num_rows, trial.price),
            )


def _ranked(found: Iterable[tuple[_Trial, PolicyChange]]) -> list[tuple[_Trial, PolicyChange]]:
    return sorted(found, key=lambda pair: -pair[1].gain)


def _tried(table: pa.Table, plan: Plan) -> Numbers | None:
    """The numbers of a release under another plan; None if there is none."""
    made = _made(table, plan)
    return None if made is None else _numbers(made)


def _made(table: pa.Table, plan: Plan) -> RowComparison | None:
    from hushtable.engines import local  # it makes releases, so it imports this module

    try:
        return local.run(table, plan).comparison().rows
    except (Infeasible, NotFound, IncompatibleError, ParameterError):  # parameters may name a column
        return None


def _evenly(table: pa.Table, most: int) -> pa.Table:
    n = table.num_rows
    return table if n <= most else table.take(pa.array(np.arange(most) * n // most))


def _reading_only(plan: Plan, table: pa.Table) -> Plan:
    """The plan without the columns that are not read, for a table that is already treated."""
    kept = tuple(replace(c, treatments=()) for c in plan.table.columns if c.name in table.column_names)
    return replace(plan, table=replace(plan.table, columns=kept))


def _trials(plan: Plan, suppressed: bool) -> Iterator[_Trial]:
    quasi = plan.table.named(Role.QUASI)
    if len(quasi) > 1:
        for name in quasi:
            yield _Trial(
                "quasi", f"without {name!r} as a quasi-identifier", f"{name}: {{role: drop}}",
                "the column is not published", replace(plan, table=_dropping(plan.table, name)), name,
            )  # fmt: skip
    optional = [model for model in plan.models if Threat.IDENTITY not in model.threats]
    if len(optional) < len(plan.models):
        for model in optional:
            yield _without(plan, (model,))
    yield from _limits(plan, suppressed)


def _without(plan: Plan, models: Sequence[PrivacyModel]) -> _Trial:
    """Try without some models."""
    named = " and ".join(_titled(model) for model in models)
    rest = tuple(model for model in plan.models if model not in models)
    return _Trial(
        "model", f"without {named}", f"remove {named} from models",
        f"others may learn {_listed(models)}", replace(plan, models=rest),
    )  # fmt: skip


def _costly(sample: pa.Table, plan: Plan) -> _Trial | None:
    """Try without all models that are costly on their own: if several bind, removing one of them gains nothing."""
    optional = [model for model in plan.models if Threat.IDENTITY not in model.threats]
    identity = tuple(model for model in plan.models if model not in optional)
    if len(optional) < 2 or not identity:
        return None
    least = _tried(sample, replace(plan, models=identity))
    if least is None:
        return None
    costly = []
    for model in optional:
        alone = _tried(sample, replace(plan, models=(*identity, model)))
        if alone is None or alone.cost - least.cost >= _GAIN:
            costly.append(model)
    return _without(plan, costly) if len(costly) > 1 else None


def _limits(plan: Plan, suppressed: bool) -> Iterator[_Trial]:
    """Try other suppression limits: a few outliers may keep everyone's cells wide, and may be cheap to suppress."""
    limits = [limit for limit in _LIMITS if limit > plan.suppression]
    if suppressed:
        limits.append(0.0)
    for limit in limits:
        try:
            changed = replace(plan, suppression=limit)
        except IncompatibleError:
            continue  # not every algorithm can suppress, or work without suppression
        words = f"with up to {share(limit)} of the records suppressed" if limit else "without suppressing records"
        price = f"up to {share(limit)} of the people are suppressed" if limit else "nobody is suppressed"
        yield _Trial("suppression", words, f"suppression: {limit:g}", price, changed)


def _dropping(table: TablePlan, name: str) -> TablePlan:
    return replace(table, columns=tuple(replace(c, role=Role.DROP) if c.name == name else c for c in table.columns))


def _titled(model: PrivacyModel) -> str:
    values = ", ".join(f"{key}={value}" for key, value in _values(model).items())
    return f"{model.name} ({values})"


def _values(model: PrivacyModel) -> Mapping[str, Any]:
    return {key: value for key, value in model.values().items() if not isinstance(value, Mapping)}


def _listed(models: Sequence[PrivacyModel]) -> str:
    names = [getattr(model, "on", None) for model in models]
    return ", ".join(repr(on) for on in names) if all(isinstance(on, str) for on in names) else "a sensitive value"
