"""The studio in a browser: roles, hierarchies, models and settings, right and wrong."""

from __future__ import annotations

import pytest

pytest.importorskip("nicegui", reason="needs hushtable[studio]")

from studio_driver import choose, go, put

pytestmark = pytest.mark.browser


def test_wrong_parameters_are_told_and_not_kept(page, base):
    go(page, base, "protect")
    page.get_by_text("No problems found").wait_for()
    k = page.get_by_label("k *")
    put(k, "1")
    page.get_by_text("must be an int >= 2").wait_for()
    page.reload()
    assert page.get_by_label("k *").input_value() == "5"
    put(page.get_by_label("k *"), "6000")
    page.get_by_text("Fix these before a run").wait_for()
    # the step loses its check mark at once, not with the next page
    page.get_by_role("link", name="Protect (done)").wait_for(state="detached")
    go(page, base, "run")
    page.get_by_role("button", name="Start a run").click()
    page.get_by_role("alert").filter(has_text="Something went wrong").wait_for()


def test_the_policy_as_text_and_the_rare_settings(page, base):
    go(page, base, "protect")
    page.get_by_text("No problems found").wait_for()
    opener = page.get_by_text("The policy as text", exact=True).first
    text = page.get_by_label("The policy as text", exact=True)
    opener.click()
    text.wait_for()
    whole = text.input_value()
    opener.click()
    page.get_by_text("Which values are the most sensitive", exact=True).first.click()
    area = page.get_by_label("Which values are the most sensitive: diagnosis")
    area.wait_for()
    put(area, "")
    page.get_by_text("Fix these before a run").wait_for()
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
    page.get_by_text("No problems found").wait_for()
    assert page.get_by_label("k *").input_value() == "7"


def test_roles_explain_and_block(page, base):
    go(page, base, "columns")
    page.get_by_role("button", name="postcode", exact=True).click()
    page.locator("tr.why:visible").get_by_text("In combination with other columns, it makes up to").wait_for()
    page.get_by_label("Role: diagnosis").select_option("insensitive")
    page.get_by_text("The policy is not complete yet").first.wait_for()
    go(page, base, "run")
    assert page.get_by_role("button", name="Start a run").is_disabled()
    go(page, base, "columns")
    page.get_by_label("Role: diagnosis").select_option("sensitive")
    page.get_by_text("The policy is complete.").wait_for()


def test_hierarchies_are_tried_while_they_are_built(page, base):
    go(page, base, "hierarchies?column=age")
    page.get_by_text("This hierarchy covers every value").wait_for()
    widths = page.get_by_label("widths")
    put(widths, "5, 7")
    page.get_by_text("Intervals do not nest").wait_for()
    put(widths, "10, 30")
    page.get_by_text("Not saved yet").wait_for()
    page.get_by_role("cell", name="[0, 30)").first.wait_for()
    page.get_by_role("button", name="Save this hierarchy").click()
    page.get_by_text("Saved.", exact=True).wait_for()
    page.reload()
    page.get_by_text("This hierarchy covers every value").wait_for()
    assert page.get_by_label("widths").input_value() == "10, 30"


def test_the_tree_editor(page, base, tmp_path):
    go(page, base, "hierarchies?column=country")
    tree = page.get_by_label("Tree")
    tree.wait_for()
    assert "Central Europe" in tree.input_value()
    page.get_by_label("Values to group").click()
    for name in ("Malta", "Iceland"):
        page.get_by_role("option", name=name).click()
    page.keyboard.press("Escape")
    page.get_by_label("Name of the group").fill("Islands")
    page.get_by_role("button", name="Put together").click()
    page.get_by_role("cell", name="Islands").first.wait_for()
    put(page.get_by_label("Tree"), "Europe\n  Germany\n    x\n Austria")
    page.get_by_text("Line 4").wait_for()
    put(page.get_by_label("Tree"), "Europe\n  Germany\n  Austria")
    page.get_by_text("does not cover").first.wait_for()
    page.get_by_role("button", name="Discard changes").click()
    page.get_by_role("cell", name="Central Europe").first.wait_for()
    file = tmp_path / "sex.csv"
    file.write_text("female;person\nmale;person\nother;person\n")
    go(page, base, "hierarchies?column=sex")
    page.get_by_text("This hierarchy covers every value").wait_for()
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("cell", name="person").first.wait_for()


def test_weights_and_tables_from_elsewhere(page, base, tmp_path):
    go(page, base, "hierarchies?column=age")
    page.get_by_text("This hierarchy covers every value").wait_for()
    weight = page.get_by_label("Weight: how much detail matters in this column")
    put(weight, "2")
    page.get_by_role("button", name="Next column: sex").click()
    page.wait_for_url("**/hierarchies?column=sex")
    file = tmp_path / "register.csv"
    file.write_text("age,sex,postcode,country,education,occupation,admission\n30,male,10115,Germany,,,2020-01-01\n")
    go(page, base, "protect")
    page.get_by_text("Outside knowledge", exact=True).first.click()
    # the page loads again once the file is there; until then it shows what it showed before
    with page.expect_event("load"):
        page.locator("input[type=file]").set_input_files(file)
    page.get_by_text("No problems found").wait_for()
    page.get_by_text("Outside knowledge", exact=True).first.click()
    choose(page, "Table of the population", "register.csv")
    page.get_by_text("The policy as text", exact=True).first.click()
    text = page.get_by_label("The policy as text", exact=True)
    text.wait_for()
    area = "document.querySelector('textarea[aria-label=\"The policy as text\"]')"
    page.wait_for_function(f"() => {area}.value.includes('files/register.csv')")
    assert "weight: 2" in text.input_value()


def test_changes_in_another_tab_are_told(page, base):
    go(page, base, "columns")
    other = page.context.new_page()
    go(other, base, "columns")
    other.get_by_label("Role: income").select_option("insensitive")
    page.get_by_text("This project was changed in another tab.").wait_for()
    page.get_by_role("button", name="Show the changes").click()
    page.wait_for_function("() => document.querySelector('[aria-label=\"Role: income\"]')?.value === 'insensitive'")
    page.get_by_text("This project was changed in another tab.").wait_for(state="hidden")
    other.close()


def test_a_column_is_treated(page, base):
    go(page, base, "protect")
    page.get_by_text("No problems found").wait_for()
    page.get_by_text("Treatments of columns", exact=True).first.click()
    choose(page, "Treatments of columns: age", "rounding")
    put(page.get_by_label("base *", exact=True), "5")
    page.get_by_text("Its values are treated by rounding").first.wait_for()
    page.reload()
    page.get_by_text("Guarantees that a published number is a multiple").first.wait_for()
    assert page.get_by_label("base *", exact=True).input_value() == "5"
