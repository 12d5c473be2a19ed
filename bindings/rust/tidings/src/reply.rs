// SPDX-License-Identifier: MIT
//! The values of replies, copied out of hostkit's structs.
use tidings_sys as sys;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident: $($variant:ident = $number:path, $word:literal;)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($variant,)*
            /// A number that a later version has added.
            Other(u32),
        }

        impl $name {
            pub(crate) fn of(number: u32) -> $name {
                match number {
                    $($number => $name::$variant,)*
                    other => $name::Other(other),
                }
            }

            /// Returns the word for it in the JSON form of a reply.
            pub fn word(self) -> String {
                match self {
                    $($name::$variant => $word.to_string(),)*
                    $name::Other(number) => number.to_string(),
                }
            }
        }
    };
}

words! {
    Level:
    Info = sys::LEVEL_INFO, "info";
    Warning = sys::LEVEL_WARNING, "warning";
    Error = sys::LEVEL_ERROR, "error";
    Critical = sys::LEVEL_CRITICAL, "critical";
}
words! {
    /// How a text is sent: in the carrier's own text, as a block beside it, or as a message with its own role.
    Voice:
    Carrier = sys::VOICE_CARRIER, "carrier";
    Block = sys::VOICE_BLOCK, "block";
    Developer = sys::VOICE_DEVELOPER, "developer";
    User = sys::VOICE_USER, "user";
    Tool = sys::VOICE_TOOL, "tool";
}
words! {
    Place:
    Prepend = sys::PLACE_PREPEND, "prepend";
    Append = sys::PLACE_APPEND, "append";
    Before = sys::PLACE_BEFORE, "before";
    After = sys::PLACE_AFTER, "after";
    Pair = sys::PLACE_PAIR, "pair";
}
words! {
    /// What the host must do now. Skip `Other`.
    ActionType:
    StartTurn = sys::ACTION_START_TURN, "start_turn";
    AbortStream = sys::ACTION_ABORT_STREAM, "abort_stream";
    StopTurn = sys::ACTION_STOP_TURN, "stop_turn";
}
words! {
    Cause:
    Critical = sys::CAUSE_CRITICAL, "critical";
    Requested = sys::CAUSE_REQUESTED, "requested";
}
words! {
    Origin:
    User = sys::ORIGIN_USER, "user";
    System = sys::ORIGIN_SYSTEM, "system";
}
words! {
    State:
    Idle = sys::STATE_IDLE, "idle";
    Starting = sys::STATE_STARTING, "starting";
    Busy = sys::STATE_BUSY, "busy";
    Retrying = sys::STATE_RETRYING, "retrying";
    Waiting = sys::STATE_WAITING, "waiting";
    Error = sys::STATE_ERROR, "error";
}
words! {
    Phase:
    Streaming = sys::PHASE_STREAMING, "streaming";
    Tools = sys::PHASE_TOOLS, "tools";
}

/// A notification as it is shown; `count` is the number of pushed notifications that it stands for.
#[derive(Clone, Debug)]
pub struct Notification {
    pub id: u64,
    pub source: String,
    pub name: String,
    pub level: Level,
    pub text: String,
    /// The pushed JSON value.
    pub data: Option<String>,
    pub time_ms: i64,
    pub count: u32,
}

/// A text that belongs to a carrier.
#[derive(Clone, Debug)]
pub struct Part {
    pub voice: Voice,
    pub place: Place,
    pub text: String,
    /// The id of the synthetic call, if the voice is `Tool`; `tool` is its tool.
    pub call_id: String,
    pub tool: String,
}

/// A message that a turn starts with.
#[derive(Clone, Debug)]
pub struct Message {
    pub id: String,
    pub content: String,
    /// The trigger's envelope as submitted, as JSON.
    pub trigger: Option<String>,
    pub queued_at_ms: Option<i64>,
}

#[derive(Clone, Debug)]
pub struct Action {
    pub kind: ActionType,
    pub cause: Option<Cause>,
    /// Only `StartTurn` has one.
    pub origin: Origin,
    /// The messages with which the turn of `StartTurn` starts.
    pub messages: Vec<Message>,
}

/// The state of a session's turn.
#[derive(Clone, Debug)]
pub struct Status {
    pub state: State,
    pub phase: Option<Phase>,
    pub attempt: u32,
    pub messages: Vec<String>,
    pub started_at_ms: Option<i64>,
    pub detail: Option<String>,
    pub orphaned: Vec<String>,
}

/// The answer of a call.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// Keep it with the carrier in the transcript, and settle it. None: there is nothing to settle.
    pub delivery_id: Option<u64>,
    pub notifications: Vec<Notification>,
    pub parts: Vec<Part>,
    pub actions: Vec<Action>,
    pub steered: Vec<String>,
    pub status: Option<Status>,
    pub duplicate: bool,
    /// Wake the session at this wall-clock time, as `Wakes` does.
    pub wake_at_ms: Option<i64>,
    /// JSON.
    pub ledger: Option<String>,
}

