"""The base of templates: the questions of one reader, answered from the facts about a release."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from hushtable.algorithms.base import Progress
from hushtable.params import Parametrised
from hushtable.report.content import About, Facts, Report, TemplateAnswer, read_about
from hushtable.risk.linkage import Comparison, Threshold

__all__ = ["Template"]


@dataclass(frozen=True)
class Template(Parametrised, ABC):
    """Base of all templates: a title, a sentence about its reader, and questions.

    Parameters
    ----------
    threshold : float
        Risk above which a person is at risk.
    comparison : {">", ">="}
        How a person's risk is compared with the threshold.
    """

    threshold: Threshold = 0.09
    comparison: Comparison = ">"

    title: ClassVar[str] = ""
    about: ClassVar[str] = ""

    @abstractmethod
    def findings(self, facts: Facts) -> tuple[TemplateAnswer, ...]:
        """Answer the template's questions, the most important first."""

    def report(
        self,
        release: Any,
        *,
        attacks: bool | Sequence[str] = True,
        labels: bool = False,
        about: Any = None,
        progress: Progress | None = None,
    ) -> Report:
        """Gather the evidence about a release.

        Parameters
        ----------
        release : Release
        attacks : bool or sequence of str
            All attacks that can be run, none, or those named.
        labels : bool
            Name values of columns that enough records share; otherwise, they are numbered.
        about : About, mapping or path, optional
            Dataset, purpose, organisation, signer and recipients; see ``hushtable.report.content``.
        progress : callable, optional
            Called with (share done, what is being done); may raise ``Cancelled``.
        """
        from hushtable.report.gather.facts import facts_of

        said = read_about(about)
        facts = facts_of(
            release,
            said,
            threshold=self.threshold,
            comparison=self.comparison,
            attacks=attacks,
            labels=labels,
            progress=progress or (lambda share, what: None),
        )
        return self.answered(facts, said)

    def answered(self, facts: Facts, about: About | None = None) -> Report:
        """Answer the template's questions from facts gathered by any template.

        Parameters
        ----------
        facts : Facts
            With risks at this template's threshold.
        about : About, optional
        """
        from hushtable.report.gather.summary import limits, summary

        findings = self.findings(facts)
        return Report(
            title=self.title,
            template=self.name,
            about=self.about,
            summary=summary(facts, findings),
            findings=findings,
            facts=facts,
            limits=limits(facts),
            about_release=about or About(),
        )

    def write(self, release: Any, path: str | os.PathLike[str], **options: Any) -> Report:
        """Write the HTML file and, next to it, the same as JSON; return the report.

        Parameters
        ----------
        release : Release
        path : path
            The HTML file; the JSON file has the same name with ``.json``.
        **options
            As for ``report``.

        Raises
        ------
        UsageError
            If the path is that of the JSON file.
        OutputError
            If a file cannot be written.
        """
        from hushtable.report.page.page import check_paths, write_report

        check_paths(path)
        report = self.report(release, **options)
        write_report(report, path)
        return report
