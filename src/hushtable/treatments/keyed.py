"""Keys of pseudonyms and date shifts: the local secret, or a project's key file; fresh for each release on request."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Self

from hushtable.errors import UsageError
from hushtable.io.secret import keyed_hash, load_secret
from hushtable.params import Parametrised
from hushtable.treatments.base import Given


@dataclass(frozen=True)
class Keyed(Parametrised):
    """The parameters that keyed treatments share, and the source of their key."""

    key: Annotated[str | None, "file of the project's key; defaults to the local secret"] = field(
        default=None, kw_only=True
    )
    fresh: Annotated[bool, "whether every release gets a new key, so that releases cannot be joined"] = field(
        default=False, kw_only=True
    )

    @property
    def per_release(self) -> bool:
        """Whether every release has its own key."""
        return self.fresh

    def based_in(self, folder: Path | None) -> Self:
        """Return the same with the key resolved in this folder."""
        if self.key is None or folder is None:
            return self
        return replace(self, key=str(folder / self.key))

    def ready(self) -> None:
        """Refuse a missing key before any work is done."""
        self.secret()

    def secret(self) -> bytes:
        """Return the key's bytes.

        Raises
        ------
        UsageError
            If there is no such file, or it is not a key.
        """
        if self.key is not None and not Path(self.key).is_file():
            raise UsageError(
                f"There is no key {self.key!r} for pseudonyms.",
                code="no-key",
                hint=f"Create one with: hushtable pseudonyms new-key {self.key}.",
            )
        return load_secret(self.key)

    def hashing(self, given: Given, purpose: str) -> bytes:
        """Return the key for one purpose: the project's, or one for this release only."""
        if self.fresh:
            return given.coins.purse(purpose).key
        return bytes.fromhex(keyed_hash([purpose.encode()], self.secret(), "pseudonyms"))
