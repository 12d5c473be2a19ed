# SPDX-License-Identifier: MIT
"""tidings: notifications for the conversation of an LLM agent, for hosts in Python.

    with Tidings.open(host_name="Example") as kit:
        delivery = kit.tool_result("session", "a.c", call_id="c1", tool="ls")
        send(delivery.outgoing)
        kit.settle(delivery.id, committed=True)

Methods may be called from any thread. Those that fail raise TidingsError; then the host sends its message unchanged, unless it is
a chat request that names messages.
"""
from __future__ import annotations

import asyncio
import json
import os
import threading
import time
import weakref
from io import FileIO
from typing import Any, AsyncGenerator, Dict, Mapping, Optional, Sequence, Tuple, Union

from ._agenda import PASSING, Agenda, longer
from ._hostkit import Library, Path, TidingsError
from .types import Action, Delivery, Info, Notification, Outgoing, Part, Reply, Status, TurnMessage, Woken, outgoing_of, reply_of

__all__ = ["Action", "Delivery", "Info", "Notification", "Outgoing", "Part", "Reply", "Status", "Tidings", "TidingsError", "TurnMessage", "Woken"]


def _given(**members: Any) -> Dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


_instances: weakref.WeakSet[Tidings] = weakref.WeakSet()


def _begin_as_child() -> None:
    for kit in list(_instances):
        kit._begin_as_child()  # pylint: disable=protected-access


os.register_at_fork(after_in_child=_begin_as_child)


