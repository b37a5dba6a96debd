"""Pseudonyms: identifiers are replaced with keyed names. This is not anonymization, and nothing counts it as such.

The pseudonym of a value is the first 128 bits of its HMAC-SHA-256 under the key, in hexadecimal digits: the same value
has the same pseudonym in every table of the project, and nobody without the key can test a guess. It is one-way: the
key holder identifies a person by computing the pseudonyms of known people (``hushtable pseudonyms reveal``).

With ``keep_format``, a value is mapped to another one of the same shape: digits stay digits, uppercase and lowercase
letters keep their case, and all other characters stay unchanged (letters and digits outside ASCII are refused, since
they would stay too). The values of one shape are numbered from 0 to N - 1, and permuted by an alternating Feistel
network of 10 rounds: the first half of the classes holds a number below a, the second one below b, N = a b, and in turn
each is shifted by an HMAC-SHA-256 of the other, modulo a or b. That is a bijection for any a and b. It is the
construction of NIST's FF1 with HMAC instead of AES and with the classes' own radices, and is not FF1 itself. Like FF1,
it requires at least a million values of a shape.

Consequence for models: a pseudonym reveals which rows belong to one person. Models judge rows by their class, so a
release in which a person has two rows would promise too much. Such a table is refused.

References
----------
M. Dworkin, "Recommendation for block cipher modes of operation: methods for format-preserving encryption", NIST
SP 800-38G, 2016; M. Bellare, T. Ristenpart, P. Rogaway, T. Stegers, "Format-preserving encryption", 2009.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import pyarrow as pa

from hushtable.errors import DataError, counted
from hushtable.io.secret import keyed_hash
from hushtable.io.text import to_labels
from hushtable.schema.columns import Kind, Role
from hushtable.treatments.base import Given, Treatment
from hushtable.treatments.keyed import Keyed

ROUNDS = 10
LEAST = 1_000_000
"""Number of values of a shape below which a permutation could be listed."""

_CLASSES = {"0": "0123456789", "a": "abcdefghijklmnopqrstuvwxyz", "A": "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


@dataclass(frozen=True)
class Pseudonym(Keyed, Treatment):
    """Replaces identifiers with keyed names that only the key holder can trace.

    Parameters
    ----------
    keep_format : bool
    domain : str
    key : str, optional
    fresh : bool

    Examples
    --------
    >>> import hushtable as ht
    >>> table = pa.table({"patient": ["P-100001", "P-100002"], "age": [30, 31]})
    >>> policy = ht.Policy(columns={"patient": {"role": "pseudonym", "treatment": {"pseudonym": {"keep_format": True}}},
    ...                             "age": {"role": "quasi"}}, models=[ht.KAnonymity(k=2)])
    >>> [len(name) for name in ht.anonymize(table, policy).frame["patient"].to_pylist()]
    [8, 8]
    """

    keep_format: Annotated[bool, "whether digits stay digits and letters stay letters, at the same positions"] = False
    domain: Annotated[str, "what is named; equal values in two domains have different pseudonyms"] = ""

    name: ClassVar[str] = "pseudonym"
    promise: ClassVar[str] = (
        "Guarantees that nobody without the key can find the person from the pseudonym alone. This is not "
        "anonymization: the key holder can reverse it, and tables with the same key can be joined."
    )
    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.NOMINAL})
    roles: ClassVar[frozenset[Role]] = frozenset({Role.PSEUDONYM})
    per_person: ClassVar[bool] = True
    record_by_record: ClassVar[bool] = True

    def treat(self, given: Given) -> pa.Array:
        """Replace the values."""
        column = given.column
        repeated = len(column) - column.missing - len(column.values)
        if repeated:
            raise DataError(
                f"{counted(repeated, 'row repeats', 'rows repeat')} the {column.name!r} of another row: published "
                "pseudonyms would link "
                "the rows of a person, but the models judge each row by its class alone.",
                code="linked-rows",
                hint="Give the column the role 'identifier', or make a table with one row per person.",
            )
        return pa.array(self.names(to_labels(column.values).to_pylist(), given, column.name)).take(
            pa.array(given.codes, mask=given.codes < 0)
        )

    def names(self, values: list[str], given: Given, column: str) -> list[str]:
        """Return the pseudonym of each value."""
        key = self.hashing(given, f"pseudonym/{self.domain}")
        if not self.keep_format:
            return [keyed_hash([value.encode()], key, "pseudonym")[:32] for value in values]
        short = sum(_size(value) < LEAST for value in values)
        if short:
            raise DataError(
                f"{counted(short, 'value', 'values')} of column {column!r} can be recovered from pseudonyms by "
                "trying: fewer than a million "
                "values have the same shape, or letters or digits are outside ASCII.",
                code="short-format",
                hint="Remove 'keep_format'.",
            )
        return [permuted(value, key) for value in values]


def _shape(value: str) -> str:
    """Return each character's class, or the character itself if it is kept."""
    return "".join(next((name for name, known in _CLASSES.items() if char in known), char) for char in value)


