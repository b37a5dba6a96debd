"""No byte of a release folder tells what was suppressed or made up; the private companion next to it does."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.algorithms.base import Recoding
from hushtable.api import run_plan
from hushtable.engines.stream import run_files
from hushtable.errors import DataError, HierarchyError, IncompatibleError, OutputError, PolicyError, UsageError
from hushtable.io import atomic
from hushtable.io.files import write_table
from hushtable.io.secret import SECRET
from hushtable.ledger.ledger import Ledger
from hushtable.release.companion import companion_of, read_companion
from hushtable.release.published import verify_published
from hushtable.schema.columns import Kind
from support_core import PEOPLE, Given, first_of, plan_of, sensitive

ORDER = ("first", "HIV", "flu", "between", "cold", "last")
COMMON = ("HIV", "flu", "cold")
TREE = {"grave": ["HIV", "first", "between"], "mild": ["flu", "cold", "last"]}


def people(*rare, others=COMMON):
    """Thirty people who are alike, and loners who may be suppressed."""
    ages = [20 + i % 10 for i in range(30)] + [99 + i for i in range(len(rare))]
    return pa.table({"age": ages, "ill": [others[i % 3] for i in range(30)] + list(rare)})


def rules(algorithm, models, column=None, **more):
    column = column or {"kind": "ordinal", "order": list(ORDER)}
    return ht.Policy(
        quasi=["age"], sensitive={"ill": column}, models=models, suppression=0.04, algorithm=algorithm, **more
    )


def files(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


MODELS = {
    "diversity": [ht.KAnonymity(k=3), ht.DistinctL(l=2)],
    "entropy": [ht.KAnonymity(k=3), ht.EntropyL(l=2)],
    "equal": [ht.KAnonymity(k=3), ht.TCloseness(t=0.9)],
    "ordered": [ht.KAnonymity(k=3), ht.TCloseness(t=0.9, distance="ordered")],
    "hierarchical": [ht.KAnonymity(k=3), ht.TCloseness(t=0.9, distance="hierarchical")],
}


@pytest.mark.parametrize("models", MODELS)
@pytest.mark.parametrize("algorithm", ["mondrian", "optimal"])
def test_what_suppressed_records_hold_changes_no_public_byte(tmp_path, algorithm, models):
    column = {"hierarchy": {"tree": TREE}} if models == "hierarchical" else None
    policy = rules(algorithm, MODELS[models], column)
    public, private = [], []
    for i, rare in enumerate(["between", "first", "last", "HIV"]):
        release = ht.anonymize(people(rare), policy)
        assert release.n_suppressed == 1
        release.save(tmp_path / str(i))
        public.append(files(tmp_path / str(i)))
        private.append(read_companion(companion_of(tmp_path / str(i)), tmp_path / str(i)))
        assert ht.verify(tmp_path / str(i) / "release.csv", policy).ok
    assert all(one == public[0] for one in public)
    assert len({json.dumps(one["reference"]) for one in private}) == 4, "the companion tells"


@dataclass(frozen=True)
class Apart(Given):
    """The partition that the test wants, published as anatomy does."""

    name: ClassVar[str] = "toy-apart"
    recoding: ClassVar[Recoding] = Recoding.BUCKET


@pytest.mark.parametrize("model", [ht.DistinctL(l=2), ht.TCloseness(t=0.9), ht.TCloseness(t=0.9, distance="ordered")])
def test_nor_where_sensitive_values_are_apart(tmp_path, model):
    columns = (*PEOPLE[:2], sensitive("illness", Kind.ORDINAL, order=ORDER))
    labels = (*(i // 6 for i in range(30)), -1, -1)
    plan = plan_of([model], columns, algorithm=Apart(labels), suppression=0.07)
    public = []
    for i, rare in enumerate([("between", "between"), ("first", "last"), ("HIV", "flu")]):
        table = people(*rare).rename_columns(["age", "illness"]).add_column(1, "country", pa.array(["Fiji"] * 32))
        run_plan(table, plan).save(tmp_path / str(i))
        public.append(files(tmp_path / str(i)))
    assert "release-sensitive.csv" in public[0] and public[0] == public[1] == public[2]


def test_a_number_that_only_a_suppressed_record_has_changes_no_public_byte(tmp_path):
    policy = rules("mondrian", MODELS["ordered"], {"kind": "numeric"})
    for i, pay in enumerate([1, 150, 10**9]):
        release = ht.anonymize(people(pay, others=(100, 200, 300)), policy)
        assert release.n_suppressed == 1
        release.save(tmp_path / str(i))
    assert files(tmp_path / "0") == files(tmp_path / "1") == files(tmp_path / "2")


@pytest.mark.parametrize("algorithm", ["mondrian", "datafly", "optimal"])
@pytest.mark.parametrize("prefix", [{}, {"steps": [2]}, {"steps": [4], "length": 7}])
def test_a_long_value_that_only_a_suppressed_record_has_changes_no_public_byte(tmp_path, algorithm, prefix):
    """It is refused where what masks keep would depend on it."""
    columns = {"zip": {"role": "quasi", "kind": "nominal", "hierarchy": {"prefix": prefix}},
               "age": {"role": "quasi", "kind": "numeric"}}  # fmt: skip
    policy = ht.Policy(columns=columns, models=[ht.KAnonymity(k=5)], algorithm=algorithm, suppression=0.1,
                       cells="nodes" if algorithm == "mondrian" else None)  # fmt: skip
    for i, lone in enumerate(["99999", "9999999"]):
        table = pa.table({"zip": [*(f"142{n:02}" for n in range(20)), lone], "age": [30] * 20 + [90]})
        if i and prefix == {"steps": [2]}:
            with pytest.raises(HierarchyError, match="'zip' has values of different lengths"):
                ht.anonymize(table, policy)
            return
        release = ht.anonymize(table, policy)
        assert release.n_suppressed == 1 and release.table["zip"][0].as_py().startswith("142")
        release.save(tmp_path / str(i))
    assert files(tmp_path / "0") == files(tmp_path / "1")


def test_release_json_has_these_keys_and_no_others(tmp_path):
    folder = ht.anonymize(people("last"), rules("mondrian", MODELS["equal"])).save(tmp_path / "out")
    told = json.loads((folder / "release.json").read_text())
    assert set(told) == {
        *("hushtable", "columns", "algorithm", "satisfied", "rows", "classes", "file", "records", "released"),
        *("suppressed", "models", "notes", "release", "format", "guarded"),
    }
    assert (told["records"], told["released"], told["suppressed"], told["notes"]) == (31, 30, 1, {})
    # what t-closeness achieved is compared with the whole table, of which suppressed records are a part
    assert [model["achieved"] for model in told["models"]] == [3, None]
    kept = read_companion(companion_of(folder), folder)
    assert kept["models"][1]["achieved"] > 0 and kept["measures"] and kept["coins"] is None and kept["format"] == 1


def test_models_of_classes_state_what_they_achieve_and_so_do_others_if_nothing_was_suppressed(tmp_path):
    policy = rules("mondrian", [ht.KAnonymity(k=3), ht.EntropyL(l=2), ht.TCloseness(t=0.9)])
    release = ht.anonymize(people(), policy)
    told = json.loads((release.save(tmp_path / "out") / "release.json").read_text())
    assert [model["achieved"] for model in told["models"]] == [e.achieved for e in release.verification.evidence]


def test_people_with_several_rows_are_not_counted_in_public(tmp_path):
    table = people().append_column("who", pa.array([f"p{i % 15}" for i in range(30)]))
    policy = ht.Policy(identifiers=["who"], quasi=["age"], sensitive=["ill"], models=[ht.KAnonymity(k=3)], entity="who")
    folder = ht.anonymize(table, policy).save(tmp_path / "out")
    told = json.loads((folder / "release.json").read_text())
    assert "people" not in told and [model["achieved"] for model in told["models"]] == [None]
    assert ht.verify(folder / "release.csv", policy).people == 15
    companion_of(folder).rename(tmp_path / "elsewhere")
    with pytest.raises(UsageError) as caught:
        ht.verify(folder / "release.csv", policy)
    assert caught.value.code == "needs-companion"
    assert ht.verify(folder / "release.csv", policy, companion=tmp_path / "elsewhere").people == 15


# counterfeits


HERE = {"a": (21, "flu"), "b": (22, "gout"), "c": (40, "flu"), "d": (41, "gastritis"), "e": (60, "gout")}
THEN = {"a": (21, "flu"), "c": (40, "flu"), "f": (30, "gastritis"), "g": (31, "gout")}


def patients(of):
    return pa.table({"name": list(of), "age": [r[0] for r in of.values()], "ill": [r[1] for r in of.values()]})


@pytest.fixture
def twice(tmp_path):
    """The second release of a hospital, with counterfeits, and its policy."""
    policy = ht.Policy(
        identifiers=["name"],
        quasi=["age"],
        sensitive={"ill": {"categories": {"all": ["flu", "gastritis", "gout"]}}},
        models=[ht.MInvariance(m=2)],
        algorithm="m-invariant",
        ledger=str(tmp_path / "releases.ledger"),
    )
    first = ht.anonymize(patients({k: HERE[k] for k in "abcd"}), first_of(policy))
    Ledger(tmp_path / "releases.ledger").add(first)
    second = ht.anonymize(patients(THEN), policy)
    assert second.table.num_rows > second.n_released == 4, "some are counterfeits"
    return second, policy


def test_nothing_public_tells_how_many_counterfeits_there_are(tmp_path, twice):
    second, policy = twice
    folder = second.save(tmp_path / "out")
    told = json.loads((folder / "release.json").read_text())
    assert set(told) == {
        *("hushtable", "columns", "algorithm", "satisfied", "rows", "classes", "file", "models", "notes"),
        *("release", "rows_may_be_counterfeits", "format", "ledger", "guarded"),
    }
    assert told["rows_may_be_counterfeits"] is True and told["notes"] == {}
    assert told["rows"] == second.table.num_rows and told["models"][0]["achieved"] is None
    # the same rows, were all of them people's
    honest = verify_published(second.table, policy.table_plan(), policy.model(), None, recoding=Recoding.NUMBERED)
    rows = np.arange(second.table.num_rows) % second.encoded.n_sample
    partition = replace(second.partition, notes={"people_kept": 9})
    made = replace(second.made, verification=honest, source_rows=rows, partition=partition)
    everybody = replace(second, origin=made)
    everybody.save(tmp_path / "honest")
    assert files(tmp_path / "out") == files(tmp_path / "honest")
    kept = read_companion(companion_of(folder), folder)
    assert kept["counterfeits"]["total"] == second.table.num_rows - 4 and kept["released"] == 4


def test_models_that_count_people_need_to_know_the_counterfeits(tmp_path, twice):
    second, policy = twice
    folder = second.save(tmp_path / "out")
    counting = policy.changed(models=[ht.MInvariance(m=2), ht.KAnonymity(k=2)], ledger=None)
    assert not ht.verify(folder / "release.csv", counting).ok, "a counterfeit makes nobody's crowd larger"
    companion_of(folder).rename(tmp_path / "elsewhere")
    assert ht.verify(folder / "release.csv", policy).ok
    with pytest.raises(UsageError, match="the number of counterfeits") as caught:
        ht.verify(folder / "release.csv", counting)
    assert caught.value.code == "needs-companion"


def test_the_reference_is_not_published_with_counterfeits_or_people(twice):
    _, policy = twice
    with pytest.raises(IncompatibleError, match="may add counterfeits"):
        policy.changed(publish=["reference"])
    with pytest.raises(IncompatibleError, match="counts people"):
        ht.Policy(identifiers=["who"], quasi=["age"], models=[ht.KAnonymity(k=2)], entity="who", publish=["reference"])
    with pytest.raises(PolicyError, match="publish"):
        ht.Policy(quasi=["age"], models=[ht.KAnonymity(k=2)], publish=["everything"])


def test_the_reference_on_request_is_in_the_policy_and_verifies(tmp_path):
    policy = rules("mondrian", MODELS["equal"], publish=["reference"])
    assert ht.Policy.from_yaml(policy.to_yaml()) == policy and "publish: [reference]" in policy.to_yaml()
    release = ht.anonymize(people("first"), policy)
    folder = release.save(tmp_path / "out")
    told = json.loads((folder / "release.json").read_text())
    assert told["whole_table"]["columns"][0]["withheld"] == 1
    assert told["whole_table"]["price"].endswith("reveals suppressed records.")
    companion_of(folder).rename(tmp_path / "elsewhere")
    found = ht.verify(folder / "release.csv", ht.load_policy(folder / "policy.yaml"))
    assert found.evidence[1].achieved == pytest.approx(release.verification.evidence[1].achieved)


# the two folders


@pytest.fixture
def saved(tmp_path):
    policy = rules("mondrian", MODELS["equal"])
    return ht.anonymize(people("first"), policy).save(tmp_path / "out"), policy


def refused(folder, policy, code, words):
    with pytest.raises((DataError, UsageError), match=words) as caught:
        ht.verify(folder / "release.csv", policy)
    assert caught.value.code == code and caught.value.hint


def test_the_companion_is_for_its_owner_alone(saved):
    folder, policy = saved
    private = companion_of(folder)
    assert private == folder.with_name("out.private")
    assert sorted(p.name for p in private.iterdir()) == ["classes.arrow", "companion.json", "rows.arrow"]
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert {stat.S_IMODE(p.stat().st_mode) for p in private.iterdir()} == {0o600}
    assert ht.verify(folder / "release.csv", policy).ok
    private.chmod(0o755)
    refused(folder, policy, "open-companion", "can be read by others")
    private.chmod(0o700)
    (private / "companion.json").chmod(0o640)
    refused(folder, policy, "open-companion", "can be read by others")


def edited(path, change):
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def test_an_edited_companion_is_noticed(saved):
    folder, policy = saved
    path = companion_of(folder) / "companion.json"
    before = path.read_text()
    for change in (
        lambda data: data["reference"]["attributes"][0]["units"].reverse(),
        lambda data: data["files"].pop("release.csv"),
        lambda data: data.update(coins="x"),
        lambda data: data.pop("seal"),
    ):
        path.write_text(before)
        edited(path, change)
        refused(folder, policy, "edited-companion", "was edited after it was written")


def test_a_newer_a_damaged_and_an_absent_companion(saved):
    folder, policy = saved
    path = companion_of(folder) / "companion.json"
    edited(path, lambda data: data.update(format=2))
    refused(folder, policy, "newer-companion", "written by a newer hushtable")
    for text in ("{", "[]", "{}", '{"format": "1"}', "[" * 100_000):
        path.write_text(text)
        refused(folder, policy, "bad-companion", "is not a companion")
    path.unlink()
    refused(folder, policy, "no-companion", "There is no companion.json")
    shutil.rmtree(path.parent)
    refused(folder, policy, "needs-companion", "which is not in the published file")


def test_changed_public_files_are_noticed(saved, tmp_path):
    folder, policy = saved
    for name, sign in {"release.csv": b"u", "policy.yaml": b"0", "release.json": b"0"}.items():
        before = (folder / name).read_bytes()
        (folder / name).write_bytes(before.replace(sign, b"1", 1))
        refused(folder, policy, "changed-file", f"'{name}' was changed after the release was made")
        (folder / name).write_bytes(before)
    moved = (folder / "release.json").rename(tmp_path / "moved.json")
    refused(folder, policy, "no-release-json", "has no 'release.json'")
    assert ht.verify(folder / "release.csv", policy, moved).ok


def test_the_companion_of_another_release_is_noticed(saved, tmp_path):
    folder, policy = saved
    other = ht.anonymize(people("last", others=("flu", "flu", "HIV")), policy).save(tmp_path / "other")
    with pytest.raises(DataError, match="does not belong to the release") as caught:
        ht.verify(folder / "release.csv", policy, companion=companion_of(other))
    assert caught.value.code == "other-release" and "killed while it wrote" in caught.value.hint


def test_another_secret_is_said_and_none_is_made(saved, monkeypatch, tmp_path):
    folder, policy = saved
    monkeypatch.setenv(SECRET, str(tmp_path / "none"))
    refused(folder, policy, "other-secret", "made with a different secret")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("failing", [1, 2])
def test_where_one_folder_fails_both_are_as_they_were(tmp_path, monkeypatch, failing, overwrite):
    policy = rules("mondrian", MODELS["equal"])
    first, second = (ht.anonymize(people(other), policy) for other in ("last", "between"))
    if overwrite:
        first.save(tmp_path / "out")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()}
    calls, real = [], atomic._swap

    def fails(place, target):
        calls.append(target)
        if len(calls) == failing:
            raise OSError(errno.ENOSPC, "full")
        return real(place, target)

    monkeypatch.setattr(atomic, "_swap", fails)
    with pytest.raises(OutputError, match="the disk is full"):
        second.save(tmp_path / "out", overwrite=overwrite)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()} == before
    assert len(os.listdir(tmp_path)) == 2 * overwrite


KILLED = """
import os, signal, sys
import pyarrow as pa
import hushtable as ht
from hushtable.io import atomic
from hushtable.policy.files import load_policy

