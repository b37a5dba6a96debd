"""The first screen, the questions, where the release comes from, what was left out, and the limits."""

from __future__ import annotations

from hushtable.report.content.report import Finding, Report
from hushtable.report.numbers import count, percent
from hushtable.report.page.html import Child, Markup, join, tag
from hushtable.report.page.parts import bullets, facts_table

__all__ = ["findings_section", "limits_section", "provenance_section", "summary_box", "treatment_section"]


def summary_box(report: Report) -> Markup:
    """What it is, whether it is safe and under which assumptions, what is not promised."""
    said = report.summary
    mark, word = "✓", "The policy holds"
    if not said.ok:
        mark, word = "✗", "The policy is broken"
    elif said.unmet:
        mark, word = "✗", "The policy holds, but not every condition of this report is met"
    figures = [
        tag("li", tag("b", figure), what, tag("small", note) if note else None) for figure, what, note in said.figures
    ]
    return tag(
        "section",
        tag("h2", tag("span", mark, aria_hidden="true", class_="mark"), f" {word}", id="summary"),
        tag("p", tag("strong", said.verdict)),
        join(*(tag("p", tag("span", "Not met", class_="not-met"), f": {line}") for line in said.unmet)),
        tag("p", said.what),
        tag("ul", *figures, class_="figures"),
        tag(
            "div",
            tag("div", tag("h3", "This holds if"), bullets(said.assumptions)),
            tag("div", tag("h3", "Not promised"), bullets(said.not_promised)),
            class_="sides",
        ),
        class_="verdict" if said.ok and not said.unmet else "verdict bad",
        aria_labelledby="summary",
    )


def findings_section(report: Report) -> Markup:
    """The template's questions."""
    return join(*(_finding(found) for found in report.findings))


def _finding(found: Finding) -> Markup:
    kind = found.status.replace(" ", "-")
    return tag(
        "div",
        tag("h3", found.question),
        tag("p", tag("span", found.status.capitalize(), class_=kind), f": {found.answer}"),
        bullets(found.evidence) if found.evidence else None,
        class_=f"finding is-{kind}",
    )


def provenance_section(report: Report) -> Markup:
    """Where the release comes from."""
    made, done = report.facts.provenance, report.facts.treatment
    given = ", ".join(f"{name}: {value}" for name, value in made.algorithm_parameters.items())
    fakes = f", and {count(done.counterfeits)} counterfeits, which are nobody's" if done.counterfeits else ""
    released = f"{count(done.released)} records of {count(done.people)} people in {count(done.classes)} classes"
    rows: list[tuple[str, Child]] = [
        ("Release", f"{released}{fakes}"),
        ("Published columns", ", ".join(done.columns)),
        ("Input", f"{count(made.input_rows)} records, {made.input_columns} columns"),
        (
            "Input, keyed hash",
            tag("code", made.input_hmac_sha256) if made.input_hmac_sha256 else "the input is not at hand",
        ),
        ("Policy, SHA-256", tag("code", made.policy_sha256)),
        ("Algorithm", f"{made.algorithm}. {made.algorithm_summary}"),
        ("Its parameters", given or "defaults"),
        ("How records come to look alike", made.recoding),
        ("Guards", ", ".join(made.guards) or "none"),
        ("Seed", str(made.seed)),
        ("Version", f"hushtable {made.hushtable}"),
    ]
    if done.can_draw:
        command = tag("code", "hushtable sample RELEASE_DIR -o microdata.csv")
        rows.append(
            (
                "For tools that need plain values",
                join(command, " draws rows; one that matches a person does so by chance."),
            )
        )
    rows += [(f"Note: {name}", value) for name, value in made.notes.items()]
    needed = "policy, seed, version and local secret" if made.guards else "policy, seed and version"
    return facts_table(f"The same input, {needed} give the same release, byte for byte.", rows)


def treatment_section(report: Report) -> Markup:
    """What was left out, and what an empty cell means."""
    done = report.facts.treatment
    rows: list[tuple[str, Child]] = [
        ("Records left out", f"{count(done.suppressed)} ({percent(done.suppressed_share)})"),
        ("What that means", done.suppression_meaning),
        ("Missing values", f"{done.missing}. {done.missing_meaning}"),
        (
            "Classes",
            f"{count(done.smallest)} people in the smallest, {count(done.largest)} in the largest; a typical person "
            f"shares the published cells with {count(done.median)} people, themselves included",
        ),
    ]
    if done.counterfeits:
        rows.append(
            ("Counterfeits", f"{count(done.counterfeits)} published records are nobody's; they count as no people")
        )
    return facts_table("Suppression, gaps and class sizes", rows)


def limits_section(report: Report) -> Markup:
    """What no release of this kind can promise."""
    return bullets(report.limits)
