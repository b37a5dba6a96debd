"""Releases of Spark name nodes, and depend on suppressed records, as little as those of one machine."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pyarrow as pa
import pytest
from pyarrow import parquet as pq
from support_spark import NOTE, same_cells, visits

import hushtable as ht
from hushtable.algorithms.cluster.mdav import Mdav
from hushtable.algorithms.lattice.datafly import Datafly
from hushtable.algorithms.lattice.optimal import Optimal
from hushtable.algorithms.partition.localpk import Localpk
from hushtable.algorithms.partition.mondrian import Mondrian
from hushtable.api import run_plan
from hushtable.engines.spark import part_files, published
from hushtable.engines.spark.part_files import write_as_they_are
from hushtable.errors import DataError
from hushtable.hierarchy.frequency import Frequency
from hushtable.hierarchy.intervals import Intervals
from hushtable.hierarchy.prefix import Prefix
from hushtable.models.k_anonymity import KAnonymity
from hushtable.registry import algorithms, guards, models
from hushtable.release.forms.nodes import Nodes
from hushtable.schema.columns import Kind, Missing
from hushtable.testing import check_interference, model_examples, random_case, with_hierarchies
from hushtable.testing.cases import chosen_forms
from hushtable.testing.interference_checks import CHANGES
from hushtable.testing.public_files import spark_files
from support_core import plan_of, quasi, sensitive

pytestmark = pytest.mark.spark

SAMPLED = "spark.sql.execution.rangeExchange.sampleSizePerPartition"
PARTS = "parts/release.parquet/"

MADE = (
    quasi("age", Kind.NUMERIC, hierarchy=Intervals(quantiles=(4,))),
    quasi("zip", Kind.NOMINAL, hierarchy=Prefix(steps=(1, 2))),
    quasi("country", Kind.NOMINAL, hierarchy=Frequency(fanout=3)),
    sensitive("illness"),
)


def people():
    """Some have codes and towns that nobody else has, and numbers far from all others."""
    table = visits(60, 2).select(["age", "zip", "country", "illness"])
    odd = {"age": [9999, -5], "zip": ["199", "777"], "country": ["Aruba", "Zambia"], "illness": ["flu", "cold"]}
    return pa.concat_tables([table, pa.table(odd)])


@pytest.mark.parametrize("limit", [pytest.param(90, marks=pytest.mark.slow), 30])
def test_names_of_nodes_with_global_recoding(on_spark, far_away, limit):
    plan = plan_of([KAnonymity(k=3)], MADE, Optimal(), suppression=0.2, document={"seed": 0})
    want = run_plan(people(), plan)
    gone = set(people().column("country").to_pylist()) - set(people().filter(want.kept).column("country").to_pylist())
    assert gone, "a country of suppressed records alone"
    shown = {cell for c in MADE[:3] for cell in want.table.column(c.name).to_pylist() if cell}
    assert not any(name in cell for name in gone for cell in shown)
    assert any(".." in cell or cell.startswith("[") for cell in shown)
    far_away(20, driver_rows=limit)
    same_cells(on_spark(people(), plan, 3), want)


def test_names_of_nodes_with_local_recoding(on_spark, far_away):
    plan = plan_of([KAnonymity(k=3)], MADE, Localpk(), cells=Nodes(), document={"seed": 0})
    want = run_plan(people(), plan)
    far_away(40, driver_rows=1)
    same_cells(on_spark(people(), plan, 3), want)


def test_a_kind_that_only_suppressed_records_decide_is_refused(on_spark, far_away):
    table = visits(60, 2).select(["zip", "illness"])
    table = pa.concat_tables([table, pa.table({"zip": ["none"], "illness": ["flu"]})])
    columns = (quasi("zip", None, hierarchy=Prefix()), sensitive("illness"))
    plan = plan_of([KAnonymity(k=3)], columns, Optimal(), suppression=0.1, document={"seed": 0})
    far_away(20, driver_rows=1)
    with pytest.raises(DataError, match="'zip' is read as text only because of suppressed records"):
        on_spark(table, plan, 3)


VARIANTS = [
    *(cls.build({}) for cls in algorithms.values() if not cls.recoding.by_number and not cls.samples),
    Mondrian(mode="relaxed"),
    Mondrian(nominal="children"),
]
AT_ONCE = "values, owners and order at once"


@pytest.fixture
def as_if_large(spark):
    """Spark looks at a few rows only to divide a table, as it does with large ones."""
    spark.conf.set(SAMPLED, "1")
    yield
    spark.conf.unset(SAMPLED)


def case_of(turn, rows=24, style=None):
    """Cases in which cell styles, hierarchies, meanings of gaps and people with several rows take turns."""
    forms = chosen_forms()
    style = forms[turn % len(forms)] if style is None else style
    case = random_case(turn, rows, cells=style, missing=list(Missing)[turn // 2 % 3], entity=turn % 5 == 4)
    return with_hierarchies(case, turn)


def whole(files):
    """The files, if rows stand in the parts as in one file."""
    parts = [pq.read_table(pa.BufferReader(files[name])) for name in sorted(files) if name.startswith(PARTS)]
    assert len(parts) > 1 and len({part.num_rows for part in parts[:-1]}) == 1
    one = pq.read_table(pa.BufferReader(files["parquet/release.parquet"]))
    assert pa.concat_tables(parts).to_pylist() == one.to_pylist()
    return files


def checked(models, algorithm, case, turn, **more):
    """Check everything at once, and one change that takes turns by itself."""
    changes = {"changes": list(dict.fromkeys([AT_ONCE, list(CHANGES)[turn % len(CHANGES)]])), **more}
    return check_interference(
        models, algorithm, case, files=lambda *words: whole(spark_files(*words)), seed=turn, **changes
    )


@pytest.mark.usefixtures("as_if_large")
class TestReplayed:
    """The decisions of a run, replayed by Spark on tables in which something changes that must not matter."""

    @pytest.mark.parametrize(
        ("turn", "algorithm", "guard"),
        [
            (1, Mondrian(), None),
            (2, Localpk(), "downcoding"),
            (4, Optimal(), None),
            pytest.param(5, Mdav(), None, marks=pytest.mark.slow),
        ],
        ids=["partition", "guarded", "nodes and people", "means"],
    )
    def test_files_are_the_same(self, turn, algorithm, guard):
        more = [] if guard is None else [guards.build(guard)]
        done = checked([KAnonymity(k=2)], algorithm, case_of(turn), turn, guards=more, changes=[AT_ONCE])
        assert done[AT_ONCE] == done["suppressed"] == 1, done

    def test_a_planted_leak_is_found(self, monkeypatch):
        """Parts end where Spark's own do, as they did once."""
        monkeypatch.setattr(published, "write_parts", lambda jobs, frame, place: write_as_they_are(frame, place))
        with pytest.raises(AssertionError, match=r"order at once.* changes parts/release"):
            check_interference([KAnonymity(k=2)], Mondrian(), case_of(0), files=spark_files, changes=[AT_ONCE])

    @pytest.mark.slow
    @pytest.mark.parametrize("algorithm", VARIANTS, ids=str)
    def test_every_algorithm(self, algorithm):
        done = Counter()
        for turn in range(300, 303):
            case = case_of(turn)
            names = list(models)
            for name in ("k-anonymity" if turn % 2 else "distinct-l", names[turn * 7 % len(names)]):
                for example in model_examples(models[name], case.suited(algorithm), 1):
                    done += checked([example], algorithm, case, turn)
        assert done["suppressed"] >= 2, done

    @pytest.mark.slow
    @pytest.mark.parametrize("style", chosen_forms())
    @pytest.mark.parametrize("algorithm", [Optimal(), Mondrian(), Localpk()], ids=str)
    def test_every_hierarchy_and_style(self, algorithm, style):
        done = Counter()
        for turn in range(7):
            done += checked([KAnonymity(k=2)], algorithm, case_of(turn, style=style), turn, changes=[AT_ONCE])
        assert done["suppressed"] >= 3, done

    @pytest.mark.slow
    @pytest.mark.parametrize("guard", guards)
    def test_every_guard(self, guard):
        done = Counter()
        for turn, algorithm in enumerate((Mondrian(), Localpk(), Optimal(), Mondrian(mode="relaxed"))):
            case = case_of(turn)
            done += checked([KAnonymity(k=2)], algorithm, case, turn, guards=[guards.build(guard)])
        assert done["suppressed"] >= 3, done

    @pytest.mark.slow
    @pytest.mark.parametrize("algorithm", [Optimal(), Mondrian(), Datafly()], ids=str)
    def test_combinations_on_the_driver(self, algorithm, far_away):
        """Each stands for its records: the driver takes fewer rows than there are."""
        done = Counter()
        for turn in range(4):
            case = case_of(turn, 12)
            case = replace(case, table=pa.concat_tables([case.table] * 2))
            far_away(20, driver_rows=23)
            done += checked([KAnonymity(k=2)], algorithm, case, turn)
        assert done["suppressed"] >= 2, done

    @pytest.mark.slow
    @pytest.mark.parametrize("algorithm", [Optimal(), Mondrian(), Localpk()], ids=str)
    def test_far_from_the_driver_the_same_rows_come_with_the_same_files(self, algorithm, far_away):
        done = Counter()
        far_away(10)
        for turn in range(4):
            done += checked([KAnonymity(k=2)], algorithm, case_of(turn), turn, replay=False)
            order = ["another order of the rows"]
            done += checked([KAnonymity(k=2)], algorithm, case_of(turn), turn, replay=False, changes=order)
        assert sum(done[what] for what in CHANGES), done


