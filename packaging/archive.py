# SPDX-License-Identifier: MIT
"""Writes archives whose bytes depend only on the files: entries are sorted, belong to root, and have the time of the commit."""
import gzip
import hashlib
import io
import os
import re
import tarfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(HERE)


def epoch():
    return int(os.environ.get("SOURCE_DATE_EPOCH", "0"))


def version():
    """Returns the version, which only CMakeLists.txt contains."""
    with open(os.path.join(SOURCE, "CMakeLists.txt"), encoding="utf-8") as file:
        return re.search(r"^project\(tidings VERSION ([0-9.]+) ", file.read(), re.MULTILINE)[1]


def files_below(folder):
    found = []
    for here, folders, names in os.walk(folder):
        found += [os.path.relpath(os.path.join(here, name), folder) for name in names]
        found += [os.path.relpath(os.path.join(here, name), folder) for name in folders if os.path.islink(os.path.join(here, name))]
    return sorted(found)


def write_tgz(path, folder, prefix):
    """`folder` becomes the folder `prefix` of the archive. Directories are not written: npm makes them."""
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=epoch()) as packed, tarfile.open(None, "w", packed, format=tarfile.USTAR_FORMAT) as tar:
        for name in files_below(folder):
            whole = os.path.join(folder, name)
            entry = tarfile.TarInfo(f"{prefix}/{name}")
            entry.mtime = epoch()
            if os.path.islink(whole):  # npm unpacks no links
                raise ValueError(f"{whole} is a link")
            with open(whole, "rb") as file:
                data = file.read()
            entry.size = len(data)
            entry.mode = 0o755 if os.access(whole, os.X_OK) else 0o644
            tar.addfile(entry, io.BytesIO(data))


def digest(path, kind="sha256"):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, kind).hexdigest() if hasattr(hashlib, "file_digest") else hashlib.new(kind, file.read()).hexdigest()
