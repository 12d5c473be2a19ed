# SPDX-License-Identifier: MIT
"""product.py: identifies the sources of the figures."""
import hashlib
import os
import subprocess

FOLDERS = ("abi", "common", "plugin", "hostkit", "command", "agents", "cli", "hostsim", "listen", "mcp", "recipes", "subscribe", "vendor", "cmake", "CMakeLists.txt")


class Unknown(Exception):
    """Raised if the sources are not in a commit."""


def git(source, *words):
    done = subprocess.run(["git", "-C", source, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise Unknown(f"git {words[0]} failed in {source}: {done.stderr.strip()}")
    return done.stdout


def of(source):
    """Returns {"tree", "commit", "date"} of the product's folders. They must be committed, because the figures of other sources could not be
    distinguished."""
    changed = git(source, "status", "--porcelain", "--", *FOLDERS)
    if changed:
        raise Unknown("the product is not as it was committed; commit or stash these first:\n" + changed.rstrip())
    tree = hashlib.sha256(git(source, "ls-tree", "HEAD", *FOLDERS).encode()).hexdigest()[:12]
    commit, date = git(source, "log", "-1", "--format=%h %cs", "--abbrev=10", "--", *FOLDERS).split()
    return {"tree": tree, "commit": commit, "date": date}


def fingerprint(paths):
    """Returns a digest of the programs, to notice if another build replaces one."""
    digest = hashlib.sha256()
    for path in paths:
        if os.path.isfile(path):
            with open(path, "rb") as file:
                digest.update(file.read())
    return digest.hexdigest()
