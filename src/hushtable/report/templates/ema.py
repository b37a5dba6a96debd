"""The template for published clinical data: a threshold of 0.09 for everybody.

References
----------
European Medicines Agency, "External guidance on the implementation of the European Medicines Agency policy on the
publication of clinical data for medicinal products for human use" (policy 0070); Health Canada, "Public release of
clinical information: guidance document".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hushtable.report.content import Facts, TemplateAnswer
from hushtable.report.numbers import count, percent
from hushtable.report.templates import answers
from hushtable.report.templates.base import Template


@dataclass(frozen=True)
class EMA(Template):
    """Clinical data in the style of EMA and Health Canada: nobody's risk above 0.09.

    Parameters
    ----------
    threshold : float
        Risk above which a person is at risk.
    comparison : {">", ">="}

    Examples
    --------
    >>> EMA().threshold, EMA().comparison
    (0.09, '>')
    """

    name: ClassVar[str] = "ema"
    title: ClassVar[str] = "Anonymization report for clinical data"
    about: ClassVar[str] = (
        "For publishing clinical data in the style of the European Medicines Agency and Health Canada: the risk of "
        "re-identification of every person, compared with a threshold of 0.09."
    )

    def findings(self, facts: Facts) -> tuple[TemplateAnswer, ...]:
        """Answer the template's questions."""
        return (
            answers.highest_risk(
                facts, "Is the highest risk of re-identification at or below the threshold?", strict=True
            ),
            _method(facts),
            answers.identifiers_gone(facts, "Were direct identifiers removed?"),
            answers.models_hold(facts, "Does the release keep the promises of its policy?"),
            answers.attacks_named(
                facts, "Did attempts at re-identification and inference succeed?", extra=answers.attribute_models(facts)
            ),
            answers.utility_kept(facts, "What does it cost in data utility?"),
        )


def _method(facts: Facts) -> TemplateAnswer:
    made, done = facts.provenance, facts.treatment
    quasi = ", ".join(f"“{c.name}”" for c in facts.columns if c.role == "quasi")
    return TemplateAnswer(
        question="How was it anonymized?",
        answer=f"{made.algorithm}: {made.recoding}.",
        status="stated",
        evidence=(
            f"Quasi-identifiers: {quasi}.",
            f"{count(done.suppressed)} of {count(made.input_rows)} records ({percent(done.suppressed_share)}) were "
            "suppressed.",
            "A class of 11 has a risk of 1/11 = 0.0909, which is above 0.09 when compared unrounded, as here. Reports "
            "that round to two digits accept it.",
            "Risks are those of a prosecutor, who knows that the person is in the table. They are the highest of the "
            "three adversaries, and suited to public release.",
        ),
    )
