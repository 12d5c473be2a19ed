#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests which changes of files `tidings watch` reports."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys

from kit import DEADLINE_S, NOBODY, TIDINGS, Skip, as_nobody, end, main, until
from watcher import WATCHERS, Watch, write


def test_kinds(place):
    """files that are modified, created, deleted or renamed are reported by their path in the session's folder"""
    for name in ("a.c", "b.c", "old.c"):
        write(os.path.join(place.work, "src", name), "x")
    watch = Watch(place)
    write(os.path.join(place.work, "src", "a.c"), "y", "a")
    watch.told("`src/a.c` was modified externally.")
    write(os.path.join(place.work, "new.c"), "x")
    os.remove(os.path.join(place.work, "src", "b.c"))
    watch.told("`new.c` was created externally.", "`src/b.c` was deleted externally.")
    os.rename(os.path.join(place.work, "src", "old.c"), os.path.join(place.work, "other.c"))
    watch.told("`src/old.c` was renamed externally.", "`other.c` was created externally.")


def test_folders_come_and_go(place):
    """however often folders were removed and made again, changes in all that are there are reported"""
    folders = [os.path.join(place.work, f"d{number}") for number in range(30)]
    for folder in folders:
        os.mkdir(folder)
    watch = Watch(place)
    for turn in range(6):
        for change in (os.rmdir, os.mkdir):
            for folder in folders[turn % 2::2]:
                change(folder)
            write(os.path.join(place.work, f"{change.__name__}{turn}"), "x")
            until(lambda mark=f"`{change.__name__}{turn}`": any(mark in message for message in place.messages()), "that it has seen this")
            watch.take()
    with watch.stopped():
        for folder in folders:
            write(os.path.join(folder, "f"), "x")
    watch.told("Multiple files created: " + ", ".join(f"d{number}/f" for number in range(30)))


def test_address(place):
    """with --to a box gets the whole path; when a session joins the box, it gets that, and later changes by the path in its folder"""
    path = os.path.join(place.work, "a.c")
    watch = Watch(place, session=("--to", "box:files"))
    write(path, "x")
    until(lambda: place.messages("box:files") == [f"`{path}` was created externally."], "it waits in the box")
    place.ok("box", "join", "-s", "s", "files")
    write(path, "y", "a")
    watch.told(f"`{path}` was created externally.", "`a.c` was modified externally.")


def test_followed(place):
    """after /clear the changes are reported to the session that follows in the window"""
    for session in (("-s", "s"), ("--to", "session:s")):
        place.opened()
        watch = Watch(place, session=session)
        place.followed()
        write(os.path.join(place.work, session[0]), "x")
        until(lambda name=session[0]: f"`{name}` was created externally." in place.messages("next"), "it is reported")
        assert place.messages() == []
        end(watch.process)
        WATCHERS.remove(watch.process)


def test_net(place):
    """only the result of several changes is reported: saving by renaming is a modification, and a temporary file is nothing"""
    path = os.path.join(place.work, "a.c")
    write(path, "x")
    watch = Watch(place)
    with watch.stopped():
        write(os.path.join(place.work, ".a.c.tmp"), "y")
        os.rename(os.path.join(place.work, ".a.c.tmp"), path)
    watch.told("`a.c` was modified externally.")
    with watch.stopped():
        os.rename(path, path + ".bak")  # like editors that keep a backup
        write(path, "z")
        os.remove(path + ".bak")
    watch.told("`a.c` was modified externally.")
    with watch.stopped():
        write(os.path.join(place.work, "passing"), "x")
        os.remove(os.path.join(place.work, "passing"))
    with open(path, "a", encoding="utf-8"):
        pass
    watch.quiet()


def test_new_folders(place):
    """files in new folders are reported, at any depth and speed"""
    watch = Watch(place)
    write(os.path.join(place.work, "a/b/c/d/one"), "x")
    watch.told("`a/b/c/d/one` was created externally.")
    write(os.path.join(place.work, "a/b/c/d/one"), "y", "a")
    watch.told("`a/b/c/d/one` was modified externally.")
    os.makedirs(os.path.join(place.work, "empty"))
    watch.quiet()
    write(os.path.join(place.work, "empty/two"), "x")
    watch.told("`empty/two` was created externally.")


