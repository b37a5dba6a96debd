"""Every attack on every kind of release: it runs, or says what it lacks."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import hushtable as ht
from hushtable import registry
from hushtable.errors import UsageError

LACKING = {
    "similarity": "categories",
    "downcoding": "representatives",
    "combinatorial-refinement": "local recoding with hierarchy nodes",
}


def mixed(n: int = 90) -> pa.Table:
    generator = np.random.default_rng(1)
    return pa.table(
        {
            "age": pa.array([None if i % 17 == 0 else int(a) for i, a in enumerate(generator.integers(18, 90, n))]),
            "country": [None if i % 23 == 0 else str(c) for i, c in enumerate(generator.choice(["x", "y", "z"], n))],
            "day": pa.array(generator.integers(0, 3000, n).astype(np.int32)).cast(pa.date32()),
            "disease": [str(d) for d in generator.choice(list("abcd"), n)],
        }
    )


@pytest.mark.parametrize("cells", ["intervals", "nodes", "sets", "midpoint"])
@pytest.mark.parametrize("algorithm", ["mondrian", "optimal", "mdav", "anti-unification", "anatomy", "lattice-sweep"])
def test_attacks_run_on_every_recoding(algorithm, cells):
    models = [ht.DistinctL(l=2)] if algorithm == "anatomy" else [ht.KAnonymity(k=3), ht.DistinctL(l=2)]
    policy = ht.Policy(
        quasi=["age", "country", "day"],
        sensitive=["disease"],
        models=models,
        algorithm=registry.algorithms.build(algorithm, {}),
        cells=cells,
        suppression=0.1,
    )
    release = ht.anonymize(mixed(), policy)
    representatives = algorithm != "anatomy" and any(not c.tells_bounds for c in release.recoded.cells)
    lacking = {"similarity"} | ({"downcoding"} if representatives else set())
    if algorithm not in ("mondrian", "lattice-sweep") or cells != "nodes":
        lacking.add("combinatorial-refinement")
    for name in registry.attacks:
        more = {"composition": {"others": release}, "membership": {"control": mixed(20)}}.get(name, {})
        if name in lacking:
            with pytest.raises(UsageError, match=LACKING[name]):
                release.attack(name, **more)
            continue
        result = release.attack(name, **more)
        assert result.name == name and result.knowledge.endswith(".") and result.remedy.endswith(".")
        assert 0 <= result.interval[0] <= result.rate <= result.interval[1] <= 1
        assert 0 <= result.baseline <= 1 + 1e-9


def test_a_bucketization_hides_values_and_not_people():
    table = pa.table({"age": [20, 21, 22, 60, 61, 62], "disease": list("abcabc")})
    anatomy = registry.algorithms.build("anatomy", {})
    policy = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.DistinctL(l=3)], algorithm=anatomy)
    release = ht.anonymize(table, policy)
    assert release.attack("linkage").rate == 1.0
    assert release.attack("homogeneity").rate == 0.0
    assert release.attack("negation", n=2).rate == 1.0
    assert release.attack("definetti").baseline == pytest.approx(1 / 3)


@pytest.mark.parametrize("cells", ["intervals", "nodes", "sets", "midpoint"])
def test_exact_values_tell_whose_record_it_is_whatever_the_style(cells):
    table = pa.table({"age": [20, 30, 40, 50], "zip": [1, 2, 3, 4], "disease": ["flu", "gout", "flu", "gout"]})
    policy = ht.Policy(
        quasi=["age", "zip"], sensitive=["disease"], models=[ht.DistinctL(l=2)], algorithm="anatomy", cells=cells
    )
    release = ht.anonymize(table, policy)
    for attack in ("linkage", "linkability"):
        assert release.attack(attack).counts["certain links"] == 4


def test_known_values_where_the_release_has_none():
    table = pa.table({"age": pa.array([None, None], pa.int64()), "zip": [1, 2], "disease": ["flu", "gout"]})
    policy = ht.Policy(
        quasi={"age": {"kind": "numeric"}, "zip": {}}, sensitive=["disease"], models=[ht.KAnonymity(k=2)]
    )
    release = ht.anonymize(table, policy)
    result = release.attack("linkage", external=pa.table({"age": [30], "zip": [1]}))
    assert result.counts["people without a match"] == 1
