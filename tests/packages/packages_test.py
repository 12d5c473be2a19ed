#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the packages of this build: their bytes, the needs of their programs, and their use in a folder of their own: they are installed, set up,
used and removed."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import jsonschema

SOURCE, BUILD = os.environ["TIDINGS_SOURCE_DIR"], os.environ["TIDINGS_BUILD_DIR"]
sys.path[:0] = [os.path.join(SOURCE, "packaging"), os.path.join(SOURCE, "tests", "agents")]
sys.dont_write_bytecode = True
import archive  # pylint: disable=wrong-import-position
import binaries  # pylint: disable=wrong-import-position
import tested  # pylint: disable=wrong-import-position

failures = 0
PLATFORM = {"x86_64": "linux-x64-gnu", "aarch64": "linux-arm64-gnu"}.get(os.uname().machine)


def check(holds, title, told=""):
    global failures  # pylint: disable=global-statement
    failures += not holds
    print(f"{'ok' if holds else 'not ok'} - {title}")
    if not holds:
        print("".join(f"# {line}\n" for line in str(told).splitlines()[-30:]), end="")


def skip(title, why):
    print(f"ok - {title} # SKIP {why}")
    return []


def run(*command, env=None, given="", cwd=None):
    done = subprocess.run(command, env=env, input=given, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600, check=False)
    return done.returncode, done.stdout


def as_another(stage, work):
    """Makes the same installation with the times of years ago and the private modes of another user."""
    copy = os.path.join(work, "stage")
    shutil.copytree(stage, copy, symlinks=True)
    for here, _, names in os.walk(copy):
        for name in names:
            path = os.path.join(here, name)
            if not os.path.islink(path):
                os.chmod(path, os.stat(path).st_mode & 0o700)
            os.utime(path, (1600000000, 1600000000), follow_symlinks=False)
    return copy


