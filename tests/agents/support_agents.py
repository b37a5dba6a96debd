"""A folder full of canaries: cells, values in policies, names of files. No reply may hold one."""

from __future__ import annotations

import json
import random

from hushtable.agents.access import AllowedFolders
from hushtable.agents.reply import render
from hushtable.agents.tools import Desk

CANARY = "qzxbird"
NUMBERS = ("8231749", "7654321")
"""Values of a numeric column that stand for CANARY."""


def table_text(rows: int = 60) -> str:
    draw = random.Random(4)
    lines = ["name,age,town,illness,pay,seen"]
    for i in range(rows):
        town = f"{CANARY}town{i % 4}" if i % 9 else f"{CANARY}rare{i}"
        illness = f"{CANARY}ill{draw.randint(0, 4)}"
        seen, pay = f"19{i % 90 + 10}-0{i % 9 + 1}-11", draw.choice(NUMBERS)
        lines.append(f"{CANARY}name{i},{draw.randint(20, 79)},{town},{illness},{pay},{seen}")
    return "\n".join(lines) + "\n"


def policy(models: str, more: str = "", **columns: str) -> str:
    """A policy in which the columns that are not named are dropped."""
    named = "".join(f"  {name}: {{role: {settings}}}\n" for name, settings in columns.items())
    return f"columns:\n{named}rest: drop\n{more}models: [{models}]\n"


K = "k-anonymity: {k: 2}"
SELF = f"{CANARY} people.csv"
POLICIES = {
    "good": policy(
        "k-anonymity: {k: 5}, distinct-l: {l: 2, on: illness}",
        name="identifier", age="quasi", town="quasi", illness="sensitive", pay="sensitive",
    ),
    "tree": policy(K, town=f"quasi, hierarchy: {{tree: {{any: [{CANARY}town0]}}}}", illness="sensitive"),
    "categories": policy(
        "p-plus-sensitive: {p: 2, k: 3}",
        age="quasi", illness=f"sensitive, categories: {{{CANARY}secret: [{CANARY}ill0, {CANARY}ill9]}}",
    ),
    "order": policy(K, age="quasi", town=f"quasi, order: [{CANARY}town0]", illness="sensitive"),
    "missing": policy(K, f"missing_values: [{CANARY}ill0, '{NUMBERS[0]}']\n", age="quasi", illness="quasi"),
    "bounds": policy(f"value-bounds: {{bounds: {{{CANARY}ill0: 0.2}}, on: illness}}", age="quasi", illness="sensitive"),
    "itself": policy(K, age=f"quasi, hierarchy: {SELF}"),
    "population": policy("k-map: {k: 2}", f"population: {SELF}\n", age="quasi"),
    "background": policy(
        K, f"background: {{file: {SELF}, on: illness, probability: pay}}\n", age="quasi", illness="sensitive"
    ),
    "outside": policy(K, age="quasi, hierarchy: ../secret/ages.csv"),
    "absolute": policy("k-map: {k: 2}", "population: /etc/passwd\n", age="quasi"),
    "address": policy("k-map: {k: 2}", f"population: 'sqlite:///x.db?table={CANARY}'\n", age="quasi"),
    "ledger": policy(K, f"ledger: {{file: {CANARY}.ledger, new: true}}\n", name="identifier", age="quasi"),
    "unknown": policy(f"{CANARY}model: {{k: 2}}", age=f"{CANARY}role", **{f"{CANARY}column": "quasi"}),
    "broken": f"columns: {{age: [{CANARY}\n",
    "twice": f"{CANARY}: 1\n{CANARY}: 2\n",
    "numbers": policy(f"k-anonymity: {{k: {CANARY}}}", age=f"quasi, hierarchy: {{intervals: [{NUMBERS[0]}]}}"),
    "strict": policy("k-anonymity: {k: 59}, distinct-l: {l: 9}", name="quasi", illness="sensitive"),
    "newer": f"format: 99\ncolumns: {{{CANARY}: {{role: quasi}}}}\nmodels: []\n",
    "aliases": f"a: &a [{CANARY}]\nb: &b [*a, *a]\ncolumns: {{c: {{role: quasi, order: [*b, *b]}}}}\nmodels: []\n",
    "empty": "",
}  # fmt: skip


