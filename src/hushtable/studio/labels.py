"""What steps, roles, kinds and states are called on the studio's pages."""

from __future__ import annotations

from hushtable.registry import forms
from hushtable.schema.columns import Kind, Missing, Role

__all__ = ["CELLS", "KINDS", "MISSING", "ROLES", "STATES", "STEPS"]

STEPS = {
    "data": ("Data", "Choose the table that you want to publish."),
    "columns": ("Columns", "Say what each column tells about a person."),
    "hierarchies": ("Hierarchies", "Say how values may be made coarser."),
    "protect": ("Protect", "Say what must not be possible with the release."),
    "run": ("Run", "Make a release that keeps those promises."),
    "explore": ("Explore", "See other solutions, and choose one."),
    "compare": ("Compare", "See what became of the data."),
    "attack": ("Attack & risk", "Try to break the release before others do."),
    "export": ("Export", "Take the release, its policy and its evidence with you."),
}
"""Step -> title and what it is for, in the order of the way."""

ROLES = {
    Role.IDENTIFIER: ("Identifier", "Names a person (name, number, e-mail). It is never published."),
    Role.QUASI: (
        "Quasi-identifier",
        "Others may know it about a person (age, postcode, job). It is made coarser until nobody stands out.",
    ),
    Role.SENSITIVE: (
        "Sensitive",
        "Must not be learnt about a person (diagnosis, income). It is published, and protected by the models.",
    ),
    Role.INSENSITIVE: ("Insensitive", "Harmless, and nobody can be found by it. It is published as it is."),
    Role.PSEUDONYM: (
        "Pseudonym",
        "Names a person, and is published under a keyed name. It is not anonymous: the key holder can undo it.",
    ),
    Role.WEIGHT: ("Survey weight", "How many people a record stands for. For risks and measures."),
    Role.CLUSTER: ("Household", "Which household a record belongs to. Risks use it. It is not published."),
    Role.DROP: ("Drop", "Not published."),
}
KINDS = {
    Kind.NUMERIC: "numbers",
    Kind.ORDINAL: "ordered labels",
    Kind.NOMINAL: "labels",
    Kind.DATE: "dates",
}
MISSING = {
    Missing.OWN_CATEGORY: "An empty cell is a value like any other: it looks like other empty cells only.",
    Missing.WILDCARD: "An empty cell may stand for anything: classes it could belong to are judged together.",
    Missing.ERROR: "There must be no empty cells among the quasi-identifiers.",
}
CELLS = {name: form.in_words for name, form in forms.items() if not form.follows}
STATES = {
    "queued": "waiting",
    "running": "running",
    "done": "done",
    "failed": "failed",
    "cancelled": "cancelled",
    "interrupted": "interrupted: the studio was closed",
}
