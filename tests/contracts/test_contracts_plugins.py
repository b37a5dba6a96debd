"""A model and an algorithm that nobody edited anything for work everywhere."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import pyarrow as pa
import pytest

import hushtable as ht
from hushtable import registry
from hushtable.algorithms.base import Algorithm, Partition, Recoding
from hushtable.errors import Infeasible, UsageError
from hushtable.models.base import Monotone, SensitiveModel
from hushtable.params import AtLeast
from hushtable.testing import check_algorithm, check_model


@dataclass(frozen=True)
class AtMostHalf(SensitiveModel):
    """No value is more frequent than the share 1 / parts of its class."""

    parts: Annotated[int, AtLeast(2), "one over the greatest share"]

    name: ClassVar[str] = "toy-at-most-half"
    monotone: ClassVar[Monotone] = Monotone.MERGE
    sense: ClassVar[str] = "<="

    @property
    def bound(self):
        return 1 / self.parts

    def score(self, groups, table):
        histogram = self.histogram(groups)
        return histogram.max(histogram.shares(), empty=np.inf)

    def infeasible(self, whole, table):
        return Infeasible(f"parts={self.parts} but a value is too frequent.", hint="Lower parts.")


@dataclass(frozen=True)
class Everybody(Algorithm):
    """One class of all records, if it satisfies the model."""

    name: ClassVar[str] = "toy-everybody"
    recoding: ClassVar[Recoding] = Recoding.LOCAL

    def run(self, problem):
        labels = np.zeros(problem.table.n_rows, dtype=np.int64)
        stats = problem.table.stats_of(labels, 1, problem.model.histogram_keys())
        if not problem.model.table_satisfied(stats, problem.reference)[0]:
            raise self.not_found(problem)
        return Partition(labels, 1)


class Point:
    """As much of an entry point as the registry looks at."""

    def __init__(self, cls):
        self.cls = cls

    def load(self):
        return self.cls


@pytest.fixture
def plugged(monkeypatch):
    """Both classes installed as a plug-in would be: through entry points."""
    points = {"hushtable.models": [Point(AtMostHalf)], "hushtable.algorithms": [Point(Everybody)]}
    monkeypatch.setattr(
        registry,
        "entry_points",
        lambda group, name=None: [point for point in points.get(group, []) if name in (None, point.cls.name)],
    )
    for known in (registry.models, registry.algorithms):
        monkeypatch.setattr(known, "_found", {})
        monkeypatch.setattr(known, "_complete", False)


PEOPLE = pa.table({"age": [30, 31, 52, 53], "disease": ["flu", "HIV", "flu", "cold"]})


def test_nothing_is_left_behind():
    assert "toy-at-most-half" not in registry.models
    with pytest.raises(UsageError, match="no model 'toy-at-most-half'"):
        registry.models["toy-at-most-half"]


@pytest.mark.usefixtures("plugged")
def test_they_pass_the_suite():
    assert check_model(AtMostHalf, tables=1)["monotone"] > 20
    assert check_algorithm(Everybody, tables=1)["released"] > 10


@pytest.mark.usefixtures("plugged")
def test_policy_run_save_and_verify(tmp_path):
    text = """
columns: {age: {role: quasi}, disease: {role: sensitive}}
models: [toy-at-most-half: {parts: 2}]
algorithm: {toy-everybody: {}}
"""
    policy = ht.Policy.from_yaml(text)
    release = ht.anonymize(PEOPLE, policy)
    assert release.frame["age"].to_pylist() == ["*"] * 4
    assert release.verify().evidence[0].achieved == 0.5
    release.save(tmp_path / "out")
    assert ht.verify(tmp_path / "out" / "release.csv", policy).ok
    stricter = policy.changed(models=[AtMostHalf(parts=3)])
    assert not ht.verify(tmp_path / "out" / "release.csv", stricter).ok
    with pytest.raises(Infeasible, match="parts=3"):
        ht.anonymize(PEOPLE, stricter)
    assert "toy-at-most-half" in json.dumps(ht.Policy.json_schema())


@pytest.mark.usefixtures("plugged")
def test_either_works_with_the_built_in_other():
    mixed = ht.Policy(quasi=["age"], sensitive=["disease"], models=[AtMostHalf(parts=2)], algorithm="mondrian")
    assert ht.anonymize(PEOPLE, mixed).verification.classes == 2
    other = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=2)], algorithm=Everybody())
    assert ht.anonymize(PEOPLE, other).verification.classes == 1


@pytest.mark.usefixtures("plugged")
@pytest.mark.parametrize(
    ("command", "name", "sentence"),
    [
        ("models", "toy-at-most-half", "No value is more frequent than the share 1 / parts of its class."),
        ("algorithms", "toy-everybody", "One class of all records, if it satisfies the model."),
    ],
)
def test_the_command_line_lists_them(command, name, sentence):
    from typer.testing import CliRunner

    from hushtable.cli.main import application

    listed = CliRunner().invoke(application(), [command, "--json"])
    assert listed.exit_code == 0
    assert name in listed.stdout
    page = CliRunner().invoke(application(), [command, name, "--json"])
    assert page.exit_code == 0
    assert sentence in json.dumps(json.loads(page.stdout))


def test_a_broken_promise_names_the_check_and_shows_the_smallest_table():
    @dataclass(frozen=True)
    class Boastful(AtMostHalf):
        """As above, with a promise that it does not keep."""

        monotone: ClassVar[Monotone] = Monotone.ADD | Monotone.MERGE

    with pytest.raises(AssertionError) as caught:
        check_model(Boastful(parts=2, on="disease"), tables=1)
    text = str(caught.value)
    assert text.startswith("check_monotone of ")
    assert "declares ADD, but" in text
    shown = re.search(r"Smallest failing table that was found: (\d+) rows", text)
    assert shown and int(shown[1]) <= 5
    assert text.count("'disease':") == int(shown[1])


def test_an_error_in_a_class_names_the_check():
    @dataclass(frozen=True)
    class Broken(AtMostHalf):
        """Divides by nothing."""

        def contributes(self, groups, table):
            return 1 / 0

    with pytest.raises(AssertionError, match=r"check_score of .*: ZeroDivisionError: division by zero"):
        check_model(Broken(parts=2, on="disease"), tables=1)
