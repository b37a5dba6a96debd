"""The head of a CSV file: its encoding, its delimiter and its column names, and what is wrong with its lines.

Nothing here ever shows a data row: errors give line numbers and counts.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO

import pyarrow as pa

from hushtable.errors import DataError, counted
from hushtable.io.names import check_names, name_rows

DELIMITERS: dict[str, str] = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
"""The delimiters that are recognized, in order of preference, and their names."""

_SAMPLE = 1 << 18
_RECORDS = 50
_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UTF8_HINT = "Save it as UTF-8: in Excel as 'CSV UTF-8', or with: iconv -f LATIN1 -t UTF-8."


@dataclass(frozen=True)
class CsvHead:
    """The header and format of a CSV file, from its first lines.

    Attributes
    ----------
    names : tuple of str
        Column names.
    written : tuple of str
        The same as in the file, in which the first one may be empty.
    delimiter : str
    skip : int
        Empty lines before the header.
    rows : bool
        Whether anything follows the header.
    """

    names: tuple[str, ...]
    written: tuple[str, ...]
    delimiter: str
    skip: int
    rows: bool


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file for reading, decompressed if its name ends in .gz; a missing file or a folder is a DataError.

    Examples
    --------
    >>> open_bytes(Path("/nowhere.csv"))
    Traceback (most recent call last):
    hushtable.errors.DataError: There is no file '/nowhere.csv'. Check the path.
    """
    if path.is_dir():
        raise DataError(
            f"{str(path)!r} is a folder, not a file.", code="not-a-file", hint="Give the path of one table."
        )
    try:
        if path.suffix.lower() == ".gz":
            stream: IO[bytes] = pa.input_stream(os.fspath(path), compression="gzip")
            return stream
        return path.open("rb")
    except (FileNotFoundError, NotADirectoryError):
        problem, hint = f"There is no file {str(path)!r}.", "Check the path."
    except PermissionError:
        problem, hint = f"The file {str(path)!r} may not be read.", "Check its permissions."
    except OSError as error:
        problem, hint = f"The file {str(path)!r} cannot be opened ({os.strerror(error.errno or 5)}).", ""
    raise DataError(problem, code="no-file", hint=hint)


def read_head(path: Path, delimiter: str | None) -> CsvHead:
    """Read the column names and find the delimiter.

    Parameters
    ----------
    path : Path
    delimiter : str, optional
        Defaults to the one detected: comma, semicolon, tab or bar.

    Raises
    ------
    DataError
        If the file is empty, not UTF-8 text, separated by something else, or if its column names are not usable.
    """
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise DataError("The delimiter must be one character other than a quote or a line ending.", code="delimiter")
    text, complete = _sample(path)
    where = f"The file {str(path)!r}"
    if not text.strip("\r\n"):
        raise DataError(f"{where} is empty.", code="empty-file", hint="Check that the export ran to its end.")
    chosen = delimiter or _sniff(text, complete)
    records = _records(text, chosen, complete)
    body = text.lstrip("\r\n")
    blank = text[: len(text) - len(body)]
    written = records[0]
    if len(written) == 1:
        _check_delimiter(path, text, complete, chosen)
    if written[-1] == "" and len(written) > 1 and all(r[-1:] == [""] for r in records):
        raise DataError(
            f"{where} ends every line, also the header, with a delimiter, so its last column has no name.",
            code="column-name",
            hint="Remove the delimiter at the ends of the lines.",
        )
    skip = len(blank.replace("\r\n", "\n"))
    names = check_names(name_rows(written), where)
    return CsvHead(tuple(names), tuple(written), chosen, skip, not complete or len(records) > 1)


def _sample(path: Path) -> tuple[str, bool]:
    """The first characters of the file, and whether that is the whole file."""
    fault = ""
    raw = b""
    with open_bytes(path) as stream:
        try:
            raw = stream.read(_SAMPLE + 1)
        except (OSError, EOFError):
            fault = "damaged"
    complete = len(raw) <= _SAMPLE
    if fault:
        raise _damaged(path)
    if raw.startswith(_BOMS) or b"\0" in raw:
        raise _binary(path)
    text = ""
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(raw, final=complete)
    except UnicodeDecodeError:
        fault = "encoding"
    if fault:
        raise not_utf8(path)
    return text, complete