def made(work, script, name, stage):
    """Makes the packages twice, as two users; their bytes must be equal."""
    bytes_of = []
    for turn, umask, place, zone in (("one", "022", stage, "UTC"), ("two", "077", as_another(stage, work), "Asia/Kathmandu")):
        out = os.path.join(work, turn)
        code, told = run("/bin/sh", "-c", f'umask {umask} && exec "$@"', "sh", sys.executable, os.path.join(SOURCE, "packaging", script), out, f"{name}={place}",
                         env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000", "TIDINGS_DEB_COMPRESSION": "-Zgzip", "PYTHONDONTWRITEBYTECODE": "1", "TZ": zone})
        if code:
            check(False, f"{script} makes packages", told)
            return {}
        bytes_of.append({file: archive.digest(os.path.join(out, file)) for file in os.listdir(out)})
    check(len(bytes_of[0]) > 1 and bytes_of[0] == bytes_of[1], f"{script} makes the same bytes twice", bytes_of)
    return {file: os.path.join(work, "one", file) for file in bytes_of[0]}


def installation(work, prefix, destdir=""):
    code, told = run("cmake", "--install", BUILD, "--prefix", prefix, "--strip", env={**os.environ, "DESTDIR": destdir} if destdir else None)
    if code:
        check(False, "the build is installed", told)
    return code == 0


def again(condition):
    deadline = time.monotonic() + 60
    while not (holds := condition()) and time.monotonic() < deadline:
        pass
    return holds


def user(home, prefix):
    """Returns the environment of a newcomer, with only this installation and the system."""
    env = {"PATH": f"{prefix}/bin:{home}/bin:{os.path.dirname(shutil.which('node') or '/usr/bin/node')}:/usr/bin:/bin", "HOME": home, "LANG": "C.UTF-8",
           "XDG_STATE_HOME": f"{home}/state", "npm_config_cache": f"{home}/npm", "npm_config_update_notifier": "false"}
    os.makedirs(f"{home}/project")
    os.makedirs(f"{home}/bin")
    with open(f"{home}/bin/claude", "w", encoding="utf-8") as file:  # setup asks it only for its version
        file.write(f"#!/bin/sh\necho '{tested.says('claude')}'\n")
    os.chmod(f"{home}/bin/claude", 0o755)
    return env


def hook(env, event, **more):
    """Returns the command that Claude Code would call, from its settings."""
    with open(f"{env['HOME']}/.claude/settings.json", encoding="utf-8") as file:
        command = json.load(file)["hooks"][event][0]["hooks"][0]["command"]
    given = {"session_id": "s1", "transcript_path": f"{env['HOME']}/.claude/projects/x/s1.jsonl", "cwd": f"{env['HOME']}/project", "hook_event_name": event, **more}
    return (command, *run("/bin/sh", "-c", command, env=env, given=json.dumps(given), cwd=f"{env['HOME']}/project"))


def delivers(env, title):
    """Tests that a failed command reaches the next prompt after the two lines that the packages show. Returns the command of the hook."""
    code, told = run("tidings", "setup", "claude", env=env)
    check(code == 0, f"{title}: setup", told)
    # On a slow machine a hook gives up early, and the next one delivers.
    again(lambda: hook(env, "SessionStart", source="startup") and "s1" in run("tidings", "sessions", env=env)[1])
    run("tidings", "run", "--", "false", env=env, cwd=f"{env['HOME']}/project")
    prompts = []
    reached = again(lambda: prompts.append(hook(env, "UserPromptSubmit", prompt="hello")) or "failed with exit code 1" in prompts[-1][2])
    check(reached, f"{title}: a failed command reaches the next prompt", prompts[-1])
    return prompts[-1][0]


def test_npm(work, stage):
    if not shutil.which("npm"):
        return skip("the packages for npm", "there is no npm")
    packages = made(f"{work}/npm", "npm_packages.py", PLATFORM, stage)
    if not packages:
        return []
    prefix, env = f"{work}/prefix", user(f"{work}/npm-home", f"{work}/prefix")
    code, told = run("npm", "install", "-g", "--offline", "--no-audit", "--no-fund", "--prefix", prefix, *packages.values(), env=env)
    check(code == 0, "npm installs them without a network", told)
    folder = f"{prefix}/lib/node_modules/@tidings/{PLATFORM}"
    for path in binaries.elf_files(folder):
        check(not binaries.problems(path, None), f"npm: {os.path.relpath(path, folder)} needs what a system has", binaries.problems(path, None))
    check(binaries.problems(f"{folder}/bin/tidings", "2.2.5"), "npm: a limit of glibc 2.2.5 is noticed")
    check(all(os.path.exists(f"{folder}/licenses/{name}.txt") for name in ("lmdb", "jansson", "tomlc17", "unicode")), "npm: the licences are there")
    with open(f"{prefix}/lib/node_modules/tidings/schema/config.schema.json", encoding="utf-8") as file:
        check(json.load(file)["$id"].startswith("https://"), "npm: the schema of configurations is there for editors")
    for name in ("tidings", f"@tidings/{PLATFORM}"):
        with open(f"{prefix}/lib/node_modules/{name}/package.json", encoding="utf-8") as file:
            package = json.load(file)
        check("scripts" not in package and package["version"] == archive.version(), f"npm: {name} has no scripts, and the version of CMakeLists.txt", package)
    code, told = run("tidings", "--version", env=env)
    check(code == 0 and told == f"tidings {archive.version()}\n", "npm: the command starts", told)
    if os.path.exists(f"{BUILD}/tidings-postgres.so"):
        told = run("tidings", "store", "check", "--store", "postgresql://u@127.0.0.1:1/d?schema=s", env=env)[1]
        check("refused" in told and "libpq" not in told, "npm: a store in a database is looked for", told)
    command = delivers(env, "npm")
    check(f"{folder}/bin/tidings" in command, "npm: the hook names the installed program", command)
    code, told = run("npm", "uninstall", "-g", "--offline", "--prefix", prefix, "tidings", f"@tidings/{PLATFORM}", env=env)
    check(code == 0 and not os.path.exists(f"{folder}/bin/tidings"), "npm removes them", told)
    _, code, told = hook(env, "UserPromptSubmit", prompt="hello")
    check((code, told) == (0, "{}\n"), "npm: the agent goes on after that", told)
    _, told = run(f"{BUILD}/tidings", "doctor", env=env)
    check("has disappeared" in told and f"{folder}/bin/tidings" in told, "npm: doctor of another installation says what is left", told)
    return list(packages.values())


def test_deb(work, stage):
    if not shutil.which("dpkg-shlibdeps"):
        return skip("the Debian packages", "there is no dpkg-shlibdeps (dpkg-dev)")
    arch = run("dpkg", "--print-architecture")[1].strip()
    packages = made(f"{work}/deb", "deb_packages.py", arch, stage)
    if not packages:
        return []
    names = sorted(file.split("_", 1)[0] for file in packages)
    large = [name for name in ("tidings-listen", "tidings-postgres", "tidings-subscribe", "tidings-top") if name == "tidings-postgres" or os.path.exists(f"{stage}/usr/bin/{name}")]
    check(names == ["libtidings-hostkit-dev", "libtidings-hostkit1", "tidings", *large], "the Debian packages are there", names)
    if os.getuid():
        skip("the Debian packages are installed", "only root can install them, even in a folder")
        return list(packages.values())
    root = f"{work}/root"
    for folder in ("info", "updates", "triggers"):
        os.makedirs(f"{root}/var/lib/dpkg/{folder}")
    for file in ("status", "available"):
        open(f"{root}/var/lib/dpkg/{file}", "w", encoding="utf-8").close()
    dpkg = ("dpkg", f"--root={root}", "--force-depends", "--force-not-root", "--force-unsafe-io")
    code, told = run(*dpkg, "--install", *packages.values())
    check(code == 0, "dpkg installs them", told)
    for file in ("share/man/man1/tidings-run.1.gz", "share/man/man1/hostsim.1.gz", "share/bash-completion/completions/tidings", "share/zsh/site-functions/_tidings",
                 "share/fish/vendor_completions.d/tidings.fish", "share/doc/tidings/copyright", "share/doc/tidings/changelog.Debian.gz"):
        check(os.path.exists(f"{root}/usr/{file}"), f"deb: {file} is there")
    delivers(user(f"{work}/deb-home", f"{root}/usr"), "deb")
    for package, file in (("tidings", "config"), ("libtidings-hostkit-dev", "event")):
        code, told = run("dpkg-deb", "-c", *[path for name, path in packages.items() if name.startswith(f"{package}_")])
        check(code == 0 and f"share/tidings/schema/{file}.schema.json" in told, f"deb: {package} has the schema of {file}", told)
    code, told = run(*dpkg, "--purge", *names)
    left = [name for name in archive.files_below(root) if not name.startswith("var/lib/dpkg/")]
    check(code == 0 and not left, "deb: purging leaves nothing", f"{told}\n{left}")
    return list(packages.values())


def test_contents(work, files):
    """Checks that the list of contents fits SPDX's own schema, which is that of version 2.3, unchanged; that it has each file's sum; and that its relations name only its own elements."""
    if not files:
        return
    script, known, out = os.path.join(SOURCE, "packaging", "sbom.py"), f"{work}/libraries.json", f"{work}/tidings.spdx.json"
    env = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    with open(known, "w", encoding="utf-8") as file:
        code, told = subprocess.run([sys.executable, script, "libraries"], env=env, stdout=file, check=False).returncode, ""
    if code == 0:
        code, told = run(sys.executable, script, "write", out, known, *files, env=env)
    check(code == 0, "the list of contents is written", told)
    with open(os.path.join(os.path.dirname(__file__), "spdx-2.3.schema.json"), encoding="utf-8") as file:
        schema = jsonschema.Draft7Validator(json.load(file))
    with open(out, encoding="utf-8") as file:
        document = json.load(file)
    errors = [f"{list(error.path)}: {error.message}" for error in schema.iter_errors(document)]
    check(not errors, "the list of contents is SPDX 2.3", "\n".join(errors))
    document["packages"][0]["checksums"][0]["algorithm"] = "SUM"
    check(not schema.is_valid(document), "and its schema notices an unknown sum")
    elements = {element["SPDXID"] for element in document["packages"] + document["files"]} | {document["SPDXID"]}
    check(len(elements) == len(document["packages"]) + len(document["files"]) + 1, "each of its elements has an id of its own")
    programs = [package for package in document["packages"] if "-linux-" in package["name"]]
    check(programs and all(licence in package["licenseDeclared"] for package in programs for licence in ("OLDAP-2.8", "Unicode-DFS-2016")),
          "the licences of what is linked into the programs are named", [package["licenseDeclared"] for package in programs])
    named_files = {one["fileName"] for one in document["files"]}
    check({"./package/bin/tidings", "./package/licenses/tomlc17.txt"} <= named_files, "it lists the files of the packages", sorted(named_files)[:20])
    named = {relation[end] for relation in document["relationships"] for end in ("spdxElementId", "relatedSpdxElement")}
    check(named == elements, "its relations name what it has", named ^ elements)
    sums = {package.get("packageFileName"): package["checksums"][0]["checksumValue"] for package in document["packages"] if "checksums" in package}
    check(sums == {os.path.basename(path): archive.digest(path) for path in files}, "it has the sum of each file", sums)


# The file names of packages in docs/packages.md.
NAMED = re.compile(r"tidings[a-z0-9-]*[-_](\d+\.\d+\.\d+)")


def test_version():
    """Checks the version: CMakeLists.txt has it, programs and packages take it from there, and the file names in documents must match."""
    with open(os.path.join(SOURCE, "docs/packages.md"), encoding="utf-8") as file:
        versions = set(NAMED.findall(file.read()))
    check(versions == {archive.version()}, "docs/packages.md names the files of this version", versions)
    with open(os.path.join(SOURCE, "CHANGELOG.md"), encoding="utf-8") as file:
        newest = re.search(r"^## \[(\d[^]]*)\] - \d{4}-\d\d-\d\d$", file.read(), re.MULTILINE)
    check(newest and newest[1] == archive.version(), "CHANGELOG.md's newest section is of this version", newest)
    written = []
    for folder in ("abi", "agents", "cli", "cmake", "command", "common", "hostkit", "hostsim", "packaging", "plugin"):
        for path in archive.files_below(os.path.join(SOURCE, folder)):
            with open(os.path.join(SOURCE, folder, path), "rb") as file:
                if archive.version().encode() in file.read():
                    written.append(f"{folder}/{path}")
    check(not written, "no file of the product repeats the version", written)


def main():
    if not PLATFORM:
        print(f"there are no packages for {os.uname().machine}")
        return 77
    with tempfile.TemporaryDirectory() as work:
        test_version()
        files = []
        if installation(work, f"{work}/stage"):
            files += test_npm(work, f"{work}/stage")
        if installation(work, "/usr", f"{work}/deb-stage"):
            files += test_deb(work, f"{work}/deb-stage")
        test_contents(work, sorted(files))
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
