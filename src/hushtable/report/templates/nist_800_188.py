"""The template of NIST SP 800-188: the questions of a disclosure review board about a dataset.

References
----------
S. Garfinkel, J. Near, A. Dajani, P. Singer, B. Guttman, "De-identifying government datasets: techniques and
governance", NIST Special Publication 800-188, 2023.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hushtable.report.content import Facts, TemplateAnswer
from hushtable.report.numbers import count
from hushtable.report.templates import answers
from hushtable.report.templates.base import Template


@dataclass(frozen=True)
class NIST800188(Template):
    """The questions of a disclosure review board, after NIST SP 800-188.

    Parameters
    ----------
    threshold : float
        Risk above which a person is at risk.
    comparison : {">", ">="}

    Examples
    --------
    >>> NIST800188.title
    'De-identification evidence for a disclosure review board'
    """

    name: ClassVar[str] = "nist-800-188"
    title: ClassVar[str] = "De-identification evidence for a disclosure review board"
    about: ClassVar[str] = (
        "For a review in the style of NIST SP 800-188: identifiers, quasi-identifiers, the standard that was applied, "
        "attempts at re-identification, data quality, and what remains to be decided by people."
    )

    def findings(self, facts: Facts) -> tuple[TemplateAnswer, ...]:
        """Answer the questions that the data can answer, and name the others."""
        return (
            answers.identifiers_gone(facts, "Were direct identifiers removed?"),
            _quasi(facts),
            answers.models_hold(facts, "Is the de-identification standard of the policy met?"),
            answers.highest_risk(facts, "Is the disclosure risk of every person low?", strict=False),
            answers.attacks_named(facts, "Did a re-identification study succeed?"),
            answers.utility_kept(facts, "Is the quality of the data sufficient?"),
            answers.for_people(
                "What do people have to decide?",
                "Who may receive the release, and under which agreement: the public, signatories, or a protected "
                "enclave.",
                "Which other datasets, published or leaked, cover the same people (the mosaic effect).",
                "Who is responsible for the release, when it is reviewed again, and what happens if a person is "
                "re-identified.",
                "Whether another technique, such as synthetic data or differential privacy, would serve the purpose "
                "better.",
            ),
        )


def _quasi(facts: Facts) -> TemplateAnswer:
    quasi = [c for c in facts.columns if c.role == "quasi"]
    plain = [c.name for c in facts.columns if c.role == "insensitive"]
    evidence = [f"“{c.name}” ({c.kind}, {count(c.distinct)} distinct values): {c.treatment}." for c in quasi]
    evidence += [f"“{name}” was considered harmless and is published unchanged." for name in plain]
    return TemplateAnswer(
        question="Were quasi-identifiers found and transformed?",
        answer=f"{len(quasi)} columns were treated as quasi-identifiers; people have to judge whether these are all.",
        status="to judge",
        evidence=tuple(evidence),
    )
