"""The files written with a published table: its policy and ``release.json`` for everybody, and the private companion.

Every byte of ``release.json`` is a function of the published rows and the policy, except for the number of suppressed
records. Everything else that later verification needs (counts of the whole table, of people, of counterfeits), and
measures taken with the original, are in the companion.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hushtable._version import __version__, code_digest
from hushtable.arrays import FloatArray, IntArray
from hushtable.errors import HushtableError
from hushtable.io.atomic import atomic_write_text
from hushtable.io.versions import FORMATS
from hushtable.models.base import PrivacyModel, Stat
from hushtable.release.companion import release_mark, write_companion
from hushtable.release.recode import forms_shown
from hushtable.release.released import Released
from hushtable.release.written import for_spreadsheets
from hushtable.table.reference import Attribute
from hushtable.table.stats import Key

PRICE = "Subtracting the published counts from those of the whole table reveals suppressed records."
"""What publishing the reference reveals."""

_DECLARED = ("increment",)
"""Notes that do not depend on the records."""


def summary_of(release: Released, measured: Mapping[str, float]) -> dict[str, Any]:
    """Return a summary as data: sizes, what every model achieved, what it cost. No value of a record."""
    return {
        "hushtable": __version__,
        "records": release.records,
        "released": release.n_released,
        "suppressed": release.n_suppressed,
        "columns": release.columns,
        "algorithm": release.policy.get("algorithm"),
        **release.verification.as_dict(),
        "measures": measured,
        "notes": dict(release.origin.notes),
    }


HOW_TO_READ = """\
# The policy of this release. How to read the cells of the published table:
#   [30, 40)       at least 30 and less than 40; [30, 40] includes 40
#   < 30, >= 80    less than 30; 80 or more
#   {a, b}         one of these values
#   {a: 3, b: 2}   among the rows with the same cells, 3 have a and 2 have b
#   142**          begins with 142
#   *              any value
# To check the release:                    hushtable verify FOLDER
# For a table with one value in each cell: hushtable sample FOLDER -o rows.csv
"""
"""What recipients need to know who have nothing but the folder."""


def write_documents(
    release: Released,
    public: Path,
    private: Path,
    name: str,
    measured: Mapping[str, float],
    shown: Callable[[], IntArray],
) -> None:
    """Write ``policy.yaml`` and ``release.json`` into the folder of a release, and its companion into the other.

    Parameters
    ----------
    release : Released
    public, private : path
        The folders, with everything else in them.
    name : str
        The published file.
    measured : mapping of str to float
        Measures over the original.
    shown : callable
        Returns the verifier's classes in the order of the published file.
    """
    import yaml

    # a release that fails is never written, whatever its source
    release.verification.raise_if_violated()
    policy = yaml.safe_dump({"format": FORMATS["policy"], **release.policy}, sort_keys=False, allow_unicode=True)
    atomic_write_text(public / "policy.yaml", HOW_TO_READ + policy)
    summary = {**summary_of(release, measured), "file": name, "release": release_mark(public)}
    facts = json.dumps(_jsonable(_public(release, summary)), indent=1, ensure_ascii=False) + "\n"
    atomic_write_text(public / "release.json", facts)
    made = release.origin.keep(private, lambda: release.table, release.plan)
    kept = _jsonable({**summary, "code_sha256": code_digest(), **_private(release, shown), "made": made})
    coins = release.origin.problem.used_coins
    write_companion(private, public, kept, coins=None if coins is None else coins.key.hex())


def _public(release: Released, summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the contents of ``release.json``: nothing beyond the published rows and the policy."""
    facts: dict[str, Any] = {"format": FORMATS["release"]}
    facts |= {key: summary[key] for key in ("hushtable", "columns", "algorithm", "satisfied", "rows", "classes")}
    facts |= {key: summary[key] for key in ("file", "release")}
    facts["guarded"] = for_spreadsheets(release.policy)
    if release.plan.algorithm.samples:
        # the number of records would reveal whether a person is among them
        facts["sampled"] = True
    elif release.may_have_counterfeits:
        facts["rows_may_be_counterfeits"] = True
    else:
        facts |= {key: summary[key] for key in ("records", "released", "suppressed")}
    facts["models"] = [
        found if _recomputable(release, member, summary) else _without_numbers(found)
        for member, found in zip(release.model.members, summary["models"], strict=True)
    ]
    if release.plan.account is not None:
        # how many people are in earlier releases does not follow from the rows
        facts["ledger"] = {k: n for k, n in release.plan.account.result().items() if k == "held_against"}
    facts["notes"] = {key: value for key, value in summary["notes"].items() if key in _DECLARED}
    if any(form.counts_records for form in forms_shown(release.plan.table, release.plan.algorithm.recoding)):
        facts["rows_can_be_drawn"] = True
    if "reference" in release.policy.get("publish", ()):
        facts["whole_table"] = _whole_table(release)
    return facts


