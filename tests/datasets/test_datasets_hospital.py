"""The generated hospital."""

from __future__ import annotations

import numpy as np
import pytest

from hushtable.datasets.hospital import hospital, hospital_policy
from hushtable.errors import ParameterError
from hushtable.linked.policy import LinkedPolicy
from hushtable.linked.run import check_data


def test_tables_fit_their_policy():
    found = check_data(hospital(300), LinkedPolicy(**hospital_policy()))
    assert found["people"] == 300
    assert 15 < found["events"] / 300 < 27
    assert found["people_without_events"] < 10


def test_people_are_the_same_whatever_their_number():
    few, many = hospital(40), hospital(200)
    for name, table in few.items():
        assert table.equals(many[name].slice(0, table.num_rows)), name
    assert not hospital(40, seed=8)["people"].equals(few["people"])


def test_events_are_skewed():
    counts = np.sort(np.unique(hospital(2000)["diagnoses"]["code"].to_numpy(), return_counts=True)[1])[::-1]
    assert counts[:10].sum() > 0.4 * counts.sum()
    assert len(counts) > 60


def test_nobody_is_refused():
    with pytest.raises(ParameterError, match="at least 1"):
        hospital(0)
