"""Anatomy: groups by sensitive values alone, two linked tables, refusals, and what the verifier sees."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hushtable as ht
from hushtable import rng
from hushtable.algorithms.bucket.anatomy import Anatomy
from hushtable.algorithms.bucket.deal import deal
from hushtable.errors import DataError, IncompatibleError, Infeasible, UsageError, VerificationError
from hushtable.models.alpha_beta_k import AlphaBetaK
from hushtable.models.alpha_k import AlphaK
from hushtable.models.distinct_l import DistinctL
from hushtable.models.entropy_l import EntropyL
from hushtable.models.eps_m import EpsM
from hushtable.models.k_anonymity import KAnonymity
from hushtable.models.probabilistic_l import ProbabilisticL
from hushtable.models.t_closeness import TCloseness
from hushtable.release.bucket import join_tables, publish_buckets, split_table
from hushtable.release.companion import companion_of

codes = st.lists(st.integers(0, 5), min_size=1, max_size=60).map(np.array)


@given(codes, st.integers(2, 4))
def test_groups_have_different_values_where_that_is_possible(values, size):
    """Xiao and Tao's condition: no value has more than 1/l of the records."""
    groups = len(values) // size
    if not groups or max(Counter(values.tolist()).values()) > groups:
        return
    labels = deal(values, groups)
    for g in range(groups):
        own = values[labels == g]
        assert len(own) >= size
        assert len(set(own.tolist())) == len(own)


@given(codes, st.integers(1, 6))
def test_dealt_groups_have_their_share_of_every_value(values, groups):
    labels = deal(values, groups)
    for value in set(values.tolist()):
        counts = np.bincount(labels[values == value], minlength=groups)
        assert counts.max() - counts.min() <= 1


def people(n=120, seed=5):
    table = {
        "age": rng.integers(seed, "age", n, 20, 60).tolist(),
        "city": [f"c{v}" for v in rng.integers(seed, "city", n, 0, 4).tolist()],
        "disease": [f"d{v}" for v in rng.choice(seed, "disease", n, [5, 3, 2, 2, 1]).tolist()],
        "note": [None if v else "x" for v in rng.integers(seed, "note", n, 0, 2).tolist()],
    }
    return pa.table(table)


def policy(*models, **how):
    roles = {"quasi": ["age", "city"], "sensitive": ["disease"], "insensitive": ["note"]}
    return ht.Policy(**roles, models=list(models), algorithm=Anatomy(), **how)


def multiset(table, names):
    return Counter(zip(*(table[n].to_pylist() for n in names), strict=True))


@pytest.mark.parametrize(
    "model", [DistinctL(l=2), DistinctL(l=4), ProbabilisticL(l=2), EntropyL(l=2.5), TCloseness(t=0.15)], ids=str
)
def test_quasi_identifiers_stay_exact_and_groups_hold_the_model(model):
    source = people()
    release = ht.anonymize(source, policy(model))
    first, second = release.linked_frames
    assert multiset(first, ["age", "city", "note"]) == multiset(source, ["age", "city", "note"])
    assert multiset(second, ["disease"]) == multiset(source, ["disease"])
    assert first.column_names == ["age", "city", "note", "group"]
    assert second.column_names == ["group", "disease"]
    assert multiset(first, ["group"]) == multiset(second, ["group"])
    assert release.verify().ok
    assert release.measure("ncp") == 0
    assert release.verification.classes > 5


def test_groups_are_as_small_as_the_model_allows():
    source = pa.table({"age": list(range(12)), "disease": ["a", "b", "c"] * 4})
    for l_, groups in ((2, 6), (3, 4)):
        chosen = ht.Policy(quasi=["age"], sensitive=["disease"], models=[DistinctL(l=l_)], algorithm=Anatomy())
        assert ht.anonymize(source, chosen).verification.classes == groups


