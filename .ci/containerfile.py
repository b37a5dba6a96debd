"""Read a Containerfile: the part of the format that ours uses. Whatever else stands in it is an error."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, field

__all__ = ["Stage", "Step", "faults", "parse"]

# instruction -> whether its argument is a JSON list
KNOWN = {"SHELL": True, "VOLUME": True, "ENTRYPOINT": True, "CMD": True, "RUN": False, "COPY": False, "ENV": False,
         "WORKDIR": False, "USER": False, "EXPOSE": False}  # fmt: skip


@dataclass(frozen=True)
class Step:
    """An instruction with its words; of RUN and ENV, one text."""

    line: int
    name: str
    words: list[str]
    source: str | None = None  # COPY --from


@dataclass(frozen=True)
class Stage:
    """A stage and the image or stage that it begins with."""

    name: str
    base: str
    steps: list[Step] = field(default_factory=list)

    def last(self, name: str) -> list[str]:
        """The words of the last instruction of a name."""
        return next((step.words for step in reversed(self.steps) if step.name == name), [])


def parse(text: str) -> list[Stage]:
    r"""Return the stages.

    Examples
    --------
    >>> stages = parse('FROM debian AS a\nRUN one \\\n  && two\nFROM a AS b\nCOPY --from=a /x /y\nUSER 7\n')
    >>> [(stage.name, stage.base, [step.words for step in stage.steps]) for stage in stages]
    [('a', 'debian', [['one && two']]), ('b', 'a', [['/x', '/y'], ['7']])]
    """
    stages: list[Stage] = []
    for number, line in _logical(text):
        name, _, rest = line.partition(" ")
        rest = rest.strip()
        if name == "FROM":
            found = re.fullmatch(r"(\S+) AS ([a-z-]+)", rest)
            if not found:
                raise ValueError(f"line {number}: FROM image AS name")
            stages.append(Stage(found[2], found[1]))
        elif name not in KNOWN or not stages:
            raise ValueError(f"line {number}: {name} is not known here")
        elif KNOWN[name]:
            stages[-1].steps.append(Step(number, name, json.loads(rest)))
        elif name in ("RUN", "ENV"):
            stages[-1].steps.append(Step(number, name, [rest]))
        else:
            words = shlex.split(rest)
            source = words.pop(0).removeprefix("--from=") if words[0].startswith("--from=") else None
            stages[-1].steps.append(Step(number, name, words, source))
    return stages


def _logical(text: str) -> list[tuple[int, str]]:
    """Lines without comments, joined where one ends in a backslash."""
    found: list[tuple[int, str]] = []
    waiting = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        waiting = f"{waiting} {line.strip()}".strip()
        if waiting.endswith("\\"):
            waiting = waiting[:-1].strip()
            continue
        found.append((number, waiting))
        waiting = ""
    return found


def faults(stages: list[Stage]) -> list[str]:
    """What would make an image that is not as we promise: it runs as nobody, and writes to volumes alone."""
    names = [stage.name for stage in stages]
    wrong = [f"{name} stands twice" for name in names if names.count(name) > 1]
    for i, stage in enumerate(stages):
        known = names[:i]
        if stage.base not in known and ":" not in stage.base:
            wrong.append(f"{stage.name}: {stage.base} is neither a stage above nor an image with a tag")
        for step in stage.steps:
            if step.source is not None and step.source not in known:
                wrong.append(f"line {step.line}: {step.source} is no stage above")
            if step.name == "RUN" and re.search(r"apt-get install(?!.*--no-install-recommends)", step.words[0]):
                wrong.append(f"line {step.line}: apt-get without --no-install-recommends")
            if step.name == "RUN" and re.search(r"pip install(?!.*--constraint)", step.words[0]):
                wrong.append(f"line {step.line}: pip without --constraint")
        if stage.last("ENTRYPOINT"):
            if stage.last("USER") in ([], ["0"], ["root"]):
                wrong.append(f"{stage.name} runs as root")
            if set(stage.last("VOLUME")) != {"/data", "/var/lib/hushtable"}:
                wrong.append(f"{stage.name} writes elsewhere than its volumes say")
    return wrong
