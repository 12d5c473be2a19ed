# SPDX-License-Identifier: MIT
"""lost_names.py SOCKETS: runs in a network and a mount namespace whose name server never answers. Prints the error and the time of opening a store whose server has a name, the errors of
`store init` and of `store copy` in both directions, and whether a URL with two servers works if only the second one can be reached.
"""
import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position
import net  # pylint: disable=wrong-import-position

with tempfile.NamedTemporaryFile("w", delete=False) as file:
    file.write("nameserver 127.0.0.1\noptions timeout:30 attempts:1\n")
subprocess.run(["mount", "--bind", file.name, "/etc/resolv.conf"], check=True)
with tempfile.NamedTemporaryFile("w", delete=False) as other:
    other.write("hosts: files dns\n")
subprocess.run(["mount", "--bind", other.name, "/etc/nsswitch.conf"], check=True)
silent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
fcntl.ioctl(silent, 0x8914, struct.pack("16sh14x", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP
silent.bind(("127.0.0.1", 53))
late = net.Lateness()
began = time.monotonic()
try:
    kit.Kit("postgresql://fleet@db.example.test/fleet", budget_ms=1000)
    print("it was opened")
except kit.Failed as failed:
    took = time.monotonic() - began
    print(f"{'in time' if took * 1000 < 1000 + kit.LATE_MS + 3 * late.since() else 'late'}: {failed.text}")
done = kit.tidings("store", "init", "postgresql://fleet@db.example.test/fleet", check=False)
print(done.stderr.strip().replace("\n", " "))
folder = tempfile.mkdtemp()
kit.tidings("push", "--create", "-S", f"{folder}/store", "-s", "s", "to be copied")
for source, target in ((f"{folder}/store", "postgresql://fleet@db.example.test/fleet"), ("postgresql://fleet@db.example.test/fleet", f"{folder}/made")):
    done = kit.tidings("store", "copy", source, target, check=False)
    print(done.stderr.strip().replace("\n", " "), os.path.exists(target) or "nothing was made")
shutil.rmtree(folder)
try:
    kit.Kit(f"postgresql://fleet@/fleet?host=localhost,{sys.argv[1]}").close()
    print("the second server was found")
except kit.Failed as failed:
    print(failed.text)
