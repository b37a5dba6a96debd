"""Explanations of models, algorithms and attacks, taken from their own classes, so that plug-ins have them too."""

from __future__ import annotations

import inspect

from hushtable.about import describe, reflow
from hushtable.params import Parametrised


def summary(known: type[Parametrised]) -> str:
    """Return the one-sentence summary of a class.

    Examples
    --------
    >>> from hushtable.registry import models
    >>> summary(models["k-anonymity"])
    'Every class has at least k people.'
    """
    return str(describe(known)["summary"])


def explanation(known: type[Parametrised]) -> str:
    """Return the full explanation of a class for users: its text and its module's definition, without code."""
    parts = [_prose(inspect.getdoc(known) or ""), _prose(getattr(inspect.getmodule(known), "__doc__", None) or "")]
    return "\n\n".join(part for part in parts if part)


def _prose(text: str) -> str:
    """Return the text before the first section of parameters or examples; references are kept."""
    lines = inspect.cleandoc(text).replace("``", "").splitlines()
    kept: list[str] = []
    skipping = False
    for i, line in enumerate(lines):
        heading = i + 1 < len(lines) and lines[i + 1] and set(lines[i + 1]) == {"-"}
        if heading:
            skipping = line.strip() not in ("References", "Notes")
        if not skipping:
            kept.append(line)
    return reflow("\n".join(kept).strip())
