from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import hushtable as ht
from hushtable.policy.faults import InvalidPolicy
from hushtable.policy.policy import Policy
from hushtable.policy.preflight import check_table

K = {"k-anonymity": {"k": 2}}


def codes(policy: Policy, table: pa.Table | None = None) -> list[str]:
    return [caution.code for caution in policy.cautions(table)]


def test_nothing_to_say():
    policy = Policy(quasi=["age"], sensitive=["job"], models=[K, {"distinct-l": {"l": 2}}])
    table = pa.table({"age": [1, 2, 3, 4] * 5, "job": ["a", "b", "c", "d"] * 5})
    assert codes(policy, table) == []


def test_sensitive_columns_that_no_model_looks_at():
    policy = Policy(quasi=["age"], sensitive=["job", "pay"], models=[K, {"distinct-l": {"l": 2, "on": "job"}}])
    (found,) = policy.cautions()
    assert (found.code, found.where) == ("unprotected", "pay")
    assert codes(Policy(quasi=["age"], models=[K])) == ["no-sensitive"]


def test_separators_that_are_followed_by_a_blank():
    settings = {"quasi": [" age"], "sensitive": ["job"], "models": [K, {"distinct-l": {"l": 2}}]}
    (found,) = Policy(identifiers=["id", " name"], **settings).cautions()
    assert (found.code, found.where) == ("blanks", "columns")
    assert found.message.startswith("2 column names begin with a blank, so in the file")
    assert "any-spelling" in found.hint and "missing_values" in found.hint
    assert codes(Policy(**settings, missing_values=[" "])) == []


def test_more_than_ten_quasi_identifiers_and_what_is_published():
    policy = Policy(quasi=[f"q{i}" for i in range(11)], sensitive=["s"], models=[K], publish=["reference"])
    assert codes(policy) == ["unprotected", "many-quasi", "publish"]


def test_values_that_only_the_population_has_can_be_published():
    table = pa.table({"age": [30, 31, 50, 51], "town": ["a", "b", "a", "b"]})
    population = pa.concat_tables([table, pa.table({"age": [31, 50], "town": ["c", "c"]})])
    policy = Policy(quasi=["age", "town"], sensitive=[], models=[ht.KMap(k=3)], population=population)
    assert codes(policy) == ["no-sensitive", "side-table"]
    assert "{a, b, c}" in ht.anonymize(table, policy).frame["town"].to_pylist()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"algorithm": "k-member"}, True),
        ({"algorithm": "top-down-specialization"}, True),
        ({"algorithm": "k-member", "guard": ["minimality"]}, False),
        ({"algorithm": "mondrian"}, False),
        ({"algorithm": "anatomy"}, False),  # coins decide
        ({"algorithm": {"anti-unification": {"within": "other"}}}, False),  # no model may protect that column
    ],
)
def test_a_public_rule_that_reads_protected_values(settings, said):
    given = {"sensitive": ["job", "other"], "models": [{"distinct-l": {"l": 2, "on": "job"}}], **settings}
    found = [c for c in Policy(quasi=["age"], **given).cautions() if c.code == "public-rule"]
    assert bool(found) is said
    if found:
        assert "50.0%" in found[0].message and "minimality" in found[0].hint


def test_a_public_rule_under_models_of_identity_reads_nothing_protected():
    assert codes(Policy(quasi=["age"], sensitive=["job"], models=[K], algorithm="k-member")) == ["unprotected"]


@pytest.mark.parametrize(
    ("values", "l", "said"),
    [
        (["a", "b", "c"] * 10, 3, True),  # every class would hold every value
        (["a"] * 28 + ["b"] * 2, 2, True),
        (["a", "b"] * 15, 2, False),
        (["a", "b", "c", "d", "e", "f"] * 5, 3, False),
        (["a"] * 20 + ["b"] * 9 + ["c"], 2, False),
    ],
)
def test_models_that_ask_for_nearly_all_values(values, l, said):
    policy = Policy(quasi=["age"], sensitive=["d"], models=[K, {"distinct-l": {"l": l}}])
    table = pa.table({"age": list(range(30)), "d": values})
    assert ("all-values" in codes(policy, table)) is said


def test_values_that_differ_in_capitals_or_spaces():
    policy = Policy(quasi=["age"], sensitive=["d"], models=[K, {"distinct-l": {"l": 2}}])
    table = pa.table({"age": [1, 2, 3, 4, 5], "d": ["HIV", "HIV ", " HIV", "hiv", "HIV\u200b"]})
    (found,) = [c for c in policy.cautions(table) if c.code == "spellings"]
    assert found.message.startswith("4 of its 5 values differ")
    assert "HIV" not in str(found)
    joined = policy.with_column("d", format="any-spelling")
    assert "spellings" not in codes(joined, table)


