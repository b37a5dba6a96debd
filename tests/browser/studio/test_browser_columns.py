"""The studio in a browser: a grid for forty columns, workbooks with several sheets, and steps with ticks."""

from __future__ import annotations

import openpyxl
import pytest

pytest.importorskip("nicegui", reason="needs hushtable[studio]")

from studio_driver import enter, go

pytestmark = pytest.mark.browser

NAMES = "() => [...document.querySelectorAll('#ht-grid tr.col:not([hidden])')].map(r => r.dataset.name)"


def role_of(page, name):
    return page.get_by_label(f"Role: {name}", exact=True).input_value()


def upload(page, title, file):
    """Make a project of a file; return its address."""
    page.get_by_label("Name of the project").fill(title)
    page.get_by_label("Name of the project").press("Enter")
    page.get_by_role("heading", name="Upload a table").wait_for()
    page.locator("input[type=file]").set_input_files(file)
    return page


@pytest.fixture(scope="module")
def wide(visitor, server, tmp_path_factory):
    """A project with 42 columns."""
    file = tmp_path_factory.mktemp("wide") / "wide.csv"
    names = [f"question_{i:02d}" for i in range(40)]
    rows = [",".join(["age", "illness", *names])]
    for i in range(300):
        rows.append(",".join([str(20 + i % 60), f"d{i % 4}", *(str((i * j) % (j + 2)) for j in range(40))]))
    file.write_text("\n".join(rows) + "\n")
    page = upload(enter(visitor, server), "Forty columns", file)
    page.get_by_text("300 rows, 42 columns").wait_for()
    base = page.url.rsplit("/", 1)[0]
    page.close()
    return base


def test_search_sort_select_set_and_undo(page, wide):
    go(page, wide, "columns")
    assert len(page.evaluate(NAMES)) == 42
    page.get_by_label("Search columns").fill("question_1")
    assert len(page.evaluate(NAMES)) == 10
    page.get_by_text("10 of 42 columns, 0 selected").wait_for()
    assert page.get_by_label("Set role of selected").is_disabled()
    page.get_by_label("Select question_11", exact=True).check()
    page.get_by_label("Select question_14", exact=True).click(modifiers=["Shift"])
    page.get_by_text("10 of 42 columns, 4 selected").wait_for()
    before = {n: role_of(page, n) for n in ("question_11", "question_13", "question_15")}
    page.get_by_label("Set role of selected").select_option("sensitive")
    page.wait_for_function("() => document.querySelector('[aria-label=\"Role: question_13\"]').value === 'sensitive'")
    assert role_of(page, "question_15") == before["question_15"]
    page.get_by_text("10 of 42 columns, 4 selected").wait_for()
    page.reload()
    assert [role_of(page, f"question_{i}") for i in (11, 12, 13, 14)] == ["sensitive"] * 4
    page.get_by_role("button", name="Undo: role of 4 columns").click()
    page.wait_for_function(
        "w => document.querySelector('[aria-label=\"Role: question_13\"]').value === w", arg=before["question_13"]
    )
    assert {n: role_of(page, n) for n in before} == before
    page.get_by_role("button", name="Column", exact=True).click()
    assert page.evaluate(NAMES) == sorted(page.evaluate(NAMES))
    page.get_by_role("button", name="Column", exact=True).click()
    assert page.evaluate(NAMES) == sorted(page.evaluate(NAMES), reverse=True)
    page.get_by_label("Which columns to show").select_option("sensitive")
    assert set(page.evaluate(NAMES)) == {n for n in page.evaluate(NAMES) if role_of(page, n) == "sensitive"}


def test_a_choice_keeps_the_keyboard_where_it_is(page, wide):
    go(page, wide, "columns")
    kind = page.get_by_label("Kind of values: question_20", exact=True)
    kind.focus()
    kind.select_option("nominal")
    page.get_by_role("button", name="Undo: kind and hierarchy of question_20").wait_for()
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Kind of values: question_20"
    page.get_by_role("button", name="Undo: kind and hierarchy of question_20").click()


def test_forty_columns_fit_on_two_screens_and_on_a_phone(page, wide):
    page.set_viewport_size({"width": 1440, "height": 900})
    go(page, wide, "columns")
    page.locator("#ht-grid").wait_for()
    bottom = page.evaluate("document.querySelector('#ht-grid').getBoundingClientRect().bottom + window.scrollY")
    free = page.evaluate(
        "innerHeight - document.querySelector('header').offsetHeight - document.querySelector('footer').offsetHeight"
    )
    assert bottom - page.evaluate("document.querySelector('header').offsetHeight") <= 2 * free
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_timeout(400)
    assert page.evaluate("document.documentElement.scrollWidth") <= 391
    role = page.get_by_label("Role: question_05", exact=True)
    role.scroll_into_view_if_needed()
    box = role.bounding_box()
    assert box["width"] > 100 and box["x"] >= 0 and box["x"] + box["width"] <= 390


def test_hierarchies_at_a_glance(page, wide):
    go(page, wide, "hierarchies")
    page.get_by_text("each covers every value").wait_for()
    line = page.get_by_role("link", name="age", exact=False).filter(has_text="→").first
    assert line.locator("span").nth(1).inner_text().endswith("→ 1")
    line.click()
    page.get_by_role("button", name="Save this hierarchy").wait_for()
    assert "column=age" in page.url


def test_a_sheet_is_chosen_and_formulas_without_a_value_are_told(page, tmp_path):
    book = openpyxl.Workbook()
    book.active.title = "Read me"
    for row in (["about"], ["this workbook"]):
        book.active.append(row)
    people = book.create_sheet("People")
    people.append(["age", "town", "illness"])
    for i in range(120):
        people.append([20 + i % 9, f"t{i % 3}", f"d{i % 4}"])
    sums = book.create_sheet("Sums")
    sums.append(["age", "twice"])
    for i in range(3):
        sums.append([i, f"=A{i + 2}*2"])
    book.save(tmp_path / "book.xlsx")
    upload(page, "A workbook", tmp_path / "book.xlsx")
    page.get_by_text("1 row, 1 column").wait_for()

    def take(name):
        page.get_by_label("Sheet of the workbook").click()
        page.get_by_role("option", name=name).click()
        page.get_by_role("dialog").get_by_role("button", name="Read this sheet").click()

    take("People")
    page.get_by_text("120 rows, 3 columns").wait_for()
    take("Sums")
    page.get_by_text("formulas whose results are not stored, in 'twice' (3)").wait_for()
    page.get_by_text("120 rows, 3 columns").wait_for()


def test_steps_get_their_ticks(page, base):
    def ticked():
        steps = page.get_by_role("navigation").get_by_role("listitem").all_inner_texts()
        return [text.split("\n")[1].strip() for text in steps if "✓" in text]

    def step_of(title):
        return page.get_by_role("navigation").get_by_role("listitem").filter(has_text=title)

    go(page, base, "data")
    assert ticked() == ["Data"]
    for step in ("columns", "hierarchies", "protect"):
        go(page, base, step)
        step_of(step.capitalize()).get_by_text("✓").wait_for()
    assert ticked() == ["Data", "Columns", "Hierarchies", "Protect"]
    for model in ("k-anonymity", "p-alpha-sensitive", "distinct-l"):
        page.get_by_role("button", name=f"Remove: {model}").click()
        page.get_by_role("button", name=f"Remove: {model}").wait_for(state="detached")
    step_of("Protect").get_by_text("4").wait_for()
    page.get_by_role("button", name="Undo: models").click()
    step_of("Protect").get_by_text("✓").wait_for()
