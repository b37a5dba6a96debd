"""Random histories of releases, judged by the ledger and by an adversary who writes down every world.

    python -m fuzz.ledger [--cases 10000] [--first 0] [--seconds 600] [--jobs 2]

Everybody's beliefs must be those of the enumeration (``fuzz.histories``), value by value, and so must be whom every
model breaks for. Prints how the cases ended, and every finding with the number that repeats it. Exits 1 where there
is one.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from fuzz.histories import Belief, Release, Values, beliefs, random_history
from fuzz.workers import run_all
from hushtable.ledger.describe import Described
from hushtable.ledger.entry import Entry
from hushtable.ledger.judge import judge, solve
from hushtable.ledger.kinds import History
from hushtable.ledger.promise import Promise
from hushtable.ledger.search import Limits
from hushtable.models.base import PrivacyModel
from hushtable.models.compose import AllOf
from hushtable.models.distinct_l import DistinctL
from hushtable.models.entropy_l import EntropyL
from hushtable.models.probabilistic_l import ProbabilisticL
from hushtable.table.reference import Attribute, Reference

__all__ = ["believed", "described", "main", "run_case"]

EXACT = Limits(60, 10_000_000)
"""Every world is counted."""

Shares = Mapping[str, Fraction]

MODELS: list[tuple[PrivacyModel, float, Callable[[Shares], float]]] = [
    (DistinctL(l=2, on="disease"), 2, len),
    (ProbabilisticL(l=1.5, on="disease"), 1.5, lambda p: 1 / float(max(p.values()))),
    (EntropyL(l=1.6, on="disease"), 1.6, lambda p: math.exp(-sum(float(x) * math.log(x) for x in p.values()))),
]
"""Models, what each needs, and its score of how likely somebody's values are."""


def described(release: Release) -> Described:
    """What the ledger would keep of a release."""
    labels = sorted({r.label for r in release.rows} | {label for label, _ in release.fakes})
    rows = sorted(release.rows, key=lambda r: (r.person, r.record))
    n = range(len(release.columns))
    values = [sorted({r.values[j] for r in rows} | {v[j] for _, v in release.fakes}) for j in n]
    held = [(labels.index(c), v, k) for c, counts in sorted(release.counts(n).items()) for v, k in counts.items()]
    own = np.array([[values[j].index(r.values[j]) for j in n] for r in rows], dtype=np.int64)
    tags = [[1 + 10 * r.person + ord(r.values[j]) * 1000 + j for j in n] for r in rows]
    entry = Entry(
        name="", added="", digest="", sensitive=release.columns[:1], unit=1,
        persons=np.array([[r.person, 0] for r in rows], dtype=np.uint64),
        records=np.array([r.record for r in rows], dtype=np.uint64),
        classes=np.array([labels.index(r.label) for r in rows], dtype=np.int64),
        counterfeits=np.array([sum(c == label for c, _ in release.fakes) for label in labels], dtype=np.int64),
        values=tuple(tuple(f"{name} {v}" for v in known) for name, known in zip(release.columns, values, strict=True)),
        entry_class=np.array([c for c, _, _ in held], dtype=np.int64),
        entry_units=np.array([k for _, _, k in held], dtype=np.int64),
        entry_values=np.array([[values[j].index(v[j]) for j in n] for _, v, _ in held], dtype=np.int64),
        entry_rows=np.array([k for _, _, k in held], dtype=np.int64), others=release.columns[1:],
        tags=np.array(tags, dtype=np.uint64),
    )  # fmt: skip
    count = Counter(r.values[0] for r in rows)
    table = Reference.of(len(rows), Attribute.of("disease", values[0], [count[v] for v in values[0]]))
    return Described(entry, own, Promise(0, "", AllOf(()), table))


