"""The page: one HTML file that needs no script, no network and no other file."""

from __future__ import annotations

import os
from pathlib import Path

from hushtable.errors import OutputError, UsageError, counted
from hushtable.io.atomic import atomic_write_text
from hushtable.release.companion import check_outside
from hushtable.release.verify import needed_and_achieved
from hushtable.report.charts.bars import Interval, interval_chart, pair_chart
from hushtable.report.charts.frame import Heading
from hushtable.report.content import ModelEvidence, Report, TemplateAnswer
from hushtable.report.html import Child, Markup, bullets, document, facts_table, join, table, tag
from hushtable.report.numbers import count, number, percent
from hushtable.report.page.look import STYLE
from hushtable.report.page.utility import columns_section, utility_section


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


_SECTIONS = {
    "about": ("Dataset, purpose and recipients", about_section),
    "findings": ("Questions and answers", findings_section),
    "origin": ("The release and its origin", provenance_section),
    "models": ("Promises and achievements", models_section),
    "adversaries": ("Adversaries considered", adversaries_section),
    "risks": ("Risk of re-identification, before and after", risks_section),
    "attacks": ("Attacks", attacks_section),
    "treatment": ("Suppressed records and missing values", treatment_section),
    "columns": ("Column by column", columns_section),
    "utility": ("What it is still good for", utility_section),
    "verdict": ("Verdict and price list", usefulness_section),
    "limits": ("Limits", limits_section),
    "signature": ("Files and signature", signature_section),
}


_PRIVATE = tag(
    "p",
    tag("strong", "Private: do not hand this report over with the release."),
    " It compares the release with the original. Give it only to people who may see the original.",
    class_="private",
)


def page(report: Report) -> str:
    """Return the whole HTML file."""
    body = join(
        tag("header", tag("h1", report.title), tag("p", report.about, class_="about"), _line(report), _PRIVATE),
        tag(
            "main",
            summary_box(report),
            _contents(),
            *(
                tag("section", tag("h2", f"{i}. {title}", id=key), made(report), aria_labelledby=key)
                for i, (key, (title, made)) in enumerate(_SECTIONS.items(), 1)
            ),
        ),
        _footer(report),
    )
    return document(report.title, STYLE, body, tag("meta", name="referrer", content="no-referrer"))


def _line(report: Report) -> Markup:
    made = report.facts.provenance
    return tag("p", f"Made {made.created} by hushtable {made.hushtable}; template {report.template}.", class_="meta")


def _contents() -> Markup:
    links = [tag("li", tag("a", title, href=f"#{key}")) for key, (title, _) in _SECTIONS.items()]
    return tag("nav", tag("ol", *links), aria_label="Contents")


def _footer(report: Report) -> Markup:
    return tag(
        "footer",
        tag("p", *(f"{sentence} " for sentence in report.facts.rules.sentences)),
        tag(
            "p",
            "The JSON file of the same name contains the same data, in the format ",
            tag("code", report.format),
            ".",
        ),
    )


def json_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of the JSON file.

    Examples
    --------
    >>> json_path("evidence.html").name
    'evidence.json'
    """
    return Path(path).with_suffix(".json")


def check_paths(path: str | os.PathLike[str]) -> None:
    """Refuse a path that the report cannot be written to, before any work is done.

    Examples
    --------
    >>> check_paths("evidence.json")
    Traceback (most recent call last):
    hushtable.errors.UsageError: A report is an HTML file, and the JSON file is written next to it. Name it '....html'.
    """
    place = Path(path)
    if place.suffix.lower() not in (".html", ".htm"):
        raise UsageError(
            "A report is an HTML file, and the JSON file is written next to it.", hint="Name it '....html'."
        )
    parent = Path(os.path.realpath(place)).parent
    if not parent.is_dir():
        raise OutputError(
            f"{str(place)!r} cannot be written: its folder does not exist.", hint="Create the folder first."
        )
    for target in (place, json_path(place)):
        if target.is_dir():
            raise OutputError(f"{str(target)!r} cannot be written: it is a folder.", hint="Choose a file name.")
    check_outside(place, "a report")


def write_report(report: Report, path: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Write both files, each completely or not at all; return their paths, the HTML file's first."""
    html, data = Path(path), json_path(path)
    text = page(report)
    atomic_write_text(data, report.model_dump_json(indent=1) + "\n")
    atomic_write_text(html, text)
    return html, data
