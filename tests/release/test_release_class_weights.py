"""Published survey weights: one rounded mean for each class, of published records alone."""

from __future__ import annotations

import random
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hushtable as ht
from hushtable.cli.main import main
from hushtable.errors import DataError, IncompatibleError, VerificationError
from hushtable.policy.faults import InvalidPolicy
from hushtable.release.class_weights import check_class_weights, class_weights

SHOWN = {"w": {"publish": True}}


def survey(n=60, seed=1):
    draw = random.Random(seed)
    region = [draw.choice("nesw") for _ in range(n)]
    base = {"n": 300.0, "e": 160.0, "s": 90.5, "w": 25.25}
    return pa.table({
        "w": [round(base[r] * draw.uniform(0.8, 1.2), 3) for r in region],
        "age": [draw.randint(18, 60) for _ in range(n)],
        "region": region,
        "ill": [draw.choice(["flu", "cold", "gout"]) for _ in range(n)],
    })  # fmt: skip


def policy(k=4, weight=SHOWN, **more):
    models = [ht.KAnonymity(k=k)]
    return ht.Policy(weight=weight, quasi=["age", "region"], sensitive=["ill"], models=models, **more)


def slow_means(release, original):
    """The exact mean weight of the published records of every class, by its cells."""
    people = defaultdict(list)
    weights = original.column("w").to_pylist()
    for row, source in zip(release.table.to_pylist(), release.source_rows.tolist(), strict=True):
        people[row["age"], row["region"]].append(Fraction(weights[source]))
    return {cells: sum(own) / len(own) for cells, own in people.items()}


def is_rounding(shown, exact):
    """Whether a number is another one with three significant digits."""
    digits = f"{shown:.15g}".replace(".", "").strip("0").split("e")[0]
    unit = Fraction(10) ** (len(str(int(exact))) - 3) if exact >= 1 else Fraction(1, 1000)
    return len(digits) <= 3 and abs(Fraction(shown) - exact) <= unit / 2 * (1 + Fraction(1, 10**9))


def test_by_hand():
    people = pa.table({"w": [10, 20, 31, 1000, 2000, 3001], "age": [30, 30, 30, 41, 41, 41]})
    chosen = ht.Policy(weight=SHOWN, quasi=["age"], models=[ht.KAnonymity(k=3)])
    made = ht.anonymize(people, chosen)
    # 61 / 3 = 20.333..., 6001 / 3 = 2000.333...
    assert made.table.to_pydict() == {"age": ["< 40"] * 3 + [">= 40"] * 3, "w": [20.3] * 3 + [2000.0] * 3}
    assert ht.anonymize(people.to_pandas(), chosen).frame["w"].tolist() == [20.3] * 3 + [2000.0] * 3


def test_nothing_is_published_by_default():
    assert "w" not in ht.anonymize(survey(), policy(weight="w")).columns


@given(
    st.lists(st.tuples(st.integers(0, 3), st.floats(1, 1e6, allow_nan=False).map(lambda x: round(x, 3))), min_size=1),
    st.randoms(),
)
@settings(max_examples=60, deadline=None)
def test_means_are_exact_up_to_rounding_and_no_order_matters(records, shuffled):
    labels, weights = np.array([g for g, _ in records]), np.array([w for _, w in records])
    found = class_weights(weights, labels)
    for group in set(labels.tolist()):
        own = [Fraction(w) for g, w in records if g == group]
        shown = set(found[labels == group].tolist())
        assert len(shown) == 1 and is_rounding(shown.pop(), sum(own) / len(own))
    order = np.array(shuffled.sample(range(len(records)), len(records)))
    assert np.array_equal(class_weights(weights[order], labels[order]), found[order])


@pytest.mark.parametrize("algorithm", ["mondrian", "optimal", "mdav", "local-suppression"])
def test_every_class_shows_the_mean_of_its_published_records(algorithm):
    people = survey()
    if algorithm == "mdav":
        people = people.set_column(2, "region", pa.array(["nesw".index(r) for r in people["region"].to_pylist()]))
    chosen = policy(k=4, algorithm=algorithm, suppression=0.2)
    made = ht.anonymize(people, chosen)
    means = slow_means(made, people)
    for row in made.table.to_pylist():
        assert is_rounding(row["w"], means[row["age"], row["region"]])
    turned = people.take(pa.array(np.random.default_rng(3).permutation(people.num_rows)))
    assert ht.anonymize(turned, chosen).table.equals(made.table)


