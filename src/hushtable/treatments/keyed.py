"""Keys of pseudonyms and date shifts: the local secret, or a project's key file; fresh for each release on request."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Self

from hushtable.errors import UsageError
from hushtable.io.secret import keyed_hash, load_secret
from hushtable.params import Parametrised
from hushtable.treatments.base import Given

__all__ = ["Keyed"]


@dataclass(frozen=True)
class Keyed(Parametrised):
    """The parameters that keyed treatments share, and where their key comes from."""

    key: Annotated[str | None, "file of the project's key; the local secret by default"] = field(
        default=None, kw_only=True
    )
    fresh: Annotated[bool, "whether every release is keyed anew, so that releases cannot be joined"] = field(
        default=False, kw_only=True
    )

    def based_in(self, folder: Path | None) -> Self:
        """Return the same with the key looked for in this folder."""
        if self.key is None or folder is None:
            return self
        return replace(self, key=str(folder / self.key))

    def ready(self) -> None:
        """Refuse, before any work, a key that is not there."""
        self.secret()

    def secret(self) -> bytes:
        """Return the key's bytes.

        Raises
        ------
        UsageError
            If there is no such file, or it is no key.
        """
        if self.key is not None and not Path(self.key).is_file():
            raise UsageError(
                f"There is no key {self.key!r} for pseudonyms.",
                code="no-key",
                hint=f"Make one with: hushtable pseudonyms new-key {self.key}.",
            )
        return load_secret(self.key)

    def hashing(self, given: Given, purpose: str) -> bytes:
        """Return the key of one purpose: the project's, or that of this release alone."""
        if self.fresh:
            return given.coins.purse(purpose).key
        return bytes.fromhex(keyed_hash([purpose.encode()], self.secret(), "pseudonyms"))
