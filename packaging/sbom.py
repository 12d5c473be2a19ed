#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sbom.py libraries: prints, as JSON, the versions of the libraries whose headers are in /usr/include.
sbom.py write OUT LIBRARIES FILE…: writes an SPDX 2.3 document, in JSON, of the package files and of each file in them into OUT; LIBRARIES is what the first
form printed.
"""
import datetime
import hashlib
import io
import json
import os
import re
import sys
import tarfile

from archive import HERE, SOURCE, digest, epoch, version

NOWHERE = "NOASSERTION"
# Library: header, in /usr/include if it has no path of its own, the macros of its version, licence, home, copyright.
LIBRARIES = {
    "jansson": ("jansson.h", ("JANSSON_MAJOR_VERSION", "JANSSON_MINOR_VERSION", "JANSSON_MICRO_VERSION"), "MIT", "https://github.com/akheron/jansson",
                "Copyright (c) 2009-2020 Petri Lehtinen"),
    "lmdb": ("lmdb.h", ("MDB_VERSION_MAJOR", "MDB_VERSION_MINOR", "MDB_VERSION_PATCH"), "OLDAP-2.8", "https://www.symas.com/lmdb", "Copyright 2011-2019 Howard Chu, Symas Corp."),
    "tomlc17": (os.path.join(SOURCE, "vendor/tomlc17/tomlc17.h"), ("TOMLC17_RELEASE_AFTER",), "MIT", "https://github.com/cktan/tomlc17", "Copyright (c) 2024-2026, CK Tan"),
}


def libraries(include="/usr/include"):
    found = {}
    for name, (header, macros, *_) in LIBRARIES.items():
        with open(os.path.join(include, header), encoding="utf-8") as file:
            text = file.read()
        found[name] = ".".join(re.search(rf'^\s*#\s*define\s+{macro}\s+"?(\d+)', text, re.MULTILINE)[1] for macro in macros)
    return found


def linked_in(file):
    """The libraries that are in a package file. Debian's packages take LMDB and jansson from Debian."""
    name = os.path.basename(file)
    if name.endswith(".tgz"):
        return list(LIBRARIES) if "-linux-" in name else []
    return ["tomlc17"] if name.startswith("tidings_") else []


def identifier(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def library_package(name, number):
    _, _, licence, home, copyright_text = LIBRARIES[name]
    return {"SPDXID": identifier(name), "name": name, "versionInfo": number, "downloadLocation": home, "filesAnalyzed": False, "licenseConcluded": licence,
            "licenseDeclared": licence, "copyrightText": copyright_text}


def licence_of(file):
    """Returns the licence of all that is in the file, by the libraries that are linked into it."""
    name = os.path.basename(file)
    unicode = ["Unicode-DFS-2016"] if name.endswith(".deb") or "-linux-" in name else []
    return " AND ".join(["MIT", *sorted({LIBRARIES[library][2] for library in linked_in(file)} - {"MIT"}), *unicode])


def contents(file):
    """Name and bytes of each regular file of an npm package, or of a Debian package, which is an ar archive."""
    with open(file, "rb") as raw:
        data = raw.read()
    if file.endswith(".deb"):
        at = 8
        while not data[at:].startswith(b"data.tar"):
            size = int(data[at + 48:at + 58])
            at += 60 + size + size % 2
        data = data[at + 60:at + 60 + int(data[at + 48:at + 58])]
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return sorted((entry.name.removeprefix("./"), tar.extractfile(entry).read()) for entry in tar if entry.isfile())


def listed_files(file):
    name = os.path.basename(file)
    return [{"SPDXID": identifier(f"{name}-{path}-{hashlib.sha1(data).hexdigest()[:8]}"), "fileName": f"./{path}", "licenseConcluded": NOWHERE, "copyrightText": NOWHERE,
             "checksums": [{"algorithm": kind.upper(), "checksumValue": hashlib.new(kind, data).hexdigest()} for kind in ("sha1", "sha256")]}
            for path, data in contents(file)]


def file_package(file, listed):
    name, licence = os.path.basename(file), licence_of(file)
    sums = "".join(sorted(one["checksums"][0]["checksumValue"] for one in listed))
    return {"SPDXID": identifier(name), "name": name, "packageFileName": name, "versionInfo": version(), "downloadLocation": NOWHERE, "filesAnalyzed": True,
            "packageVerificationCode": {"packageVerificationCodeValue": hashlib.sha1(sums.encode()).hexdigest()},
            "supplier": "Organization: tidings authors", "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "Copyright (c) 2026 the tidings authors",
            "checksums": [{"algorithm": "SHA256", "checksumValue": digest(file)}]}


def document(known, files):
    root = "SPDXRef-DOCUMENT"
    used = sorted({name for file in files for name in linked_in(file)})
    relations = [{"spdxElementId": root, "relationshipType": "DESCRIBES", "relatedSpdxElement": identifier(os.path.basename(file))} for file in files]
    for file in files:
        relations += [{"spdxElementId": identifier(os.path.basename(file)), "relationshipType": "STATIC_LINK", "relatedSpdxElement": identifier(name)}
                      for name in linked_in(file)]
    listed = {file: listed_files(file) for file in files}
    for file in files:
        relations += [{"spdxElementId": identifier(os.path.basename(file)), "relationshipType": "CONTAINS", "relatedSpdxElement": one["SPDXID"]} for one in listed[file]]
    # Only the same files get the same name.
    name = "".join(digest(file) for file in files)
    space = f"https://spdx.org/spdxdocs/tidings-{version()}-{hashlib.sha256(name.encode()).hexdigest()[:32]}"
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": root, "name": f"tidings-{version()}", "documentNamespace": space,
            "creationInfo": {"created": datetime.datetime.fromtimestamp(epoch(), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                             "creators": ["Organization: tidings authors", f"Tool: {os.path.basename(HERE)}/sbom.py-{version()}"]},
            "packages": [file_package(file, listed[file]) for file in files] + [library_package(name, known[name]) for name in used],
            "files": [one for file in files for one in listed[file]],
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