class Tidings:
    """An open plugin. Close it, or use it in a `with` statement."""

    def __init__(self, library: Library, handle: int) -> None:
        """Use Tidings.open."""
        self._library = library
        self._handle = handle
        self._closing = threading.RLock()  # a handler of signals may close it too
        self._agenda = Agenda()
        self._sessions: Dict[str, str] = {}  # by delivery that is not settled: its session
        _instances.add(self)

    def _begin_as_child(self) -> None:
        self._closing = threading.RLock()
        self._agenda.begin_as_child()

    @classmethod
    def open(
        cls,
        *,
        plugin: Optional[Path] = None,
        store: Optional[Path] = None,
        host_name: Optional[str] = None,
        configuration: Optional[Mapping[str, Any]] = None,
        role: str = "host",
        owner_pid: Optional[int] = None,
        hook_budget_ms: Optional[int] = None,
        total_budget_ms: Optional[int] = None,
        settle_on_return: bool = False,
        probe: Union[Path, bool, None] = None,
        library: Optional[Path] = None,
    ) -> Tidings:
        """Loads hostkit (`library`, or $TIDINGS_HOSTKIT, or the installed one) and the plugin (the one that was installed with it)."""
        kit = Library(library)
        if plugin is None:
            folder = kit.folder()
            beside = os.path.join(folder, "tidings.so")
            plugin = beside if os.path.exists(beside) else os.path.join(folder, "tidings", "tidings.so")
        options = _given(plugin=plugin, store=store, host_name=host_name, role=role, owner_pid=owner_pid, hook_budget_ms=hook_budget_ms,
                         total_budget_ms=total_budget_ms, probe=None if probe is True else probe)
        if configuration is not None:
            options["configuration"] = dict(configuration)
        if settle_on_return:
            options["settle_on_return"] = True
        return cls(kit, kit.open(options))

    def __enter__(self) -> Tidings:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Waits up to 5 s for calls of other threads. Closing twice is harmless; afterwards every call raises TIDINGS_E_CLOSED, and so do the loops of
        wakes."""
        with self._closing:
            handle, self._handle = self._handle, 0  # so that other threads' calls answer CLOSED at once
            try:
                if handle:
                    self._library.close(handle)
            except TidingsError:
                self._handle = handle
                raise
        self._agenda.ring_all()  # loops that sleep end, with an error

    # -- carriers ------------------------------------------------------------------------------

    def tool_result(self, session: str, content: str = "", *, call_id: str = "", tool: str = "", room: int = 0) -> Delivery:
        """Call it before each tool result is sent. `room`: how many bytes of UTF-8 the reply's texts may have together; 0: no bound."""
        return self._carry({"op": "tool_result", "session": session, "content": content, "call_id": call_id, "tool": tool, "room": room})

    def chat_request(self, session: str, content: str = "", *, origin: str = "user", messages: Optional[Sequence[str]] = None, room: int = 0) -> Delivery:
        """Call it before each chat request is sent; `messages` are the ids of the offered messages that it sends. If it raises, do not send a
        request that names messages: they still wait, or are no longer offered."""
        request: Dict[str, Any] = {"op": "chat_request", "session": session, "content": content, "source": origin, "room": room}
        if messages is not None:
            request["messages"] = list(messages)
        return self._carry(request)

    def settle(self, delivery_id: Optional[str], *, committed: bool) -> Reply:
        """Call it when the carrier is in the transcript, or certainly never will be. None: there is nothing to settle."""
        if delivery_id is None:
            return Reply()
        reply, _ = self._ask(self._sessions.get(delivery_id), op="settle", delivery=delivery_id, outcome="committed" if committed else "rolled_back")
        self._sessions.pop(delivery_id, None)
        return reply

    # -- events --------------------------------------------------------------------------------

    def push(
        self,
        session: str,
        kind: str,
        message: str,
        *,
        level: Optional[str] = None,
        data: Any = None,
        key: Optional[str] = None,
        tool: Optional[str] = None,
        handle: Optional[str] = None,
        ttl_ms: Optional[int] = None,
        activation: Optional[str] = None,
        caused_by: Optional[str] = None,
        source: Optional[str] = None,
        id: Optional[str] = None,  # pylint: disable=redefined-builtin # the event's own name for it
    ) -> Reply:
        """Pushes a notification, which is stored durably when this returns. Do the reply's actions, because no wake repeats them. With `source` and `id`,
        pushing again is harmless."""
        members = _given(level=level, data=data, key=key, tool=tool, handle=handle, ttl_ms=ttl_ms, activation=activation, caused_by=caused_by, source=source, id=id)
        return self._ask(session, op="push", session=session, kind=kind, message=message, **members)[0]

    def event(self, type: str, session: str, data: Optional[Mapping[str, Any]] = None, **members: Any) -> Reply:  # pylint: disable=redefined-builtin
        """Sends an event of docs/events.md, such as "session.opened". `members` are its `source`, `id` and `time`."""
        event = {"type": type, "session": session, **members}
        if data is not None:
            event["data"] = dict(data)
        return self._ask(session, op="event", event=event)[0]

    def event_json(self, text: str) -> Reply:
        """Sends an event that is JSON already."""
        try:
            event = json.loads(text)
        except (ValueError, RecursionError):
            event = None  # the call says what is wrong
        return self._ask(event.get("session") if isinstance(event, dict) else None, op="event", event=text)[0]

    # -- questions -----------------------------------------------------------------------------

    def query(self, name: str, session: Optional[str] = None, **members: Any) -> Dict[str, Any]:
        """Asks a query of docs/queries.md."""
        return self._call(op="query", query={"name": name, **_given(session=session), **members})["answer"]

    def info(self) -> Info:
        return Info(**self._call(op="info"))

    def swap(self, plugin: Optional[Path] = None, *, drain_ms: Optional[int] = None) -> int:
        """Loads a rebuilt plugin; returns the number of the generation."""
        return self._call(op="swap", **_given(plugin=plugin and os.fspath(plugin), drain_ms=drain_ms))["generation"]

    # -- being woken ---------------------------------------------------------------------------

    def wake(self, session: str) -> Reply:
        """Asks what a session needs now."""
        return self._ask(session, op="wake", session=session)[0]

    def wake_descriptor(self) -> int:
        """Returns a descriptor to poll, which the caller closes. Get it first, then ask next_session, then sleep."""
        return self._library.wake_descriptor(self._open_handle())

    def next_session(self) -> Optional[str]:
        """Returns the next session that rang; None: none is left."""
        return self._call(op="next_session")["session"]

    async def wakes(self) -> AsyncGenerator[Woken, None]:
        """Yields each session that wants its host to act. It waits in asyncio's loop.

            async for woken in kit.wakes():
                for action in woken.reply.actions: …

        A session also comes at the wake_at_ms of its newest reply, and only then without a wake descriptor (256 processes wait already).
        If the wake of a session fails, for example because the store is busy or full, it is tried again after 0.1 to 5 s, until it succeeds or the session
        is no longer this host's; other sessions do not wait for that. An error that is raised concerns all sessions. Leaving the loop loses nothing: the
        next loop continues with the remaining sessions.
        """
        loop = asyncio.get_running_loop()
        agenda = self._agenda
        pause = None
        fifo = self._fifo_or_none()
        sleeper = agenda.enter()

        def read(fifo: FileIO) -> None:  # its bytes have no meaning; reading them keeps the loop from spinning while the host acts
            fifo.read(4096)
            agenda.ring_all()

        if fifo is not None:
            loop.add_reader(fifo.fileno(), read, fifo)
        try:
            while True:
                sleeper.begin_look()
                pause = self._look(pause)
                while (session := agenda.next()) is not None:
                    began = time.monotonic()
                    woken = self._woken(session)
                    if woken is None:  # the call may have waited for the store: other tasks run for as long before the next one, but it sees a close soon
                        await asyncio.sleep(min(1.0, time.monotonic() - began))
                    else:
                        agenda.hand_over(pause)
                        yield woken
                await agenda.sleep(sleeper, pause)
        finally:
            agenda.leave(sleeper)
            if fifo is not None:
                loop.remove_reader(fifo.fileno())
                fifo.close()

    def _fifo_or_none(self) -> Optional[FileIO]:
        """Opens the descriptor as a file, because nothing else closes it if the loop is closed while it waits."""
        try:
            return FileIO(self.wake_descriptor())
        except TidingsError as error:
            if error.code not in ("TIDINGS_E_FULL", "TIDINGS_E_UNSUPPORTED"):
                raise
            return None

    def _look(self, pause: Optional[float]) -> Optional[float]:
        """Finds the sessions that rang, and those whose time has come. If the store cannot say now who rang, returns in how many seconds to ask it again;
        `pause` is the last such result."""
        again = None
        try:
            while session := self.next_session():
                self._agenda.ring(session)
        except TidingsError as error:
            if error.code not in PASSING:
                raise
            again = longer(pause)
        self._agenda.find_due()
        return again

    def _woken(self, session: str) -> Optional[Woken]:
        """Asks a session. None: it is no longer ours, or it will be asked again."""
        began = self._agenda.begin_call()
        try:
            reply = self.wake(session)
        except TidingsError as error:
            if not self._handle:  # all of them are closed; if that fails, they are asked again
                self._agenda.ring(session)
                raise
            self._agenda.failed(session, error.code, began)
            return None
        except BaseException:  # the program was interrupted
            self._agenda.ring(session)
            raise
        self._agenda.succeeded(session)
        return Woken(session, reply)

    # -- inside --------------------------------------------------------------------------------

    def _call(self, **request: Any) -> Dict[str, Any]:
        return self._library.call(self._open_handle(), request)

    def _open_handle(self) -> int:
        handle = self._handle
        if not handle:
            raise TidingsError("TIDINGS_E_CLOSED", "this plugin was closed")
        return handle

    def _ask(self, session: Optional[str], /, **request: Any) -> Tuple[Reply, Dict[str, Any]]:
        began = self._agenda.begin_call()
        answer = self._call(**request)
        reply = reply_of(answer["reply"])
        if session is not None and reply.status is not None:
            self._agenda.note(session, reply.wake_at_ms, began)
        return reply, answer

    def _carry(self, request: Dict[str, Any]) -> Delivery:
        reply, answer = self._ask(request["session"], **request)
        if reply.delivery_id is not None:
            self._sessions[reply.delivery_id] = request["session"]
        return Delivery(answer["content"], outgoing_of(answer["outgoing"]), reply)
