"""Every registered algorithm under every registered model: a release that can be counted again, or a refusal."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from hushtable.algorithms.base import Recoding
from hushtable.algorithms.partition.mondrian import Mondrian
from hushtable.api import run_plan
from hushtable.engines import local
from hushtable.errors import DataError, IncompatibleError, UsageError
from hushtable.models.base import Monotone, Stat, Threat
from hushtable.models.distinct_l import DistinctL
from hushtable.models.k_anonymity import KAnonymity
from hushtable.registry import algorithms, models
from hushtable.release.forms.sets import Sets
from hushtable.release.verify import Published, verify
from hushtable.schema.columns import Missing, Role
from hushtable.testing import (
    Answer,
    check_algorithm,
    check_frames,
    check_kernels,
    check_missing,
    check_orders,
    check_pair,
    check_release,
    check_same_bytes,
    check_saved,
    model_examples,
    random_case,
    recheck,
)
from hushtable.testing.cases import chosen_forms
from hushtable.testing.covers import covered, members

# algorithms that share a table of a model come soon after one another, while what was encoded of it is kept
PAIRS = [(a, m) for m in models for a in algorithms]
TABLES = 5
"""Number of tables for each model, which the algorithms take in turn; examples of the model are drawn once for each."""
VARIANTS = [
    # what draws records cannot be repeated; see tests/algorithms/test_algorithms_safe_pub.py
    *(cls.build({}) for cls in algorithms.values() if not cls.samples),
    Mondrian(mode="relaxed"),
    Mondrian(nominal="children"),
]


@pytest.mark.parametrize(("algorithm", "model"), PAIRS, ids=lambda name: name)
def test_the_contract(algorithm, model):
    """One table for each pair; no two models have the same, so every algorithm gets as many as there are models."""
    number = TABLES * list(models).index(model) + list(algorithms).index(algorithm) % TABLES
    done = check_pair(models[model], algorithms[algorithm], tables=1, seed=7 * number)
    assert sum(done[a.value] for a in Answer) + done["brute force"] > 0


@pytest.mark.parametrize("algorithm", list(algorithms))
def test_something_is_released_under_every_model_that_survives_merging(algorithm):
    case, work = random_case(3, 24), algorithms[algorithm].build({})
    for name, cls in models.items():
        answers = {check_release([m], work, case) for m in model_examples(cls, case, 2, feasible=True)}
        if Monotone.MERGE in cls.monotone and answers:
            assert answers & {Answer.RELEASED, Answer.INCOMPATIBLE}, name


def promise(algorithm, k):
    """A model that the algorithm can keep: exact quasi-identifiers hide values, not people."""
    if algorithm.recoding is Recoding.CONCEALED:
        return models["k-concealment"](k=k)
    return DistinctL(l=2, on="disease") if algorithm.recoding is Recoding.BUCKET else KAnonymity(k=k)


@pytest.mark.parametrize("algorithm", VARIANTS, ids=str)
@pytest.mark.parametrize("style", chosen_forms(), ids=str)
def test_every_style_of_cells(algorithm, style):
    answers = Counter(
        check_release([example], algorithm, random_case(seed, 30, cells=style), suppression=0.1)
        for seed in range(30, 32)
        for example in (
            promise(algorithm, 2),
            *(
                found
                for name in ("t-closeness", "guarding-nodes")
                for found in model_examples(models[name], random_case(seed, 30, cells=style), 1)
            ),
        )
    )
    if algorithm.keeps_signatures and not style.by_members:
        # counts would tell counterfeits
        assert set(answers) == {Answer.INCOMPATIBLE}
        return
    assert answers[Answer.RELEASED] >= 2


@pytest.mark.parametrize("algorithm", VARIANTS, ids=str)
@pytest.mark.parametrize("missing", list(Missing))
def test_gaps_keep_their_meaning(algorithm, missing):
    seen = 0
    for seed in range(40, 46):
        case = random_case(seed, 20).suited(algorithm)
        gaps = any(case.table.column(n).null_count for n in case.columns.named(Role.QUASI))
        case = replace(case, columns=replace(case.columns, missing=missing))
        answer = check_missing([promise(algorithm, 3)], algorithm, case)
        assert answer is (Answer.INCOMPATIBLE if missing is Missing.ERROR and gaps else Answer.RELEASED)
        seen += gaps
    assert seen >= 4


def test_wildcards_unite_what_own_categories_keep_apart():
    """A class of two with a gap is enough for k=3 only if the gap may stand for its neighbour's value."""
    case = random_case(41, 20)
    plan = case.plan([KAnonymity(k=2)], Mondrian())
    outcome = local.run(case.table, plan)
    published = pa.table({"a": ["x", "x", None, None], "b": ["1", "1", "1", "1"]})
    shown = Published(quasi=tuple(published.columns), sensitive={}, sizes={})
    model = case.bound([KAnonymity(k=3)])
    reference = outcome.problem.reference
    assert not verify(shown, model, reference, Missing.OWN_CATEGORY).ok
    assert verify(shown, model, reference, Missing.WILDCARD).ok