def _without_numbers(found: Mapping[str, Any]) -> dict[str, Any]:
    return {**{key: value for key, value in found.items() if key != "quantities"}, "achieved": None}


def _recomputable(release: Released, member: PrivacyModel, summary: Mapping[str, Any]) -> bool:
    """Whether the published rows alone show what a model achieved; if not, a number would reveal more."""
    rows_are_people = not release.policy.get("entity") and release.origin.table.unit == 1
    if release.may_have_counterfeits or not rows_are_people:
        return False
    if member.stats_needed() & {Stat.POPULATION, Stat.BACKGROUND}:
        return False
    return not summary["suppressed"] or not _compares(release, member)


def _compares(release: Released, member: PrivacyModel) -> bool:
    """Whether a model uses the whole table: without its counts and hierarchies, its result differs or it raises."""
    stats = release.verification.stats
    stats = stats.take(stats.units > 0)
    unknown = {
        key: replace(a, units=np.zeros_like(a.units), whole=False, levels=(), level_labels=())
        for key, a in release.reference.attributes.items()
    }
    blind = replace(release.reference, attributes=unknown)

    def read(table: Any) -> list[FloatArray]:
        return [member.score(stats, table), *(q.values for q in member.quantities(stats, table))]

    try:
        both = zip(read(blind), read(release.reference), strict=True)
        return not all(np.array_equal(one, other, equal_nan=True) for one, other in both)
    except (HushtableError, LookupError, ValueError):
        return True


def _whole_table(release: Released) -> dict[str, Any]:
    """Return counts of published values in the whole table for models that compare with it; one total for others."""
    keys = {key for m in release.model.members if _compares(release, m) for key in m.histogram_keys()}
    return {
        "price": PRICE,
        "people": release.reference.units,
        "columns": [_published_counts(release, key) for key in sorted(keys)],
    }


def _published_counts(release: Released, key: Key) -> dict[str, Any]:
    attributes, units = release.reference.attributes, release.reference.attribute(key).units
    histogram = release.verification.stats.histogram(key)
    codes = np.unique(histogram.values[histogram.units > 0])
    single = [attributes[(name,)] for name in key]
    places = np.unravel_index(codes, [a.n_values for a in single])
    names = [[a.labels[code] for code in place.tolist()] for a, place in zip(single, places, strict=True)]
    counts = units[codes].tolist()
    values = [[*labels, count] for *labels, count in zip(*names, counts, strict=True)]
    return {"columns": list(key), "values": values, "withheld": int(units.sum()) - sum(counts)}


def _private(release: Released, shown: Callable[[], IntArray]) -> dict[str, Any]:
    """Return the reference of the models, and what counting people needs."""
    table, reference = release.origin.table, release.reference
    fakes = np.flatnonzero(release.source_rows < 0) if release.may_have_counterfeits else np.empty(0, np.int64)
    counts = forged = None
    if len(table.row_units) or len(table.population_rows) or len(fakes):
        stats = release.verification.stats
        classes = shown()
        counts = {
            "unit": table.unit,
            "units": stats.units[classes].tolist(),
            "population": None if stats.population is None else stats.population[classes].tolist(),
        }
    if len(fakes):
        count = np.bincount(release.verification.labels[fakes], minlength=len(release.verification.stats))
        forged = {"total": len(fakes), "classes": count[classes].tolist()}
    return {
        "kinds": {c.name: str(c.coded.kind) for c in table.sensitive},
        "reference": {
            "units": reference.units,
            "unit": reference.unit,
            "population": reference.population,
            "attributes": [_attribute(a) for a in reference.attributes.values() if len(a.key) == 1],
            "joint": [_joint(a) for a in reference.attributes.values() if len(a.key) > 1],
        },
        "class_counts": counts,
        "counterfeits": forged,
        "ledger": None if (account := release.plan.account) is None else account.summary(),
    }


def _attribute(attribute: Attribute) -> dict[str, Any]:
    """Return what ``Attribute.from_lists`` needs to know of a column."""
    parts = ("labels", "units", "ordered", "numbers", "categories", "n_categories", "levels", "level_labels")
    return {"column": attribute.name, **{part: getattr(attribute, part) for part in parts}}


def _joint(attribute: Attribute) -> dict[str, Any]:
    """Counts of the combinations that occur, by their numbers: names are in the columns' own entries."""
    codes = np.flatnonzero(attribute.units)
    return {"columns": list(attribute.key), "codes": codes.tolist(), "units": attribute.units[codes].tolist()}


def _jsonable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _jsonable(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_jsonable(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
