"""Random tables, policies, algorithms and engines, each release judged by the verifier and by a checker of its own.

    python -m fuzz.campaign [--cases 100000] [--first 0] [--seconds 600] [--jobs 2] [--case-seconds 600]
                            [--engine NAME] [--json]

Every release passes hushtable's verifier, and then a naive checker that shares no code with it (``fuzz.plain``). Prints
how the cases ended, and every finding with the number that repeats it (``--first N --cases 1``). Exits 1 where there
is one. A case that hangs or ends its process is a finding too.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from fuzz.cases import ENGINES, random_case
from fuzz.choices import RECODINGS
from fuzz.engines import close, run
from fuzz.plain import complaints, one_class_would_do
from fuzz.workers import run_all
from hushtable.errors import HushtableError, Infeasible, NotFound, UsageError, VerificationError

__all__ = ["main", "run_batch", "run_case"]


def run_case(seed: int, engine: str | None = None) -> tuple[str, str]:
    """Run one case; how it ended, and what is wrong with it."""
    case = random_case(seed, engine)
    policy = {**case.policy, "recoding": RECODINGS[next(iter(case.policy["algorithm"]))]}

    def end(word: str) -> str:
        return f"{case.engine}: {word}"

    try:
        ran = run(case)
        wrong = list(ran.wrong)
        for published, source in ran.releases:
            wrong += complaints(published, source, policy, case.population, case.background, loose=ran.loose)
        return end("released" if ran.releases else "disagreed"), "; ".join(wrong)
    except Infeasible:
        # a proof, so that a counterexample is a fault; of a batch on its own it is none
        possible = (
            case.engine != "increment"
            and not _p_above_k(case.policy)
            and one_class_would_do(case.rows, policy, case.population, case.background)
        )
        return end("infeasible"), "infeasible, but everybody in one class would do" if possible else ""
    except NotFound:
        return end("not found"), ""
    except HushtableError as error:
        expected = isinstance(error, UsageError) and not isinstance(error, VerificationError)
        if case.engine == "increment" and isinstance(error, VerificationError):
            # documented: a batch that breaks a model together with the earlier release is refused by the verifier
            expected = True
        return end(f"refused ({type(error).__name__})"), "" if expected else _where()
    except Exception:
        return end("crashed"), _where()


def _p_above_k(policy: Mapping[str, Any]) -> bool:
    """What the two algorithms of Domingo-Ferrer et al. refuse as infeasible, after the paper."""
    given = {name: value for model in policy["models"] for name, value in model.items()}
    k = given.get("k-anonymity", {}).get("k", 99)
    above = any(value.get("p", 0) > k for value in given.values())
    return above and next(iter(policy["algorithm"])) in ("k-first", "p-first")


def _where() -> str:
    return traceback.format_exc(limit=-4).replace("\n", " | ")


def run_batch(first: int, count: int) -> tuple[Counter[str], list[tuple[int, str]]]:
    """Run consecutive cases in this process."""
    ends: Counter[str] = Counter()
    findings = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(first, first + count):
            end, wrong = run_case(seed)
            ends[end] += 1
            if wrong:
                findings.append((seed, wrong))
    close()
    return ends, findings


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--case-seconds", type=float, default=600)
    parser.add_argument("--engine", choices=list(ENGINES))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    start = time.monotonic()
    ends: Counter[str] = Counter()
    findings: list[tuple[int, str]] = []
    seeds = iter(range(options.first, options.first + options.cases))
    limits = {"seconds": options.seconds, "case_seconds": options.case_seconds}
    # ended early, it still says what was done
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):
        for ended in run_all(partial(run_case, engine=options.engine), seeds, options.jobs, **limits):
            ends[ended.end] += 1
            if ended.wrong:
                findings.append((ended.seed, ended.wrong))
                print(f"case {ended.seed}: {ended.wrong}", file=sys.stderr, flush=True)
    taken = time.monotonic() - start
    done = sum(ends.values())
    if options.json:
        print(json.dumps({"first": options.first, "cases": done, "seconds": taken, "ends": ends, "findings": findings}))
    else:
        print(f"{done:,} cases in {taken:.0f} s, {len(findings)} findings")
        for end, count in ends.most_common():
            print(f"  {end:<40} {count:,}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
