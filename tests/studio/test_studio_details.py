"""What a page shows of a release beside its cells."""

from __future__ import annotations

import pyarrow as pa
from pyarrow import parquet

import hushtable as ht
from hushtable.ledger.ledger import Ledger
from hushtable.studio.work.running import keep_details
from support_core import first_of


def people(rows):
    names, ages, values = zip(*rows, strict=True)
    return pa.table({"name": names, "age": ages, "disease": values})


def test_counterfeits_have_the_boxes_of_their_own_class(tmp_path):
    ledger = Ledger(tmp_path / "releases.ledger")
    rules = ht.Policy(
        identifiers=["name"], quasi=["age"], sensitive=["disease"], models=[ht.MInvariance(m=2)],
        algorithm="m-invariant", ledger=ledger.path, cells="intervals",
    )  # fmt: skip
    first = [(f"p{i}", 20 + 5 * i, ("flu", "gout")[i % 2]) for i in range(12)]
    ledger.add(ht.anonymize(people(first), first_of(rules)))
    # of half of the classes only one is left, so that the other has to be invented
    release = ht.anonymize(people([row for i, row in enumerate(first) if i > 5 or i % 2]), rules)
    assert (release.source_rows < 0).any()
    facts = keep_details(release, tmp_path)
    # three pairs, and three people beside a counterfeit each
    assert facts["size_counts"] == [[1, 3], [2, 3]]
    classes = parquet.read_table(tmp_path / "classes.parquet").to_pydict()
    view = parquet.read_table(tmp_path / "view.parquet").to_pydict()
    ages = release.encoded.quasi[0].coded.values.to_pylist()
    for start, rows, low, high in zip(*(classes[n] for n in ("first", "rows", "lo0", "hi0")), strict=True):
        shown = set(view["p0"][start : start + rows])
        assert shown == {f"[{ages[low]}, {ages[high]}]" if low < high else str(ages[low])}
        assert len({view["s0"][at] for at in range(start, start + rows)}) == 1


def test_fractions_on_an_axis_are_rounded(tmp_path):
    weights = [40 + 9.98486166 * (i % 5) for i in range(20)]
    near = [100 + (i % 5) / 10_000_000 for i in range(20)]
    table = pa.table({
        "kg": weights, "near": near, "euro": [100_000.3 * (i % 5) for i in range(20)],
        "code": [f"250.{i % 5}00001" for i in range(20)], "year": [2001 + i % 5 for i in range(20)],
    })  # fmt: skip
    rules = ht.Policy(quasi={**{name: {} for name in ("kg", "near", "euro", "year")}, "code": {"kind": "nominal"}},
                      models=[ht.KAnonymity(k=2)])  # fmt: skip
    facts = keep_details(ht.anonymize(table, rules), tmp_path)
    shown = {name: [label for _, label in marks] for name, marks in zip(facts["quasi"], facts["marks"], strict=True)}
    assert shown == {
        "kg": ["40", "49.98", "59.97", "69.95", "79.94"],
        "near": ["100", "100.0000001", "100.0000002", "100.0000003", "100.0000004"],
        "euro": ["0", "100000", "200001", "300001", "400001"],
        "code": [f"250.{i}00001" for i in range(5)],
        "year": ["2001", "2002", "2003", "2004", "2005"],
    }
