"""The studio in a browser: the whole way on the embedded data, and everything that goes wrong on it."""

from __future__ import annotations

import csv
import os
import re
import signal
import time
import zipfile

import pytest

pytest.importorskip("nicegui", reason="needs hushtable[studio]")

from studio_driver import STEPS, Server, choose, go, open_page, run_it, try_it

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    made = Server(tmp_path_factory.mktemp("studio") / "home")
    yield made
    made.stop()


@pytest.fixture
def page(chromium, server):
    made = open_page(chromium, server)
    yield made
    refused = "Failed to load resource: the server responded with a status of 4"  # the browser says so by itself
    assert [c for c in made.complaints if not c.startswith(refused)] == []
    assert {url.split("/")[2] for url in made.asked if url.startswith(("http", "ws"))} == {server.base.split("/")[2]}
    made.context.close()


@pytest.fixture(scope="module")
def released(chromium, server):
    """A project with a release, for the tests that look at one."""
    page = open_page(chromium, server)
    base = try_it(page)
    run_it(page, base)
    page.context.close()
    return base


def test_a_newcomer_gets_to_a_verified_release(page, tmp_path):
    """Only the buttons that say what comes next are used."""
    base = try_it(page)
    for title in ("Roles", "Hierarchies", "Protect", "Run"):
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
        page.get_by_role("link", name="Download everything").click()
    got.value.save_as(tmp_path / "bundle.zip")
    with zipfile.ZipFile(tmp_path / "bundle.zip") as packed:
        assert {"release.csv", "policy.yaml", "release.json", "repeat.py"} <= set(packed.namelist())
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
    page.get_by_role("alert").filter(has_text="It did not work").wait_for()
    fake = tmp_path / "fake.parquet"
    fake.write_text("no parquet")
    page.locator("input[type=file]").set_input_files(fake)
    page.get_by_text("content is not that of a .parquet file").wait_for()
    page.get_by_label("Address").fill("sqlite:////etc/passwd")
    page.get_by_label("SELECT").fill("SELECT 1")
    page.get_by_role("button", name="Run the query").click()
    page.get_by_text("asks database servers only").wait_for()


def test_wrong_parameters_are_told_and_not_kept(page):
    base = try_it(page)
    go(page, base, "protect")
    page.get_by_text("Nothing stands in the way of a run").wait_for()
    k = page.get_by_label("k *")
    k.fill("1")
    k.press("Tab")
    page.get_by_text("must be an int >= 2").wait_for()
    page.reload()
    assert page.get_by_label("k *").input_value() == "5"
    page.get_by_label("k *").fill("6000")
    page.get_by_label("k *").press("Tab")
    page.get_by_text("To be mended before a run").wait_for()
    go(page, base, "run")
    page.get_by_role("button", name="Start a run").click()
    page.get_by_role("alert").filter(has_text="It did not work").wait_for()


def test_the_policy_as_text_and_the_rare_settings(page):
    base = try_it(page)
    go(page, base, "protect")
    page.get_by_text("Nothing stands in the way of a run").wait_for()
    opener = page.get_by_text("The policy as text", exact=True).first
    text = page.get_by_label("The policy as text", exact=True)
    opener.click()
    text.wait_for()
    whole = text.input_value()
    opener.click()
    page.get_by_text("Which values are the most sensitive", exact=True).first.click()
    area = page.get_by_label("Which values are the most sensitive: diagnosis")
    area.wait_for()
    area.fill("")
    area.press("Tab")
    page.get_by_text("To be mended before a run").wait_for()
    opener.click()
    page.wait_for_function(
        "w => document.querySelector('textarea[aria-label=\"The policy as text\"]').value != w", arg=whole
    )
    assert "categories" not in text.input_value()
    text.fill("columns: {a: {role: quasi}}")
    page.get_by_role("button", name="Use this policy").click()
    page.get_by_text("no privacy model").first.wait_for()
    text.fill(whole.replace("k: 5", "k: 7"))
    page.get_by_role("button", name="Use this policy").click()
    page.get_by_text("Nothing stands in the way of a run").wait_for()
    assert page.get_by_label("k *").input_value() == "7"