@pytest.mark.parametrize("algorithm", VARIANTS, ids=str)
@pytest.mark.parametrize("check", [check_orders, check_same_bytes, check_frames, check_kernels])
def test_repetition(algorithm, check):
    answers = [check([promise(algorithm, 2)], algorithm, random_case(seed, 40), suppression=0.1) for seed in (50, 51)]
    assert answers == [Answer.RELEASED] * 2


def test_a_saved_release_does_not_tell_whose_value_a_row_holds(tmp_path):
    case = random_case(206, 40, entity=True)
    plan = case.plan([models["probabilistic-l"](l=1.75, on="disease")], Mondrian())
    release = run_plan(case.table, plan)
    release.save(tmp_path / "out")
    with pytest.raises(UsageError, match="probabilistic-l can only be verified with the original"):
        check_saved(tmp_path / "out", "csv", release, plan)
    sizes = case.plan([KAnonymity(k=2)], Mondrian())
    release = run_plan(case.table, sizes)
    release.save(tmp_path / "sizes")
    check_saved(tmp_path / "sizes", "csv", release, sizes)


def test_kernels_equal_their_twins_on_a_larger_table():
    case = random_case(60, 3000, entity=True)
    for models_ in ([KAnonymity(k=5)], model_examples(models["t-closeness"], case, 1), [models["k-map"](k=20)]):
        assert check_kernels(models_, Mondrian(), case) is Answer.RELEASED


def declared(work, example, case):
    """Whether the algorithm's own ``check``, its recoding or the model's needs rule the combination out."""
    try:
        work.check(case.bound([example]), 0.0)
    except IncompatibleError:
        return True
    # cases have sensitive columns, which differential privacy does not publish
    if work.samples or example.drawing() is not None:
        return True
    if work.recoding is Recoding.BUCKET and Threat.IDENTITY in example.threats:
        return True
    if work.recoding is Recoding.CONCEALED and not example.of_crowds:
        return True
    outside = example.stats_needed() & {Stat.POPULATION, Stat.BACKGROUND}
    return bool(outside) and work.recoding in (Recoding.CENTROID, Recoding.PATTERN)


@pytest.mark.parametrize("algorithm", list(algorithms))
def test_refusals_are_the_declared_ones(algorithm):
    case, work = random_case(3), algorithms[algorithm].build({})
    for name, cls in models.items():
        for example in model_examples(cls, case, 1):
            refused = check_release([example], work, case) is Answer.INCOMPATIBLE
            assert refused == declared(work, example, case), name


def test_a_population_model_without_population_is_refused():
    case = random_case(3)
    with pytest.raises(IncompatibleError, match="needs a population table"):
        replace(case.plan([KAnonymity(k=2)], Mondrian()), models=(models["k-map"](k=2),))


