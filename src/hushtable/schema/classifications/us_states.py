"""The states of the United States by Census division and region.

States are known by name, by postal code and, in columns with a matching name, by their FIPS number. The island areas
are in no region of the Census Bureau; here they form a separate group.
"""

from __future__ import annotations

from hushtable.schema.classifications.base import Classification, named_or_many, spelling

_DIVISIONS: dict[tuple[str, str], str] = {
    ("New England", "Northeast"): "09 CT Connecticut, 23 ME Maine, 25 MA Massachusetts, 33 NH New Hampshire, "
    "44 RI Rhode Island, 50 VT Vermont",
    ("Middle Atlantic", "Northeast"): "34 NJ New Jersey, 36 NY New York, 42 PA Pennsylvania",
    ("East North Central", "Midwest"): "17 IL Illinois, 18 IN Indiana, 26 MI Michigan, 39 OH Ohio, 55 WI Wisconsin",
    ("West North Central", "Midwest"): "19 IA Iowa, 20 KS Kansas, 27 MN Minnesota, 29 MO Missouri, 31 NE Nebraska, "
    "38 ND North Dakota, 46 SD South Dakota",
    ("South Atlantic", "South"): "10 DE Delaware, 11 DC District of Columbia, 12 FL Florida, 13 GA Georgia, "
    "24 MD Maryland, 37 NC North Carolina, 45 SC South Carolina, 51 VA Virginia, 54 WV West Virginia",
    ("East South Central", "South"): "01 AL Alabama, 21 KY Kentucky, 28 MS Mississippi, 47 TN Tennessee",
    ("West South Central", "South"): "05 AR Arkansas, 22 LA Louisiana, 40 OK Oklahoma, 48 TX Texas",
    ("Mountain", "West"): "04 AZ Arizona, 08 CO Colorado, 16 ID Idaho, 30 MT Montana, 32 NV Nevada, 35 NM New Mexico, "
    "49 UT Utah, 56 WY Wyoming",
    ("Pacific", "West"): "02 AK Alaska, 06 CA California, 15 HI Hawaii, 41 OR Oregon, 53 WA Washington",
    ("Island areas", "Island areas"): "60 AS American Samoa, 66 GU Guam, 69 MP Northern Mariana Islands, "
    "72 PR Puerto Rico, 78 VI Virgin Islands",
}
_OTHER_NAMES = {"washingtondc": "dc", "usvirginislands": "vi", "commonwealthpuertorico": "pr"}


def _read() -> tuple[dict[str, tuple[str, str]], tuple[tuple[str, ...], ...]]:
    groups, forms = {}, []
    for division, states in _DIVISIONS.items():
        for state in states.split(", "):
            number, code, name = state.split(" ", 2)
            forms.append((name, code, number))
            for known in (number, code, spelling(name)):
                groups[known.casefold()] = division
    return {**groups, **{name: groups[code] for name, code in _OTHER_NAMES.items()}}, tuple(forms)


_GROUPS, _FORMS = _read()


def _place(value: str) -> tuple[str, str] | None:
    text = value.strip()
    return _GROUPS.get(text.zfill(2) if text.isdecimal() else spelling(text))


CLASSIFICATION = Classification(
    name="us-states",
    title="states of the United States",
    source="U.S. Census Bureau, Census Regions and Divisions of the United States",
    version="as of 2020",
    levels=("division", "region"),
    place=_place,
    codes=lambda: (name for name, *_ in _FORMS),
    forms=_FORMS,
    named="fips",
    about="state states",
    telling=named_or_many,
)