def test_a_page_is_there_while_the_worker_is_busy(page, server):
    """A page says that it checks instead of staying blank until a worker has time for it."""
    base = try_it(page)
    (worker,) = server.workers("quick")
    os.kill(worker, signal.SIGSTOP)
    try:
        go(page, base, "protect")
        page.get_by_text("Checking ...").wait_for()
        go(page, base, "hierarchies?column=age")
        page.get_by_text("Checking ...").wait_for()
    finally:
        os.kill(worker, signal.SIGCONT)
    page.get_by_text("This hierarchy covers every value").wait_for()


def test_a_name_and_enter_before_the_page_is_connected(chromium, server):
    """Both are kept, in this order, however slow the connection is."""
    page = open_page(chromium, server)
    page.route_web_socket(lambda url: True, lambda ws: (time.sleep(2), ws.connect_to_server()))
    page.goto(server.base)
    page.get_by_label("Name of the project").fill("In a hurry")
    page.get_by_label("Name of the project").press("Enter")
    page.get_by_role("heading", name="Upload a table").wait_for()
    page.get_by_text("In a hurry").wait_for()
    page.context.close()


def test_settings_are_compared_and_one_is_chosen(page):
    base = try_it(page)
    go(page, base, "run")
    page.get_by_text("Not sure? Compare settings").click()
    values = page.get_by_label("k of k-anonymity: values to try")
    values.wait_for()
    values.fill("5, x")
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_text("must be an int >= 2").wait_for()
    values.fill("5, 20, 6000")
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_role("heading", name="What they gave").wait_for()
    assert page.get_by_label("k of k-anonymity: values to try").input_value() == "5, 20, 6000"
    assert page.get_by_role("button", name="Use setting 3").count() == 0, "it gives no release"
    page.get_by_label("Risk at most, in percent").fill("6")
    page.get_by_role("button", name="Suggest one").click()
    page.get_by_text("Setting 2: mondrian").wait_for()
    page.get_by_role("button", name="Use setting 2").first.click()
    page.get_by_text("Setting 2 is the policy now.").wait_for()
    go(page, base, "protect")
    assert page.get_by_label("k *").input_value() == "20"


def test_a_comparison_is_cancelled(page):
    base = try_it(page)
    go(page, base, "run")
    page.get_by_text("Not sure? Compare settings").click()
    page.get_by_label("k of k-anonymity: values to try").fill(", ".join(map(str, range(5, 65))))
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_role("button", name="Cancel the comparison").click()
    page.get_by_text("Settings that were finished before are not run again.").wait_for()
    assert page.get_by_role("heading", name="What they gave").count() == 0


def test_weights_and_tables_from_elsewhere(page, tmp_path):
    base = try_it(page)
    go(page, base, "hierarchies?column=age")
    page.get_by_text("This hierarchy covers every value").wait_for()
    weight = page.get_by_label("Weight: how much its detail matters")
    weight.fill("2")
    weight.press("Tab")
    page.get_by_role("button", name="Next column: sex").click()
    page.wait_for_url("**/hierarchies?column=sex")
    file = tmp_path / "register.csv"
    file.write_text("age,sex,postcode,country,education,occupation,admission\n30,male,10115,Germany,,,2020-01-01\n")
    go(page, base, "protect")
    page.get_by_text("What is known from elsewhere", exact=True).first.click()
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_text("Nothing stands in the way of a run").wait_for()
    page.get_by_text("What is known from elsewhere", exact=True).first.click()
    choose(page, "Table of the population", "register.csv")
    page.get_by_text("The policy as text", exact=True).first.click()
    text = page.get_by_label("The policy as text", exact=True)
    text.wait_for()
    area = "document.querySelector('textarea[aria-label=\"The policy as text\"]')"
    page.wait_for_function(f"() => {area}.value.includes('files/register.csv')")
    assert "weight: 2" in text.input_value()


def test_a_release_is_deleted_with_a_question(page):
    base = try_it(page)
    run_it(page, base)
    page.get_by_role("button", name="Delete release 1").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert page.get_by_role("heading", name="Release 1:").count() == 1
    page.get_by_role("button", name="Delete release 1").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.get_by_role("heading", name="Release 1:").wait_for(state="detached")


def test_roles_explain_and_block(page):
    base = try_it(page)
    go(page, base, "roles")
    page.get_by_text("beside others: up to").first.wait_for()
    choose(page, "Role: diagnosis", "Insensitive")
    page.get_by_text("The policy is not complete yet").wait_for()
    go(page, base, "run")
    assert page.get_by_role("button", name="Start a run").is_disabled()
    go(page, base, "roles")
    choose(page, "Role: diagnosis", "Sensitive")
    page.get_by_text("The policy is not complete yet").wait_for(state="detached")


