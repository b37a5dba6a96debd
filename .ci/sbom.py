#!/usr/bin/env python3
"""Write the software bill of materials of hushtable: CycloneDX 1.6, JSON.

    .ci/sbom.py dist/hushtable-0.2.0-py3-none-any.whl > dist/hushtable-0.2.0.cdx.json

It lists what the wheel needs, and what each of its extras needs (scope "optional"), in the versions that are installed
where it runs: in `make dist`, those of constraints.txt. The same wheel and versions give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import uuid
import zipfile
from datetime import UTC, datetime
from email.message import Message
from email.parser import HeaderParser
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# other requirements of hushtable are tools, for its developers; gpu needs a card
NOT_SHIPPED = {"dev", "docs", "gpu"}


def wheel_metadata(wheel: Path) -> Message:
    """The METADATA file of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return HeaderParser().parsestr(archive.read(name).decode("utf-8"))


def code_digest(wheel: Path) -> str:
    """What ``hushtable._version.code_digest`` gives where the wheel is installed."""
    with zipfile.ZipFile(wheel) as archive:
        named = {
            name: hashlib.sha256(archive.read(name)).hexdigest()
            for name in archive.namelist()
            if name.startswith("hushtable/")
        }
    lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(named.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def needs(described: Message, extras: set[str]) -> list[Requirement]:
    """What a package needs here, with some of its extras."""
    wanted = [Requirement(text) for text in described.get_all("Requires-Dist", [])]
    chosen = extras | {""}
    return [
        want for want in wanted if want.marker is None or any(want.marker.evaluate({"extra": one}) for one in chosen)
    ]


def closure(first: list[Requirement]) -> dict[str, tuple[Message, set[str]]]:
    """All packages that some requirements lead to, with what each needs itself."""
    found: dict[str, tuple[Message, set[str]]] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = list(first)
    while waiting:
        want = waiting.pop()
        name = canonicalize_name(want.name)
        if (name, frozenset(want.extras)) in seen:
            continue
        seen.add((name, frozenset(want.extras)))
        try:
            described = metadata(name)
        except PackageNotFoundError:
            sys.exit(f"sbom: {name} is needed and not installed: run make dist, which installs everything.")
        further = needs(described, want.extras)
        found.setdefault(name, (described, set()))[1].update(canonicalize_name(one.name) for one in further)
        waiting += further
    return found


def licence(described: Message) -> list[dict[str, Any]]:
    """The licence that a package declares: an expression, or words."""
    if expression := described.get("License-Expression"):
        return [{"expression": expression}]
    classified = [
        line.rpartition(" :: ")[2] for line in described.get_all("Classifier", []) if line.startswith("License :: ")
    ]
    words = (described.get("License") or "").strip()
    # some put the whole text there
    names = classified or ([words] if words and "\n" not in words and len(words) < 80 else [])
    return [{"license": {"name": name}} for name in names]


def component(name: str, described: Message, **more: Any) -> dict[str, Any]:
    """A package as the format describes it."""
    version = described["Version"]
    purl = f"pkg:pypi/{name}@{version}"
    told = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl, **more}
    licences = licence(described)
    return {**told, "licenses": licences} if licences else told


def main() -> None:
    """Print the bill of materials of a wheel."""
    wheel = Path(sys.argv[1])
    own = wheel_metadata(wheel)
    extras = set(own.get_all("Provides-Extra", [])) - NOT_SHIPPED
    required = closure(needs(own, set()))
    packages = closure(needs(own, extras))
    content = hashlib.sha256(wheel.read_bytes()).hexdigest()
    product = component(
        "hushtable",
        own,
        hashes=[{"alg": "SHA-256", "content": content}],
        properties=[{"name": "hushtable:code_sha256", "value": code_digest(wheel)}],
    )
    listed = [
        component(name, described, scope="required" if name in required else "optional")
        for name, (described, _) in sorted(packages.items())
    ]
    refs = {one["name"]: one["bom-ref"] for one in [product, *listed]}
    leads = {"hushtable": {canonicalize_name(one.name) for one in needs(own, extras)}}
    leads |= {name: further for name, (_, further) in packages.items()}
    moment = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), UTC)
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"timestamp": moment.strftime("%Y-%m-%dT%H:%M:%SZ"), "component": product},
        "components": listed,
        "dependencies": [
            {"ref": refs[name], "dependsOn": sorted(refs[one] for one in leads[name])} for name in sorted(leads)
        ],
    }
    named = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(document, sort_keys=True))
    print(json.dumps({**document, "serialNumber": f"urn:uuid:{named}"}, indent=1))


if __name__ == "__main__":
    main()
