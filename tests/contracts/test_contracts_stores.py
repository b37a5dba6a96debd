"""Every store of tuples under every algorithm, with limits so small that every path is taken."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from hushtable.algorithms.lattice import branch_and_bound, space
from hushtable.algorithms.partition.mondrian import Mondrian
from hushtable.models.k_anonymity import KAnonymity
from hushtable.registry import algorithms, models
from hushtable.testing import Answer, model_examples, random_case
from hushtable.testing.store_checks import check_store

NAMES = list(models)
REPEATABLE = [cls.build({}) for cls in algorithms.values() if not cls.samples]
VARIANTS = [*REPEATABLE, Mondrian(mode="relaxed"), Mondrian(nominal="children")]
FAR = {"mondrian", "localpk", "optimal", "samarati", "datafly", "incognito"}
"""Algorithms that work on records that are nowhere at hand."""
TOGETHER = {
    *(FAR - {"localpk"}), "greedy-loss", "information-cuts", "top-down-specialization", "bottom-up-generalization",
}  # fmt: skip
"""Algorithms that work on combinations."""


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables take the ways of large ones."""
    monkeypatch.setattr(space, "WORTH_ROLLING", 6)
    monkeypatch.setattr(branch_and_bound, "MANY", 12)
    monkeypatch.setattr(branch_and_bound, "PATIENCE", 2)


@pytest.mark.parametrize("number", range(len(VARIANTS)), ids=lambda n: f"{VARIANTS[n].name}-{n}")
def test_the_same_groups_wherever_the_records_are(number: int, small_limits: None) -> None:
    algorithm = VARIANTS[number]
    done: dict[int, Counter[Answer]] = {}
    for driver in (1, 10**6):
        done[driver] = Counter()
        for turn in range(6):
            case = random_case(7 * number + turn, 12 + 9 * turn, entity=turn % 3 == 2)
            chosen = [KAnonymity(k=2), *model_examples(models[NAMES[(3 * number + 5 * turn) % len(NAMES)]], case, 1)]
            for own in (chosen, chosen[:1]):
                done[driver][check_store(own, algorithm, case, driver=driver, most=(4, 12, 1000)[turn % 3])] += 1
    default = algorithm == algorithms.build(algorithm.name, {})
    assert bool(done[1][Answer.RELEASED]) == (algorithm.name in FAR and default), done
    kept = algorithm.name in TOGETHER and getattr(algorithm, "mode", "") != "relaxed"
    assert bool(done[10**6][Answer.RELEASED]) == (kept or algorithm.name == "localpk"), done


def test_every_question_was_asked(small_limits: None) -> None:
    asked: Counter[str] = Counter()
    for seed in range(12):
        case = random_case(seed, 60, entity=seed % 4 == 3)
        chosen = [KAnonymity(k=3), *model_examples(models["entropy-l"], case)[:1]]
        for name in sorted(FAR):
            algorithm, limits = algorithms.build(name, {}), {"driver": 8 + 30 * (seed % 3), "most": 10}
            check_store(chosen, algorithm, case, suppression=0.1 * (seed % 2), asked=asked, **limits)
    wanted = (
        "rolled up", "brought", "pieces", "sizes", "cubes", "closed", "counted", "branches", "gone back",
        "finished where it is", "combinations",
    )  # fmt: skip
    assert [what for what in wanted if not asked[what]] == []


def test_a_difference_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from hushtable.testing import plain_store

    case = random_case(1, 30)
    assert check_store([KAnonymity(k=2)], Mondrian(), case) is Answer.RELEASED
    real = plain_store.PlainGroups.finish

    def one_group_less(self, *arguments):
        found = real(self, *arguments)
        return replace(found, labels=np.maximum(found.labels - 1, 0))

    monkeypatch.setattr(plain_store.PlainGroups, "finish", one_group_less)
    with pytest.raises(AssertionError, match="different groups"):
        check_store([KAnonymity(k=2)], Mondrian(), case)
