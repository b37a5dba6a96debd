"""Sections about utility: columns, associations, measures, classifiers."""

from __future__ import annotations

from hushtable.report.charts.bars import bar_chart, change_chart, pair_chart
from hushtable.report.charts.frame import Heading
from hushtable.report.content import ColumnEvidence, Report
from hushtable.report.html import Markup, join, table, tag
from hushtable.report.numbers import count, number, percent

_ROLES = {
    "identifier": "identifier",
    "quasi": "quasi-identifier",
    "sensitive": "sensitive",
    "insensitive": "insensitive",
    "pseudonym": "pseudonym (not anonymized)",
    "weight": "survey weight",
    "cluster": "household",
    "drop": "dropped",
}

_DEPTH = "Generalization: released records by the level of the hierarchy that covers their cell."
_NARROWER = "The published ranges or sets are narrower than that."


def columns_section(report: Report) -> Markup:
    """One row per column, then histograms before and after."""
    facts = report.facts
    rows = [
        (
            c.name,
            _ROLES[c.role] + (f", {c.kind}" if c.kind else ""),
            c.treatment,
            "–" if c.distinct is None else count(c.distinct),
            "–" if c.missing is None else count(c.missing),
            "–" if c.covered is None else percent(c.covered),
            "–" if c.shift is None else percent(c.shift),
        )
        for c in facts.columns
    ]
    head = ["column", "role and kind", "what was done", "distinct values", "missing", "covered", "shift"]
    caption = (
        "“Covered”: the share of its domain that a published cell covers on average. “Shift”: the change of the "
        "distribution over the bars (total variation distance)."
    )
    charts = [column_charts(c, counterfeits=facts.treatment.counterfeits > 0) for c in facts.columns if c.bars]
    return join(table(caption, head, rows, right=(3, 4, 5, 6)), tag("div", *charts, class_="columns"))


def column_charts(column: ColumnEvidence, *, counterfeits: bool) -> Markup:
    """One column before and after, and its generalization."""
    counted = "Records."
    if counterfeits:
        # their values are published with the people's; their cells are those of people who are counted
        counted = f"Records, {'with' if column.role == 'sensitive' else 'without'} counterfeits."
    drawn = pair_chart(
        Heading(
            f"column {column.name}",
            f"Distribution of {column.name} before and after",
            f"{counted} {column.caption}",
        ),
        [(bar.label, float(bar.before), float(bar.after)) for bar in column.bars],
        show=count,
        scale=_short_count,
        head=column.name,
        narrow=True,
    )
    parts = [tag("h3", f"“{column.name}”"), drawn]
    single = next((d.level for d in column.depths if d.share == 1), None)
    if column.depths and column.height and single is not None:
        parts.append(tag("p", f"Every released record: {_level(single, column)}.", class_="quiet"))
    elif column.depths and column.height:
        parts.append(
            bar_chart(
                Heading(
                    f"depth {column.name}",
                    f"Generalization depth of {column.name}",
                    _DEPTH if column.nodes else f"{_DEPTH} {_NARROWER}",
                ),
                [(_level(d.level, column), d.share) for d in column.depths],
                show=percent,
                scale=lambda share: f"{share:.0%}",
                head=("level", "share of records"),
                most=1.0,
                narrow=True,
            )
        )
    return tag("div", *parts, class_="column")


def _level(level: int, column: ColumnEvidence) -> str:
    if level == 0:
        return "exact value"
    if level == column.height:
        return "fully suppressed" if column.nodes else "only the top"
    return f"level {level} of {column.height}"


def _short_count(value: float) -> str:
    return f"{value / 1000:g}k" if value >= 1000 else f"{value:g}"


def utility_section(report: Report) -> Markup:
    """Associations, classifiers and measures."""
    facts = report.facts
    parts: list[Markup | None] = []
    if facts.associations:
        pairs = sorted(facts.associations, key=lambda a: -a.before)
        shown = pairs[:20]
        more = f" Shown are the {len(shown)} strongest of {len(pairs)} pairs." if len(pairs) > len(shown) else ""
        mean = sum(abs(a.before - a.after) for a in pairs) / len(pairs)
        parts += [
            tag("h3", "Correlations kept"),
            change_chart(
                Heading(
                    "associations",
                    "Association of pairs of columns before and after",
                    "Association of two columns (Cramér's V: 0 none, 1 complete). The average change of a pair is "
                    f"{mean:.2f}.{more}",
                ),
                [(" × ".join(a.columns), a.before, a.after) for a in shown],
                head="columns",
            ),
        ]
    if facts.accuracy:
        rows = [(a.target, percent(a.majority), percent(a.release), percent(a.original)) for a in facts.accuracy]
        caption = f"Accuracy of a classifier ({facts.accuracy[0].classifier}) on original records"
        head = ["predicted column", "always the most frequent", "trained on the release", "trained on the original"]
        parts += [tag("h3", "Classifier accuracy"), table(caption, head, rows, right=(1, 2, 3))]
    rows = [
        (m.name, m.summary, number(m.value), tag("span", f"{m.better} is better", class_="short"))
        for m in facts.measures
    ]
    caption = "Query error is the median relative error of random range counts"
    parts += [
        tag("h3", "Query error and information loss"),
        table(caption, ["measure", "meaning", "value", "direction"], rows, right=(2,)),
    ]
    return join(*parts)
