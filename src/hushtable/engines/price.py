"""What guards and round regions cost and gain: one release with and without them, measured in the same way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hushtable.errors import UsageError
from hushtable.io.figures import html_grid, text_grid
from hushtable.registry import guards
from hushtable.release.forms.base import Form, build_form
from hushtable.release.recode import published_in
from hushtable.table.coded_columns import PublishedAs

if TYPE_CHECKING:
    from hushtable.engines.release import Release

MEASURES = ("ncp", "discernibility", "average-class-size")
"""The default measures of a price."""


@dataclass(frozen=True)
class Variant:
    """A release with some of the guards, in the policy's cells or in tight ones.

    Attributes
    ----------
    guards : tuple of str
        The guards of the run; empty for the release without guards.
    tight : bool
        Whether numbers and dates are published as tight ranges instead of round regions.
    measures : mapping of str to float
        Utility.
    attacks : mapping of str to AttackResult
        Results of the attacks that the guards prevent.
    """

    guards: tuple[str, ...]
    measures: Mapping[str, float]
    attacks: Mapping[str, Any]
    tight: bool = False

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready data."""
        return {
            "guards": list(self.guards),
            "tight": self.tight,
            "measures": dict(self.measures),
            "attacks": {name: result.as_dict() for name, result in self.attacks.items()},
        }


@dataclass(frozen=True, repr=False)
class GuardPrice:
    """Utility and attacks with tight cells, without guards, with each of them, and with all.

    Attributes
    ----------
    variants : tuple of Variant
        Ordered from the tightest cells without guards to the actual release.
    refused : mapping of str to str
        Attacks that cannot be run on this release, and why.
    """

    variants: tuple[Variant, ...]
    refused: Mapping[str, str]

    def _rows(self) -> tuple[list[str], list[list[str]]]:
        names = list(self.variants[-1].measures)
        tried = list(dict.fromkeys(name for v in self.variants for name in v.attacks))
        rows = [
            [
                "tight cells" if v.tight else " + ".join(v.guards) or "no guards",
                *(f"{v.measures[name]:.4g}" for name in names),
                *(f"{v.attacks[name].rate:.1%}" if name in v.attacks else "-" for name in tried),
            ]
            for v in self.variants
        ]
        return ["release", *names, *(f"attack {name}" for name in tried)], rows

    def __repr__(self) -> str:
        return text_grid(*self._rows())

    def _repr_html_(self) -> str:
        return html_grid(*self._rows())

    @property
    def without(self) -> Variant:
        """The release without guards."""
        return next(v for v in self.variants if not v.tight)

    @property
    def tightest(self) -> Variant | None:
        """The release with tight cells and without guards; None if cells are tight anyway."""
        return next((v for v in self.variants if v.tight), None)

    @property
    def guarded(self) -> Variant:
        """The actual release."""
        return self.variants[-1]

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready data."""
        return {"variants": [v.as_dict() for v in self.variants], "refused": dict(self.refused)}


def guard_price(release: Release, measures: Sequence[str] | None = None) -> GuardPrice:
    """Make the release again with tight cells, without its guards and with each of them alone, and compare.

    Raises
    ------
    UsageError
        If the release has neither guards nor cells that could be tighter.
    """
    names = release.guards
    widened = [form.answers for form in _forms(release) if form.instead_of]
    if not names and not widened:
        raise UsageError(
            "The release has no guards, and its cells cannot be tighter.",
            code="no-guards",
            hint="Write 'guard: [minimality, downcoding]' or 'cells: regions' in the policy.",
        )
    subsets: list[tuple[str, ...]] = [(), *((name,) for name in names if len(names) > 1), names]
    chosen = [(subset, False) for subset in dict.fromkeys(subsets)]
    if widened:
        chosen.insert(0, ((), True))
    answered = list(dict.fromkeys(a for a in (*(guards[name].answers for name in names), *widened) if a))
    refused: dict[str, str] = {}
    variants = []
    for subset, tight in chosen:
        made = _tightened(release) if tight else release if subset == names else release.with_guards(subset)
        results = {}
        for attack in answered:
            try:
                results[attack] = made.attack(attack)
            except UsageError as error:
                refused[attack] = str(error)
        variants.append(Variant(subset, made.measures(list(measures or MEASURES)), results, tight))
    return GuardPrice(tuple(variants), refused)


def _forms(release: Release) -> list[Form]:
    """The forms in which the quasi-identifiers are published, once each."""
    recoding = release.plan.algorithm.recoding
    return list(dict.fromkeys(published_in(cells.column, recoding) for cells in release.recoded.cells))


def _tightened(release: Release) -> Release:
    """The release without guards, and with the tightest cells that its forms have."""
    from hushtable.engines import local  # it makes releases, so it imports this module

    bare = release.with_guards(()).plan if release.guards else release.plan
    table = bare.table
    columns = tuple(replace(c, cells=None if c.cells is None else _tight(c.cells)) for c in table.columns)
    table = replace(table, columns=columns, cells=_tight(table.cells))
    return local.run(release.original(), replace(bare, table=table, coins=None), source=release.source)


def _tight(form: PublishedAs | None) -> PublishedAs | None:
    return build_form(form.instead_of) if isinstance(form, Form) and form.instead_of else form
