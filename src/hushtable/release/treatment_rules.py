"""Which treatments can be combined with which models and ledgers; misleading combinations are refused.

Models are verified on the treated values. What that means depends on the column:

- A treated quasi-identifier: an adversary who knows the true values no longer knows which class to look at, so the
  candidates are a mixture of classes. A model that survives merging bounds every class, so it also bounds the
  mixture. Others are refused with treatments that draw. Models that count a population are refused with all: the
  population's values are not treated.
- A treated sensitive column: values that are a function of the true ones (rounding, top and bottom coding) are what is
  published, and a model of the column holds for them. Drawn values may be diverse although the true ones are not, and
  likely values can be inferred from them. So a treatment that draws is refused on a column that a model uses.
- With an ``entity``, separate draws for each row would allow averaging over a person's rows: refused.
- A treatment whose draws depend on other records (the scale of noise, a partner of a swap, the values that PRAM draws
  from) would publish values of suppressed records, or what follows from them: refused if records may be suppressed.
- A ledger tracks true values and rows that cannot be linked: refused.
"""

from __future__ import annotations

from hushtable.errors import IncompatibleError, did_you_mean
from hushtable.models.base import Monotone, Stat
from hushtable.models.compose import AllOf
from hushtable.schema.columns import Role
from hushtable.table.plan import ColumnPlan, TablePlan
from hushtable.treatments.base import Treatment
from hushtable.treatments.treating import treatments_of


def check_treatments(plan: TablePlan, model: AllOf, *, suppression: float = 0.0, ledger: bool = False) -> None:
    """Refuse treatments that contradict a column, a model, suppression or a ledger.

    Raises
    ------
    IncompatibleError
        With the reason and a remedy.

    Examples
    --------
    >>> import hushtable as ht
    >>> ht.Policy(quasi=["age"], sensitive={"disease": {"treatment": "pram"}},
    ...           models=[ht.KAnonymity(k=2), ht.DistinctL(l=2)])
    Traceback (most recent call last):
    hushtable.errors.IncompatibleError: pram draws the values of 'disease', so distinct-l would hold for drawn values...
    """
    if not plan.treated:
        return
    if ledger:
        raise IncompatibleError(
            "A ledger tracks true values and rows that cannot be linked, but the policy treats columns.",
            hint="Remove 'treatment' and the role 'pseudonym', or 'ledger', from the policy.",
        )
    of_column = {column.name: column.treatments for column in plan.columns}
    for column, treatment in treatments_of(plan):
        if column.kind is not None:
            treatment.check_kind(column.name, column.kind)
        treatment.check(column.name, of_column)
        _check_reading(column, treatment, plan)
        if suppression and not treatment.record_by_record:
            raise IncompatibleError(
                f"{treatment.name} of column {column.name!r} uses the values of all records, so published values would "
                "depend on suppressed ones.",
                hint="Set 'suppression: 0', or use rounding or top-bottom-coding instead.",
            )
        if column.role is Role.QUASI:
            _check_quasi(column, treatment, model)
        if column.role is Role.SENSITIVE and treatment.draws:
            _check_sensitive(column, treatment, model)
        if plan.entity is not None and treatment.draws and not treatment.per_person:
            raise IncompatibleError(
                f"{treatment.name} draws each row of {column.name!r} separately, so the rows of one person could be "
                "averaged.",
                hint="Use a table with one row per person and remove 'entity', or remove the treatment.",
            )


def _check_reading(column: ColumnPlan, treatment: Treatment, plan: TablePlan) -> None:
    known = [one.name for one in plan.columns]
    for name in treatment.reads(plan.entity):
        if name not in known:
            raise IncompatibleError(
                f"{treatment.name} of column {column.name!r} reads {name!r}, which the policy does not have.",
                hint=did_you_mean(name, known) or "Name a column of the policy.",
            )


def _check_quasi(column: ColumnPlan, treatment: Treatment, model: AllOf) -> None:
    for member in model.members:
        needed = member.stats_needed()
        if Stat.POPULATION in needed or Stat.BACKGROUND in needed:
            raise IncompatibleError(
                f"{member.name} compares cells with people outside the table, whose {column.name!r} is not treated by "
                f"{treatment.name}.",
                hint="Remove the treatment or the model.",
            )
        if treatment.draws and Monotone.MERGE not in member.monotone:
            raise IncompatibleError(
                f"{treatment.name} makes a person's class uncertain, but {member.name} does not survive merging.",
                hint="Choose another model, or remove the treatment of the quasi-identifier.",
            )


def _check_sensitive(column: ColumnPlan, treatment: Treatment, model: AllOf) -> None:
    for member in model.members:
        if any(column.name in key for key in member.histogram_keys()):
            raise IncompatibleError(
                f"{treatment.name} draws the values of {column.name!r}, so {member.name} would hold for drawn values, "
                "not for the true ones.",
                hint="Remove the treatment, or protect the column with the model alone.",
            )
