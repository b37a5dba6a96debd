"""Words in column names that say what a column is about. English, as in most column names; a person decides."""

from __future__ import annotations

import itertools
import re

__all__ = ["DIRECT", "KEYS", "QUASI", "SENSITIVE", "name_hint", "words_of"]

DIRECT: dict[str, str] = {
    "a person's name": "=name surname lastname firstname forename fullname givenname maiden nickname username"
    " patientname personname customername clientname employeename",
    "an e-mail address": "email mail e-mail",
    "a phone number": "phone telephone mobile cellphone fax tel",
    "an official number": "ssn nin passport licence license iban taxid tin nhs mrn insurance-number social-security"
    " sozialversicherung bsn pesel cpf aadhaar",
    "an address": "address street ip ipaddress mac url website",
    "an account": "account creditcard card-number iccid imei plate vin",
}
"""Words that mean an identifier whatever the values look like; ``=`` marks one that must be the whole name."""

KEYS: dict[str, str] = {"a key or name": "id name uuid guid key number no nr code identifier index rownum"}
"""Words that mean an identifier only where most values are unique."""

SENSITIVE: dict[str, str] = {
    "health": "disease diagnosis diagnoses illness icd health medical condition symptom treatment medication drug"
    " therapy hiv cancer disability pregnancy pregnant blood bmi mental surgery procedure allergy",
    "money": "income salary wage wages pay earnings debt credit loan balance wealth assets benefit benefits pension",
    "belief": "religion religious faith belief political politics party vote union",
    "sexual life": "sexual sexuality orientation",
    "crime": "crime criminal conviction offence offense arrest sentence",
    "performance": "grade grades score gpa rating result",
}
QUASI: dict[str, str] = {
    "age": "age ages agegroup",
    "sex": "sex gender",
    "birth": "birth dob birthday birthdate born yob birthyear",
    "a place": "zip zipcode postcode postal plz city town county country region state province district municipality"
    " location latitude longitude lat lon birthplace residence",
    "origin": "race ethnicity ethnic nationality citizenship native language",
    "family": "marital married relationship household children family spouse",
    "education or work": "education school degree occupation job profession workclass employer industry sector"
    " position hours",
    "a date": "date admission discharge day month year visit",
    "the body": "height weight eye hair",
}


def words_of(name: str) -> list[str]:
    """Split a column name into lower-case words.

    Examples
    --------
    >>> words_of("dateOfBirth"), words_of("marital-status"), words_of("ZIP code 5")
    (['date', 'of', 'birth'], ['marital', 'status'], ['zip', 'code'])
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return [w.lower() for w in re.split(r"[\W\d_]+", spaced) if w]


def name_hint(name: str, hints: dict[str, str]) -> str:
    """Return the topic that a column's name suggests, or ``""``.

    Examples
    --------
    >>> name_hint("patient_age", QUASI), name_hint("page", QUASI), name_hint("Insurance Number", DIRECT)
    ('age', '', 'an official number')
    """
    words = words_of(name)
    joined = "".join(words)
    pairs = {f"{a}-{b}" for a, b in itertools.pairwise(words)}
    for topic, listed in hints.items():
        known = set(listed.split())
        tried = {*words, joined, f"={joined}", *pairs, *(p.replace("-", "") for p in pairs)}
        if known & tried:
            return topic
    return ""
