"""ISCO-08: occupations by minor, sub-major and major group. Titles are given for the two upper levels."""

from __future__ import annotations

import re

from hushtable.schema.classifications.base import Classification

_MAJOR = {
    "0": "Armed forces occupations", "1": "Managers", "2": "Professionals",
    "3": "Technicians and associate professionals",
    "4": "Clerical support workers", "5": "Service and sales workers",
    "6": "Skilled agricultural, forestry and fishery workers", "7": "Craft and related trades workers",
    "8": "Plant and machine operators, and assemblers", "9": "Elementary occupations",
}  # fmt: skip
_SUB_MAJOR = {
    "01": "Commissioned armed forces officers", "02": "Non-commissioned armed forces officers",
    "03": "Armed forces occupations, other ranks",
    "11": "Chief executives, senior officials and legislators", "12": "Administrative and commercial managers",
    "13": "Production and specialized services managers", "14": "Hospitality, retail and other services managers",
    "21": "Science and engineering professionals", "22": "Health professionals", "23": "Teaching professionals",
    "24": "Business and administration professionals", "25": "Information and communications technology professionals",
    "26": "Legal, social and cultural professionals",
    "31": "Science and engineering associate professionals", "32": "Health associate professionals",
    "33": "Business and administration associate professionals",
    "34": "Legal, social, cultural and related associate professionals",
    "35": "Information and communications technicians",
    "41": "General and keyboard clerks", "42": "Customer services clerks",
    "43": "Numerical and material recording clerks", "44": "Other clerical support workers",
    "51": "Personal service workers", "52": "Sales workers", "53": "Personal care workers",
    "54": "Protective services workers",
    "61": "Market-oriented skilled agricultural workers",
    "62": "Market-oriented skilled forestry, fishery and hunting workers",
    "63": "Subsistence farmers, fishers, hunters and gatherers",
    "71": "Building and related trades workers, excluding electricians",
    "72": "Metal, machinery and related trades workers", "73": "Handicraft and printing workers",
    "74": "Electrical and electronic trades workers",
    "75": "Food processing, wood working, garment and other craft and related trades workers",
    "81": "Stationary plant and machine operators", "82": "Assemblers", "83": "Drivers and mobile plant operators",
    "91": "Cleaners and helpers", "92": "Agricultural, forestry and fishery labourers",
    "93": "Labourers in mining, construction, manufacturing and transport", "94": "Food preparation assistants",
    "95": "Street and related sales and service workers", "96": "Refuse workers and other elementary workers",
}  # fmt: skip
_CODE = re.compile(r"(?:ISCO)?[ -]*(\d{2,4})", re.IGNORECASE)
_ARMED = {"110": "0110", "210": "0210", "310": "0310"}
"""Unit groups of the armed forces that were read as numbers; no minor group has these codes."""


def _place(value: str) -> tuple[str, str, str] | None:
    found = _CODE.fullmatch(value.strip())
    code = "" if found is None else _ARMED.get(found[1], found[1])
    if code[:2] not in _SUB_MAJOR:
        return None
    minor = f"{code[:3]}*" if len(code) > 2 else f"{code}*"
    return minor, f"{code[:2]} {_SUB_MAJOR[code[:2]]}", f"{code[0]} {_MAJOR[code[0]]}"


CLASSIFICATION = Classification(
    name="isco-08",
    title="ISCO-08 codes of occupations",
    source="International Labour Organization, International Standard Classification of Occupations",
    version="ISCO-08",
    levels=("minor group", "sub-major group", "major group"),
    place=_place,
    codes=lambda: _SUB_MAJOR,
    named="isco",
    about="occupation occupations job profession beruf profesión profession",
    telling=lambda values, about: about and all(len(v.strip()) == 4 for v in values),
)
