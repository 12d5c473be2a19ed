# SPDX-License-Identifier: MIT
"""libtidings-hostkit.so.1 through ctypes: its flat functions, which take and give integers and strings of JSON."""
from __future__ import annotations

import ctypes
import json
import os
from typing import Any, Dict, List, Optional, Union

NAME = "libtidings-hostkit.so.1"
Path = Union[str, "os.PathLike[str]"]


class TidingsError(Exception):
    """A call that failed. `code` is "TIDINGS_E_BUSY" or another name of tidings/abi.h. It is empty if hostkit could not be loaded, or if a hostkit of
    tidings 0.2 could not open the plugin."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(code, text)  # so that it can be pickled, for another process
        self.code = code
        self.text = text

    def __str__(self) -> str:
        return f"{self.code}: {self.text}" if self.code else self.text


def _candidates(named: Optional[Path]) -> list[str]:
    if named:
        return [os.fspath(named)]
    chosen = os.environ.get("TIDINGS_HOSTKIT")
    folders = (os.path.expanduser("~/.local/lib"), "/usr/local/lib")
    return [chosen] if chosen else [NAME, *(os.path.join(folder, NAME) for folder in folders)]


def _load(named: Optional[Path]) -> ctypes.CDLL:
    reasons = []
    for path in _candidates(named):
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            reasons.append(str(error))
    raise TidingsError("", f"hostkit cannot be loaded: {'; '.join(reasons)}; install tidings, or set TIDINGS_HOSTKIT to the path of {NAME}")


def _request_text(request: Dict[str, Any]) -> bytes:
    """Returns the request in JSON. A text may have half a character, such as a file name that is not UTF-8; it becomes U+FFFD, as in Node."""
    text = json.dumps(request, ensure_ascii=False)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


class Library:
    """The functions, with their types. Raises TidingsError if one fails."""

    def __init__(self, path: Optional[Path] = None) -> None:
        kit = _load(path)
        kit.hostkit_flat_open.argtypes, kit.hostkit_flat_open.restype = [ctypes.c_char_p], ctypes.c_int64
        kit.hostkit_flat_call.argtypes, kit.hostkit_flat_call.restype = [ctypes.c_int64, ctypes.c_char_p], ctypes.c_void_p
        kit.hostkit_flat_wake_descriptor.argtypes, kit.hostkit_flat_wake_descriptor.restype = [ctypes.c_int64], ctypes.c_int32
        kit.hostkit_flat_close.argtypes, kit.hostkit_flat_close.restype = [ctypes.c_int64], ctypes.c_int32
        kit.hostkit_flat_error.argtypes, kit.hostkit_flat_error.restype = [], ctypes.c_char_p
        self._error_code = getattr(kit, "hostkit_flat_error_code", lambda: 0)  # hostkit has it since 1.2
        kit.hostkit_error_name.argtypes, kit.hostkit_error_name.restype = [ctypes.c_int32], ctypes.c_char_p
        kit.hostkit_free.argtypes, kit.hostkit_free.restype = [ctypes.c_void_p], None
        self._kit = kit

    def _failed(self, code: int) -> TidingsError:
        name = self._kit.hostkit_error_name(code).decode() if code else ""
        return TidingsError(name, self._kit.hostkit_flat_error().decode("utf-8", "replace"))

    def open(self, options: Dict[str, Any]) -> int:
        handle = self._kit.hostkit_flat_open(json.dumps(options, default=os.fspath).encode())
        if not handle:
            raise self._failed(self._error_code())
        return handle

    def call(self, handle: int, request: Dict[str, Any]) -> Dict[str, Any]:
        text = _request_text(request)
        pointers: List[int] = []
        try:
            pointers.extend(map(self._kit.hostkit_flat_call, (handle,), (text,)))  # no handler of signals cuts in before the answer is kept
            answer = self._answer(pointers)
        except BaseException:
            self._roll_back(handle, self._answer(pointers))
            raise
        finally:
            while pointers:
                self._kit.hostkit_free(pointers.pop())
        if "error" in answer:
            raise TidingsError(answer["error"]["code"], answer["error"]["text"])
        return answer

    @staticmethod
    def _answer(pointers: List[int]) -> Dict[str, Any]:
        if pointers and pointers[0]:
            return json.loads(ctypes.string_at(pointers[0]))
        return {"error": {"code": "TIDINGS_E_NOMEM", "text": "out of memory in hostkit"}}

    def _roll_back(self, handle: int, answer: Dict[str, Any]) -> None:
        """Gives back the delivery that the caller will not get."""
        delivery = (answer.get("reply") or {}).get("delivery")
        if delivery is not None:
            self._kit.hostkit_free(self._kit.hostkit_flat_call(handle, _request_text({"op": "settle", "delivery": delivery, "outcome": "rolled_back"})))

    def wake_descriptor(self, handle: int) -> int:
        descriptor = self._kit.hostkit_flat_wake_descriptor(handle)
        if descriptor < 0:
            raise self._failed(descriptor)
        return descriptor

    def close(self, handle: int) -> None:
        code = self._kit.hostkit_flat_close(handle)
        if code:
            raise self._failed(code)

    def folder(self) -> str:
        """Returns the folder of the loaded library."""
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            found = next((line.split(maxsplit=5)[5].rstrip("\n") for line in maps if "/libtidings-hostkit.so" in line), "")
        return os.path.dirname(found)
