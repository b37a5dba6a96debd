from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable import rng
from hushtable.errors import ParameterError

MASK = (1 << 64) - 1


def mix(word: int) -> int:
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
    return word ^ (word >> 31)


def test_golden_values_never_change():
    assert rng.bits(0, "", 3).tolist() == [0x3CE2C6CBD84BFC05, 0xAAD86396BC7F18CB, 0xE46D97216EDD012E]
    assert rng.bits(-1, "é", 1, 10**12).tolist() == [0x4A5B40D862F52CE5]
    assert rng.uniform(1, "u", 2).tolist() == [0.315733658095915, 0.8294617488610857]
    assert rng.normal(1, "z", 2).tolist() == [-1.0071991464373753, 0.7206235413161265]
    assert rng.integers(7, "docs", 8, 1, 7).tolist() == [5, 2, 6, 6, 2, 2, 1, 4]
    assert rng.choice(7, "docs", 8, [1, 0, 3]).tolist() == [2, 0, 2, 2, 0, 0, 0, 2]


@given(seed=st.integers(-(2**70), 2**70), stream=st.text(max_size=5), start=st.integers(0, 2**60))
def test_bits_equal_a_twin_in_python_integers(seed, stream, start):
    name = 0xCBF29CE484222325
    for byte in stream.encode():
        name = ((name ^ byte) * 0x100000001B3) & MASK
    key = mix(mix((seed + 0x9E3779B97F4A7C15) & MASK) ^ name)
    second = mix(key ^ 0xCBF29CE484222325)
    expected = [mix(mix((i * 0x9E3779B97F4A7C15 + key) & MASK) ^ second) for i in range(start, start + 4)]
    assert rng.bits(seed, stream, 4, start).tolist() == expected


@given(start=st.integers(0, 500), n=st.integers(0, 100))
def test_any_slice_of_a_stream_can_be_drawn_alone(start, n):
    for draw in (rng.uniform, rng.normal, rng.bits):
        assert np.array_equal(draw(3, "s", n, start), draw(3, "s", 600)[start : start + n])
    assert np.array_equal(rng.integers(3, "s", n, 0, 9, start), rng.integers(3, "s", 600, 0, 9)[start : start + n])
    assert np.array_equal(rng.choice(3, "s", n, [1, 2], start), rng.choice(3, "s", 600, [1, 2])[start : start + n])


@given(low=st.integers(-(2**40), 2**40), span=st.integers(1, 2**32), seed=st.integers(0, 99))
def test_integers_are_the_upper_half_of_an_exact_product(low, span, seed):
    expected = [low + (int(word) * span >> 64) for word in rng.bits(seed, "i", 20)]
    assert rng.integers(seed, "i", 20, low, low + span).tolist() == expected


def test_distributions():
    n = 200_000
    assert abs(rng.uniform(5, "u", n).mean() - 0.5) < 0.003
    counts = np.bincount(rng.integers(5, "i", n, 0, 10), minlength=10)
    assert np.abs(counts / n - 0.1).max() < 0.003
    z = rng.normal(5, "z", n)
    assert abs(z.mean()) < 0.01
    assert abs(z.std() - 1) < 0.01
    for x in (-2.0, -1.0, 0.0, 0.5, 3.0):
        assert abs((z < x).mean() - 0.5 * math.erfc(-x / math.sqrt(2))) < 0.004
    weights = np.array([5.0, 0.0, 1.0, 4.0])
    drawn = np.bincount(rng.choice(5, "c", n, weights), minlength=4)
    assert drawn[1] == 0
    assert np.abs(drawn / n - weights / 10).max() < 0.004


def test_seeds_and_streams_are_unrelated():
    n = 100_000
    base = rng.uniform(1, "a", n)
    for other in (rng.uniform(2, "a", n), rng.uniform(1, "b", n), rng.uniform(1, "a", n, start=1)):
        assert abs(np.corrcoef(base, other)[0, 1]) < 0.015


def test_series_agree_with_the_library_to_the_last_digits():
    x = rng.uniform(1, "x", 50_000) + 1e-15
    assert np.abs(rng._log(x) - np.log(x)).max() < 1e-14
    assert np.abs(rng.sin_half_turns(x - 0.5) - np.sin(np.pi * (x - 0.5))).max() < 1e-15


@pytest.mark.parametrize("weights", [[], [0.0, 0.0], [-1.0, 2.0], [float("nan")], [float("inf")], [[1.0]]])
def test_bad_weights_are_refused(weights):
    with pytest.raises(ParameterError, match="weights must be"):
        rng.choice(1, "c", 3, weights)


def test_bad_ranges_are_refused():
    with pytest.raises(ParameterError, match="must not be negative"):
        rng.bits(1, "b", -1)
    with pytest.raises(ParameterError, match="must not be negative"):
        rng.uniform(1, "b", 1, start=-1)
    with pytest.raises(ParameterError, match="low must be below high"):
        rng.integers(1, "i", 1, 5, 5)
    with pytest.raises(ParameterError, match="low must be below high"):
        rng.integers(1, "i", 1, 0, 2**32 + 1)
