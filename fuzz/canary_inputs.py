"""The inputs of the search for canaries: sound ones, and one that is wrong for each kind of reason."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from fuzz.canaries import POLICY, ROWS, Search, table, towns
from fuzz.workbench import Bench

__all__ = ["prepare", "tampered"]


def _bad_files(folder: Path) -> None:
    """Inputs that are wrong, each in one way, in a row that is full of words."""
    import openpyxl
    import pyarrow as pa
    import pyarrow.parquet as pq

    from hushtable.io.files import write_table

    folder.mkdir()
    whole = table()
    text = (folder.parent / "people.csv").read_text()
    lines = text.splitlines(keepends=True)
    for name, changed in {
        "ragged.csv": [*lines[:9], lines[9].replace("\n", ",zqname0001\n"), *lines[10:]],
        "quote.csv": [*lines[:9], lines[9].replace("zqtown", '"zqtown', 1), *lines[10:]],
        "columns.csv": [line.partition(",")[2] for line in lines],
        "age.csv": [*lines[:9], re.sub(r",\d\d,", ",zqname0042,", lines[9], count=1), *lines[10:]],
        "day.csv": [*lines[:9], lines[9].replace("2020-", "zqname0042-"), *lines[10:]],
        "town.csv": [*lines[:9], lines[9].replace("zqtown0008", "zqtown9999"), *lines[10:]],
        "twice.csv": [lines[0].replace("note", "name"), *lines[1:]],
        "empty.csv": lines[:1],
    }.items():
        (folder / name).write_text("".join(changed))
    (folder / "latin.csv").write_bytes(text.replace("zqnote0030", "zqnote0030 \xe9").encode("latin-1"))
    (folder / "nul.csv").write_bytes(text.encode().replace(b"zqnote0030", b"zqnote\x00030"))
    write_table(whole, folder / "whole.parquet")
    (folder / "half.parquet").write_bytes((folder / "whole.parquet").read_bytes()[:-200])
    write_table(whole, folder / "whole.csv.gz")
    (folder / "half.csv.gz").write_bytes((folder / "whole.csv.gz").read_bytes()[:-200])
    nested = whole.set_column(2, "age", pa.array([[f"zqname{i:04d}"] for i in range(ROWS)]))
    pq.write_table(nested, folder / "types.parquet")
    book = openpyxl.Workbook()
    book.active.append(whole.column_names)
    for row in whole.slice(0, 20).to_pylist():
        book.active.append(list(row.values()))
    book.active["C5"] = "zqname0042"
    book.save(folder / "mixed.xlsx")
    (folder / "ledger").write_bytes(b"hushtable ledger 1\nzqname0001\n")
    (folder / "ledger.key").write_text("{}")
    (folder / "ledger.key").chmod(0o600)


def _bad_policies(bench: Bench) -> None:
    rows = towns().splitlines(keepends=True)
    bad = bench.work / "bad"
    for name, changed in {
        "ragged-towns": [*rows[:5], rows[5].replace("\n", ",zqtown0001\n"), *rows[6:]],
        "nested-towns": [*rows, "zqtown5000,area 1,zqtown0007\n"],
        "double-towns": [*rows, "zqtown0003,area 1,*\n"],
    }.items():
        (bad / f"{name}.csv").write_text("".join(changed))
        _write(bad / f"{name}.yaml", {"town": {"hierarchy": f"{name}.csv"}})
    cells = sorted(table()["town"].to_pylist())
    _write(bad / "order.yaml", {"town": {"kind": "ordinal", "order": [*cells[:9], "zqtown0003"]}})
    _write(
        bad / "categories.yaml", {"ill": {"categories": {"bad": ["zqill0001", "zqill0002"], "worse": ["zqill0002"]}}}
    )
    _write(bad / "tree.yaml", {"town": {"hierarchy": {"tree": {"a": cells[:9], "b": cells[3:], "zqtown0001": None}}}})
    (bad / "yaml.yaml").write_text("columns: {town: {categories: [zqtown0001: zqtown0002, 'zqtown0003'}}")
    _write(bad / "missing.yaml", {}, missing="error", missing_values=["zqtown0007"])


def _write(path: Path, columns: dict[str, Any], **settings: Any) -> None:
    from hushtable.policy.text import write_yaml

    document = {**POLICY, **settings}
    document["columns"] = {name: {**column, **columns.get(name, {})} for name, column in POLICY["columns"].items()}
    path.write_text(write_yaml(document))


def prepare(bench: Bench) -> Search:
    """Write every input and return the search, which knows them."""
    from hushtable.io.files import write_table

    work = bench.work
    for name, found in (("people", table()), ("others", table(first=ROWS))):
        for ending in ("csv", "parquet"):
            write_table(found, work / f"{name}.{ending}")
    for address in ("sqlite:///{}/in.db?table=people", "duckdb:///{}/in.duckdb?table=people"):
        write_table(table(), address.format(work))
    (work / "towns.csv").write_text(towns())
    (work / "tampered").mkdir()
    _write(work / "policy.yaml", {})
    _write(work / "anatomy.yaml", {}, algorithm={"anatomy": {}}, models=[{"distinct-l": {"l": 3, "on": "ill"}}])
    _write(work / "optimal.yaml", {}, algorithm={"optimal": {}})
    _write(work / "guarded.yaml", {}, guard=["downcoding"])
    _write(work / "infeasible.yaml", {}, models=[{"k-anonymity": {"k": 2}}, {"p-sensitive": {"p": 50, "on": "ill"}}])
    _bad_files(work / "bad")
    _bad_policies(bench)
    search = Search((bench.folder,))
    search.inputs |= set(bench.folder.rglob("*"))
    return search


def tampered(bench: Bench) -> set[Path]:
    """Write a published table that somebody changed; return its files."""
    release, place = bench.work / "release", bench.work / "tampered"
    lines = (release / "release.csv").read_text().splitlines(keepends=True)
    (place / "release.csv").write_text("".join([*lines[:-1], lines[-1].replace("area", "zqtown0001 area")]))
    shutil.copy(release / "release.json", place / "release.json")
    return set(place.iterdir())
