#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the command with failures of the store, the disk, stdout and the plugin, and the reports of `tidings doctor`."""
import json
import os
import shutil
import signal
import subprocess
import sys

from kit import DEADLINE_S, TIDINGS, TRICK, Skip, end, main


def doctor(place, code, **more):
    result = place.run("doctor", "--json", **more)
    assert result.code == code, result
    return {finding["topic"]: finding for finding in reversed(result.json)}


def test_busy(place):
    """if the store stays busy, push reports it and stores nothing, and queries still work"""
    place.ok("push", "-s", "s", "before")
    holder = place.hold()
    result = place.refused("push", "-s", "s", "during", says="TIDINGS_E_BUSY")
    assert "writer" in result.said, result
    assert place.messages() == ["before"]
    end(holder, signal.SIGKILL)
    place.ok("push", "-s", "s", "after")
    assert place.messages() == ["before", "after"]


def test_newer(place):
    """a store of a newer version is refused and not changed, and doctor names the remedy"""
    place.ok("push", "-s", "s", "x")
    place.trick("newer", place.store)
    before = open(os.path.join(place.store, "data.mdb"), "rb").read()
    for words in (["push", "-s", "s", "y"], ["pending", "-s", "s"], ["run", "-s", "s", "--", "true"], ["status", "-a"]):
        place.refused(*words, says=["TIDINGS_E_SCHEMA_NEWER", "newer"])
    finding = doctor(place, 1)["store"]
    assert finding["severity"] == "problem" and "TIDINGS_STORE" in finding["remedy"], finding
    assert open(os.path.join(place.store, "data.mdb"), "rb").read() == before


def test_full_disk(place):
    """on a full disk the error says so, nothing is half stored, and earlier notifications can still be delivered"""
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode:
        raise Skip("only root may mount a small file system")
    os.makedirs(place.store, mode=0o700)
    script = f"""
mount -t tmpfs -o size=3m,mode=700 none "{place.store}" || exit 99
i=0
while [ $i -lt 3000 ]; do
  "{TIDINGS}" push -s s --create - <"{place.dir}/message" 2>"{place.dir}/refused" || break
  i=$((i + 1))
done
cat "{place.dir}/refused" >&2
"{TIDINGS}" doctor | grep -e disk -e '->'
"{TIDINGS}" pending -s s --json -n 10000 | grep -c '"id"'
echo x | "{TIDINGS}" deliver -s s --at tool-result --owner {os.getpid()} | wc -c
"{TIDINGS}" pending -s s
echo pushed $i
"""
    with open(os.path.join(place.dir, "message"), "w", encoding="utf-8") as file:
        file.write("m" * 16000)
    done = subprocess.run(["unshare", "-m", "sh", "-c", script], env=place.env, check=False, capture_output=True, timeout=600)  # a hundred programs, one after the other
    lines = done.stdout.decode().splitlines()
    assert done.returncode == 0, done
    assert b"disk is full" in done.stderr or b"No space left" in done.stderr, done.stderr
    pushed = int(lines[-1].split()[1])
    assert 10 < pushed < 3000 and lines[-2] == "Nothing is pending.", lines
    assert int(lines[-4]) == pushed and int(lines[-3]) > pushed * 16000, lines
    assert any(line.startswith("problem  disk: ") for line in lines), lines


def test_stdout(place):
    """output that cannot be written, because the disk is full or there is no stdout, is an error; a reader that is gone is not"""
    place.ok("push", "-s", "s", "x")
    for words in (["pending", "-s", "s"], ["help"], ["version"], ["export", "-s", "s"], ["config", "show"]):
        reader, writer = os.pipe()
        os.close(reader)
        result = place.run(*words, stdout=writer)
        os.close(writer)
        assert result.code == 141 and not result.said, (words, result)
        if os.path.exists("/dev/full"):
            with open("/dev/full", "wb") as full:
                assert "No space left" in place.refused(*words, stdout=full).said
        done = subprocess.run(["sh", "-c", 'exec "$0" "$@" >&-', TIDINGS, *words], env=place.env, check=False, capture_output=True, timeout=DEADLINE_S)
        assert done.returncode == 1 and b"cannot write to stdout" in done.stderr, done