def test_records_that_differ_in_their_weights_alone_are_not_told_apart_by_their_place():
    weights = [float(10 + i) for i in range(12)]
    people = pa.table({"w": weights, "age": [30] * 12, "region": ["n"] * 12, "ill": ["x"] * 12})
    chosen = policy(k=3, algorithm={"mdav": {}})
    turned = people.take(pa.array(range(12))[::-1])
    assert ht.anonymize(turned, chosen).table.equals(ht.anonymize(people, chosen).table)


def folder_bytes(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def test_weights_of_suppressed_records_change_no_byte(tmp_path):
    few = {"w": [40.0, 50.5], "age": [30, 31], "region": ["elsewhere"] * 2, "ill": ["flu", "cold"]}
    people, chosen = pa.concat_tables([survey(), pa.table(few)]), policy(k=5, algorithm="datafly", suppression=0.3)
    made = ht.run(people, chosen, tmp_path / "one" / "release")
    left_out = sorted(set(range(people.num_rows)) - set(made.source_rows.tolist()))
    assert left_out
    weights = people.column("w").to_pylist()
    for row in left_out:
        weights[row] = 7 * weights[row] + row
    others = people.set_column(0, "w", pa.array(weights))
    ht.run(others, chosen, tmp_path / "other" / "release")
    assert folder_bytes(tmp_path / "one" / "release") == folder_bytes(tmp_path / "other" / "release")
    # a published one does count
    weights[made.source_rows[0]] *= 7
    ht.run(people.set_column(0, "w", pa.array(weights)), chosen, tmp_path / "third" / "release")
    assert folder_bytes(tmp_path / "one" / "release") != folder_bytes(tmp_path / "third" / "release")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("survey")
    people = survey(200)
    return people, ht.run(people, policy(cells="counts"), folder / "release"), folder / "release"


def test_a_sample_of_the_public_folder_estimates_weighted_totals(written, tmp_path):
    people, made, folder = written
    alone = tmp_path / "copy"
    alone.mkdir()
    for name, content in folder_bytes(folder).items():
        (alone / name).write_bytes(content)
    with pytest.raises(SystemExit) as ended:
        main(["sample", str(alone), "-o", str(tmp_path / "drawn.csv"), "--seed", "3"])
    assert ended.value.code == 0
    drawn, original = pd.read_csv(tmp_path / "drawn.csv"), people.to_pandas()
    assert drawn["w"].sum() == pytest.approx(original["w"].sum(), rel=0.005)
    assert sorted(drawn["w"]) == sorted(made.table.column("w").to_pylist())
    ill = drawn.groupby("ill")["w"].sum() / original.groupby("ill")["w"].sum()
    unweighted = len(drawn) / original["w"].sum()
    assert ill.between(0.8, 1.2).all() and unweighted < 0.1


@pytest.mark.parametrize("rows", [50, 200, 600])
def test_a_sample_of_any_size_stands_for_the_whole_population(written, rows):
    people, made, _ = written
    drawn = made.sample(rows=rows, seed=2)
    assert drawn.num_rows == rows
    assert sum(drawn.column("w").to_pylist()) == pytest.approx(sum(people.column("w").to_pylist()), rel=0.1)


def test_the_report_says_what_is_published_of_weights(written, tmp_path):
    people, made, _ = written
    made.report(tmp_path / "shown.html")
    assert "mean of its class" in (tmp_path / "shown.html").read_text(encoding="utf-8")
    assert "That survey weights stay unknown" in (tmp_path / "shown.html").read_text(encoding="utf-8")
    homes = people.append_column("home", pa.array([i // 2 for i in range(people.num_rows)]))
    ht.anonymize(homes, policy(weight="w", cluster="home")).report(tmp_path / "plain.html")
    text = (tmp_path / "plain.html").read_text(encoding="utf-8")
    assert "survey weight" in text and "household" in text and "mean of its class" not in text


def test_an_opened_release_is_held_against_its_original(written):
    people, made, folder = written
    assert ht.open_release(folder, original=people).measure("query-error") == made.measure("query-error")
    weights = [2 * w for w in people.column("w").to_pylist()]
    with pytest.raises(VerificationError, match="are not the means"):
        ht.open_release(folder, original=people.set_column(0, "w", pa.array(weights))).measure("query-error")
    assert made.verify().ok and len(made.condense(columns=["age"]).column("w")) == 200


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda w: [w[0] + 1, *w[1:]], "differ from others of their class"),
        (lambda w: [x + 0.0625 for x in w], "more than three significant digits"),
        (lambda w: [-x for x in w], "not numbers above 0"),
        (lambda w: [None, *w[1:]], "not numbers above 0"),
    ],
)
def test_weights_that_were_edited_are_refused(written, change, message):
    _, made, _ = written
    edited = made.table.set_column(3, "w", pa.array(change(made.table.column("w").to_pylist())))
    with pytest.raises(VerificationError, match=message):
        check_class_weights(edited, made.plan.table)


def test_an_edited_file_gives_no_sample(written, tmp_path):
    _, _, folder = written
    for name, content in folder_bytes(folder).items():
        (tmp_path / name).write_bytes(content)
    table = pd.read_csv(tmp_path / "release.csv")
    table.loc[3, "w"] = 999
    table.to_csv(tmp_path / "release.csv", index=False)
    with pytest.raises((VerificationError, DataError)):
        ht.open_release(tmp_path).sample()


def test_a_class_of_two_is_refused_whatever_the_models_say(written):
    _, made, _ = written
    with pytest.raises(VerificationError, match="fewer than 3 records"):
        check_class_weights(made.table.slice(0, 2), made.plan.table)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"k": 2}, "classes of 2"),
        ({"missing": "wildcard"}, "a class may have a single record"),
        ({"identifiers": ["who"], "entity": "who"}, "a person with many records"),
        ({"identifiers": ["who"], "ledger": {"file": "all.ledger", "new": True}}, "the means of several releases"),
    ],
)
def test_what_would_make_means_tell_more_is_refused_before_any_work(settings, reason):
    with pytest.raises(IncompatibleError, match=reason) as caught:
        policy(**settings)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("algorithm", "model"),
    [
        ("anatomy", {"distinct-l": {"l": 3}}),
        ("m-invariant", {"m-invariance": {"m": 3}}),
        ("k-concealing", {"k-concealment": {"k": 3}}),
    ],
)
def test_without_classes_of_equal_cells_there_are_no_mean_weights(algorithm, model):
    with pytest.raises(IncompatibleError, match="no classes of equal cells"):
        ht.Policy(weight=SHOWN, quasi=["age"], sensitive=["ill"], models=[model], algorithm=algorithm)


