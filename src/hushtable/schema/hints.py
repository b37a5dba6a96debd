"""Words in column names that suggest what a column is about. Mostly English, like most names; a person decides."""

from __future__ import annotations

import itertools
import re

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
"""Words that mean an identifier; ``=`` marks one that must be the whole name, a ``*`` the beginning of a word."""

KEYS: dict[str, str] = {"a key or name": "id name uuid guid key number no nr code identifier index row rownum nummer"}
"""Words that mean an identifier only if most values are unique."""

LAST = "id uuid guid key number no nr identifier nummer"
"""Words that turn the preceding word into a key: ``visit_id`` is not a visit."""

PEOPLE = (
    "patient person customer client member student pupil employee user subject participant respondent citizen"
    " patienten kunden mitglied paciente cliente"
)
"""Words for people: followed by a key, they identify a row's person."""

PERSON_KEYS = (
    "id nr uuid guid identifier pid uid idnr idnum idno idcode personid patid patientid ptid pnr subjid subjectid"
    " userid custid customerid empid studentid respid caseid"
)
"""Whole names that usually identify each row's person."""

FREE_TEXT: dict[str, str] = {
    "free text": "note notes comment comments remark remarks description freetext free-text memo narrative bemerkung"
    " bemerkungen kommentar notiz notizen"
}
"""Words that mean texts written by people, which may contain anything."""

SURVEY: dict[str, str] = {
    "a survey weight": "instance-weight sample-weight sampling-weight survey-weight person-weight household-weight"
    " final-weight replicate-weight design-weight statistical-weight weighting fnlwgt finalwgt wgt wght"
    " pwgtp perwt pweight hhwt hhweight indweight dweight pspwght anweight wtssall wtsupp wtint wtmec fexp",
    "the number of a household": "hid hhid hh-id household-id hhnr hh-nr haushaltsnummer haushalts-id",
    "the design of a survey": "stratum strata psu sdmvpsu sdmvstra sampling-unit sampling-stratum replicate",
}
"""Words for columns that a survey adds to its records."""

SENSITIVE: dict[str, str] = {
    "health": "disease diagnosis diagnoses illness icd health medical condition symptom symptoms treatment medication"
    " drug therapy hiv cancer disability disabled pregnancy pregnant pregnancies blood bmi mental surgery procedure"
    " allergy diagnose krankheit diagnóstico diagnostic clinical"
    # treatment and course
    " hlth* disea* diag* medic* patho* onco* symptom* karn* trt treat rx surg lymph bwt lwt birthweight =arm"
    " =arms dose dosage placebo chemo chemotherapy radiotherapy randomised randomized relapse recurrence remission"
    " death died dead deceased mortality survival alive censor censored =status =event =outcome =time =futime =fustat"
    " follow-up follow =stop stage tumor tumour metastasis metastases =nodes nodal histology grade-tumor"
    " karnofsky karno"
    " ecog severity prognosis transplant icu intubated ventilated"
    # signs and illnesses
    " ascites hepato hepatomegaly spiders edema oedema jaundice heart infarct infarction angina stroke diabetes"
    " diabetic"
    " hypertension asthma hepatitis anemia anaemia depression anxiety dementia fracture pain psoriasis lesion smoking"
    " smoker smoke smokes cigarettes cigs tobacco alcohol drinking drinks obesity obese"
    # what laboratories and nurses measure
    " bilirubin bili albumin cholesterol chol hdl ldl triglyceride triglycerides trig trigs glucose insulin hba"
    " creatinine"
    " platelet platelets hemoglobin haemoglobin hemo hematocrit copper phosphatase alk-phos alkphos sgot sgpt"
    " =ast =alt"
    " protime prothrombin lymphocyte lymphocytes leukocyte wbc rbc psa cd ferritin sodium potassium urea calcium"
    " systolic diastolic sbp dbp =bp pulse temperature oxygen viral ph mmol mgdl",
    "what a study asks": "=class =classification =target =label =y =response =default",
    "money": "income checking salary wage wages pay earnings debt debts credit loan balance wealth assets benefit"
    " benefits pension"
    " capital gain gains losses dividend dividends stock stocks savings rent mortgage expenditure expenses"
    " charges claims"
    " amount earn earned poverty einkommen gehalt lohn salario salaire",
    "belief": "religion religious faith belief political politics party vote voted union attitude",
    "sexual life": "sexual sexuality orientation affair affairs contraceptive contraception",
    "crime": "crime criminal conviction convicted offence offense arrest arrested sentence prison parole recidivism",
    "performance": "grade grades score gpa rating result",
}
QUASI: dict[str, str] = {
    "age": "age ages agegroup alter edad âge",
    "sex": "sex gender geschlecht sexo sexe",
    "birth": "birth dob birthday birthdate born yob birthyear geburtsdatum geburtstag geburtsjahr geboren naissance"
    " nacimiento",
    "a place": "zip zipcode postcode postal plz postleitzahl city town county country region state province district"
    " municipality location latitude longitude lat lon birthplace residence neighborhood neighbourhood rural urban"
    " housing ort wohnort stadt land ville ciudad",
    "origin": "race ethnicity ethnic nationality citizenship citizen native language nationalität hispanic"
    " latino black"
    " white foreign immigrant immigration ancestry",
    "family": "marital married marriage divorced widowed relationship household children child kids dependents family"
    " spouse husband wife parents father mother siblings familienstand kinder",
    "education or work": "education educ educational school schooling degree college occupation occup job profession"
    " workclass worker worked work working employer employment employed unemployment unemployed industry sector"
    " position"
    " hours weeks tenure experience beruf bildung profesión",
    "a date": "date admission discharge day month year visit datum fecha aufnahme entlassung",
    "the body": "height weight eye hair",
}


def words_of(name: str) -> list[str]:
    """Split a column name into lowercase words.

    Examples
    --------
    >>> words_of("dateOfBirth"), words_of("marital-status"), words_of("ZIP code 5")
    (['date', 'of', 'birth'], ['marital', 'status'], ['zip', 'code'])
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return [w.lower() for w in re.split(r"[\W\d_]+", spaced) if w]


def is_key(name: str) -> bool:
    """Whether a name ends like the name of a key.

    Examples
    --------
    >>> is_key("visit_id"), is_key("patientNo"), is_key("idle")
    (True, True, False)
    """
    return (words_of(name) or [""])[-1] in LAST.split()


def is_person_key(name: str) -> bool:
    """Whether a name suggests that the column identifies each row's person.

    Examples
    --------
    >>> is_person_key("patient_no"), is_person_key("nr"), is_person_key("visit_id")
    (True, True, False)
    """
    words = words_of(name)
    return "".join(words) in PERSON_KEYS.split() or (is_key(name) and not set(PEOPLE.split()).isdisjoint(words))


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
    tried = {*words, joined, f"={joined}", *pairs, *(p.replace("-", "") for p in pairs)}
    for topic, listed in hints.items():
        known = set(listed.split())
        begun = tuple(word[:-1] for word in known if word.endswith("*"))
        if known & tried or any(word.startswith(begun) for word in words if begun):
            return topic
    return ""
