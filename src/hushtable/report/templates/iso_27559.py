"""The template for a de-identification framework: context, data, identifiability, governance.

References
----------
ISO/IEC 27559:2022, "Information security, cybersecurity and privacy protection: privacy enhancing data
de-identification framework".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hushtable.report.content import Facts, TemplateAnswer
from hushtable.report.templates import answers
from hushtable.report.templates.base import Template


@dataclass(frozen=True)
class ISO27559(Template):
    """De-identification in the style of ISO/IEC 27559: context, data, identifiability, governance.

    Parameters
    ----------
    threshold : float
        Risk above which a person is at risk.
    comparison : {">", ">="}

    Examples
    --------
    >>> ISO27559().threshold
    0.09
    """

    name: ClassVar[str] = "iso-27559"
    title: ClassVar[str] = "De-identification evidence by context, data and governance"
    about: ClassVar[str] = (
        "For a review in the style of ISO/IEC 27559: the context of the data, the data themselves, how "
        "identifiable people are in that context, and who governs the release afterwards."
    )

    def findings(self, facts: Facts) -> tuple[TemplateAnswer, ...]:
        """Answer the template's questions."""
        return (
            answers.recipients_assessed(facts, "Context: is identifiability acceptable for each recipient?"),
            answers.identifiers_gone(facts, "Data: were direct identifiers removed?"),
            answers.highest_risk(facts, "Identifiability: is everybody at or below the threshold?", strict=True),
            answers.models_hold(facts, "Mitigation: does the de-identification hold?"),
            answers.attacks_named(facts, "Identifiability: did adversarial testing succeed?"),
            answers.utility_kept(facts, "Data: are they still useful?"),
            answers.for_people(
                "Governance: what has to be decided and kept?",
                "Who is accountable for the release, and who approves changes to its context.",
                "Which controls recipients have in place: contracts, access, training, audits.",
                "When identifiability is assessed again, since other data appear over time.",
                "What is done, and who is informed, if a person is re-identified.",
            ),
        )
