#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""deb_packages.py OUT ARCHITECTURE=STAGE…: writes the Debian packages into OUT. A stage is a folder into which `cmake --install --strip` has installed,
below the folder usr.

Each file of the stage is in exactly one package. Dependencies come from dpkg-shlibdeps. Needs dpkg-dev.
"""
import email.utils
import fnmatch
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile

from archive import HERE, SOURCE, digest, epoch, files_below, version

REVISION = "1~upstream1"  # older than what Debian itself would make
MAINTAINER = "tidings authors <maintainers@tidings.invalid>"
DEB = os.path.join(HERE, "deb")
HOSTSIM = ("usr/bin/hostsim", "usr/share/man/man1/hostsim*", "*/hostsim-clock.so", "*/completions/hostsim", "*/_hostsim", "*/hostsim.fish")
# Each package with the patterns of its files. A file belongs to the first package that matches; a file that matches a pattern of DROPPED is in no
# package.
FILES = {
    "libtidings-hostkit-dev": ("usr/include/*", "*.a", "*.pc", "*/libtidings-hostkit.so", "usr/lib/*/cmake/*", "usr/lib/cmake/*", "usr/share/tidings/schema/[!c]*", *HOSTSIM),
    "libtidings-hostkit1": ("*/libtidings-hostkit.so.*", "*/tidings-hostkit-probe"),
    "tidings-postgres": ("*/tidings-postgres.so",),
    "tidings-listen": ("usr/bin/tidings-listen", "usr/share/systemd/user/tidings-listen.*", "usr/share/man/man1/tidings-listen.1"),
    "tidings-subscribe": ("usr/bin/tidings-subscribe", "usr/share/man/man1/tidings-subscribe.1"),
    "tidings-top": ("usr/bin/tidings-top", "usr/share/man/man1/tidings-top.1"),
    "tidings": ("*",),
}
DROPPED = ("usr/share/doc/*",)
# This package is made only if its library is there for the machine. Otherwise the stage lacks this file.
PROOF = {package: f"usr/bin/{package}" for package in ("tidings-listen", "tidings-subscribe", "tidings-top")}


def run(*command, cwd=None):
    return subprocess.run(command, check=True, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True).stdout


def owner(name, packages):
    return next(package for package, patterns in FILES.items() if package in packages and any(fnmatch.fnmatch(name, pattern) for pattern in patterns))


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(text.encode())
    os.chmod(path, mode)


def compressed(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as file:
        file.write(text)


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def place(stage, trees):
    for name in files_below(stage):
        if any(fnmatch.fnmatch(name, pattern) for pattern in DROPPED):
            continue
        source, target = os.path.join(stage, name), os.path.join(trees[owner(name, trees)], name)
        if "/man/" in name:
            with open(source, "rb") as file:
                compressed(f"{target}.gz", file.read())
            continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)
        if not os.path.islink(target):
            program = "/bin/" in name or name.endswith("-probe")
            os.chmod(target, 0o755 if program else 0o644)


def strip_archives(tree, triple):
    strip = f"{triple}-strip" if shutil.which(f"{triple}-strip") else "strip"
    for name in files_below(tree):
        if name.endswith(".a"):
            run(strip, "--strip-debug", "--remove-section=.comment", "--remove-section=.note", "--enable-deterministic-archives", os.path.join(tree, name))


def documents(tree, package):
    folder = f"{tree}/usr/share/doc/{package}"
    with open(f"{DEB}/copyright", encoding="utf-8") as file:
        write(f"{folder}/copyright", file.read())
    with open(f"{SOURCE}/CHANGELOG.md", "rb") as file:
        compressed(f"{folder}/changelog.gz", file.read())
    compressed(f"{folder}/changelog.Debian.gz", (f"tidings ({version()}-{REVISION}) unstable; urgency=medium\n\n  * Version {version()}, see changelog.gz.\n\n"
                                                 f" -- {MAINTAINER}  {email.utils.formatdate(epoch())}\n").encode())
    overrides = f"{DEB}/{package}.lintian-overrides"
    if os.path.exists(overrides):
        with open(overrides, encoding="utf-8") as file:
            write(f"{tree}/usr/share/lintian/overrides/{package}", file.read())
    if package == "libtidings-hostkit-dev":
        for name in ("docs/examples/host.c", "docs/examples/host_bare.c"):
            shutil.copy(os.path.join(SOURCE, name), _made(f"{folder}/examples"))
        shutil.copy(f"{SOURCE}/abi/STABILITY.md", folder)


def _made(folder):
    os.makedirs(folder, exist_ok=True)
    return folder


def depends(tree, library_folder, work):
    """Returns the dependencies of a package's ELF files, as dpkg-shlibdeps says them."""
    programs = [os.path.join(tree, name) for name in files_below(tree) if not os.path.islink(os.path.join(tree, name)) and is_elf(os.path.join(tree, name))]
    if not programs:
        return []
    said = run("dpkg-shlibdeps", "-O", "--warnings=1", f"-l{library_folder}", "-Ldebian/shlibs.local", *(f"-e{path}" for path in programs), cwd=work)
    return [word.strip() for word in said.strip().split("=", 1)[1].split(",")]


