"""Detached signatures of evidence: Ed25519 with the signer's own key.

The signature covers a statement: the SHA-256 of the report's JSON and HTML files, the signer, and the time. The JSON
file holds the SHA-256 of every released file, so that one signature covers evidence and release. It is kept next to the
report as ``evidence.json.sig``. The private key stays in a file that only its owner may read.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hushtable.errors import DataError, OutputError, UsageError, VerificationError
from hushtable.io.atomic import atomic_write_text
from hushtable.io.urls import Source, is_url
from hushtable.io.versions import check_format
from hushtable.release.companion import check_outside

_FORMAT = "hushtable-signature/1"


@dataclass(frozen=True)
class Signature:
    """A valid signature.

    Attributes
    ----------
    signer : str
    signed : str
        Time (UTC), as the signer states it.
    fingerprint : str
        Fingerprint of the public key: compare it with the one that the signer gave you.
    """

    signer: str
    signed: str
    fingerprint: str


def signature_path(report: Path) -> Path:
    """Return the path of the signature of a report's JSON file.

    Examples
    --------
    >>> signature_path(Path("evidence.json")).name
    'evidence.json.sig'
    """
    return report.with_name(f"{report.name}.sig")


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file, as hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def fingerprint(public: bytes) -> str:
    """Return a public key's fingerprint: the first 16 bytes of its SHA-256, in groups.

    Examples
    --------
    >>> fingerprint(bytes(32))
    '6668 7aad f862 bd77 6c8f c18b 8e9f 8e20'
    """
    digits = hashlib.sha256(public).hexdigest()[:32]
    return " ".join(digits[i : i + 4] for i in range(0, 32, 4))


def new_key(path: Path) -> str:
    """Write a new private key that only its owner can read; return the public key's fingerprint.

    Raises
    ------
    OutputError
        If the file exists, cannot be written, or is in the folder of a release.
    """
    _need_cryptography()
    check_outside(path, "a key")
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise OutputError(f"{str(path)!r} exists.", code="exists", hint="Choose another file for the key.") from None
    except OSError as error:
        raise OutputError(
            f"The key {str(path)!r} cannot be written: {os.strerror(error.errno or 0)}.", hint="Choose another file."
        ) from None
    with os.fdopen(handle, "w", encoding="ascii") as stream:
        stream.write(key.private_bytes_raw().hex() + "\n")
    return fingerprint(key.public_key().public_bytes_raw())


def sign_report(report: Path, key: Path, signer: str = "") -> Signature:
    """Sign a report: its JSON file and the HTML file of the same name.

    Parameters
    ----------
    report : path
        The JSON file.
    key : path
        The private key, as ``new_key`` writes it.
    signer : str
        Name of the signer. Defaults to the signer that the report names.

    Raises
    ------
    DataError
        If the file is not a report.
    UsageError
        If the key is not valid, or others may read it.
    """
    _need_cryptography()
    private = _private(key)
    content = read_report(report)
    named = signer or str(dict(content.get("about_release") or {}).get("signer") or "")
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    statement = {
        "format": _FORMAT,
        "files": {file.name: file_digest(file) for file in _covered(report)},
        "signer": named,
        "signed": now,
    }
    public = private.public_key().public_bytes_raw()
    signed = private.sign(_canonical(statement))
    text = json.dumps({"statement": statement, "public_key": public.hex(), "signature": signed.hex()}, indent=1)
    atomic_write_text(signature_path(report), text + "\n")
    return Signature(named, now, fingerprint(public))


def check_signature(report: Path) -> Signature | None:
    """Check the signature of a report; return None if there is none.

    Raises
    ------
    DataError
        If the signature does not belong to these files.
    """
    place = signature_path(report)
    if not place.exists():
        return None
    _need_cryptography()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        found = json.loads(place.read_text(encoding="utf-8"))
        statement, public = found["statement"], bytes.fromhex(found["public_key"])
        Ed25519PublicKey.from_public_bytes(public).verify(bytes.fromhex(found["signature"]), _canonical(statement))
        files = dict(statement["files"])
        signer, signed = str(statement["signer"]), str(statement["signed"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, InvalidSignature):
        raise _broken(place, "is not a signature, or was changed") from None
    for covered in _covered(report):
        if covered.name not in files:
            raise _broken(place, f"does not cover {covered.name!r}")
    for name, digest in files.items():
        # nothing but files next to the report, whatever a forged statement says
        file = report.with_name(Path(str(name)).name)
        if not file.exists() or file_digest(file) != digest:
            raise _broken(place, f"was made for another {name!r}")
    return Signature(signer, signed, fingerprint(public))


def _broken(place: Path, what: str) -> DataError:
    return DataError(
        f"The signature {str(place)!r} {what}.",
        code="signature",
        hint="Do not trust this evidence: ask the signer for the original files.",
    )


def _covered(report: Path) -> list[Path]:
    """Return the files that a signature covers: the report, and its page if it is there."""
    return [file for file in (report, report.with_suffix(".html")) if file == report or file.exists()]


def read_report(path: Path) -> dict[str, Any]:
    """Return the contents of a report's JSON file.

    Raises
    ------
    DataError
        If it is not one.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not str(found.get("format", "")).startswith("hushtable-report/"):
        raise DataError(
            f"{str(path)!r} is not the JSON file of a report.",
            code="not-a-report",
            hint="Give the JSON file that 'hushtable report' wrote.",
        )
    check_format("evidence", found["format"], repr(str(path)))
    return found


