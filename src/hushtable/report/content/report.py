"""The report as a whole, and its JSON Schema."""

from __future__ import annotations

from typing import Any, Literal

from hushtable.report.content.about import About
from hushtable.report.content.base import Part
from hushtable.report.content.privacy import (
    Adversary,
    AttackEvidence,
    Band,
    ModelEvidence,
    NotRun,
    RecipientEvidence,
    RiskEvidence,
)
from hushtable.report.content.utility import AccuracyEvidence, Association, ColumnEvidence, MeasureEvidence

FORMAT = "hushtable-report/2"
"""Name and version of the JSON file's format; it changes whenever readers must change."""


class Provenance(Part):
    """The release, its input and the software that made it."""

    created: str
    """when the report was made (UTC)"""
    hushtable: str
    """the version that made the report"""
    code_sha256: str
    """of that version's own files: ``hushtable._version.code_digest()``"""
    made_by: str
    """the version that made the release"""
    made_by_code_sha256: str | None
    """of that version's own files; None without the private companion"""
    policy_sha256: str
    """of the policy's canonical JSON: the same as Policy.digest()"""
    input_hmac_sha256: str | None
    """of the input's content, whatever its row and column order, with the local secret as the key"""
    input_rows: int
    input_columns: int
    seed: int
    algorithm: str
    algorithm_summary: str
    algorithm_parameters: dict[str, str]
    recoding: str
    """how records of a class become identical, in words"""
    guards: tuple[str, ...]
    """protection against adversaries who know the algorithm"""
    notes: dict[str, str]
    """the algorithm's notes about its result"""


class Handling(Part):
    """Sizes, suppression, and the meaning of an empty cell."""

    released: int
    """records"""
    counterfeits: int
    """published records that belong to nobody"""
    suppressed: int
    suppressed_share: float
    suppression_limit: float
    suppression_meaning: str
    people: float
    classes: int
    smallest: float
    """people in the smallest class"""
    median: float
    """people in the class of a typical person"""
    largest: float
    columns: tuple[str, ...]
    """of the published table"""
    missing: str
    missing_meaning: str
    can_draw: bool = True
    """whether 'hushtable sample' can draw rows from the published cells"""


class Rules(Part):
    """Protection of people's values in this report."""

    least: int
    """minimum number of records of a bar"""
    rounding: int
    """counts of bars are multiples of this"""
    labels: bool
    """whether values are named, at the user's request"""
    sentences: tuple[str, ...]


class PublishedFile(Part):
    """A file of the release."""

    name: str
    sha256: str
    size: int
    """bytes"""


class Usefulness(Part):
    """What the release is still good for, and what costs most."""

    grade: Literal["useful", "coarse", "nearly empty"]
    words: str
    changes: tuple[str, ...]
    """changes to the policy, the most beneficial first"""


class Facts(Part):
    """All findings, for any template."""

    provenance: Provenance
    treatment: Handling
    models: tuple[ModelEvidence, ...]
    adversaries: tuple[Adversary, ...]
    risks: tuple[RiskEvidence, ...]
    bands: tuple[Band, ...]
    attacks: tuple[AttackEvidence, ...]
    attacks_not_run: tuple[NotRun, ...]
    columns: tuple[ColumnEvidence, ...]
    associations: tuple[Association, ...]
    measures: tuple[MeasureEvidence, ...]
    accuracy: tuple[AccuracyEvidence, ...]
    rules: Rules
    files: tuple[PublishedFile, ...] = ()
    """the files of the release; none if it was not saved"""
    recipients: tuple[RecipientEvidence, ...] = ()
    usefulness: Usefulness | None = None
    warnings: tuple[str, ...] = ()
    """what the policy does not protect"""


class TemplateAnswer(Part):
    """One question of the template, answered from the facts."""

    question: str
    answer: str
    status: Literal["met", "not met", "to judge", "stated"]
    """'to judge': the numbers are given, and a person has to decide; 'stated': no decision is needed"""
    evidence: tuple[str, ...]


class Summary(Part):
    """The first screen."""

    what: str
    verdict: str
    ok: bool
    """whether every model of the policy holds"""
    unmet: tuple[str, ...]
    """the template's questions whose condition is not met, with their answers"""
    figures: tuple[tuple[str, str, str], ...]
    """number, what it is, and what it was before"""
    assumptions: tuple[str, ...]
    not_promised: tuple[str, ...]


class Report(Part):
    """The evidence file of one release."""

    format: Literal["hushtable-report/2"] = "hushtable-report/2"
    title: str
    template: str
    about: str
    """the readers whose questions the template answers"""
    summary: Summary
    findings: tuple[TemplateAnswer, ...]
    facts: Facts
    limits: tuple[str, ...]
    """what no release of this kind can promise"""
    about_release: About = About()
    """the publisher's statements about the release"""


def report_schema() -> dict[str, Any]:
    """Return the JSON Schema of a report's JSON file.

    Examples
    --------
    >>> report_schema()["title"]
    'hushtable report'
    """
    schema = Report.model_json_schema(mode="serialization")
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "hushtable report"}
    return {**head, **schema, **head}
