from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from support_public_tables import PUBLIC

from hushtable.schema.columns import Kind, Role
from hushtable.schema.infer import MANY, ColumnFacts, shortlisted, suggest_role
from hushtable.schema.profile import ColumnProfile, profile

LETTER = {Role.QUASI: "q", Role.SENSITIVE: "s", Role.IDENTIFIER: "i", Role.DROP: "d", Role.INSENSITIVE: "n"}


def guesses(table: str) -> list[tuple[str, Role, str]]:
    """Each column, the role that is guessed for it, and the roles that a person would give it."""
    rows, columns = PUBLIC[table]
    found = []
    for name, kind, distinct, unique, missing, fractions, length, _ in columns:
        facts = ColumnFacts(name, Kind(kind), rows, distinct, unique, missing, fractions, length)
        role, why = suggest_role(facts)
        found.append(ColumnProfile(name, facts.kind, "", distinct, unique, missing, unique / rows, role, why))
    return [(c.name, c.role, given[-1]) for c, given in zip(shortlisted(found, {}), columns, strict=True)]


@pytest.mark.parametrize("table", PUBLIC)
def test_no_direct_identifier_is_published(table: str) -> None:
    for name, role, wanted in guesses(table):
        if wanted in ("i", "d"):
            assert not role.published, name


@pytest.mark.parametrize("table", PUBLIC)
def test_most_columns_get_the_role_that_a_person_would_give_them(table: str) -> None:
    found = guesses(table)
    wrong = [(name, str(role), wanted) for name, role, wanted in found if LETTER[role] not in wanted]
    assert len(wrong) <= len(found) / 5, wrong


def test_nine_of_ten_columns_of_all_tables() -> None:
    found = [guess for table in PUBLIC for guess in guesses(table)]
    right = sum(LETTER[role] in wanted for _, role, wanted in found)
    assert right >= 0.9 * len(found)


def test_medical_tables_have_sensitive_columns() -> None:
    for table in ("pbc", "actg175", "colon", "lung", "veteran", "birthwt"):
        assert any(role is Role.SENSITIVE for _, role, _ in guesses(table))


def wide(n: int = 400) -> pa.Table:
    r = np.random.default_rng(1)
    columns = {"age": r.integers(18, 90, n), "sex": r.choice(["f", "m"], n), "postcode": r.integers(100, 140, n)}
    columns |= {f"question {chr(97 + i)}": r.integers(0, 2 + i, n) for i in range(20)}
    return pa.table(columns)


def test_wide_tables_keep_ten_quasi_identifiers_and_drop_the_rest() -> None:
    found = profile(wide())
    quasi, dropped = found.named(Role.QUASI), found.named(Role.DROP)
    assert len(quasi) == MANY
    assert len(dropped) == 13
    assert {"age", "sex", "postcode"} <= set(quasi)  # topics that others know
    assert "question t" in quasi  # adds most
    assert "question a" in dropped  # adds least
    reason = next(c.role_reason for c in found.columns if c.name == "question a")
    assert reason == "others might know this, but only 10 such columns are kept"


def test_ten_quasi_identifiers_all_stay() -> None:
    narrow = wide().select(wide().column_names[:MANY])
    assert len(profile(narrow).named(Role.QUASI)) == MANY


def test_a_survey_weight_is_dropped_and_a_body_weight_is_not() -> None:
    found = profile(pa.table({"instance_weight": [1.5, 2.5, 2.5], "weight": [70, 80, 80], "psu": [1, 2, 2]}))
    assert [c.role for c in found.columns] == [Role.DROP, Role.QUASI, Role.DROP]
    for name in ("hhweight", "pspwght", "anweight", "hid", "HH_ID"):  # of the World Bank and the European Social Survey
        assert suggest_role(ColumnFacts(name, Kind.NUMERIC, 900, 30, 2, 0))[0] is Role.DROP, name
    assert suggest_role(ColumnFacts("bodyweight", Kind.NUMERIC, 900, 30, 2, 0))[0] is Role.QUASI


def test_a_telephone_column_of_yes_and_no_is_no_identifier() -> None:
    assert suggest_role(ColumnFacts("telephone", Kind.NOMINAL, 1000, 2, 0, 0))[0] is Role.QUASI
    assert suggest_role(ColumnFacts("telephone", Kind.NOMINAL, 1000, 800, 700, 0))[0] is Role.IDENTIFIER
