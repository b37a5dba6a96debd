"""Comparing settings: what is tried, what is kept, what is chosen, and what is refused."""

from __future__ import annotations

import pytest
from support_studio import finished

from hushtable.errors import NotFound, UsageError
from hushtable.policy.policy import Policy
from hushtable.studio.comparing import MOST, check_grid, found_in, setting_of, suggested

ROWS = [b"n%d,%d,1%d,%s\n" % (i, 20 + i % 7, 40 + i % 5, (b"flu", b"cold", b"HIV")[i % 3]) for i in range(60)]
CSV = b"name,age,zip,disease\n" + b"".join(ROWS)
GRID = {"algorithms": ["mondrian", "datafly"], "models": [[{"k-anonymity": {"k": [2, 5, 90]}}]], "suppression": [0.0]}


@pytest.fixture
def project(studio):
    made = studio.create("People")
    upload = studio.new_upload(made, "people.csv")
    upload.write_bytes(CSV)
    finished(studio, studio.opened(made, upload, "people.csv"))
    studio.set_models(made, [{"k-anonymity": {"k": 3}}])
    return made


def test_settings_are_measured_suggested_and_used(studio, project):
    assert found_in(project) is None
    with pytest.raises(UsageError, match="no comparison yet"):
        suggested(project)
    finished(studio, studio.compare(project, GRID))
    found = studio.compared(project)
    assert [row["status"] for row in found.rows] == ["ok", "ok", "infeasible"] * 2
    place, chosen = suggested(project, risk=0.2)
    assert found.rows[place]["values"]["prosecutor"] <= 0.2 and chosen.fulfilled >= 1
    before = project.document()
    studio.use_setting(project, place)
    after = project.document()
    assert after["models"] == [{"k-anonymity": {"k": 5}}] and after["columns"] == before["columns"]
    assert studio.faults(project) == []
    with pytest.raises(NotFound, match="closest"):
        suggested(project, risk=0.0001)
    with pytest.raises(UsageError, match="gives no release"):
        setting_of(project, 2)
    with pytest.raises(UsageError, match="no such setting"):
        studio.use_setting(project, 6)


def test_the_api_does_the_same(client, studio, project):
    at = f"/api/projects/{project.id}/comparison"
    assert client.get(at).json() == {}
    answer = client.post(at, json=GRID)
    assert answer.status_code == 202
    finished(studio, answer.json()["id"])
    found = client.get(at).json()
    assert found["settings"] == 6 and any(row["frontier"] for row in found["rows"])
    assert client.post(f"{at}/1/use").json()["models"] == [{"k-anonymity": {"k": 5}}]
    assert client.post(f"{at}/99/use").status_code == 404


@pytest.mark.parametrize(
    "grid",
    [
        {"algorithms": ["nope"]},
        {"models": [[{"k-anonymity": {"k": [1]}}]]},
        {"models": [[]]},
        {"suppression": [2]},
        {"suppression": [i / 200 for i in range(101)]},
        {"models": [[{"k-anonymity": {"k": list(range(2, 90))}}]], "suppression": [0, 0.1]},
        {"nope": 1},
    ],
)
def test_what_cannot_be_compared(client, project, grid):
    answer = client.post(f"/api/projects/{project.id}/comparison", json=grid)
    assert answer.status_code == 422, answer.text
    assert answer.json()["message"]


def test_too_many_settings_are_refused_before_they_are_built():
    policy = Policy(quasi=["age"], models=[{"k-anonymity": {"k": 3}}])
    with pytest.raises(UsageError, match=f"{MOST} can be compared at once"):
        check_grid(policy, {"algorithms": ["mondrian"] * 40, "suppression": [0.0] * 40})
    with pytest.raises(UsageError, match="1,000,000 settings"):
        check_grid(policy, {"models": [[{"k-anonymity": {"k": list(range(10**6))}}]]})
