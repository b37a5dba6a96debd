"""Columns: one grid with all facts and settings of each column; several columns can be changed at once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import quote

from nicegui import events, ui

from hushtable.io.figures import share
from hushtable.schema.columns import Kind, Role
from hushtable.studio.pages.data import repeated
from hushtable.studio.pages.layout import Page
from hushtable.studio.pages.widgets import after_showing, attempted, card, html_table, problems, text
from hushtable.studio.projects import Project, runs_of
from hushtable.studio.texts import KINDS, ROLES, T
from hushtable.studio.views import known_overviews, named


async def build(page: Page, project: Project) -> None:
    """Build the page."""
    profile = project.profile
    assert profile is not None
    text(T.ROLES_TEXT)
    repeated(project, profile)
    if profile["duplicates"]:
        text(T.DUPLICATES.format(profile["duplicates"]), "p", "ht-soft")
    ui.add_head_html(SCRIPT)
    _Columns(page, project, profile)
    _subsets(profile, project)
    with ui.expansion(T.MORE, icon="help_outline").classes("ht-card"), ui.element("dl").classes("ht-list"):
        for title, meaning in ROLES.values():
            text(title, "dt", "ht-good")
            text(meaning, "dd", "")


class _Columns:
    """The grid and its event handlers."""

    def __init__(self, page: Page, project: Project, profile: dict[str, Any]) -> None:
        self.page, self.project, self.profile = page, project, profile
        self.names = [column["name"] for column in profile["columns"]]
        self.adds = added_uniqueness(profile["subsets"])
        grid = self._grid()
        with ui.element("section").classes("ht-card ht-grid-card"):
            with ui.element("div").classes("ht-bar ht-grid-bar"):
                # every name and word in it is escaped; a sanitizer would take its fields away
                ui.html(grid.tools(), sanitize=False)
                self.state = text("", "span", "ht-one-line").props("role=status")
            ui.html(grid.table(), sanitize=False).classes("ht-scroll")
        self.faults = ui.element("div")
        ui.on("ht-columns", self._set)
        page.again = self._again
        self._tell()
        after_showing(self._sizes)

    def _grid(self) -> GridState:
        runs = runs_of(self.project)
        return GridState(
            project=self.project.id,
            found=self.profile["columns"],
            settings=self.project.document()["columns"],
            sparks=self.project.json("sparks.json") or [],
            sizes={name: entry["nodes"] for name, entry in known_overviews(self.project).items()},
            losses=runs[-1].facts["losses"] if runs else {},
            adds=self.adds,
        )

    async def _set(self, event: events.GenericEventArguments) -> None:
        """Apply a choice made in the browser: rows, setting and value."""
        said = event.args if isinstance(event.args, dict) else {}
        rows = [i for i in said.get("rows") or () if isinstance(i, int) and 0 <= i < len(self.names)]
        setting, value = said.get("set"), said.get("value")
        if rows and setting in ("role", "kind") and isinstance(value, str):
            changes: dict[str, Any] = {setting: value or None}
            if setting == "kind":
                # another kind of values needs another hierarchy
                changes |= {"hierarchy": None}
            with attempted():
                self.page.write(self.page.studio.set_columns, [self.names[i] for i in rows], changes)
        self._again(rows)
        await self._sizes()

    def _again(self, rows: list[int] | None = None) -> None:
        """Refresh these rows, or all rows."""
        grid = self._grid()
        shown = {i: grid.row(i) for i in (range(len(self.names)) if rows is None else rows)}
        ui.run_javascript(f"htGrid.update({json.dumps(shown)})")
        self._tell()

    async def _sizes(self) -> None:
        """Try the hierarchies that are not known yet, and show the number of labels on their levels."""
        if set(known_overviews(self.project)) >= set(named(self.project.document(), Role.QUASI)):
            return
        with attempted():
            studio = self.page.studio
            job = studio.busy(self.project, "hierarchies") or studio.look_at_all(self.project)
            await studio.jobs.ended(job.id)
            self._again()

    def _tell(self) -> None:
        found = self.page.studio.faults(self.project)
        self.state.set_text(f"{T.BLOCKED} {found[0]['message']}" if found else T.COMPLETE)
        self.state.classes(*(("ht-bad",) if found else ()), remove="" if found else "ht-bad")
        self.faults.clear()
        if found:
            with self.faults:
                problems(found, T.BLOCKED)


def _subsets(profile: dict[str, Any], project: Project) -> None:
    quasi = set(named(project.document(), Role.QUASI))
    known = [s for s in profile["subsets"] if quasi.issuperset(s["columns"])]
    subsets = sorted(known, key=lambda s: (-s["unique_share"], len(s["columns"])))[:12]
    if not subsets:
        return
    with card(T.UNIQUE):
        text(T.UNIQUE_TEXT)
        if profile["subset_rows"] < profile["rows"]:
            text(T.SAMPLED.format(profile["subset_rows"]), "p", "ht-soft")
        rows = [[" + ".join(s["columns"]), share(s["unique_share"])] for s in subsets]
        html_table(["columns known to an adversary", "unique records"], rows, caption=T.UNIQUE, numbers=(1,))


# The grid of columns as HTML, and the script that searches, sorts and selects in it without the server.


def added_uniqueness(subsets: list[dict[str, Any]]) -> dict[str, float]:
    """Return, for every column, the largest increase in the share of unique records when it is combined with others.

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


