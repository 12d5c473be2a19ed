#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""npm_packages.py OUT PLATFORM=STAGE…: writes the npm packages into OUT: `tidings`, and one for each platform whose installation is in STAGE.

A stage is a folder into which `cmake --install --strip` has installed. The package `tidings` names the packages of all platforms as optional dependencies:
npm installs those that fit the machine. No package has install scripts.
"""
import json
import os
import shutil
import sys
import tempfile

from archive import HERE, SOURCE, version, write_tgz

PLATFORMS = {f"linux-{cpu}-{libc}": {"os": ["linux"], "cpu": [cpu], "libc": ["glibc" if libc == "gnu" else libc]}
             for cpu in ("x64", "arm64") for libc in ("gnu", "musl")}
# The files of an installation that a user of agents needs; hostsim, headers and archives are for those who write hosts.
WANTED = ("bin/tidings", "bin/tidings-top", "lib/libtidings-hostkit.so.1", "lib/tidings/tidings.so", "lib/tidings/tidings-postgres.so",
          "libexec/tidings/tidings-hostkit-probe", "lib/tidings/node")
# A build on a machine without ncurses or libpq does not have these.
OPTIONAL = ("bin/tidings-top", "lib/tidings/tidings-postgres.so")

# With LMDB, jansson, tomlc17 and tables of Unicode in the programs: licenses/ has the texts.
LICENCE = "MIT AND OLDAP-2.8 AND Unicode-DFS-2016"


def manifest(name, **more):
    return {"name": name, "version": version(), "description": "Notifications for the conversation of an LLM agent", "license": "MIT", "engines": {"node": ">=16"}, **more}


def copy(source, target):
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.isdir(source):
        shutil.copytree(source, target)
    else:
        shutil.copy(source, target)  # links are followed: npm unpacks none


def licences(folder):
    copy(os.path.join(SOURCE, "LICENSE"), f"{folder}/LICENSE")
    copy(os.path.join(HERE, "licenses"), f"{folder}/licenses")


def finish(folder, package, out):
    with open(f"{folder}/package.json", "w", encoding="utf-8") as file:
        json.dump(package, file, indent=2)
        file.write("\n")
    path = os.path.join(out, f"{package['name'].replace('@', '').replace('/', '-')}-{version()}.tgz")
    write_tgz(path, folder, "package")
    print(path)


def platform_package(platform, stage, out):
    with tempfile.TemporaryDirectory() as folder:
        for name in WANTED:
            if name in OPTIONAL and not os.path.exists(os.path.join(stage, name)):
                continue
            copy(os.path.join(stage, name), os.path.join(folder, name))
        licences(folder)
        with open(f"{folder}/README.md", "w", encoding="utf-8") as file:
            file.write(f"The programs of [tidings](https://www.npmjs.com/package/tidings) for {platform}.\nInstall `tidings`, not this package.\n")
        finish(folder, manifest(f"@tidings/{platform}", **{**PLATFORMS[platform], "license": LICENCE}), out)


def host_exports():
    """Returns the exports of the module for hosts, which a project may import."""
    with open(f"{SOURCE}/bindings/node/package.json", encoding="utf-8") as file:
        return json.load(file)["exports"]


def main_package(stage, out):
    pages = sorted(name for name in os.listdir(f"{stage}/share/man/man1") if name.startswith("tidings"))
    with tempfile.TemporaryDirectory() as folder:
        copy(f"{HERE}/npm/tidings.sh", f"{folder}/bin/tidings")
        copy(f"{HERE}/npm/README.md", f"{folder}/README.md")
        copy(f"{SOURCE}/bindings/node/host", f"{folder}/host")
        copy(f"{SOURCE}/CHANGELOG.md", f"{folder}/CHANGELOG.md")
        copy(f"{SOURCE}/LICENSE", f"{folder}/LICENSE")
        copy(f"{SOURCE}/abi/schema/config.schema.json", f"{folder}/schema/config.schema.json")  # for editors
        for page in pages:
            copy(f"{stage}/share/man/man1/{page}", f"{folder}/man/{page}")
        finish(folder, manifest("tidings", exports=host_exports(), bin={"tidings": "bin/tidings"}, man=[f"man/{page}" for page in pages], os=["linux"],
                                optionalDependencies={f"@tidings/{platform}": version() for platform in PLATFORMS}), out)


def main(out, *stages):
    os.makedirs(out, exist_ok=True)
    given = dict(stage.split("=", 1) for stage in stages)
    for platform, stage in sorted(given.items()):
        platform_package(platform, stage, out)
    main_package(sorted(given.values())[0], out)


if __name__ == "__main__":
    main(*sys.argv[1:])
