"""k-anonymity first and p-sensitivity first: the paper's tables, its errors, and models it does not know."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from support_microaggregation import census_run, sse

from hushtable.engines import local
from hushtable.errors import Infeasible
from hushtable.models.average_risk import AverageRisk
from hushtable.models.entropy_l import EntropyL
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.p_sensitive import PSensitive
from hushtable.models.t_closeness import TCloseness
from hushtable.registry import algorithms
from hushtable.schema.columns import Kind
from support_core import plan_of, quasi, sensitive


def models(k, p):
    return [KAnonymity(k=k), PSensitive(p=p)]


PUBLISHED = {
    (3, 3): 23.1342, (5, 3): 23.2814, (7, 3): 22.3151, (10, 3): 23.1369,
    (5, 5): 47.1516, (7, 5): 47.1516, (10, 5): 47.1516,
    (7, 7): 57.6365, (10, 7): 57.6365, (10, 10): 100.0,
}  # fmt: skip
STRICTER = {
    (3, 3): 23.95, (5, 3): 23.75, (7, 3): 22.00, (10, 3): 21.56,
    (5, 5): 36.57, (7, 5): 36.57, (10, 5): 37.31, (7, 7): 58.85, (10, 7): 58.85, (10, 10): 89.65,
}  # fmt: skip


@pytest.mark.parametrize(("k", "p"), PUBLISHED)
def test_the_published_table_2(k, p):
    outcome = census_run("p-first", models(k, p), bins=15)
    assert round(sse(outcome), 4) == PUBLISHED[k, p]
    assert round(sse(census_run("p-first", models(k, p), bins=15, contributes="short")), 2) == STRICTER[k, p]


@pytest.mark.parametrize(("p", "loss", "size"), [(3, 40.63, 162), (5, 58.86, 319), (7, 64.71, 361), (10, 100.0, 1080)])
def test_k_first_tries_every_size(p, loss, size):
    outcome = census_run("k-first", models(10, p), bins=15)
    assert (round(sse(outcome), 2), outcome.partition.notes["k_hat"]) == (loss, size)


@pytest.mark.parametrize("name", ["k-first", "p-first"])
def test_infeasible_p_is_said_before_any_work(name):
    with pytest.raises(Infeasible, match="p-sensitive k-anonymity infeasible: p=4 distinct values in classes of k=3"):
        census_run(name, models(3, 4), bins=15)
    with pytest.raises(Infeasible, match="p=13 but 'POTHVAL' has 12 distinct values"):
        census_run(name, models(13, 13), bins=15)


@pytest.mark.parametrize("name", ["k-first", "p-first"])
def test_a_bound_on_risk_is_no_k_below_p(name):
    outcome = census_run(name, (PSensitive(p=3, on="POTHVAL"), AverageRisk(average=0.4)), bins=15)
    assert outcome.verification.ok


@pytest.mark.parametrize("name", ["mdav", "cbfs", "v-mdav", "k-first", "p-first"])
@pytest.mark.parametrize("model", [EntropyL(l=2.0), TCloseness(t=0.4), PSensitive(p=3), AverageRisk(average=0.05)])
def test_models_beyond_k_anonymity(name, model):
    generator = np.random.default_rng(8)
    table = pa.table(
        {
            "x": generator.normal(size=300),
            "y": generator.normal(size=300),
            "illness": generator.choice(["a", "b", "c", "d"], 300, p=[0.4, 0.3, 0.2, 0.1]),
        }
    )
    columns = (quasi("x", Kind.NUMERIC), quasi("y", Kind.NUMERIC), sensitive("illness"))
    outcome = local.run(table, plan_of([KAnonymity(k=5), model], columns, algorithms.build(name)))
    assert outcome.verification.ok
    assert np.bincount(outcome.recoded.labels).min() >= 5
    assert outcome.verification.classes >= 3
