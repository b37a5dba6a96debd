"""No edit of release.json makes a table that breaks its promise pass, and none ends in an error in the program.

Files of 0.1.0 said what the private companion says now, which has a seal against edits.
"""

from __future__ import annotations

import copy
import json
from dataclasses import replace

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import given, settings
from support_release_files import saved

import hushtable as ht
from hushtable.algorithms.base import Recoding
from hushtable.algorithms.invariant.m_invariant import MInvariant
from hushtable.errors import DataError, HushtableError
from hushtable.hierarchy.taxonomy import Taxonomy
from hushtable.models.beta_likeness import BetaLikeness
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.p_plus_sensitive import PPlusSensitive
from hushtable.models.t_closeness import TCloseness
from hushtable.release.companion import load_evidence
from hushtable.release.published import verify_published
from hushtable.schema.columns import Kind
from support_core import PEOPLE, plan_of, random_people, sensitive

ILLNESSES = ["HIV", "cancer", "cold", "flu"]
TREE = Taxonomy(tree={"grave": ILLNESSES[:2], "mild": [*ILLNESSES[2:], "gout"]})
CASES = {
    "equal": (TCloseness(t=0.01), {}),
    "hierarchical": (TCloseness(t=0.01, distance="hierarchical"), {"hierarchy": TREE}),
    "weights": (TCloseness(t=0.01, distance="weights"), {"categories": {"a": ILLNESSES[:1], "b": ILLNESSES[1:]}}),
    "ordered": (TCloseness(t=0.01, distance="ordered"), {"kind": Kind.ORDINAL, "order": tuple(ILLNESSES)}),
    "beta": (BetaLikeness(beta=0.01), {}),
    "categories": (PPlusSensitive(p=3), {"categories": {n: [n] for n in ILLNESSES}}),
    "people": (KAnonymity(k=30), {}),
    "counterfeits": (KAnonymity(k=30), {}),
}
READ = ("reference", "kinds", "class_counts", "counterfeits")
TOLD = ("rows", "records", "suppressed", "whole_table")
DOCUMENT = {"publish": ["reference"]}
ODD = [None, True, [], {}, "", "x", 0, 1, -1, 0.5, 2**62, 2**63 - 1, 2**64, float("nan"), float("inf")]


@pytest.fixture(scope="module", params=CASES)
def broken(request, tmp_path_factory):
    """A release under a weak promise, and how to hold it against the strong one that it breaks."""
    model, more = CASES[request.param]
    columns = (*PEOPLE[:2], sensitive("illness", **more))
    numbered = request.param == "counterfeits"
    algorithm = {"algorithm": MInvariant()} if numbered else {}
    weak, strong = (plan_of([KAnonymity(k=2), *strict], columns, **algorithm) for strict in ((), (model,)))
    folder = tmp_path_factory.mktemp(request.param)
    _, published, evidence = saved(random_people(40, 2), weak, folder)

    def judge(stated):
        recoding = Recoding.NUMBERED if numbered else Recoding.LOCAL
        return verify_published(published, strong.table, strong.model(), stated, recoding=recoding, suppression=0.0)

    assert not judge(evidence).ok
    return judge, {key: evidence[key] for key in READ if evidence[key] is not None}, numbered


@pytest.fixture(scope="module", params=[name for name in CASES if name != "counterfeits"])
def told(request, tmp_path_factory):
    """A release whose policy publishes the reference, under a promise that another file shows to be broken."""
    model, more = CASES[request.param]
    plans = [
        plan_of([KAnonymity(k=2), strict], (*PEOPLE[:2], sensitive("illness", **more)), document=DOCUMENT)
        for strict in (replace(model, t=1.0) if isinstance(model, TCloseness) else KAnonymity(k=2), model)
    ]
    folder = tmp_path_factory.mktemp(request.param)
    _, published, _ = saved(random_people(40, 2), plans[0], folder)
    evidence = load_evidence(folder / "out" / "release.json")

    def judge(stated):
        return verify_published(published, plans[1].table, plans[1].model(), stated, suppression=0.0)

    assert not judge({key: value for key, value in evidence.items() if key != "whole_table"}).ok
    return judge, {key: evidence[key] for key in TOLD}


def _places(node, path=()):
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from _places(value, (*path, key))


def _edit(data, evidence):
    *way, last = data.draw(st.sampled_from(list(_places(evidence))))
    holder = evidence
    for key in way:
        holder = holder[key]
    value = holder[last]
    what = data.draw(st.sampled_from(["odd", "add", "longer", "shorter", "swap", "gone"]))
    if what == "add" and isinstance(value, int):
        holder[last] = value + data.draw(st.integers(-3, 3))
    elif what == "longer" and isinstance(value, list):
        value.append(copy.deepcopy(data.draw(st.sampled_from([*ODD, *value]))))
    elif what == "shorter" and isinstance(value, list) and value:
        value.pop()
    elif what == "swap" and isinstance(holder, list):
        other = data.draw(st.integers(0, len(holder) - 1))
        holder[last], holder[other] = holder[other], holder[last]
    elif what == "gone" and isinstance(holder, dict):
        del holder[last]
    else:
        holder[last] = copy.deepcopy(data.draw(st.sampled_from(ODD)))


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_no_edit_of_what_everybody_is_told_makes_a_broken_promise_pass(told, data):
    judge, honest = told
    evidence = copy.deepcopy(honest)
    for _ in range(data.draw(st.integers(0, 4))):
        if evidence:
            _edit(data, evidence)
    try:
        found = judge(evidence)
    except HushtableError:
        return
    assert not found.ok


@settings(max_examples=250, deadline=None)
@given(data=st.data())
def test_no_edit_makes_a_broken_promise_pass(broken, data):
    judge, honest, numbered = broken
    evidence = copy.deepcopy(honest)
    if numbered and data.draw(st.booleans()):
        fakes = data.draw(st.lists(st.sampled_from([0, 1, 2, 0.5]), min_size=20, max_size=20))
        units = [2 - fake if isinstance(fake, int) else 2 for fake in fakes]
        evidence["class_counts"] = {"unit": 1, "units": units, "population": None}
        evidence["counterfeits"] = {"total": 1, "classes": fakes}
    for _ in range(data.draw(st.integers(0, 4))):
        if evidence:
            _edit(data, evidence)
    try:
        found = judge(evidence)
    except HushtableError:
        return
    assert not found.ok


@pytest.mark.parametrize(
    "forged",
    [{"file": "../other/release.csv"}, {"file": "/etc/hostname"}, {"file": ["release.csv"]}, {"file": ".."},
     {"file": ""}, {"file": "release.xlsx"}, {"file": "release.csv.gz"},
     {"columns": {"age": 1}}, {"columns": [["age"]]}, {"models": [5]}, {"models": "k"},
     {"notes": 5}, {"files": []}],
)  # fmt: skip
def test_a_forged_release_is_not_opened(tmp_path, forged):
    """Nor does it read a table outside its folder."""
    policy = ht.Policy(quasi=["age"], models=[KAnonymity(k=2)])
    for folder in ("release", "other"):
        ht.anonymize(pa.table({"age": [30, 30, 40, 40]}), policy).save(tmp_path / folder)
    place = tmp_path / "release" / "release.json"
    place.write_text(json.dumps({**json.loads(place.read_text()), **forged}))
    (tmp_path / "release.private").rename(tmp_path / "away")
    with pytest.raises(DataError, match="has the wrong type"):
        ht.open_release(tmp_path / "release")
