"""The report as a whole, and its JSON Schema."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from hushtable.errors import UsageError


class Part(BaseModel):
    """A part of a report: immutable, without unknown fields, and with numbers that JSON can express."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)


def finite(number: float | None) -> float | None:
    """Return a number, or None if it is not defined.

    Examples
    --------
    >>> finite(0.5), finite(float("nan"))
    (0.5, None)
    """
    return None if number is None or not math.isfinite(number) else float(number)


class Recipient(Part):
    """A recipient of the release."""

    name: str
    holds: tuple[str, ...] = ()
    """published columns whose values the recipient may already hold about people"""
    terms: str = ""
    """the contract or law that applies"""


class About(Part):
    """Statements in the evidence that cannot be computed.

    Examples
    --------
    >>> About(dataset="Admissions 2025", recipients=({"name": "University", "holds": ["age"]},)).recipients[0].name
    'University'
    """

    dataset: str = ""
    """the table's name"""
    purpose: str = ""
    """permitted uses"""
    organisation: str = ""
    """publisher"""
    signer: str = ""
    """signer and role"""
    recipients: tuple[Recipient, ...] = ()


def read_about(given: About | Mapping[str, Any] | str | os.PathLike[str] | None) -> About:
    """Return the statements about a release: from data, or from a YAML file.

    Raises
    ------
    UsageError
        If the file cannot be read, or contains something else.

    Examples
    --------
    >>> read_about({"dataset": "Admissions"}).dataset
    'Admissions'
    >>> read_about({"datset": "Admissions"})
    Traceback (most recent call last):
    hushtable.errors.UsageError: The statement about the release is not valid at 'datset': Extra inputs are not ...
    """
    if given is None or isinstance(given, About):
        return given or About()
    if not isinstance(given, Mapping):
        given = _load(Path(given))
    try:
        return About.model_validate(dict(given))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UsageError(
            f"The statement about the release is not valid at {place!r}: {first['msg']}.",
            code="about",
            hint="It may contain dataset, purpose, organisation, signer and recipients (name, holds, terms).",
        ) from None


