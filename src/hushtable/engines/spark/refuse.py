"""What the Spark engine does not support, and why; checked before any data are read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from hushtable.algorithms.base import Recoding
from hushtable.algorithms.lattice.full_domain import MOST_NODES
from hushtable.errors import IncompatibleError
from hushtable.models.base import Monotone
from hushtable.release.forms.base import Form
from hushtable.release.plan import Plan
from hushtable.schema.columns import Role
from hushtable.table.coded_columns import QuasiColumn

DRIVER_ROWS = "spark.hushtable.driverRows"
"""Setting: maximum number of rows, or distinct combinations, on the driver: a few bytes per row and column."""


def check_engine(plan: Plan) -> None:
    """Refuse plans that Spark could not run with the same result as one machine.

    Raises
    ------
    IncompatibleError
        With the reason and a remedy.
    """
    algorithm = plan.algorithm
    plan.refuse_in("The Spark engine")
    if algorithm.samples:
        raise IncompatibleError(
            f"{algorithm.name} draws records again whenever rows are counted, and Spark may count rows more than once.",
            code="spark-engine",
            hint="Use the local engine.",
        )
    if algorithm.recoding.by_number:
        raise IncompatibleError(
            f"{algorithm.name} numbers its groups by their contents, but the Spark engine only publishes cells.",
            code="spark-engine",
            hint="Use the local engine, or an algorithm that generalizes.",
        )
    if algorithm.recoding is Recoding.CONCEALED:
        raise IncompatibleError(
            f"{algorithm.name} lets the groups of all records overlap, which cannot be distributed.",
            code="spark-engine",
            hint="Use the local engine, or an algorithm that makes classes.",
        )
    if algorithm.recoding is Recoding.CENTROID and getattr(algorithm, "quality", "fast") != "fast":
        raise IncompatibleError(
            f"{algorithm.name} compares every record with all others, which cannot be distributed; the Spark engine "
            f"runs it only within blocks.",
            code="spark-engine",
            hint=f"Set 'quality: fast' for {algorithm.name}, which uses the same blocks on both engines, or use the "
            f"local engine.",
        )


def check_far(plan: Plan, records: int, limit: int) -> None:
    """Refuse plans that need all rows on the driver, for a table that is too large for that.

    Raises
    ------
    IncompatibleError
        With the reason and a remedy.
    """
    reasons = {
        "a population or background table is compared with all rows": plan.side_tables.population is not None
        or plan.side_tables.believes,
        "guards use all groups": bool(plan.guards),
        "the cells of a class count its rows": not all(form.by_members for form in _forms(plan)),
    }
    _refuse(reasons, records, "rows", limit)


def check_classes(plan: Plan, combinations: int, limit: int) -> None:
    """Refuse models that need all classes at once, if there are too many combinations for the driver.

    Raises
    ------
    IncompatibleError
        With the reason and a remedy.
    """
    model = plan.model()
    reasons = {
        "a model does not survive merging, so all classes must be compared": Monotone.MERGE not in model.flags,
        "a model counts the people of the population in each class": model.minds_cover,
        "a model judges the whole table": bool(model.part(table_level=True).members),
    }
    _refuse(reasons, combinations, "distinct combinations", limit)


def check_lattice(plan: Plan, quasi: Sequence[QuasiColumn], combinations: int, limit: int) -> None:
    """Refuse lattices that are too large for an exhaustive search.

    Raises
    ------
    IncompatibleError
        With the reason and a remedy.
    """
    nodes = math.prod(c.coded.height + 1 for c in quasi if c.name not in getattr(plan.algorithm, "fixed", {}))
    reasons = {f"a lattice of {nodes} nodes is searched within a budget, not to the end": nodes > MOST_NODES}
    _refuse(reasons, combinations, "distinct combinations", limit)


def check_groups(plan: Plan, combinations: int, limit: int) -> None:
    """Refuse forms that need all classes, if groups are divided one by one.

    Raises
    ------
    IncompatibleError
        With the reason and a remedy.
    """
    needed = any(form.needs_all for form in _forms(plan))
    reasons = {"the cells of one class depend on all classes (with 'cells: intervals' they do not)": needed}
    _refuse(reasons, combinations, "distinct combinations", limit)


def too_many(n: int, what: str, limit: int, why: str) -> IncompatibleError:
    """Return the error of a table that does not fit on the driver, but is needed there.

    Examples
    --------
    >>> str(too_many(5, "rows", 3, "guards look at all groups")).partition(" (")[0]
    'The table has 5 rows, more than the driver accepts'
    """
    return IncompatibleError(
        f"The table has {n} {what}, more than the driver accepts ({DRIVER_ROWS} = {limit}), and {why}.",
        code="spark-engine",
        hint="Raise that setting if the driver has enough memory, or use strict mondrian without suppression.",
    )


def _forms(plan: Plan) -> list[Form]:
    """The forms that the policy chose for its quasi-identifiers."""
    found = [plan.table.form(c) for c in plan.table.columns if c.role is Role.QUASI]
    return [form for form in found if isinstance(form, Form)]


def _refuse(reasons: Mapping[str, bool], n: int, what: str, limit: int) -> None:
    for reason, holds in reasons.items():
        if holds:
            raise too_many(n, what, limit, reason)
