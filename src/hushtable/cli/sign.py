"""``hushtable sign``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hushtable.cli.options import AsJson
from hushtable.cli.output import Console, deliver, put
from hushtable.errors import UsageError


def sign(
    report: Annotated[Path | None, typer.Argument(metavar="EVIDENCE.json", help="JSON file of a report.")] = None,
    key: Annotated[
        Path, typer.Option("--key", metavar="FILE", help="Your private signing key.", show_default=False)
    ] = Path("signing.key"),
    new: Annotated[bool, typer.Option("--new-key", help="Create a new key in the file that --key names.")] = False,
    name: Annotated[
        str, typer.Option("--name", help="Name of the signer. Defaults to the signer that the report names.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Sign the evidence of a release with your own key (Ed25519).

    Writes EVIDENCE.json.sig next to the report. 'hushtable verify --evidence EVIDENCE.json' checks it. Give your key's
    fingerprint to those who check the signature, and the key itself to nobody.
    """
    from hushtable.report.signature import new_key, sign_report, signature_path

    if report is None and not new:
        raise UsageError("No file to sign.", code="no-report", hint="Name the JSON file of a report, or add --new-key.")
    made = new_key(key) if new else None
    found: dict[str, object] = {"key": key, "fingerprint": made}
    if report is not None:
        signature = sign_report(report, key, name)
        found = {
            "key": key,
            "fingerprint": signature.fingerprint,
            "file": signature_path(report),
            "signer": signature.signer,
            "signed": signature.signed,
        }

    def text(to: Console) -> None:
        if made is not None:
            put(to, f"New key written to {key}. Its fingerprint: {made}", wrap=False)
        if report is not None:
            put(to, f"Signed: {found['file']}", wrap=False)
            put(to, f"Fingerprint of the key: {found['fingerprint']}", wrap=False)

    deliver(found, as_json, text)
