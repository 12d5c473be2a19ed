# SPDX-License-Identifier: MIT
"""product.py: which sources the figures are of."""
import hashlib
import os
import subprocess

FOLDERS = ("abi", "common", "plugin", "hostkit", "command", "agents", "cli", "hostsim", "vendor", "cmake", "CMakeLists.txt")


class Unknown(Exception):
    """The sources are no commit."""


def git(source, *words):
    done = subprocess.run(["git", "-C", source, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise Unknown(f"git {words[0]} failed in {source}: {done.stderr.strip()}")
    return done.stdout


def of(source):
    """{"tree", "commit", "date"} of the product's folders. They must be as committed: other figures could never be told apart."""
    changed = git(source, "status", "--porcelain", "--", *FOLDERS)
    if changed:
        raise Unknown("the product is not as it was committed; commit or stash these first:\n" + changed.rstrip())
    tree = hashlib.sha256(git(source, "ls-tree", "HEAD", *FOLDERS).encode()).hexdigest()[:12]
    commit, date = git(source, "log", "-1", "--format=%h %cs", "--abbrev=10", "--", *FOLDERS).split()
    return {"tree": tree, "commit": commit, "date": date}


def fingerprint(paths):
    """Returns a digest of the programs that run: if another build replaces one, the figures would be of both."""
    digest = hashlib.sha256()
    for path in paths:
        if os.path.isfile(path):
            with open(path, "rb") as file:
                digest.update(file.read())
    return digest.hexdigest()
