# SPDX-License-Identifier: MIT
"""The values of replies, as in schema/reply.schema.json. A word that a later version has added appears as digits: skip words that you do not know."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping, Optional, Sequence, Tuple


@dataclass(frozen=True)
class Notification:
    """A notification as it is shown; `count` is the number of pushed notifications that it stands for."""

    source: str
    name: str
    level: str
    text: str
    data: Any = None
    count: int = 1


@dataclass(frozen=True)
class Part:
    """A text that belongs to a carrier, by voice ("carrier", "block", "developer", "user", "tool") and place."""

    voice: str
    place: str
    text: str
    call_id: Optional[str] = None
    tool: Optional[str] = None


@dataclass(frozen=True)
class Outgoing:
    """A message to send, or a block of the carrier's message, in the order in which they are sent."""

    voice: str
    is_carrier: bool
    text: str
    call_id: Optional[str] = None
    tool: Optional[str] = None


@dataclass(frozen=True)
class TurnMessage:
    """A message that a turn starts with."""

    id: str
    content: str
    queued_at_ms: Optional[int]
    trigger: Any


@dataclass(frozen=True)
class Action:
    """An action for the host: "start_turn", "abort_stream", "stop_turn"; it skips others."""

    type: str
    cause: Optional[str] = None
    origin: Optional[str] = None
    messages: Tuple[TurnMessage, ...] = ()


@dataclass(frozen=True)
class Status:
    """The state of a session's turn."""

    state: str
    phase: Optional[str]
    messages: Tuple[str, ...]
    started_at_ms: Optional[int]
    attempt: int
    detail: Optional[str]
    orphaned: Tuple[str, ...]


@dataclass(frozen=True)
class Reply:
    """The answer of a call. `delivery_id` is None when there is nothing to settle."""

    delivery_id: Optional[str] = None
    notifications: Tuple[Notification, ...] = ()
    parts: Tuple[Part, ...] = ()
    actions: Tuple[Action, ...] = ()
    steered: Tuple[str, ...] = ()
    status: Optional[Status] = None
    duplicate: bool = False
    wake_at_ms: Optional[int] = None
    ledger: Optional[str] = None


@dataclass(frozen=True)
class Delivery:
    """A carrier to send: `outgoing` in this order; `content` is the carrier's own text. After it was sent, settle `id`, unless it is None."""

    content: str
    outgoing: Tuple[Outgoing, ...]
    reply: Reply = field(default_factory=Reply)

    @property
    def id(self) -> Optional[str]:
        return self.reply.delivery_id


@dataclass(frozen=True)
class Woken:
    """A session that wants its host to act, and what it wants."""

    session: str
    reply: Reply


@dataclass(frozen=True)
class Info:
    """The plugin that is loaded."""

    name: str
    version: str
    build_id: str
    abi: str
    generation: int


Json = Mapping[str, Any]


def _notification(value: Json) -> Notification:
    return Notification(value["kind"]["source"], value["kind"]["name"], value["level"], value["message"], value.get("data"), value.get("count", 1))


def _part(value: Json) -> Part:
    return Part(value["role"], value["place"], value["text"], value.get("call_id"), value.get("tool"))


def _action(value: Json) -> Action:
    messages = tuple(TurnMessage(one["id"], one["content"], one["queued_at"], one["trigger"]) for one in value.get("messages", ()))
    return Action(value["type"], value.get("cause"), value.get("source"), messages)


def _status(value: Optional[Json]) -> Optional[Status]:
    if value is None:
        return None
    return Status(value["state"], value.get("phase"), tuple(value["messages"]), value["started_at"], value["attempt"], value["message"], tuple(value["orphaned"]))


def reply_of(value: Json) -> Reply:
    return Reply(
        delivery_id=value["delivery"],
        notifications=tuple(map(_notification, value["notifications"])),
        parts=tuple(map(_part, value["messages"])),
        actions=tuple(map(_action, value["actions"])),
        steered=tuple(value["steered"]),
        status=_status(value["status"]),
        duplicate=value["duplicate"],
        wake_at_ms=value["wake_at"],
        ledger=value.get("ledger"),
    )


def outgoing_of(values: Sequence[Json]) -> Tuple[Outgoing, ...]:
    return tuple(Outgoing(one["role"], one["carrier"], one["text"], one.get("call_id"), one.get("tool")) for one in values)