def test_rows_of_a_group_do_not_link_people_to_values():
    """Exchanging the values of two people of a group changes nothing that is published."""
    source = people()
    release = ht.anonymize(source, policy(DistinctL(l=3)))
    labels = np.empty(source.num_rows, dtype=np.int64)
    labels[release.source_rows] = release.table["group"].to_numpy()
    disease = np.array(source["disease"].to_pylist())
    rows = np.flatnonzero(labels == 1)
    swapped = disease.copy()
    swapped[rows] = disease[np.roll(rows, 1)]
    assert (swapped != disease).any()
    plan = policy(DistinctL(l=3)).table_plan()
    everyone = np.arange(source.num_rows)
    other = source.set_column(2, "disease", pa.array(swapped))
    assert publish_buckets(source, labels, plan, everyone)[0].equals(publish_buckets(other, labels, plan, everyone)[0])


def test_numbers_of_groups_tell_nothing():
    source = people()
    plan = policy(DistinctL(l=3)).table_plan()
    labels = deal(np.arange(source.num_rows) % 5, 10)
    everyone = np.arange(source.num_rows)
    first, second = (publish_buckets(source, numbers, plan, everyone)[0] for numbers in (labels, 9 - labels))
    assert first.equals(second)


class TestFiles:
    @pytest.fixture
    def folder(self, tmp_path):
        ht.anonymize(people(), policy(DistinctL(l=3))).save(tmp_path / "out")
        return tmp_path / "out"

    def test_two_tables(self, folder):
        assert sorted(p.name for p in folder.iterdir()) == [
            "policy.yaml", "release-sensitive.csv", "release.csv", "release.json",
        ]  # fmt: skip
        assert "disease" not in pa_csv.read_csv(folder / "release.csv").column_names
        assert pa_csv.read_csv(folder / "release-sensitive.csv").column_names == ["group", "disease"]
        assert ht.verify(folder / "release.csv", policy(DistinctL(l=3))).ok

    def test_a_stricter_promise_is_found_broken(self, folder):
        assert not ht.verify(folder / "release.csv", policy(DistinctL(l=5))).ok

    def test_a_tampered_second_table(self, folder):
        path = folder / "release-sensitive.csv"
        lines = path.read_text().splitlines()
        path.write_text("\n".join([lines[0], *(f"{line.split(',')[0]},d0" for line in lines[1:])]) + "\n")
        with pytest.raises(DataError, match=r"'release-sensitive\.csv' was changed"):
            ht.verify(folder / "release.csv", policy(DistinctL(l=3)))
        companion_of(folder).rename(folder.with_name("elsewhere"))
        assert not ht.verify(folder / "release.csv", policy(DistinctL(l=3))).ok

    def test_a_second_table_of_something_else(self, folder):
        path = folder / "release-sensitive.csv"
        path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")
        with pytest.raises(DataError, match="same groups of the same sizes"):
            ht.verify(folder / "release.csv", policy(DistinctL(l=3)))

    def test_no_second_table(self, folder):
        (folder / "release-sensitive.csv").unlink()
        with pytest.raises(UsageError, match="release-sensitive"):
            ht.verify(folder / "release.csv", policy(DistinctL(l=3)))


def test_tables_split_and_joined_again_have_the_same_groups():
    release = ht.anonymize(people(), policy(DistinctL(l=3)))
    plan = policy(DistinctL(l=3)).table_plan()
    again = join_tables(*split_table(release.table, plan), plan)
    for names in (["group", "disease"], ["group", "age", "city", "note"]):
        assert multiset(again, names) == multiset(release.table, names)


def test_numbers_that_are_none():
    release = ht.anonymize(people(), policy(DistinctL(l=3)))
    plan = policy(DistinctL(l=3)).table_plan()
    first, second = split_table(release.table, plan)
    broken = first.set_column(first.num_columns - 1, "group", pa.array(["x"] * first.num_rows))
    with pytest.raises(DataError, match="not whole numbers"):
        join_tables(broken, second, plan)
    with pytest.raises(DataError, match="no column 'group'"):
        join_tables(first.drop_columns("group"), second, plan)


