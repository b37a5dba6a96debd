"""A readable page of the REST API: the OpenAPI description, without external resources."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from hushtable.studio.pages.layout import frame
from hushtable.studio.pages.widgets import card, html_table, text
from hushtable.studio.service import Studio
from hushtable.studio.texts import T


def build(studio: Studio, schema: dict[str, Any]) -> None:
    """Build the page."""
    with frame(studio, T.API):
        text(schema["info"]["description"], "p", "ht-lead")
        ui.link("openapi.json", schema["x-path"]).classes("ht-link")
        tags: dict[str, list[list[str]]] = {}
        for path, methods in schema["paths"].items():
            for method, operation in methods.items():
                tags.setdefault(operation["tags"][0], []).append(
                    [method.upper(), path, operation.get("description", "")]
                )
        for tag, rows in tags.items():
            with card(tag):
                html_table(["method", "path", "description"], rows, caption=tag)
