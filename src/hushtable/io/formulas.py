"""Spreadsheet formulas in CSV files.

A spreadsheet that opens a CSV file runs cells that begin with ``=``, ``+``, ``-`` or ``@``; some programs strip white
space before them, break the line at a tab, a carriage return or a line feed, or treat the full-width signs of East
Asian keyboards in the same way. For files that spreadsheets read (``output: {reader: spreadsheet}``), a cell or column
name that begins with such a sign, after white space or not, or with a tab or a line ending, gets a leading apostrophe,
unless it is a plain number such as ``-5``. A cell that already has apostrophes before all that gets one more, so that
the escape can be undone exactly. Other programs would take the apostrophe for a part of the label.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from hushtable.io.dictionaries import counts, encode, value_type
from hushtable.io.text import is_text

PLAIN_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
"""What counts as a plain number: digits, one decimal point, an exponent; no separators, no percent sign."""

# all white space of Unicode, and the byte-order mark, which programs that join files may remove
_DANGEROUS = r"^'*([\t\r\n]|[\s\v\x{1C}-\x{1F}\x{85}\p{Z}\x{FEFF}]*[=+\-@\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}])"


def _escapes(text: pa.Array) -> pa.Array:
    dangerous = pc.match_substring_regex(text, _DANGEROUS)
    return pc.and_not(dangerous, pc.match_substring_regex(text, PLAIN_NUMBER))


def escape_formulas(text: pa.Array) -> pa.Array:
    """Put an apostrophe before every text that a spreadsheet would run.

    Examples
    --------
    >>> escape_formulas(pa.array(["=1+1", "-5", "-x", " =1", "'=1", "ok"])).to_pylist()
    ["'=1+1", '-5', "'-x", "' =1", "''=1", 'ok']
    """
    sign, nothing = (pa.scalar(one, text.type) for one in ("'", ""))
    return pc.if_else(_escapes(text), pc.binary_join_element_wise(sign, text, nothing), text)


def guard_table(table: pa.Table) -> pa.Table:
    """Return a table whose text and column names no spreadsheet runs.

    Examples
    --------
    >>> guard_table(pa.table({"=a": ["-x", None], "b": [-1, 2]})).to_pydict()
    {"'=a": ["'-x", None], 'b': [-1, 2]}
    """
    columns = []
    for column in table.columns:
        if is_text(value_type(column.type)):
            coded = encode(column)
            column = pa.chunked_array(
                [pa.DictionaryArray.from_arrays(coded.indices, escape_formulas(coded.dictionary))]
            )
        columns.append(column)
    return pa.table(columns, names=escape_formulas(pa.array(table.column_names, pa.string())).to_pylist())


def count_formulas(table: pa.Table) -> int:
    """Return the number of cells that a spreadsheet would run.

    Examples
    --------
    >>> count_formulas(pa.table({"a": ["-x", "=1", "-5", "ok"]}))
    2
    """
    found = 0
    for column in table.columns:
        if is_text(value_type(column.type)):
            coded = encode(column)
            found += int(counts(coded)[_escapes(coded.dictionary).to_numpy(zero_copy_only=False)].sum())
    return found


def unescape_formulas(text: pa.Array) -> pa.Array:
    """Undo ``escape_formulas``, exactly.

    Examples
    --------
    >>> unescape_formulas(pa.array(["'=1+1", "-5", "''=1", "'ok"])).to_pylist()
    ['=1+1', '-5', "'=1", "'ok"]
    """
    rest = pc.utf8_slice_codeunits(text, 1)
    escaped = pc.and_(pc.starts_with(text, "'"), _escapes(rest))
    return pc.if_else(escaped, rest, text)


def bare_formulas(text: pa.Array) -> pa.Array:
    """Which texts begin with a sign that ``escape_formulas`` would have put an apostrophe before.

    Examples
    --------
    >>> bare_formulas(pa.array(["'=1+1", "=1+1", "-5", "ok"])).to_pylist()
    [False, True, False, False]
    """
    return pc.and_not(_escapes(text), pc.starts_with(text, "'"))