def test_differential_privacy_says_nothing_of_means():
    dp = {"dp": {"epsilon": 1, "delta": 1e-6}}
    age = {"kind": "numeric", "hierarchy": {"intervals": {"widths": [10], "low": 0, "high": 100}}}
    with pytest.raises(IncompatibleError, match="'w' would be published next to them"):
        ht.Policy(weight=SHOWN, quasi={"age": age}, models=[dp], algorithm="safe-pub", suppression=1)


def test_only_weights_are_published_by_this_setting():
    with pytest.raises(InvalidPolicy, match="'publish' is for weight columns"):
        ht.Policy(weight="w", quasi={"age": {"publish": True}}, models=[ht.KAnonymity(k=3)])


@pytest.mark.parametrize("engine", ["stream", "spark"])
def test_engines_that_do_not_publish_weights_say_so(engine, tmp_path):
    survey().to_pandas().to_csv(tmp_path / "survey.csv", index=False)
    with pytest.raises(IncompatibleError, match="does not publish the mean weights of classes"):
        ht.run(tmp_path / "survey.csv", policy(), tmp_path / "release", engine=engine)


def test_new_records_do_not_join_classes_with_a_mean_weight():
    fitted = ht.Anonymizer(policy()).fit(survey().to_pandas())
    with pytest.raises(IncompatibleError, match="does not publish the mean weights of classes"):
        fitted.transform(survey(seed=2).to_pandas())


def test_a_ledger_takes_no_release_with_mean_weights(written, tmp_path):
    from hushtable.ledger.ledger import Ledger

    with pytest.raises(IncompatibleError, match="A ledger does not follow the mean weights"):
        Ledger(tmp_path / "all.ledger").add(written[1])
