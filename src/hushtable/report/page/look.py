"""One look for the report, the studio and the documentation: colors, fonts and charts.

Colors can be distinguished by people with color blindness (after Okabe and Ito), and text on them is readable in
light and dark mode.
"""

from __future__ import annotations

FONT = 'system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif'
"""Fonts of the reader's own machine: nothing is fetched."""

MONO = 'ui-monospace, "SF Mono", Consolas, "Liberation Mono", monospace'

LIGHT = """
  --paper: #ffffff; --raised: #f5f7f9; --ink: #1b1f24; --soft: #4d5661; --line: #c9d1d9; --grid: #e3e7eb;
  --before: #c6dbea; --before-line: #33699b; --after: #b8500a; --good: #0a6640; --bad: #a81e1e; --judge: #7a5200;
  --link: #0a58a6; --brand: #00527f; --head: #00405f; --mark: #e8f1f8;
"""
"""Color declarations for light mode."""

DARK = """
  --paper: #14171b; --raised: #1d2228; --ink: #e8ecf0; --soft: #b3bcc6; --line: #424b55; --grid: #2c333a;
  --before: #234a66; --before-line: #7fbbe6; --after: #f0a04b; --good: #66d09b; --bad: #ff9a94; --judge: #f0c063;
  --link: #86bdf5; --brand: #8fcaf0; --head: #00405f; --mark: #24394a;
"""
"""Color declarations for dark mode."""

CHARTS = f"""
figure {{ margin: 1rem 0 1.5rem; break-inside: avoid; }} figcaption {{ font-size: .92rem; margin-bottom: .35rem; }}
figcaption {{ color: var(--soft); }}
svg.chart {{ display: block; width: 100%; max-width: 46rem; height: auto; overflow: visible; }}
svg.chart text {{ font: 12px {FONT}; fill: var(--ink); }}
svg.chart .label {{ text-anchor: end; }}
svg.chart .tick {{ text-anchor: middle; fill: var(--soft); font-size: 11px; }}
svg.chart .value {{ fill: var(--soft); font-size: 11px; }}
svg .grid {{ stroke: var(--grid); stroke-width: 1; }}
svg .before {{ fill: var(--before); stroke: var(--before-line); stroke-width: 1; }} svg .after {{ fill: var(--after); }}
svg .interval {{ stroke: var(--soft); stroke-width: 2.5; }} svg .tick-mark {{ stroke: var(--ink); stroke-width: 2; }}
svg .dot {{ fill: var(--paper); stroke: var(--before-line); stroke-width: 2.5; }}
svg .dot-above {{ fill: var(--after); }}
svg .dot-before {{ fill: var(--before); stroke: var(--before-line); stroke-width: 1.5; }}
svg .dot-after {{ fill: var(--after); }}
svg.key {{ width: .9rem; height: .9rem; vertical-align: -.1rem; margin-right: .35rem; }}
.legend {{ font-size: .88rem; color: var(--soft); margin: .25rem 0; }} .legend span {{ margin-right: 1.25rem; }}
details.numbers {{ font-size: .88rem; }} summary {{ cursor: pointer; color: var(--link); }}
"""
"""Rules for what ``hushtable.report.charts`` draws."""

_LIGHT_LINES = ("#0072b2", "#c44f00", "#00795a", "#b0518a", "#1f1f1f", "#8c6d00", "#2a8fc4", "#7a3fb0")
_DARK_LINES = ("#63b3e6", "#f29a4a", "#4fd0a5", "#e79ac6", "#e8ecf0", "#e0c050", "#9ad4f5", "#c7a0f0")


def _colours(colours: tuple[str, ...]) -> str:
    return " ".join(f"svg .s{i} {{ --own: {colour}; }}" for i, colour in enumerate(colours))


LINES = f"""
{_colours(_LIGHT_LINES)}
@media (prefers-color-scheme: dark) {{ {_colours(_DARK_LINES)} }}
svg .axis {{ stroke: var(--soft); stroke-width: 1; }}
svg .line {{ fill: none; stroke: var(--own); stroke-width: 2; }} svg .line.published {{ stroke-dasharray: 5 4; }}
svg .mark {{ fill: var(--own); stroke: var(--own); stroke-width: 1.5; }} svg .mark.published {{ fill: var(--paper); }}
svg .band {{ fill: var(--own); stroke: none; opacity: .16; }}
svg .box {{ fill: var(--before); fill-opacity: .35; stroke: var(--before-line); stroke-width: .8; }}
svg .point {{ fill: var(--after); }}
svg.key.long {{ width: 1.8rem; }}
"""
"""Rules for lines, bands and boxes."""
