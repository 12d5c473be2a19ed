# SPDX-License-Identifier: MIT
"""A registry for npm on 127.0.0.1 that has only the packages of a folder. So `npm install tidings` finds what it will find once they are
published."""
import base64
import glob
import hashlib
import http.server
import json
import os
import tarfile
import threading
import urllib.parse


class Registry:
    """`asked` lists the packages that were asked for and are not there."""

    def __init__(self, folder):
        self.packages, self.asked = {}, []
        for path in glob.glob(os.path.join(folder, "*.tgz")):
            with tarfile.open(path) as tar:
                manifest = json.load(tar.extractfile("package/package.json"))
            self.packages[manifest["name"]] = (manifest, path)
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.http.registry = self
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *exception):
        self.http.shutdown()
        self.http.server_close()

    def answer(self, path):
        name = urllib.parse.unquote(path.split("?")[0].strip("/"))
        if name.endswith(".tgz"):
            for _, file in self.packages.values():
                if os.path.basename(file) == os.path.basename(name):
                    with open(file, "rb") as opened:
                        return opened.read()
        if name not in self.packages:
            self.asked.append(name)
            return None
        manifest, file = self.packages[name]
        with open(file, "rb") as opened:
            digest = base64.b64encode(hashlib.sha512(opened.read()).digest()).decode()
        there = manifest | {"dist": {"tarball": f"{self.url}/-/{os.path.basename(file)}", "integrity": f"sha512-{digest}"}}
        return json.dumps({"name": name, "dist-tags": {"latest": manifest["version"]}, "versions": {manifest["version"]: there}}).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # pylint: disable=invalid-name
        body = self.server.registry.answer(self.path)
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Length", str(len(body or b"{}")))
        self.end_headers()
        self.wfile.write(body or b"{}")


    def log_message(self, *arguments):  # pylint: disable=arguments-differ
        pass
