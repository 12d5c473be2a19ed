# SPDX-License-Identifier: MIT
"""tls.py: tests sslmode=verify-full with a real certificate: its server is accepted, and another name or another authority is refused with an
error."""
import os
import pwd
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
import kit  # pylint: disable=wrong-import-position
from kit import expect, failures  # pylint: disable=wrong-import-position


def make(folder, name, *arguments):
    done = subprocess.run(["openssl", "req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{folder}/{name}.key", "-subj", f"/CN={name}", *arguments],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)


def certify(folder):
    """Makes two authorities, and a certificate of the first one for localhost."""
    for authority in ("root", "stranger"):
        make(folder, authority, "-x509", "-days", "2", "-out", f"{folder}/{authority}.crt")
    make(folder, "localhost", "-out", f"{folder}/localhost.csr")
    with open(f"{folder}/names", "w", encoding="ascii") as file:
        file.write("subjectAltName = DNS:localhost\n")
    subprocess.run(["openssl", "x509", "-req", "-in", f"{folder}/localhost.csr", "-CA", f"{folder}/root.crt", "-CAkey", f"{folder}/root.key", "-CAcreateserial", "-days", "2",
                    "-extfile", f"{folder}/names", "-out", f"{folder}/localhost.crt"], capture_output=True, check=True)
    os.chmod(f"{folder}/localhost.key", 0o600)
    if os.geteuid() == 0:
        account = pwd.getpwnam("nobody")
        os.chown(f"{folder}/localhost.key", account.pw_uid, account.pw_gid)


def main():
    if not shutil.which("openssl"):
        kit.skip("there is no openssl")
    server = kit.Server(**{**kit.Server.FAST, "listen_addresses": kit.ADDRESS, "ssl": "on"})
    try:
        certify(server.folder)
        server.settings |= {"ssl_cert_file": f"{server.folder}/localhost.crt", "ssl_key_file": f"{server.folder}/localhost.key"}
        server.ready()
        with open(os.path.join(server.data, "pg_hba.conf"), "a", encoding="ascii") as file:
            file.write("hostssl all all 127.0.0.0/8 trust\n")
        kit.make_store(server)

        def url(host, authority):
            return f"postgresql://fleet@{host}/fleet?hostaddr={kit.ADDRESS}&schema=tidings&sslmode=verify-full&sslrootcert={server.folder}/{authority}.crt"

        done = kit.tidings("push", "--create", "-S", url("localhost", "root"), "-s", "s", "over TLS", check=False)
        expect(not done.returncode, f"the server that has the certificate is used {done.stderr.strip()}")
        host = kit.Kit(url("localhost", "root"))
        host.event("session.opened", "s")
        expect("over TLS" in host.call("tool_result", session="s", call_id="c1", tool="shell", content="x")["content"], "by a host, too")
        versions = server.sql("SELECT DISTINCT version FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE ssl AND application_name LIKE 'tidings%'")
        expect(versions.startswith("TLSv1."), f"its connections use {versions}")
        host.close()
        for what, where, words in (("another name", url("other.example", "root"), "does not match"), ("another authority", url("localhost", "stranger"), "certificate verify failed")):
            done = kit.tidings("push", "--create", "-S", where, "-s", "s", "x", check=False)
            expect(done.returncode and words in done.stderr, f"{what}: {done.stderr.strip()}")
    finally:
        server.end()
    print(f"# sum: tls: {len(failures)} failures")
    return bool(failures)


sys.exit(main())