def fill(folder):
    """The folders that the server may read and write, and one that it may not."""
    data, out, secret = folder / "data", folder / "out", folder / "secret"
    for place in (data, out, secret, data / "sub"):
        place.mkdir()
    (secret / "ages.csv").write_text(f"{CANARY},1\n")
    (secret / "people.csv").write_text(table_text())
    text = table_text()
    (data / f"{CANARY} people.csv").write_text(text)
    (data / "people.csv").write_text(text)
    (data / "headless.csv").write_text(text.partition("\n")[2])
    (data / "tokens.csv").write_text(text.replace(f",{NUMBERS[0]}", f",{CANARY} N/A"))
    (data / "broken.csv").write_text(f'a,b\n"{CANARY},1\n2\n')
    (data / "wide.csv").write_text("a,b\n1\n1,2,3\n")
    (data / "nothing.csv").write_text("")
    (data / "names.csv").write_text(f"a,a\n{CANARY},2\n")
    (data / "binary.csv").write_bytes(b"a,b\n\xff\xfe" + CANARY.encode() + b",1\n")
    (data / "fake.parquet").write_text(CANARY)
    (data / "fake.xlsx").write_text(CANARY)
    (data / "fake.json").write_text(json.dumps({CANARY: 1}))
    (data / "link.csv").symlink_to(secret / "people.csv")
    (data / "way").symlink_to(secret)
    for name, policy in POLICIES.items():
        (data / f"{name}.yaml").write_text(policy)
    return Desk(AllowedFolders.of([str(data)], str(out)), 5)


PATHS = [
    *["people.csv"] * 30, SELF, "headless.csv", "tokens.csv", "broken.csv", "wide.csv", "nothing.csv", "names.csv",
    "binary.csv", "fake.parquet", "fake.xlsx", "fake.json", "link.csv", "way/people.csv", "../secret/people.csv", ".",
    "..", "", "sub", "*.csv", "/etc/passwd", "/proc/self/environ", "\0", "a" * 5000, "sqlite:///x.db?table=t", "file:///etc/passwd",
    "duckdb:///x.db", "~/x", "people.csv/", "./sub/../people.csv", "policy.yaml", "good.yaml",
]  # fmt: skip
NAMES = ["name", "age", "town", "illness", "pay", "seen", CANARY, "", "age ", "AGE", "*", "name,age"]
WORTH = [None, True, 1, -1, 0.5, 1e400, float("nan"), "k", CANARY, [], {}, [CANARY], {CANARY: CANARY}, [[]], {"k": 2}]
TOPICS = ["k-anonymity", "mondrian", "models", "risks", CANARY, "", "../x", "prosecutor", "nodes", "__class__"]


def hostile(draw):
    """One call that an adversary would try: a tool's name and its arguments."""
    pick = draw.choice
    tool = pick(["profile", "draft", "check", "audit", "explain", "check", "audit", "draft"])
    if draw.random() < 0.06:
        tool = pick(["run", "compare", CANARY, "__init__", "answer"])
    chosen = pick(list(POLICIES)) + ".yaml" if draw.random() < 0.8 else pick(PATHS)
    data = pick(PATHS)
    names = ["k-anonymity", "distinct-l", "guarding-nodes", "value-bounds", CANARY]
    drafted = {"data": data, "policy": f"d{draw.randint(0, 400)}.yaml"}
    if draw.random() < 0.5:
        drafted["roles"] = {pick(NAMES): pick(["quasi", "sensitive", "drop", CANARY])}
        drafted["models"] = [{pick(names): pick(WORTH)} for _ in range(2)]
    arguments = {
        "profile": {"data": data},
        "draft": drafted,
        "check": {"data": data, "policy": chosen},
        "run": {"data": data, "policy": chosen, "release": pick(["r1", "r2", "../r", "r3/x", CANARY])},
        "audit": {"data": data, "quasi": draw.sample(NAMES, draw.randint(0, 2)), "sensitive": [pick(NAMES)]},
        "explain": {"topic": pick(TOPICS)} if draw.random() < 0.9 else {"release": pick(["r1", *PATHS]), "data": data},
        "compare": {"data": data, "policy": chosen, "vary": {"k-anonymity.k": [2, 5]}},
    }.get(tool, {})
    if draw.random() < 0.15 and arguments:
        # one that is missing, one too many, one of another type
        name = pick(list(arguments))
        arguments = {**arguments, pick([name, "x", CANARY, "self"]): pick(WORTH)}
        if draw.random() < 0.3:
            del arguments[name]
    return tool, arguments


def reply_to(desk, call):
    """What the client would get."""
    reply, failed = desk.answer(*call)
    return render(reply), failed
