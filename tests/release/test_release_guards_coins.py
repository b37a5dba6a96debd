"""Coins: the same where the secret is, unguessable where it is not."""

from __future__ import annotations

import numpy as np

from hushtable.io.secret import SECRET
from hushtable.release.guards.coins import Coins, fingerprint


def test_coins_depend_on_secret_seed_and_purpose(monkeypatch, tmp_path):
    def tossed(secret, seed, purpose):
        monkeypatch.setenv(SECRET, str(tmp_path / secret))
        return Coins.of(seed, purpose).words("x", 3).tolist()

    first = tossed("mine", 1, "minimality")
    assert first == tossed("mine", 1, "minimality")
    others = [tossed("yours", 1, "minimality"), tossed("mine", 2, "minimality"), tossed("mine", 1, "downcoding")]
    assert len({tuple(words) for words in [first, *others]}) == 4


def test_a_longer_draw_begins_like_a_shorter_one():
    coins = Coins(b"k")
    assert coins.words("a", 9)[:4].tolist() == coins.words("a", 4).tolist() != coins.words("b", 4).tolist()
    assert Coins(b"bk").words("a", 2).tolist() != Coins(b"k").words("ab", 2).tolist()


def test_numbers_are_even_and_within_their_limits():
    coins = Coins(b"even")
    numbers = coins.uniform("u", 20_000)
    assert numbers.min() >= 0 and numbers.max() < 1 and abs(numbers.mean() - 0.5) < 0.02
    drawn = coins.below("b", np.full(9_000, 3))
    assert np.bincount(drawn, minlength=3).min() > 2_800 and drawn.max() == 2
    assert coins.below("b", np.array([1, 1])).tolist() == [0, 0]


def test_the_fingerprint_tells_secrets_apart_and_nothing_else(monkeypatch, tmp_path):
    before = fingerprint(3)
    assert before == fingerprint(3) != fingerprint(4)
    monkeypatch.setenv(SECRET, str(tmp_path / "another"))
    assert fingerprint(3) != before
