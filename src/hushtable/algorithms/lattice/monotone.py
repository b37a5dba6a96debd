"""When satisfaction is monotone in the lattice: if a node satisfies the models, so does every coarser one.

Without suppression, coarser nodes merge satisfied groups, so models that survive merging, or coarser columns, are
monotone. Models that count a population must also survive adding people: a coarser class may cover people whom no
class covered before. With suppression, violating groups are merged into satisfied ones, so every model must survive
adding any record; then the records of a violating group violate at every finer node too, and the necessary
suppression only grows at finer nodes. Table-level models are excluded, because there is a choice of which groups to
suppress for them.
"""

from __future__ import annotations

from hushtable.models.base import Monotone, PrivacyModel, Stat
from hushtable.models.compose import AllOf


def not_monotone(model: AllOf, *, suppression: bool) -> list[PrivacyModel]:
    """Return the members that are not monotone in the lattice.

    Examples
    --------
    >>> from hushtable.models.entropy_l import EntropyL
    >>> model = AllOf((EntropyL(l=2, on="disease"),))
    >>> len(not_monotone(model, suppression=False)), len(not_monotone(model, suppression=True))
    (0, 1)
    """
    return [m for m in model.members if not (_survives_adding(m) if suppression else _survives_merging(m))]


def additive(model: AllOf) -> bool:
    """Whether a group that violates the model consists of groups that violate it, at every finer node."""
    return all(_survives_adding(m) for m in model.members)


def _survives_merging(member: PrivacyModel) -> bool:
    covers = Stat.POPULATION not in member.stats_needed() or Monotone.ADD in member.monotone
    return bool(member.monotone & (Monotone.MERGE | Monotone.COARSEN)) and covers


def _survives_adding(member: PrivacyModel) -> bool:
    return Monotone.ADD in member.monotone and not member.table_level