def test_race(place):
    """no file is missed in new folders that are being filled"""
    watch = Watch(place)
    for round_ in range(30):
        os.makedirs(os.path.join(place.work, f"r{round_}/x/y"))
        with open(os.path.join(place.work, f"r{round_}/x/y/f"), "w", encoding="utf-8") as file:  # while the watcher scans
            file.write("x")
    told = set()

    def all_there():
        for message in place.messages():
            told.update(re.findall(r"r\d+/x/y/f", message))
        return len(told) == 30

    until(all_there, f"all files; told so far: {sorted(told)}")
    assert watch.process.poll() is None


def test_renamed_folder(place):
    """a renamed folder is still watched under its new name"""
    write(os.path.join(place.work, "old/sub/f"), "x")
    watch = Watch(place)
    os.rename(os.path.join(place.work, "old"), os.path.join(place.work, "new"))
    watch.told("`old` was renamed externally.", "`new` was created externally.")
    write(os.path.join(place.work, "new/sub/f"), "y", "a")
    watch.told("`new/sub/f` was modified externally.")
    write(os.path.join(place.work, "new/sub/g"), "x")
    watch.told("`new/sub/g` was created externally.")


def test_renamed_and_changed(place):
    """changes in a folder just after it was renamed are reported"""
    for name in ("f", "g", "h"):
        write(os.path.join(place.work, "old/sub", name), "x")
    watch = Watch(place)
    with watch.stopped():
        os.rename(os.path.join(place.work, "old"), os.path.join(place.work, "new"))
        write(os.path.join(place.work, "new/sub/f"), "y", "a")
        os.remove(os.path.join(place.work, "new/sub/g"))
        write(os.path.join(place.work, "new/sub/i"), "x")
    watch.told("`old` was renamed externally.", "`new` was created externally.", "`new/sub/f` was modified externally.", "`new/sub/i` was created externally.")


def test_moved_away(place):
    """a folder that is moved away is reported as deleted, and not watched any more; when it is moved back, it is new"""
    write(os.path.join(place.work, "f/one"), "x")
    watch = Watch(place)
    away = os.path.join(place.dir, "away")
    os.rename(os.path.join(place.work, "f"), away)
    watch.told("`f` was deleted externally.")
    write(os.path.join(away, "two"), "x")
    watch.quiet()
    os.rename(away, os.path.join(place.work, "back"))
    watch.told("`back/one` was created externally.", "`back/two` was created externally.")
    write(os.path.join(place.work, "back/one"), "y", "a")
    watch.told("`back/one` was modified externally.")


def test_removed_tree(place):
    """a folder that is removed with its content is one line"""
    for i in range(20):
        write(os.path.join(place.work, f"gone/d{i % 3}/f{i}"), "x")
    watch = Watch(place)
    with watch.stopped():
        shutil.rmtree(os.path.join(place.work, "gone"))
    watch.told("`gone` was deleted externally.")


def test_own_edits(place):
    """the agent's edit is withdrawn by its stamp, whether its hook or the watcher is first; a change of the same file that another program makes meanwhile is reported"""
    path = os.path.join(place.work, "a.c")
    write(path, "x")
    watch = Watch(place)

    def call_hook():
        call = {"session_id": "s", "transcript_path": "/projects/x/s.jsonl", "cwd": place.work, "hook_event_name": "PostToolUse", "tool_name": "Write", "tool_use_id": "c1", "tool_input": {"file_path": path}}
        answer = place.ok("hook", "--owner", str(os.getpid()), "claude", stdin=json.dumps(call))
        assert answer.json == {}, answer

    def edit(text):
        """The hook reports before the watcher."""
        watch.asleep()
        with watch.stopped():
            write(path, text)
            call_hook()

    def reports():
        """Returns the pending notifications of the watcher."""
        return [item for item in place.pending() if not item.get("caused_by")]

    write(path, "by the agent, before its hook")
    until(reports, "the watcher's report of the edit")
    watch.asleep()
    call_hook()
    assert not reports()
    edit("by the agent")
    until(reports, "the watcher's report of the second edit")
    assert "a.c" not in watch.take() and not reports()
    edit("by the agent again")
    until(reports, "the watcher's report of the third edit")
    write(path, "by another program")
    until(lambda: len(reports()) == 2, "both reports of the watcher")
    assert watch.take().count("`a.c` was modified externally since your edit; read it again.") == 1 and not reports()


