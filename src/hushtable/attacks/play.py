"""Playing an attack against a release: what an opened release was asked before is not worked out again."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from hushtable.attacks.base import Attack, AttackResult
from hushtable.attacks.sampled import SampledResult
from hushtable.attacks.view import View
from hushtable.registry import attacks
from hushtable.release.released import Released

__all__ = ["play"]

_log = logging.getLogger(__package__)

ATTACKED = 100_000
"""Records that an attack sees, about, where rows are elsewhere."""


def play(
    release: Released, name: str | Attack, parameters: Mapping[str, Any] | None = None, *, sample: int | None = None
) -> AttackResult:
    """Play an adversary of the literature against a release.

    Parameters
    ----------
    release : Released
    name : str or Attack
        By name (``hushtable attack --list``), or as an object.
    parameters : mapping, optional
        Of the attack.
    sample : int, optional
        Where the rows are elsewhere (Spark), about so many records are attacked: whole classes, drawn with the
        policy's seed.

    Returns
    -------
    AttackResult
        Where rows are elsewhere, with the error that sampling leaves.
    """
    attack = attacks.chosen(name, parameters)
    drawn = release.origin.drawn(release.plan, sample or ATTACKED)
    if drawn is not None:
        view, sampled, weight = drawn
        return SampledResult.of(attack.run(view), release.verification.rows, sampled, weight)
    # with parameters it may depend on other files
    usual = isinstance(name, str) and not parameters
    known = release.origin.recall(attack.name) if usual else None
    if known is not None:
        return AttackResult(**known)
    result: AttackResult = attack.run(_view(release))
    _log.info("Attack %s: right about %d of %d", attack.name, result.successes, result.targets,
              extra={"attack": attack.name, "rate": result.rate, "baseline": result.baseline})  # fmt: skip
    if usual:
        release.origin.remember(attack.name, asdict(result))
    return result


def _view(release: Released) -> View:
    """One view for all attacks on a release: what one has counted the others read."""
    known = vars(release)
    if "attacked" not in known:
        known["attacked"] = View.of(release)
    view: View = known["attacked"]
    return view
