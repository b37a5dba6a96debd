"""NACE Rev. 2: economic activities by group, division and section."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hushtable.schema.classifications.base import Classification

_SECTIONS = {
    ("A", "Agriculture, forestry and fishing"): "01-03",
    ("B", "Mining and quarrying"): "05-09",
    ("C", "Manufacturing"): "10-33",
    ("D", "Electricity, gas, steam and air conditioning supply"): "35-35",
    ("E", "Water supply; sewerage, waste management and remediation activities"): "36-39",
    ("F", "Construction"): "41-43",
    ("G", "Wholesale and retail trade; repair of motor vehicles and motorcycles"): "45-47",
    ("H", "Transportation and storage"): "49-53",
    ("I", "Accommodation and food service activities"): "55-56",
    ("J", "Information and communication"): "58-63",
    ("K", "Financial and insurance activities"): "64-66",
    ("L", "Real estate activities"): "68-68",
    ("M", "Professional, scientific and technical activities"): "69-75",
    ("N", "Administrative and support service activities"): "77-82",
    ("O", "Public administration and defence; compulsory social security"): "84-84",
    ("P", "Education"): "85-85",
    ("Q", "Human health and social work activities"): "86-88",
    ("R", "Arts, entertainment and recreation"): "90-93",
    ("S", "Other service activities"): "94-96",
    ("T", "Activities of households"): "97-98",
    ("U", "Activities of extraterritorial organisations and bodies"): "99-99",
}
_CODE = re.compile(r"([A-U])?[ .-]?(?:(\d{2})(?:\.?(\d)\d?)?)?", re.IGNORECASE)


def _divisions() -> Iterator[tuple[str, str]]:
    for (letter, title), span in _SECTIONS.items():
        first, last = map(int, span.split("-"))
        for number in range(first, last + 1):
            yield f"{number:02d}", f"{letter} {title}"


_SECTION_OF = dict(_divisions())
_TITLES = {letter: f"{letter} {title}" for letter, title in _SECTIONS}


def _place(value: str) -> tuple[str, str, str] | None:
    """Return group, division and section of a code such as ``62.01``, ``J62``, ``6201`` or ``J``."""
    found = _CODE.fullmatch(value.strip())
    if found is None or not (found[1] or found[2]):
        return None
    letter, division, group = found[1], found[2], found[3]
    if division is None:
        section = _TITLES[letter.upper()]
        return section, section, section
    section = _SECTION_OF.get(division, "")
    if not section or (letter and not section.startswith(letter.upper())):
        return None
    return f"{division}.{group}*" if group else f"{division}*", f"{division}*", section


CLASSIFICATION = Classification(
    name="nace-2",
    title="NACE codes of economic activities",
    source="Eurostat, Statistical classification of economic activities in the European Community",
    version="NACE Rev. 2 (2008)",
    levels=("group", "division", "section"),
    place=_place,
    codes=lambda: _SECTION_OF,
    named="nace",
    about="industry sector branch branche wirtschaftszweig",
    telling=lambda values, about: about and all(re.search(r"\d\.\d|^[A-U]\d", v.strip()) for v in values),
)
