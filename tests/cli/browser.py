# SPDX-License-Identifier: MIT
"""Controls a headless Chromium by the protocol of chromedriver, and says why this machine has none."""
import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request

from kit import DEADLINE_S, until

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
SNAP = any(os.path.realpath(path or "").startswith("/snap/") or (path or "").startswith("/snap/") for path in (CHROMIUM, DRIVER))
WHY_NOT = "this chromium is a snap, which does not see the files of tests" if SNAP else None if CHROMIUM and DRIVER else "there is no chromium with chromedriver here: ./dev test timeline installs them"
KEYS = {"ArrowRight": "\ue014", "ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowDown": "\ue015", "Escape": "\ue00c", "Tab": "\ue004"}


class Browser:
    def __init__(self, dark=False, width=1440, height=900):
        self.dir = tempfile.mkdtemp(prefix="tidings-browser-")
        self.log = open(os.path.join(self.dir, "driver.log"), "w", encoding="utf-8")  # pylint: disable=consider-using-with
        self.driver = subprocess.Popen([DRIVER, "--port=0"], stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL)  # pylint: disable=consider-using-with
        self.session = None
        try:
            port = until(self.port, "chromedriver's port")
            self.base = f"http://127.0.0.1:{port}/session"
            arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                         "--disable-background-networking", "--proxy-server=127.0.0.1:9", f"--window-size={width},{height}",
                         f"--user-data-dir={self.dir}/profile"] + (["--force-dark-mode"] if dark else [])
            options = {"binary": CHROMIUM, "args": arguments}
            wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            self.session = self.ask("POST", "", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
            self.base += "/" + self.session
        except BaseException:
            self.close()
            raise

    def port(self):
        with open(self.log.name, encoding="utf-8") as file:  # a second descriptor, because the driver shares the position of the first one
            found = re.search(r"started successfully on port (\d+)\D", file.read())
        assert found or self.driver.poll() is None, "chromedriver has ended"
        return found and int(found[1])

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data=data, method=method, headers={"Content-Type": "application/json"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=DEADLINE_S) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.read().decode(errors='replace')}") from error

    def open(self, path):
        self.ask("POST", "/url", {"url": "file://" + path})
        return until(lambda: self.run("return document.documentElement.dataset.ready || ''"), "the page is drawn")

    def run(self, script, *arguments):
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def press(self, *keys):
        actions = []
        for key in keys:
            actions += [{"type": "keyDown", "value": KEYS.get(key, key)}, {"type": "keyUp", "value": KEYS.get(key, key)}]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def click(self, x, y):
        moves = [{"type": "pointerMove", "x": int(x), "y": int(y), "origin": "viewport", "duration": 0}, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.ask("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": moves}]})

    def text(self, selector):
        return self.run("const found = document.querySelector(arguments[0]); return found && found.textContent", selector)

    def console(self):
        return [entry["message"] for entry in self.ask("POST", "/se/log", {"type": "browser"})]

    def resize(self, width, height):
        """Sets the size of the page, which may be smaller than the smallest window."""
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def cdp(self, command, **parameters):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.ask("GET", "/screenshot")))

    def close(self):
        if self.session:
            try:
                self.ask("DELETE", "")
            except (OSError, AssertionError):
                pass  # it is killed below
        self.driver.terminate()
        try:
            self.driver.wait(DEADLINE_S)
        except subprocess.TimeoutExpired:
            self.driver.kill()
            self.driver.wait()
        self.log.close()
        shutil.rmtree(self.dir, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
