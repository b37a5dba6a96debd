from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support_risk import exposed, pitman_labels

from hushtable.laws.frequencies import Frequencies
from hushtable.laws.pitman import expected_uniques, fit, log_likelihood
from hushtable.laws.snb import population_classes, seen_once_twice
from hushtable.risk.dankar import Dankar
from hushtable.risk.pitman import Pitman
from hushtable.risk.snb import SlideNegativeBinomial
from hushtable.risk.zayatz import Zayatz

ALL = [Pitman, Zayatz, SlideNegativeBinomial, Dankar]


def frequencies(sizes):
    return Frequencies(*(a.astype(np.int64) for a in np.unique(sizes, return_counts=True)))


def sampled(population, fraction, seed):
    """Class sizes of a sample of a population of classes of these sizes."""
    members = np.repeat(np.arange(len(population)), population)
    drawn = np.random.default_rng(seed).permutation(members)[: round(fraction * len(members))]
    sizes = np.bincount(drawn)
    return sizes[sizes > 0]


class TestEdges:
    @pytest.mark.parametrize("estimator", ALL)
    @pytest.mark.parametrize("fraction", [0.01, 0.5, 1])
    def test_no_sample_uniques_no_population_uniques(self, estimator, fraction):
        found = estimator(fraction=fraction).compute(exposed([2, 3, 3]))
        assert (found.uniques, found.share, found.kept, found.sample_uniques) == (0, 0, 0, 0)

    @pytest.mark.parametrize("estimator", ALL)
    def test_the_whole_population_has_its_own_uniques(self, estimator):
        for found in (estimator().compute(exposed([1, 1, 2])), estimator(fraction=1).compute(exposed([1, 1, 2]))):
            assert (found.uniques, found.kept, found.population) == (2, 1, 4)

    @pytest.mark.parametrize("estimator", [Pitman, Zayatz, Dankar])
    @pytest.mark.parametrize("sizes", [[1], [1, 1, 1]])
    def test_where_everybody_is_unique_everybody_is(self, estimator, sizes):
        found = estimator(fraction=0.1).compute(exposed(sizes))
        assert found.uniques == pytest.approx(10 * len(sizes))
        assert found.kept == pytest.approx(1)

    def test_no_answer_is_not_zero(self):
        # no class of two: the slide negative binomial cannot be fitted
        found = SlideNegativeBinomial(fraction=0.5).compute(exposed([1, 1, 3]))
        assert math.isnan(found.uniques)
        assert found.as_dict()["uniques"] is None
        assert found.as_dict()["kept"] is None

    @pytest.mark.parametrize("estimator", ALL)
    @given(st.lists(st.integers(1, 9), min_size=1, max_size=30), st.floats(1e-4, 1))
    def test_estimates_lie_within_the_population_or_do_not_exist(self, estimator, sizes, fraction):
        found = estimator(fraction=fraction).compute(exposed(sizes))
        assert math.isnan(found.uniques) or 0 <= found.uniques <= found.population
        if estimator in (Zayatz, Dankar):
            assert not math.isnan(found.uniques)


class TestZayatz:
    @given(st.lists(st.integers(1, 6), min_size=1, max_size=12), st.integers(1, 60))
    def test_from_the_definition(self, sizes, more):
        table = frequencies([*sizes, 1])
        n = table.people
        population = n + more
        share = {j: c / table.classes for j, c in zip(table.sizes.tolist(), table.counts.tolist(), strict=True)}

        def once(j):
            return j * math.comb(population - j, n - 1) / math.comb(population, n) if population >= j else 0

        chance = share[1] * once(1) / sum(p * once(j) for j, p in share.items())
        assert Zayatz().estimate(table, population) == pytest.approx(table.of(1) * chance * population / n)

    def test_by_hand(self):
        # N = 8, n = 4, s_1 = 2, s_2 = 1: P(f=1|F=1) = 1/2, P(f=1|F=2) = 2 C(6,3) / C(8,4) = 4/7
        chance = (2 / 3 * 1 / 2) / (2 / 3 * 1 / 2 + 1 / 3 * 4 / 7)
        assert Zayatz(fraction=0.5).compute(exposed([1, 1, 2])).uniques == pytest.approx(4 * chance)