def believed(releases: Sequence[Release], columns: tuple[str, ...], limits: Limits | None = None) -> Belief | None:
    """What the ledger finds: how likely everybody's values are; None where it has nothing to say."""
    made = [described(release) for release in releases]
    history = History([d.entry for d in made], made[-1].own)
    kinds = history.kinds(columns, len(columns))
    if kinds is None:
        return None
    system, found = kinds.system, solve(kinds.system, EXACT if limits is None else limits)
    if found.undecided.any():
        raise AssertionError("undecided")
    names = [[v.split(" ")[1] for v in history.numbers[c]] for c in columns]
    labels = [sorted({r.label for r in x.rows} | {label for label, _ in x.fakes}) for x in releases]
    out: Belief = {}
    for record, kind in zip(kinds.record.tolist(), kinds.kind.tolist(), strict=True):
        at = [(e, labels[e][c]) for e, c in enumerate(kinds.place[kind].tolist()) if c >= 0]
        entry, row = history.entries[at[0][0]], history.traces.rows[record, at[0][0]]
        shares = {}
        for cell in np.flatnonzero((system.kind == kind) & (found.share > 0)).tolist():
            values = tuple(names[j][v] for j, v in enumerate(kinds.values[system.code[cell]].tolist()))
            shares[values] = Fraction(float(found.share[cell])) / int(system.size[kind])
        out[(int(entry.persons[row, 0]), int(entry.records[row])), tuple(at)] = shares
    return out


def _differ(ours: Belief, theirs: Belief) -> bool:
    if ours.keys() != theirs.keys():
        return True
    for piece, shares in ours.items():
        real = {v: p for v, p in theirs[piece].items() if p}
        if shares.keys() != real.keys() or any(abs(shares[v] - p) > Fraction(1, 10**9) for v, p in real.items()):
            return True
    return False


def _broken(
    releases: Sequence[Release], now: Belief, before: Belief, needed: float, score: Callable[[Shares], float]
) -> set[int]:
    """Whom a model breaks for, person by person: in the newest release, or because of it."""
    last = len(releases) - 1

    def judged(shares: Mapping[Values, Fraction]) -> tuple[float, bool]:
        left = {v: p for (v,), p in shares.items() if p}
        return score(left), len(left) == 1

    then: dict[tuple[tuple[int, int], ...], tuple[float, bool]] = {}
    for (_, at), shares in before.items():
        one, other = judged(shares), then.get(at, (-math.inf, False))
        then[at] = max(one[0], other[0]), one[1] or other[1]
    out = set()
    for (owner, at), shares in now.items():
        reached, certain = judged(shares)
        if reached >= needed - 1e-9:
            continue
        was, known = then.get(at, (math.inf, False))
        lost = was < needed - 1e-9 and reached >= was - 1e-9 and (known or not certain)
        if any(e == last for e, _ in at) or not lost:
            out.add(owner[0])
    return out


def run_case(seed: int) -> tuple[str, str]:
    """Run one case; how it ended, and what is wrong with it."""
    releases = random_history(seed)
    if len(releases) < 2:
        return "too few releases", ""
    wrong = []
    for columns in (("disease",), ("disease", "beside")):
        theirs = beliefs(releases, columns)
        if theirs is None:
            return "too many worlds", ""
        ours = believed(releases, columns)
        if ours is not None and _differ(ours, theirs):
            wrong.append(f"beliefs about {' and '.join(columns)} differ from those of all worlds")
    now, before = beliefs(releases, ("disease",)), beliefs(releases[:-1], ("disease",))
    if now is None or before is None:
        return "too many worlds", ""
    *earlier, newest = [described(_alone(release)) for release in releases]
    passed = True
    for model, needed, score in MODELS:
        promise = Promise(len(earlier), "", AllOf((model,)), newest.promise.reference)
        verdict = judge(newest, [d.entry for d in earlier], [promise], limits=EXACT)
        broken = _broken(releases, now, before, needed, score)
        passed &= verdict.ok
        if max((f.people for f in verdict.findings), default=0) != len(broken):
            wrong.append(f"{model.name} breaks for {len(broken)}, and the ledger says {verdict.findings}")
    return "accepted" if passed else "refused", "; ".join(wrong)


def _alone(release: Release) -> Release:
    """The same release without what stands beside the values."""
    rows = tuple(replace(row, values=row.values[:1]) for row in release.rows)
    return replace(release, columns=("disease",), rows=rows, fakes=tuple((c, v[:1]) for c, v in release.fakes))


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    start, ends, findings = time.monotonic(), Counter[str](), 0
    seeds = iter(range(options.first, options.first + options.cases))
    for ended in run_all(run_case, seeds, options.jobs, seconds=options.seconds, case_seconds=120):
        ends[ended.end] += 1
        if ended.wrong:
            findings += 1
            print(f"case {ended.seed}: {ended.wrong}", file=sys.stderr, flush=True)
    print(f"{sum(ends.values()):,} histories in {time.monotonic() - start:.0f} s, {findings} findings")
    for end, count in ends.most_common():
        print(f"  {end:<40} {count:,}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
