"""The vocabulary of the Adult data set, with rounded frequencies and our own small trees."""

from __future__ import annotations

from typing import Any

COLUMNS_15 = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship",
    "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "salary-class",
)  # fmt: skip
"""The columns of the whole data set; copies differ in the name of the last one."""

COLUMNS_9 = (
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class",
)  # fmt: skip
"""The columns of the 30,162-record subset that anonymization tools use, in their order."""

NUMERIC = frozenset({"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"})

_SHARES = {
    "sex": "Female 325  Male 675",
    "race": "Amer-Indian-Eskimo 10  Asian-Pac-Islander 30  Black 93  Other 8  White 859",
    "marital-status": """
        Divorced 140  Married-AF-spouse 0.7  Married-civ-spouse 466  Married-spouse-absent 12  Never-married 322
        Separated 31  Widowed 27
    """,
    "education": """
        10th 27  11th 35  12th 13  1st-4th 5  5th-6th 10  7th-8th 18  9th 15  Assoc-acdm 33  Assoc-voc 43
        Bachelors 167  Doctorate 12  HS-grad 326  Masters 54  Preschool 1.5  Prof-school 18  Some-college 221
    """,
    "native-country": """
        Cambodia 0.6  Canada 3.5  China 2.3  Columbia 1.9  Cuba 3.1  Dominican-Republic 2.2  Ecuador 0.9
        El-Salvador 3.3  England 2.9  France 0.9  Germany 4.2  Greece 1  Guatemala 2.1  Haiti 1.4
        Holand-Netherlands 0.03  Honduras 0.4  Hong 0.6  Hungary 0.4  India 3.3  Iran 1.4  Ireland 0.8  Italy 2.3
        Jamaica 2.7  Japan 2  Laos 0.6  Mexico 20  Nicaragua 1.1  Outlying-US(Guam-USVI-etc) 0.5  Peru 1
        Philippines 6.2  Poland 1.9  Portugal 1.1  Puerto-Rico 3.6  Scotland 0.4  South 2.4  Taiwan 1.4
        Thailand 0.6  Trinadad&Tobago 0.6  United-States 912  Vietnam 2.1  Yugoslavia 0.5
    """,
    "workclass": """
        Federal-gov 31  Local-gov 69  Private 739  Self-emp-inc 36  Self-emp-not-inc 83  State-gov 42
        Without-pay 0.5
    """,
    "occupation": """
        Adm-clerical 123  Armed-Forces 0.3  Craft-repair 134  Exec-managerial 132  Farming-fishing 33
        Handlers-cleaners 45  Machine-op-inspct 65  Other-service 106  Priv-house-serv 5  Prof-specialty 134
        Protective-serv 21  Sales 119  Tech-support 30  Transport-moving 52
    """,
    "salary-class": "<=50K 751  >50K 249",
}
"""Values, and about how many people in a thousand; rare ones keep a little, so that they occur in large tables."""


def _numbers(text: str) -> dict[str, float]:
    words = text.split()
    return dict(zip(words[::2], map(float, words[1::2]), strict=True))


ADULT_VALUES = {name: _numbers(text) for name, text in _SHARES.items()}
"""Column -> value -> about how many people in a thousand."""

ADULT_TREES: dict[str, dict[str, Any]] = {
    "marital-status": {
        "married": ["Married-AF-spouse", "Married-civ-spouse", "Married-spouse-absent"],
        "no longer married": ["Divorced", "Separated", "Widowed"],
        "single": ["Never-married"],
    },
    "education": {
        "without a diploma": {
            "at most grade 8": ["Preschool", "1st-4th", "5th-6th", "7th-8th"],
            "grades 9 to 12": ["9th", "10th", "11th", "12th"],
        },
        "with a diploma": {
            "school or some college": ["HS-grad", "Some-college"],
            "associate": ["Assoc-acdm", "Assoc-voc"],
            "degree": ["Bachelors", "Masters", "Prof-school", "Doctorate"],
        },
    },
    "native-country": {
        "the Americas": {
            "United States and territories": ["United-States", "Outlying-US(Guam-USVI-etc)", "Puerto-Rico"],
            "other North and Central America": [
                "Canada", "Cuba", "Dominican-Republic", "El-Salvador", "Guatemala", "Haiti", "Honduras", "Jamaica",
                "Mexico", "Nicaragua", "Trinadad&Tobago",
            ],
            "South America": ["Columbia", "Ecuador", "Peru"],
        },
        "the rest of the world": {
            "Europe": [
                "England", "France", "Germany", "Greece", "Holand-Netherlands", "Hungary", "Ireland", "Italy",
                "Poland", "Portugal", "Scotland", "Yugoslavia",
            ],
            "East and South-East Asia": [
                "Cambodia", "China", "Hong", "Japan", "Laos", "Philippines", "Taiwan", "Thailand", "Vietnam",
            ],
            "elsewhere": ["India", "Iran", "South"],
        },
    },
    "workclass": {
        "employed": {
            "by a company": ["Private"],
            "by the public": ["Federal-gov", "Local-gov", "State-gov"],
        },
        "not employed": {
            "own business": ["Self-emp-inc", "Self-emp-not-inc"],
            "unpaid": ["Never-worked", "Without-pay"],
        },
    },
    "occupation": {
        "desk": ["Adm-clerical", "Exec-managerial", "Prof-specialty", "Sales", "Tech-support"],
        "hands": ["Craft-repair", "Farming-fishing", "Handlers-cleaners", "Machine-op-inspct", "Transport-moving"],
        "service": ["Armed-Forces", "Other-service", "Priv-house-serv", "Protective-serv"],
    },
}  # fmt: skip
