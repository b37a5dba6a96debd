"""Words in column names that say what a column is about. Mostly English, as most column names; a person decides."""

from __future__ import annotations

import itertools
import re

__all__ = ["DIRECT", "FREE_TEXT", "KEYS", "QUASI", "SENSITIVE", "is_key", "is_person_key", "name_hint", "words_of"]

DIRECT: dict[str, str] = {
    "a person's name": "=name surname lastname firstname forename fullname givenname maiden nickname username"
    " patientname personname customername clientname employeename vorname nachname familienname prénom prenom"
    " apellido apellidos",
    "an e-mail address": "email mail e-mail",
    "a phone number": "phone telephone mobile cellphone fax tel telefon handy teléfono téléphone",
    "an official number": "ssn nin passport licence license iban taxid tin nhs mrn insurance-number social-security"
    " sozialversicherung bsn pesel cpf aadhaar",
    "an address": "address street ip ipaddress mac url website strasse straße adresse anschrift dirección",
    "an account": "account creditcard card-number iccid imei plate vin konto",
}
"""Words that mean an identifier whatever the values look like; ``=`` marks one that must be the whole name."""

KEYS: dict[str, str] = {"a key or name": "id name uuid guid key number no nr code identifier index rownum nummer"}
"""Words that mean an identifier only where most values are unique."""

LAST = "id uuid guid key number no nr identifier nummer"
"""Words that make a key of whatever stands before them: ``visit_id`` is no visit."""

PEOPLE = (
    "patient person customer client member student pupil employee user subject participant respondent citizen"
    " patienten kunden mitglied paciente cliente"
)
"""Words for people: with a key after them they say whose a row is."""

FREE_TEXT: dict[str, str] = {
    "free text": "note notes comment comments remark remarks description freetext free-text memo narrative bemerkung"
    " bemerkungen kommentar notiz notizen"
}
"""Words that mean texts that people wrote, in which anything may stand."""

SENSITIVE: dict[str, str] = {
    "health": "disease diagnosis diagnoses illness icd health medical condition symptom treatment medication drug"
    " therapy hiv cancer disability pregnancy pregnant blood bmi mental surgery procedure allergy diagnose krankheit"
    " diagnóstico diagnostic",
    "money": "income salary wage wages pay earnings debt credit loan balance wealth assets benefit benefits pension"
    " einkommen gehalt lohn salario salaire",
    "belief": "religion religious faith belief political politics party vote union",
    "sexual life": "sexual sexuality orientation",
    "crime": "crime criminal conviction offence offense arrest sentence",
    "performance": "grade grades score gpa rating result",
}
QUASI: dict[str, str] = {
    "age": "age ages agegroup alter edad âge",
    "sex": "sex gender geschlecht sexo sexe",
    "birth": "birth dob birthday birthdate born yob birthyear geburtsdatum geburtstag geburtsjahr geboren naissance"
    " nacimiento",
    "a place": "zip zipcode postcode postal plz postleitzahl city town county country region state province district"
    " municipality location latitude longitude lat lon birthplace residence ort wohnort stadt land ville ciudad",
    "origin": "race ethnicity ethnic nationality citizenship native language nationalität",
    "family": "marital married relationship household children family spouse familienstand kinder",
    "education or work": "education school degree occupation job profession workclass employer industry sector"
    " position hours beruf bildung profesión",
    "a date": "date admission discharge day month year visit datum fecha aufnahme entlassung",
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


def is_key(name: str) -> bool:
    """Whether a name ends as names of keys do.

    Examples
    --------
    >>> is_key("visit_id"), is_key("patientNo"), is_key("idle")
    (True, True, False)
    """
    return (words_of(name) or [""])[-1] in LAST.split()


def is_person_key(name: str) -> bool:
    """Whether a name says that the column tells whose a row is.

    Examples
    --------
    >>> is_person_key("patient_no"), is_person_key("visit_id")
    (True, False)
    """
    return is_key(name) and not set(PEOPLE.split()).isdisjoint(words_of(name))


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
