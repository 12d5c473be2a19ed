# SPDX-License-Identifier: MIT
"""product.py: identifies the sources of the figures."""
import functools
import hashlib
import os
import re
import subprocess

OF_ALL_PARTS = ("abi", "common", "cmake", "CMakeLists.txt")
FOLDERS = (*OF_ALL_PARTS, "plugin", "hostkit", "command", "agents", "cli", "hostsim", "listen", "mcp", "recipes", "subscribe", "vendor")

LITERAL_OR_COMMENT = re.compile(r"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|/\*.*?\*/|//[^\n]*""", re.DOTALL)


class Unknown(Exception):
    """Raised if the sources are not in a commit."""


def git(source, *words):
    done = subprocess.run(["git", "-C", source, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise Unknown(f"git {words[0]} failed in {source}: {done.stderr.strip()}")
    return done.stdout


def code_of(text):
    """Returns C as a compiler reads it: without comments and empty lines."""
    code = LITERAL_OR_COMMENT.sub(lambda found: found[1] or "", text)
    return "\n".join(line.rstrip() for line in code.splitlines() if line.strip())


def digest_of(source, folders):
    """Returns a digest of folders, which are as they were committed. Comments do not count."""
    digest = hashlib.sha256()
    for entry in git(source, "ls-tree", "-rz", "HEAD", *folders).split("\0")[:-1]:
        blob, path = entry.split("\t", 1)
        if path.endswith((".c", ".h")):
            with open(os.path.join(source, path), encoding="utf-8") as file:
                blob = code_of(file.read())
        digest.update(f"{path}\0{blob}\0".encode())
    return digest.hexdigest()[:12]


def of(source):
    """Returns {"tree", "commit", "date"} of the product's folders. They must be committed, because the figures of other sources could not be
    distinguished."""
    changed = git(source, "status", "--porcelain", "--", *FOLDERS)
    if changed:
        raise Unknown("the product is not as it was committed; commit or stash these first:\n" + changed.rstrip())
    commit, date = git(source, "log", "-1", "--format=%h %cs", "--abbrev=10", "--", *FOLDERS).split()
    return {"tree": digest_of(source, FOLDERS), "commit": commit, "date": date}


def code_of_part(source, part):
    """Returns a digest of the code that a part tests. Its figures hold for all products with the same."""
    return digest_of(source, (*OF_ALL_PARTS, *part["code"]) if "code" in part else FOLDERS)


def ninja(build, *words):
    return subprocess.run(["ninja", "-C", build, "--quiet", "-t", *words], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()


@functools.cache
def sources_of(build):
    """Returns {object: [sources and headers that it was compiled from]} of a build."""
    sources = {}
    for line in ninja(build, "deps"):
        if line and not line.startswith(" "):
            of_object = sources.setdefault(line.split(":")[0], [])
        elif line:
            of_object.append(os.path.join(build, line.strip()))
    return sources


def folders_in(source, program):
    """Returns the product's folders that a program was made of, by the notes of its build."""
    build = os.path.dirname(program)
    while build != "/" and not os.path.exists(os.path.join(build, "build.ninja")):
        build = os.path.dirname(build)
    if build == "/":
        return set()
    sources = sources_of(build)
    paths = {path for name in ninja(build, "inputs", os.path.relpath(program, build)) for path in sources.get(name, [])}
    return {os.path.relpath(path, source).split("/")[0] for path in paths} & set(FOLDERS)


def fingerprint(paths):
    """Returns a digest of the programs, to notice if another build replaces one."""
    digest = hashlib.sha256()
    for path in paths:
        if os.path.isfile(path):
            with open(path, "rb") as file:
                digest.update(file.read())
    return digest.hexdigest()
