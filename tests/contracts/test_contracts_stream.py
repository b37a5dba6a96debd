"""Every registered algorithm on both engines, under models and tables that take turns."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pyarrow as pa
import pytest
from pyarrow import parquet as pq
from support_stream import check_streamed

import hushtable as ht
from hushtable.algorithms.partition.mondrian import Mondrian
from hushtable.engines.stream import is_streamable
from hushtable.models.k_anonymity import KAnonymity
from hushtable.registry import algorithms, forms, models
from hushtable.schema.columns import Role
from hushtable.testing import Answer, Case, model_examples, random_case
from hushtable.testing.suite import cases

NAMES = list(models)
REPEATABLE = [cls.build({}) for cls in algorithms.values() if not cls.samples]
VARIANTS = [*REPEATABLE, Mondrian(mode="relaxed"), Mondrian(nominal="children")]


def bare(case: Case) -> Case:
    """The case with no column that is published as it is."""
    columns = [replace(c, role=Role.IDENTIFIER) if c.role is Role.INSENSITIVE else c for c in case.columns.columns]
    return replace(case, columns=replace(case.columns, columns=tuple(columns)))


@pytest.mark.parametrize("number", range(len(VARIANTS)), ids=lambda n: f"{VARIANTS[n].name}-{n}")
def test_both_engines_write_the_same_bytes(number: int) -> None:
    algorithm = VARIANTS[number]
    done: Counter[Answer] = Counter()
    for turn, case in enumerate(cases(2, seed=3 * number)):
        for name in (NAMES[(5 * number + 7 * turn) % len(NAMES)], "k-anonymity"):
            for example in model_examples(models[name], case, 1):
                done[check_streamed([example], algorithm, case, suppression=0.2 * (turn % 2))] += 1
    # without other published columns equal records are counted, and only algorithms that ask for rows get them
    case = bare(random_case(number, 40))
    for example in [KAnonymity(k=3), *model_examples(models[NAMES[number % len(NAMES)]], case, 1)]:
        done[check_streamed([example], algorithm, case, suppression=0.1)] += 1
    assert done.total() > 1
    if is_streamable(algorithm):
        assert done[Answer.RELEASED], done
    else:
        assert set(done) == {Answer.INCOMPATIBLE}


def test_a_difference_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from hushtable.engines import solved

    case = random_case(1, 30)
    assert check_streamed([KAnonymity(k=2)], Mondrian(), case) is Answer.RELEASED
    monkeypatch.setattr(solved, "order_by", lambda keys, labels: (labels >= 0).nonzero()[0])
    with pytest.raises(AssertionError, match=r"another release\.csv"):
        check_streamed([KAnonymity(k=2)], Mondrian(), case)


@pytest.mark.parametrize("form", [name for name, form in forms.items() if not form.follows])
def test_rows_that_repeat_are_published_alike_in_every_form(form, tmp_path):
    """Equal rows are counted, but a class publishes what all its rows say, not what its combinations do."""
    ages = [20, 20, 20, 21, 35, 35, 35, 36, 36]
    pq.write_table(pa.table({"age": ages, "ill": ["flu", "flu", "hiv"] * 3}), tmp_path / "in.parquet")
    policy = ht.Policy(quasi=["age"], sensitive=["ill"], models=[ht.KAnonymity(k=3)], cells=form)
    files = []
    for engine in ("local", "stream"):
        ht.run(tmp_path / "in.parquet", policy, tmp_path / engine, engine=engine)
        files.append(tmp_path / engine / "release.csv")
        ht.verify(files[-1], policy).raise_if_violated()
    assert files[0].read_bytes() == files[1].read_bytes()
