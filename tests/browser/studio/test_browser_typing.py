"""The studio in a browser: what is typed is checked at once, kept by the first click, and never lost in silence."""

from __future__ import annotations

import pytest

pytest.importorskip("nicegui", reason="needs hushtable[studio]")

from studio_driver import connected, go, put

pytestmark = pytest.mark.browser

CONTROLS = """() => Object.fromEntries([...document.querySelectorAll(
    'main button, main input, main select, main textarea, main a[href], footer button')]
    .filter(e => e.offsetParent !== null || getComputedStyle(e).position === 'fixed')
    .map((e, i) => [`${i} ${e.getAttribute('aria-label') || e.innerText || e.tagName}`,
                    [Math.round(e.getBoundingClientRect().x), Math.round(e.getBoundingClientRect().y
                     + (e.closest('footer, .ht-bar, .ht-over') ? 0 : window.scrollY))]]))"""
"""Where every control is on the page, or in the window where it stays there while the page scrolls."""


def tree_of(page, base, column="country"):
    """The field with the tree of a column, once the page has had a look at it."""
    go(page, base, f"hierarchies?column={column}")
    page.get_by_text("This hierarchy covers every value").wait_for()
    field = page.get_by_label("Tree")
    field.wait_for()
    return field


def renamed(field, old="Central Europe", new="The middle"):
    """The tree with one group called something else."""
    return field.input_value().replace(old, new)


def kept_tree(page, base):
    return tree_of(page, base).input_value()


def click_where_it_was(page, box):
    """Press the mouse where a control was when somebody aimed at it, wherever that has gone meanwhile."""
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.wait_for_timeout(60)
    page.mouse.up()


@pytest.mark.parametrize("width", [1280, 390])
def test_the_first_click_on_save_counts(page, base, width):
    page.set_viewport_size({"width": width, "height": 800})
    field = tree_of(page, base)
    wanted = renamed(field)
    save = page.get_by_role("button", name="Save this hierarchy")
    field.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(wanted)
    click_where_it_was(page, save.bounding_box())
    page.get_by_text("Saved.", exact=True).wait_for()
    assert kept_tree(page, base) == wanted


def test_the_last_key_before_the_click_is_saved(page, base):
    """A browser tells keys in bundles: the last ones must not come after the click."""
    field = tree_of(page, base)
    field.focus()
    field.evaluate("e => e.setSelectionRange(0, e.value.indexOf('\\n'))")
    page.keyboard.type("The whole of the middle of it", delay=5)
    page.get_by_role("button", name="Save this hierarchy").click(delay=0)
    page.get_by_text("Saved.", exact=True).wait_for()
    assert kept_tree(page, base).splitlines()[0] == "The whole of the middle of it"


@pytest.mark.parametrize("width", [1280, 390])
def test_no_control_moves_when_a_field_is_left(page, base, width):
    page.set_viewport_size({"width": width, "height": 800})
    field = tree_of(page, base)
    before = page.evaluate(CONTROLS)
    for text in (renamed(field), field.input_value().replace("  Germany\n", "  Nowhere\n"), "x\n    y\n  z"):
        field.fill("\n".join((text.splitlines() + ["  "] * 40)[: len(field.input_value().splitlines())]))
        typed = page.evaluate(CONTROLS)
        page.wait_for_timeout(900)
        assert page.evaluate(CONTROLS) == typed, "while it is checked"
        field.press("Tab")
        page.wait_for_timeout(500)
        assert page.evaluate(CONTROLS) == typed, "when the field is left"
    assert len(before) > 8


@pytest.mark.parametrize(("step", "label", "value"), [("protect", "k *", "6"), ("protect", "Seed", "3")])
def test_no_control_moves_on_other_pages(page, base, step, label, value):
    go(page, base, step)
    page.get_by_text("No problems found").wait_for()
    page.get_by_label(label).fill(value)
    typed = page.evaluate(CONTROLS)
    page.get_by_label(label).press("Tab")
    for _ in range(8):
        page.wait_for_timeout(150)
        assert page.evaluate(CONTROLS) == typed


def test_it_is_checked_while_somebody_types(page, base):
    field = tree_of(page, base)
    field.fill("Europe\n  Germany\n  Austria")
    page.get_by_text("does not cover").first.wait_for()
    assert field.evaluate("e => e === document.activeElement"), "the field was never left"
    field.fill("Europe\n  Germany\n    x\n Austria")
    page.get_by_text("Line 4").wait_for()
    page.get_by_text("Not saved yet").wait_for()


