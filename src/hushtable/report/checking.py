"""Checking a release against its signed evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hushtable.errors import DataError, VerificationError
from hushtable.io.urls import Source, is_url
from hushtable.report.signature import check_signature, file_digest, read_report


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
        if name not in here or file_digest(here[name]) != digest:
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
