"""The publisher's statements about a release in its evidence: the data, the purpose and the recipients."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from hushtable.errors import UsageError
from hushtable.report.content.base import Part


class Recipient(Part):
    """A recipient of the release."""

    name: str
    holds: tuple[str, ...] = ()
    """published columns whose values the recipient may already hold about people"""
    terms: str = ""
    """the contract or law that applies"""


class About(Part):
    """Statements in the evidence that cannot be computed.

    Examples
    --------
    >>> About(dataset="Admissions 2025", recipients=({"name": "University", "holds": ["age"]},)).recipients[0].name
    'University'
    """

    dataset: str = ""
    """the table's name"""
    purpose: str = ""
    """permitted uses"""
    organisation: str = ""
    """publisher"""
    signer: str = ""
    """signer and role"""
    recipients: tuple[Recipient, ...] = ()


def read_about(given: About | Mapping[str, Any] | str | os.PathLike[str] | None) -> About:
    """Return the statements about a release: from data, or from a YAML file.

    Raises
    ------
    UsageError
        If the file cannot be read, or contains something else.

    Examples
    --------
    >>> read_about({"dataset": "Admissions"}).dataset
    'Admissions'
    >>> read_about({"datset": "Admissions"})
    Traceback (most recent call last):
    hushtable.errors.UsageError: The statement about the release is not valid at 'datset': Extra inputs are not ...
    """
    if given is None or isinstance(given, About):
        return given or About()
    if not isinstance(given, Mapping):
        given = _load(Path(given))
    try:
        return About.model_validate(dict(given))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UsageError(
            f"The statement about the release is not valid at {place!r}: {first['msg']}.",
            code="about",
            hint="It may contain dataset, purpose, organisation, signer and recipients (name, holds, terms).",
        ) from None


def _load(path: Path) -> Mapping[str, Any]:
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(
            f"{str(path)!r} cannot be read: {os.strerror(error.errno or 0)}.", code="about", hint="Name a YAML file."
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise UsageError(f"{str(path)!r} is not YAML.", code="about", hint="Write 'dataset: ...' in it.") from None
    if not isinstance(found, Mapping):
        raise UsageError(f"{str(path)!r} is empty.", code="about", hint="Write 'dataset: ...' in it.")
    return found