def control(template, values):
    text = re.sub(r"\$\{([a-z]+)\}", lambda match: values[match[1]], template)
    return re.sub(r"^[A-Z][A-Za-z-]*: *\n", "", text, flags=re.MULTILINE)


def settle(tree):
    """Keeps the permissions and times of the checkout and of this process out of a package."""
    for folder, _, names in os.walk(tree, topdown=False):
        os.chmod(folder, 0o755)
        for name in names:
            path = os.path.join(folder, name)
            if not os.path.islink(path) and "/usr/share/" in path:
                os.chmod(path, 0o644)
            os.utime(path, (epoch(), epoch()), follow_symlinks=False)
        os.utime(folder, (epoch(), epoch()))


def finish(package, tree, values, out):
    size = sum((os.lstat(os.path.join(tree, name)).st_size + 1023) // 1024 for name in files_below(tree))
    with open(f"{DEB}/{package}.control", encoding="utf-8") as file:
        text = control(file.read(), values)
    shipped = [name for name in files_below(tree) if not name.startswith("DEBIAN/")]
    sums = "".join(f"{digest(os.path.join(tree, name), 'md5')}  {name}\n" for name in shipped if not os.path.islink(os.path.join(tree, name)))
    head, tail = text.split("Description:", 1)
    write(f"{tree}/DEBIAN/control", f"Package: {package}\nSource: tidings\nVersion: {version()}-{REVISION}\nArchitecture: {values['arch']}\nMaintainer: {MAINTAINER}\n"
          f"Installed-Size: {size}\n{head}Description:{tail}")
    write(f"{tree}/DEBIAN/md5sums", sums)
    if package == "libtidings-hostkit1":
        write(f"{tree}/DEBIAN/shlibs", f"libtidings-hostkit 1 libtidings-hostkit1 (>= {version()})\n")
        write(f"{tree}/DEBIAN/triggers", "activate-noawait ldconfig\n")
    path = os.path.join(out, f"{package}_{version()}-{REVISION}_{values['arch']}.deb")
    settle(tree)
    compression = os.environ.get("TIDINGS_DEB_COMPRESSION", "-Zxz")
    run("dpkg-deb", "--root-owner-group", compression, "--build", tree, path)
    print(path)


def make(arch, stage, out):
    triple = run("dpkg-architecture", f"-a{arch}", "-qDEB_HOST_MULTIARCH").strip()
    with tempfile.TemporaryDirectory() as work:
        trees = {package: f"{work}/{package}" for package in FILES if package not in PROOF or os.path.exists(os.path.join(stage, PROOF[package]))}
        for tree in trees.values():
            os.makedirs(f"{tree}/DEBIAN")
        place(stage, trees)
        write(f"{work}/debian/control", "Source: tidings\n\n" + "".join(f"Package: {package}\nArchitecture: any\n\n" for package in FILES))
        write(f"{work}/debian/shlibs.local", f"libtidings-hostkit 1 libtidings-hostkit1 (>= {version()})\n")
        libraries = os.path.dirname(next(os.path.join(trees["libtidings-hostkit1"], name) for name in files_below(trees["libtidings-hostkit1"]) if name.endswith(".so.1")))
        strip_archives(trees["libtidings-hostkit-dev"], triple)
        for package, tree in trees.items():
            documents(tree, package)
            values = {"arch": arch, "version": f"{version()}-{REVISION}", "shlibs": ", ".join(depends(tree, libraries, work))}
            finish(package, tree, values, out)


def main(out, *stages):
    os.makedirs(out, exist_ok=True)
    for stage in stages:
        arch, folder = stage.split("=", 1)
        make(arch, folder, out)


if __name__ == "__main__":
    main(*sys.argv[1:])
