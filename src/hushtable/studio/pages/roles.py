"""Roles: what each column is to somebody who wants to find a person."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from hushtable.io.figures import share
from hushtable.schema.columns import Kind, Role
from hushtable.studio.pages.data import repeated
from hushtable.studio.pages.layout import Page, needs
from hushtable.studio.pages.widgets import attempted, card, html_table, problems, text
from hushtable.studio.projects import Project
from hushtable.studio.texts import KINDS, ROLES, T

__all__ = ["added_uniqueness", "build"]


def added_uniqueness(subsets: list[dict[str, Any]]) -> dict[str, float]:
    """Return, for every column, by how much it raises the share of unique records beside others, at most.

    Examples
    --------
    >>> subsets = [{"columns": ["age"], "unique_share": 0.1}, {"columns": ["zip"], "unique_share": 0.2},
    ...            {"columns": ["age", "zip"], "unique_share": 0.9}]
    >>> {name: round(add, 2) for name, add in added_uniqueness(subsets).items()}
    {'age': 0.7, 'zip': 0.8}
    """
    shares = {frozenset(s["columns"]): s["unique_share"] for s in subsets}
    found: dict[str, float] = {}
    for columns, value in shares.items():
        for name in columns:
            without = shares.get(columns - {name}, 0.0 if len(columns) == 1 else None)
            if without is not None:
                found[name] = max(found.get(name, 0.0), value - without)
    return found


async def build(page: Page, project: Project) -> None:
    """Build the page."""
    profile = project.profile
    if profile is None:
        needs(project, T.NO_DATA, "data")
        return
    text(T.ROLES_TEXT)
    with ui.expansion(T.MORE, icon="help_outline").classes("ht-card"), ui.element("dl").classes("ht-list"):
        for title, meaning in ROLES.values():
            text(title, "dt", "ht-good")
            text(meaning, "dd", "")
    repeated(project, profile)
    faults = ui.element("div")

    def tell() -> None:
        faults.clear()
        found = page.studio.faults(project)
        if found:
            with faults:
                problems(found, T.BLOCKED)

    with card(T.COLUMNS):
        columns = project.document()["columns"]
        adds = added_uniqueness(profile["subsets"])
        for column in profile["columns"]:
            _column(page, project, column, columns.get(column["name"], {}), adds, tell)
    tell()
    _subsets(profile, project)


def _column(
    page: Page, project: Project, found: dict[str, Any], settings: dict[str, Any], adds: dict[str, float], tell: Any
) -> None:
    name = found["name"]

    def change(setting: str, value: Any) -> None:
        with attempted():
            changes: dict[str, Any] = {setting: value or None}
            if setting == "kind":
                # another kind of values needs another hierarchy; an order starts as it is sorted
                changes |= {"hierarchy": None}
            page.studio.set_column(project, name, changes)
        page.seen()
        tell()

    with ui.element("div").classes("ht-field"):
        with ui.element("div"):
            text(name, "h3", "")
            text(T.ALONE.format(share(found["unique_share"])), "div", "ht-soft")
            if adds.get(name):
                text(T.ADDS.format(share(adds[name])), "div", "ht-soft")
        ui.select(
            {str(role): ROLES[role][0] for role in Role},
            value=settings.get("role"),
            label=f"{T.ROLE}: {name}",
            on_change=lambda e: change("role", e.value),
        ).props("outlined dense")
        kinds = {"": "as found", **{str(kind): KINDS[kind] for kind in Kind if kind is not Kind.ORDINAL}}
        if settings.get("kind") == Kind.ORDINAL:
            kinds[str(Kind.ORDINAL)] = KINDS[Kind.ORDINAL]
        ui.select(
            kinds,
            value=settings.get("kind", ""),
            label=f"{T.KIND}: {name}",
            on_change=lambda e: change("kind", e.value),
        ).props("outlined dense")
        with ui.element("div").classes("wide"):
            text(f"{ROLES[Role(found['role'])][0]}? {found['role_reason'].capitalize()}.", "div", "ht-soft")
            if found["problem"]:
                text(found["problem"], "div", "ht-bad")


def _subsets(profile: dict[str, Any], project: Project) -> None:
    quasi = {name for name, settings in project.document()["columns"].items() if settings.get("role") == Role.QUASI}
    known = [s for s in profile["subsets"] if quasi.issuperset(s["columns"])]
    subsets = sorted(known, key=lambda s: (-s["unique_share"], len(s["columns"])))[:12]
    if not subsets:
        return
    with card(T.UNIQUE):
        text(T.UNIQUE_TEXT)
        if profile["subset_rows"] < profile["rows"]:
            text(T.SAMPLED.format(profile["subset_rows"]), "p", "ht-soft")
        rows = [[" + ".join(s["columns"]), share(s["unique_share"])] for s in subsets]
        html_table(["columns that somebody knows", "unique records"], rows, caption=T.UNIQUE, numbers=(1,))