def folder_files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.usefixtures("spark")
def test_runs_on_files_with_other_suppressed_records(tmp_path, monkeypatch):
    monkeypatch.setattr(part_files, "ONE_FILE", 30)
    rows = visits(60, 2).select(["age", "zip", "illness"])
    alone = {"age": [9999], "zip": ["777"], "illness": ["flu"]}
    other = {"age": [-5], "zip": ["1"], "illness": ["a cold that nobody else has"]}
    policy = ht.Policy(
        quasi={
            "age": {"kind": "numeric", "hierarchy": {"intervals": [5, 10]}},
            "zip": {"hierarchy": {"prefix": "*"}},
        },
        sensitive=["illness"],
        models=[KAnonymity(k=3)],
        algorithm=Optimal(),
        suppression=0.05,
    )
    pq.write_table(pa.concat_tables([rows, pa.table(alone)]), tmp_path / "one.parquet")
    pq.write_table(pa.concat_tables([pa.table(other), rows]), tmp_path / "other.parquet")
    for format in ("csv", "parquet"):
        chosen = policy.changed(output={"format": format})
        for name in ("one", "other"):
            ht.run(tmp_path / f"{name}.parquet", chosen, tmp_path / f"{name}-{format}", engine="spark")
        files = folder_files(tmp_path / f"one-{format}")
        assert json.loads(files["release.json"])["suppressed"] == 4
        assert files == folder_files(tmp_path / f"other-{format}")
    parts = [f"release.parquet/part-{number:05d}.parquet" for number in range(3)]
    assert sorted(files) == ["policy.yaml", "release.json", *parts]


def test_metadata_of_columns_are_not_written(spark, on_spark, tmp_path):
    """Spark's indexes of texts list all values of a column there, those of suppressed records too."""
    frame = spark.createDataFrame(visits(60, 2).select(["age", "zip", "illness", "note"]))
    for name in frame.columns:
        frame = frame.withMetadata(name, {"ml_attr": {"vals": ["canary"]}, "comment": "canary"})
    columns = (quasi("age", Kind.NUMERIC), quasi("zip", Kind.NOMINAL), sensitive("illness"), NOTE)
    release = on_spark(frame, plan_of([KAnonymity(k=3)], columns, document={"seed": 0}))
    release.save(tmp_path / "out", format="parquet", parts=True)
    assert all(b"canary" not in content for content in folder_files(tmp_path / "out").values())
