"""What the Spark engine does not do, and why: said before any data are read."""

from __future__ import annotations

from hushtable.algorithms.base import Recoding
from hushtable.engines.plan import Plan
from hushtable.errors import IncompatibleError
from hushtable.models.base import Monotone
from hushtable.release.recode import Recoded
from hushtable.schema.columns import CellStyle, Role

__all__ = ["check_engine", "check_levels", "check_recoded"]


def check_engine(plan: Plan) -> None:
    """Refuse plans that Spark could not carry out with the same result as one machine.

    Raises
    ------
    IncompatibleError
        With the reason and a remedy.
    """
    algorithm = plan.algorithm
    if plan.account is not None:
        raise IncompatibleError(
            "The Spark engine does not hold releases against a ledger, and the policy names one.",
            code="spark-engine",
            hint="Run it locally, or take 'ledger' out of the policy and use 'hushtable ledger check'.",
        )
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


def check_recoded(plan: Plan, recoded: Recoded) -> None:
    """Refuse a release with rows that no row of the table stands behind."""
    if recoded.counterfeits is not None:
        raise IncompatibleError(
            f"{plan.algorithm.name} needs counterfeit rows for this table, and the Spark engine publishes rows of the "
            "table alone.",
            code="spark-engine",
            hint="Use the local engine.",
        )


def check_levels(plan: Plan, records: int, limit: str) -> None:
    """Refuse plans that need all rows in one place, for a table that is too large for that.

    Raises
    ------
    IncompatibleError
        With the reason and a remedy.
    """
    model, table = plan.model(), plan.table
    reasons = {
        f"{plan.algorithm.name} as set does not decide from counts alone": not plan.algorithm.by_histograms,
        "suppression weighs all groups against one another": plan.suppression > 0,
        "a population or background table is compared with all rows": plan.extra.population is not None
        or plan.extra.background is not None,
        "guards look at all groups": bool(plan.guards),
        "a model does not survive merging, so that all classes have to be compared": Monotone.MERGE not in model.flags,
        "a model judges the whole table": bool(model.part(table_level=True).members),
        "the type of midpoints depends on all classes": any(
            c.role is Role.QUASI and table.style(c) is CellStyle.MIDPOINT for c in table.columns
        ),
    }
    for reason, holds in reasons.items():
        if holds:
            raise IncompatibleError(
                f"The table has {records} rows, more than the driver takes ({limit}), and {reason}.",
                code="spark-engine",
                hint="Raise that setting if the driver has the memory, or use strict mondrian without suppression.",
            )