@dataclass(frozen=True)
class GridState:
    """The current contents of the grid.

    Attributes
    ----------
    project : str
        The project's id, for links.
    found : sequence of mapping
        The columns of the profile.
    settings : mapping
        The columns of the policy.
    sparks : sequence of sequence of float
        Heights of the small bars of each column, from 0 to 1.
    sizes : mapping
        Number of labels on each level of a hierarchy, by column, if known.
    losses : mapping
        Loss of each column in the last release, from 0 to 1.
    adds : mapping
        Share of records that a column makes unique in combination with others.
    """

    project: str
    found: Sequence[Mapping[str, Any]]
    settings: Mapping[str, Mapping[str, Any]]
    sparks: Sequence[Sequence[float]]
    sizes: Mapping[str, Sequence[int]]
    losses: Mapping[str, float]
    adds: Mapping[str, float]

    def tools(self) -> str:
        """Return the fields above the grid: search, filter, and the settings for selected columns."""
        roles = "".join(_option(str(role), ROLES[role][0]) for role in Role)
        kinds = _option("as-found", T.AS_FOUND) + "".join(
            _option(str(kind), KINDS[kind]) for kind in Kind if kind is not Kind.ORDINAL
        )
        return (
            f'<div class="ht-tools"><input type="search" id="ht-search" placeholder="{T.SEARCH}" '
            f'aria-label="{T.SEARCH}"><select id="ht-show" aria-label="{T.SHOW}">{_option("", T.SHOW_ALL)}{roles}'
            f'</select><span id="ht-count" role="status">{T.COUNT.format(len(self.found), 0)}</span>'
            f'<span class="ht-bulk"><select id="ht-bulk-role" aria-label="{T.BULK_ROLE}" disabled>'
            f'{_option("", T.BULK_ROLE)}{roles}</select><select id="ht-bulk-kind" aria-label="{T.BULK_KIND}" disabled>'
            f"{_option('', T.BULK_KIND)}{kinds}</select></span></div>"
        )

    def table(self) -> str:
        """Return the whole grid."""
        heads = "".join(
            f'<th scope="col" class="c-{key}" aria-sort="none"><button type="button" data-sort="{key}">{words}'
            f'<span aria-hidden="true"></span></button></th>'
            for key, words in T.GRID_HEADS.items()
        )
        every = f'<input type="checkbox" id="ht-every" aria-label="{T.SELECT_ALL}">'
        rows = "".join(self.row(i) for i in range(len(self.found)))
        return (
            f'<table class="ht-grid" id="ht-grid" aria-label="{T.COLUMNS}"><thead><tr><td class="c-pick">{every}</td>'
            f"{heads}</tr></thead><tbody>{rows}</tbody></table>"
        )

    def row(self, i: int) -> str:
        """Return the two rows of a column: its settings and, folded, the reasons."""
        found = self.found[i]
        name = str(found["name"])
        settings = self.settings.get(name, {})
        role, shown = str(settings.get("role", "")), escape(name, quote=True)
        sizes, loss = self.sizes.get(name) if role == Role.QUASI else None, self.losses.get(name)
        keys = {"name": name.lower(), "role": role, "kind": str(settings.get("kind") or found["kind"] or "")}
        keys |= {"spark": str(found["distinct"]), "hierarchy": str(sizes[0] if sizes else 0)}
        keys |= {"unique": repr(found["unique_share"]), "loss": repr(-1.0 if loss is None else loss)}
        data = "".join(f' data-{key}="{escape(value, quote=True)}"' for key, value in keys.items())
        cells = (
            f'<td class="c-pick"><input type="checkbox" aria-label="{T.SELECT} {shown}"></td>',
            f'<td class="c-name"><button type="button" class="ht-why" aria-expanded="false" aria-label="{shown}" '
            f'title="{shown}">{escape(name)}</button></td>',
            f'<td class="c-spark">{self._spark(i)}</td>',
            f'<td class="c-kind">{self._kinds(found, settings, shown)}</td>',
            f'<td class="c-role">{_roles(role, shown)}</td>',
            f'<td class="c-hierarchy">{self._hierarchy(name, role, sizes)}</td>',
            f'<td class="c-unique num">{share(found["unique_share"])}</td>',
            f'<td class="c-loss num">{"–" if loss is None else share(loss)}</td>',
        )
        wrong = " wrong" if found["problem"] else ""
        why = f'<tr class="why" data-of="{i}" hidden><td colspan="8">{self._why(found)}</td></tr>'
        return f'<tr class="col{wrong}" data-i="{i}"{data}>{"".join(cells)}</tr>{why}'

    def _spark(self, i: int) -> str:
        bars = self.sparks[i] if i < len(self.sparks) else ()
        drawn = "".join(
            f'<rect x="{4 * j}" y="{16 - max(16 * h, 1):.1f}" width="3" height="{max(16 * h, 1):.1f}"/>'
            for j, h in enumerate(bars)
            if h > 0
        )
        return f'<svg class="ht-spark" viewBox="0 0 64 16" width="64" height="16" aria-hidden="true">{drawn}</svg>'

    def _kinds(self, found: Mapping[str, Any], settings: Mapping[str, Any], shown: str) -> str:
        own = str(settings.get("kind") or "")
        guess = KINDS[Kind(found["kind"])] if found["kind"] else T.NOT_READABLE
        options = [("", f"{guess} ({T.FOUND})")]
        options += [(str(k), KINDS[k]) for k in Kind if k is not Kind.ORDINAL or own == Kind.ORDINAL]
        words = "".join(_option(value, text, value == own) for value, text in options)
        return f'<select data-set="kind" aria-label="{T.KIND}: {shown}">{words}</select>'

    def _hierarchy(self, name: str, role: str, sizes: Sequence[int] | None) -> str:
        if role != Role.QUASI:
            return "–"
        words = " → ".join(f"{n:,}" for n in sizes) if sizes else T.EDIT_HIERARCHY
        address = f"/p/{self.project}/hierarchies?column={quote(name, safe='')}"
        label = escape(f"{T.HIERARCHY_OF}: {name}: {words}", quote=True)
        return f'<a href="{address}" aria-label="{label}" title="{label}">{escape(words)}</a>'

    def _why(self, found: Mapping[str, Any]) -> str:
        adds = self.adds.get(str(found["name"]))
        sentences = [
            f"{ROLES[Role(found['role'])][0]}? {str(found['role_reason']).capitalize()}.",
            f"{T.KIND}: {found['kind_reason']}." if found["kind_reason"] else "",
            T.FACTS.format(found["distinct"], found["missing"]),
            T.ADDS.format(share(adds)) if adds else "",
            str(found["problem"]),
        ]
        return escape(" ".join(words for words in sentences if words))