def test_closed(place):
    """with all three descriptors closed, push works and the store is sound"""
    done = subprocess.run(["sh", "-c", 'exec "$0" push -s s --create hello <&- >&- 2>&-', TIDINGS], env=place.env, check=False, timeout=DEADLINE_S)
    assert done.returncode == 0
    assert place.messages() == ["hello"]


def test_folder(place):
    """a store in an unsuitable folder is refused, and the error or doctor says what to do"""
    place.ok("push", "-s", "s", "x")
    os.chmod(place.store, 0o755)
    place.refused("push", "-s", "s", "x", says=["TIDINGS_E_STORE", "chmod 700"])
    assert doctor(place, 1)["store"]["remedy"].startswith("Remove the access of others: chmod 700")
    os.chmod(place.store, 0o700)
    other = os.path.join(place.dir, "other")
    os.mkdir(other, 0o755)
    with open(os.path.join(other, "report.txt"), "w", encoding="utf-8") as file:
        file.write("mine")
    for mode in (0o755, 0o700):  # the error does not ask to change the mode of a folder that was named by mistake, and no store is made among other
                                 # files
        os.chmod(other, mode)
        said = place.refused("push", "-S", other, "-s", "s", "x", says=f'store folder {other} has no store but other files, such as "report.txt"; name an empty folder').said
        assert "chmod" not in said and os.listdir(other) == ["report.txt"], said
    os.chmod(other, 0o755)
    assert doctor(place, 1, env={"TIDINGS_STORE": other})["store"]["remedy"] == "Name an empty folder of your own with TIDINGS_STORE."
    link = os.path.join(place.dir, "link")
    os.symlink(place.store, link)
    place.refused("push", "-S", link, "-s", "s", "x", says="symbolic link")
    assert "symbolic link" in doctor(place, 1, env={"TIDINGS_STORE": link})["store"]["text"]
    place.refused("push", "-s", "s", "x", env={"XDG_STATE_HOME": "", "HOME": ""}, says="neither XDG_STATE_HOME nor HOME is set")
    with open(os.path.join(place.store, "data.mdb"), "r+b") as file:
        file.truncate(1000)
    place.refused("pending", "-s", "s", says="TIDINGS_E_STORE")
    assert "tidings store salvage" in doctor(place, 1)["store"]["remedy"]


def test_plugin(place):
    """a plugin that is no library, or is missing, is reported"""
    text = os.path.join(place.dir, "x.so")
    with open(text, "w", encoding="utf-8") as file:
        file.write("no")
    place.refused("push", "-s", "s", "x", env={"TIDINGS_PLUGIN": text}, says=[text, "ELF"])
    place.refused("push", "-s", "s", "x", env={"TIDINGS_PLUGIN": "/nowhere.so"}, says="cannot open the plugin /nowhere.so")
    place.refused("push", "-s", "s", "x", env={"TIDINGS_PLUGIN": "/nowhere/tidings-postgres.so"}, says="a store in a database needs it (the package tidings-postgres of Debian)")
    found = doctor(place, 1, env={"TIDINGS_PLUGIN": text})
    assert found["plugin"]["severity"] == "problem" and "TIDINGS_PLUGIN" in found["plugin"]["remedy"], found
    assert "configuration" not in found, "of which nothing is known then"


def test_no_libpq(place):
    """if libpq is missing, a store in a database is refused with the package's name"""
    if not os.path.exists(os.path.join(os.path.dirname(TIDINGS), "tidings-postgres.so")):
        raise Skip("this build has no plugin for databases")
    found = [line.split()[-1] for line in subprocess.run(["ldconfig", "-p"], check=True, capture_output=True, text=True).stdout.splitlines() if "libpq.so.5" in line]
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode:
        raise Skip("only root may hide a file")
    hide = " && ".join(f'mount --bind /dev/null "{path}"' for path in found)
    words = [TIDINGS, "push", "-s", "s", "--store", "postgresql://u@127.0.0.1:1/d?schema=s", "x"]
    for script, says in ((f'{hide} && exec "$@"', "package libpq5"), ('exec "$@"', "refused")):
        done = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", *words], env=place.env, check=False, capture_output=True, text=True, timeout=DEADLINE_S)
        assert done.returncode == 1 and says in done.stderr and ("libpq" in done.stderr) == (says != "refused"), done


