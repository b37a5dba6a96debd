"""Colors and layout: readable in light and dark, at any width, and for people with color blindness."""

from __future__ import annotations

from hushtable.report.page.look import CHARTS, DARK, FONT, LIGHT, MONO

CSS = (
    f":root {{ {LIGHT} }}\n.body--dark {{ {DARK} }}\nbody {{ font-family:{FONT}; }}\n"
    f".ht-mono {{ font-family:{MONO}; }}\n{CHARTS}"
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
.ht-foot { display:flex; justify-content:space-between; gap:12px; padding:6px 24px; background:var(--paper);
  border-top:1px solid var(--line); color:var(--ink); }
.ht-over { position:fixed; z-index:3000; top:52px; left:50%; transform:translateX(-50%); max-width:calc(100vw - 24px);
  width:max-content; box-shadow:0 2px 12px #0006; border:1px solid var(--line); border-left:4px solid var(--judge); }
.ht-bar { position:sticky; top:44px; z-index:20; display:flex; flex-wrap:wrap; gap:8px 12px; align-items:center;
  padding:8px 0; background:var(--raised); }
.ht-bar [role=status] { min-width:9em; min-height:1.5em; }
@media (max-width:640px) { .ht-bar > [role=status] { flex:1 0 100%; } }
.ht-verdict { height:104px; overflow:auto; margin-top:18px; }
.ht-run { min-height:142px; } .ht-release { border-top:1px solid var(--line); padding:10px 0; }
 .ht-chart-card { min-height:376px; } .ht-steady { min-height:1.5em; }
.ht-line { display:grid; grid-template-columns:minmax(140px,1.2fr) minmax(120px,1fr) minmax(150px,1fr) 2fr;
  gap:4px 16px; padding:7px 6px; border-top:1px solid var(--line); color:var(--ink); text-decoration:none;
  align-items:baseline; }
.ht-line > * { overflow:hidden; text-overflow:ellipsis; white-space:nowrap; min-width:0; }
a.ht-line:hover { background:var(--mark); } a.ht-line strong { color:var(--link); text-decoration:underline; }
.ht-line-head { font-weight:650; font-size:13px; background:var(--mark); border-top:0; }
.ht-num-text { font-variant-numeric:tabular-nums; }
@media (max-width:700px) { .ht-line { grid-template-columns:1fr 1fr; } .ht-line-head { display:none; }
  .ht-line .ht-example { grid-column:1 / -1; } }
.ht-hidden { position:absolute; width:1px; height:1px; overflow:hidden; clip-path:inset(50%); }
.ht-scroll { overflow-x:auto; max-width:100%; }
.ht-legend { gap:0; margin-bottom:8px; } .ht-legend span { padding:3px 10px; border:1px solid var(--line);
  font-size:12.5px; }
.ht-card > .ht-scroll { margin-top:10px; }
.ht-table { border-collapse:collapse; font-size:13.5px; min-width:100%; }
.ht-table:not(:has(.num)) { width:max-content; }
.ht-table th, .ht-table td { text-align:left; padding:5px 10px; border-bottom:1px solid var(--line);
  vertical-align:top; max-width:28ch; overflow-wrap:break-word; }
.ht-table th { font-weight:650; white-space:nowrap; color:var(--ink); background:var(--mark); }
.ht-table td.num, .ht-table th.num { text-align:right; font-variant-numeric:tabular-nums; }
.ht-table td.empty { color:var(--soft); font-style:italic; }
.ht-table tr.own td { color:var(--soft); }
.ht-table .clamp { display:-webkit-box; -webkit-line-clamp:2; -webkit-box-orient:vertical; overflow:hidden; }
.ht-table .short { white-space:nowrap; }
.ht-good { color:var(--good); font-weight:600; } .ht-bad { color:var(--bad); font-weight:600; }
.ht-list { margin:4px 0 8px; padding-left:20px; } .ht-list li { margin:2px 0; }
.ht-note { border-left:4px solid var(--brand); padding:8px 12px; background:var(--mark); margin:0 0 12px; }
.ht-note.bad { border-left-color:var(--bad); } .ht-note.good { border-left-color:var(--good); }
.ht-note.warn { border-left-color:var(--judge); }
.ht-chart { width:100%; height:auto; display:block; }
.ht-main .q-select { min-width:160px; }
.ht-card .nicegui-expansion-content { display:block; }
.ht-form { margin:10px 0 8px; }
.q-expansion-item.ht-card { padding:2px 6px; } .q-expansion-item .q-item { padding-left:8px; }
.ht-slim { display:none; } @media (max-width:640px) { .ht-wide { display:none; } .ht-slim { display:block; } }
.ht-chart .tick-text { fill:var(--soft); font-size:11px; }
.ht-pairs { display:grid; grid-template-columns:repeat(auto-fit,minmax(min(400px,100%),1fr)); gap:0 28px; }
.ht-pairs .column { display:block; } .ht-pairs figure { margin:0 0 12px; }
.ht-pairs h3 { overflow-wrap:anywhere; } .numbers table { border-collapse:collapse; font-size:13px; }
.numbers :is(th, td) { padding:2px 10px 2px 0; text-align:left; font-weight:400; border-bottom:1px solid var(--line); }
.numbers td { text-align:right; font-variant-numeric:tabular-nums; }
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
.ht-grid-card { padding:0 12px 8px; }
.ht-grid-bar { background:var(--paper); } .ht-grid-bar > :first-child { flex:1 1 100%; min-width:0; }
.ht-tools { display:flex; flex-wrap:wrap; gap:6px 10px; align-items:center; }
.ht-tools input, .ht-tools select, .ht-grid select { font:inherit; font-size:13px; color:var(--ink);
  background:var(--paper); border:1px solid var(--soft); border-radius:4px; height:28px; padding:0 6px; }
.ht-tools input { flex:1 1 160px; min-width:120px; max-width:260px; }
.ht-tools select:disabled { color:var(--soft); border-color:var(--line); }
.ht-bulk { display:inline-flex; gap:6px; flex-wrap:wrap; } #ht-count { font-size:13px; min-width:13em; }
.ht-one-line { flex:1 1 220px; min-width:0; font-size:13px; overflow:hidden; text-overflow:ellipsis;
  white-space:nowrap; }
.ht-grid { border-collapse:collapse; width:100%; font-size:13px; line-height:1.3; table-layout:fixed; }
.ht-grid td, .ht-grid th { padding:0 8px; height:29px; text-align:left; border-bottom:1px solid var(--line);
  white-space:nowrap; overflow:hidden; text-overflow:ellipsis; }
.ht-grid thead td, .ht-grid th { background:var(--mark); }
.ht-grid .num { text-align:right; font-variant-numeric:tabular-nums; }
.ht-grid button { all:unset; cursor:pointer; max-width:100%; overflow:hidden; text-overflow:ellipsis; }
.ht-grid button:focus-visible { outline:3px solid var(--after); outline-offset:-2px; }
.ht-grid th button { font-weight:650; } .ht-grid .ht-why { font-weight:600; display:block; }
.ht-grid .ht-why::before { content:"▸ "; color:var(--soft); }
.ht-grid .ht-why[aria-expanded=true] { white-space:normal; overflow-wrap:anywhere; }
.ht-grid .ht-why[aria-expanded=true]::before { content:"▾ "; }
.ht-grid th[aria-sort=ascending] button span::after { content:" ▲"; }
.ht-grid th[aria-sort=descending] button span::after { content:" ▼"; }
.ht-grid select { height:24px; width:100%; max-width:180px; } .ht-grid a { color:var(--link); }
.ht-grid select.role-quasi { background:var(--mark); } .ht-grid select.role-sensitive { border-color:var(--after); }
.ht-grid select.role-identifier { border-style:dashed; } .ht-grid select.role-insensitive { color:var(--soft); }
.ht-grid tr.wrong .ht-why { color:var(--bad); } .ht-grid tr.col:hover td { background:var(--mark); }
.ht-grid tr.why td { white-space:normal; height:auto; padding:4px 8px 8px 44px; color:var(--soft); }
.ht-grid .c-pick { width:36px; text-overflow:clip; } .ht-grid .c-spark { width:84px; } .ht-grid .c-kind { width:158px; }
.ht-grid .c-role { width:158px; } .ht-grid .c-unique { width:112px; } .ht-grid .c-loss { width:64px; }
.ht-grid .c-hierarchy { width:150px; }
.ht-grid th.c-unique, .ht-grid th.c-loss { text-align:right; }
.ht-spark rect { fill:var(--before-line); }
@media (max-width:800px) {
  .ht-grid, .ht-grid tbody { display:block; } .ht-grid thead { display:none; }
  .ht-grid tr.col:not([hidden]) { display:grid; grid-template-columns:28px 1fr 1fr; padding:6px 0;
    border-bottom:1px solid var(--line); align-items:center; }
  .ht-grid tr.col td { border:0; height:auto; padding:3px 4px; }
  .ht-grid td.c-name { grid-column:2 / 4; white-space:normal; } .ht-grid td.c-pick { grid-row:1; width:auto; }
  .ht-grid td.c-spark { grid-row:3; grid-column:2; width:auto; } .ht-grid td.c-hierarchy { grid-row:3; grid-column:3; }
  .ht-grid td.c-kind { grid-row:2; grid-column:3; width:auto; }
  .ht-grid td.c-role { grid-row:2; grid-column:2; width:auto; }
  .ht-grid td.c-unique { grid-row:4; grid-column:2; width:auto; text-align:left; }
  .ht-grid td.c-loss { grid-row:4; grid-column:3; width:auto; text-align:left; }
  .ht-grid td.c-unique::before { content:"unique alone: "; color:var(--soft); }
  .ht-grid td.c-loss::before { content:"lost: "; color:var(--soft); }
  .ht-grid tr.why:not([hidden]) { display:block; } .ht-grid tr.why td { display:block; padding:4px 4px 10px 32px; }
  .ht-grid-bar { position:static; }
}
@media (max-width:520px) { .ht-main { padding:14px 12px 48px; } }
.ht-code { background:var(--mark); padding:10px 12px; border-radius:6px; overflow-x:auto; font-size:12.5px;
  white-space:pre; font-family:ui-monospace,monospace; margin:0; max-height:340px; }
.ht-file label { display:block; } .ht-file label span { display:block; font-weight:600; margin-bottom:6px; }
.ht-file input { border:2px dashed var(--soft); border-radius:6px; padding:14px; width:100%; color:var(--ink); }
.ht-file + .q-field, .ht-card > .q-field + .q-field { margin-top:10px; }
.q-btn__content { flex-wrap:nowrap; }
/* a hint of two lines takes the space it needs, instead of covering what follows */
.q-field--with-bottom { padding-bottom:0; }
.q-field__bottom--animated { position:static; transform:none; }
.q-field--dense .q-field__bottom { font-size:11.5px; padding-bottom:4px; }
.q-field__messages { line-height:1.3; }
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
    """Return the style of a cell that was generalized that far; its text stays readable.

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