def test_people_who_are_unique_on_columns_published_as_they_are():
    n = 200
    policy = Policy(quasi=["age"], sensitive=["d"], insensitive=["a", "b", "c"], models=[K, {"distinct-l": {"l": 2}}])
    r = np.random.default_rng(3)
    table = pa.table(
        {
            "age": [1] * n,
            "d": ["x", "y", "z", "w"] * (n // 4),
            "a": r.integers(0, 40, n),
            "b": r.integers(0, 40, n),
            "c": ["same"] * n,
        }
    )
    (found,) = policy.cautions(table)
    assert (found.code, found.where) == ("unique", "a, b")
    both = list(zip(table["a"].to_pylist(), table["b"].to_pylist(), strict=True))
    alone = sum(both.count(pair) == 1 for pair in both) / n
    assert f"{alone:.1%} of the records are unique" in found.message


def test_sensitive_columns_without_a_model_count_as_published_as_they_are():
    policy = Policy(quasi=["age"], sensitive=["d"], models=[K])
    table = pa.table({"age": [1] * 50, "d": list(range(50))})
    assert codes(policy, table) == ["unprotected", "unique"]


def test_dates_and_numbers_that_are_read_as_text():
    policy = Policy(quasi=["born"], sensitive=["d"], models=[K, {"distinct-l": {"l": 2}}])
    table = pa.table({"born": ["04/22/1906", "01/02/1910"], "d": ["a", "b"]})
    (found,) = policy.cautions(table)
    assert (found.code, found.hint) == ("format", "Set format: month-first.")
    assert codes(policy.with_column("born", format="month-first"), table) == []


def test_times_of_day_in_insensitive_columns():
    policy = Policy(quasi=["age"], insensitive=["at"], sensitive=["d"], models=[K, {"distinct-l": {"l": 2}}])
    table = pa.table({"age": [1, 2], "at": ["2020-01-01 08:31", "2020-01-01 09:00"], "d": ["a", "b"]})
    assert "times" in codes(policy, table)


def test_a_format_has_to_fit_role_and_kind():
    with pytest.raises(InvalidPolicy, match="'format' is for quasi and sensitive columns"):
        Policy(quasi=["age"], insensitive={"d": {"format": "thousands"}}, models=[K])
    with pytest.raises(InvalidPolicy, match="The format month-first is for date columns"):
        Policy(quasi={"age": {"kind": "numeric", "format": "month-first"}}, models=[K])


def test_no_value_is_ever_said():
    policy = Policy(quasi=["q"], sensitive=["d"], insensitive=["i"], models=[K, {"distinct-l": {"l": 2}}])
    table = pa.table({name: [f"canary {i}", f"Canary {i}"] * 10 for i, name in enumerate("qdi")})
    assert "canary" not in " ".join(map(str, policy.cautions(table))).lower()


def test_formats_are_named_once():
    people = pa.table({"born": ["03/04/1950", "05/06/1951"], "ill": ["flu", "gout"]})
    policy = Policy(quasi=["born"], sensitive=["ill"], models=[{"k-anonymity": {"k": 2}}, {"distinct-l": {"l": 2}}])
    found = next(c for c in policy.cautions(people) if c.code == "format")
    assert str(found).count("format: day-first") == 1


def test_dates_without_separators_are_read_as_numbers():
    policy = Policy(quasi=["born", "size"], models=[K])
    for born in ([19500403, 19510605], ["19500403", "19510605"]):
        found = [c for c in policy.cautions(pa.table({"born": born, "size": [180, 190]})) if c.code == "format"]
        assert [str(c) for c in found] == [
            "born: It is read as numbers, but contains dates such as 19991231. Set format: compact."
        ]


def test_values_so_frequent_that_only_suppressing_them_helps():
    table = pa.table({"age": list(range(40)), "job": ["a"] * 24 + ["b", "c"] * 8})
    policy = Policy(quasi=["age"], sensitive=["job"], models=[K, {"probabilistic-l": {"l": 2}}], suppression=0.3)
    release = ht.anonymize(table, policy)
    (found,) = [c for c in release.cautions if c.code == "frequent-values"]
    assert found.where == "job" and "probabilistic-l" in found.message
    assert [c.code for c in check_table(table, policy).cautions] == ["frequent-values"]
    missing = Counter(table.column("job").to_pylist()) - Counter(release.table.column("job").to_pylist())
    # 24 of 40 have it; with 8 fewer, it is half of the rest
    assert missing["a"] >= 8


def test_suppressed_outliers_are_no_frequent_values():
    table = pa.table({"age": [1, 1, 1, 1, 90], "job": ["a", "b", "a", "b", "a"]})
    policy = Policy(
        quasi={"age": {"hierarchy": {"tree": {"old": ["90"], "young": ["1"]}}, "kind": "nominal"}}, sensitive=["job"],
        models=[K, {"distinct-l": {"l": 2}}], algorithm="datafly", suppression=0.2,
    )  # fmt: skip
    release = ht.anonymize(table, policy)
    assert release.n_suppressed == 1 and release.cautions == ()
    assert check_table(table, policy).cautions == ()


def test_people_with_several_records():
    policy = Policy(
        quasi=["age"], identifiers=["id"], sensitive=["job"], models=[K, {"distinct-l": {"l": 2}}], entity="id"
    )
    once = pa.table({"id": [1, 2, 3, 4], "age": [30, 31, 32, 33], "job": ["a", "b", "c", "d"]})
    several = pa.table({"id": [1, 1, 2, 2], "age": [30, 31, 32, 33], "job": ["a", "b", "a", "c"]})
    assert codes(policy, once) == []
    assert codes(policy, several) == ["several-records"]
    assert "several-records" not in codes(policy.changed(models=[K]), several)