def test_doctor(place):
    """doctor reports the plugin, the store and the sessions; each warning and problem has a remedy"""
    found = doctor(place, 0)
    assert found["plugin"]["severity"] == "ok" and found["store"]["severity"] == "note" and not os.path.exists(place.store), found
    place.opened()
    place.ok("push", "-s", "left", "x")
    text = place.ok("doctor", env={"TIDINGS_SESSION": "typo"}).text
    assert "ok       sessions: 1 of running hosts, of 2 in all" in text and "pending in sessions whose host does not run: 1, in 1 of them" in text, text
    assert "warning  TIDINGS_SESSION: the store has no session 'typo'" in text, text
    config = os.path.join(place.dir, "c.json")
    with open(config, "w", encoding="utf-8") as file:
        file.write('{"delivery": 1}')
    assert "delivery" in doctor(place, 1, env={"TIDINGS_CONFIG": config})["configuration"]["text"]
    for finding in json.loads(place.run("doctor", "--json", env={"TIDINGS_CONFIG": config}).out):
        assert (finding["severity"] == "ok") == (not finding["remedy"]) or finding["topic"] == "store", finding


def program(place, name, text):
    folder = os.path.join(place.dir, "bin")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o700)
    place.env["PATH"] = folder + ":/usr/bin:/bin"


def test_doctor_agents(place):
    """doctor lists the agents here, and whether they call tidings"""
    folder = os.path.join(place.dir, "none")
    os.mkdir(folder)
    assert "no supported agent" in doctor(place, 0, env={"PATH": folder})["agents"]["text"]
    program(place, "gemini", "#!/bin/sh\n")
    found = place.run("doctor").text
    assert "Gemini CLI: it is not set up\n         -> Run 'tidings setup gemini'." in found and "its files do not say its version; the tested version is" in found, found
    place.ok("setup", "gemini")
    assert "set up in " + os.path.join(place.dir, ".gemini", "settings.json") in place.ok("doctor").text
    path = os.path.join(place.dir, ".gemini", "settings.json")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(os.path.dirname(TIDINGS), "/elsewhere"))
    gone = place.run("doctor").text
    assert "the installation that" in gone and "has disappeared: /elsewhere/tidings" in gone, gone
    with open(path, "w", encoding="utf-8") as file:
        file.write('{\n  "hooks": {,\n}\n')
    assert f"warning  Gemini CLI: {path} cannot be read: not JSON: \",\" where a key in double quotes was expected at line 2, column 13\n         -> Fix the file" in place.ok("doctor").text
    os.remove(os.path.join(place.dir, "bin", "gemini"))
    assert "gemini is not in PATH" in place.ok("doctor").text


def in_namespace(*options):
    """Returns words before a command that make it process 1 of a new PID namespace."""
    words = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", *options]
    done = subprocess.run([*words, "true"], check=False, capture_output=True) if shutil.which("unshare") else None
    if not done or done.returncode:
        raise Skip("no PID namespaces here: " + (done.stderr.decode().strip() if done else "there is no unshare"))
    return words


def test_two_containers(place):
    """two programs that are both process 1 cannot share a store, and the error names the namespace as the reason"""
    inside = in_namespace("--mount-proc")
    place.ok("push", "-s", "s", "x")
    holder = place.start(command=[*inside, TRICK, "hold", place.store])
    assert holder.stdout.readline() == b"held\n"
    for words in ([*inside, TIDINGS], [TIDINGS]):
        done = subprocess.run([*words, "push", "-s", "s", "y"], env=place.env, timeout=DEADLINE_S, check=False, capture_output=True)
        assert done.returncode == 1 and b"in use in another PID namespace" in done.stderr, done
        assert b"already open in this process" not in done.stderr, done


def test_a_foreign_proc(place):
    """in a namespace that kept the outer /proc, tidings refuses, because a pid there names another process"""
    inside = in_namespace()
    place.ok("push", "-s", "s", "x")
    done = subprocess.run([*inside, TIDINGS, "push", "-s", "s", "y"], env=place.env, timeout=DEADLINE_S, check=False, capture_output=True)
    assert done.returncode == 1 and b"/proc is that of another PID namespace" in done.stderr, done
    assert place.messages() == ["x"]


if __name__ == "__main__":
    sys.exit(main(globals()))