def test_unreadable(place):
    """a folder that cannot be read is reported, at the beginning and when it is added; the others are watched"""
    nobody = {}
    if os.geteuid() == 0:
        nobody = as_nobody(place.env)
        for path in (place.dir, place.work):
            os.chown(path, NOBODY, NOBODY)
    closed = os.path.join(place.work, "closed")
    os.mkdir(closed, 0o000)
    place.ok("push", "-s", "s", "first", **nobody)
    watch = Watch(place, **nobody)
    assert f"tidings watch: {closed} cannot be read: what changes in it is not reported" in watch.text, watch.text
    for name in ("more", "yet-more"):
        os.mkdir(os.path.join(place.dir, name), 0o000)
    with watch.stopped():
        for name in ("more", "yet-more"):
            os.rename(os.path.join(place.dir, name), os.path.join(place.work, name))
    until(lambda: "2 folders cannot be read, such as " in watch.text, "what is said of those that came")
    said = place.start("watch", "-s", "s", closed, **nobody).communicate(timeout=DEADLINE_S)[1].decode()
    assert f"cannot watch '{closed}': you may not read it; name another folder" in said, said


def test_not_twice(place):
    """a file whose notification is still pending is not reported again; a file that the session's own call has changed is"""
    path = os.path.join(place.work, "a.c")
    write(path, "x")
    watch = Watch(place)
    for i in range(3):
        write(path, "y", "a")
        until(lambda: len(place.messages()) == 1, "the news")
        write(os.path.join(place.work, f"mark{i}"), "x")
        until(lambda: len(place.messages()) == 2, "the mark")
        assert "`a.c` was modified externally." in place.messages()
        place.event("handle.polled", {"handle": "none"})
        watch.take()
    place.event("file.changed", {"path": "a.c", "caused_by": "call-1"})
    assert place.messages() == ["`a.c` was modified externally."] and place.pending()[0]["caused_by"] == "call-1"
    write(path, "z", "a")
    until(lambda: len(place.messages()) == 2, "the watcher's own news")


def test_own_edit(place):
    """a change by a call of the agent's own is not reported"""
    path = os.path.join(place.work, "src", "a.c")
    write(path, "x")
    watch = Watch(place)
    write(path, "y", "a")
    info = os.stat(path)
    place.event("file.changed", {"path": "src/a.c", "caused_by": "call-1", "stamp": f"{info.st_ino}:{info.st_size}:{info.st_mtime_ns}"})
    until(lambda: len(place.messages()) == 2, "both")
    out = watch.take()
    assert out == "x", out


def test_ignore(place):
    """a glob is a name anywhere, a path from the watched folder on, or a folder with its content"""
    watch = Watch(place, "--ignore", "*.log", "--ignore", "out/", "--ignore", "docs/*.tmp", "--ignore", "/top", "--ignore", "a/b/")
    for name in ("x.log", "deep/er/x.log", "out/f", "deep/out/f", "docs/a.tmp", "top", "a/b/f", ".git/index", ".a.c.swp", "a.c~", ".#a.c"):
        write(os.path.join(place.work, name), "x")
    watch.quiet()
    write(os.path.join(place.work, "deep/docs/a.tmp"), "x")
    write(os.path.join(place.work, "deep/top"), "x")
    watch.told("`deep/docs/a.tmp` was created externally.", "`deep/top` was created externally.")


