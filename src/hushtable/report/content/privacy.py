"""What was promised and what was found: models, adversaries, risks, attacks."""

from __future__ import annotations

from typing import Literal

from hushtable.report.content.base import Part

__all__ = [
    "Adversary",
    "AttackEvidence",
    "Band",
    "ModelEvidence",
    "ModelQuantity",
    "NotRun",
    "RecipientEvidence",
    "RiskEvidence",
    "RiskNumbers",
]


class ModelQuantity(Part):
    """One of the quantities that a model bounds, where it bounds several."""

    quantity: str
    """the parameter that bounds it"""
    comparison: Literal[">=", "<=", "<"]
    bound: float
    achieved: float | None
    """of the worst class"""


class ModelEvidence(Part):
    """One privacy model: what it asks of every class, and what the worst class achieves."""

    model: str
    """its name"""
    summary: str
    """what it asks, in a sentence"""
    column: str | None
    """the sensitive column, or columns, that it protects"""
    parameters: dict[str, str]
    """as in the policy; parameters that hold values of the table are not spelt out"""
    threats: tuple[Literal["identity", "attribute"], ...]
    """what it protects against: who a record is, what a person's value is"""
    comparison: Literal[">=", "<=", "<"]
    """how the achieved number is compared with the bound"""
    bound: float
    """the threshold of the policy"""
    achieved: float | None
    """of the worst class, recomputed from the published cells"""
    quantities: tuple[ModelQuantity, ...] = ()
    """what to read instead of bound and achieved, which are a margin then: only where the model bounds several"""
    violations: int
    """classes that violate it"""
    holds: bool


class Adversary(Part):
    """Somebody whom the release was held against."""

    name: str
    knows: str
    """what the adversary is assumed to know"""
    wants: str
    """what counts as success"""
    evidence: Literal["risk", "attack"]
    """whether success was computed from class sizes or tried out"""


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
    """what class sizes were counted in"""
    threshold: float
    comparison: str
    """a person is at risk where (risk) (comparison) (threshold)"""
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
    """One attack: how often the adversary was right, and how often without the release."""

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
    """what a right guess tells: who a row is, a sensitive value, that a description fits one person alone, that
    somebody is in the table, or an exact cell"""


class RecipientEvidence(Part):
    """What one recipient could do with what it already holds."""

    name: str
    holds: tuple[str, ...]
    """published columns that it may hold about people"""
    terms: str
    smallest: int
    """published rows in the smallest group that looks alike in those columns"""
    highest: float
    """highest chance to pick the right row for a person"""
    average: float
    share_at_risk: float
    """share of the rows above the report's threshold"""
    learnt: str | None
    """the sensitive column that is learnt for certain most often; none where there is none to learn"""
    share_learnt: float
    """share of the rows whose group has one value of that column"""


class NotRun(Part):
    """An attack that could not be tried, and why."""

    name: str
    reason: str