def _damaged(path: Path) -> DataError:
    return DataError(
        f"The compressed file {str(path)!r} is damaged or truncated.",
        code="damaged-file",
        hint="Copy or export it again.",
    )


def _binary(path: Path) -> DataError:
    return DataError(
        f"The file {str(path)!r} contains NUL bytes, so it is not UTF-8 text.",
        code="nul-bytes",
        hint="It may be UTF-16 (save it as UTF-8) or a binary file with the wrong ending.",
    )


def not_utf8(path: Path) -> DataError:
    """The error for a file in another encoding."""
    return DataError(f"The file {str(path)!r} is not UTF-8 text.", code="not-utf8", hint=_UTF8_HINT)


def _records(text: str, delimiter: str, complete: bool) -> list[list[str]]:
    """The first records; the last one, which may be truncated, is omitted unless it is the only one."""
    found: list[list[str]] = []
    problem = False
    try:
        for record in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            if record:
                found.append(record)
            if len(found) > _RECORDS:
                break
    except csv.Error:
        problem = True
    if problem and not found:
        raise DataError(
            "The header of the file is longer than 100,000 characters.",
            code="unclosed-quote",
            hint="Look for a quotation mark that is not closed.",
        )
    if len(found) > 1 and not complete and len(found) <= _RECORDS:
        found.pop()
    return found


def _sniff(text: str, complete: bool) -> str:
    best, best_score = ",", (0.0, 0)
    for delimiter in DELIMITERS:
        records = _records(text, delimiter, complete)
        fields = len(records[0])
        if fields < 2:
            continue
        agree = sum(len(r) == fields for r in records[1:]) / max(len(records) - 1, 1)
        # rows that agree with the header matter more than many columns; without rows, the header decides
        score = (agree if len(records) > 1 else 1.0, fields)
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _check_delimiter(path: Path, text: str, complete: bool, chosen: str) -> None:
    for other, word in DELIMITERS.items():
        if other != chosen and len(_records(text, other, complete)[0]) > 1:
            used = DELIMITERS.get(chosen, repr(chosen))
            raise DataError(
                f"The file {str(path)!r} has one column when split at the {used}, but its header contains a {word}.",
                code="wrong-delimiter",
                hint=f"Use delimiter={other!r}, or omit the delimiter to detect it.",
            )


def _lines(path: Path) -> Generator[str, None, None]:
    with (
        open_bytes(path) as stream,
        io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="") as lines,
    ):
        yield from lines


def ends_inside_quotes(path: Path, delimiter: str) -> bool:
    """Whether the file ends in a quoted field that was never closed, so that it contains everything after it.

    The number of quotation marks is counted first; only a file with an odd number is read line by line.
    """
    quotes = 0
    with open_bytes(path) as stream:
        while block := stream.read(1 << 20):
            quotes += block.count(b'"')
    if quotes % 2 == 0:
        return False
    last: list[str] = []

    try:
        with closing(_lines(path)) as lines:
            # outside quotes, this last line is a separate record; inside, its first quotation mark closes the field
            for record in csv.reader(chain(lines, ['"end"']), delimiter=delimiter):
                last = record
    except csv.Error:  # a field beyond the csv module's limit: far more than a cell
        return True
    return last != ["end"]


def diagnose(path: Path, head: CsvHead) -> DataError:
    """Return an error about the first line that does not match the header, without its content."""
    width = len(head.names)
    where = f"The file {str(path)!r}"
    start = 1
    try:
        with closing(_lines(path)) as lines:
            reader = csv.reader(lines, delimiter=head.delimiter)
            for record in reader:
                if record and len(record) != width:
                    return DataError(
                        f"Line {start} of {where[0].lower()}{where[1:]} has {counted(len(record), 'field', 'fields')}, "
                        f"but the header has {width}.",
                        code="ragged-rows",
                        hint="Quote fields that contain the delimiter, or remove the extra delimiter."
                        if len(record) > width
                        else "Add the missing fields, or quote fields that contain a line break.",
                    )
                start = reader.line_num + 1
    except csv.Error:
        return DataError(
            f"{where} has a field of more than 100,000 characters that begins on line {start}.",
            code="unclosed-quote",
            hint="Look for a quotation mark that is not closed.",
        )
    return DataError(f"{where} cannot be read as CSV.", code="csv", hint="Check its quotation marks.")
