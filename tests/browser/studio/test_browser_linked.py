"""The studio in a browser: linked tables from upload to download."""

from __future__ import annotations

import zipfile

import pytest

pytest.importorskip("nicegui", reason="needs hushtable[studio]")

from studio_driver import STEPS, go, run_it

from hushtable.datasets.hospital import hospital, hospital_policy
from hushtable.io.files import write_table
from hushtable.linked.policy import LinkedPolicy

pytestmark = pytest.mark.browser


def test_linked_tables_from_upload_to_download(page, tmp_path):
    policy = LinkedPolicy(**{**hospital_policy(), "crowd": 60, "suppression": 1.0})
    with zipfile.ZipFile(tmp_path / "clinic.zip", "w") as out:
        out.writestr("policy.yaml", policy.to_yaml())
        for name, table in hospital(120).items():
            write_table(table, tmp_path / f"{name}.csv")
            out.write(tmp_path / f"{name}.csv", f"{name}.csv")
    page.get_by_label("Name").fill("Clinic")
    page.get_by_role("button", name="Create").click()
    page.get_by_label("Choose a file, or drop it here:").set_input_files(tmp_path / "clinic.zip")
    page.get_by_text("120 people with").wait_for()
    base = page.url.rsplit("/", 1)[0]
    area = page.get_by_label("Policy of the tables")
    area.fill(area.input_value().replace("knows: 2", "knows: 9"))
    page.get_by_role("button", name="Save the policy").click()
    page.get_by_text("whole number from 1 to 4", exact=False).first.wait_for()
    area.fill(area.input_value().replace("knows: 9", "knows: 1"))
    page.get_by_role("button", name="Save the policy").click()
    run_it(page, base)
    for step in (s for s in STEPS if s not in ("data", "run", "attack", "export")):
        go(page, base, step)
        page.get_by_text("This step is for one table.").wait_for()
    go(page, base, "attack")
    page.get_by_role("button", name="Assess the risk").click()
    page.get_by_text("of one person").first.wait_for()
    page.get_by_role("button", name="Run the attacks").click()
    page.get_by_role("cell", name="event-sweep").first.wait_for()
    go(page, base, "export")
    page.get_by_role("button", name="Verify the file again").click()
    page.get_by_text("Every promise holds").wait_for()
    with page.expect_download() as fetched:
        page.get_by_role("link", name="diagnoses.csv").click()
    assert "code" in fetched.value.path().read_text()
