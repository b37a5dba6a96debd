"""The general template: for a data protection officer, under any law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hushtable.report.content import Facts, TemplateAnswer
from hushtable.report.templates.answers import attacks_named, highest_risk, identifiers_gone, models_hold, utility_kept
from hushtable.report.templates.base import Template


@dataclass(frozen=True)
class General(Template):
    """The questions of any data protection officer.

    Parameters
    ----------
    threshold : float
        Risk above which a person is at risk.
    comparison : {">", ">="}

    Examples
    --------
    >>> import pyarrow as pa
    >>> import hushtable as ht
    >>> people = pa.table({"age": [30, 31, 52, 53], "disease": ["flu", "HIV", "flu", "cold"]})
    >>> policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=2)])
    >>> report = General().report(ht.anonymize(people, policy), attacks=False)
    >>> report.findings[0].answer
    'Yes, in every class of the published table.'
    """

    name: ClassVar[str] = "general"
    title: ClassVar[str] = "Evidence of anonymization"
    about: ClassVar[str] = "For those who decide whether this table may be published, under any law."

    def findings(self, facts: Facts) -> tuple[TemplateAnswer, ...]:
        """Answer the template's questions."""
        return (
            models_hold(facts, "Does the release keep the promises of its policy?"),
            identifiers_gone(facts, "Were direct identifiers removed?"),
            highest_risk(facts, "Is the chance of finding a known person low for everybody?", strict=False),
            attacks_named(facts, "Does the release help an adversary?"),
            utility_kept(facts, "Is it still useful?"),
        )
