"""New batches beside an earlier release: the batch alone and the union satisfy the models."""

from __future__ import annotations

from collections import Counter

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import event, given, settings

import hushtable as ht
from hushtable.errors import DataError, IncompatibleError, Infeasible, NotFound
from hushtable.io.text import to_labels

DISEASES = ("flu", "gout", "angina")


def table(people, start=0):
    return pa.table(
        {
            "name": [f"p{start + i}" for i in range(len(people))],
            "age": [p[0] for p in people],
            "city": [p[1] for p in people],
            "disease": [p[2] for p in people],
        }
    )


def policy(*models, **more):
    chosen = models or (ht.KAnonymity(k=2),)
    given_ = {"identifiers": ["name"], "quasi": ["age", "city"], "sensitive": ["disease"], "models": list(chosen)}
    given_["cells"] = "intervals"
    return ht.Policy(**{**given_, **more})


def cells(release):
    columns = [to_labels(release.table.column(n).combine_chunks()).to_pylist() for n in ("age", "city")]
    return list(zip(*columns, release.table.column("disease").to_pylist(), strict=True))


people = st.lists(
    st.tuples(st.integers(20, 40), st.sampled_from(["x", "y", "z"]), st.sampled_from(DISEASES)), min_size=4, max_size=30
)


@settings(max_examples=60, deadline=None)
@given(
    people,
    people,
    st.integers(2, 4),
    st.sampled_from([1, 2]),
    st.sampled_from(["mondrian", "optimal", "localpk"]),
    st.sampled_from(["regions", "intervals", "sets", "nodes"]),
)
def test_the_batch_and_the_union_hold_and_so_does_their_difference(old, new, k, l, algorithm, form):
    """Counted again from the published cells of both tables."""
    models = [ht.KAnonymity(k=k)] + ([ht.DistinctL(l=l)] if l > 1 else [])
    rules = policy(*models, algorithm=algorithm, cells=form)
    try:
        first = ht.anonymize(table(old), rules)
        second = ht.increment(table(new, start=1000), rules, first)
    except (Infeasible, NotFound):
        event("refused")
        return
    event("joined" if second.partition.notes["joined"] else "new classes only")
    both = cells(first) + cells(second)
    for rows in (cells(second), both):
        sizes = Counter(row[:2] for row in rows)
        assert min(sizes.values()) >= k
        values = {key: {row[2] for row in rows if row[:2] == key} for key in sizes}
        assert min(map(len, values.values())) >= l
    assert Counter(row[2] for row in cells(second)) == Counter(p[2] for p in new)
    # every cell covers its record
    found = second.attack("linkage", method="exact")
    assert found.targets == len(new)
    assert second.verify().ok


def ages(*values, city="x", start=0, disease=DISEASES):
    return table([(age, city, disease[i % len(disease)]) for i, age in enumerate(values)], start)


FIRST = ages(20, 22, 24, 50, 52, 58)


def test_newcomers_join_a_class_or_make_their_own():
    first = ht.anonymize(FIRST, policy(ht.KAnonymity(k=3)))
    second = ht.increment(ages(21, 22, 23, 80, 81, 82, start=100), policy(ht.KAnonymity(k=3)), first)
    assert Counter(second.table.column("age").to_pylist()) == {"[20, 24]": 3, "[80, 82]": 3}
    assert second.summary()["notes"] == {"increment": True, "joined": 3, "old_classes": 1}
    assert set(first.table.column("age").to_pylist()) == {"[20, 24]", "[50, 58]"}


