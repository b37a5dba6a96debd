"""Coins that an adversary cannot toss again.

The policy, and with it the seed, travels with a release: whatever a guard drew from the seed alone, everybody could
draw, and undo. So guards draw from the local secret and the seed together. The same secret, seed and table give the
same release; the secret itself never leaves (``HUSHTABLE_SECRET`` names its file).

Numbers come from SHAKE-256, not from ``hushtable.rng``: that generator is fast, but whoever has guessed its 64-bit key
knows all of it. Coins do not depend on the records: publishing the same table twice shows the same coins twice, which
tells no more than once.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hushtable.arrays import FloatArray, IntArray
from hushtable.io.secret import keyed_hash, load_secret

__all__ = ["Coins", "fingerprint"]


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
    def of(cls, seed: int, purpose: str) -> Coins:
        """Return the coins of one guard: from the local secret, which is made where there is none, and the seed."""
        return cls(bytes.fromhex(keyed_hash([_bytes(seed)], load_secret(), f"guard/{purpose}")))

    def words(self, stream: str, n: int) -> npt.NDArray[np.uint64]:
        """Return n random words of 64 bits."""
        name = stream.encode()
        head = len(name).to_bytes(4, "big") + name + self.key
        return np.frombuffer(hashlib.shake_256(head).digest(8 * n), dtype="<u8").astype(np.uint64)

    def uniform(self, stream: str, n: int) -> FloatArray:
        """Return n numbers spread evenly over [0, 1)."""
        return (self.words(stream, n) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def below(self, stream: str, limits: IntArray) -> IntArray:
        """Return a number from 0 to limit - 1 for each limit."""
        drawn = (self.uniform(stream, len(limits)) * limits).astype(np.int64)
        # u * limit may round up to the limit itself
        return np.asarray(np.minimum(drawn, np.maximum(limits - 1, 0)))


def fingerprint(seed: int) -> str:
    """Return what tells, on the machine that has the secret, whether a release was made with it; it tells no more.

    Examples
    --------
    >>> fingerprint(7) == fingerprint(7), len(fingerprint(7))
    (True, 16)
    """
    return keyed_hash([_bytes(seed)], load_secret(), "guard fingerprint")[:16]


def _bytes(seed: int) -> bytes:
    return (seed % 2**64).to_bytes(8, "big")
