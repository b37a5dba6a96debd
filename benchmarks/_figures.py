"""The figures of the benchmark page: what is measured, by which command, and what it is compared with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["FIGURES", "PICTURES", "SECTIONS", "Figure"]


@dataclass(frozen=True)
class Figure:
    """One line of the page.

    Attributes
    ----------
    section, what : str
    command : str
        The benchmark and its arguments; ``REFERENCE`` and ``CENSUS`` stand for files of the reader's own.
    pick : callable
        The figure, in what the command prints as JSON.
    unit : str
    target : float
        What it has to be below, or above where ``more`` is better.
    peer : tuple of str and float, optional
        Another tool and its figure in the same unit.
    why : str
        Why the target is missed, where it is.
    long : bool
        Whether it takes so long that it is measured only if its benchmark is named.
    """

    section: str
    what: str
    command: str
    pick: Callable[[Any], float]
    unit: str
    target: float
    more: bool = False
    peer: tuple[str, float] | None = None
    why: str = ""
    long: bool = False

    @property
    def name(self) -> str:
        """Identify the figure in the stored results."""
        return f"{self.section}: {self.what}"

    def met(self, value: float) -> bool:
        """Whether a value is as good as the target."""
        return value >= self.target if self.more else value <= self.target


SECTIONS = {
    "The core": "Mondrian and verifying on encoded tables and files.",
    "Whole commands": "From the start of the process to its end, on Adult's 30,162 records.",
    "The first use": "The wheel is installed into a new folder, with nothing compiled. The ratio compares the time of "
    "the first use with its limit: 1.5 times the time of the second use, plus 1 s.",
    "Full-domain search": "Adult, nine quasi-identifiers, 12,960 nodes, k = 5, loss, warm. ARX's times were measured "
    "on a quiet machine of the same kind.",
    "Local recoding": "Adult, k = 5, no suppression; NCP by the same formula as ARX's.",
    "Microaggregation": "Gaussian columns (six unless stated otherwise), k = 5, one core; Census for the loss. On a "
    "graphics card: [the recorded run](gpu.md#recorded-run).",
    "Attacks and risks": "All attacks on Adult; all twelve risk measures on a generated table.",
    "Who knows the algorithm": "Share of values that an adversary who knows the code but not the secret guesses "
    "correctly: 120 people, eight diseases, probabilistic-l = 2, which promises at most 50%.",
    "Linked tables": "A generated hospital (people, stays, diagnoses, prescriptions, lab values), k = 5, two known "
    "events: from the tables to the verified release.",
    "The ledger": "Judging the newest of several releases of the same people, in classes of ten: the same classes "
    "again, classes that some people leave, united classes, and entirely new classes. Making the keyed hashes of "
    "people is not included.",
    "A saved release": "Opened from its folder: 10,000,000 rows and eight quasi-identifiers, streamed from Parquet to "
    "Parquet; CPU time compared with that of the run. The report is of Adult, in a running process; the second time, "
    "its attacks come from the companion.",
    "Samples on NIST's benchmark": "Rows drawn from class counts (`release.sample`), every column a quasi-identifier, "
    "scored by NIST's own scorer, compared with other tools: k-marginal (1000: all pairs of columns as in the "
    "original), the same by area (PUMA), and the share of unique people whose exact row reappears. Means over five "
    "seeds. Parameters were chosen on these two tables.",
    "Samples and learning": "Drawing rows compared with writing them; logistic regression trained on a release of "
    "Adult (k = 10, seven columns) and tested on originals, compared with one trained on the original; mean error of "
    "the correlations of six columns of Census in condensed rows, relative to rows drawn from counts.",
    "The verdict": "How useful a release of a generated table of 200,000 rows and 42 columns is, and which "
    "settings cost most: under the policy that `init` writes, and with every column as a quasi-identifier.",
    "The studio": "Every page of a project with a generated table of 200,000 rows and 42 columns and a release of it, "
    "in Chromium at 1440 px, from the request until the page shows its main content.",
    "Spark on a cluster": "A standalone cluster on this machine: a master, two workers, executors of "
    "1 GiB; the generated table, k = 5, Mondrian, from Parquet to verified Parquet. For the slope, the driver and each "
    "executor get 0.3 of a core, so that five slow machines fit on this one; it takes 40 minutes, so `make bench` "
    "measures it only if `spark_cluster` is named.",
    "Growth with rows": "Generated tables with eight quasi-identifiers, from Parquet to verified Parquet, k = 5.",
}


def _verdict(name: str) -> Callable[[Any], float]:
    return lambda found: next(row["verdict_s"] for row in found if row["policy"] == name)


def _mondrian(models: str) -> Callable[[Any], float]:
    return lambda found: next(r["seconds"] for r in found["ours"] if r["models"] == models)


def _peer(tool: str) -> Callable[[Any], float]:
    return lambda found: next(r["ratio"] for r in found["peers"] if r["tool"] == tool)


def _named(key: str, what: str, rows: int | None = None) -> Callable[[Any], float]:
    return lambda found: next(r[key] for r in found if r["what"] == what and rows in (None, r.get("rows")))


def _guessed(algorithm: str) -> Callable[[Any], float]:
    return lambda found: next(100 * r["rate"] for r in found if (r["algorithm"], r["l"]) == (algorithm, 2))


def _arx(limit: float) -> Callable[[Any], float]:
    def pick(found: Any) -> float:
        rows = [r for r in found["rows"] if (r["model"], r["metric"], len(r["node"])) == ("k:5", "loss", 9)]
        return float(next(r["ours_ms"] for r in rows if r["suppression_limit"] == limit))

    return pick


def _rows(table: str, limit: float) -> Callable[[Any], float]:
    return lambda found: next(r["ratio"] for r in found if r["table"] == table and r["suppression"] == limit)


_OWN_CATEGORY = (
    "Rows count as equal only if they have the same blanks, so an adversary who knows all true values of a person "
    "still finds k rows. kAnon lets a blank match anything, and leaves hundreds of people with fewer than k matching "
    "rows. By the stricter definition, no table with k = 3 has fewer than 7,410 blanks: each of the 6,717 rare records "
    "needs one, "
    "and 693 of them need two."
)


def _blanked(key: str, k: int) -> Callable[[Any], float]:
    return lambda found: next(float(row[key]) for row in found if row["keys"] == 6 and row["k"] == k)


def _concealing(key: str, columns: int) -> Callable[[Any], float]:
    return lambda found: next(
        float(row[key]) for row in found if row["quasi_identifiers"] == columns and not row["classes"]
    )


def _recoding(key: str, recoding: str, columns: int) -> Callable[[Any], float]:
    def pick(found: Any) -> float:
        rows = [r for r in found if r["recoding"] == recoding and r["quasi_identifiers"] == columns]
        return float(min(r[key] for r in rows if "ARX" not in r["algorithm"]))

    return pick


def _below_mdav(k: int) -> Callable[[Any], float]:
    return lambda found: next(100 * (1 - r["ours"] / r["mdav"]) for r in found if r["k"] == k)


def _scale(key: str, engine: str, algorithm: str, rows: int) -> Callable[[Any], float]:
    def pick(found: Any) -> float:
        wanted = {"engine": engine, "algorithm": algorithm, "rows": rows}
        return float(next(r[key] for r in found["runs"] if wanted.items() <= r.items()))

    return pick


def _opened(*keys: str, times: float = 1.0) -> Callable[[Any], float]:
    def pick(found: Any) -> float:
        for key in keys:
            found = found[key]
        return times * float(found)

    return pick


def _spark_ratio(algorithm: str) -> Callable[[Any], float]:
    spark, local = (_scale("seconds", engine, algorithm, 10_000_000) for engine in ("spark", "local"))
    return lambda found: spark(found) / local(found)


def _slope(engine: str, algorithm: str) -> Callable[[Any], float]:
    wanted = {"engine": engine, "algorithm": algorithm}
    return lambda found: next(r["slope"] for r in found["slopes"] if wanted.items() <= r.items())


def _speed_up(algorithm: str, rows: int) -> Callable[[Any], float]:
    wanted = {"algorithm": algorithm, "rows": rows, "cores": 2}
    return lambda found: next(r["times"] for r in found["speed_ups"] if wanted.items() <= r.items())


def _different(found: Any) -> float:
    return float(sum(row["killed"] != "driver" and "hash" not in row for row in found["faults"]) + (not found["same"]))


_GROWN = "At 1,000,000 rows, adult_like has 15 times as many combinations, and each is examined. "
_WIDE = "wide.py --sizes 20000x20,20000x50,20000x100,100000x50 --cores 1,2"
_CENSUS = "microaggregation.py CENSUS --k 3,5,10 --quality best"
_SCALE = "scale.py --plot docs/images/scaling.png"
_STREAMED = "release.py --only streamed"
_REPORT = "release.py --only report"
_CORES = "scale.py --rows 1000000,10000000,100000000 --engine local --cores 1,2"
_SCALE_OTHER = "scale.py --rows 10000000 --insensitive"

PICTURES = {
    "Samples on NIST's benchmark": "![k-marginal against unique matches, and other tools](images/nist.png)\n\n"
    "Up and to the left is better. Crosses are other tools, measured once with the same scorer; those below 900 are "
    "omitted.",
}
"""A picture at the end of a section."""

_NIST = "nist_crc.py NIST --scorer SCORER --settings 1 --chart docs/images/nist.png"
_NIST_TARGETS = {
    ("ma2019", 10): ((6, 996, None, 40), (12, 995, None, 32), (50, 991, None, 22)),
    ("ma2019", 20): ((6, 993, 966, 4), (12, 991, 960, 2.6), (50, 987, 950, 1.3)),
    ("tx2019", 20): ((6, 992, 958, 2.4), (12, 990, 950, 1.3), (50, 985, 936, 0.6)),
    ("ma2019", 24): ((6, 984, 970, 0.3), (12, 980, 962, 0.1), (50, 974, 942, 0)),
    ("tx2019", 24): ((6, 984, 970, 0.3), (12, 980, 962, 0.1), (50, 974, 942, 0)),
}


def _times(key: str, times: float) -> Callable[[Any], float]:
    return lambda found: times * found[key]


def _wide(columns: int) -> Callable[[Any], float]:
    return lambda found: float(
        next(r["cpu_seconds"] for r in found if (r["size"], r["cores"]) == (f"20000x{columns}", 1))
    )


def _two_cores(found: Any) -> float:
    one, two = (r["seconds"] for r in found if r["size"] == "100000x50")
    return float(one / two)


def _correlations(algorithm: str) -> Callable[[Any], float]:
    return lambda found: float(found[f"condensation, {algorithm}"] / found["counts, mondrian"])


def _nist(data: str, columns: int, k: int, score: str) -> Callable[[Any], float]:
    def pick(found: Any) -> float:
        named = {"data": data, "columns": columns, "k": k, "algorithm": "information-cuts, refined", "form": "counts"}
        return float(next(row[score] for row in found if all(row[key] == value for key, value in named.items())))

    return pick


def _most(part: str) -> Callable[[Any], float]:
    """The largest figure of all cases."""
    return lambda found: max(row[part] for row in found["rows"])


def _lost(form: str) -> Callable[[Any], float]:
    return lambda found: max(100 * (r["original"] - r["release"]) for r in found if r["cells"] == form)


def _nist_figures() -> Iterator[Figure]:
    beside = {("ma2019", 10): 978, ("ma2019", 24): 971, ("tx2019", 24): 972}
    scores = (("k_marginal", "k-marginal", True), ("k_marginal_by_area", "by area", True),
              ("unique_matches_percent", "unique matches", False))  # fmt: skip
    for (data, columns), rows in _NIST_TARGETS.items():
        for k, *targets in rows:
            for (score, name, more), target in zip(scores, targets, strict=True):
                if target is not None:
                    peer = beside.get((data, columns)) if score == "k_marginal" else None
                    yield Figure(
                        "Samples on NIST's benchmark", f"{data}, {columns} columns, k = {k}, {name}", _NIST,
                        _nist(data, columns, k, score), "" if more else "%", target, more=more,
                        peer=None if peer is None else ("synthpop CART", peer),
                    )  # fmt: skip


FIGURES = (
    Figure("The core", "Mondrian, 1,000,000 x 8, k-anonymity", "mondrian.py", _mondrian("k-anonymity"), "s", 0.6),
    Figure(
        "The core",
        "Mondrian, 1,000,000 x 8, k + entropy-l + t-closeness",
        "mondrian.py",
        _mondrian("k + entropy-l + t-closeness"),
        "s",
        1.5,
    ),
    Figure(
        "The core",
        "working memory of Mondrian in addition to the encoded table",
        "mondrian.py",
        lambda found: max(r["working_bytes_per_row"] for r in found["ours"]),
        "bytes per row",
        16,
    ),
    Figure("The core", "anonypy's CPU time over ours, Adult", "mondrian.py --peers", _peer("anonypy"), "x", 100, True),
    Figure("The core", "anonypyx's CPU time over ours", "mondrian.py --peers", _peer("anonypyx"), "x", 100, True),
    Figure("The core", "lighthouse's CPU time over ours", "mondrian.py --peers", _peer("lighthouse"), "x", 100, True),
    Figure("The core", "verify 10,000,000 x 8", "verify.py", lambda found: found["warm"]["seconds"], "s", 8),
    Figure("The core", "its peak memory", "verify.py", lambda found: found["warm"]["peak_mib"], "MiB", 1024),
    Figure("Whole commands", "hushtable --help", "commands.py --only help", _named("seconds", "help"), "s", 0.5),
    Figure(
        "Whole commands",
        "hushtable run",
        "commands.py --only run",
        _named("seconds", "run"),
        "s",
        3,
        peer=("ARX", 2.9),
    ),
    Figure(
        "Whole commands", "report, attacks included", "commands.py --only report", _named("seconds", "report"), "s", 90
    ),
    Figure("Whole commands", "size of the report", "commands.py --only report", _named("mib", "report"), "MiB", 3),
    Figure(
        "Whole commands",
        "compare, 4 algorithms x 5 values of k",
        "commands.py --only compare",
        _named("seconds", "compare"),
        "s",
        180,
    ),
    Figure(
        "Full-domain search",
        "rows of ARX's own results that differ",
        "arx_optimal.py REFERENCE --least 0",
        lambda found: sum(not r["agrees"] for r in found["rows"]),
        "",
        0,
    ),
    *(
        Figure(
            "Full-domain search",
            f"the search, {limit:.0%} suppression",
            "arx_optimal.py REFERENCE --least 0",
            _arx(limit),
            "ms",
            theirs / times,
            peer=("ARX", theirs),
        )
        for limit, theirs, times in ((0.0, 34.0, 2), (0.02, 777.0, 5), (1.0, 3160.0, 10))
    ),
    Figure(
        "Full-domain search",
        "recorded rows that are less than 3 times as fast as ARX",
        "arx_optimal.py REFERENCE --least 0",
        lambda found: sum(r["ratio"] is not None and r["ratio"] < 3 for r in found["rows"]),
        "",
        0,
        why="t-closeness without suppression and with all of it: bounds leave too many nodes to judge. ",
    ),
    Figure(
        "Full-domain search",
        "141 rows that are not recorded, less than 3 times as fast as the fastest recorded neighbor",
        "arx_optimal.py REFERENCE --unseen --least 0",
        lambda found: sum(r["ratio"] is not None and r["ratio"] < 3 for r in found["rows"]),
        "",
        0,
        why="ARX was not run on these. With every record suppressible, bounds leave too many nodes to judge.",
    ),
    *(
        Figure(
            "Full-domain search",
            f"20 columns, a lattice of more than 10^12 nodes, 2,000 judged: {what}",
            "lattice_wide.py --objective loss",
            pick,
            unit,
            target,
        )
        for what, pick, unit, target in (
            ("CPU time", lambda found: found[0]["cpu_s"], "s", 30),
            ("the best, over its bound", lambda found: found[0]["value"] / found[0]["lower_bound"], "x", 10),
        )
    ),
    *(
        Figure(
            "Full-domain search",
            f"1,000,000 rows over 30,162, {table}, {limit:.0%} suppression",
            "lattice_rows.py",
            _rows(table, limit),
            "x",
            3,
            why=_GROWN if table == "adult_like" else "",
        )
        for table in ("adult drawn with replacement", "adult_like")
        for limit in (0.0, 0.02, 1.0)
    ),
    *(
        Figure(
            "Local recoding",
            f"NCP with {kind}, {columns} quasi-identifiers",
            "local_recoding.py",
            _recoding("ncp", kind, columns),
            "",
            round(share * theirs, 5),
            peer=("ARX", theirs),
        )
        for kind, share in (("nodes", 0.85), ("sets", 0.4))
        for columns, theirs in ((9, 0.0591), (8, 0.0329))
    ),
    *(
        Figure(
            "Local recoding",
            f"local suppression, 6 columns, k={k}: {what}",
            "local_suppression.py",
            _blanked(key, k),
            unit,
            theirs,
            peer=("sdcMicro", theirs),
            why=_OWN_CATEGORY if key == "cells" else "",
        )
        for k, cells, seconds in ((3, 7182, 78), (5, 10331, 125))
        for key, what, unit, theirs in (("cells", "blanked cells", "", cells), ("seconds", "whole run", "s", seconds))
    ),
    Figure(
        "Local recoding",
        "k-anonymity over any 3 of 20 columns, 100,000 rows, CPU",
        "subsets.py",
        lambda found: float(found["cpu_s"]),
        "s",
        30,
    ),
    *(
        Figure(
            "Local recoding",
            f"k-concealing, NCP with sets, {columns} quasi-identifiers",
            "concealment.py",
            _concealing("ncp", columns),
            "",
            round(0.75 * best, 5),
            peer=("best classes", best),
        )
        for columns, best in ((9, 0.0105), (8, 0.0053))
    ),
    Figure(
        "Local recoding",
        "k-concealing, whole run, 9 quasi-identifiers",
        "concealment.py",
        _concealing("wall_s", 9),
        "s",
        300,
    ),
    *(
        Figure(
            "Local recoding",
            f"CPU with {kind}, {columns} quasi-identifiers, the fastest of ours",
            "local_recoding.py",
            _recoding("cpu_s", kind, columns),
            "s",
            theirs,
            peer=("ARX", theirs),
        )
        for kind in ("nodes", "sets")
        for columns, theirs in ((9, 3.36), (8, 0.60))
    ),
    Figure(
        "Local recoding",
        "localpk, Adult, 45,222 x 7",
        "speed.py --only localpk",
        _named("cpu_s", "localpk", 45_222),
        "s",
        2,
    ),
    Figure(
        "Local recoding",
        "localpk, 500,000 x 7",
        "speed.py --only localpk",
        _named("cpu_s", "localpk", 500_000),
        "s",
        30,
    ),
    Figure("Local recoding", "patterns, Adult, k = 5", "speed.py --only patterns", _named("cpu_s", "patterns"), "s", 2),
    Figure(
        "Microaggregation",
        "exact MDAV, 100,000 x 6",
        "speed.py --only mdav",
        _named("cpu_s", "mdav", 100_000),
        "s",
        36.1 / 30,
        peer=("sdcMicro", 36.1),
    ),
    Figure(
        "Microaggregation", "exact, 1,000,000 x 6", "speed.py --only mdav", _named("cpu_s", "mdav", 1_000_000), "s", 90
    ),
    Figure("Microaggregation", "fast, 1,000,000 x 6", "speed.py --only mdav", _named("cpu_s", "mdav, fast"), "s", 15),
    Figure(
        "Microaggregation", "loss of fast over exact", "speed.py --only mdav", _named("loss", "mdav, fast"), "x", 1.05
    ),
    *(
        Figure("Microaggregation", f"best below MDAV, Census, k = {k}", _CENSUS, _below_mdav(k), "%", 16, True)
        for k in (3, 5, 10)
    ),
    Figure(
        "Microaggregation",
        "best, CPU, the longest of k = 3, 5, 10",
        _CENSUS,
        lambda found: max(r["cpu_s"] for r in found),
        "s",
        60,
    ),
    *(
        Figure(
            "Microaggregation",
            f"exact, 20,000 x {columns}, CPU of one core",
            _WIDE,
            _wide(columns),
            "s",
            round(theirs / 6, 2),
            peer=("sdcMicro", theirs),
        )
        for columns, theirs in ((20, 2.57), (50, 7.53), (100, 17.18))
    ),
    Figure("Microaggregation", "exact, 100,000 x 50, two cores over one", _WIDE, _two_cores, "x", 1.7, True),
    Figure(
        "Attacks and risks",
        "all attacks on Adult, hierarchy nodes",
        "attacks.py",
        lambda found: max(sum(by.values()) for by in found["attacks"].values()),
        "s",
        60,
    ),
    Figure(
        "Attacks and risks", "all risks, 1,000,000 rows", "attacks.py", lambda found: found["risks"]["seconds"], "s", 5
    ),
    *(
        Figure("Attacks and risks", f"all attacks, 10,000,000 rows{what}", "attacks.py --large 10000000", pick, *target)
        for what, pick, target in (
            ("", _opened("seconds"), ("s", 60)),
            (", the system's share of the CPU time", _opened("system_share", times=100.0), ("%", 10)),
        )
    ),
    *(
        Figure("Attacks and risks", f"all attacks, 200,000 x 42, {what}", "attacks.py --wide 200000x42", pick, *target)
        for what, pick, target in (
            ("CPU time", _opened("cpu"), ("s", 30)),
            ("the system's share of it", _opened("system_share", times=100.0), ("%", 10)),
        )
    ),
    *(
        Figure("Linked tables", f"{people:,} people, {what}", f"linked.py --people {people}", pick, unit, target)
        for people, what, pick, unit, target in (
            (100_000, "events suppressed or above their block", _times("above_block", 100), "%", 20),
            (1_000_000, "elapsed", _times("wall_s", 1), "s", 600),
            (1_000_000, "memory", _times("peak_gib", 1), "GiB", 12),
        )
    ),
    Figure(
        "Spark on a cluster",
        "slope from one to four executors (1: a quarter of the time), 20,000,000 rows and a column kept as it is",
        "spark_cluster.py --rows 20000000 --executors 1,2,4 --share 0.3 --insensitive",
        lambda found: found["slope"],
        "",
        0.5,
        more=True,
        long=True,
    ),
    Figure(
        "Spark on a cluster",
        "wrong releases, with an executor killed in every stage, a worker and the driver",
        "spark_cluster.py --rows 100000 --executors 2,4 --faults",
        _different,
        "",
        0,
    ),
    *(
        Figure("The first use", what, "first_run.py", _named("ratio", name), "x", 1)
        for what, name in (
            ("hushtable run, 30,162 x 9", "run"),
            ("hushtable demo", "demo"),
            ("a run in the studio", "studio"),
            ("ht.anonymize in a new process", "notebook"),
        )
    ),
    *(
        Figure(
            "Who knows the algorithm",
            name,
            "known_algorithm.py --only anatomy,m-invariant --tables 16",
            _guessed(name),
            "%",
            55,
            peer=("0.1.0", 97) if name == "anatomy" else None,
        )
        for name in ("anatomy", "m-invariant")
    ),
    *(
        Figure("A saved release", what, _STREAMED, _opened("streamed", *keys, times=times), unit, target)
        for what, keys, times, unit, target in (
            ("measure, of the run's CPU", ("ratios", "measure"), 100.0, "%", 25.0),
            ("measures that the run did not take, of the run's CPU", ("ratios", "new"), 100.0, "%", 100.0),
            ("risk, of the run's CPU", ("ratios", "risk"), 100.0, "%", 25.0),
            ("measure, peak memory", ("measure", "peak_mib"), 1.0, "MiB", 1024.0),
            ("risk, peak memory", ("risk", "peak_mib"), 1.0, "MiB", 1024.0),
            ("the companion, of the run's CPU", ("companion",), 100.0, "%", 5.0),
            ("the companion's rows, bytes a row", ("bytes_a_row",), 1.0, "", 8.1),
        )
    ),
    *(
        Figure("A saved release", what, _REPORT, _opened("report", which), "s", target)
        for what, which, target in (("report, warm", "first", 3.0), ("the same again", "second", 1.0))
    ),
    *(
        Figure("The ledger", what, command, _most(part), unit, target)
        for what, command, part, unit, target in (
            ("1,000,000 people in three releases, slowest case", "ledger.py", "seconds", "s", 60),
            ("the same, peak memory", "ledger.py", "peak_mib", "MiB", 4096),
            ("20,000 people in twelve releases", "ledger.py --people 20000 --releases 12", "seconds", "s", 2),
        )
    ),
    *_nist_figures(),
    Figure(
        "Samples and learning",
        "drawing 1,000,000 rows over writing them",
        "sample.py",
        lambda found: found["warm"]["sample_s"] / found["warm"]["write_s"],
        "x",
        1,
    ),
    *(
        Figure(
            "Samples and learning",
            f"error of correlations, k = {k}, condensation ({name}) over counts (mondrian)",
            f"sample.py --correlations --k {k}",
            _correlations(name),
            "x",
            1,
            why="Classes of ten or a few more have too few people for the covariance of six columns, so their columns "
            "are drawn apart; counts keep every column exactly.",
        )
        for k in (10, 50)
        for name in ("mondrian", "mdav")
    ),
    *(
        Figure(
            "Samples and learning",
            f"accuracy lost, {form}",
            "encoder.py --bins 0",
            _lost(form),
            "points",
            0.5,
        )
        for form in ("counts", "regions", "intervals", "sets")
    ),
    *(
        Figure("The verdict", f"{name} policy", "verdict.py", _verdict(name), "s", 15)
        for name in ("starter", "every column")
    ),
    Figure(
        "The studio",
        "slowest page",
        "studio.py",
        lambda found: max(row["seconds"] for row in found),
        "s",
        2,
    ),
    *(
        Figure("Growth with rows", f"{name}, 100,000,000 rows{what}", _SCALE, _scale(key, "local", name, 10**8), *limit)
        for name, what, key, limit in (
            ("mondrian", "", "seconds", ("s", 70)),
            ("mondrian", ", peak memory", "peak_mib", ("MiB", 4 * 1024)),
            ("optimal", "", "seconds", ("s", 70)),
        )
    ),
    *(
        Figure(
            "Growth with rows",
            f"two cores over one, {name}, {rows:,} rows",
            _CORES,
            _speed_up(name, rows),
            "x",
            1.6,
            True,
            why="Of 2.8 s, imports take 0.8 s and the trials behind the verdict 0.9 s, on any number of cores."
            if rows == 1_000_000
            else "Imports and loading kernels take 1.5 s on any number of cores.",
        )
        for name in ("mondrian", "optimal")
        for rows in (1_000_000, 10_000_000, 100_000_000)
    ),
    *(
        Figure("Growth with rows", f"slope of {name}, n log n: 1.05", _SCALE, _slope("local", name), "", 1.06)
        for name in ("mondrian", "optimal")
    ),
    *(
        Figure(
            "Growth with rows",
            f"Spark local[2] over local, {name}, 10^7 rows{more}, session excluded",
            command,
            _spark_ratio(name),
            "x",
            8 if more else 3.5,
        )
        for command, more in ((_SCALE, ""), (_SCALE_OTHER, ", a column kept as it is"))
        for name in ("mondrian", "optimal")
    ),
)
