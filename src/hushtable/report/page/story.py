"""The first screen, the questions, the origin of the release, suppression, and the limits."""

from __future__ import annotations

from hushtable.report.content.report import Report, TemplateAnswer
from hushtable.report.html import Child, Markup, join, tag
from hushtable.report.numbers import count, percent
from hushtable.report.page.parts import bullets, facts_table

_BLANK = "\u2026" * 6


def summary_box(report: Report) -> Markup:
    """The release, whether it is safe and under which assumptions, and what is not promised."""
    said = report.summary
    mark, word = "✓", "The policy holds"
    if not said.ok:
        mark, word = "✗", "The policy is violated"
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
            tag("div", tag("h3", "Assumptions"), bullets(said.assumptions)),
            tag("div", tag("h3", "Not promised"), bullets(said.not_promised)),
            class_="sides",
        ),
        class_="verdict" if said.ok and not said.unmet else "verdict bad",
        aria_labelledby="summary",
    )


def about_section(report: Report) -> Markup:
    """The data, the purpose and the recipients, as the publisher states them."""
    said = report.about_release
    rows: list[tuple[str, Child]] = [
        ("Dataset", said.dataset or _BLANK),
        ("Publisher", said.organisation or _BLANK),
        ("Purpose", said.purpose or _BLANK),
    ]
    made = [facts_table("Data, publisher and purpose", rows)]
    if report.facts.recipients:
        rows = [
            (
                who.name,
                join(
                    f"May hold: {', '.join(who.holds) or 'nothing'}. ",
                    f"Terms: {who.terms}. " if who.terms else None,
                    f"At least {count(who.smallest)} rows look the same to them. The chance of picking the right one "
                    f"is at most {percent(who.highest)}, and {percent(who.average)} on average; it is above the "
                    f"threshold for {percent(who.share_at_risk)} of the rows. ",
                    f"“{who.learned}” is certain for {percent(who.share_learned)} of the rows."
                    if who.learned
                    else "There is no sensitive column to learn.",
                ),
            )
            for who in report.facts.recipients
        ]
        made.append(facts_table("Recipients, and what each could do with its own data", rows))
    return join(*made)


def usefulness_section(report: Report) -> Markup:
    """The verdict and its price list, and what the policy does not protect."""
    found = report.facts.usefulness
    parts: list[Child] = []
    if found is not None:
        parts.append(tag("p", tag("strong", found.words)))
        if found.changes:
            parts += [tag("h3", "Costliest settings"), bullets(found.changes)]
    if report.facts.warnings:
        parts += [tag("h3", "Before you publish"), bullets(report.facts.warnings)]
    return join(*parts) if parts else tag("p", "The original is not available, so the release was not assessed.")


def signature_section(report: Report) -> Markup:
    """The released files, and a field for a signature."""
    files = report.facts.files
    rows: list[tuple[str, Child]] = [(f.name, tag("code", f.sha256)) for f in files]
    listed = (
        facts_table("SHA-256 of every released file", rows)
        if rows
        else tag("p", "The release was not saved when this report was made, so no files are listed.")
    )
    block: list[tuple[str, Child]] = [
        ("Name and role", report.about_release.signer or _BLANK),
        ("Place and date", _BLANK),
        ("Signature", _BLANK),
    ]
    return join(
        listed,
        facts_table("I have read this evidence and approve the release of the files above", block),
        tag(
            "p", "For a signature that software can check: ", tag("code", "hushtable sign EVIDENCE.json"),
            ". To check it: ", tag("code", "hushtable verify RELEASE --evidence EVIDENCE.json"), ".",
        ),
    )  # fmt: skip


def findings_section(report: Report) -> Markup:
    """The template's questions."""
    return join(*(_finding(found) for found in report.findings))


def _finding(found: TemplateAnswer) -> Markup:
    kind = found.status.replace(" ", "-")
    return tag(
        "div",
        tag("h3", found.question),
        tag("p", tag("span", found.status.capitalize(), class_=kind), f": {found.answer}"),
        bullets(found.evidence) if found.evidence else None,
        class_=f"finding is-{kind}",
    )


def provenance_section(report: Report) -> Markup:
    """The origin of the release."""
    made, done = report.facts.provenance, report.facts.treatment
    given = ", ".join(f"{name}: {value}" for name, value in made.algorithm_parameters.items())
    fakes = f", and {count(done.counterfeits)} counterfeits, which belong to nobody" if done.counterfeits else ""
    released = f"{count(done.released)} records of {count(done.people)} people in {count(done.classes)} classes"
    rows: list[tuple[str, Child]] = [
        ("Release", f"{released}{fakes}"),
        ("Published columns", ", ".join(done.columns)),
        ("Input", f"{count(made.input_rows)} records, {made.input_columns} columns"),
        (
            "Input, keyed hash",
            tag("code", made.input_hmac_sha256) if made.input_hmac_sha256 else "the input is not available",
        ),
        ("Policy, SHA-256", tag("code", made.policy_sha256)),
        ("Algorithm", f"{made.algorithm}. {made.algorithm_summary}"),
        ("Its parameters", given or "defaults"),
        ("How records become identical", made.recoding),
        ("Guards", ", ".join(made.guards) or "none"),
        ("Seed", str(made.seed)),
        ("Version", f"hushtable {made.made_by}"),
        ("Its code, SHA-256", tag("code", made.made_by_code_sha256) if made.made_by_code_sha256 else "not known"),
    ]
    if done.can_draw:
        command = tag("code", "hushtable sample RELEASE_DIR -o microdata.csv")
        rows.append(
            (
                "For tools that need exact values",
                join(command, " draws rows; a match with a person is a coincidence."),
            )
        )
    rows += [(f"Note: {name}", value) for name, value in made.notes.items()]
    needed = "policy, seed, version and local secret" if made.guards else "policy, seed and version"
    return facts_table(f"The same input, {needed} give the same release, byte for byte.", rows)


def treatment_section(report: Report) -> Markup:
    """Suppression, and the meaning of an empty cell."""
    done = report.facts.treatment
    rows: list[tuple[str, Child]] = [
        ("Suppressed records", f"{count(done.suppressed)} ({percent(done.suppressed_share)})"),
        ("Meaning", done.suppression_meaning),
        ("Missing values", f"{done.missing}. {done.missing_meaning}"),
        (
            "Classes",
            f"{count(done.smallest)} people in the smallest, {count(done.largest)} in the largest; a typical person "
            f"shares the published cells with {count(done.median)} people, including themselves",
        ),
    ]
    if done.counterfeits:
        rows.append(
            (
                "Counterfeits",
                f"{count(done.counterfeits)} published records belong to nobody and are not counted as people",
            )
        )
    return facts_table("Suppression, missing values and class sizes", rows)


def limits_section(report: Report) -> Markup:
    """What no release of this kind can promise."""
    return bullets(report.limits)