def _load(path: Path) -> Mapping[str, Any]:
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(
            f"{str(path)!r} cannot be read: {os.strerror(error.errno or 0)}.", code="about", hint="Name a YAML file."
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise UsageError(f"{str(path)!r} is not YAML.", code="about", hint="Write 'dataset: ...' in it.") from None
    if not isinstance(found, Mapping):
        raise UsageError(f"{str(path)!r} is empty.", code="about", hint="Write 'dataset: ...' in it.")
    return found


class ModelQuantity(Part):
    """One of the quantities that a model bounds, if it bounds several."""

    quantity: str
    """the parameter that bounds it"""
    comparison: Literal[">=", "<=", "<"]
    bound: float
    achieved: float | None
    """of the worst class"""


class ModelEvidence(Part):
    """One privacy model: what it requires of every class, and what the worst class achieves."""

    model: str
    """its name"""
    summary: str
    """its requirement, in a sentence"""
    column: str | None
    """the sensitive column, or columns, that it protects"""
    parameters: dict[str, str]
    """as in the policy; parameters that hold values of the table are omitted"""
    threats: tuple[Literal["identity", "attribute"], ...]
    """what it protects: a person's identity, a person's sensitive value"""
    comparison: Literal[">=", "<=", "<"]
    """how the achieved number is compared with the bound"""
    bound: float
    """the threshold of the policy"""
    achieved: float | None
    """of the worst class, recomputed from the published cells"""
    quantities: tuple[ModelQuantity, ...] = ()
    """only for a model that bounds several quantities: read these instead of bound and achieved, which are a margin"""
    violations: int
    """classes that violate it"""
    holds: bool


class Adversary(Part):
    """An adversary against whom the release was assessed."""

    name: str
    knows: str
    """what the adversary is assumed to know"""
    wants: str
    """what counts as success"""
    evidence: Literal["risk", "attack"]
    """whether success was computed from class sizes or measured by an attack"""


class RiskNumbers(Part):
    """Risks of re-identification over the people of one table."""

    highest: float | None
    average: float | None
    at_risk: float | None
    """people above the threshold"""
    share_at_risk: float | None


class RiskEvidence(Part):
    """One adversary's risk of re-identification, before and after."""

    name: str
    summary: str
    basis: str
    """unit of the class sizes"""
    threshold: float
    comparison: str
    """a person is at risk if (risk) (comparison) (threshold)"""
    before: RiskNumbers
    after: RiskNumbers


class Band(Part):
    """People by the size of their class."""

    label: str
    least: int
    most: int | None
    before: float
    """share of the people"""
    after: float


class AttackEvidence(Part):
    """One attack: how often the adversary was right, compared with guessing without the release."""

    name: str
    knowledge: str
    targets: int
    successes: int
    rate: float
    low: float
    """lower end of the 95% confidence interval"""
    high: float
    baseline: float
    """the same guess without the release"""
    control: float | None
    """the rate on people who are not in the release"""
    above_baseline: bool
    """whether the whole interval lies above the baseline"""
    remedy: str
    learns: Literal["person", "value", "alone", "presence", "cell"] = "value"
    """what a correct guess reveals: which person a row belongs to, a sensitive value, that a description fits only one
    person, that a person is in the table, or an exact cell"""


class RecipientEvidence(Part):
    """What one recipient could do with data that it already holds."""

    name: str
    holds: tuple[str, ...]
    """published columns that it may hold about people"""
    terms: str
    smallest: int
    """published rows in the smallest group of rows that look the same in those columns"""
    highest: float
    """highest chance of picking the right row for a person"""
    average: float
    share_at_risk: float
    """share of the rows above the report's threshold"""
    learned: str | None
    """the sensitive column that is most often learned with certainty; none if there is none to learn"""
    share_learned: float
    """share of the rows whose group has one value of that column"""


class NotRun(Part):
    """An attack that could not be run, and why."""

    name: str
    reason: str


class Bar(Part):
    """One bar of a histogram, with at least the number of records that the report's rule requires."""

    label: str
    before: int
    """records of the input, rounded"""
    after: int
    """records of the release, rounded; a generalized cell is spread evenly over the values that it covers"""


class Depth(Part):
    """Number of records that were generalized to one level of the hierarchy."""

    level: int
    share: float


class ColumnEvidence(Part):
    """One column: what was done to it, and the effect."""

    name: str
    role: Literal["identifier", "quasi", "sensitive", "insensitive", "pseudonym", "weight", "cluster", "drop"]
    kind: str | None
    treatment: str
    """what happened to it, in words"""
    treatments: tuple[str, ...] = ()
    """treatments of its values before records were grouped, by name"""
    distinct: int | None
    """distinct values of the released records"""
    missing: int | None
    """empty cells of the released records, rounded"""
    height: int | None
    """height of its hierarchy"""
    depths: tuple[Depth, ...]
    """where the released records are in the hierarchy: the level of the lowest node that covers the cell; 0 is exact"""
    nodes: bool
    """whether the published cells are these nodes; ranges and sets are narrower"""
    covered: float | None
    """average share of the domain that a published cell covers: 0 is exact, 1 carries no information"""
    shift: float | None
    """how far the distribution moved: total variation distance over the bars, 0 to 1"""
    bars: tuple[Bar, ...]
    caption: str
    """what the bars are"""


class Association(Part):
    """The association of two columns before and after (Cramér's V over the columns' bars)."""

    columns: tuple[str, str]
    before: float
    after: float


class MeasureEvidence(Part):
    """One utility measure."""

    name: str
    summary: str
    value: float | None
    better: Literal["lower", "higher"]


class AccuracyEvidence(Part):
    """How well a classifier predicts a sensitive column for original records."""

    target: str
    classifier: str
    majority: float | None
    """always guessing the most frequent class"""
    release: float | None
    """trained on the release"""
    original: float | None
    """trained on the original"""


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
