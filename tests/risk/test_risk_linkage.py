from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support_risk import class_sizes, exposed, keys, tables

from hushtable.errors import ParameterError
from hushtable.release.exposure import Exposure
from hushtable.risk.journalist import Journalist
from hushtable.risk.linkage import above
from hushtable.risk.marketer import Marketer
from hushtable.risk.prosecutor import Prosecutor
from hushtable.risk.sample_uniqueness import SampleUniqueness


@pytest.mark.parametrize(
    ("size", "comparison", "threshold", "exceeds"),
    [
        (11, ">", 0.09, True),  # 1/11 = 0.0909 is not <= 0.09
        (12, ">", 0.09, False),
        (11, ">=", 0.09, True),
        (5, ">", 0.2, False),
        (5, ">=", 0.2, True),
        (3, ">", 1 / 3, False),
        (3, ">=", 1 / 3, True),
        (3, ">", 0.3333, True),
        (10, ">", 0.1, False),
        (1, ">", 1, False),
        (1, ">=", 1, True),
        (1000, ">=", 0, True),
    ],
)
def test_comparisons_are_what_they_say(size, comparison, threshold, exceeds):
    assert above(np.array([1 / size]), comparison, threshold).tolist() == [exceeds]
    found = Prosecutor(threshold=threshold, comparison=comparison).compute(exposed([size]))
    assert found.share_at_risk == float(exceeds)
    assert (found.threshold, found.comparison) == (threshold, comparison)


@given(tables(), st.sampled_from([0.0, 0.09, 0.2, 1 / 3, 0.5, 1.0]))
def test_prosecutor_record_by_record(table, threshold):
    risks = [1 / size for size in class_sizes(table)]
    found = Prosecutor(threshold=threshold).compute(Exposure.of(table))
    assert found.highest == max(risks)
    assert found.lowest == min(risks)
    assert found.average == pytest.approx(sum(risks) / len(risks))
    assert found.at_risk == sum(r > threshold for r in risks)
    assert found.classes == len(set(keys(table)))


@given(tables(columns=(2, 2)), tables(columns=(2, 2), rows=(0, 20)))
def test_journalist_and_marketer_record_by_record(table, others):
    # the population holds the table's people and others
    population = {name: table[name] + others[name] for name in table}
    held = keys(population)
    risks = [1 / held.count(key) for key in keys(table)]
    exposure = Exposure.of(table, population)
    found = Journalist(threshold=0.2).compute(exposure)
    assert found.basis == "population table"
    assert found.highest == max(risks)
    assert found.average == pytest.approx(sum(risks) / len(risks))
    assert found.at_risk == sum(r > 0.2 for r in risks)
    assert Marketer().compute(exposure).expected == pytest.approx(sum(risks))


def test_a_population_without_the_people_of_the_table_counts_them_all_the_same():
    table = Exposure.of({"q": [1, 1, 2]}, population={"q": [1, 3, 3]})
    found = Journalist().compute(table)
    assert found.highest == 1.0
    assert found.lowest == 0.5


def test_journalist_estimated_by_hand(monkeypatch):
    # alpha = 0, p = 1/2: E(1/F | f=1) = ln 2 and E(1/F | f=2) = 1 - ln 2
    monkeypatch.setattr("hushtable.laws.joining.fit", lambda table: (0.0, 0.0))
    one, two = np.log(2), 1 - np.log(2)
    found = Journalist(fraction=0.5, threshold=0.5).compute(exposed([1, 2]))
    assert found.highest == pytest.approx(one)
    assert found.lowest == pytest.approx(two)
    assert found.average == pytest.approx((one + 2 * two) / 3)
    assert found.at_risk == 1
    # alpha = 1/2: E(1/F | f=1) = p (p^-1/2 - 1) / (1/2 q) = 2 (sqrt 2 - 1)
    monkeypatch.setattr("hushtable.laws.joining.fit", lambda table: (0.0, 0.5))
    assert Journalist(fraction=0.5).compute(exposed([1, 2])).highest == pytest.approx(2 * (2**0.5 - 1))


@given(tables())
def test_sample_uniqueness_record_by_record(table):
    sizes = class_sizes(table)
    found = SampleUniqueness().compute(Exposure.of(table))
    assert found.uniques == sizes.count(1)
    assert found.share == pytest.approx(sizes.count(1) / len(sizes))
    assert found.pairs == sizes.count(2)
    assert found.smallest == min(sizes)


def test_sample_uniques_that_the_population_has_once():
    table = Exposure.of({"q": [1, 2, 3, 3]}, population={"q": [1, 2, 2, 3, 3]})
    assert SampleUniqueness().compute(table).in_population == 1


@pytest.mark.parametrize("parameters", [{"threshold": 1.1}, {"threshold": -0.1}, {"comparison": "<"}])
def test_parameters_out_of_range(parameters):
    with pytest.raises(ParameterError):
        Prosecutor(**parameters)