def test_store_inside(place):
    """a store inside the watched folder is not watched, because that would never end"""
    watch = Watch(place, place.dir, "--ignore", "said")
    place.ok("push", "-s", "other", "x")
    place.ok("run", "-s", "other", "--", "echo", "x")
    write(os.path.join(place.work, "f"), "x")
    watch.told("`f` was created externally.")


def test_single_file(place):
    """a single file is watched without its neighbours, also when it is replaced"""
    path = os.path.join(place.work, "a.c")
    write(path, "x")
    watch = Watch(place, "a.c")
    assert "watching 1 folder " in watch.text
    write(os.path.join(place.work, "b.c"), "x")
    write(os.path.join(place.work, "c/d.c"), "x")
    write(path + ".new", "y")
    os.rename(path + ".new", path)
    watch.told("`a.c` was modified externally.")
    os.remove(path)
    watch.told("`a.c` was deleted externally.")


def test_outside(place):
    """a file outside the session's folder is reported by its whole path; a link to the folder changes nothing"""
    outside = os.path.join(place.dir, "outside")
    os.mkdir(outside)
    os.symlink(place.work, os.path.join(place.dir, "link"))
    watch = Watch(place, os.path.join(place.dir, "link"), outside)
    write(os.path.join(outside, "f"), "x")
    write(os.path.join(place.work, "g"), "x")
    watch.told(f"`{outside}/f` was created externally.", "`g` was created externally.")


def test_odd_names(place):
    """files with odd names are reported: with line breaks, backquotes, or bytes that are not UTF-8"""
    watch = Watch(place)
    for name in (b"a\nb", b"c`d", b"e\xff", b":(top)f", b"-g"):
        with open(os.path.join(os.fsencode(place.work), name), "wb") as file:
            file.write(b"x")
    watch.told(*(f"`{name}` was created externally." for name in ("a\nb", "c`d", "e\ufffd", ":(top)f", "-g")))


