"""What a terminal shows, as a picture: the few control sequences that programs use here, and SVG of the result.

Only what is left on the screen is drawn: progress that was wiped away is gone, as it is for whoever watched.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from html import escape
from itertools import groupby

__all__ = ["Block", "Screen", "Style", "drawn"]

WIDTH = 92
_CONTROL = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[=>()][0-9A-B]?|([\x00-\x1f])")
_NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_SIZE, _WIDE, _HIGH, _EDGE, _BAR = 14, 8.43, 19, 16, 34


@dataclass(frozen=True)
class Style:
    """How a character looks."""

    colour: str = ""
    bold: bool = False
    dim: bool = False

    @property
    def classes(self) -> str:
        """As classes of the picture."""
        return " ".join(filter(None, (self.colour, self.bold and "bold", self.dim and "dim")))


@dataclass
class Screen:
    r"""A terminal that is as high as it has to be.

    Examples
    --------
    >>> screen = Screen()
    >>> screen.feed("working 10%\r\x1b[2Kdone: \x1b[1;32myes\x1b[0m\r\n")
    >>> screen.text()
    'done: yes'
    """

    width: int = WIDTH
    lines: list[list[tuple[str, Style]]] = field(default_factory=lambda: [[]])
    row: int = 0
    column: int = 0
    style: Style = Style()

    def feed(self, text: str) -> None:
        """Take what a program wrote."""
        at = 0
        for found in _CONTROL.finditer(text):
            self._write(text[at : found.start()])
            at = found.end()
            numbers, letter, control = found.groups()
            if letter is not None:
                self._sequence(numbers, letter)
            elif control is not None:
                self._control(control)
        self._write(text[at:])

    def text(self) -> str:
        """Return what is on the screen, without empty lines at its end."""
        return "\n".join("".join(c for c, _ in line).rstrip() for line in self.lines).rstrip()

    def _write(self, text: str) -> None:
        for character in text:
            if self.column >= self.width:
                self._down()
                self.column = 0
            line = self.lines[self.row]
            line += [(" ", Style())] * (self.column + 1 - len(line))
            line[self.column] = (character, self.style)
            self.column += 1

    def _down(self) -> None:
        self.row += 1
        if self.row == len(self.lines):
            self.lines.append([])

    def _control(self, control: str) -> None:
        if control == "\n":
            self._down()
        elif control == "\r":
            self.column = 0
        elif control == "\b":
            self.column = max(0, self.column - 1)

    def _sequence(self, numbers: str, letter: str) -> None:
        given = [int(n) for n in numbers.split(";") if n.isdecimal()]
        step = (given or [1])[0] or 1
        if letter == "m":
            self._look(given or [0])
        elif letter == "A":
            self.row = max(0, self.row - step)
        elif letter == "B":
            for _ in range(step):
                self._down()
        elif letter in "CD":
            self.column = max(0, self.column + (step if letter == "C" else -step))
        elif letter == "G":
            self.column = step - 1
        elif letter == "K":
            line = self.lines[self.row]
            self.lines[self.row] = [] if (given or [0])[0] == 2 else line[: self.column]
        elif letter == "J":
            self.lines[self.row] = self.lines[self.row][: self.column]
            del self.lines[self.row + 1 :]

    def _look(self, numbers: list[int]) -> None:
        rest = iter(numbers)
        for n in rest:
            if n == 0:
                self.style = Style()
            elif n in (1, 2, 22):
                self.style = replace(self.style, bold=n == 1, dim=n == 2)
            elif n == 39:
                self.style = replace(self.style, colour="")
            elif 30 <= n <= 37 or 90 <= n <= 97:
                self.style = replace(self.style, colour=_NAMES[n % 10])
            elif n == 38 and next(rest, 0) == 5:
                self.style = replace(self.style, colour=_NAMES[next(rest, 7) % 8])


@dataclass(frozen=True)
class Block:
    """Lines that appear at once, and how long after the ones before."""

    lines: list[list[tuple[str, Style]]]
    after: float


_STYLE = """\
.back{fill:#1f242c}.bar{fill:#2b323c}.dot{fill:#4a5462}.name{fill:#9aa5b4;font:13px system-ui,sans-serif}
text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:14px;fill:#d7dde6}
.bold{font-weight:700}.dim{fill:#97a3b3}.red{fill:#ff8f88}.green{fill:#7fd99a}.yellow{fill:#ecc973}.blue{fill:#86b7ff}
.magenta{fill:#d9a5f0}.cyan{fill:#74d3e0}.black{fill:#97a3b3}
g{animation:appear .3s backwards}@keyframes appear{from{opacity:0}}
@media(prefers-reduced-motion:reduce){g{animation:none}}
"""


def drawn(blocks: list[Block], title: str, words: str) -> str:
    """Return a terminal with its lines as SVG; lines appear one block after the other, where motion is welcome.

    Parameters
    ----------
    blocks : list of Block
    title : str
        Stands on top.
    words : str
        What the picture shows, for who cannot see it.
    """
    height = _BAR + 2 * _EDGE + _HIGH * sum(len(block.lines) for block in blocks)
    width = round(WIDTH * _WIDE + 2 * _EDGE)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        f' role="img" aria-label="{escape(words)}"><title>{escape(words)}</title><style>{_STYLE}</style>',
        f'<rect class="back" width="{width}" height="{height}" rx="9"/>',
        f'<path class="bar" d="M0 9a9 9 0 0 1 9-9h{width - 18}a9 9 0 0 1 9 9v{_BAR - 9}H0z"/>',
        *(f'<circle class="dot" cx="{20 + 18 * n}" cy="17" r="5.5"/>' for n in range(3)),
        f'<text class="name" x="{width / 2:g}" y="22" text-anchor="middle">{escape(title)}</text>',
    ]
    y, begin = _BAR + _EDGE + _SIZE, 0.0
    for block in blocks:
        begin += block.after
        out.append(f'<g style="animation-delay:{begin:.1f}s">')
        for line in block.lines:
            out += _line(line, y)
            y += _HIGH
        out.append("</g>")
    return "\n".join([*out, "</svg>", ""])


def _line(line: list[tuple[str, Style]], y: int) -> list[str]:
    out, at = [], 0
    for style, group in groupby(line, key=lambda cell: cell[1]):
        text = "".join(character for character, _ in group)
        plain = text.strip()
        if plain:
            # as wide as it is on a terminal, whatever font there is
            x = _EDGE + _WIDE * (at + len(text) - len(text.lstrip()))
            look = f' class="{style.classes}"' if style.classes else ""
            out.append(
                f'<text x="{x:.2f}" y="{y}" textLength="{_WIDE * len(plain):.2f}" xml:space="preserve"{look}>'
                f"{escape(plain, quote=False)}</text>"
            )
        at += len(text)
    return out