def _option(value: str, words: str, chosen: bool = False) -> str:
    return f'<option value="{escape(value, quote=True)}"{" selected" if chosen else ""}>{escape(words)}</option>'


def _roles(role: str, shown: str) -> str:
    words = "".join(_option(str(known), ROLES[known][0], known == role) for known in Role)
    if role not in set(Role):
        words = _option("", "?", True) + words
    return f'<select data-set="role" class="role-{role}" aria-label="{T.ROLE}: {shown}">{words}</select>'


SCRIPT = """<script>
window.htGrid = (() => {
  const el = (id) => document.getElementById(id);
  const rows = () => [...document.querySelectorAll("#ht-grid tr.col")];
  const why = (row) => row.nextElementSibling;
  const tick = (row) => row.querySelector("input[type=checkbox]");
  const picked = () => rows().filter((row) => !row.hidden && tick(row).checked);
  let last = null;
  const count = () => {
    const all = rows().filter((row) => !row.hidden), some = picked();
    el("ht-count").textContent = `${all.length} of ${rows().length} columns, ${some.length} selected`;
    for (const id of ["ht-bulk-role", "ht-bulk-kind"]) el(id).disabled = !some.length;
    el("ht-every").checked = !!all.length && some.length === all.length;
    el("ht-every").indeterminate = !!some.length && some.length < all.length;
  };
  const filter = () => {
    const words = el("ht-search").value.toLowerCase().split(/\\s+/).filter(Boolean), role = el("ht-show").value;
    for (const row of rows()) {
      const text = `${row.dataset.name} ${why(row).textContent.toLowerCase()}`;
      row.hidden = !words.every((w) => text.includes(w)) || (role && row.dataset.role !== role);
      why(row).hidden = row.hidden || row.querySelector(".ht-why").getAttribute("aria-expanded") !== "true";
    }
    count();
  };
  const sort = (button) => {
    const key = button.dataset.sort, head = button.closest("th");
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const th of document.querySelectorAll("#ht-grid th")) th.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const number = ["spark", "hierarchy", "unique", "loss"].includes(key);
    const order = rows().sort((a, b) => {
      const x = a.dataset[key], y = b.dataset[key];
      return (number ? Number(x) - Number(y) : x.localeCompare(y)) || a.dataset.i - b.dataset.i;
    });
    if (down) order.reverse();
    const body = document.querySelector("#ht-grid tbody");
    for (const row of order) { const below = why(row); body.append(row, below); }
  };
  const pick = (box, shift) => {
    const shown = rows().filter((row) => !row.hidden), row = box.closest("tr.col");
    if (shift && last && shown.includes(last)) {
      const [a, b] = [shown.indexOf(last), shown.indexOf(row)].sort((x, y) => x - y);
      for (const between of shown.slice(a, b + 1)) tick(between).checked = box.checked;
    }
    last = row;
    count();
  };
  document.addEventListener("input", (e) => { if (e.target.id === "ht-search") filter(); });
  document.addEventListener("click", (e) => {
    const at = e.target.closest && e.target.closest("#ht-grid [data-sort], #ht-grid .ht-why, #ht-grid input");
    if (!at) return;
    if (at.dataset.sort) sort(at);
    else if (at.classList.contains("ht-why")) {
      const open = at.getAttribute("aria-expanded") !== "true";
      at.setAttribute("aria-expanded", open);
      why(at.closest("tr")).hidden = !open;
    } else if (at.id === "ht-every") {
      for (const row of rows()) if (!row.hidden) tick(row).checked = at.checked;
      count();
    } else pick(at, e.shiftKey);
  });
  document.addEventListener("change", (e) => {
    const at = e.target;
    if (at.id === "ht-show") filter();
    if (at.matches("#ht-grid select[data-set]")) {
      emitEvent("ht-columns", {rows: [Number(at.closest("tr").dataset.i)], set: at.dataset.set, value: at.value});
    }
    if (at.id === "ht-bulk-role" || at.id === "ht-bulk-kind") {
      const value = at.value === "as-found" ? "" : at.value;
      if (at.value) emitEvent("ht-columns", {
        rows: picked().map((row) => Number(row.dataset.i)), set: at.id.slice(8), value,
      });
      at.value = "";
    }
  });
  // only what differs is replaced: a list that somebody has open elsewhere stays open
  const renew = (old, fresh) => {
    const field = old.querySelector("select"), wanted = fresh.querySelector("select");
    if (old.outerHTML === fresh.outerHTML) {
      if (field) field.value = wanted.value;
      return;
    }
    const focused = field && field === document.activeElement;
    old.replaceWith(fresh);
    if (focused && wanted) wanted.focus();
  };
  return {update(changed) {
    for (const [i, html] of Object.entries(changed)) {
      const row = document.querySelector(`#ht-grid tr.col[data-i="${i}"]`);
      if (!row) continue;
      const holder = document.createElement("tbody");
      holder.innerHTML = html;
      const [fresh, below] = holder.children;
      row.className = fresh.className;
      Object.assign(row.dataset, fresh.dataset);
      const cells = [...fresh.cells];
      [...row.cells].forEach((old, at) => { if (at > 1) renew(old, cells[at]); });
      if (why(row).textContent !== below.textContent) why(row).innerHTML = below.innerHTML;
    }
    count();
  }};
})();
</script>"""
"""Goes into the page's head; it acts on the grid whenever there is one."""
