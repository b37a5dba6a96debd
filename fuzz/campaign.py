"""Random tables, policies and algorithms, each release judged by the verifier and by a checker that shares no code.

    python -m fuzz.campaign [--cases 100000] [--first 0] [--seconds 600] [--jobs 2] [--json]

Prints how the cases ended, and every finding with the number that repeats it (``--first N --cases 1``). Exits 1
where there is one.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
import traceback
import warnings
from collections import Counter
from typing import Any

from fuzz.cases import random_case
from fuzz.plain import complaints

BATCH = 50


def run_case(seed: int) -> tuple[str, str]:
    """Anonymize one case; how it ended, and what is wrong with it."""
    import pyarrow as pa

    import hushtable as ht
    from hushtable.errors import HushtableError, Infeasible, NotFound

    rows, policy = random_case(seed)
    table = pa.Table.from_pylist(rows, schema=_schema(rows))
    try:
        built = ht.Policy(**policy)
        release = ht.anonymize(table, built)
    except Infeasible:
        return "infeasible", ""
    except NotFound:
        return "not found", ""
    except HushtableError as error:
        return f"refused: {type(error).__name__}", "" if _expected(error) else _where()
    except Exception:
        return "crashed", _where()
    apart = len(release.table.column_names) > len(table.column_names) - 1
    shown = [n for n, c in policy["columns"].items() if c["role"] == "quasi"]
    if apart:
        shown = [release.table.column_names[-1]]
    found = complaints(release.table.to_pylist(), rows, policy, shown)
    if not release.verify().ok:
        found.append("the verifier disagrees with itself")
    return "released", "; ".join(found)


def _schema(rows: list[dict[str, Any]]) -> Any:
    import pyarrow as pa

    kinds = {"age": pa.int64(), "income": pa.float64(), "born": pa.date32(), "cost": pa.int64()}
    return pa.schema([(name, kinds.get(name, pa.string())) for name in rows[0]])


def _expected(error: Exception) -> bool:
    from hushtable.errors import UsageError, VerificationError

    return isinstance(error, UsageError) and not isinstance(error, VerificationError)


def _where() -> str:
    return traceback.format_exc(limit=-3).replace("\n", " | ")


def run_batch(first: int, count: int) -> tuple[Counter[str], list[tuple[int, str]]]:
    """Run consecutive cases in a worker."""
    warnings.simplefilter("ignore")
    ends: Counter[str] = Counter()
    findings = []
    for seed in range(first, first + count):
        end, wrong = run_case(seed)
        ends[end] += 1
        if wrong:
            findings.append((seed, wrong))
    return ends, findings


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    start = time.monotonic()
    ends: Counter[str] = Counter()
    findings: list[tuple[int, str]] = []
    starts = list(range(options.first, options.first + options.cases, BATCH))
    last = options.first + options.cases
    batches = ((first, min(BATCH, last - first)) for first in starts)
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        for some, wrong in pool.imap(_run, batches):
            ends += some
            findings += wrong
            for seed, what in wrong:
                print(f"case {seed}: {what}", file=sys.stderr, flush=True)
            if time.monotonic() - start > options.seconds:
                pool.terminate()
                break
    done = sum(ends.values())
    if options.json:
        print(json.dumps({"cases": done, "ends": ends, "findings": findings}))
    else:
        print(f"{done:,} cases in {time.monotonic() - start:.0f} s, {len(findings)} findings")
        for end, count in ends.most_common():
            print(f"  {end:<30} {count:,}")
    return 1 if findings else 0


def _run(batch: tuple[int, int]) -> tuple[Counter[str], list[tuple[int, str]]]:
    return run_batch(*batch)


if __name__ == "__main__":
    sys.exit(main())
