"""The template for secondary use of health data in the European Health Data Space.

References
----------
Regulation (EU) 2025/327 on the European Health Data Space, chapter IV: purposes, data permits, minimization, secure
processing environments, and anonymized results.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hushtable.report.content import Facts, TemplateAnswer
from hushtable.report.templates import answers
from hushtable.report.templates.base import Template


@dataclass(frozen=True)
class EHDS(Template):
    """Secondary use of health data in the European Health Data Space.

    Parameters
    ----------
    threshold : float
        Risk above which a person is at risk.
    comparison : {">", ">="}

    Examples
    --------
    >>> EHDS().threshold
    0.09
    """

    name: ClassVar[str] = "ehds"
    title: ClassVar[str] = "Evidence for secondary use of health data"
    about: ClassVar[str] = (
        "For a health data access body that decides on data for secondary use under Regulation (EU) 2025/327: whether "
        "the data are anonymized rather than pseudonymized, limited to what the purpose needs, and safe against "
        "attempts that the regulation forbids."
    )

    def findings(self, facts: Facts) -> tuple[TemplateAnswer, ...]:
        """Answer the template's questions."""
        return (
            answers.identifiers_gone(
                facts, "Are the data anonymized rather than pseudonymized: were direct identifiers removed?"
            ),
            answers.highest_risk(facts, "Is the risk of re-identification low for every natural person?", strict=True),
            answers.recipients_assessed(facts, "Is it low for each data user, given the data that this user may hold?"),
            answers.attacks_named(
                facts, "Would an attempt at re-identification succeed?", extra=answers.attribute_models(facts)
            ),
            answers.models_hold(facts, "Do the technical measures of the policy hold?"),
            answers.utility_kept(facts, "Do the data still serve the purpose?"),
            answers.for_people(
                "What does the access body decide?",
                "Whether the regulation permits the purpose.",
                "Whether every published column is needed for the purpose (data minimization).",
                "Whether anonymized data suffice, or pseudonymized data in a secure processing environment are needed.",
                "What the data permit says about duration, users and publication of results.",
            ),
        )
