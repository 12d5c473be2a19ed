#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""binaries.py FOLDER [LIMIT]: prints the libraries and the versions of glibc's symbols that the ELF files below FOLDER need. Exit status 1 if a file needs a library that is neither the C
library's nor ours (tidings-top: or ncurses; tidings-postgres.so: or libpq), or a newer glibc than LIMIT (such as 2.31). Needs readelf, of any machine.
"""
import os
import re
import subprocess
import sys

C_LIBRARY = re.compile(r"(lib(c|m|dl|pthread|rt|anl)\.so\.\d+|ld-linux[-\w.]*\.so\.\d+|libc\.musl-\w+\.so\.1|libc\.so|libtidings-hostkit\.so\.1)$")
OTHERS = {("tidings-top", "libncursesw.so.6"), ("tidings-top", "libtinfo.so.6"), ("tidings-postgres.so", "libpq.so.5")}  # of ncurses, one of them has the other in it, or needs it


def read(*arguments):
    return subprocess.run(["readelf", "-W", *arguments], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def elf_files(folder):
    for here, _, names in os.walk(folder):
        for name in sorted(names):
            path = os.path.join(here, name)
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


def number(version):
    return tuple(int(part) for part in version.split("."))


def needs(path):
    """Libraries, and the newest version of glibc's symbols, or None."""
    libraries = re.findall(r"\(NEEDED\).*\[(.*)\]", read("-d", path))
    versions = re.findall(r"\bGLIBC_(\d+(?:\.\d+)+)", read("-V", path))
    return libraries, max(versions, key=number, default=None)


def problems(path, limit):
    libraries, newest = needs(path)
    found = [f"needs {library}" for library in libraries if not C_LIBRARY.match(library) and (os.path.basename(path), library) not in OTHERS]
    if limit and newest and number(newest) > number(limit):
        symbols = sorted(set(re.findall(rf"\S+@GLIBC_{re.escape(newest)}\b", read("--dyn-syms", path))))
        found.append(f"needs glibc {newest}, more than {limit}: {', '.join(symbols)}")
    return found


def main(folder, limit=None):
    count = bad = 0
    for path in elf_files(folder):
        count += 1
        found = problems(path, limit)
        bad += bool(found)
        libraries, newest = needs(path)
        print(f"{os.path.relpath(path, folder)}: {'; '.join(found) if found else 'glibc ' + newest if newest else ' '.join(libraries)}")
    return 1 if bad or not count else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