swap = atomic._swap

def killed(place, target):
    swap(place, target)
    os.kill(os.getpid(), signal.SIGKILL)

atomic._swap = killed
table = pa.table({"age": [20 + i % 10 for i in range(30)], "ill": ["flu", "flu", "HIV"] * 10})
ht.run(table, load_policy(sys.argv[1]), sys.argv[2], overwrite=True)
"""


def test_a_kill_between_the_folders_leaves_the_release_that_was_there(tmp_path):
    policy = rules("mondrian", MODELS["equal"])
    (tmp_path / "policy.yaml").write_text(policy.to_yaml())
    folder = ht.anonymize(people("first"), policy).save(tmp_path / "out")
    before, measured = files(folder), ht.open_release(folder).measures()
    done = subprocess.run([sys.executable, "-c", KILLED, tmp_path / "policy.yaml", folder], check=False)
    assert done.returncode == -signal.SIGKILL and files(folder) == before
    # the new companion has the name; the one that belongs to the release is found all the same
    with pytest.raises(DataError, match="does not belong to the release"):
        ht.open_release(folder, companion=companion_of(folder))
    opened = ht.open_release(folder, people("first"))
    assert opened.verify().ok and ht.verify(folder / "release.csv", policy).ok
    assert opened.measures() == pytest.approx(measured, nan_ok=True) and opened.attack("linkage").targets
    ht.run(people("last"), policy, folder, overwrite=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "out.private", "policy.yaml"]
    assert ht.open_release(folder, people("last")).verify().ok


def test_a_kill_between_the_folders_of_a_first_release_leaves_no_release(tmp_path):
    (tmp_path / "policy.yaml").write_text(rules("mondrian", MODELS["equal"]).to_yaml())
    done = subprocess.run([sys.executable, "-c", KILLED, tmp_path / "policy.yaml", tmp_path / "out"], check=False)
    assert done.returncode == -signal.SIGKILL and not (tmp_path / "out").exists()


def test_without_a_secret_nothing_is_written(tmp_path, monkeypatch):
    release = ht.anonymize(people("first"), rules("mondrian", MODELS["equal"]))
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(SECRET, str(tmp_path / "file" / "secret"))
    with pytest.raises((OutputError, UsageError)) as caught:
        release.save(tmp_path / "out")
    assert caught.value.code == "secret"
    assert os.listdir(tmp_path) == ["file"]


def test_a_companion_is_not_written_over_unless_allowed(saved):
    folder, policy = saved
    release = ht.anonymize(people("between"), policy)
    for path in folder.iterdir():
        path.unlink()
    with pytest.raises(OutputError, match=r"out\.private' is not empty"):
        release.save(folder)
    release.save(folder, overwrite=True)
    assert ht.verify(folder / "release.csv", policy).ok
    (companion_of(folder) / "thesis.doc").write_text("years")
    with pytest.raises(OutputError, match="1 other files"):
        release.save(folder, overwrite=True)


def test_streaming_writes_the_same_folders(tmp_path):
    policy = rules("mondrian", MODELS["equal"])
    table = people("first")
    write_table(table, tmp_path / "people.csv")
    ht.anonymize(table, policy).save(tmp_path / "local")
    run_files([tmp_path / "people.csv"], policy.plan(), tmp_path / "stream")
    assert files(tmp_path / "local") == files(tmp_path / "stream")
    assert files(tmp_path / "local.private") == files(tmp_path / "stream.private")
    run_files([tmp_path / "people.csv"], policy.plan(), tmp_path / "parts", format="parquet", part_rows=7)
    assert ht.verify(tmp_path / "parts" / "release.parquet", policy).ok
    part = tmp_path / "parts" / "release.parquet" / "part-00002.parquet"
    part.write_bytes((tmp_path / "parts" / "release.parquet" / "part-00001.parquet").read_bytes())
    with pytest.raises(DataError, match=r"'release\.parquet/part-00002\.parquet' was changed"):
        ht.verify(tmp_path / "parts" / "release.parquet", policy)


# files of 0.1.0

OLD = {
    "hushtable": "0.1.0", "records": 31, "released": 30, "suppressed": 1, "columns": ["age", "ill"],
    "satisfied": True, "rows": 30, "people": 30.0, "classes": 1, "models": [], "measures": {"sse": 0.1}, "notes": {},
    "file": "release.csv", "kinds": {"ill": "nominal"},
    "reference": {
        "units": 31, "unit": 1, "population": None,
        "attributes": [{
            "column": "ill", "labels": ["HIV", None, "cold", "flu"], "units": [10, 1, 10, 10], "ordered": False,
            "numbers": None, "categories": None, "n_categories": 0, "levels": [[0, 1, 2, 3], [0, 0, 0, 0]],
            "level_labels": [["HIV", None, "cold", "flu"], ["*"]],
        }],
        "joint": [],
    },
}  # fmt: skip


def test_a_release_json_of_0_1_0_is_read_as_far_as_it_can_be_believed(tmp_path):
    policy = rules("mondrian", [ht.KAnonymity(k=3), ht.TCloseness(t=0.9)], {"kind": "nominal"})
    write_table(pa.table({"age": ["*"] * 30, "ill": [COMMON[i % 3] for i in range(30)]}), tmp_path / "release.csv")
    path = tmp_path / "release.json"
    path.write_text(json.dumps(OLD))
    assert ht.verify(tmp_path / "release.csv", policy.changed(models=[ht.KAnonymity(k=30)])).ok
    assert not ht.verify(tmp_path / "release.csv", policy.changed(models=[ht.KAnonymity(k=31)])).ok
    # counts of the whole table without a keyed hash are anybody's; the original tells them
    with pytest.raises(UsageError, match="compares 'ill' with the whole input table"):
        ht.verify(tmp_path / "release.csv", policy)
    found = ht.verify(tmp_path / "release.csv", policy, original=people("last"))
    assert found.ok and found.evidence[1].achieved == pytest.approx(1 / 31)
    strict = policy.changed(models=[ht.TCloseness(t=0.01)])
    assert not ht.verify(tmp_path / "release.csv", strict, original=people("last")).ok
    edited(path, lambda data: data.update(suppressed=2))
    with pytest.raises(DataError, match=r"counts of records in release\.json do not match"):
        ht.verify(tmp_path / "release.csv", policy.changed(models=[ht.KAnonymity(k=3)]))