@pytest.mark.parametrize("broken", ["Europe\n  Germany\n  Austria", "Europe\n  Germany\n    x\n Austria", ""])
def test_a_broken_tree_is_not_saved(page, base, broken):
    field = tree_of(page, base)
    before = field.input_value()
    field.fill(broken)
    page.get_by_role("button", name="Save this hierarchy").click()
    page.get_by_role("alert").first.wait_for()
    page.get_by_text("Not saved yet").wait_for()
    assert page.get_by_text("Saved.", exact=True).count() == 0
    assert field.input_value() == broken, "what was typed is still there"
    page.on("dialog", lambda dialog: dialog.accept())
    assert kept_tree(page, base) == before


@pytest.mark.parametrize("way", ["Next: Protect", "All hierarchies", "link"])
def test_unsaved_groups_are_not_lost_without_a_question(page, base, way):
    field = tree_of(page, base)
    before, wanted = field.input_value(), renamed(field)
    field.fill(wanted)

    def leave():
        if way == "link":
            page.get_by_role("link", name="Protect").click()
        else:
            page.get_by_role("button", name=way).click()
        page.get_by_text("is not saved. Leave the page").wait_for()

    leave()
    page.get_by_role("button", name="Stay on this page").click()
    page.get_by_text("is not saved. Leave the page").wait_for(state="hidden")
    assert field.input_value() == wanted
    leave()
    page.get_by_role("button", name="Leave without saving").click()
    page.wait_for_url(lambda url: "column=country" not in url)
    assert kept_tree(page, base) == before


def test_a_reload_asks_too(page, base):
    field = tree_of(page, base)
    field.press("End")
    page.keyboard.type("x")
    asked = []
    page.once("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.reload()
    connected(page)
    assert asked == ["beforeunload"]
    page.get_by_text("This hierarchy covers every value").wait_for()
    page.reload()  # and does not, where nothing was typed: no dialog would be answered
    page.locator("h1").wait_for()


def test_a_refused_number_and_a_half_written_policy_are_asked_about(page, base):
    go(page, base, "protect")
    page.get_by_text("No problems found").wait_for()
    put(page.get_by_label("k *"), "1")
    page.get_by_text("must be an int >= 2").wait_for()
    page.get_by_role("button", name="Next: Run").click()
    page.get_by_role("button", name="Stay on this page").click()
    put(page.get_by_label("k *"), "7")
    page.get_by_text("No problems found").wait_for()
    page.get_by_text("The policy as text", exact=True).first.click()
    text = page.get_by_label("The policy as text", exact=True)
    text.wait_for()
    text.press("End")
    page.keyboard.type("# a thought")
    page.get_by_role("button", name="Next: Run").click()
    page.get_by_text("is not saved. Leave the page").wait_for()
    page.get_by_role("button", name="Leave without saving").click()
    page.wait_for_url("**/run")
    go(page, base, "protect")
    assert page.get_by_label("k *").input_value() == "7"


def test_a_stale_tab_cannot_write(page, base):
    """One tab sets k to 9; another one that still shows 5 changes another model: k stays 9."""
    go(page, base, "protect")
    page.get_by_text("No problems found").wait_for()
    page.get_by_label("Add a model").first.click()
    page.get_by_role("option", name="distinct-l:").first.click()
    page.get_by_role("button", name="Add a model").click()
    page.get_by_label("l *").first.wait_for()
    other = page.context.new_page()
    go(other, base, "protect")
    other.get_by_text("No problems found").wait_for()
    put(other.get_by_label("k *"), "9")
    other.get_by_text("No problems found").wait_for()
    page.get_by_text("Nothing can be saved here until you see the changes").wait_for()
    places = page.evaluate(CONTROLS)
    put(page.get_by_label("l *").last, "3")
    page.get_by_text("Not saved: this project was changed in another tab").wait_for()
    assert page.evaluate(CONTROLS) == places, "the notice moves nothing"
    page.once("dialog", lambda dialog: dialog.accept())  # what was typed here is lost by looking: the browser asks
    page.get_by_role("button", name="Show the changes").click()
    page.wait_for_function("() => document.querySelector('input[aria-label=\"k *\"]')?.value === '9'")
    assert page.get_by_label("l *").last.input_value() == "2"
    other.close()
