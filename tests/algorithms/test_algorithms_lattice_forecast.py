"""Forecasts of what nodes suppress, and the nodes that are chosen by them."""

from __future__ import annotations

import numpy as np
import pytest
from support_lattice import problem_of

from hushtable.algorithms.lattice.branch_and_bound import Forecast, Probe
from hushtable.algorithms.lattice.judge import Judge
from hushtable.models.k_anonymity import KAnonymity


def judged(seed: int = 5, rows: int = 200, limit: float = 1.0):
    judge = Judge(problem_of([KAnonymity(k=3)], seed, rows, limit))
    for node in judge.space.nodes:
        judge(node.astype(np.int64))
    return judge


def test_forecasts_follow_what_was_judged():
    judge = judged()
    forecast = Forecast(judge.space)
    forecast.fit(judge.seen.nodes, judge.seen.small)
    found = forecast.logits(judge.seen.nodes)
    true = forecast.logit(judge.seen.small.astype(np.float64))
    assert np.corrcoef(found, true)[0, 1] > 0.9
    assert forecast.doubt == pytest.approx((true - found).std(), abs=1e-5)


def test_a_step_up_is_the_difference_of_two_forecasts():
    judge = judged()
    forecast = Forecast(judge.space)
    forecast.fit(judge.seen.nodes, judge.seen.small)
    node = judge.space.low
    for j, step in enumerate(forecast.steps(node).tolist()):
        above = node.copy()
        above[j] += 1
        difference = forecast.logits(node[None])[0] - forecast.logits(above[None])[0]
        assert step == pytest.approx(difference)
        assert step >= 0


def test_limits_are_where_a_node_costs_more_than_the_best():
    judge = judged()
    probe = Probe(judge)
    nodes = judge.space.nodes
    best = float(np.median(judge.seen.value[np.isfinite(judge.seen.value)]))
    total = judge.space.units
    for node, limit in zip(nodes, probe.limits(nodes, best).tolist(), strict=True):
        units = round(total / (1 + np.exp(-limit)))
        if units < total - 1:
            assert judge.objective.bound_alike(node[None], units + 1)[0] >= best - 1e-9


def test_a_probe_is_above_the_node_that_it_is_meant_to_close():
    judge = judged()
    probe = Probe(judge)
    finest = judge.space.nodes[:1]
    # whatever has to suppress anything closes it
    chosen = probe._climb(finest, np.array([-10.0]), 0, np.array([2.0]))
    assert (chosen >= finest[0]).all() and chosen.sum() > finest[0].sum()


def test_what_was_judged_is_not_chosen_again():
    judge = judged()
    probe = Probe(judge)
    nodes = judge.space.nodes[:3]
    # every node has been judged, so no probe is left
    assert probe(nodes, np.full(3, -50.0)) is None
