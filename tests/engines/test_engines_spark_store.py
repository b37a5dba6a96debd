"""Spark answers what every store answers; see ``hushtable.testing.store_checks``."""

from __future__ import annotations

from collections import Counter

import pytest

from hushtable import registry
from hushtable.algorithms.lattice import branch_and_bound, space
from hushtable.engines.spark.combinations import Combinations
from hushtable.engines.spark.content import Content
from hushtable.engines.spark.jobs import SparkJobs
from hushtable.engines.spark.store import SparkStore
from hushtable.models.k_anonymity import KAnonymity
from hushtable.testing import Answer, model_examples, random_case
from hushtable.testing.store_checks import check_store

pytestmark = pytest.mark.spark

CASES = [
    ("mondrian", "entropy-l", 0.0, 1, 12),
    ("localpk", "entropy-l", 0.0, 1, 12),
    ("optimal", "entropy-l", 0.1, 12, 1),
    ("samarati", "distinct-l", 0.0, 3, 1),
    ("information-cuts", "entropy-l", 0.0, 10**6, 1),
]


@pytest.mark.parametrize(("name", "model", "suppression", "driver", "most"), CASES, ids=lambda v: str(v))
def test_the_same_answers(spark, monkeypatch, name, model, suppression, driver, most):
    monkeypatch.setattr(space, "WORTH_ROLLING", 6)
    monkeypatch.setattr(branch_and_bound, "MANY", 12)
    monkeypatch.setattr(branch_and_bound, "PATIENCE", 2)
    jobs, done = SparkJobs(spark, lambda share, what: None), Counter()

    def make(case, plan, driver, most):
        content = Content(jobs, spark.createDataFrame(case.table), plan, 100_000)
        content.hold()
        return SparkStore(Combinations(content), driver, most)

    with jobs.run():
        for seed in (3, 4):
            case = random_case(seed, 40, entity=seed == 4)
            models = [KAnonymity(k=2), *model_examples(registry.models[model], case, 1)]
            algorithm = registry.algorithms.build(name, {})
            limits = {"driver": driver, "most": most}
            done[check_store(models, algorithm, case, make, suppression=suppression, **limits)] += 1
    assert done[Answer.RELEASED], done
