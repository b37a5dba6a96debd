"""Random linked tables, and a checker that shares nothing with the package: all subsets, in plain Python."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from itertools import combinations, permutations

import pyarrow as pa

from hushtable.linked.policy import LinkedPolicy


def random_case(seed: int, *, people: int = 9, most_events: int = 4) -> tuple[LinkedPolicy, dict[str, pa.Table]]:
    """A small random schema with tables that look like a release."""
    draw = random.Random(seed)
    n = draw.randint(2, people)
    tables = {"people": {"key": "id", "columns": {"age": {"role": "quasi"}}}}
    data = {"people": {"id": [str(i) for i in range(n)], "age": [draw.choice("ab") for _ in range(n)]}}
    above_each = ["people", "people people", "people one", "people one one", "people one two"]
    shape = draw.choice(above_each).split()
    kinds = [("quasi",), ("quasi", "quasi"), ("quasi", "sensitive"), ("sensitive",), ()]
    for name, above in zip(("one", "two", "three"), shape, strict=False):
        roles = draw.choice(kinds[:4] if name == "one" else kinds)
        columns = {f"c{i}": {"role": role} for i, role in enumerate(roles)}
        key = "id" if above == "people" else f"{above}_id"
        tables[name] = {"of": above, "by": key, "columns": columns}
        owners = data[above]["id" if above == "people" else f"{above}_key"]
        rows = [owner for owner in owners for _ in range(draw.randint(0, most_events if above == "people" else 2))]
        data[name] = {key: rows, **{c: [draw.choice("xyz"[: draw.randint(1, 3)]) for _ in rows] for c in columns}}
        data[name][f"{name}_key"] = [f"{name}{i}" for i in range(len(rows))]
    for name, table in tables.items():
        if any(other.get("of") == name for other in tables.values()) and name != "people":
            table["key"] = f"{name}_key"
        elif name != "people":
            del data[name][f"{name}_key"]
    knows = draw.choice([1, 2, 2, 3, "all"])
    if knows != "all" and draw.random() < 0.3:
        tables["one"]["knows"] = 1
    models = [{"k-anonymity": {"k": draw.choice([2, 3])}}]
    sensitive = [(name, c) for name, t in tables.items() for c, v in t["columns"].items() if v["role"] == "sensitive"]
    if sensitive and draw.random() < 0.7:
        models.append({"distinct-l": {"l": 2, "on": ".".join(draw.choice(sensitive))}})
    policy = LinkedPolicy(tables=tables, knows=knows, models=models)
    arrays = {name: pa.table({c: pa.array(v, pa.string()) for c, v in t.items()}) for name, t in data.items()}
    return policy, arrays


def cloned(policy: LinkedPolicy, tables: dict[str, pa.Table], times: int) -> dict[str, pa.Table]:
    """The same people and events several times over, under other keys."""
    keys = {name: {*policy.tables[name].key, *policy.by(name)} for name in policy.tables}

    def renamed(name: str, column: str, i: int) -> list:
        values = tables[name][column].to_pylist()
        return [f"{i}/{v}" for v in values] if column in keys[name] else values

    return {
        name: pa.table({c: pa.array([v for i in range(times) for v in renamed(name, c, i)], pa.string())
                        for c in table.column_names})
        for name, table in tables.items()
    }  # fmt: skip


def planted(policy: LinkedPolicy, tables: dict[str, pa.Table], seed: int) -> dict[str, pa.Table] | None:
    """The tables with one event that nobody else has, or None where no table has events to know."""
    names = [n for n in policy.events if tables[n].num_rows and failing_cells(policy, n)]
    if not names:
        return None
    draw = random.Random(seed)
    name = draw.choice(names)
    rows = tables[name].to_pylist()
    row = draw.choice(rows)
    row[draw.choice(failing_cells(policy, name))] = "planted"
    return {**tables, name: pa.Table.from_pylist(rows, tables[name].schema)}


def failing_cells(policy: LinkedPolicy, name: str) -> list[str]:
    """The columns of a table that others may know."""
    return [c for c, column in policy.tables[name].columns.items() if column.role == "quasi"]


class Person:
    """A person's published events, as plain data."""

    def __init__(self, attributes: tuple) -> None:
        self.attributes = attributes
        self.events: list[tuple[str, tuple, tuple]] = []  # table, quasi cells, path of row numbers
        self.values: list[tuple[str, str, tuple]] = []  # column, value, path of the row
        self.rows: list[str] = []  # the table of every row


