"""The style sheet: light, dark and print, with colors that color-blind people can distinguish (after Okabe and Ito)."""

from __future__ import annotations

from hushtable.report.page.look import CHARTS, DARK, FONT, LIGHT, MONO

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
