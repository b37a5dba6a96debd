"""Risks of an original table and of its release, side by side; measures are found through the registry."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hushtable.errors import ParameterError, did_you_mean
from hushtable.io.figures import html_grid, text_grid
from hushtable.io.plots import bars
from hushtable.registry import risks
from hushtable.release.exposure import Exposure
from hushtable.risk.base import Risk

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class BeforeAfter:
    """One risk, of the original table and of the release.

    Attributes
    ----------
    name : str
    parameters : mapping
        Parameters that differ from their defaults.
    before, after : Finding
        Findings of the measure: frozen dataclasses with ``as_dict``. ``after`` is None without a release.
    """

    name: str
    parameters: Mapping[str, Any]
    before: Any
    after: Any = None

    def __repr__(self) -> str:
        return text_grid(_HEADS, list(_figures(self.name, self)))

    def _repr_html_(self) -> str:
        return html_grid(_HEADS, list(_figures(self.name, self)))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the shares and chances of this risk, before and after; returns matplotlib axes."""
        return RiskSummary({self.name: self}).plot(ax)

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready data."""
        found = {"risk": self.name, "parameters": dict(self.parameters), "before": self.before.as_dict()}
        return found if self.after is None else {**found, "after": self.after.as_dict()}


@dataclass(frozen=True, repr=False)
class RiskSummary:
    """Several risks, of the original table and of the release.

    Attributes
    ----------
    risks : mapping of str to BeforeAfter
        By name.
    """

    risks: Mapping[str, BeforeAfter]

    def __getitem__(self, name: str) -> BeforeAfter:
        return self.risks[name]

    def __repr__(self) -> str:
        return text_grid(_HEADS, self.rows())

    def _repr_html_(self) -> str:
        return html_grid(_HEADS, self.rows())

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw all shares and chances, before and after.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Defaults to the axes of a new figure.

        Returns
        -------
        matplotlib axes
        """
        names, series = [], {"before": list[float](), "after": list[float]()}
        for name, found in self.risks.items():
            after = {} if found.after is None else found.after.as_dict()
            for key, value in found.before.as_dict().items():
                # counts are on another scale
                if isinstance(value, float) and 0 <= value <= 1 and key in _SHARES:
                    names.append(f"{name}: {key.replace('_', ' ')}")
                    series["before"].append(value)
                    series["after"].append(float(after.get(key) or 0.0))
        if all(found.after is None for found in self.risks.values()):
            del series["after"]
        return bars(names, series, ax=ax, xlabel="share of people, or chance")

    def rows(self) -> list[list[str]]:
        """Return the figures in human-readable form: risk, name, before and after; undefined figures are omitted."""
        return [row for name, found in self.risks.items() for row in _figures(name, found)]

    @property
    def before(self) -> dict[str, Any]:
        """Findings about the original table, by name."""
        return {name: found.before for name, found in self.risks.items()}

    @property
    def after(self) -> dict[str, Any]:
        """Findings about the release, by name; empty without a release."""
        return {name: found.after for name, found in self.risks.items() if found.after is not None}

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready data."""
        return {name: found.as_dict() for name, found in self.risks.items()}


_HEADS = ("risk", "what", "before", "after")
_SHARES = ("highest", "average", "lowest", "share", "share_at_risk", "share_pairs")
_SETTINGS = ("threshold", "fraction", "k", "population", "searched")


def _figures(name: str, found: BeforeAfter) -> Iterator[list[str]]:
    after = {} if found.after is None else found.after.as_dict()
    for key, value in found.before.as_dict().items():
        if isinstance(value, int | float) and not isinstance(value, bool) and key not in _SETTINGS:
            yield [name, key.replace("_", " "), _figure(value), _figure(after.get(key))]


def _figure(value: Any) -> str:
    if not isinstance(value, int | float) or math.isnan(value):
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"


def risk_of(
    name: str | Risk, parameters: Mapping[str, Any], before: Exposure, after: Exposure | None = None
) -> BeforeAfter:
    """Assess one risk, by name or as an object.

    Examples
    --------
    >>> raw = Exposure.of({"age": [30, 31, 31]})
    >>> risk_of("prosecutor", {"threshold": 0.5}, raw).before.highest
    1.0
    """
    risk = risks.chosen(name, parameters)
    return BeforeAfter(risk.name, risk.values(), risk.compute(before), None if after is None else risk.compute(after))


def risk_summary(
    parameters: Mapping[str, Any],
    before: Exposure,
    after: Exposure | None = None,
    names: Sequence[str] | None = None,
) -> RiskSummary:
    """Assess the named risks, or all risks of a summary.

    Parameters
    ----------
    parameters : mapping
        Passed to every risk that declares them.
    before, after : Exposure
    names : sequence of str, optional

    Raises
    ------
    ParameterError
        If none of the risks declares a parameter.

    Examples
    --------
    >>> raw = Exposure.of({"age": [30, 31, 31]})
    >>> found = risk_summary({"threshold": 0.5}, raw, names=["prosecutor", "marketer"])
    >>> found["marketer"].before.share
    0.6666666666666666
    >>> risk_summary({"treshold": 0.5}, raw)
    Traceback (most recent call last):
    hushtable.errors.ParameterError: No risk has a parameter 'treshold'. Did you mean 'threshold'?
    """
    chosen = [name for name, risk in risks.items() if risk.default] if names is None else names
    declared = {name: {p.name for p in risks[name].params()} for name in chosen}
    known = set().union(*declared.values())
    for key in parameters:
        if key not in known:
            raise ParameterError(f"No risk has a parameter {key!r}.", hint=did_you_mean(key, known))
    built = {name: risks.build(name, {k: v for k, v in parameters.items() if k in declared[name]}) for name in chosen}
    return RiskSummary(
        {
            name: risk_of(risk, {}, before, after)
            for name, risk in built.items()
            if names is not None or risk.applies(before)
        }
    )
