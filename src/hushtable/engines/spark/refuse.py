"""What the Spark engine does not do, and why: said before any data are read."""

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
from hushtable.table.encoded import QuasiColumn

__all__ = ["check_engine", "check_far", "check_levels", "check_nodes"]


def check_engine(plan: Plan) -> None:
    """Refuse plans that Spark could not carry out with the same result as one machine.

    Raises
    ------
    IncompatibleError
        With the reason and a remedy.
    """
    algorithm = plan.algorithm
    if algorithm.recoding.by_number:
        raise IncompatibleError(
            f"{algorithm.name} numbers its groups by all that they contain; the Spark engine publishes cells alone.",
            code="spark-engine",
            hint="Use the local engine, or an algorithm that generalises.",
        )
    if algorithm.recoding is Recoding.CENTROID and getattr(algorithm, "quality", "fast") != "fast":
        raise IncompatibleError(
            f"{algorithm.name} compares every record with all others, which does not distribute; the Spark engine runs "
            "it inside blocks only.",
            code="spark-engine",
            hint=f"Set 'quality: fast' for {algorithm.name}, on both engines the same blocks, or use the local engine.",
        )


def check_far(plan: Plan, records: int, limit: str) -> None:
    """Refuse plans that need all rows in one place, for a table that is too large for that.

    Raises
    ------
    IncompatibleError
        With the reason and a remedy.
    """
    algorithm = plan.algorithm
    reasons = {
        f"{algorithm.name} as set tells equal records apart or compares records with one another": not (
            algorithm.by_combinations or algorithm.by_nodes or algorithm.by_histograms or algorithm.by_groups
        ),
        "a population or background table is compared with all rows": plan.extra.population is not None
        or plan.extra.background is not None,
        "guards look at all groups": bool(plan.guards),
        "what a class publishes counts its rows": not all(form.by_members for form in _forms(plan)),
    }
    _refuse(reasons, f"The table has {records} rows, more than the driver takes ({limit})")


def check_nodes(plan: Plan, quasi: Sequence[QuasiColumn], combinations: int, limit: str) -> None:
    """Refuse searches of the lattice that need all combinations in one place.

    Raises
    ------
    IncompatibleError
        With the reason and a remedy.
    """
    nodes = math.prod(c.coded.height + 1 for c in quasi if c.name not in getattr(plan.algorithm, "fixed", {}))
    reasons = {
        **_all_classes(plan),
        f"a lattice of {nodes} nodes is searched for a time, not to the end": nodes > MOST_NODES,
    }
    _refuse(reasons, f"The table has {combinations} distinct combinations, more than the driver takes ({limit})")


def check_levels(plan: Plan, combinations: int, limit: str) -> None:
    """Refuse partitions that need all combinations in one place.

    Raises
    ------
    IncompatibleError
        With the reason and a remedy.
    """
    reasons = {
        f"{plan.algorithm.name} as set does not decide from counts alone": not (
            plan.algorithm.by_histograms or plan.algorithm.by_groups
        ),
        "suppression weighs all groups against one another": plan.suppression > 0,
        **_all_classes(plan),
        "what one class publishes depends on all of them (with 'cells: intervals' it does not)": any(
            form.needs_all for form in _forms(plan)
        ),
    }
    _refuse(reasons, f"The table has {combinations} distinct combinations, more than the driver takes ({limit})")


def _forms(plan: Plan) -> list[Form]:
    """The forms that the policy chose for its quasi-identifiers."""
    found = [plan.table.form(c) for c in plan.table.columns if c.role is Role.QUASI]
    return [form for form in found if isinstance(form, Form)]


def _all_classes(plan: Plan) -> dict[str, bool]:
    """Models that look at all classes at once."""
    model = plan.model()
    return {
        "a model does not survive merging, so that all classes have to be compared": Monotone.MERGE not in model.flags,
        "a model minds whom of the population classes cover": model.minds_cover,
        "a model judges the whole table": bool(model.part(table_level=True).members),
    }


def _refuse(reasons: Mapping[str, bool], what: str) -> None:
    for reason, holds in reasons.items():
        if holds:
            raise IncompatibleError(
                f"{what}, and {reason}.",
                code="spark-engine",
                hint="Raise that setting if the driver has the memory, or use strict mondrian without suppression.",
            )
