"""Promises and findings: models, adversaries, risks, attacks."""

from __future__ import annotations

from typing import Literal

from hushtable.report.content.base import Part


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