def test_overflow(place):
    """when the kernel drops events, that is reported, and the changes are still found"""
    with open("/proc/sys/fs/inotify/max_queued_events", encoding="utf-8") as file:
        most = int(file.read())
    if most > 100_000:
        raise Skip(f"the queue holds {most} events")
    write(os.path.join(place.work, "old"), "x")
    watch = Watch(place)
    noise = [os.path.join(place.work, name) for name in ("noise1", "noise2")]
    with watch.stopped():
        for i in range(most // 2 + 10):  # the kernel joins equal neighbouring events
            os.close(os.open(noise[i % 2], os.O_WRONLY | os.O_CREAT))
            os.remove(noise[i % 2])
        write(os.path.join(place.work, "old"), "y", "a")
        write(os.path.join(place.work, "deep/er/new"), "x")
    expected = ["The file watcher could not keep up and may have missed changes, deleted files above all.", "`old` was modified externally.",
                "`deep/er/new` was created externally."]
    watch.told(*expected)
    assert "the kernel dropped events (fs.inotify.max_queued_events)" in watch.text
    write(os.path.join(place.work, "deep/er/new"), "y", "a")
    watch.told("`deep/er/new` was modified externally.")


def test_limit(place):
    """when no watches are left, the error names the remedy, at the start and for new folders"""
    for i in range(20):
        os.makedirs(os.path.join(place.work, f"d{i}"))
    place.opened()
    script = f'echo {{0}} >/proc/sys/user/max_inotify_watches && exec "{TIDINGS}" watch -s s'
    probe = subprocess.run(["unshare", "-Ur", "sh", "-c", "echo 5 >/proc/sys/user/max_inotify_watches"], check=False, capture_output=True)
    if probe.returncode:
        raise Skip("there are no user namespaces here")
    done = subprocess.run(["unshare", "-Ur", "sh", "-c", script.format(5)], cwd=place.work, env=place.env, check=False, capture_output=True, timeout=DEADLINE_S)
    assert done.returncode == 1 and b"more folders than may be watched (fs.inotify.max_user_watches)" in done.stderr, done
    assert b"sysctl fs.inotify.max_user_watches=524288" in done.stderr, done
    said = os.path.join(place.dir, "said")
    with open(said, "wb") as file:
        process = place.start(command=["unshare", "-Ur", "sh", "-c", script.format(23)], stderr=file)
    until(lambda: b"watching 21 folders" in open(said, "rb").read(), "its beginning")
    for i in range(5):
        os.mkdir(os.path.join(place.work, f"e{i}"))
    until(lambda: any("cannot watch all new folders" in message for message in place.messages()), "the news")
    assert b"new folders cannot be watched" in open(said, "rb").read()
    assert end(process) == 0


def test_ends(place):
    """SIGTERM and SIGINT end watch with 0, after it has reported earlier changes"""
    for number in (signal.SIGTERM, signal.SIGINT):
        watch = Watch(place, "--debounce", "60s")
        with watch.stopped():  # when it continues, the signal may come first
            write(os.path.join(place.work, f"f{number}"), "x")
            watch.process.send_signal(number)
        assert watch.process.wait(DEADLINE_S) == 0, watch.text
        assert place.messages()[-1] == f"`f{int(number)}` was created externally.", place.messages()


def test_busy(place):
    """changes that cannot be reported yet are reported later"""
    watch = Watch(place)
    holder = place.hold()
    write(os.path.join(place.work, "f"), "x")
    until(lambda: "TIDINGS_E_BUSY" in watch.text, "that it failed")
    write(os.path.join(place.work, "g"), "x")
    end(holder, signal.SIGKILL)
    watch.told("`f` was created externally.", "`g` was created externally.")


def test_ends_unreported(place):
    """at its end watch tries again to report what it could not report before; if it cannot, it says so and fails"""
    for number, is_back in enumerate((True, False)):
        watch = Watch(place)
        os.rename(place.store, place.store + ".away")
        with open(place.store, "wb"):
            pass
        write(os.path.join(place.work, f"f{number}"), "x")
        until(lambda watch=watch: "is not a folder" in watch.text, "that it failed")
        with watch.stopped():
            if is_back:
                os.remove(place.store)
                os.rename(place.store + ".away", place.store)
            watch.process.send_signal(signal.SIGTERM)
        assert watch.process.wait(DEADLINE_S) == (0 if is_back else 1), watch.text
        assert is_back or "the last changes were not reported" in watch.text, watch.text
        assert not is_back or place.messages() == ["`f0` was created externally."], place.messages()


def test_newest_session(place):
    """without a session watch reports to the newest session of a running host here, and to the last one while none runs"""
    host = place.start(command=["sleep", "1000"])
    place.opened("first", owner=host.pid)
    said = os.path.join(place.dir, "said")
    with open(said, "wb") as file:
        process = place.start("watch", stderr=file)
    WATCHERS.append(process)
    until(lambda: b"for session first" in open(said, "rb").read(), "its beginning")
    write(os.path.join(place.work, "a"), "x")
    until(lambda: place.messages("first"), "news for the first")
    place.opened("second")
    write(os.path.join(place.work, "b"), "x")
    until(lambda: place.messages("second"), "news for the second")
    assert len(place.messages("first")) == 1
    assert end(process) == 0


def test_gone(place):
    """when nothing is left to watch, watch ends and says so"""
    folder = os.path.join(place.dir, "only")
    os.mkdir(folder)
    watch = Watch(place, folder)
    os.rmdir(folder)
    assert watch.process.wait(DEADLINE_S) == 1 and "nothing is left to watch" in watch.text


def test_wrong(place):
    """wrong arguments are refused"""
    place.opened()
    place.refused("watch", "-s", "s", "/no/where", says="cannot watch '/no/where': No such file or directory")
    place.refused("watch", "-s", "s", "--debounce", "1d", code=2, says="--debounce: '1d' is not a duration up to 60s")
    place.refused("watch", "-s", "s", "--ignore", "", code=2, says="--ignore: '' is not a glob")
    place.refused("watch", cwd="/", says="no running session works in /")


if __name__ == "__main__":
    sys.exit(main(globals()))
