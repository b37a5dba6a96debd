"""Colours and layout: readable in light and dark, at any width, and for people who see fewer colours."""

from __future__ import annotations

from hushtable.report.page.look import CHARTS, DARK, FONT, LIGHT, MONO

__all__ = ["CSS", "shade"]

CSS = (
    f":root {{ {LIGHT} }}\n.body--dark {{ {DARK} }}\nbody {{ font-family:{FONT}; }}\n.ht-mono {{ font-family:{MONO}; }}\n{CHARTS}"
    """
body { background:var(--raised); color:var(--ink); font-size:15px; line-height:1.5; }
.nicegui-content { padding:0; display:block; }
.ht-head { background:var(--head); color:#fff; padding:6px 16px; display:flex; align-items:center; gap:12px; }
.ht-head a { color:#fff; }
.ht-brandname { font-weight:700; font-size:17px; text-decoration:none; }
.ht-project { opacity:1; overflow:hidden; text-overflow:ellipsis; white-space:nowrap; flex:1; min-width:0; }
.ht-nav { background:var(--paper); border-right:1px solid var(--line); color:var(--ink); }
.ht-nav { padding:0 !important; } .ht-nav .q-drawer__content { padding:0; }
.ht-nav nav { width:100%; } .ht-nav ol { list-style:none; margin:8px 0; padding:0; }
.ht-nav a { display:flex; gap:10px; align-items:center; padding:9px 16px; color:var(--ink); text-decoration:none;
  border-left:4px solid transparent; }
.ht-nav a:hover { background:var(--mark); }
.ht-nav a[aria-current=page] { background:var(--mark); border-left-color:var(--brand); font-weight:600; }
.ht-num { width:24px; height:24px; border-radius:50%; border:1px solid var(--soft); display:inline-flex;
  align-items:center; justify-content:center; font-size:12px; flex:none; }
.ht-num.done { background:var(--good); border-color:var(--good); color:var(--paper); }
.ht-main { max-width:1400px; margin:0 auto; padding:20px 24px 64px; display:block; }
.ht-main h1 { font-size:25px; margin:0 0 2px; line-height:1.25; font-weight:700; }
.ht-main h2 { font-size:18px; margin:0 0 6px; line-height:1.3; font-weight:650; }
.ht-main h3 { font-size:15px; margin:0 0 4px; font-weight:650; line-height:1.3; }
.ht-lead { color:var(--soft); margin:0 0 16px; max-width:76ch; }
.ht-card { background:var(--paper); border:1px solid var(--line); border-radius:8px; padding:16px 18px;
  margin:0 0 16px; display:block; color:var(--ink); }
.ht-card > p, .ht-text { margin:0 0 10px; max-width:76ch; }
.ht-soft { color:var(--soft); }
.ht-row { display:flex; gap:12px; flex-wrap:wrap; align-items:center; }
.ht-row.top { align-items:flex-start; }
.ht-row > .grow { flex:1 1 260px; min-width:0; }
.ht-cols { display:grid; grid-template-columns:repeat(auto-fit,minmax(min(320px,100%),1fr)); gap:16px; }
.ht-cols > .ht-card { margin:0; }
.ht-foot { display:flex; justify-content:space-between; gap:12px; margin-top:20px; flex-wrap:wrap; }
.ht-scroll { overflow-x:auto; max-width:100%; }
.ht-legend { gap:0; margin-bottom:8px; } .ht-legend span { padding:3px 10px; border:1px solid var(--line);
  font-size:12.5px; }
.ht-card > .ht-scroll { margin-top:10px; }
.ht-table { border-collapse:collapse; font-size:13.5px; min-width:100%; }
.ht-table th, .ht-table td { text-align:left; padding:5px 10px; border-bottom:1px solid var(--line);
  vertical-align:top; max-width:28ch; overflow-wrap:break-word; }
.ht-table th { font-weight:650; white-space:nowrap; color:var(--ink); background:var(--mark); }
.ht-table td.num, .ht-table th.num { text-align:right; font-variant-numeric:tabular-nums; }
.ht-table td.empty { color:var(--soft); font-style:italic; }
.ht-table tr.own td { color:var(--soft); }
.ht-table .clamp { display:-webkit-box; -webkit-line-clamp:2; -webkit-box-orient:vertical; overflow:hidden; }
.ht-good { color:var(--good); font-weight:600; } .ht-bad { color:var(--bad); font-weight:600; }
.ht-list { margin:4px 0 8px; padding-left:20px; } .ht-list li { margin:2px 0; }
.ht-note { border-left:4px solid var(--brand); padding:8px 12px; background:var(--mark); margin:0 0 12px; }
.ht-note.bad { border-left-color:var(--bad); } .ht-note.good { border-left-color:var(--good); }
.ht-chart { width:100%; height:auto; display:block; }
.ht-main .q-select { min-width:160px; }
.ht-card .nicegui-expansion-content { display:block; }
.ht-form { margin:10px 0 8px; }
.q-expansion-item.ht-card { padding:2px 6px; } .q-expansion-item .q-item { padding-left:8px; }
.ht-chart text { fill:var(--ink); font-size:12px; } .ht-chart .axis { stroke:var(--soft); stroke-width:1; }
.ht-chart .one { fill:var(--before-line); } .ht-chart .two { fill:var(--after); }
.ht-chart .cut { stroke:var(--after); stroke-width:1.5; }
.ht-chart .fits { fill:var(--before-line); stroke:var(--before-line); } .ht-chart .edge { stroke:var(--line); }
.ht-chart .unfit { fill:var(--paper); stroke:var(--soft); stroke-width:1.5; }
.ht-chart .ring { fill:none; stroke:var(--after); stroke-width:3; }
.ht-chart .box { fill:var(--before-line); fill-opacity:.14; stroke:var(--before-line); stroke-width:.8; }
.ht-chart [data-pick] { cursor:pointer; }
.ht-chart [data-pick]:focus { outline:none; }
.ht-chart [data-pick]:focus-visible { outline:3px solid var(--after); }
.ht-field { border-top:1px solid var(--line); padding:12px 0; display:grid; gap:4px 16px;
  grid-template-columns:minmax(180px,1.3fr) 190px 190px minmax(170px,1.3fr); align-items:center; }
@media (max-width:1000px) { .ht-field { grid-template-columns:1fr 1fr; }
  .ht-field > :first-child, .ht-field .wide { grid-column:1 / -1; } }
@media (max-width:520px) { .ht-field { grid-template-columns:1fr; } .ht-main { padding:14px 12px 48px; } }
.ht-code { background:var(--mark); padding:10px 12px; border-radius:6px; overflow-x:auto; font-size:12.5px;
  white-space:pre; font-family:ui-monospace,monospace; margin:0; max-height:340px; }
.ht-file label { display:block; } .ht-file label span { display:block; font-weight:600; margin-bottom:6px; }
.ht-file input { border:2px dashed var(--soft); border-radius:6px; padding:14px; width:100%; color:var(--ink); }
a.ht-link { color:var(--brand); }
:focus-visible { outline:3px solid var(--after); outline-offset:2px; }
.q-checkbox__label, .q-toggle__label { color:var(--ink); }
/* important rules of an earlier layer win over unlayered ones, so these stand in the framework's own layer */
@layer quasar_importants {
  body { --q-primary:#005f8f !important; --q-negative:#a8330a !important; --q-positive:#00694d !important; }
  body.body--dark { --q-primary:#8fcaf0 !important; --q-negative:#c2451a !important; }
  .body--dark .q-btn.bg-primary { color:#0b1a26 !important; }
  .q-notification .q-btn { color:#ffffff !important; }
  .q-field__label, .q-field__messages, .q-field__native, .q-field__input { color:var(--ink) !important; }
  .q-field--outlined .q-field__control:before { border-color:var(--soft) !important; }
}
@media (prefers-reduced-motion:reduce) { * { transition:none !important; animation:none !important; } }
"""
)


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