class TestPitman:
    @given(st.lists(st.integers(1, 7), min_size=2, max_size=12), st.floats(0.05, 0.95), st.floats(-4, 4).map(math.exp))
    def test_likelihood_from_the_definition(self, sizes, alpha, above):
        table = frequencies(sizes)
        theta = above - alpha
        slow = (
            sum(math.log(theta + i * alpha) for i in range(1, table.classes))
            - sum(math.log(theta + i) for i in range(1, table.people))
            + sum(math.log(i - alpha) for size in sizes for i in range(1, size))
        )
        assert log_likelihood(table, theta, alpha) == pytest.approx(slow, abs=1e-8)

    @pytest.mark.parametrize("sizes", [[9, 4, 2, 2, 1, 1, 1], [2, 1, 1, 1, 1, 1], [30, 1, 1, 1, 1], [5, 5, 5, 1]])
    def test_no_other_parameters_are_likelier(self, sizes):
        table = frequencies(sizes)
        best = log_likelihood(table, *fit(table))
        for alpha in np.linspace(0.002, 0.999, 60):
            for above in np.exp(np.linspace(-9, 9, 120)):
                assert log_likelihood(table, above - alpha, alpha) <= best + 1e-6

    def test_expected_uniques_person_by_person(self):
        theta, alpha, alone = 3.0, 0.4, 1.0
        for i in range(1, 50):
            alone *= (theta + alpha + i - 1) / (theta + i)
        assert expected_uniques(theta, alpha, 50) == pytest.approx(50 * alone)

    def test_expected_uniques_tend_to_the_published_form(self):
        theta, alpha, n = 20.0, 0.6, 10**7
        published = math.gamma(theta + 1) / math.gamma(theta + alpha) * n**alpha
        assert expected_uniques(theta, alpha, n) == pytest.approx(published, rel=1e-4)

    @pytest.mark.parametrize(("theta", "alpha"), [(20, 0.6), (100, 0.8)])
    def test_a_population_of_its_own_kind(self, theta, alpha):
        population = np.bincount(pitman_labels(20_000, theta, alpha, seed=1))
        sizes = sampled(population, 0.1, seed=2)
        estimate = Pitman().estimate(frequencies(sizes), 20_000)
        assert estimate == pytest.approx(np.count_nonzero(population == 1), rel=0.1)


class TestSlideNegativeBinomial:
    @pytest.mark.parametrize(("alpha", "beta", "pi"), [(0.5, 0.3, 0.1), (2.0, 0.5, 0.6), (1.0, 0.1, 0.9)])
    def test_chances_are_sums_over_all_class_sizes(self, alpha, beta, pi):
        once = twice = 0.0
        law = beta**alpha  # P(F = 1), then by the ratio of neighbors
        for size in range(1, 2000):
            once += law * size * pi * (1 - pi) ** (size - 1)
            twice += law * math.comb(size, 2) * pi**2 * (1 - pi) ** (size - 2) if size > 1 else 0.0
            law *= (1 - beta) * (size - 1 + alpha) / size
        assert seen_once_twice(alpha, beta, pi) == pytest.approx((once, twice), rel=1e-9)

    @pytest.mark.parametrize(("alpha", "beta"), [(0.5, 0.3), (2.0, 0.5), (1.0, 0.02), (0.1, 0.05)])
    def test_a_population_of_its_own_kind(self, alpha, beta):
        population = 1 + np.random.default_rng(3).negative_binomial(alpha, beta, 20_000)
        sizes = sampled(population, 0.6, seed=4)
        estimate = SlideNegativeBinomial().estimate(frequencies(sizes), int(population.sum()))
        assert estimate == pytest.approx(np.count_nonzero(population == 1), rel=0.05)

    def test_classes_of_the_population(self):
        population = 1 + np.random.default_rng(5).negative_binomial(1.0, 0.2, 20_000)
        assert population_classes(frequencies(sampled(population, 0.5, seed=6)), 0.5) == pytest.approx(20_000, rel=0.02)

    def test_classes_by_hand(self):
        # s_1 = 2, s_2 = 1, pi = 1/2: Haas and Stokes' terms one by one
        top = 1 * 0.25 * 2 + 2 * 0.25 * 0.75 * 1
        bottom = 0.5 * 0.5 * 2 + 0.25 * (2.25 - 1) * 1
        ratio = (0.5 * 2 + 0.25) / (0.5 * 2 + 2 * 0.5 * 0.5)
        assert population_classes(frequencies([1, 1, 2]), 0.5) == pytest.approx(3 + 2 * top / bottom * ratio**2)


class TestDankar:
    SIZES = (9, 4, 2, 2, 1, 1, 1)

    @pytest.mark.parametrize(("fraction", "chosen"), [(0.05, Pitman), (0.1, Pitman), (0.11, None), (0.5, None)])
    def test_the_sampling_fraction_decides(self, fraction, chosen):
        table = exposed(self.SIZES)
        found = Dankar(fraction=fraction).compute(table)
        zayatz, snb = (e(fraction=fraction).compute(table).uniques for e in (Zayatz, SlideNegativeBinomial))
        expected = chosen(fraction=fraction).compute(table).uniques if chosen else min(zayatz, snb)
        assert found.uniques == pytest.approx(expected)
        assert found.estimator == (chosen.name if chosen else "zayatz" if zayatz < snb else "snb")

    def test_zayatz_where_the_other_has_no_answer(self):
        table = exposed([1, 1, 3])
        found = Dankar(fraction=0.5).compute(table)
        assert found.estimator == "zayatz"
        assert found.uniques == Zayatz(fraction=0.5).compute(table).uniques
