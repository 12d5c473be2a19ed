// SPDX-License-Identifier: MIT
//! The host through which hostsim plays its scenarios (docs/scenarios.md): each request of hostsim becomes a call of the crate, and the typed reply
//! goes back as JSON. It ends when hostsim closes descriptor 3.
use std::io::{Read, Write};
use std::os::unix::io::FromRawFd;
use std::os::unix::net::UnixStream;

use tidings::{
    Action, ChatRequest, Delivery, Error, Notification, Options, Origin, Outcome, Part, Reply,
    Role, Status, Tidings, ToolResult,
};

mod json;
use json::Json;

fn text(value: impl Into<String>) -> Json {
    Json::Text(value.into())
}

fn raw(value: impl ToString) -> Json {
    Json::Raw(value.to_string())
}

fn null() -> Json {
    raw("null")
}

fn object(members: Vec<(&str, Json)>) -> Json {
    Json::Object(
        members
            .into_iter()
            .map(|(name, value)| (name.to_string(), value))
            .collect(),
    )
}

fn texts(values: &[String]) -> Json {
    Json::List(values.iter().map(text).collect())
}

fn notification(one: &Notification) -> Json {
    let kind = object(vec![
        ("source", text(&one.source)),
        ("name", text(&one.name)),
    ]);
    let mut members = vec![
        ("kind", kind),
        ("level", text(one.level.word())),
        ("message", text(&one.text)),
    ];
    members.extend(one.data.as_ref().map(|data| ("data", raw(data))));
    members.extend((one.count > 1).then(|| ("count", raw(one.count))));
    object(members)
}

fn part(one: &Part) -> Json {
    let mut members = vec![
        ("role", text(one.voice.word())),
        ("place", text(one.place.word())),
        ("text", text(&one.text)),
    ];
    if one.voice == tidings::Voice::Tool {
        members.extend([("call_id", text(&one.call_id)), ("tool", text(&one.tool))]);
    }
    object(members)
}

fn message(one: &tidings::Message) -> Json {
    object(vec![
        ("id", text(&one.id)),
        ("content", text(&one.content)),
        ("queued_at", one.queued_at_ms.map_or(null(), raw)),
        ("trigger", one.trigger.as_ref().map_or(null(), raw)),
    ])
}

fn action(one: &Action) -> Json {
    let mut members = vec![("type", text(one.kind.word()))];
    members.extend(one.cause.map(|cause| ("cause", text(cause.word()))));
    if one.kind == tidings::ActionType::StartTurn {
        members.extend([
            ("source", text(one.origin.word())),
            (
                "messages",
                Json::List(one.messages.iter().map(message).collect()),
            ),
        ]);
    }
    object(members)
}

fn status(one: &Status) -> Json {
    let mut members = vec![
        ("state", text(one.state.word())),
        ("messages", texts(&one.messages)),
        ("started_at", one.started_at_ms.map_or(null(), raw)),
        ("attempt", raw(one.attempt)),
        ("message", one.detail.as_ref().map_or(null(), text)),
        ("orphaned", texts(&one.orphaned)),
    ];
    members.extend(one.phase.map(|phase| ("phase", text(phase.word()))));
    object(members)
}

/// Converts a typed reply to JSON as in schema/reply.schema.json.
fn shown(reply: &Reply) -> Json {
    let mut members = vec![
        (
            "delivery",
            reply.delivery_id.map_or(null(), |id| text(id.to_string())),
        ),
        (
            "notifications",
            Json::List(reply.notifications.iter().map(notification).collect()),
        ),
        (
            "messages",
            Json::List(reply.parts.iter().map(part).collect()),
        ),
        (
            "actions",
            Json::List(reply.actions.iter().map(action).collect()),
        ),
        ("steered", texts(&reply.steered)),
        ("status", reply.status.as_ref().map_or(null(), status)),
        ("duplicate", raw(reply.duplicate)),
        ("wake_at", reply.wake_at_ms.map_or(null(), raw)),
    ];
    members.extend(reply.ledger.as_ref().map(|ledger| ("ledger", text(ledger))));
    object(members)
}

