#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sbom.py libraries: prints, as JSON, the versions of the libraries whose headers are in /usr/include.
sbom.py write OUT LIBRARIES FILE…: writes an SPDX 2.3 document, in JSON, of the package files into OUT; LIBRARIES is what the first form printed.
"""
import datetime
import hashlib
import json
import os
import re
import sys

from archive import HERE, digest, epoch, version

NOWHERE = "NOASSERTION"
# Library: header, the macros of its version, licence, home, what of it is in a package.
LIBRARIES = {
    "jansson": ("jansson.h", ("JANSSON_MAJOR_VERSION", "JANSSON_MINOR_VERSION", "JANSSON_MICRO_VERSION"), "MIT", "https://github.com/akheron/jansson",
                "Copyright (c) 2009-2020 Petri Lehtinen"),
    "lmdb": ("lmdb.h", ("MDB_VERSION_MAJOR", "MDB_VERSION_MINOR", "MDB_VERSION_PATCH"), "OLDAP-2.8", "https://www.symas.com/lmdb", "Copyright 2011-2019 Howard Chu, Symas Corp."),
    "tomlplusplus": ("toml++/impl/version.h", ("TOML_LIB_MAJOR", "TOML_LIB_MINOR", "TOML_LIB_PATCH"), "MIT", "https://github.com/marzer/tomlplusplus",
                     "Copyright (c) Mark Gillard"),
}


def libraries(include="/usr/include"):
    found = {}
    for name, (header, macros, *_) in LIBRARIES.items():
        with open(os.path.join(include, header), encoding="utf-8") as file:
            text = file.read()
        found[name] = ".".join(re.search(rf"^\s*#\s*define\s+{macro}\s+(\d+)", text, re.MULTILINE)[1] for macro in macros)
    return found


def linked_in(file):
    """The libraries that are in a package file. Debian's packages take LMDB and jansson from Debian."""
    name = os.path.basename(file)
    if name.endswith(".tgz"):
        return list(LIBRARIES) if "-linux-" in name else []
    return ["tomlplusplus"] if name.startswith("tidings_") else []


def identifier(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def library_package(name, number):
    _, _, licence, home, copyright_text = LIBRARIES[name]
    return {"SPDXID": identifier(name), "name": name, "versionInfo": number, "downloadLocation": home, "filesAnalyzed": False, "licenseConcluded": licence,
            "licenseDeclared": licence, "copyrightText": copyright_text}


def file_package(file):
    name = os.path.basename(file)
    unicode = name.endswith(".deb") or "-linux-" in name
    licence = "MIT AND Unicode-DFS-2016" if unicode else "MIT"
    return {"SPDXID": identifier(name), "name": name, "packageFileName": name, "versionInfo": version(), "downloadLocation": NOWHERE, "filesAnalyzed": False,
            "supplier": "Organization: tidings authors", "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "Copyright (c) 2026 the tidings authors",
            "checksums": [{"algorithm": "SHA256", "checksumValue": digest(file)}]}


def document(known, files):
    root = "SPDXRef-DOCUMENT"
    used = sorted({name for file in files for name in linked_in(file)})
    relations = [{"spdxElementId": root, "relationshipType": "DESCRIBES", "relatedSpdxElement": identifier(os.path.basename(file))} for file in files]
    for file in files:
        relations += [{"spdxElementId": identifier(os.path.basename(file)), "relationshipType": "STATIC_LINK", "relatedSpdxElement": identifier(name)}
                      for name in linked_in(file)]
    # The same files have the same name, and no others.
    name = "".join(digest(file) for file in files)
    space = f"https://spdx.org/spdxdocs/tidings-{version()}-{hashlib.sha256(name.encode()).hexdigest()[:32]}"
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": root, "name": f"tidings-{version()}", "documentNamespace": space,
            "creationInfo": {"created": datetime.datetime.fromtimestamp(epoch(), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                             "creators": ["Organization: tidings authors", f"Tool: {os.path.basename(HERE)}/sbom.py-{version()}"]},
            "packages": [file_package(file) for file in files] + [library_package(name, known[name]) for name in used],
            "relationships": relations}


def main(verb, *arguments):
    if verb == "libraries":
        print(json.dumps(libraries()))
        return
    out, known, *files = arguments
    with open(known, encoding="utf-8") as file:
        made = document(json.load(file), sorted(files, key=os.path.basename))
    with open(out, "w", encoding="utf-8") as file:
        json.dump(made, file, indent=2)
        file.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
