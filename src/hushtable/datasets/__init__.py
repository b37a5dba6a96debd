"""Generated microdata and loaders of reference data sets."""

from __future__ import annotations

from hushtable.datasets.adult_like import adult_like, adult_like_codes, adult_like_labels, adult_policy
from hushtable.datasets.hospital import hospital, hospital_policy
from hushtable.datasets.loaders import adult_hierarchies, load_adult, load_census
from hushtable.datasets.patients import patients, patients_batches, patients_hierarchies, patients_policy

__all__ = [
    "adult_hierarchies",
    "adult_like",
    "adult_like_codes",
    "adult_like_labels",
    "adult_policy",
    "hospital",
    "hospital_policy",
    "load_adult",
    "load_census",
    "patients",
    "patients_batches",
    "patients_hierarchies",
    "patients_policy",
]
