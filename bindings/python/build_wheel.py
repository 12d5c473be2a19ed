# SPDX-License-Identifier: MIT
"""The build backend of the Python package (PEP 517), which needs only Python: pip wheel bindings/python. The same files give the same bytes.

The package is pure Python: it loads the hostkit that is installed. Its version is that of tidings, from the CMakeLists.txt of the sources.
"""
import base64
import hashlib
import os
import re
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
SUMMARY = "Notifications for the conversation of an LLM agent, for hosts in Python"


def _read(path):
    with open(os.path.join(HERE, path), "rb") as file:
        return file.read()


def _version():
    found = re.search(r"^project\(tidings VERSION ([0-9.]+) ", _read("../../CMakeLists.txt").decode(), re.MULTILINE)
    return found[1]


def _files():
    version = _version()
    info = f"tidings-{version}.dist-info"
    files = {f"tidings/{name}": _read(f"tidings/{name}") for name in sorted(os.listdir(os.path.join(HERE, "tidings"))) if name.endswith((".py", ".typed"))}
    files[f"{info}/LICENSE"] = _read("../../LICENSE")
    files[f"{info}/METADATA"] = (f"Metadata-Version: 2.1\nName: tidings\nVersion: {version}\nSummary: {SUMMARY}\nLicense: MIT\nRequires-Python: >=3.9\n"
                                 "Description-Content-Type: text/markdown\n\n").encode() + _read("README.md")
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: tidings\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    lines = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}" for name, data in files.items()]
    files[f"{info}/RECORD"] = ("\n".join([*lines, f"{info}/RECORD,,"]) + "\n").encode()
    return version, files


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    del config_settings, metadata_directory  # there is nothing to set
    version, files = _files()
    name = f"tidings-{version}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    return name
