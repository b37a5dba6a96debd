"""The whole contract in two calls: one for a model, one for an algorithm. For plug-ins, and for our own tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias, TypeVar

from hushtable import rng
from hushtable.algorithms.base import Algorithm
from hushtable.errors import HushtableError, UsageError
from hushtable.models.base import PrivacyModel
from hushtable.registry import algorithms as known_algorithms
from hushtable.registry import models as known_models
from hushtable.schema.columns import Missing
from hushtable.testing.cases import Case, chosen_forms, random_case
from hushtable.testing.examples import ModelOrClass, model_examples
from hushtable.testing.model_checks import check_all_of, check_declaration, check_monotone, check_root, check_score
from hushtable.testing.release_checks import Answer, check_infeasible, check_missing, check_release
from hushtable.testing.repeat_checks import check_frames, check_kernels, check_orders, check_same_bytes
from hushtable.testing.require import require

AlgorithmOrClass: TypeAlias = type[Algorithm] | Algorithm

_SIZES = (24, 12, 40, 1, 18)
_BRUTE_ROWS = 7
_OF_MODELS: dict[str, Callable[..., int]] = {"score": check_score, "root": check_root, "monotone": check_monotone}
_REPEATS: tuple[Callable[..., Answer], ...] = (check_orders, check_same_bytes, check_kernels, check_frames)


def cases(tables: int, seed: int = 0) -> Iterator[Case]:
    """Yield random cases that differ in size, published form, meaning of missing values and definition of a person."""
    styles, meanings = chosen_forms(), list(Missing)
    for i in range(tables):
        yield random_case(
            seed + i,
            _SIZES[i % len(_SIZES)],
            cells=styles[(seed + i) % len(styles)],
            missing=meanings[(seed + i // 2) % len(meanings)],
            entity=(seed + i) % 3 == 2,
        )


def tiny_cases(tables: int, seed: int = 0) -> Iterator[Case]:
    """Yield cases that are small enough to try all partitions."""
    for i in range(tables):
        yield random_case(seed + i, 2 + (seed + i) % 4, entity=(seed + i) % 5 == 4, others=1)


def check_model(model: ModelOrClass, *, tables: int = 4, seed: int = 0) -> Counter[str]:
    """Check the contract of a privacy model, alone and under every registered algorithm.

    Parameters
    ----------
    model : class or instance
        For a class, examples are drawn from its declared parameters.
    tables : int
        Number of random tables.
    seed : int
        Seed of the first table.

    Returns
    -------
    Counter
        How often each check actually tested something.

    Raises
    ------
    AssertionError
        With the check, a sentence about the broken promise, and the smallest table that shows it.

    Examples
    --------
    >>> from hushtable.models.k_anonymity import KAnonymity
    >>> done = check_model(KAnonymity, tables=1)
    >>> min(done["monotone"], done["score"], done["brute force"], done["released"]) > 0
    True
    """
    done: Counter[str] = Counter()
    for case in cases(tables, seed):
        examples = model_examples(model, case, 3)
        done["examples"] += len(examples)
        for example in examples:
            check_declaration(example)
            for name, check in _OF_MODELS.items():
                done[name] += tried(check, example, partial(check, example), case)
        for refused in model_examples(model, case, 2, feasible=False):
            done["root"] += tried(check_root, refused, partial(check_root, refused), case)
        for pair in pairwise(examples):
            done["all of"] += tried(check_all_of, pair, partial(check_all_of, pair), case)
    require(done["examples"], f"{model} fits none of the suite's tables; give an instance that does")
    for algorithm in known_algorithms.values():
        done += check_pair(model, algorithm, tables=tables, seed=seed)
    return done


def check_algorithm(algorithm: AlgorithmOrClass, *, tables: int = 2, seed: int = 0) -> Counter[str]:
    """Check the contract of an algorithm, under every registered model.

    Parameters
    ----------
    algorithm : class or instance
        A class is built with its default parameters.
    tables : int
        Number of random tables for every model.
    seed : int
        Seed of the first table.

    Returns
    -------
    Counter
        How often each answer and each check occurred.

    Raises
    ------
    AssertionError
        With a sentence about the broken promise.
    """
    done: Counter[str] = Counter()
    for model in known_models.values():
        done += check_pair(model, algorithm, tables=tables, seed=seed)
    return done


def check_pair(model: ModelOrClass, algorithm: AlgorithmOrClass, *, tables: int = 2, seed: int = 0) -> Counter[str]:
    """Check one model with one algorithm: releases, refusals, missing values, repetition, partitions of tiny tables."""
    work = _built(algorithm)
    done: Counter[str] = Counter()
    for case in cases(tables, seed):
        examples = model_examples(model, case, 2)
        for j, example in enumerate(examples):
            both = (example, work)
            if case.columns.missing is Missing.ERROR or j == 0:
                # a release without suppression, and more
                found = tried(check_missing, both, partial(check_missing, [example], work), case)
                # a combination that is refused was not checked
                done["gaps"] += found is not Answer.INCOMPATIBLE
            else:
                found = tried(check_release, both, partial(check_release, [example], work), case)
            done[found.value] += 1
            release = partial(check_release, [example], work, suppression=0.2)
            done[tried(check_release, both, release, case).value] += 1
        if examples:
            # one way of repeating a run for each table; drawn, so that all occur with every model and algorithm
            way, j = rng.integers(case.seed, f"repeat/{work.name}/{examples[0].name}", 2, 0, 1 << 31).tolist()
            repeat, example = _REPEATS[way % len(_REPEATS)], examples[j % len(examples)]
            again = partial(repeat, [example], work, suppression=0.2 * (j % 2))
            tried(repeat, (example, work), again, case)
            done[repeat.__name__] += 1
    for case in tiny_cases(tables, seed):
        for feasible in (True, False):
            for example in model_examples(model, case, 1, feasible=feasible):
                done["brute force"] += _brute([example], work, case)
    return done


def _brute(models: Sequence[PrivacyModel], algorithm: Algorithm, case: Case) -> int:
    if case.encoded(models).n_rows > _BRUTE_ROWS:
        return 0
    for suppression in (0.0, 0.4):
        check_infeasible(models, algorithm, case, suppression=suppression)
    return 2


def _built(algorithm: AlgorithmOrClass) -> Algorithm:
    if isinstance(algorithm, Algorithm):
        return algorithm
    required = [p.name for p in algorithm.params() if p.required]
    if required:
        raise UsageError(
            f"{algorithm.__name__} needs {', '.join(required)}, which the contract suite cannot choose.",
            code="no-examples",
            hint="Give an instance instead of the class.",
        )
    return algorithm.build({})


R = TypeVar("R")

_FEWER = (1, 2, 3, 4, 5, 6, 8, 10, 14)
_TABLES = 6


def tried(check: Callable[..., R], subject: Any, call: Callable[[Case], R], case: Case) -> R:
    """Return the result of a check on a case; if it fails, name it and show the smallest random table that fails.

    Parameters
    ----------
    check : callable
        The error names it.
    subject : object
        The object under test: a model or an algorithm.
    call : callable
        Runs the check on a case.
    case : Case

    Raises
    ------
    AssertionError
        With the check, its sentence and the table. All of its values are invented.
    """
    try:
        return call(case)
    except HushtableError:
        raise
    except Exception as error:
        small, said = _smallest(call, case, error)
        roles = ", ".join(f"{c.name} ({c.role})" for c in small.columns.columns)
        rows = "\n".join(f"  {row}" for row in small.table.to_pylist())
        raise AssertionError(
            f"{check.__name__} of {subject!r}: {said}\n"
            f"Smallest failing table that was found: {small.table.num_rows} rows, seed {small.seed}; {roles}\n{rows}"
        ) from error


def _smallest(call: Callable[[Case], Any], case: Case, error: Exception) -> tuple[Case, str]:
    """The smallest of some tables with the same failure, and its message; the given table if none is smaller."""
    for rows in (size for size in _FEWER if size < case.table.num_rows):
        for seed in range(_TABLES):
            small = random_case(seed, rows, missing=case.columns.missing, entity=case.columns.entity is not None)
            try:
                call(small)
            except HushtableError:
                continue
            except Exception as other:
                if type(other) is type(error):
                    return small, _sentence(other)
    return case, _sentence(error)


def _sentence(error: Exception) -> str:
    return str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