def test_hierarchies_are_tried_while_they_are_built(page):
    base = try_it(page)
    go(page, base, "hierarchies?column=age")
    page.get_by_text("This hierarchy covers every value").wait_for()
    widths = page.get_by_label("widths")
    widths.fill("5, 7")
    widths.press("Tab")
    page.get_by_text("Intervals do not nest").wait_for()
    widths.fill("10, 30")
    widths.press("Tab")
    page.get_by_text("Not saved yet").wait_for()
    page.get_by_role("cell", name="[0, 30)").first.wait_for()
    page.get_by_role("button", name="Save this hierarchy").click()
    page.get_by_text("Saved.", exact=True).wait_for()
    page.reload()
    page.get_by_text("This hierarchy covers every value").wait_for()
    assert page.get_by_label("widths").input_value() == "10, 30"


def test_the_tree_editor(page, tmp_path):
    base = try_it(page)
    go(page, base, "hierarchies?column=country")
    tree = page.get_by_label("Tree")
    tree.wait_for()
    assert "Central Europe" in tree.input_value()
    page.get_by_label("Values to put together").click()
    for name in ("Malta", "Iceland"):
        page.get_by_role("option", name=name).click()
    page.keyboard.press("Escape")
    page.get_by_label("Name of their group").fill("Islands")
    page.get_by_role("button", name="Put together").click()
    page.get_by_role("cell", name="Islands").first.wait_for()
    page.get_by_label("Tree").fill("Europe\n  Germany\n    x\n Austria")
    page.get_by_label("Tree").press("Tab")
    page.get_by_text("Line 4").wait_for()
    page.get_by_label("Tree").fill("Europe\n  Germany\n  Austria")
    page.get_by_label("Tree").press("Tab")
    page.get_by_text("does not cover").first.wait_for()
    file = tmp_path / "sex.csv"
    file.write_text("female;person\nmale;person\nother;person\n")
    go(page, base, "hierarchies?column=sex")
    page.get_by_text("This hierarchy covers every value").wait_for()
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("cell", name="person").first.wait_for()


def test_a_run_is_cancelled(page):
    base = try_it(page)
    go(page, base, "protect")
    choose(page, "Algorithm", "incognito:")
    page.get_by_text("Nothing stands in the way of a run").wait_for()
    go(page, base, "run")
    page.get_by_role("button", name="Start a run").click()
    page.get_by_role("button", name="Cancel the run").click()
    page.get_by_text("cancelled", exact=True).first.wait_for()
    page.reload()
    page.get_by_text("Runs that gave no release").wait_for()
    assert page.get_by_text("Release 1:").count() == 0


def test_a_reload_in_mid_run_and_a_second_tab(page):
    base = try_it(page)
    go(page, base, "protect")
    choose(page, "Algorithm", "optimal:")
    page.get_by_text("Nothing stands in the way of a run").wait_for()
    go(page, base, "run")
    other = page.context.new_page()
    go(other, base, "run")
    page.get_by_role("button", name="Start a run").click()
    page.get_by_role("button", name="Cancel the run").wait_for()
    page.reload()
    page.get_by_role("heading", name="Release 1:").or_(
        page.get_by_role("button", name="Cancel the run")
    ).first.wait_for()
    # the second tab watches the same run instead of starting another
    other.get_by_role("button", name="Start a run").click()
    page.get_by_role("heading", name="Release 1:").wait_for()
    other.close()
    go(page, base, "explore")
    page.get_by_role("heading", name="Solutions of the search").wait_for()
    dots = page.locator("[data-pick]")
    dots.first.wait_for()
    before = dots.count()
    page.get_by_role("checkbox", name="Only those that keep all promises").click()
    page.get_by_text(re.compile("Showing")).wait_for()
    page.wait_for_function("n => document.querySelectorAll('[data-pick]').length < n", arg=before)
    page.locator("[data-pick]").first.focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Make this a release").click()
    page.get_by_role("heading", name="Release 2:").wait_for()


def test_changes_in_another_tab_are_told(page):
    base = try_it(page)
    go(page, base, "roles")
    other = page.context.new_page()
    go(other, base, "roles")
    choose(other, "Role: income", "Insensitive")
    page.get_by_text("This project was changed in another tab.").wait_for()
    page.get_by_role("button", name="Show the changes").click()
    page.locator(".q-field", has=page.get_by_label("Role: income")).get_by_text("Insensitive").wait_for()
    assert page.get_by_text("This project was changed in another tab.").count() == 0
    other.close()


