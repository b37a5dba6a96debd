"""Policies of linked tables: what is refused, before any data are read."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hushtable.errors import HierarchyError, PolicyError, UsageError
from hushtable.linked.policy import LinkedPolicy, read_policy
from hushtable.linked.run import anonymize_linked, check_data
from hushtable.policy.faults import InvalidPolicy
from hushtable.policy.policy import Policy

PEOPLE = {"key": "id", "columns": {"age": {"role": "quasi"}, "born": {"role": "drop"}}}
EVENTS = {"of": "people", "columns": {"code": {"role": "quasi"}}}
BASE = {"tables": {"people": PEOPLE, "events": EVENTS}, "models": [{"k-anonymity": {"k": 2}}]}


def changed(table, **settings):
    return {**BASE, "tables": {**BASE["tables"], table: {**BASE["tables"].get(table, {}), **settings}}}


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({**BASE, "knows": 0}, "knows: It must be a whole number from 1 to 4, or all. Got 0 instead."),
        ({**BASE, "knows": 5}, "More than 4 known events have too many combinations"),
        ({**BASE, "knows": "al"}, "knows: It must be a whole number from 1 to 4, or all. Got a str instead."),
        ({**BASE, "models": []}, "no privacy model"),
        ({**BASE, "models": [{"average-risk": {"average": 0.2}}]}, "more than one group"),
        ({**BASE, "models": [{"k-anonymity": {"k": 2, "subsets": 1}}]}, "more than one group"),
        (changed("people", key=()), "needs 'key'"),
        (changed("people", knows=1), "for tables of events"),
        (changed("people", counts=True), "'counts' is for tables of events"),
        (changed("people", columns={"age": {"role": "sensitive"}}), "no quasi-identifier"),
        (changed("events", of="person"), "no table 'person'. "),
        (changed("events", of=None), "2 tables belong to no other one"),
        (changed("events", of="events", key="e"), "in a cycle"),
        (changed("events", by=["a", "b"]), "2 columns, but the key of 'people' has 1"),
        (changed("events", columns={"id": {"role": "quasi"}}), "A column of a key has no role"),
        (changed("events", columns={"code": {"role": "weight"}}), "is for the table of people"),
        (changed("events", columns={"code": {"role": "quasi", "cells": "sets"}}), "'cells' is for columns of people"),
        (changed("events", relative={"code": "died"}), "no column 'died'"),
        (changed("events", relative={"day": "born"}), "no such column"),
        (changed("events", columns={"code": {"role": "quasi", "order": ["a", "b"]}}, relative={"code": "born"}),
         "tables.events.columns.code.order: The column's kind is numeric, but 'order' is for ordinal columns."),
        (changed("events", columns={"code": {"role": "insensitive", "hierarchy": "flat"}}), "'hierarchy' is for"),
        (changed("detail", of="events", by="e", columns={}), "A table that others belong to needs 'key'"),
        (changed("a/b", of="people", columns={}), "letters, digits"),
        ({**changed("events", knows=1), "knows": "all"}, "no table can have a smaller 'knows'"),
        (changed("events", knows=3), "3 events of one table are more than the 2 that 'knows' allows over all tables. "
                                     "Write 'knows: 3' for the policy"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(settings, sentence):
    with pytest.raises(InvalidPolicy) as caught:
        LinkedPolicy(**settings)
    assert sentence in str(caught.value)


def test_all_known_holds_for_tables_that_hang_together():
    tables = {**BASE["tables"], "events": {**EVENTS, "key": "e", "knows": "all"}}
    with pytest.raises(InvalidPolicy, match="differs"):
        LinkedPolicy(**{**BASE, "tables": {**tables, "detail": {"of": "events", "columns": {"x": {"role": "quasi"}}}}})


def test_known_of_a_table_counts_within_all():
    policy = LinkedPolicy(**{**changed("events", knows=3), "knows": 4})
    assert policy.known_events("events") == 3
    assert LinkedPolicy(**{**BASE, "knows": 4}).known_events("events") == 4


def test_sensitive_columns_may_have_dots_in_their_names():
    tables = {"people": {**PEOPLE, "columns": {"age": {"role": "quasi"}}},
              "labs": {"of": "people", "columns": {"a.b": {"role": "sensitive"}}}}  # fmt: skip
    models = [{"k-anonymity": {"k": 2}}, {"distinct-l": {"l": 2, "on": "labs.a.b"}}]
    data = {"people": pa.table({"id": [1, 2], "age": [30, 30]}), "labs": pa.table({"id": [1, 2], "a.b": ["x", "y"]})}
    policy = LinkedPolicy(tables=tables, models=models)
    assert anonymize_linked(data, policy).verification.ok
    tables["people"]["columns"]["labs.a.b"] = {"role": "sensitive"}
    with pytest.raises(InvalidPolicy, match="has the same name for models"):
        LinkedPolicy(tables=tables, models=models)


def test_files_tell_their_kind(tmp_path):
    (tmp_path / "many.yaml").write_text(LinkedPolicy(**BASE).to_yaml())
    (tmp_path / "one.yaml").write_text("columns: {age: {role: quasi}}\nmodels: [k-anonymity: {k: 2}]\n")
    assert read_policy(tmp_path / "many.yaml").digest() == LinkedPolicy(**BASE).digest()
    assert isinstance(read_policy(tmp_path / "one.yaml"), Policy)
    with pytest.raises(InvalidPolicy, match=r"line 3: tables\.people\.keys: There is no setting 'keys'\. Did you mean"):
        LinkedPolicy.from_yaml("tables:\n  people:\n    keys: id\n    columns: {}\n")


def test_masks_do_not_depend_on_values_that_may_be_suppressed():
    code = {"role": "quasi", "hierarchy": {"prefix": {"steps": [2]}}}
    tables = {
        "people": {**PEOPLE, "columns": {"age": {"role": "quasi"}}},
        "events": {**EVENTS, "columns": {"code": code}},
    }
    data = {
        "people": pa.table({"id": [1, 2], "age": [30, 30]}),
        "events": pa.table({"id": [1, 2], "code": ["A1", "A10"]}),
    }
    with pytest.raises(HierarchyError, match=r"'code' has values of different lengths.*length: 7"):
        check_data(data, LinkedPolicy(**{**BASE, "tables": tables}))
    tables["events"]["columns"]["code"]["hierarchy"] = {"prefix": {}}
    with pytest.raises(PolicyError, match=r"events\.code differ in length.*length: 7"):
        check_data(data, LinkedPolicy(**{**BASE, "tables": tables}))
    tables["events"]["columns"]["code"]["hierarchy"]["prefix"]["length"] = 2
    with pytest.raises(HierarchyError, match="up to 3 characters, but its prefix hierarchy says 2"):
        check_data(data, LinkedPolicy(**{**BASE, "tables": tables}))
    tables["events"]["columns"]["code"]["hierarchy"]["prefix"]["length"] = 5
    assert check_data(data, LinkedPolicy(**{**BASE, "tables": tables}))["events"] == 2


@pytest.mark.parametrize(
    ("table", "column", "values", "sentence"),
    [
        ("people", "age", [30, "canary"], "Table 'people': Column 'age' cannot be read as numeric"),
        ("people", "born", ["1990-01-01", "canary"], "Table 'people': Column 'born' cannot be read as date"),
        ("events", "day", ["2020-01-01", "canary"], "Table 'events': Column 'day' cannot be read as date"),
        ("events", "code", ["a", "canary"], "Table 'events': The hierarchy of column 'code' does not cover 1"),
        ("events", "result", [5, "canary"], "Table 'events': Column 'result' cannot be read as numeric"),
        ("events", "other", ["x", "canary"], "Table 'events': These columns have no role in the policy: 'other'"),
    ],
)
def test_what_cannot_be_read_is_said_before_a_run(table, column, values, sentence):
    """It names the table and the column, and no value."""
    columns = {"day": {"role": "quasi"}, "code": {"role": "quasi", "hierarchy": {"tree": {"X": ["a", "b"]}}},
               "result": {"role": "sensitive", "kind": "numeric"}}  # fmt: skip
    policy = LinkedPolicy(
        tables={"people": {"key": "id", "columns": {"age": {"role": "quasi", "kind": "numeric"},
                                                    "born": {"role": "drop"}}},
                "events": {"of": "people", "columns": columns, "relative": {"day": "born"}}},
        models=[{"k-anonymity": {"k": 2}}, {"t-closeness": {"t": 0.9, "on": "events.result", "distance": "ordered"}}],
        suppression=1.0,
    )  # fmt: skip
    data = {
        "people": {"id": ["1", "2"], "age": ["30", "31"], "born": ["1990-01-01"] * 2},
        "events": {"id": ["1", "2"], "day": ["2020-01-01"] * 2, "code": ["a", "a"], "result": ["5", "6"]},
    }
    assert check_data({name: pa.table(one) for name, one in data.items()}, policy)["events"] == 2
    data[table][column] = [str(value) for value in values]
    for work in (check_data, anonymize_linked):
        with pytest.raises(UsageError) as caught:
            work({name: pa.table(one) for name, one in data.items()}, policy)
        assert str(caught.value).startswith(sentence) and "canary" not in str(caught.value)
