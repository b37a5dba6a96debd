"""The Bayes-optimal adversary: Allard's Don, planted correlations, bad distributions."""

from __future__ import annotations

import pyarrow as pa
import pytest
from support_attacks import correlated, people, policy

import hushtable as ht
from hushtable import registry
from hushtable.attacks.bayes_optimal import BayesOptimalAttack
from hushtable.attacks.view import View
from hushtable.errors import DataError, ParameterError

TABLE = pa.table(
    {"zip": [75001, 75002, 75003, 75010], "age": [22, 29, 22, 29], "disease": ["Cold", "Flu", "HIV", "Cold"]}
)


def joint():
    rows = [(75003, 22, "Cold", 0.1), (75003, 22, "Flu", 0.01), (75003, 22, "HIV", 0.14)]
    for zip_, age in ((75001, 22), (75002, 29), (75010, 29)):
        rows += [(zip_, age, disease, 0.25 / 3) for disease in ("Cold", "Flu", "HIV")]
    return pa.table({name: [r[i] for r in rows] for i, name in enumerate(("zip", "age", "disease", "probability"))})


@pytest.fixture(scope="module")
def release():
    quasi = {"zip": {"kind": "numeric"}, "age": {}}
    return ht.anonymize(TABLE, ht.Policy(quasi=quasi, sensitive=["disease"], models=[ht.KAnonymity(k=2)]))


def test_what_is_believed_of_don(release):
    attack = BayesOptimalAttack(theta=0.1, background=joint())
    view = View.of(release)
    beliefs, people_, first = attack.beliefs(view)
    zips = view.table.quasi[0]
    of_entry = people_.codes[0][first[beliefs.quasi]]
    don = [i for i, code in enumerate(of_entry) if zips.coded.values[int(code)].as_py() == 75003]
    names = view.table.sensitive[0].coded.values
    prior = {names[int(beliefs.value[i])].as_py(): beliefs.prior[i] for i in don}
    posterior = {names[int(beliefs.value[i])].as_py(): beliefs.posterior[i] for i in don}
    assert {k: round(v, 2) for k, v in prior.items()} == {"Cold": 0.4, "Flu": 0.04, "HIV": 0.56}
    # the slides round on the way: 0.46 and 0.54
    assert {k: round(v, 4) for k, v in posterior.items()} == {"Cold": 0.4653, "Flu": 0.0, "HIV": 0.5347}


def test_theta_decides(release):
    result = release.attack("bayes-optimal", theta=0.1, background=joint())
    # Don's beliefs move by 0.06; the others lose a third of their belief in the value that their class lacks
    assert result.successes == 3 and result.counts["records known to the background"] == 4
    assert release.attack("bayes-optimal", theta=0.05, background=joint()).successes == 4


def test_a_distribution_must_add_up_to_one(release):
    bad = joint().slice(1)
    with pytest.raises(DataError, match="does not add up to 1") as caught:
        release.attack("bayes-optimal", background=bad)
    assert caught.value.code == "no-distribution"
    with pytest.raises(DataError, match="lacks the column 'probability'"):
        release.attack("bayes-optimal", background=joint().drop_columns(["probability"]))
    with pytest.raises(DataError, match="lacks the quasi-identifiers 'zip'"):
        release.attack("bayes-optimal", background=joint().drop_columns(["zip"]))
    with pytest.raises(ParameterError, match="not both"):
        BayesOptimalAttack(background=joint(), outside=joint())


def test_a_planted_correlation_is_a_breach_and_a_bounded_release_is_none():
    table = correlated(600)
    assert ht.anonymize(table, policy([ht.KAnonymity(k=5)])).attack("bayes-optimal", theta=0.3).rate > 0.9
    models = [ht.KAnonymity(k=5), registry.models.build("bayes-optimal", {"theta": 0.3})]
    safe = ht.anonymize(table, policy(models)).attack("bayes-optimal", theta=0.3)
    assert safe.rate == safe.baseline == 0.0


def test_outside_records_who_know_it_all_already_learn_less():
    table = correlated(600)
    release = ht.anonymize(table, policy([ht.KAnonymity(k=5)]))
    blind = release.attack("bayes-optimal", theta=0.3)
    informed = release.attack("bayes-optimal", theta=0.3, outside=table)
    assert informed.counts["records known to the background"] == 600
    assert informed.rate < 0.1 < blind.rate
    assert release.attack("bayes-optimal", outside=people(50)).targets == 600


@pytest.mark.parametrize("kind", ["background", "outside"])
def test_values_that_the_release_does_not_have_were_believed_before(kind):
    """Half of those like them have gout; nobody in the release does, which tells everything."""
    rules = ht.Policy(quasi=["age"], sensitive=["disease"], models=[ht.KAnonymity(k=2)])
    release = ht.anonymize(pa.table({"age": [25, 26], "disease": ["flu", "flu"]}), rules)
    others = {"age": [25] * 4 + [26] * 4, "disease": ["flu", "flu", "gout", None] * 2, "probability": [0.125] * 8}
    result = release.attack("bayes-optimal", **{kind: pa.table(others)})
    assert result.counts["greatest change"] == 0.5 and result.rate == 1.0
    assert result.counts["records known to the background"] == 2


def test_the_policy_s_own_background_is_what_the_adversary_believes(release):
    """The same three of Allard's four people, whoever hands the beliefs over."""
    quasi = {"zip": {"kind": "numeric"}, "age": {}}
    told = ht.Policy(
        quasi=quasi, sensitive=["disease"], models=[ht.KAnonymity(k=2)],
        background={"file": joint(), "on": "disease"},
    )  # fmt: skip
    own = ht.anonymize(TABLE, told)
    given = release.attack("bayes-optimal", theta=0.1, background=joint())
    found = own.attack("bayes-optimal", theta=0.1)
    assert found.successes == given.successes == 3
    assert found.counts["greatest change"] == pytest.approx(given.counts["greatest change"])
    assert found.counts["records known to the background"] == 4
    # what is given stands above the policy's own
    flat = joint().set_column(3, "probability", pa.array([1 / 12] * 12))
    assert (
        own.attack("bayes-optimal", theta=0.1, background=flat).as_dict()
        == release.attack("bayes-optimal", theta=0.1, background=flat).as_dict()
    )


def test_a_saved_release_is_verified_beside_its_original(tmp_path):
    told = ht.Policy(
        quasi={"zip": {"kind": "numeric"}, "age": {}}, sensitive=["disease"],
        models=[ht.KAnonymity(k=2), ht.BayesOptimal(theta=0.9, background=True)],
        background={"file": joint(), "on": "disease"},
    )  # fmt: skip
    ht.anonymize(TABLE, told).save(tmp_path / "release")
    assert ht.open_release(tmp_path / "release", TABLE, background=joint()).verify().ok
