"""The template for a HIPAA expert determination: a very small risk for anticipated recipients.

References
----------
45 CFR 164.514(b)(1), expert determination; U.S. Department of Health and Human Services, "Guidance regarding methods
for de-identification of protected health information", 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hushtable.report.content import Facts, TemplateAnswer
from hushtable.report.templates import answers
from hushtable.report.templates.base import Template


@dataclass(frozen=True)
class HIPAA(Template):
    """Expert determination under HIPAA: a very small risk for anticipated recipients.

    Parameters
    ----------
    threshold : float
        Risk above which a person is at risk.
    comparison : {">", ">="}

    Examples
    --------
    >>> HIPAA().threshold
    0.09
    """

    name: ClassVar[str] = "hipaa"
    title: ClassVar[str] = "Evidence for a HIPAA expert determination"
    about: ClassVar[str] = (
        "For an expert who determines, under 45 CFR 164.514(b)(1), that the risk is very small that an anticipated "
        "recipient could identify an individual, alone or with other reasonably available information. It contains the "
        "methods and results that the rule requires the expert to document."
    )

    def findings(self, facts: Facts) -> tuple[TemplateAnswer, ...]:
        """Answer the template's questions."""
        return (
            answers.highest_risk(facts, "Is the risk very small for every individual?", strict=True),
            answers.recipients_assessed(facts, "Is it very small for each anticipated recipient?"),
            answers.identifiers_gone(facts, "Were the identifiers that the safe-harbor method lists removed?"),
            answers.models_hold(facts, "Which method was applied, and does it hold?"),
            answers.attacks_named(facts, "Did attempts at re-identification and inference succeed?"),
            answers.utility_kept(facts, "What does it cost in data utility?"),
            answers.for_people(
                "What does the expert decide?",
                "Replicability: which features of the people stay the same over time and so can be matched again.",
                "Availability: which outside sources, such as voter lists or registries, contain those features.",
                "Distinguishability: whether anybody stands out by features that this policy leaves exact.",
                "Whether the threshold above is small enough for this release, and for how long the determination "
                "holds.",
            ),
        )
