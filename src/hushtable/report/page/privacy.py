"""Sections about protection: models, adversaries, risks, attacks."""

from __future__ import annotations

from hushtable.errors import counted
from hushtable.release.verify import needed_and_achieved
from hushtable.report.charts.bars import pair_chart
from hushtable.report.charts.frame import Heading
from hushtable.report.charts.intervals import Interval, interval_chart
from hushtable.report.content.privacy import ModelEvidence
from hushtable.report.content.report import Report
from hushtable.report.html import Markup, join, tag
from hushtable.report.numbers import count, number, percent
from hushtable.report.page.parts import bullets, table


def models_section(report: Report) -> Markup:
    """Every model with its threshold, the comparison and the achieved number."""
    rows = [
        (
            f"{m.model} on “{m.column}”" if m.column else m.model,
            join(
                m.summary, tag("br"), tag("small", f"Against disclosure of {_threats(m)}. {_given(m)}", class_="quiet")
            ),
            *needed_and_achieved(m.model_dump(), number),
            tag("span", "holds", class_="holds")
            if m.holds
            else tag("span", f"violated in {counted(m.violations, 'class', 'classes')}", class_="broken"),
        )
        for m in report.facts.models
    ]
    caption = "What each model requires of every class, and what the worst class of the published table achieves"
    return table(caption, ["model", "meaning", "asked for", "achieved", "verdict"], rows, right=(2, 3))


def _threats(model: ModelEvidence) -> str:
    words = {"identity": "identity", "attribute": "a sensitive value"}
    return " and of ".join(words[threat] for threat in model.threats)


def _given(model: ModelEvidence) -> str:
    return "; ".join(f"{name} = {value}" for name, value in model.parameters.items())


def adversaries_section(report: Report) -> Markup:
    """The adversaries against whom the release was assessed."""
    how = {"risk": "calculated", "attack": "tried"}
    rows = [(a.name, a.knows, a.wants, how[a.evidence]) for a in report.facts.adversaries]
    return table(
        "Adversaries, what they know, and what they want", ["adversary", "knows", "wants to", "evidence"], rows
    )


def risks_section(report: Report) -> Markup:
    """Chances of linking before and after, and the distribution of people over class sizes."""
    facts = report.facts
    rows = [
        (
            join(r.name, tag("br"), tag("small", r.summary, class_="quiet")),
            percent(r.before.highest),
            percent(r.after.highest),
            percent(r.before.average),
            percent(r.after.average),
            "–" if r.before.share_at_risk is None else percent(r.before.share_at_risk),
            "–" if r.after.share_at_risk is None else percent(r.after.share_at_risk),
        )
        for r in facts.risks
    ]
    first = facts.risks[0]
    caption = (
        f"Chance of linking a record to the right person. At risk: chance {first.comparison} {first.threshold:g}. "
        f"Class sizes are counted in the {first.basis}."
    )
    fakes = " Counterfeits belong to nobody and are not counted." if facts.treatment.counterfeits else ""
    head = ["adversary", "highest before", "after", "average before", "after", "people at risk before", "after"]
    chart = pair_chart(
        Heading(
            "class sizes",
            "People by the size of their class",
            "The share of people in classes of each size. In a class of n, "
            f"the chance of finding a known person is 1 in n.{fakes}",
        ),
        [(b.label, b.before, b.after) for b in facts.bands],
        show=percent,
        scale=lambda share: f"{share:.0%}",
        head="people in the class",
    )
    return join(table(caption, head, rows, right=(1, 2, 3, 4, 5, 6)), chart)


def attacks_section(report: Report) -> Markup:
    """How often adversaries were right, compared with guessing."""
    facts = report.facts
    tried = [a for a in facts.attacks if a.targets]
    nobody = [f"{a.name}: no person could be attacked." for a in facts.attacks if not a.targets]
    parts: list[Markup | None] = []
    if tried:
        chart = interval_chart(
            Heading(
                "attacks",
                "Success of attacks compared with guessing",
                "Dot: how often each adversary was right, with its 95% interval. Tick: how often the same guess is "
                "right without the release. Numbers: right / guessing.",
            ),
            [Interval(a.name, a.rate, a.low, a.high, a.baseline, a.above_baseline) for a in tried],
        )
        rows = [
            (
                a.name,
                f"{count(a.successes)} of {count(a.targets)}",
                percent(a.rate),
                f"{percent(a.low)} to {percent(a.high)}",
                percent(a.baseline),
                "–" if a.control is None else percent(a.control),
            )
            for a in tried
        ]
        head = ["attack", "right", "rate", "95% interval", "baseline", "control"]
        caption = "Attacks. The control is the success rate on people who are not in the release"
        parts += [chart, table(caption, head, rows, right=(1, 2, 3, 4, 5))]
    above = [a for a in tried if a.above_baseline]
    if above:
        remedies = [join(tag("strong", a.name), f": {a.remedy}") for a in above]
        parts += [tag("h3", "Remedies for attacks that did better than guessing"), bullets(remedies)]
    if facts.attacks_not_run or nobody:
        reasons = [f"{n.name}: {n.reason}" for n in facts.attacks_not_run]
        parts += [tag("h3", "Not tried"), bullets([*nobody, *reasons])]
    return join(*parts)