def _size(value: str) -> int:
    """Return the number of values of this shape; 0 if some characters must not be kept."""
    if any(char.isalnum() and not char.isascii() for char in value):
        return 0
    size = 1
    for name in _shape(value):
        size *= len(_CLASSES.get(name, "x"))
    return size


def permuted(value: str, key: bytes, *, undo: bool = False) -> str:
    """Return another value of the same shape; with ``undo``, the one with this pseudonym.

    Examples
    --------
    >>> permuted("AB-123", b"key")
    'XY-479'
    >>> permuted(permuted("AB-123", b"key"), b"key", undo=True)
    'AB-123'
    """
    shape = _shape(value)
    places = [i for i, name in enumerate(shape) if name in _CLASSES and value[i] in _CLASSES[name]]
    radices = [len(_CLASSES[shape[i]]) for i in places]
    digits = [_CLASSES[shape[i]].index(value[i]) for i in places]
    half = len(places) // 2
    first, second = _number(digits[:half], radices[:half]), _number(digits[half:], radices[half:])
    sizes = (_product(radices[:half]), _product(radices[half:]))
    first, second = feistel((first, second), sizes, key, shape, undo=undo)
    found = [*_digits(first, radices[:half]), *_digits(second, radices[half:])]
    out = list(value)
    for i, digit in zip(places, found, strict=True):
        out[i] = _CLASSES[shape[i]][digit]
    return "".join(out)


def feistel(
    pair: tuple[int, int], sizes: tuple[int, int], key: bytes, tweak: str, *, undo: bool = False
) -> tuple[int, int]:
    """Return a pair of numbers below two sizes, permuted by an alternating Feistel network.

    Examples
    --------
    >>> everything = {feistel((a, b), (3, 5), b"key", "") for a in range(3) for b in range(5)}
    >>> len(everything)
    15
    """
    parts = list(pair)
    for turn in reversed(range(ROUNDS)) if undo else range(ROUNDS):
        own = turn % 2
        said = f"{turn}/{sizes}/{parts[1 - own]}".encode()
        shift = int(keyed_hash([said, tweak.encode()], key, "feistel"), 16)
        # a modulus near 2**256 would favor some shifts
        wide = shift if sizes[own] < 1 << 128 else _random_bits(said, tweak, key, sizes[own])
        parts[own] = (parts[own] - wide if undo else parts[own] + wide) % sizes[own]
    return parts[0], parts[1]


def _random_bits(said: bytes, tweak: str, key: bytes, size: int) -> int:
    """Return as many random bits as a long value needs."""
    blocks = size.bit_length() // 256 + 2
    return int("".join(keyed_hash([said, tweak.encode(), b"%d" % i], key, "feistel") for i in range(blocks)), 16)


def _product(radices: list[int]) -> int:
    found = 1
    for radix in radices:
        found *= radix
    return found


def _number(digits: list[int], radices: list[int]) -> int:
    found = 0
    for digit, radix in zip(digits, radices, strict=True):
        found = found * radix + digit
    return found


def _digits(number: int, radices: list[int]) -> list[int]:
    found = []
    for radix in reversed(radices):
        number, digit = divmod(number, radix)
        found.append(digit)
    return found[::-1]
