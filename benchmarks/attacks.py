"""All attacks on Adult together, and all risk measures on a large table.

    python benchmarks/attacks.py [--rows 1000000] [--large 10000000] [--wide 200000x42] [--json]

Attacks: the 30,162-record Adult, occupation sensitive, Mondrian, under two policies (k-anonymity with hierarchy nodes,
so that every attack applies; k, entropy-l and t-closeness with ranges and sets, where models are dearest to replay).
Budget: 60 s together. Risks: every measure, before and after, on an Adult-like table; budget 5 s. Beside them the time
of the plain group-bys in pandas (as in pyCANON) that give the class sizes of both tables and nothing else, in the same
process: how many times as long all risk measures take. With ``--large``, instead: all attacks that apply to a release
of an Adult-like table of so many rows, k = 5, by the samples that each attack states; budget 60 s by the clock, and a
tenth of the CPU time in the system. With ``--wide``, the same for a generated table of so many rows and columns, all of
them quasi-identifiers but the sensitive ones; budget 30 s of CPU. Making the release is not included.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from typing import Any

ATTACKS_BUDGET, RISKS_BUDGET = 60.0, 5.0
LARGE_BUDGET, SYSTEM_BUDGET = 60.0, 0.1
WIDE_BUDGET = 30.0


def attack_seconds() -> dict[str, dict[str, float]]:
    """Policy -> attack -> seconds."""
    import hushtable as ht
    from hushtable import registry
    from hushtable.datasets import load_adult
    from hushtable.errors import UsageError

    adult = load_adult("30162")
    quasi = [name for name in adult.column_names if name != "occupation"]
    values = sorted(adult.column("occupation").unique().to_pylist())
    column = {"occupation": {"categories": {"first": values[:7], "second": values[7:]}}}
    several = [ht.KAnonymity(k=5), ht.EntropyL(l=2), ht.TCloseness(t=0.4)]
    policies = {
        "k-anonymity, nodes": ht.Policy(quasi=quasi, sensitive=column, models=several[:1], cells="nodes"),
        "k + entropy-l + t-closeness": ht.Policy(quasi=quasi, sensitive=column, models=several),
    }
    found: dict[str, dict[str, float]] = {}
    for title, policy in policies.items():
        release = ht.anonymize(adult, policy)
        more: dict[str, Any] = {"composition": {"others": release}, "membership": {"control": adult.slice(0, 2000)}}
        found[title] = {}
        for name in registry.attacks:
            start = time.perf_counter()
            try:
                release.attack(name, **more.get(name, {}))
            except UsageError:
                continue  # does not apply to this kind of cells
            found[title][name] = time.perf_counter() - start
    return found


def risk_seconds(rows: int) -> dict[str, Any]:
    """Seconds of every risk measure, of all together, and of the group-bys in pandas."""
    import hushtable as ht
    from hushtable import registry
    from hushtable.datasets.adult_like import adult_like
    from hushtable.errors import UsageError

    table = adult_like(rows)
    quasi = [name for name in table.column_names if name != "occupation"]
    release = ht.anonymize(table, ht.Policy(quasi=quasi, sensitive=["occupation"], models=[ht.KAnonymity(k=5)]))
    release.risk("prosecutor")  # kernels are compiled or loaded once
    start = time.perf_counter()
    release.risk()
    total = time.perf_counter() - start
    single = {}
    for name in registry.risks:
        begin = time.perf_counter()
        try:
            release.risk(name)
        except UsageError:
            continue  # it needs columns that the table does not have
        single[name] = time.perf_counter() - begin
    raw, shown = (t.select(quasi).to_pandas() for t in (table, release.table))
    start = time.perf_counter()
    for frame in (raw, shown):
        frame.groupby(quasi, observed=True, dropna=False, sort=False).size().rdiv(1.0).max()
    pandas = time.perf_counter() - start
    return {"rows": rows, "seconds": total, "single": single, "pandas": pandas, "ratio": total / pandas}


def large_release(rows: int) -> Any:
    """Return a release of an Adult-like table."""
    import hushtable as ht
    from hushtable.datasets.adult_like import adult_like

    table = adult_like(rows)
    quasi = [name for name in table.column_names if name != "occupation"]
    return ht.anonymize(table, ht.Policy(quasi=quasi, sensitive=["occupation"], models=[ht.KAnonymity(k=5)]))


def wide_release(rows: int, columns: int) -> Any:
    """Return a release of a table with many quasi-identifiers."""
    import hushtable as ht
    from studio import table as generated
    from verdict import all_quasi

    table = generated(rows, columns)
    return ht.anonymize(table, all_quasi(ht.draft_policy(table)))


def played(release: Any) -> dict[str, Any]:
    """Seconds of all attacks on a release, by the clock and of the CPU, and the system's share of those."""
    from hushtable import registry
    from hushtable.cli.attack import keep_freed_memory
    from hushtable.errors import UsageError

    keep_freed_memory()  # as the command does
    before, start, refused = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter(), []
    for name in registry.attacks:
        try:
            release.attack(name)
        except UsageError:
            refused.append(name)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
    user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
    return {
        "rows": release.records, "seconds": seconds, "user": user, "system": system, "cpu": user + system,
        "system_share": system / (user + system), "not_run": refused,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=float, default=1_000_000)
    parser.add_argument("--large", type=float)
    parser.add_argument("--wide", metavar="ROWSxCOLUMNS")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.large or options.wide:
        wide = options.wide and wide_release(*map(int, options.wide.split("x")))
        found = played(wide or large_release(int(options.large)))
        if options.json:
            print(json.dumps(found))
            return
        share = found["cpu"] / WIDE_BUDGET if wide else found["seconds"] / LARGE_BUDGET
        print(f"Attacks on {found['rows']:,} rows: {found['seconds']:.1f} s, user {found['user']:.1f} s, system "
              f"{found['system']:.1f} s ({found['system_share']:.0%}, budget {SYSTEM_BUDGET:.0%}); {share:.2f} of the "
              f"budget. Not run: {', '.join(found['not_run']) or 'none'}.")  # fmt: skip
        return
    attacks, risks = attack_seconds(), risk_seconds(int(options.rows))
    if options.json:
        print(json.dumps({"attacks": attacks, "risks": risks}))
        return
    for title, seconds in attacks.items():
        print(f"Attacks on Adult, {title}:")
        for name, taken in sorted(seconds.items(), key=lambda item: -item[1]):
            print(f"  {name:26} {taken:8.2f} s")
        print(f"  {'total':26} {sum(seconds.values()):8.2f} s (budget {ATTACKS_BUDGET:.0f} s)")
    print(f"Risks before and after, {risks['rows']:,} rows:")
    for name, taken in sorted(risks["single"].items(), key=lambda item: -item[1]):
        print(f"  {name:26} {taken:8.2f} s alone")
    print(f"  {'all together':26} {risks['seconds']:8.2f} s (budget {RISKS_BUDGET:.0f} s)")
    print(f"  {'class sizes in pandas':26} {risks['pandas']:8.2f} s: all risks take {risks['ratio']:.2f} times as long")


if __name__ == "__main__":
    main()