@pytest.mark.slow
@pytest.mark.parametrize(("algorithm", "model"), PAIRS, ids=lambda name: name)
def test_the_contract_on_many_tables(algorithm, model):
    check_pair(models[model], algorithms[algorithm], tables=60, seed=500)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", VARIANTS, ids=str)
def test_variants_on_many_tables(algorithm):
    check_algorithm(algorithm, tables=10, seed=900)


class TestTheRecountNoticesTampering:
    """The slow re-count is worth something only if it fails where it should."""

    @pytest.fixture
    def run(self):
        case = random_case(7, 30)
        plan = case.plan([KAnonymity(k=3)], Mondrian())
        return case.table, plan, local.run(case.table, plan)

    def test_an_honest_release_passes(self, run):
        assert len(recheck(*run)) > 1

    def test_a_single_row_taken_out_of_its_class(self, run):
        source, plan, outcome = run
        name = plan.table.named(Role.QUASI)[0]
        cells = outcome.published.column(name).to_pylist()
        cells[0] = "*" if cells[0] != "*" else None
        forged = outcome.published.set_column(
            outcome.published.column_names.index(name), name, pa.array(cells, pa.string())
        )
        with pytest.raises(AssertionError, match=r"violated|cover"):
            recheck(source, plan, replace(outcome, published=forged))

    def test_a_changed_sensitive_value(self, run):
        source, plan, outcome = run
        place = outcome.published.column_names.index("income")
        cells = [99] * outcome.published.num_rows
        with pytest.raises(AssertionError, match="'income' were changed"):
            recheck(source, plan, replace(outcome, published=outcome.published.set_column(place, "income", [cells])))

    def test_a_record_released_twice(self, run):
        source, plan, outcome = run
        rows = outcome.source_rows.copy()
        rows[0] = rows[1]
        with pytest.raises(AssertionError, match="twice"):
            recheck(source, plan, replace(outcome, origin=replace(outcome.made, source_rows=rows)))

    def test_suppression_beyond_the_budget(self, run):
        source, plan, outcome = run
        keys = list(zip(*(outcome.published.column(n).to_pylist() for n in plan.table.named(Role.QUASI)), strict=True))
        largest = Counter(keys).most_common(1)[0][0]
        keep = np.flatnonzero([key != largest for key in keys])
        origin = replace(outcome.made, source_rows=outcome.source_rows[keep])
        fewer = replace(outcome, published=outcome.published.take(pa.array(keep)), origin=origin)
        with pytest.raises(AssertionError, match="budget"):
            recheck(source, plan, fewer)

    def test_an_identifier(self, run):
        source, plan, outcome = run
        names = source.column("name").take(pa.array(outcome.source_rows))
        with pytest.raises(AssertionError, match="published columns"):
            recheck(source, plan, replace(outcome, published=outcome.published.append_column("name", names)))

    def test_an_empty_frame(self, run):
        source, plan, outcome = run
        with pytest.raises(AssertionError, match="empty"):
            recheck(source, plan, replace(outcome, published=outcome.published.slice(0, 0)))


def test_cells_are_read_back_as_they_were_written():
    assert members(r"{a\\, \{b\}, c}") == ["a\\", "{b}", "c"]
    case = random_case(2, 30, cells=Sets())
    outcome = local.run(case.table, case.plan([KAnonymity(k=4)], Mondrian()))
    for j, column in enumerate(outcome.problem.table.quasi):
        for group, cell in enumerate(outcome.recoded.published[j].to_pylist()):
            own = column.codes[: case.table.num_rows][outcome.recoded.labels[: case.table.num_rows] == group]
            assert covered(cell, column) == set(own.tolist())


def test_error_names_the_column_with_the_gap():
    case = random_case(41, 20)
    with pytest.raises(DataError, match="missing values and the policy says 'missing: error'"):
        local.run(
            case.table,
            replace(case.plan([KAnonymity(k=2)], Mondrian()), table=replace(case.columns, missing=Missing.ERROR)),
        )