@pytest.mark.parametrize(
    ("style", "shown", "covered"),
    [("intervals", "[20, 30]", {20, 25, 30}), ("sets", "{20, 25, 30}", {20, 25, 30}), ("nodes", "*", {20, 25, 30, 61})],
)
def test_what_is_lost_is_measured_by_the_published_cells(style, shown, covered):
    old = [(age, "x", "flu") for age in (20, 25, 30)] + [(age, "y", "gout") for age in (60, 62, 64)]
    rules = policy(ht.KAnonymity(k=3), quasi={"age": {"cells": style}, "city": {"cells": "sets"}})
    first = ht.anonymize(table(old), rules)
    new = [(25, "x", "flu")] * 3 + [(age, "z", "flu") for age in (20, 30, 61)]
    second = ht.increment(table(new, start=100), rules, first)
    assert second.partition.notes["joined"] == 3
    (place,) = {second.recoded.labels[row] for row in range(3)}
    age = second.recoded.cells[0]
    codes = age.members[age.offsets[place] : age.offsets[place + 1]]
    assert {age.column.coded.values[int(code)].as_py() for code in codes} == covered
    assert second.recoded.published[0][int(place)].as_py() == shown


def aged(ages):
    return pa.table({"age": ages, "disease": ["flu", "gout"] * (len(ages) // 2)})


@pytest.mark.parametrize(("algorithm", "style"), [("mondrian", "nodes"), ("optimal", "intervals"), ("optimal", "sets")])
def test_a_node_keeps_its_height(algorithm, style):
    """The batch's own values under it would fit a lower one."""
    age = {"hierarchy": {"intervals": [5, 10]}, "cells": style}
    rules = ht.Policy(quasi={"age": age}, sensitive=["disease"], models=[ht.KAnonymity(k=2)], algorithm=algorithm)
    first = ht.anonymize(aged([21, 27, 41, 47]), rules)
    second = ht.increment(aged([21, 22, 46, 48]), rules, first)
    assert second.frame["age"].to_pylist() == ["[20, 30)"] * 2 + ["[40, 50)"] * 2
    assert second.partition.notes["joined"] == 4
    assert second.measures(["prec", "distortion", "ncp"]) == pytest.approx(
        {"prec": 1 / 3, "distortion": 2 / 3, "ncp": 1 / 3}
    )


def test_a_root_is_a_root_though_the_batch_has_few_values():
    rules = ht.Policy(
        quasi={"age": {"hierarchy": {"intervals": [5, 10]}}}, sensitive=["disease"], models=[ht.KAnonymity(k=4)]
    )
    first = ht.anonymize(aged([21, None, 23, 48]), rules)
    second = ht.increment(aged([21, 22, 23, 24]), rules, first)
    assert second.frame["age"].to_pylist() == ["*"] * 4
    assert second.measures(["prec", "ncp"]) == {"prec": 0.0, "ncp": 1.0}


def test_a_midpoint_is_measured_by_its_range():
    rules = ht.Policy(quasi={"age": {"cells": "midpoint"}}, sensitive=["disease"], models=[ht.KAnonymity(k=4)])
    first = ht.anonymize(aged([20, 22, 24, 40]), rules)
    second = ht.increment(aged([25, 25, 29, 29, 21, 21]), rules, first)
    assert second.frame["age"].to_pylist() == [30.0] * 6
    (place,) = set(second.recoded.labels.tolist())
    assert second.recoded.cells[0].leaves[place] == 3
    # what is published is 30, not the middle of 21 and 29
    assert second.measure("sse") == pytest.approx(100 * (5**2 + 1**2 + 9**2) / (4**2 + 4**2))
    alike = ht.increment(aged([25] * 4), rules, first)
    assert alike.frame["age"].to_pylist() == [30.0] * 4 and alike.measure("accuracy", test=0.5) >= 0


def test_a_midpoint_is_joined_by_those_in_its_range_alone():
    rules = ht.Policy(quasi={"age": {"cells": "midpoint"}}, sensitive=["disease"], models=[ht.KAnonymity(k=2)])
    first = ht.anonymize(aged([1, 3, 7, 9]), rules)
    second = ht.increment(aged([2, 2, 8, 8, 30, 40, None, None]), rules, first)
    assert second.frame["age"].to_pylist() == [None, None, 2.0, 2.0, 8.0, 8.0, 35.0, 35.0]


@pytest.mark.parametrize("algorithm", ["mdav", "anatomy"])
def test_a_release_without_ranges_is_not_joined(algorithm):
    def rules(algorithm):
        return ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.DistinctL(l=2)], algorithm=algorithm)

    first = ht.anonymize(aged([1, 3, 40, 44]), rules(algorithm))
    with pytest.raises(IncompatibleError, match="The earlier release publishes no ranges"):
        ht.increment(aged([2, 2, 90, 90]), rules("mondrian"), first)


def test_a_column_that_is_empty_in_the_batch_s_own_classes():
    rules = ht.Policy(
        quasi={"age": {"kind": "numeric"}, "city": {"kind": "nominal", "cells": "sets"}},
        models=[ht.KAnonymity(k=2)],
        cells="intervals",
    )

    def people_of(*rows):
        return pa.table({"age": pa.array([r[0] for r in rows], pa.int64()), "city": [r[1] for r in rows]})

    first = ht.anonymize(people_of((20, "x"), (22, "x")), rules)
    second = ht.increment(people_of((20, "x"), (21, "x"), (None, "y"), (None, "y")), rules, first)
    assert second.frame["age"].to_pylist() == [None, None, "[20, 22]", "[20, 22]"]


def test_too_few_for_a_class_do_not_join_it():
    """One newcomer in an old class would be known by subtraction."""
    first = ht.anonymize(FIRST, policy(ht.KAnonymity(k=3)))
    second = ht.increment(ages(21, 60, 61, 62, start=100), policy(ht.KAnonymity(k=3)), first)
    assert second.table.column("age").to_pylist() == ["[21, 62]"] * 4


def test_those_who_joined_come_back_where_others_need_them():
    first = ht.anonymize(FIRST, policy(ht.KAnonymity(k=3)))
    second = ht.increment(ages(20, 21, 22, 90, start=100), policy(ht.KAnonymity(k=3)), first)
    assert second.table.column("age").to_pylist() == ["[20, 90]"] * 4


def test_a_batch_that_is_too_small_waits():
    first = ht.anonymize(FIRST, policy(ht.KAnonymity(k=3)))
    with pytest.raises(Infeasible, match="2 new records cannot be published") as caught:
        ht.increment(ages(20, 21, start=100), policy(ht.KAnonymity(k=3)), first)
    assert "next batch" in caught.value.hint


def test_people_of_the_earlier_release_are_refused():
    first = ht.anonymize(FIRST, policy())
    with pytest.raises(DataError, match="The batch has 2 people from the earlier release"):
        ht.increment(ages(20, 21, 22, start=4), policy(), first)


@pytest.mark.parametrize("names", [[["CANARY"]] * 3, [b"\xff CANARY"] * 3], ids=["lists", "bytes"])
def test_identifiers_that_cannot_be_compared_are_refused(names):
    first = ht.anonymize(table([(20, "x", "flu")] * 3), policy())
    batch = table([(20, "x", "flu")] * 3).set_column(0, "name", pa.array(names))
    with pytest.raises(DataError, match="Column 'name' cannot be read as text") as error:
        ht.increment(batch, policy(), first)
    assert "CANARY" not in str(error.value)


def test_any_of_several_identifiers_tells_who_is_who():
    def batch(names, codes, start=0):
        return (
            ages(*range(20, 20 + len(names)), start=start)
            .set_column(0, "name", pa.array(names))
            .append_column("code", pa.array(codes))
        )

    both = policy().changed(columns={**policy().document()["columns"], "code": {"role": "identifier"}})
    first = ht.anonymize(batch(list("abcdef"), list("uvwxyz")), both)
    with pytest.raises(DataError, match="The batch has 3 people from the earlier release, with the same 'code'"):
        ht.increment(batch(["Aa", "Bb", "Cc"], list("uvw")), both, first)
    ht.increment(batch(["Aa", "Bb", "Cc"], ["new"] * 3), both, first)  # a code that all share identifies nobody


def test_people_of_the_earlier_release_are_known_however_their_names_are_written():
    first = ht.anonymize(ages(20, 21, 22).set_column(0, "name", pa.array(["Zo\u00eb", "Ann", "Bo"])), policy())
    batch = ages(20, 21, 22).set_column(0, "name", pa.array(["Zoe\u0308", " Ann", "Cy"]))
    with pytest.raises(DataError, match="The batch has 2 people from the earlier release"):
        ht.increment(batch, policy(), first)


def test_what_cannot_be_promised_is_refused():
    first = ht.anonymize(FIRST, policy())
    batch = ages(20, 21, 22, start=100)
    with pytest.raises(IncompatibleError, match="m-invariance cannot be guaranteed"):
        ht.increment(batch, policy(ht.MInvariance(m=2)), first)
    with pytest.raises(IncompatibleError, match="publishes no ranges"):
        ht.increment(batch, policy(ht.DistinctL(l=2), algorithm="anatomy"), first)
    with pytest.raises(IncompatibleError, match="publishes no ranges"):
        ht.increment(batch, policy(algorithm="mdav"), first)
    other = batch.rename_columns(["name", "age", "town", "disease"])
    with pytest.raises(DataError, match="different quasi-identifiers"):
        ht.increment(other, policy(quasi=["age", "town"]), first)


def test_the_union_is_judged_against_the_union():
    """Fine on its own and beside its like, but not close to the distribution of both tables together."""
    rules = policy(ht.TCloseness(t=0.1))
    first = ht.anonymize(ages(20, 22, 24, 26, disease=["flu", "gout"]), rules)
    batch = ages(50, 52, 54, 56, start=100, disease=["angina"])
    with pytest.raises(ht.errors.VerificationError, match="t-closeness"):
        ht.increment(batch, rules, first)


def test_unseen_values_gaps_and_tokens_are_covered_or_not():
    rules = policy(missing_values=["?"])
    first = ht.anonymize(
        pa.table({"name": list("abcd"), "age": ["20", "?", "22", "?"], "city": ["x"] * 4, "disease": ["flu"] * 4}),
        rules,
    )
    batch = pa.table(
        {"name": list("efgh"), "age": ["21", "21", "?", "?"], "city": ["x", "x", "x", "q"], "disease": ["flu"] * 4}
    )
    second = ht.increment(batch, rules, first)
    assert second.table.num_rows == 4 and second.verify().ok


def test_saved_batches_verify_on_their_own(tmp_path):
    rules = policy(ht.KAnonymity(k=3), ht.TCloseness(t=0.9))
    first = ht.anonymize(FIRST, rules)
    second = ht.increment(ages(21, 22, 23, 80, 81, 82, start=100), rules, first)
    saved = second.save(tmp_path / "batch")
    assert ht.verify(saved / "release.csv", rules).ok
    with pytest.raises(ht.errors.UsageError, match="its original alone does not reproduce it"):
        second.with_guards([])


def test_rows_in_any_order_give_the_same_batch():
    first = ht.anonymize(FIRST, policy(ht.KAnonymity(k=3)))
    batch = ages(21, 22, 23, 80, 81, 82, start=100)
    forward = ht.increment(batch, policy(ht.KAnonymity(k=3)), first)
    backward = ht.increment(batch.take(pa.array(range(5, -1, -1))), policy(ht.KAnonymity(k=3)), first)
    assert forward.table.to_pylist() == backward.table.to_pylist()


def test_a_population_that_no_model_counts_plays_no_part(tmp_path):
    old, new = [(20, "x", "flu"), (24, "x", "HIV")] * 2, [(21, "x", "flu"), (22, "x", "HIV"), (70, "y", "flu")] * 2
    rules = policy(population="people.csv").based_in(tmp_path)
    (tmp_path / "people.csv").write_text("age,city\n20,x\n21,x\n99,z\n", encoding="utf-8")
    first = ht.anonymize(table(old), policy())
    wanted = ht.increment(table(new, start=1000), policy(), first)
    assert cells(ht.increment(table(new, start=1000), rules, first)) == cells(wanted)


CODES = {
    "text": pa.string(),
    "whole": pa.int64(),
    "float": pa.float64(),
    "labels": pa.dictionary(pa.int32(), pa.string()),
}


def coded_diseases(kind, ages_, start=0):
    """Diseases written as numbers, in a type of their own."""
    made = table([(age, "x", age % 2) for age in ages_], start=start)
    codes = made.column("disease").cast(pa.string() if pa.types.is_dictionary(kind) else kind)
    return made.set_column(3, "disease", codes.cast(kind))


@pytest.mark.parametrize("new", CODES)
@pytest.mark.parametrize("old", CODES)
def test_original_and_batch_may_be_stored_differently(old, new):
    rules = policy(ht.KAnonymity(k=2), ht.DistinctL(l=2))
    first = ht.anonymize(coded_diseases(CODES[old], (20, 21, 30, 31)), rules)
    batch = coded_diseases(CODES[new], (20, 21, 50, 51), start=100)
    second = ht.increment(batch, rules, first)
    assert second.table.column("age").to_pylist() == ["[20, 21]"] * 2 + ["[50, 51]"] * 2
    more = batch.append_column("note", pa.array(list("abcd")))
    named = policy(ht.KAnonymity(k=2), ht.DistinctL(l=2), insensitive=["note"])
    assert ht.increment(more, named, first).table.drop_columns("note").equals(second.table)


def test_an_original_that_cannot_be_compared_is_refused():
    first = ht.anonymize(ages(20, 22, 24, 26), policy())
    batch = ages(21, 23, start=100)
    with pytest.raises(DataError, match="'disease' has different types") as caught:
        ht.increment(batch.set_column(3, "disease", pa.array([1, 2])), policy(), first)
    assert caught.value.code == "other-type"
    unknown = ht.Policy(
        identifiers=["name", "patient"], quasi=["age", "city"], sensitive=["disease"], models=[ht.KAnonymity(k=2)],
        entity="patient",
    )  # fmt: skip
    with pytest.raises(DataError, match="no column 'patient'"):
        ht.increment(batch.append_column("patient", pa.array(["a", "b"])), unknown, first)


@pytest.mark.parametrize(("before", "now"), [([1.5, 2.5], [2, 2]), ([1, 3], [1.5, 2.5]), ([1, 3], [None, None])])
def test_whole_numbers_beside_others(before, now):
    rules = ht.Policy(quasi=["age"], models=[ht.KAnonymity(k=2)])
    first = ht.anonymize(pa.table({"age": before}), rules)
    joined = ht.increment(pa.table({"age": now}), rules, first).frame["age"].to_pylist()
    assert joined == ([None] * 2 if now[0] is None else first.frame["age"].to_pylist())


def test_large_numbers_outside_a_range_do_not_join_it():
    """As floats they are the same as its upper end."""
    rules = ht.Policy(quasi=["age"], models=[ht.KAnonymity(k=2)])
    first = ht.anonymize(pa.table({"age": [2**60, 2**60 + 10]}), rules)
    second = ht.increment(pa.table({"age": [2**60 + 11, 2**60 + 12]}), rules, first)
    assert set(second.frame["age"].to_pylist()) == {f"[{2**60 + 11}, {2**60 + 12}]"}


def test_a_batch_of_counts_is_refused():
    """Newcomers would join regions, which are no counts."""
    ages = [20, 21, 22, 23, 40, 41, 42, 43]
    first = ht.anonymize(table([(age, "x", "flu") for age in ages]), policy(cells="regions"))
    with pytest.raises(IncompatibleError, match="'cells: counts' publishes no ranges"):
        ht.increment(table([(age, "x", "flu") for age in ages], 100), policy(cells="counts"), first)


@pytest.mark.parametrize(
    ("kind", "hierarchy"), [("numeric", {"intervals": {"quantiles": [2]}}), ("nominal", "frequency")]
)
def test_a_name_made_of_values_covers_nobody_beyond_them(kind, hierarchy):
    """At the root of a made hierarchy a class is named by its own values, and newcomers outside do not join it."""
    columns = {"income": {"kind": kind, "hierarchy": hierarchy}}
    policy = ht.Policy(quasi=columns, models=[ht.KAnonymity(k=3)], cells="nodes")
    first = ht.anonymize(pa.table({"income": [3, 5, 15, 20]}), policy)
    batch = ht.increment(pa.table({"income": [1, 1, 1, 700, 700, 700]}), policy, first)
    assert not set(batch.table["income"].to_pylist()) & set(first.table["income"].to_pylist())
