"""The studio in a browser: the whole way on the embedded data and on one's own, and projects that come and go."""

from __future__ import annotations

import csv
import gzip
import zipfile

import pytest

pytest.importorskip("nicegui", reason="needs hushtable[studio]")

from studio_driver import go, run_it

pytestmark = pytest.mark.browser


def test_a_newcomer_gets_to_a_verified_release(page, base, tmp_path):
    """Only the buttons that say what comes next are used."""
    for title in ("Columns", "Hierarchies", "Protect", "Run"):
        page.get_by_role("button", name=f"Next: {title}").click()
        page.get_by_role("heading", name=title, exact=True, level=1).wait_for()
    page.get_by_role("button", name="Start a run").click()
    page.get_by_text("✓ verified").wait_for()
    for title in ("Explore", "Compare", "Attack & risk", "Export"):
        page.get_by_role("button", name=f"Next: {title}").click()
        page.get_by_role("heading", name=title, exact=True, level=1).wait_for()
    page.get_by_role("button", name="Verify the file again").click()
    page.get_by_text("Every promise holds").wait_for()
    with page.expect_download() as got:
        page.get_by_role("link", name="Download release.csv").click()
    got.value.save_as(tmp_path / "release.csv")
    rows = list(csv.reader((tmp_path / "release.csv").read_text(encoding="utf-8").splitlines()))
    assert "name" not in rows[0] and "diagnosis" in rows[0] and len(rows) > 4000
    with page.expect_download() as got:
        page.get_by_role("link", name="Download the release with its files").click()
    got.value.save_as(tmp_path / "bundle.zip")
    with zipfile.ZipFile(tmp_path / "bundle.zip") as packed:
        there = set(packed.namelist())
        assert {"release/release.csv", "release/policy.yaml", "release/release.json", "repeat.py"} <= there
    assert base in page.url


def test_an_upload_of_ones_own(page, tmp_path):
    table = tmp_path / "people.csv"
    table.write_text("name,age,town,disease\n" + "".join(f"n{i},{20 + i % 9},t{i % 4},d{i % 3}\n" for i in range(200)))
    page.get_by_label("Name of the project").fill("My people")
    page.get_by_label("Name of the project").press("Enter")
    page.get_by_role("heading", name="Upload a table").wait_for()
    page.locator("input[type=file]").set_input_files(table)
    page.get_by_text("200 rows, 4 columns").wait_for()
    assert page.get_by_role("cell", name="n0", exact=True).count() == 1
    page.get_by_role("button", name="Later rows").first.click()
    page.get_by_text("Rows 11 to 20 of 200").wait_for()
    run_it(page, page.url.rsplit("/", 1)[0])


def test_wrong_uploads_are_told(page, tmp_path):
    page.get_by_label("Name of the project").fill("Broken")
    page.get_by_role("button", name="Create", exact=True).click()
    page.get_by_role("heading", name="Upload a table").wait_for()
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\n1,2,3\n")
    page.locator("input[type=file]").set_input_files(bad)
    page.get_by_role("alert").filter(has_text="Something went wrong").wait_for()
    fake = tmp_path / "fake.parquet"
    fake.write_text("no parquet")
    page.locator("input[type=file]").set_input_files(fake)
    page.get_by_text("content is not that of a .parquet file").wait_for()
    page.get_by_label("Address").fill("sqlite:////etc/passwd")
    page.get_by_label("SELECT").fill("SELECT 1")
    page.get_by_role("button", name="Run the query").click()
    page.get_by_text("queries only database servers").wait_for()


def test_a_project_decides_how_much_an_upload_may_unpack_to(page, tmp_path):
    page.get_by_label("Name of the project").fill("Packed")
    page.get_by_role("button", name="Create", exact=True).click()
    page.get_by_role("heading", name="Upload a table").wait_for()
    packed = tmp_path / "people.csv.gz"
    packed.write_bytes(gzip.compress(b"age,sex\n" + b"30,f\n31,m\n" * 200_000))
    limit = page.get_by_label("Unpacked size limit (MiB)")
    limit.fill("1")
    limit.press("Enter")
    page.wait_for_timeout(300)
    page.locator("input[type=file]").set_input_files(packed)
    page.get_by_role("alert").filter(has_text="unpacks to more than 1 MiB").wait_for()
    assert limit.input_value() == "1"
    limit.fill("")
    limit.press("Enter")
    page.wait_for_timeout(300)
    page.locator("input[type=file]").set_input_files(packed)
    page.get_by_text("400,000 rows, 2 columns").wait_for()


def test_a_project_is_deleted_with_a_question(page, server):
    page.get_by_label("Name of the project").fill("To be deleted")
    page.get_by_role("button", name="Create", exact=True).click()
    page.get_by_role("heading", name="Upload a table").wait_for()
    base = page.url
    page.goto(server.base)
    page.get_by_role("button", name="Delete: To be deleted").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.get_by_role("link", name="To be deleted").wait_for(state="detached")
    page.goto(base)
    page.get_by_text("This page does not exist").wait_for()


def test_a_strangers_file_paints_nothing(page, tmp_path):
    """Markup in names and cells is text, on every page."""
    evil = "<img src=x onerror=alert(1)>"
    table = tmp_path / "evil.csv"
    lines = "".join(f"{20 + i % 9},{evil}{i % 4},</script>{i % 3}\n" for i in range(100))
    table.write_text(f"age,{evil} / 2,<b>\n" + lines)
    page.on("dialog", lambda dialog: page.complaints.append("a script ran"))
    page.get_by_label("Name of the project").fill('"><script>alert(1)</script> \\')
    page.get_by_label("Name of the project").press("Enter")
    page.locator("input[type=file]").set_input_files(table)
    page.get_by_text("100 rows, 3 columns").wait_for()
    base = page.url.rsplit("/", 1)[0]
    go(page, base, "columns")
    page.get_by_label(f"Role: {evil} / 2").select_option("quasi")
    page.get_by_label("Role: <b>").select_option("sensitive")
    page.get_by_role("link", name="Hierarchy: <img").wait_for()
    go(page, base, "hierarchies?column=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E%20%2F%202")
    page.get_by_text("This hierarchy covers every value").wait_for()
    page.get_by_label("k *").count()
    run_it(page, base)
    for step in ("explore", "compare", "attack", "export"):
        go(page, base, step)
        page.wait_for_timeout(300)
    assert page.locator("img").count() == 0
    page.goto(base.rsplit("/", 2)[0])
    page.get_by_role("button", name='Delete: "><script>').wait_for()