fn open(request: &Json) -> Result<Tidings, Error> {
    let given = |name: &str| request.text(name).map(str::to_string);
    Tidings::open(&Options {
        plugin: given("plugin"),
        store: given("store"),
        host_name: given("host_name"),
        configuration: given("config"),
        role: if request.text("role") == Some("producer") {
            Role::Producer
        } else {
            Role::Host
        },
        no_probe: true,
        ..Options::default()
    })
}

fn room(request: &Json) -> u64 {
    match request.get("room") {
        Some(Json::Raw(number)) => number.parse().expect("a number of bytes"),
        _ => 0,
    }
}

fn carried(delivery: Delivery) -> Json {
    object(vec![
        ("reply", shown(&delivery.reply)),
        ("content", text(delivery.content())),
    ])
}

fn replied(reply: &Reply) -> Json {
    object(vec![("reply", shown(reply))])
}

fn chat_request(
    kit: &Tidings,
    request: &Json,
    session: &str,
    content: &str,
) -> Result<Json, Error> {
    let ids: Option<Vec<&str>> = match request.get("messages") {
        Some(Json::List(values)) => Some(
            values
                .iter()
                .filter_map(|id| {
                    if let Json::Text(id) = id {
                        Some(id.as_str())
                    } else {
                        None
                    }
                })
                .collect(),
        ),
        _ => None,
    };
    let origin = if request.text("source") == Some("system") {
        Origin::System
    } else {
        Origin::User
    };
    kit.chat_request(&ChatRequest {
        session,
        origin,
        content,
        messages: ids.as_deref(),
        room: room(request),
    })
    .map(carried)
}

fn perform(kit: &Tidings, request: &Json) -> Result<Json, Error> {
    let given = |name: &str| request.text(name).unwrap_or("");
    let (session, content) = (given("session"), given("content"));
    match given("op") {
        "event" => kit.event("s", given("event")).map(|reply| replied(&reply)),
        "tool_result" => kit
            .tool_result(&ToolResult {
                session,
                call_id: given("call_id"),
                tool: given("tool"),
                content,
                room: room(request),
            })
            .map(carried),
        "chat_request" => chat_request(kit, request, session, content),
        "settle" => {
            let outcome = if given("outcome") == "committed" {
                Outcome::Committed
            } else {
                Outcome::RolledBack
            };
            kit.settle(
                given("delivery").parse().expect("the number of a delivery"),
                outcome,
            )
            .map(|reply| replied(&reply))
        }
        "query" => kit
            .query(given("query"))
            .map(|answer| object(vec![("answer", raw(answer))])),
        "swap" => kit.swap(None).map(|()| object(vec![])),
        other => panic!("no operation {other}"),
    }
}

fn answer(kit: &mut Option<Tidings>, request: &Json) -> Json {
    let done = match (request.text("op"), kit.as_ref()) {
        (Some("open"), _) => open(request).map(|opened| {
            *kit = Some(opened);
            object(vec![])
        }),
        (Some("close"), _) => kit
            .take()
            .map_or(Ok(()), Tidings::close)
            .map(|()| object(vec![])),
        (_, Some(kit)) => perform(kit, request),
        (_, None) => panic!("not open"),
    };
    done.unwrap_or_else(|error| {
        let why = object(vec![("code", text(error.name)), ("text", text(error.text))]);
        object(vec![
            ("error", why),
            ("content", text(request.text("content").unwrap_or(""))),
        ])
    })
}

fn main() -> std::io::Result<()> {
    // Safety: hostsim has put its stream socket there, and nothing else uses it.
    let mut channel = unsafe { UnixStream::from_raw_fd(3) };
    let mut kit = None;
    let mut header = [0; 4];
    while channel.read_exact(&mut header).is_ok() {
        let mut bytes = vec![0; u32::from_be_bytes(header) as usize];
        channel.read_exact(&mut bytes)?;
        let request = json::read(std::str::from_utf8(&bytes).expect("UTF-8"));
        let mut written = String::new();
        answer(&mut kit, &request).write(&mut written);
        channel.write_all(&(written.len() as u32).to_be_bytes())?;
        channel.write_all(written.as_bytes())?;
        if request.text("op") == Some("close") {
            break;
        }
    }
    Ok(())
}