def persons(policy: LinkedPolicy, tables: dict[str, pa.Table]) -> list[Person]:
    """Join the tables by their keys, row by row."""
    rows = {name: table.to_pylist() for name, table in tables.items()}
    root = policy.people

    def cells(name: str, row: dict, role: str) -> dict:
        return {c: row[c] for c, column in policy.tables[name].columns.items() if column.role == role}

    found = {}
    place: dict[str, dict[tuple, tuple[Person, tuple]]] = {root: {}}
    for i, row in enumerate(rows[root]):
        person = found[i] = Person(tuple(cells(root, row, "quasi").values()))
        place[root][tuple(row[k] for k in policy.tables[root].key)] = person, ()
        person.values += [(c, v, ()) for c, v in cells(root, row, "sensitive").items()]
    for name in policy.events:
        place[name] = {}
        for i, row in enumerate(rows[name]):
            person, path = place[policy.tables[name].of][tuple(row[k] for k in policy.by(name))]
            here = (*path, (name, i))
            person.rows.append(name)
            if policy.tables[name].key:
                place[name][tuple(row[k] for k in policy.tables[name].key)] = person, here
            if quasi := cells(name, row, "quasi"):
                person.events.append((name, tuple(quasi.values()), here))
            person.values += [(f"{name}.{c}", v, here) for c, v in cells(name, row, "sensitive").items()]
    return list(found.values())


def common(one: tuple, other: tuple) -> int:
    """How much of two paths is the same."""
    deep = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        deep += 1
    return deep


def tables_on(path: tuple) -> tuple:
    """The tables of a path."""
    return tuple(name for name, _ in path)


def pattern(events: tuple) -> tuple:
    """What somebody knows who knows these events and how they hang together."""
    return min(
        (tuple((t, c) for t, c, _ in order), tuple(common(a[2], b[2]) for a, b in combinations(order, 2)))
        for order in permutations(events)
    )


def tree(person: Person, names: set[str], path: tuple = ()) -> tuple:
    """All of a person's events in some tables, whatever their order."""
    below = {e[2] for e in person.events if e[0] in names and len(e[2]) > len(path) and e[2][: len(path)] == path}
    steps = {p[: len(path) + 1] for p in below}
    shown = {e[2]: (e[0], e[1]) for e in person.events if e[0] in names}
    return tuple(sorted((str(shown.get(step, step[-1][0])), tree(person, names, step)) for step in steps))


def numbers(person: Person, policy: LinkedPolicy) -> tuple:
    """How many rows a person has in the tables whose numbers are known."""
    return tuple(sum(name == row for row in person.rows) for name in policy.events if policy.tables[name].counts)


def satisfied(policy: LinkedPolicy, crowd: set[int], values: dict[str, dict[int, set]]) -> bool:
    """Whether a crowd satisfies every model, on each column's values of each of its people."""
    for choice in policy.models:
        ((name, parameters),) = choice.items()
        if name == "k-anonymity" and len(crowd) < parameters["k"]:
            return False
        if name == "distinct-l" and parameters["on"] in values:
            own = values[parameters["on"]]
            times = Counter(v for p in own for v in own[p])
            chosen = {min(own[p], key=lambda v: (-times[v], v)) for p in own if own[p]}
            if len(chosen) < parameters["l"]:
                return False
    return True


def failures(policy: LinkedPolicy, tables: dict[str, pa.Table]) -> Counter:
    """How many combinations of each tables fail, by trying all of them."""
    people = persons(policy, tables)
    columns = [f"{n}.{c}" for n in policy.events for c, v in policy.tables[n].columns.items() if v.role == "sensitive"]
    known = {name: policy.known_events(name) for name in policy.events}
    caps = {name: 1 if m == "all" else m for name, m in known.items()}
    total = max(caps.values()) if policy.knows == "all" else policy.knows
    whole = {name for name, m in known.items() if m == "all"}
    kinds = [(p.attributes, tree(p, whole) if whole else (), numbers(p, policy)) for p in people]
    none = "~no event"

    def of_person(i: int, column: str) -> set:
        return {v for c, v, _ in people[i].values if c == column} or {none}

    crowds: dict[tuple, set[int]] = defaultdict(set)
    own: dict[tuple, dict[str, dict[int, set]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(set)))
    tables_of = {}
    for i, person in enumerate(people):
        for size in range(total + 1):
            for chosen in combinations(person.events, size):
                if any(sum(e[0] == name for e in chosen) > cap for name, cap in caps.items()):
                    continue
                key = (kinds[i], pattern(chosen))
                crowds[key].add(i)
                tables_of[key] = tuple(sorted(e[0] for e in chosen))
                for name, cells, path in chosen:
                    for column, value, where in person.values:
                        if common(path, where) == common(tables_on(path), tables_on(where)) > 0:
                            own[key, name, cells][column][i].add(value)
    bad: Counter = Counter()
    failing = set()
    for key, crowd in crowds.items():
        if not satisfied(policy, crowd, {c: {i: of_person(i, c) for i in crowd} for c in columns}):
            failing.add(key)
    for (key, _, _), values in own.items():
        for column, by_person in values.items():
            on = [m for m in policy.models if next(iter(m.values())).get("on") == column]
            only = policy.changed(models=[{"k-anonymity": {"k": 2}}, *on])
            if on and not satisfied(only, set(range(99)), {column: by_person}):
                failing.add(key)
    for key in failing:
        bad[tables_of[key]] += 1
    return bad
