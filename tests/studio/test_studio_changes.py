"""Changes of a policy: none on a state that somebody has not seen, and each can be taken back."""

from __future__ import annotations

import pytest
from support_studio import finished

from hushtable.errors import HushtableError, UsageError
from hushtable.studio.service import done_steps, note_export, note_visit


@pytest.fixture
def project(studio):
    made = studio.create("Changes")
    finished(studio, studio.example(made, rows=300))
    return made


def k_of(project):
    return next(m["k-anonymity"]["k"] for m in project.document()["models"] if "k-anonymity" in m)


def with_k(project, k):
    return [{"k-anonymity": {"k": k}} if "k-anonymity" in m else m for m in project.document()["models"]]


def test_what_was_decided_on_an_old_state_is_refused(studio, project):
    """One tab sets k to 9; another one, which still shows 5, changes something else: k stays 9."""
    stale = project.revision()
    old = with_k(project, 5)
    fresh = studio.set_models(project, with_k(project, 9), seen=stale)
    assert fresh == project.revision() != stale
    writes = [
        lambda: studio.set_models(project, old, seen=stale),
        lambda: studio.set_algorithm(project, {"datafly": {}}, seen=stale),
        lambda: studio.set_settings(project, {"seed": 3}, seen=stale),
        lambda: studio.set_column(project, "age", {"role": "insensitive"}, seen=stale),
        lambda: studio.set_columns(project, ["age", "sex"], {"role": "insensitive"}, seen=stale),
        lambda: studio.set_policy(project, project.policy_file.read_text(), seen=stale),
        lambda: studio.undo(project, seen=stale),
        lambda: studio.run(project, seen=stale),
        lambda: studio.compare(project, {}, seen=stale),
        lambda: studio.example(project, seen=stale),
    ]
    before = project.policy_file.read_bytes()
    for write in writes:
        with pytest.raises(UsageError, match="changed in another tab") as caught:
            write()
        assert caught.value.code == "stale"
    assert project.policy_file.read_bytes() == before and k_of(project) == 9


def test_rest_clients_may_name_the_revision(client, studio, project):
    at = f"/api/projects/{project.id}"
    seen = client.get(f"{at}/policy").json()["revision"]
    assert client.patch(f"{at}/settings", json={"seed": 4}, headers={"if-match": seen}).status_code == 200
    answer = client.patch(f"{at}/settings", json={"seed": 5}, headers={"if-match": seen})
    assert answer.status_code == 412 and answer.json()["code"] == "stale"
    assert client.put(f"{at}/data?name=a.csv", content=b"a\n1\n", headers={"if-match": seen}).status_code == 412
    assert project.document()["seed"] == 4
    assert client.post(f"{at}/undo").json()["document"].get("seed") != 4
    assert client.patch(f"{at}/settings", json={"seed": 6}).status_code == 200, "programs may leave it out"


def test_changes_are_undone_one_by_one(studio, project):
    first = project.policy_file.read_text()
    assert project.undoable() is None
    studio.set_columns(project, ["age", "sex"], {"role": "insensitive"})
    second = project.policy_file.read_text()
    studio.set_settings(project, {"seed": 11})
    assert project.undoable() == "seed"
    studio.undo(project)
    assert project.policy_file.read_text() == second and project.undoable() == "role of 2 columns"
    studio.undo(project)
    assert project.policy_file.read_text() == first and project.undoable() is None
    with pytest.raises(UsageError, match="no change to undo"):
        studio.undo(project)


def test_what_came_from_elsewhere_is_not_undone(studio, project):
    """A file that was edited by hand, or other data, are not put back to what some page knew."""
    studio.set_settings(project, {"seed": 11})
    project.policy_file.write_text(project.policy_file.read_text() + "# by hand\n")
    assert project.undoable() is None
    with pytest.raises(UsageError):
        studio.undo(project)


def test_several_columns_are_changed_together_or_not_at_all(studio, project):
    before = project.policy_file.read_text()
    with pytest.raises(HushtableError):
        studio.set_columns(project, ["age", "nobody"], {"role": "insensitive"})
    assert project.policy_file.read_text() == before
    studio.set_columns(project, ["age", "sex"], {"role": "insensitive"})
    columns = project.document()["columns"]
    assert {columns[name]["role"] for name in ("age", "sex")} == {"insensitive"}


def test_steps_get_their_ticks(studio):
    project = studio.create("Steps")
    note_visit(project, "columns")
    assert done_steps(studio, project) == set(), "there was nothing to see yet"
    finished(studio, studio.example(project, rows=300))
    assert done_steps(studio, project) == {"data"}
    for step in ("columns", "hierarchies", "protect", "explore", "compare"):
        note_visit(project, step)
    assert done_steps(studio, project) == {"data", "columns", "hierarchies", "protect"}, "there is no release yet"
    studio.set_models(project, [])
    assert "protect" not in done_steps(studio, project)
    studio.set_models(project, [{"k-anonymity": {"k": 301}}])
    assert "protect" in done_steps(studio, project), "nothing is known against it yet"
    finished(studio, studio.check(project))
    assert "protect" not in done_steps(studio, project), "no release of 300 people can be 301-anonymous"
    studio.undo(project)
    assert "protect" not in done_steps(studio, project)
    studio.undo(project)
    assert "protect" in done_steps(studio, project)
    finished(studio, studio.run(project))
    for step in ("explore", "compare"):
        note_visit(project, step)
    assert done_steps(studio, project) >= {"run", "explore", "compare"}
    assert not done_steps(studio, project) & {"attack", "export"}
    finished(studio, studio.assess(project, 1))
    note_export(project)
    assert done_steps(studio, project) >= {"attack", "export"}
