#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests `tidings watch` in git work trees: files that git ignores are left out."""
import os
import shutil
import subprocess
import sys

from kit import Skip, main, until
from watcher import Watch, write


def git(place, *words, cwd=None):
    if not shutil.which("git"):
        raise Skip("git is not installed")
    identity = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *identity, *words], cwd=cwd or place.work, env=place.env, check=True, capture_output=True)


def test_ignored(place):
    """files that .gitignore names are left out, and their folders not watched; files that ! brings back, and tracked files, are reported"""
    git(place, "init")
    write(os.path.join(place.work, ".gitignore"), "*.o\n/build/\nnode_modules\n!keep.o\ntracked.log\n")
    for name in ("src/a.c", "src/a.o", "src/keep.o", "build/x/y/z", "node_modules/p/q/r", "tracked.log"):
        write(os.path.join(place.work, name), "x")
    git(place, "add", "-f", "tracked.log")
    watch = Watch(place)
    assert "watching 2 folders" in watch.text, watch.text
    for name in ("src/a.o", "build/x/y/z", "build/new", "node_modules/p/new", "node_modules/n/m"):
        write(os.path.join(place.work, name), "y", "a")
    watch.quiet()
    for name in ("src/a.c", "src/keep.o", "tracked.log"):
        write(os.path.join(place.work, name), "y", "a")
    watch.told(*(f"`{name}` was modified externally." for name in ("src/a.c", "src/keep.o", "tracked.log")))


def test_rules_change(place):
    """rules that are added while it watches take effect"""
    git(place, "init")
    watch = Watch(place)
    write(os.path.join(place.work, "a.log"), "x")
    watch.told("`a.log` was created externally.")
    write(os.path.join(place.work, ".gitignore"), "*.log\n")
    watch.told("`.gitignore` was created externally.")
    write(os.path.join(place.work, "b.log"), "x")
    write(os.path.join(place.work, "a.log"), "y", "a")
    watch.quiet()


def test_from_below(place):
    """the rules of the whole work tree apply to a folder in it"""
    git(place, "init")
    write(os.path.join(place.work, ".gitignore"), "*.o\n")
    write(os.path.join(place.work, ".git/info/exclude"), "secret\n")
    os.mkdir(os.path.join(place.work, "src"))
    watch = Watch(place, "src")
    write(os.path.join(place.work, "src/a.o"), "x")
    write(os.path.join(place.work, "src/secret"), "x")
    write(os.path.join(place.work, "src/a.c"), "x")
    watch.told("`src/a.c` was created externally.")


def test_nested(place):
    """a repository in a repository, and a submodule, have rules of their own"""
    library = os.path.join(place.dir, "library")
    os.mkdir(library)
    git(place, "init", cwd=library)
    write(os.path.join(library, ".gitignore"), "*.tmp\n")
    git(place, "add", ".", cwd=library)
    git(place, "commit", "-m", "x", cwd=library)
    git(place, "init")
    write(os.path.join(place.work, ".gitignore"), "*.o\n")
    git(place, "submodule", "add", library, "lib")
    os.mkdir(os.path.join(place.work, "inner"))
    git(place, "init", cwd=os.path.join(place.work, "inner"))
    watch = Watch(place)
    for name in ("lib/a.tmp", "a.o", "a.tmp", "lib/a.o", "inner/a.o", "inner/a.tmp"):
        write(os.path.join(place.work, name), "x")
    watch.told(*(f"`{name}` was created externally." for name in ("a.tmp", "lib/a.o", "inner/a.o", "inner/a.tmp")))
    assert "git" not in watch.text, watch.text


def test_many(place):
    """a checkout of hundreds of files, with ignored ones among them, is reported without the ignored ones"""
    git(place, "init")
    write(os.path.join(place.work, ".gitignore"), "*.o\n")
    git(place, "add", ".")
    git(place, "commit", "-m", "empty")
    git(place, "checkout", "-b", "full")
    for i in range(300):
        write(os.path.join(place.work, f"d{i % 7}/f{i}.c"), "x")
    git(place, "add", ".")
    git(place, "commit", "-m", "full")
    git(place, "checkout", "main")
    Watch(place)
    git(place, "checkout", "full")
    for i in range(300):
        write(os.path.join(place.work, f"d{i % 7}/f{i}.o"), "x")
    until(lambda: place.messages(), "the news")
    assert not [message for message in place.messages() if ".o`" in message or ".o," in message], place.messages()


def test_without_git(place):
    """without git the files are watched too, and the command says that git is missing"""
    git(place, "init")
    write(os.path.join(place.work, ".gitignore"), "*.o\n")
    bare = os.path.join(place.dir, "bin")
    os.mkdir(bare)
    place.env["PATH"] = bare
    os.mkdir(os.path.join(place.work, "src"))
    watch = Watch(place)
    assert "git is not installed" in watch.text, watch.text
    write(os.path.join(place.work, "src/a.o"), "x")
    watch.told("`src/a.o` was created externally.")


def test_environment(place):
    """variables such as GIT_DIR, which a hook of git sets, have no effect"""
    git(place, "init")
    write(os.path.join(place.work, ".gitignore"), "*.o\n")
    place.env.update(GIT_DIR=os.path.join(place.dir, "nowhere"), GIT_WORK_TREE=place.dir, GIT_INDEX_FILE="/nowhere")
    watch = Watch(place)
    write(os.path.join(place.work, "a.o"), "x")
    write(os.path.join(place.work, "a.c"), "x")
    watch.told("`a.c` was created externally.")


if __name__ == "__main__":
    sys.exit(main(globals()))
