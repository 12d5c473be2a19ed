// SPDX-License-Identifier: MIT
//! Tests that the structs have the layout of the C headers, which abi/golden/ in the sources of tidings describes. Outside those sources it compares
//! nothing.
use std::mem::{align_of, size_of, MaybeUninit};
use std::ptr::addr_of;

use tidings_sys::*;

fn golden() -> Option<String> {
    let file = "abi/golden/layout-1.2.txt";
    match std::env::var("TIDINGS_SOURCE_DIR") {
        Ok(sources) => Some(std::fs::read_to_string(format!("{}/{}", sources, file)).unwrap()),
        Err(_) => {
            std::fs::read_to_string(format!("{}/../../../{}", env!("CARGO_MANIFEST_DIR"), file))
                .ok()
        }
    }
}

macro_rules! compare {
    ($golden:expr, $failed:expr, $c:literal, $type:ident: $($field:ident $($name:literal)?),*) => {
        let line = format!("struct tidings_{}: size {}, align {}", $c, size_of::<$type>(), align_of::<$type>());
        if !$golden.lines().any(|one| one == line) {
            $failed.push(line);
        }
        let value = MaybeUninit::<$type>::uninit();
        $(
            let name = [$($name,)? stringify!($field)][0];
            // Safety: only addresses are taken.
            let offset = unsafe { addr_of!((*value.as_ptr()).$field) as usize } - value.as_ptr() as usize;
            let line = format!("  tidings_{}.{}: offset {}, ", $c, name, offset);
            if !$golden.lines().any(|one| one.starts_with(&line)) {
                $failed.push(line);
            }
        )*
        let fields = $golden.lines().filter(|one| one.starts_with(concat!("  tidings_", $c, "."))).count();
        if fields != [$(stringify!($field)),*].len() {
            $failed.push(format!("tidings_{} has {} fields in C", $c, fields));
        }
    };
}

#[test]
fn structs_are_those_of_the_headers() {
    let golden = match golden() {
        Some(golden) => golden,
        None => return,
    };
    let mut failed = Vec::new();
    compare!(golden, failed, "span", Span: ptr, len);
    compare!(golden, failed, "error", Error: size, code, text);
    compare!(golden, failed, "host", Host: size, flags, context, log, now_ms, mono_ns, random, count_tokens);
    compare!(golden, failed, "notification", Notification: size, level, id, time_ms, kind_source, kind_name, text, data, count, reserved);
    compare!(golden, failed, "part", Part: size, voice, place, reserved, text, call_id, tool);
    compare!(golden, failed, "message", Message: size, reserved, id, content, trigger, queued_at_ms);
    compare!(golden, failed, "action", Action: size, r#type "type", cause, origin, messages, message_count);
    compare!(golden, failed, "status", Status: size, state, phase, attempt, messages, message_count, started_at_ms, detail, orphaned, orphaned_count);
    compare!(golden, failed, "reply", Reply: size, flags, delivery_id, notifications, notification_count, parts, part_count, actions, action_count, steered,
        steered_count, status, wake_at_ms, ledger);
    compare!(golden, failed, "tool_result", ToolResult: size, flags, session, call_id, tool, content, room_bytes);
    compare!(golden, failed, "chat_request", ChatRequest: size, flags, session, origin, reserved, content, messages, message_count, room_bytes);
    compare!(golden, failed, "store_request", StoreRequest: size, flags, from, to, session);
    assert!(failed.is_empty(), "not in the headers: {failed:#?}");
}

#[test]
fn a_library_that_is_not_there_is_an_error() {
    assert!(Hostkit::load("/no/such/library.so")
        .err()
        .unwrap()
        .contains("/no/such/library.so"));
    assert!(Hostkit::load("libc.so.6")
        .err()
        .unwrap()
        .ends_with("has no hostkit_open"));
}
