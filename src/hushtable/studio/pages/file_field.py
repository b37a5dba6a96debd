"""The field that uploads a file to the studio."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from nicegui import events, ui

from hushtable.studio.pages.widgets import text
from hushtable.studio.texts import T


def file_field(label: str, address: str, accept: Sequence[str], done: Callable[[str], Any], *, seen: str = "") -> None:
    """A field that immediately uploads a file to the REST API; ``done`` is called with its name.

    Parameters
    ----------
    label : str
    address : str
        Upload address, with ``{name}`` for the file's name.
    accept : sequence of str
        Endings.
    done : callable
    seen : str
        The revision of the project that the page shows; the file is refused if that is no longer the latest.
    """
    with ui.element("div").classes("ht-file"):
        with ui.element("label"):
            text(label, "span", "")
            field = ui.element("input").props(f'type=file accept="{",".join(accept)}"')
        state = text("", "div", "ht-soft").props("role=status")

    def answered(event: events.GenericEventArguments) -> Any:
        said = event.args if isinstance(event.args, dict) else {}
        if said.get("begun"):
            state.set_text(T.UPLOADING)
            return None
        state.set_text("")
        if said.get("ok"):
            return done(str(said.get("name", "")))
        ui.notify(
            f"{said.get('message', T.REJECTED)} {said.get('hint', '')}".strip(),
            type="negative",
            multi_line=True,
            timeout=8000,
            close_button=True,
        )
        return None

    headers = json.dumps({"if-match": seen} if seen else {})
    before, after = address.split("{name}")
    field.on(
        "change",
        answered,
        js_handler=f"""async (e) => {{
            const file = e.target.files[0];
            if (!file) return;
            emit({{begun: true}});
            try {{
                const to = {json.dumps(before)} + encodeURIComponent(file.name) + {json.dumps(after)};
                const said = await fetch(to, {{method: "PUT", body: file, headers: {headers}}});
                emit(said.ok ? {{ok: true, name: file.name}} : await said.json());
            }} catch (error) {{
                emit({{}});
            }}
            e.target.value = "";
        }}""",
    )
