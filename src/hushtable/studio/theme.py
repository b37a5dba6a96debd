"""Colours and layout: readable in light and dark, at any width, and for people who see fewer colours."""

from __future__ import annotations

__all__ = ["CSS", "shade"]

CSS = """
:root { --ht-page:#f6f7f9; --ht-card:#ffffff; --ht-ink:#1b2733; --ht-soft:#4a5a6a; --ht-line:#c9d2db;
  --ht-brand:#00527f; --ht-brand-ink:#ffffff; --ht-good:#00694d; --ht-bad:#a8330a; --ht-warn:#7a5200;
  --ht-mark:#e8f1f8; --ht-series-1:#0072B2; --ht-series-2:#D55E00; }
.body--dark { --ht-page:#12181f; --ht-card:#1b242e; --ht-ink:#e8edf2; --ht-soft:#b3c0cc; --ht-line:#3b4855;
  --ht-brand:#8fcaf0; --ht-brand-ink:#0b1a26; --ht-good:#5fd3a8; --ht-bad:#ff9c73; --ht-warn:#f0c060;
  --ht-mark:#24394a; --ht-series-1:#56B4E9; --ht-series-2:#ff9350; }
body { background:var(--ht-page); color:var(--ht-ink); font-size:15px; line-height:1.5; }
.nicegui-content { padding:0; display:block; }
.ht-head { background:#00405f; color:#fff; padding:6px 16px; display:flex; align-items:center; gap:12px; }
.ht-head a { color:#fff; }
.ht-brandname { font-weight:700; font-size:17px; text-decoration:none; }
.ht-project { opacity:1; overflow:hidden; text-overflow:ellipsis; white-space:nowrap; flex:1; min-width:0; }
.ht-nav { background:var(--ht-card); border-right:1px solid var(--ht-line); color:var(--ht-ink); }
.ht-nav { padding:0 !important; } .ht-nav .q-drawer__content { padding:0; }
.ht-nav nav { width:100%; } .ht-nav ol { list-style:none; margin:8px 0; padding:0; }
.ht-nav a { display:flex; gap:10px; align-items:center; padding:9px 16px; color:var(--ht-ink); text-decoration:none;
  border-left:4px solid transparent; }
.ht-nav a:hover { background:var(--ht-mark); }
.ht-nav a[aria-current=page] { background:var(--ht-mark); border-left-color:var(--ht-brand); font-weight:600; }
.ht-num { width:24px; height:24px; border-radius:50%; border:1px solid var(--ht-soft); display:inline-flex;
  align-items:center; justify-content:center; font-size:12px; flex:none; }
.ht-num.done { background:var(--ht-good); border-color:var(--ht-good); color:var(--ht-card); }
.ht-main { max-width:1400px; margin:0 auto; padding:20px 24px 64px; display:block; }
.ht-main h1 { font-size:25px; margin:0 0 2px; line-height:1.25; font-weight:700; }
.ht-main h2 { font-size:18px; margin:0 0 6px; line-height:1.3; font-weight:650; }
.ht-main h3 { font-size:15px; margin:0 0 4px; font-weight:650; line-height:1.3; }
.ht-lead { color:var(--ht-soft); margin:0 0 16px; max-width:76ch; }
.ht-card { background:var(--ht-card); border:1px solid var(--ht-line); border-radius:8px; padding:16px 18px;
  margin:0 0 16px; display:block; color:var(--ht-ink); }
.ht-card > p, .ht-text { margin:0 0 10px; max-width:76ch; }
.ht-soft { color:var(--ht-soft); }
.ht-row { display:flex; gap:12px; flex-wrap:wrap; align-items:center; }
.ht-row.top { align-items:flex-start; }
.ht-row > .grow { flex:1 1 260px; min-width:0; }
.ht-cols { display:grid; grid-template-columns:repeat(auto-fit,minmax(min(320px,100%),1fr)); gap:16px; }
.ht-cols > .ht-card { margin:0; }
.ht-foot { display:flex; justify-content:space-between; gap:12px; margin-top:20px; flex-wrap:wrap; }
.ht-scroll { overflow-x:auto; max-width:100%; }
.ht-legend { gap:0; margin-bottom:8px; } .ht-legend span { padding:3px 10px; border:1px solid var(--ht-line);
  font-size:12.5px; }
.ht-card > .ht-scroll { margin-top:10px; }
.ht-table { border-collapse:collapse; font-size:13.5px; min-width:100%; }
.ht-table th, .ht-table td { text-align:left; padding:5px 10px; border-bottom:1px solid var(--ht-line);
  vertical-align:top; max-width:28ch; overflow-wrap:break-word; }
.ht-table th { font-weight:650; white-space:nowrap; color:var(--ht-ink); background:var(--ht-mark); }
.ht-table td.num, .ht-table th.num { text-align:right; font-variant-numeric:tabular-nums; }
.ht-table td.empty { color:var(--ht-soft); font-style:italic; }
.ht-table tr.own td { color:var(--ht-soft); }
.ht-table .clamp { display:-webkit-box; -webkit-line-clamp:2; -webkit-box-orient:vertical; overflow:hidden; }
.ht-good { color:var(--ht-good); font-weight:600; } .ht-bad { color:var(--ht-bad); font-weight:600; }
.ht-list { margin:4px 0 8px; padding-left:20px; } .ht-list li { margin:2px 0; }
.ht-note { border-left:4px solid var(--ht-brand); padding:8px 12px; background:var(--ht-mark); margin:0 0 12px; }
.ht-note.bad { border-left-color:var(--ht-bad); } .ht-note.good { border-left-color:var(--ht-good); }
.ht-chart { width:100%; height:auto; display:block; }
.ht-main .q-select { min-width:160px; }
.ht-card .nicegui-expansion-content { display:block; }
.ht-form { margin:10px 0 8px; }
.q-expansion-item.ht-card { padding:2px 6px; } .q-expansion-item .q-item { padding-left:8px; }
.ht-chart text { fill:var(--ht-ink); font-size:12px; } .ht-chart .axis { stroke:var(--ht-soft); stroke-width:1; }
.ht-chart .one { fill:var(--ht-series-1); } .ht-chart .two { fill:var(--ht-series-2); }
.ht-chart .cut { stroke:var(--ht-series-2); stroke-width:1.5; }
.ht-chart .fits { fill:var(--ht-series-1); stroke:var(--ht-series-1); } .ht-chart .edge { stroke:var(--ht-line); }
.ht-chart .unfit { fill:var(--ht-card); stroke:var(--ht-soft); stroke-width:1.5; }
.ht-chart .ring { fill:none; stroke:var(--ht-series-2); stroke-width:3; }
.ht-chart .box { fill:var(--ht-series-1); fill-opacity:.14; stroke:var(--ht-series-1); stroke-width:.8; }
.ht-chart [data-pick] { cursor:pointer; }
.ht-chart [data-pick]:focus { outline:none; }
.ht-chart [data-pick]:focus-visible { outline:3px solid var(--ht-series-2); }
.ht-field { border-top:1px solid var(--ht-line); padding:12px 0; display:grid; gap:4px 16px;
  grid-template-columns:minmax(180px,1.3fr) 190px 190px minmax(170px,1.3fr); align-items:center; }
@media (max-width:1000px) { .ht-field { grid-template-columns:1fr 1fr; }
  .ht-field > :first-child, .ht-field .wide { grid-column:1 / -1; } }
@media (max-width:520px) { .ht-field { grid-template-columns:1fr; } .ht-main { padding:14px 12px 48px; } }
.ht-code { background:var(--ht-mark); padding:10px 12px; border-radius:6px; overflow-x:auto; font-size:12.5px;
  white-space:pre; font-family:ui-monospace,monospace; margin:0; max-height:340px; }
.ht-file label { display:block; } .ht-file label span { display:block; font-weight:600; margin-bottom:6px; }
.ht-file input { border:2px dashed var(--ht-soft); border-radius:6px; padding:14px; width:100%; color:var(--ht-ink); }
a.ht-link { color:var(--ht-brand); }
:focus-visible { outline:3px solid var(--ht-series-2); outline-offset:2px; }
.q-checkbox__label, .q-toggle__label { color:var(--ht-ink); }
/* important rules of an earlier layer win over unlayered ones, so these stand in the framework's own layer */
@layer quasar_importants {
  body { --q-primary:#005f8f !important; --q-negative:#a8330a !important; --q-positive:#00694d !important; }
  body.body--dark { --q-primary:#8fcaf0 !important; --q-negative:#c2451a !important; }
  .body--dark .q-btn.bg-primary { color:#0b1a26 !important; }
  .q-notification .q-btn { color:#ffffff !important; }
  .q-field__label, .q-field__messages, .q-field__native, .q-field__input { color:var(--ht-ink) !important; }
  .q-field--outlined .q-field__control:before { border-color:var(--ht-soft) !important; }
}
@media (prefers-reduced-motion:reduce) { * { transition:none !important; animation:none !important; } }
"""


def shade(share: float) -> str:
    """Return the style of a cell that was generalised that far; the text on it stays readable.

    Examples
    --------
    >>> shade(0.0)
    ''
    >>> shade(1.0)
    'background:#08519c;color:#ffffff'
    """
    steps = ("", "#deebf7", "#c6dbef", "#9ecae1", "#4a94c9", "#08519c")
    step = 0 if share <= 0 else min(1 + int(share * 5), 5)
    if not step:
        return ""
    ink = "#ffffff" if step == 5 else "#10202e"
    return f"background:{steps[step]};color:{ink}"
