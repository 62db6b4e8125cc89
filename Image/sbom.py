#!/usr/bin/env python3
"""Writes what an image is made of as an SPDX 2.3 document.

    Image/sbom.py PACKAGES NAME VERSION

PACKAGES is a list of Debian packages: name, version and architecture on each line. The times and identifiers are made of the content, so that the same image has the same document.
"""

import datetime
import hashlib
import json
import os
import re
import subprocess
import sys


def package(identifier, name, version, supplier, reference=None):
    entry = {
        "SPDXID": f"SPDXRef-{re.sub('[^A-Za-z0-9.-]', '-', identifier)}",
        "name": name,
        "versionInfo": version,
        "supplier": supplier,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
    }
    if reference:
        entry["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": reference}]
    return entry


def main():
    path, name, version = sys.argv[1:]
    with open(path) as file:
        lines = file.read()
    swift = subprocess.run(["swift", "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
    swift = re.search(r"Swift version (\S+)", swift)[1]
    packages = [package("image", name, version, "Organization: Parlor"), package("swift-runtime", "swift-runtime", swift, "Organization: Swift.org")]
    for line in lines.splitlines():
        debian, number, architecture = line.split()
        # As the specification of package URLs has it.
        escaped = number.replace("+", "%2B").replace(":", "%3A")
        reference = f"pkg:deb/debian/{debian}@{escaped}?arch={architecture}&distro=bookworm"
        packages.append(package(f"deb-{debian}-{architecture}", debian, number, "Organization: Debian", reference))
    root = packages[0]["SPDXID"]
    created = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": name,
        "documentNamespace": f"urn:parlor:{name}:{hashlib.sha256((lines + version + swift).encode()).hexdigest()[:32]}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: Image/sbom.py"]},
        "packages": packages,
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": root},
            *({"spdxElementId": root, "relationshipType": "CONTAINS", "relatedSpdxElement": entry["SPDXID"]} for entry in packages[1:]),
        ],
    }
    json.dump(document, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