def test_the_original_is_shown_on_request_only(page, released):
    go(page, released, "compare")
    page.get_by_role("heading", name="The release, row by row").wait_for()
    page.get_by_role("cell", name="[", exact=False).first.wait_for()
    assert page.get_by_text("original", exact=True).count() == 0
    page.get_by_role("checkbox", name="Show my original rows beside the release").click()
    page.get_by_role("cell", name="original", exact=True).first.wait_for()
    page.get_by_role("button", name="Show its rows: 2", exact=True).click()
    page.get_by_text(re.compile("The .* rows of class 2")).wait_for()
    choose(page, "Column", "diagnosis")
    page.get_by_label("diagnosis, before").wait_for()


def test_attacks_and_risks(page, released):
    go(page, released, "attack")
    page.get_by_role("button", name="Assess the risk").click()
    page.get_by_role("cell", name="prosecutor").wait_for()
    page.get_by_label("Attacks (all, where none is chosen)").click()
    page.get_by_role("option", name="homogeneity:").click()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Play the attacks").click()
    page.get_by_role("cell", name="homogeneity").wait_for()
    assert page.get_by_text("no better than guessing").or_(page.get_by_text("beyond the baseline")).count() >= 1


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


def test_a_restart_keeps_everything_and_tells_what_was_interrupted(chromium, tmp_path):
    server = Server(tmp_path / "home")
    try:
        page = open_page(chromium, server)
        base = try_it(page)
        go(page, base, "protect")
        choose(page, "Algorithm", "incognito:")
        page.get_by_text("Nothing stands in the way of a run").wait_for()
        go(page, base, "run")
        page.get_by_role("button", name="Start a run").click()
        page.get_by_role("status").filter(has_text="running").wait_for()
        page.context.close()
        assert server.stop(signal.SIGKILL) == -signal.SIGKILL
        server.start()
        page = open_page(chromium, server)
        page.get_by_role("link", name="Embedded patients").click()
        page.get_by_text("5,000 rows, 11 columns").wait_for()
        go(page, page.url.rsplit("/", 1)[0], "run")
        page.get_by_text("interrupted: the studio was closed").wait_for()
        page.context.close()
    finally:
        assert server.stop() == 0, "Ctrl-C is how the studio is meant to end"


@pytest.mark.parametrize("step", ["home", "api-page", *STEPS])
def test_no_serious_barrier(page, server, released, step):
    """axe finds no serious violation (names, contrast, structure), and a narrow window needs no sideways scrolling."""
    from axe_playwright_python.sync_playwright import Axe

    page.goto(server.base if step == "home" else f"{server.base}/{step}" if "-" in step else f"{released}/{step}")
    page.locator("h1").wait_for()
    page.wait_for_timeout(700)
    for mode in ("light", "dark"):
        if mode == "dark":
            page.get_by_role("button", name="Light or dark").click()
            page.wait_for_timeout(400)
        found = Axe().run(page).response["violations"]
        serious = [
            (v["id"], [n["html"][:200] + n["failureSummary"][:300] for n in v["nodes"]][:3])
            for v in found
            if v["impact"] in ("serious", "critical")
        ]
        assert serious == [], mode
    page.get_by_role("button", name="Light or dark").click()
    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth") <= 391


def test_the_steps_in_a_narrow_window(chromium, server, released):
    page = open_page(chromium, server, viewport={"width": 390, "height": 800})
    go(page, released, "run")
    page.get_by_role("button", name="Show or hide the steps").click()
    page.get_by_role("link", name="Roles").click()
    page.get_by_role("heading", name="Roles", level=1).wait_for()
    page.context.close()


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
    go(page, base, "roles")
    choose(page, f"Role: {evil} / 2", "Quasi-identifier")
    choose(page, "Role: <b>", "Sensitive")
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


def test_the_keyboard_is_enough(page, released):
    go(page, released, "run")
    page.get_by_role("button", name="Start a run").wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    seen = []
    for _ in range(40):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate("(document.activeElement.getAttribute('aria-label') || document.activeElement.innerText)")
        )
    assert any("Start a run" in (name or "") for name in seen)
    assert any("Export" in (name or "") for name in seen)