def _private(path: Path) -> Any:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    try:
        mode = path.stat().st_mode
        raw = bytes.fromhex(path.read_text(encoding="ascii").strip())
        if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
            raise UsageError(
                f"The key {str(path)!r} can be read by others.", code="key", hint=f"chmod 600 {str(path)!r}"
            )
        return Ed25519PrivateKey.from_private_bytes(raw)
    except (OSError, ValueError):
        raise UsageError(
            f"{str(path)!r} is not a signing key." if path.exists() else f"There is no signing key {str(path)!r}.",
            code="key",
            hint="Name yours with --key, or create one with 'hushtable sign --new-key'.",
        ) from None


def _canonical(statement: Any) -> bytes:
    return json.dumps(statement, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def _need_cryptography() -> None:
    try:
        import cryptography  # noqa: F401
    except ImportError:
        raise UsageError(
            "Signatures need the package cryptography, which is not installed.",
            code="no-cryptography",
            hint="Install it with: pip install 'hushtable[sign]'.",
        ) from None


# Checking a release against its signed evidence.


def is_report(path: Path) -> bool:
    """Whether a file is the JSON file of a report."""
    try:
        read_report(path)
    except DataError as error:
        return error.code != "not-a-report"
    return True


def check_report(report: Path, published: Source) -> dict[str, Any]:
    """Check that a release's files are those of a report, and check the report's signature if it has one.

    Parameters
    ----------
    report : path
        The JSON file.
    published : path
        The published table in the release's folder.

    Returns
    -------
    dict
        ``files``: number of files compared; ``signer``, ``signed`` and ``fingerprint``, if it is signed; ``words``.

    Raises
    ------
    VerificationError
        If a file is not the one that the report describes.
    DataError
        If the signature does not belong to the report, or the report describes no files.
    """
    if is_url(published):
        raise DataError(
            "Evidence is checked against files, not against a database.",
            code="not-a-file",
            hint="Verify the table in the folder that 'run' wrote.",
        )
    signature = check_signature(report)
    try:
        files = {str(entry["name"]): str(entry["sha256"]) for entry in read_report(report)["facts"]["files"]}
    except (LookupError, TypeError):
        files = {}
    if not files:
        raise DataError(
            "The report describes no files: the release had not been saved when the report was made.",
            code="no-files",
            hint="Make the report from the saved release: 'hushtable report RELEASE_DIR'.",
        )
    folder = Path(published).parent
    # only files of the folder, whatever a forged report names
    here = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if file.is_file()}
    for name, digest in files.items():
        if name not in here:
            raise VerificationError(
                f"The release does not match the evidence: its folder lacks the file {name!r}.",
                code="other-file",
                hint="Verify the release in its folder, with all of its files.",
            )
        if file_digest(here[name]) != digest:
            raise VerificationError(
                f"The file {str(folder / name)!r} does not match the evidence.",
                code="other-file",
                hint="It was changed or replaced after the report was made. Do not publish it with this evidence.",
            )
    extra = sorted(here.keys() - files.keys())
    if extra:
        raise VerificationError(
            f"The release folder has a file that the evidence does not describe: {extra[0]!r}.",
            code="other-file",
            hint="Remove it, or make the report again.",
        )
    words = f"All {len(files)} files match the evidence."
    if signature is None:
        return {"files": len(files), "words": f"{words} The evidence is not signed."}
    signer = repr(signature.signer) if signature.signer else "nobody"
    return {
        "files": len(files),
        "signer": signature.signer,
        "signed": signature.signed,
        "fingerprint": signature.fingerprint,
        # the key comes first: whoever signs chooses the texts that follow
        "words": f"{words} Signed with the key {signature.fingerprint}: compare this with the fingerprint that the "
        f"signer gave you. It names {signer} as its signer and {signature.signed!r} as its time.",
    }
