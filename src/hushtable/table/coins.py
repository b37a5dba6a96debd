"""Secret coins: random numbers that an adversary cannot reproduce.

The code is public, and so are the policy and its seed: anybody can repeat, and undo, what is drawn from these alone. So
whenever a choice depends on sensitive values, or a guard hides something, the draw comes from coins. Their key is an
HMAC of the local secret over a digest of the table, a digest of the policy and a purpose. The same secret, table and
policy give the same release. Another table or policy gives unrelated coins, and so does another population, background
or ledger: two releases with different groups never share any. The secret never leaves the machine
(``HUSHTABLE_SECRET`` names its file).

Numbers come from SHAKE-256, not from ``hushtable.rng``: that generator is fast, but an adversary who guesses its 64-bit
key knows all of its numbers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hushtable.arrays import AnyArray, FloatArray, IntArray
from hushtable.io.secret import keyed_hash, load_secret
from hushtable.table.coded_columns import QuasiColumn, SensitiveColumn
from hushtable.table.encoded import EncodedTable


@dataclass(frozen=True)
class Coins:
    """Random numbers by name, from a key.

    Parameters
    ----------
    key : bytes

    Examples
    --------
    >>> coins = Coins(b"a secret key")
    >>> coins.uniform("docs", 2).round(4).tolist()
    [0.7293, 0.5308]
    >>> coins.below("docs", np.array([1, 6])).tolist()
    [0, 3]
    """

    key: bytes

    @classmethod
    def of_release(cls, table: bytes, policy: bytes) -> Coins:
        """Return the coins of one release, from the local secret (created if needed) and two digests.

        Parameters
        ----------
        table, policy : bytes
            Digests.
        """
        return cls(bytes.fromhex(keyed_hash([table, policy], load_secret(), "release coins")))

    def purse(self, purpose: str) -> Coins:
        """Return unrelated coins for one purpose.

        Examples
        --------
        >>> Coins(b"key").purse("guard").key == Coins(b"key").purse("guarded").key
        False
        """
        return Coins(bytes.fromhex(keyed_hash([purpose.encode()], self.key, "purpose")))

    def words(self, stream: str, n: int) -> npt.NDArray[np.uint64]:
        """Return n random words of 64 bits."""
        name = stream.encode()
        head = len(name).to_bytes(4, "big") + name + self.key
        return np.frombuffer(hashlib.shake_256(head).digest(8 * n), dtype="<u8").astype(np.uint64)

    def uniform(self, stream: str, n: int) -> FloatArray:
        """Return n uniform numbers in [0, 1)."""
        return (self.words(stream, n) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def below(self, stream: str, limits: IntArray) -> IntArray:
        """Return a number from 0 to limit - 1 for each limit."""
        drawn = (self.uniform(stream, len(limits)) * limits).astype(np.int64)
        # u * limit may round up to the limit itself
        return np.asarray(np.minimum(drawn, np.maximum(limits - 1, 0)))

    def lots(self, table: EncodedTable) -> npt.NDArray[np.uint64]:
        """Return a random word for every row, its lot, which does not depend on the order of the rows."""
        lots = np.empty(table.n_rows, dtype=np.uint64)
        lots[table.canonical_order] = self.words("lots", table.n_rows)
        return lots

    @cached_property
    def ends(self) -> tuple[int, int]:
        """Two secret numbers; hashing a value between them gives a secret order, on any engine."""
        first, last = self.words("ends", 2).view(np.int64).tolist()
        return first, last

    def lots_of_combinations(self, codes: Sequence[AnyArray]) -> IntArray:
        """Return a random number for every row of codes, the same for equal rows."""
        from hushtable.kernels.xxhash import hash_rows

        first, last = self.ends
        return hash_rows([first, *codes, last], len(codes[0]))


_GROUPING = ("quasi", "sensitive")
_IRRELEVANT = {"engine", "output", "publish", "missing_values", "seed"}
"""Settings of a policy that change no group; with the seed, anybody could draw again and average."""


def policy_digest(document: Mapping[str, Any]) -> bytes:
    """Return a digest of the settings of a policy that affect groups, given as data.

    If the same people are published twice, for example under policies that differ only in the seed or the name of the
    output, the same coins give the same groups, so the second release reveals nothing new.

    Examples
    --------
    >>> policy_digest({"k": 2, "seed": 0}) == policy_digest({"k": 2, "seed": 1})
    True
    >>> policy_digest({"k": 2}) == policy_digest({"k": 3})
    False
    """
    relevant = {name: value for name, value in document.items() if name not in _IRRELEVANT}
    if isinstance(columns := relevant.get("columns"), Mapping):
        grouped = {n: c for n, c in columns.items() if not isinstance(c, Mapping) or c.get("role") in _GROUPING}
        relevant["columns"] = grouped
    text = json.dumps(relevant, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).digest()


def table_digest(table: EncodedTable) -> bytes:
    """Return a digest of the records, the given population and background, and the hierarchies of their columns.

    The order of rows does not matter.
    """
    if "digest" not in table.derived:
        sums = record_sums(table, [], 0)
        if people := table.population_rows:
            sums += _sums(table, slice(people.start, people.stop), [], np.ones(len(people), dtype=np.int64), 2)
        # an estimated background follows from the records
        if (others := table.background_rows) and not table.bandwidths:
            size = table.attribute_size((table.background_on,))
            beliefs = [table.background_codes % size, table.background_mass]
            sums += _sums(table, slice(others.start, others.stop), beliefs, np.ones(len(others), dtype=np.int64), 4)
        table.derived["digest"] = columns_digest(table, sums)
    found: bytes = table.derived["digest"]
    return found


def record_sums(table: EncodedTable, more: list[IntArray], turn: int) -> list[int]:
    """Return two sums over all records, modulo 2**64, of their weight times the hash of their codes and of ``more``."""
    n = table.n_sample
    return _sums(table, slice(n), [*(c.codes[:n] for c in table.sensitive), *more], table.units_of(slice(n)), turn)


def _sums(table: EncodedTable, rows: slice, codes: list[AnyArray], weights: IntArray, turn: int) -> list[int]:
    from hushtable.kernels.xxhash import hash_rows

    own = [*(c.codes[rows] for c in table.quasi), *codes]
    words = [hash_rows([first, *own], len(weights)).view(np.uint64) for first in (turn, turn + 1)]
    return [int((word * weights.view(np.uint64)).sum(dtype=np.uint64)) for word in words]


def columns_digest(table: EncodedTable, sums: list[int]) -> bytes:
    """Return the digest of a table whose rows need not be in memory.

    Parameters
    ----------
    table : EncodedTable
        Its columns; rows are not used.
    sums : list of int
        Sums over all records, modulo 2**64, of their weight times the hash of 0 (then of 1) and their codes; then of
        the rows of a population and of a background.
    """
    digest = hashlib.sha256()
    columns: list[QuasiColumn | SensitiveColumn] = [*table.quasi, *table.sensitive]
    for column in columns:
        labels = [column.name, str(column.coded.kind), *map(repr, column.coded.labels[0])]
        digest.update(json.dumps(labels, ensure_ascii=True).encode())
        for level, names in zip(column.coded.levels[1:], column.coded.labels[1:], strict=True):
            # the policy may only name the file or the function that they come from
            digest.update(level.astype("<i8").tobytes() + json.dumps(names, ensure_ascii=True).encode())
    digest.update(json.dumps([total % 2**64 for total in sums]).encode())
    return digest.digest()