def test_a_column_of_the_policy_may_be_called_group():
    source = people().rename_columns(["age", "group", "disease", "note"])
    roles = {"quasi": ["age", "group"], "sensitive": ["disease"], "insensitive": ["note"]}
    chosen = ht.Policy(**roles, models=[DistinctL(l=2)], algorithm=Anatomy())
    assert ht.anonymize(source, chosen).table.column_names == ["age", "group", "disease", "note", "group_"]


def test_identity_models_are_refused():
    with pytest.raises(IncompatibleError, match="exact quasi-identifiers"):
        policy(KAnonymity(k=2)).plan()
    with pytest.raises(IncompatibleError, match="exact quasi-identifiers"):
        policy(KAnonymity(k=2), DistinctL(l=2)).plan()


@pytest.mark.parametrize("both", [AlphaK(alpha=0.5, k=2), AlphaBetaK(alpha=1, beta=2, k=2)])
def test_models_that_promise_k_people_beside_bounded_values_are_refused(both):
    with pytest.raises(IncompatibleError, match=f"exact quasi-identifiers, so it cannot promise {both.name}"):
        policy(both).plan()


def test_a_model_that_does_not_survive_merging_keeps_equal_people_together():
    source = pa.table({"age": [1, 1, 2, 2, 3, 3, 4, 4], "pay": [10, 90, 20, 80, 30, 70, 40, 60]})
    chosen = ht.Policy(quasi=["age"], sensitive=["pay"], models=[EpsM(eps=5, m=2)], algorithm=Anatomy())
    release = ht.anonymize(source, chosen)
    groups = {}
    for age, group in zip(release.table["age"].to_pylist(), release.table["group"].to_pylist(), strict=True):
        groups.setdefault(age, set()).add(group)
    assert all(len(own) == 1 for own in groups.values())


def test_what_is_left_over_is_suppressed_within_the_limit():
    source = pa.table({"age": list(range(10)), "disease": ["a"] * 6 + ["b", "c", "d", "e"]})
    chosen = {"quasi": ["age"], "sensitive": ["disease"], "models": [ProbabilisticL(l=2)], "algorithm": Anatomy()}
    with pytest.raises(Infeasible):
        ht.anonymize(source, ht.Policy(**chosen))
    release = ht.anonymize(source, ht.Policy(**chosen, suppression=0.2))
    assert release.n_suppressed == 2
    assert release.verify().ok


def test_several_sensitive_columns_are_published_jointly():
    source = people().append_column("pay", pa.array((np.arange(120) % 7).tolist()))
    chosen = ht.Policy(
        quasi=["age", "city"], sensitive=["disease", "pay"], insensitive=["note"], models=[DistinctL(l=2)],
        algorithm=Anatomy(),
    )  # fmt: skip
    _, values = ht.anonymize(source, chosen).linked_frames
    assert multiset(values, ["disease", "pay"]) == multiset(source, ["disease", "pay"])


def test_a_release_in_one_table_has_no_linked_ones():
    chosen = ht.Policy(quasi=["age", "city"], sensitive=["disease"], insensitive=["note"], models=[KAnonymity(k=3)])
    with pytest.raises(UsageError, match="one table"):
        _ = ht.anonymize(people(), chosen).linked_frames


def test_accuracy_is_not_defined_where_values_are_apart():
    assert math.isnan(ht.anonymize(people(), policy(DistinctL(l=2))).measure("accuracy"))


def test_a_forged_table_is_found():
    release = ht.anonymize(people(), policy(DistinctL(l=3)))
    forged = release.table.set_column(2, "disease", pa.array(["d0"] * release.table.num_rows))
    with pytest.raises(VerificationError):
        replace(release, published=forged).verify()


def test_another_seed_gives_the_same_groups():
    """Anybody may choose a seed, and whoever has two different draws intersects a person's groups."""
    release = ht.anonymize(people(), policy(ProbabilisticL(l=2, on="disease")))
    other = ht.anonymize(people(), policy(ProbabilisticL(l=2, on="disease"), seed=1))
    assert other.table == release.table
    assert ht.anonymize(people(), policy(ProbabilisticL(l=2, on="disease"), suppression=0.1)).table != release.table
