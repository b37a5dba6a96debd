"""Treated releases: engines agree or refuse, nothing leaks, and what is opened later is what was made."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.errors import DataError, IncompatibleError, UsageError, VerificationError
from hushtable.io.secret import load_secret
from hushtable.treatments.pseudonym import feistel, permuted

N = 240


def people(seed: int = 1) -> pa.Table:
    draw = np.random.default_rng(seed)
    return pa.table({
        "id": [f"PX-{i:06d}" for i in range(N)],
        "age": draw.integers(18, 95, N),
        "sex": draw.choice(["f", "m"], N),
        "pay": draw.normal(3000, 800, N).round(2),
        "ill": draw.choice(["flu", "gout", "cold"], N),
        "day": pa.array(draw.integers(19_000, 19_900, N).astype("int32")).cast("date32"),
    })  # fmt: skip


def policy(**more) -> ht.Policy:
    columns = {
        "id": {"role": "identifier"},
        "age": {"role": "quasi", "treatment": [{"top-bottom-coding": {"top": 85}}, {"noise": {"sd": 0.3}}]},
        "sex": {"role": "quasi"},
        "pay": {"role": "insensitive", "treatment": {"shuffling": {"given": ["age"]}}},
        "ill": {"role": "sensitive"},
        "day": {"role": "insensitive", "treatment": {"date-shift": {"days": 20, "by": "id"}}},
        **more,
    }
    return ht.Policy(columns=columns, models=[ht.KAnonymity(k=5), ht.DistinctL(l=2)])


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_any_row_order_gives_the_same_bytes_and_an_opened_release_is_the_same(tmp_path):
    table, order = people(), np.random.default_rng(5).permutation(N)
    release = ht.anonymize(table, policy())
    release.save(tmp_path / "first")
    ht.anonymize(table.take(pa.array(order)), policy()).save(tmp_path / "second")
    assert files(tmp_path / "first") == files(tmp_path / "second")
    again = ht.open_release(tmp_path / "first", table)
    assert again.verify().ok and ht.open_release(tmp_path / "first").verify().ok
    assert again.attack("linkage").successes == release.attack("linkage").successes
    assert again.risk("prosecutor").before.as_dict() == release.risk("prosecutor").before.as_dict()
    assert again.changes() == release.changes() and set(again.changes()) == {"age", "pay", "day"}
    assert 0.05 < again.changes()["age"] < 0.2
    assert again.verdict.words == release.verdict.words and release.explain(3).sentences


def test_risks_before_are_those_of_the_original_and_attacks_know_true_values():
    table = people()
    plain = ht.anonymize(table, policy(age={"role": "quasi"}))
    noisy = ht.anonymize(table, policy())
    assert noisy.risk("prosecutor").before.as_dict() == plain.risk("prosecutor").before.as_dict()
    assert noisy.attack("linkage").rate < 0.6 * plain.attack("linkage").rate
    assert np.isnan(ht.anonymize(table, ht.Policy(
        quasi=["age"], models=[ht.KAnonymity(k=5)], rest="drop")).measure("treatment-change"))  # fmt: skip


def test_a_guess_of_a_treated_sensitive_value_is_scored_with_the_true_one():
    # everybody has one value of two; PRAM without keeping makes the published class uniform noise
    table = pa.table({"age": [30] * 200, "ill": ["flu"] * 199 + ["gout"]})
    settings = ht.Policy(quasi=["age"], sensitive={"ill": {"treatment": {"pram": {"keep": 0.0}}}},
                         models=[ht.KAnonymity(k=5)])  # fmt: skip
    release = ht.anonymize(table, settings)
    shown = release.frame["ill"].to_pylist().count("gout")
    assert 70 < shown < 130
    from hushtable.attacks.people import People
    from hushtable.attacks.view import View

    view = View.of(release)
    truth = People.of_rows(view, np.arange(200)).sensitive["ill"]
    assert np.bincount(truth).tolist() == [199, 1]
    column = view.table.sensitive[0]
    histogram = view.histogram(column)
    assert histogram.units.tolist() == [200 - shown, shown] and view.people_of(histogram, column).tolist() == [199, 1]
    # the guess is the most frequent published value, which nearly everybody or nearly nobody truly has
    assert release.attack("definetti").successes in (1, 199)


def test_an_adversary_rounds_as_the_policy_says():
    table = pa.table({"age": [30] * 10 + [60] * 10, "pay": list(range(10)) * 2})
    settings = ht.Policy(quasi=["age"], sensitive={"pay": {"treatment": {"rounding": {"base": 100}}}},
                         models=[ht.KAnonymity(k=5)])  # fmt: skip
    # everybody's published value is 0, and everybody who knows a value knows that it is rounded to 0
    result = ht.anonymize(table, settings).attack("homogeneity")
    assert (result.successes, result.targets) == (20, 20)
    settings = ht.Policy(quasi={"age": {"treatment": {"rounding": {"base": 25}}}}, models=[ht.KAnonymity(k=5)],
                         rest="drop", cells="sets")  # fmt: skip
    rounded = ht.anonymize(table, settings).attack("linkage")
    assert rounded.rate == pytest.approx(0.1, abs=0.15) and rounded.successes > 0


def test_an_adversary_looks_for_the_nearest_value_that_noise_left():
    from hushtable.schema.prepare import prepare
    from hushtable.treatments.treating import looked_up

    def read(values, **more):
        return prepare(pa.array(values), name="x", **more)

    assert looked_up(read([1, 9, None, 5]), read([2, 8, None, 8])).to_pylist() == [2, 8, None, 2]
    assert looked_up(read([7, 8]), read([3, 3])).to_pylist() == [3, 3]
    order = ("low", "middle", "high")
    assert looked_up(read(["low", "high"], order=order), read(["middle", "high"], order=order), order).to_pylist() == [
        "middle", "high"]  # fmt: skip
    assert looked_up(read(["a", "b", None]), read(["b", "b", None])).to_pylist() == ["b", "b", None]


def test_public_files_do_not_depend_on_the_values_that_a_treatment_hides(tmp_path):
    ages = np.r_[np.full(10, 85), np.arange(20, 70)]
    for name, high in (("first", 85), ("second", 99)):
        table = pa.table({"age": np.where(ages == 85, high, ages), "ill": ["flu", "gout"] * 30})
        settings = ht.Policy(quasi={"age": {"treatment": {"top-bottom-coding": {"top": 85}}}}, sensitive=["ill"],
                             models=[ht.KAnonymity(k=5)])  # fmt: skip
        ht.anonymize(table, settings).save(tmp_path / name)
    assert files(tmp_path / "first") == files(tmp_path / "second")
    told = b"".join(files(tmp_path / "first").values())
    assert load_secret().hex().encode() not in told


def test_another_secret_gives_other_draws(tmp_path, monkeypatch):
    first = ht.anonymize(people(), policy()).frame
    monkeypatch.setenv("HUSHTABLE_SECRET", str(tmp_path / "other"))
    assert not first.equals(ht.anonymize(people(), policy()).frame)


def test_other_engines_refuse_before_any_work(tmp_path):
    with pytest.raises(IncompatibleError, match="treatments need, but the policy treats 'age', 'pay', 'day'"):
        ht.run(tmp_path / "nowhere.csv", policy(), tmp_path / "out", engine="stream")
    with pytest.raises(IncompatibleError, match="Spark engine does not hold"):
        ht.run(tmp_path / "nowhere.csv", policy(), tmp_path / "out", engine="spark")
    from hushtable.engines.spark.refuse import check_engine

    with pytest.raises(IncompatibleError, match="Spark engine does not hold"):
        check_engine(policy().plan())
    with pytest.raises(IncompatibleError, match="new batch would be treated separately"):
        ht.increment(people(), policy(), ht.anonymize(people(), policy()))
    from hushtable.ledger.ledger import Ledger

    with pytest.raises(IncompatibleError, match="A ledger tracks true values"):
        Ledger(tmp_path / "l").add(ht.anonymize(people(), policy()))
    with pytest.raises(IncompatibleError, match="A ledger tracks true values"):
        policy().changed(ledger={"file": "l", "new": True, "person": "id"})
    from hushtable.engines.choose import choose

    assert choose("auto", [tmp_path / "nowhere.csv"], policy().plan()) == "local"


PSEUDONYM = {"role": "pseudonym", "treatment": {"pseudonym": {"keep_format": True, "key": "project.key"}}}


def test_a_missing_key_is_refused_before_any_work(tmp_path):
    settings = policy(id=PSEUDONYM).based_in(tmp_path)
    with pytest.raises(UsageError, match=r"no key '.*project.key'.*Create one with: hushtable pseudonyms new-key"):
        ht.run(tmp_path / "nowhere.csv", settings, tmp_path / "out")


def test_fresh_pseudonyms_cannot_be_joined_and_domains_differ():
    def names(table=None, **values):
        column = {"role": "pseudonym", "treatment": {"pseudonym": values}}
        return set(ht.anonymize(table or people(), policy(id=column, day={"role": "drop"})).frame["id"].to_pylist())

    assert names() == names() and not names() & names(domain="doctor")
    assert not names(fresh=True) & names() and not names(fresh=True) & names(people(2), fresh=True)
    assert names() == names(people(2))


def test_rows_of_one_person_are_not_linked():
    twice = pa.concat_tables([people(), people(2).slice(0, 1)])
    with pytest.raises(DataError, match="1 row repeats the 'id' of another row"):
        ht.anonymize(twice, policy(id={"role": "pseudonym"}, day={"role": "drop"}))


def test_the_verifier_refuses_linked_rows(tmp_path):
    table = people()
    release = ht.anonymize(table, policy(id={"role": "pseudonym"}, day={"role": "drop"}))
    from dataclasses import replace

    from hushtable.engines.local import finish

    made = release.made
    doubled = table.set_column(0, "id", pa.array(["same"] * N))
    with pytest.raises(VerificationError, match=f"{N - 1} published rows repeat a pseudonym"):
        finish(doubled, release.plan, made.problem, made.partition, replace(made.recoded))


@pytest.mark.parametrize("value", ["Zoë-1234567", "AB1"])
def test_formats_that_could_be_undone_are_refused(value):
    table = people().set_column(0, "id", pa.array([f"{value}" if i == 0 else f"PX-{i:06d}" for i in range(N)]))
    column = {"role": "pseudonym", "treatment": {"pseudonym": {"keep_format": True}}}
    with pytest.raises(DataError, match="1 value of column 'id'"):
        ht.anonymize(table, policy(id=column, day={"role": "drop"}))


@pytest.mark.parametrize("sizes", [(1, 7), (10, 1), (6, 11), (26, 10)])
def test_the_feistel_network_is_a_bijection(sizes):
    every = [(a, b) for a in range(sizes[0]) for b in range(sizes[1])]
    found = [feistel(pair, sizes, b"key", "tweak") for pair in every]
    assert sorted(found) == every
    assert [feistel(pair, sizes, b"key", "tweak", undo=True) for pair in found] == every


def test_all_values_of_a_shape_are_permuted():
    every = [f"{letter}{i:02d}-x"[:3] for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" for i in range(100)]
    found = [permuted(value, b"key") for value in every]
    assert sorted(found) == sorted(every) and found != every
    assert [permuted(value, b"key", undo=True) for value in found] == every
    long = "A" * 200 + "9" * 100
    assert permuted(permuted(long, b"key"), b"key", undo=True) == long != permuted(long, b"key")


def test_check_run_and_report_say_that_pseudonyms_are_no_anonymisation(tmp_path):
    release = ht.anonymize(people(), policy(id={"role": "pseudonym"}, day={"role": "drop"}))
    cautions = [str(one) for one in policy(id={"role": "pseudonym"}, day={"role": "drop"}).cautions()]
    assert any("This is not anonymization" in one for one in cautions)
    told = policy(id={"role": "pseudonym"}, day={"role": "drop"}).cautions(people())
    assert "unique" not in {one.code for one in told}
    assert any("verified on the treated values" in one for one in cautions)
    release.report(tmp_path / "evidence.html")
    text = (tmp_path / "evidence.html").read_text()
    assert "pseudonym (not anonymized)" in text and "That pseudonyms are anonymous" in text
    assert "treated by top-bottom-coding and noise" in text


@pytest.mark.parametrize("role", ["insensitive", "sensitive"])
@pytest.mark.parametrize("treatment", [{"rounding": {"base": 100}}, {"top-bottom-coding": {"top": 1200}}])
def test_a_suppressed_fraction_does_not_change_the_type(tmp_path, treatment, role):
    """Nor any other byte: the numbers of a text file are published as text."""
    policy = ht.Policy(columns={"age": {"role": "quasi", "kind": "numeric"},
                                "pay": {"role": role, "kind": "numeric", "treatment": treatment}},
                       models=[ht.KAnonymity(k=5)], suppression=0.1, output={"format": "parquet"})  # fmt: skip
    found = []
    for last in ("1234", "1234.5"):
        rows = "".join(f"{30 + i % 2},{1000 + 10 * i}\n" for i in range(20))
        (tmp_path / "t.csv").write_text(f"age,pay\n{rows}99,{last}\n")
        release = ht.run(tmp_path / "t.csv", policy, tmp_path / f"release{last}")
        assert release.n_suppressed == 1
        found.append({file.name: file.read_bytes() for file in (tmp_path / f"release{last}").iterdir()})
    assert found[0] == found[1]
