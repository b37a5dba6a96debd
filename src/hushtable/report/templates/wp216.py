"""The template of Opinion 05/2014: singling out, linkability, inference.

References
----------
Article 29 Data Protection Working Party, "Opinion 05/2014 on anonymisation techniques" (WP216), 2014.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hushtable.report.content import Facts, TemplateAnswer
from hushtable.report.numbers import count, percent
from hushtable.report.templates import answers
from hushtable.report.templates.base import Template

_SINGLING_OUT = ("singling-out", "downcoding", "combinatorial-refinement")
_LINKING = ("linkability", "linkage", "composition", "membership")


@dataclass(frozen=True)
class WP216(Template):
    """The three criteria of the European working party: singling out, linkability, inference.

    Parameters
    ----------
    threshold : float
        Risk above which a person is at risk.
    comparison : {">", ">="}

    Examples
    --------
    >>> WP216().threshold
    0.09
    """

    name: ClassVar[str] = "wp216"
    title: ClassVar[str] = "Evidence of anonymization by the criteria of WP216"
    about: ClassVar[str] = (
        "For an assessment by Opinion 05/2014 of the Article 29 Working Party: is it still possible to single out "
        "a person, to link records about a person, or to infer something about a person? If one of them is not ruled "
        "out, the opinion asks for a thorough evaluation of the remaining risk."
    )

    def findings(self, facts: Facts) -> tuple[TemplateAnswer, ...]:
        """Answer the three questions, then others that a reader asks."""
        done = facts.treatment
        alone = next((b for b in facts.bands if b.least == 1), None)
        sizes = (
            f"The smallest class has {count(done.smallest)} people; a typical person shares the published cells with "
            f"{count(done.median)} (including themselves)."
        )
        unique = (
            f"People who are alone in their class: {percent(alone.before)} before, {percent(alone.after)} after."
            if alone
            else ""
        )
        known = {a.name for a in facts.attacks} | {n.name for n in facts.attacks_not_run}
        return (
            answers.attacks_named(
                facts,
                "Singling out: can an individual still be isolated?",
                _SINGLING_OUT,
                otherwise="No attack that was run isolated records better than guessing.",
                extra=(sizes, unique),
            ),
            answers.attacks_named(
                facts,
                "Linkability: can records about an individual still be linked?",
                _LINKING,
                otherwise="No attack that was run linked records better than guessing.",
                extra=(
                    _highest(facts),
                    "Linking with other releases of the same people is not ruled out by any model here.",
                ),
            ),
            answers.attacks_named(
                facts,
                "Inference: can something still be inferred about an individual?",
                known - set(_SINGLING_OUT) - set(_LINKING),
                otherwise="No attack that was run inferred values better than guessing.",
                extra=answers.attribute_models(facts),
            ),
            answers.models_hold(facts, "Does the release keep the promises of its policy?"),
            answers.identifiers_gone(facts, "Were direct identifiers removed?"),
            answers.utility_kept(facts, "Is it still useful?"),
        )


def _highest(facts: Facts) -> str:
    risk = facts.risks[0]
    return (
        f"Highest chance of linking a known person to the right record: {percent(risk.after.highest)} (before: "
        f"{percent(risk.before.highest)})."
    )
