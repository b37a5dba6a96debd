"""Checking a release against its signed evidence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hushtable.errors import DataError, VerificationError
from hushtable.io.urls import Source, is_url
from hushtable.io.versions import check_format
from hushtable.report.signature import check_signature, file_digest

__all__ = ["check_report", "is_report"]


def is_report(path: Path) -> bool:
    """Whether a file is the JSON file of a report."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and str(found.get("format", "")).startswith("hushtable-report/")


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
    found = json.loads(report.read_text(encoding="utf-8"))
    check_format("evidence", found.get("format"), repr(str(report)))
    files = found.get("facts", {}).get("files") or []
    if not files:
        raise DataError(
            "The report describes no files: the release had not been saved when the report was made.",
            code="no-files",
            hint="Make the report from the saved release: 'hushtable report RELEASE_DIR'.",
        )
    folder = Path(published).parent
    for entry in files:
        file = folder / str(entry["name"])
        if not file.is_file() or file_digest(file) != entry["sha256"]:
            raise VerificationError(
                f"The file {str(file)!r} does not match the evidence.",
                code="other-file",
                hint="It was changed or replaced after the report was made. Do not publish it with this evidence.",
            )
    here = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    extra = sorted(here - {str(entry["name"]) for entry in files})
    if extra:
        raise VerificationError(
            f"The release folder has a file that the evidence does not describe: {extra[0]!r}.",
            code="other-file",
            hint="Remove it, or make the report again.",
        )
    words = f"All {len(files)} files match the evidence."
    if signature is None:
        return {"files": len(files), "words": f"{words} The evidence is not signed."}
    return {
        "files": len(files),
        "signer": signature.signer,
        "signed": signature.signed,
        "fingerprint": signature.fingerprint,
        "words": f"{words} Signed by {signature.signer or 'an unnamed signer'} on {signature.signed} with the "
        f"key {signature.fingerprint}. Compare this with the fingerprint that the signer gave you.",
    }
