"""A starter policy for a table: every suggestion comes with its reason, for a person to decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from hushtable.errors import DataError, counted
from hushtable.io.versions import FORMATS
from hushtable.policy.text import in_a_comment, write_yaml
from hushtable.release.forms.base import DEFAULT_FORM
from hushtable.schema.columns import Kind, Role
from hushtable.schema.formats import MIXED_DATES
from hushtable.schema.profile import ColumnProfile, Profile, suggest_missing

_MANY = 50
_K = 5
_L = 3
_SPARE = 2  # a class need not hold nearly all values
_PREVAILS = 0.6
_FEW = 12
_RARE = 0.005
_BETA = 4


def starter_policy(profile: Profile, filename: str) -> str:
    r"""Return a commented starter policy as YAML text.

    Parameters
    ----------
    profile : Profile
    filename : str
        The table's file, for the heading.

    Raises
    ------
    DataError
        If the table has no columns.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from hushtable.schema.profile import profile
    >>> table = pa.table({"age": [31, 42, 31, 42, 31], "disease": ["flu", "cold", "cough", "angina", "gout"]})
    >>> text = starter_policy(profile(table), "people.csv")
    >>> print("\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#") and line))
    format: 2
    columns:
      age: {role: quasi, kind: numeric, hierarchy: {standard: ages}}
      disease: {role: sensitive, kind: nominal}
    models:
    - k-anonymity: {k: 5}
    - distinct-l: {l: 3}
    algorithm:
      mondrian: {}
    suppression: 0.0
    missing: own_category
    cells: regions
    seed: 0
    """
    if not profile.columns:
        raise DataError("The table has no columns.", code="empty", hint="Check the file and its delimiter.")
    profile = with_quasi(profile)
    return "\n".join([*_heading(profile, filename), *_columns(profile), "", *_settings(profile), ""])


def with_quasi(profile: Profile) -> Profile:
    """Return the profile with a quasi-identifier, which a policy needs; by default, the most likely column."""
    if profile.named(Role.QUASI):
        return profile
    usable = [c for c in profile.columns if not c.problem] or list(profile.columns)
    preference = (Role.DROP, Role.INSENSITIVE, Role.IDENTIFIER, Role.SENSITIVE)
    chosen = min(usable, key=lambda c: preference.index(c.role))
    reason = f"no column looks like a quasi-identifier, and a policy needs one; as {chosen.role}: {chosen.role_reason}"
    columns = tuple(replace(c, role=Role.QUASI, role_reason=reason) if c is chosen else c for c in profile.columns)
    return replace(profile, columns=columns)


def _heading(profile: Profile, filename: str) -> Iterator[str]:
    counts = f"{counted(profile.rows, 'row', 'rows')}, {counted(len(profile.columns), 'column', 'columns')}"
    yield f"# A starter policy for {in_a_comment(filename)}: {counts}."
    yield "# Every role below is a suggestion. Read the reasons, ask who could know what, and correct the roles."
    yield "#   identifier   names a person; never published"
    yield "#   quasi        may be known from outside; generalized"
    yield "#   sensitive    must not become known about a person; published, protected by the models"
    yield "#   insensitive  published unchanged"
    yield "#   weight       number of people that a record represents; not published, for risks"
    yield "#   cluster      the household; not published, for risks"
    yield "#   drop         not published"
    if profile.like_values:
        yield f"# The first line of the file may be a record: {', '.join(map(in_a_comment, profile.like_values))}"
        yield "# could be values. Names of columns are published, so add a header line before it."
    if profile.duplicates:
        yield f"# {counted(profile.duplicates, 'row repeats', 'rows repeat')} an earlier row."
    sizes = sorted({len(s.columns) for s in profile.subsets})
    for size in sizes:
        # within a size the most revealing one stands first
        worst = next(s for s in profile.subsets if len(s.columns) == size)
        names = " + ".join(in_a_comment(name) for name in worst.columns)
        sample = "" if profile.subset_rows == profile.rows else f" (of {profile.subset_rows:,} evenly spaced ones)"
        yield f"# {worst.unique_share:.1%} of the records{sample} are unique on {names}."


def _columns(profile: Profile) -> Iterator[str]:
    yield f"format: {FORMATS['policy']}"
    yield "columns:"
    listed = suggest_missing(profile)
    for column in profile.columns:
        yield ""
        yield from column_lines(column, listed)


def column_lines(column: ColumnProfile, listed: Sequence[str], *, protected: bool = True) -> Iterator[str]:
    """Yield the lines of one column: why it gets its role, then its settings.

    Parameters
    ----------
    column : ColumnProfile
    listed : sequence of str
        Texts that the policy lists as missing values already.
    protected : bool
        Whether the policy has models of sensitive columns, which are explained then.
    """
    for comment in _comments(column, listed):
        yield f"  # {in_a_comment(comment)}"
    if column.role is Role.SENSITIVE and protected:
        yield from (f"  # {in_a_comment(comment)}" for comment in _protection(column))
    text = write_yaml({"columns": {column.name: _options(column)}})
    yield from text.rstrip("\n").split("\n")[1:]


def _comments(column: ColumnProfile, listed: Sequence[str]) -> Iterator[str]:
    counts = f"{column.distinct:,} distinct, {column.unique:,} unique, {column.missing:,} missing"
    yield f"{column.role}: {column.role_reason} ({counts})"
    if column.problem:
        yield f"problem: {column.problem}"
    elif column.kind_reason and (column.role.published or column.kind_reason == MIXED_DATES):
        yield f"{column.kind}: {column.kind_reason}"
    if column.hierarchy_reason and column.role is Role.QUASI:
        yield f"hierarchy: {column.hierarchy_reason}"
    elif column.hierarchy_reason and column.role is Role.SENSITIVE and column.kind is Kind.NOMINAL:
        named = write_yaml({"columns": {column.name: {"hierarchy": column.hierarchy}}}).partition(": ")[2].strip()
        yield f"{column.hierarchy_reason}; with {named} t-closeness compares their groups"
    for token in column.tokens:
        if token.text not in listed:
            rows = counted(token.rows, "row", "rows")
            yield f"{token.text!r} ({rows}) may represent a missing value: if so, list it in missing_values"
    if column.times and column.role.published:
        yield "it contains times of day: as a quasi-identifier, it is published as a date at most"


def _options(column: ColumnProfile) -> dict[str, Any]:
    options: dict[str, Any] = {"role": str(column.role)}
    if column.role not in (Role.QUASI, Role.SENSITIVE):
        return options
    # what cannot be read as numbers or dates can still be used as text
    options["kind"] = str(Kind.NOMINAL if column.kind in (None, Kind.ORDINAL) else column.kind)
    if len(column.formats) == 1:
        options["format"] = str(column.formats[0])
    if column.role is Role.QUASI:
        options["hierarchy"] = column.hierarchy
    return options


def _settings(profile: Profile) -> Iterator[str]:
    yield "# All of these must hold. 'hushtable models' lists all models."
    yield from _setting("models", [{"k-anonymity": {"k": _K}}, *_diversity(profile)])
    yield from _setting("algorithm", {"mondrian": {}})
    yield "# Share of people that may be suppressed, from 0 to 1."
    yield from _setting("suppression", 0.0)
    yield "# Meaning of an empty quasi-identifier cell: own_category, wildcard or error."
    yield from _setting("missing", "own_category")
    tokens = suggest_missing(profile)
    if tokens:
        yield "# These texts look like missing values. Remove those that are values."
        yield from _setting("missing_values", list(tokens))
    if profile.entity:
        found = next(c for c in profile.columns if c.name == profile.entity)
        yield f"# Each row's person: {found.distinct:,} values in {profile.rows:,} rows, so people have several rows."
        yield "# People are counted instead of rows. Remove this if every row is a different person."
        yield from _setting("entity", profile.entity)
    yield "# How generalized values are published: regions, intervals, sets, nodes, counts or midpoint."
    yield from _setting("cells", DEFAULT_FORM)
    yield from _setting("seed", 0)


def _diversity(profile: Profile) -> list[dict[str, Any]]:
    sensitive = [c for c in profile.columns if c.role is Role.SENSITIVE]
    chosen = {c.name: model for c in sensitive if (model := _model(c))}
    alike = list(chosen.values())
    if alike and len(chosen) == len(sensitive) and all(model == alike[0] for model in alike):
        return [alike[0]]
    return [{name: {**values, "on": column}} for column, model in chosen.items() for name, values in model.items()]


def _model(column: ColumnProfile) -> dict[str, Any]:
    """Return a model that protects a sensitive column at an acceptable cost, or none if there is no such model.

    Classes that must contain nearly all values of a column, or each a rare one, are so large that they are useless. If
    one value dominates, the rare ones need protection: their share in a class is bounded by a multiple of
    their share in the table.
    """
    if column.distinct > 1 and column.most <= _PREVAILS:
        return {"distinct-l": {"l": _L if column.distinct >= _L + _SPARE else 2}}
    if 1 < column.distinct <= _FEW and column.least >= _RARE:
        return {"beta-likeness": {"beta": _BETA}}
    return {}


def _protection(column: ColumnProfile) -> Iterator[str]:
    """Yield remarks about the model of a sensitive column, or about its absence."""
    if "beta-likeness" in _model(column):
        yield f"beta-likeness: no value is more than {_BETA + 1} times as frequent in a class as in the whole table"
    if column.distinct > 1 and not _model(column):
        yield f"no model protects it: {column.most:.0%} of its values are the same, and the others are rare"
        yield "value-bounds would bound the belief in a rare value; or group its values, or drop the column"
    if column.kind is Kind.NOMINAL and column.distinct <= _MANY:
        yield "categories: {secret: [...], open: [...]} would mark the most sensitive values"


def _setting(name: str, value: Any) -> list[str]:
    return write_yaml({name: value}).rstrip("\n").split("\n")