/// A message to send, or a block of the carrier's message.
#[derive(Clone, Debug)]
pub struct Outgoing {
    pub voice: Voice,
    pub is_carrier: bool,
    pub text: String,
    pub call_id: Option<String>,
    pub tool: Option<String>,
}

/// A carrier to send: `outgoing`, in this order. Then settle `reply.delivery_id`.
#[derive(Clone, Debug)]
pub struct Delivery {
    pub outgoing: Vec<Outgoing>,
    pub reply: Reply,
}

impl Delivery {
    /// Returns the unchanged carrier, for a host whose call failed.
    pub fn unchanged(content: &str) -> Delivery {
        let carrier = Outgoing {
            voice: Voice::Carrier,
            is_carrier: true,
            text: content.to_string(),
            call_id: None,
            tool: None,
        };
        Delivery {
            outgoing: vec![carrier],
            reply: Reply::default(),
        }
    }

    /// Returns the carrier's own text, with its prefix and suffix.
    pub fn content(&self) -> &str {
        self.outgoing
            .iter()
            .find(|part| part.is_carrier)
            .map_or("", |part| &part.text)
    }
}

// -- copying -------------------------------------------------------------------------------------

/// Safety: the span is of a live reply.
pub(crate) unsafe fn text(span: &sys::Span) -> String {
    if span.len == 0 {
        return String::new();
    }
    String::from_utf8_lossy(std::slice::from_raw_parts(span.ptr.cast(), span.len)).into_owned()
}

unsafe fn text_or_none(span: &sys::Span) -> Option<String> {
    (span.len > 0).then(|| text(span))
}

/// Safety: `count` pointers to live values.
pub(crate) unsafe fn each<T, U>(
    array: *const *const T,
    count: usize,
    copy: unsafe fn(&T) -> U,
) -> Vec<U> {
    if count == 0 {
        return Vec::new();
    }
    std::slice::from_raw_parts(array, count)
        .iter()
        .map(|&one| copy(&*one))
        .collect()
}

fn time(ms: i64) -> Option<i64> {
    (ms != 0).then_some(ms)
}

unsafe fn notification(one: &sys::Notification) -> Notification {
    Notification {
        id: one.id,
        source: text(&one.kind_source),
        name: text(&one.kind_name),
        level: Level::of(one.level),
        text: text(&one.text),
        data: text_or_none(&one.data),
        time_ms: one.time_ms,
        count: one.count,
    }
}

unsafe fn part(one: &sys::Part) -> Part {
    Part {
        voice: Voice::of(one.voice),
        place: Place::of(one.place),
        text: text(&one.text),
        call_id: text(&one.call_id),
        tool: text(&one.tool),
    }
}

unsafe fn message(one: &sys::Message) -> Message {
    Message {
        id: text(&one.id),
        content: text(&one.content),
        trigger: text_or_none(&one.trigger),
        queued_at_ms: time(one.queued_at_ms),
    }
}

unsafe fn action(one: &sys::Action) -> Action {
    Action {
        kind: ActionType::of(one.r#type),
        cause: (one.cause != sys::CAUSE_NONE).then(|| Cause::of(one.cause)),
        origin: Origin::of(one.origin),
        messages: each(one.messages, one.message_count, message),
    }
}

unsafe fn status(one: &sys::Status) -> Status {
    Status {
        state: State::of(one.state),
        phase: (one.phase != sys::PHASE_UNKNOWN).then(|| Phase::of(one.phase)),
        attempt: one.attempt,
        messages: each(one.messages, one.message_count, text),
        started_at_ms: time(one.started_at_ms),
        detail: text_or_none(&one.detail),
        orphaned: each(one.orphaned, one.orphaned_count, text),
    }
}

/// Safety: NULL, or a live reply of hostkit's.
pub(crate) unsafe fn reply(from: *const sys::Reply) -> Reply {
    let from = match from.as_ref() {
        Some(from) => from,
        None => return Reply::default(),
    };
    Reply {
        delivery_id: (from.delivery_id != 0).then_some(from.delivery_id),
        notifications: each(from.notifications, from.notification_count, notification),
        parts: each(from.parts, from.part_count, part),
        actions: each(from.actions, from.action_count, action),
        steered: each(from.steered, from.steered_count, text),
        status: from.status.as_ref().map(|one| status(one)),
        duplicate: from.flags & sys::REPLY_DUPLICATE != 0,
        wake_at_ms: time(from.wake_at_ms),
        ledger: text_or_none(&from.ledger),
    }
}

unsafe fn c_text(text: *const std::os::raw::c_char) -> Option<String> {
    (!text.is_null()).then(|| {
        std::ffi::CStr::from_ptr(text)
            .to_string_lossy()
            .into_owned()
    })
}

/// Safety: a live part of hostkit's.
pub(crate) unsafe fn outgoing(one: &sys::HostkitPart) -> Outgoing {
    Outgoing {
        voice: Voice::of(one.voice),
        is_carrier: one.is_carrier != 0,
        text: text(&sys::Span {
            ptr: one.text,
            len: one.text_len,
        }),
        call_id: c_text(one.call_id),
        tool: c_text(one.tool),
    }
}
