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


# The style sheet: light, dark and print, with colors that color-blind people can distinguish (after Okabe and Ito).


STYLE = (
    f":root {{ color-scheme: light dark; {LIGHT} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {DARK} }} }}\n"
    f"html {{ font: 16px/1.55 {FONT}; }} code {{ font: .85em/1.4 {MONO}; }}\n{CHARTS}"
    """
* { box-sizing: border-box; }
html { background: var(--paper); color: var(--ink); }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1.25rem 4rem; }
a { color: var(--link); }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.3rem; margin: 2.75rem 0 .5rem; padding-top: .5rem; border-top: 2px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.5rem 0 .4rem; }
p, ul, dl { margin: .5rem 0; } ul { padding-left: 1.25rem; } li { margin: .2rem 0; }
code { overflow-wrap: anywhere; }
.about, .quiet, .meta { color: var(--soft); }
.meta { font-size: .9rem; }
.private { border-left: .3rem solid var(--bad); padding-left: .75rem; }
.verdict { border: 2px solid var(--good); border-radius: .5rem; padding: 1rem 1.25rem; background: var(--raised);
  margin: 1.25rem 0; }
.verdict.bad { border-color: var(--bad); }
.verdict > h2 { border: 0; margin: 0 0 .4rem; padding: 0; font-size: 1.2rem; }
.verdict > h2 .mark { color: var(--good); } .verdict.bad > h2 .mark { color: var(--bad); }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: .75rem; margin: 1rem 0;
  padding: 0; list-style: none; }
.figures li { background: var(--paper); border: 1px solid var(--line); border-radius: .4rem; padding: .6rem .75rem;
  margin: 0; }
.figures b { display: block; font-size: 1.45rem; line-height: 1.2; }
.figures small { display: block; color: var(--soft); }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(18rem, 1fr)); gap: 0 2rem; }
.sides h3 { margin-top: .75rem; }
nav ol { columns: 2; padding-left: 1.25rem; margin: .5rem 0; } nav li { break-inside: avoid; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; margin: .5rem 0; }
caption { text-align: left; color: var(--soft); font-size: .9rem; padding-bottom: .25rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem .35rem 0; border-bottom: 1px solid var(--line); }
thead th { border-bottom-width: 2px; vertical-align: bottom; } tbody th { font-weight: 600; }
th small { font-weight: normal; }
.short { white-space: nowrap; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
td.n { white-space: nowrap; }
.wide { overflow-x: auto; }
.met, .holds { color: var(--good); font-weight: 600; } .not-met, .broken { color: var(--bad); font-weight: 600; }
.to-judge { color: var(--judge); font-weight: 600; } .stated { font-weight: 600; }
.finding { border-left: 4px solid var(--line); padding: .1rem 0 .1rem 1rem; margin: 1rem 0; }
.finding h3 { margin: 0; } .finding ul { font-size: .92rem; color: var(--soft); }
.finding.is-met { border-color: var(--good); } .finding.is-not-met { border-color: var(--bad); }
.finding.is-to-judge { border-color: var(--judge); }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(26rem, 1fr)); gap: 0 2rem; }
.column { break-inside: avoid; }
footer { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: .75rem; font-size: .85rem;
  color: var(--soft); }
@media (max-width: 30rem) { .columns { grid-template-columns: 1fr; } nav ol { columns: 1; } }
@page { size: A4; margin: 16mm 15mm 18mm; }
@media print { :root { color-scheme: light; --paper: #fff; --raised: #fff; --ink: #000; --soft: #333; --line: #999;
    --grid: #ddd; --before: #c6dbea; --before-line: #33699b; --after: #b8500a; --good: #0a6640; --bad: #a81e1e;
    --judge: #7a5200; --link: #000; }
  html { font-size: 10pt; } body { max-width: none; padding: 0; } nav, details.numbers { display: none; }
  h2, h3, caption, figcaption, .legend { break-after: avoid; } tr, li, .finding, .verdict { break-inside: avoid; }
  thead { display: table-header-group; } .wide { overflow: visible; } a { text-decoration: none; }
  .columns { grid-template-columns: 1fr 1fr; gap: 0 1.25rem; } h2 { margin-top: 1.5rem; }
  .figures { grid-template-columns: repeat(5, 1fr); gap: .4rem; } .figures li { padding: .4rem .5rem; } }
"""
)
