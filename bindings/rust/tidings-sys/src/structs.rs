// SPDX-License-Identifier: MIT
//! The structs and constants of abi.h, host.h, reply.h, plugin.h, store.h and hostkit.h. Their members are described there. Every struct except
//! `Span` begins with its size: the caller sets it to the size of the struct here.
use std::os::raw::{c_char, c_void};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Span {
    pub ptr: *const c_char,
    pub len: usize,
}

#[repr(C)]
pub struct Error {
    pub size: u32,
    pub code: i32,
    pub text: [c_char; 504],
}

pub const OK: i32 = 0;
pub const E_INVAL: i32 = -1;
pub const E_SCHEMA: i32 = -2;
pub const E_TOO_BIG: i32 = -3;
pub const E_UNSUPPORTED: i32 = -4;
pub const E_NOT_FOUND: i32 = -5;
pub const E_FIRED: i32 = -6;
pub const E_STATE: i32 = -7;
pub const E_BUSY: i32 = -8;
pub const E_FULL: i32 = -9;
pub const E_STORE: i32 = -10;
pub const E_SCHEMA_NEWER: i32 = -11;
pub const E_NOMEM: i32 = -12;
pub const E_CLOSED: i32 = -13;
pub const E_OWNED: i32 = -14;
pub const E_OUTCOME_UNKNOWN: i32 = -15;

pub const LEVEL_INFO: u32 = 0;
pub const LEVEL_WARNING: u32 = 1;
pub const LEVEL_ERROR: u32 = 2;
pub const LEVEL_CRITICAL: u32 = 3;
pub const ORIGIN_USER: u32 = 0;
pub const ORIGIN_SYSTEM: u32 = 1;
pub const ROLE_HOST: u32 = 0;
pub const ROLE_PRODUCER: u32 = 1;
pub const COMMITTED: u32 = 1;
pub const ROLLED_BACK: u32 = 2;
pub const LOG_ERROR: u32 = 0;
pub const LOG_WARNING: u32 = 1;
pub const LOG_INFO: u32 = 2;
pub const LOG_DEBUG: u32 = 3;

// -- host.h --------------------------------------------------------------------------------------

#[repr(C)]
pub struct Host {
    pub size: u32,
    pub flags: u32,
    pub context: *mut c_void,
    pub log: Option<unsafe extern "C" fn(*mut c_void, u32, *const Span)>,
    pub now_ms: Option<unsafe extern "C" fn(*mut c_void) -> i64>,
    pub mono_ns: Option<unsafe extern "C" fn(*mut c_void) -> u64>,
    pub random: Option<unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> i32>,
    pub count_tokens: Option<unsafe extern "C" fn(*mut c_void, *const Span) -> u64>,
}

// -- reply.h -------------------------------------------------------------------------------------

#[repr(C)]
pub struct Notification {
    pub size: u32,
    pub level: u32,
    pub id: u64,
    pub time_ms: i64,
    pub kind_source: Span,
    pub kind_name: Span,
    pub text: Span,
    pub data: Span,
    pub count: u32,
    pub reserved: u32,
}

pub const VOICE_CARRIER: u32 = 0;
pub const VOICE_BLOCK: u32 = 1;
pub const VOICE_DEVELOPER: u32 = 2;
pub const VOICE_USER: u32 = 3;
pub const VOICE_TOOL: u32 = 4;
pub const PLACE_PREPEND: u32 = 0;
pub const PLACE_APPEND: u32 = 1;
pub const PLACE_BEFORE: u32 = 2;
pub const PLACE_AFTER: u32 = 3;
pub const PLACE_PAIR: u32 = 4;

#[repr(C)]
pub struct Part {
    pub size: u32,
    pub voice: u32,
    pub place: u32,
    pub reserved: u32,
    pub text: Span,
    pub call_id: Span,
    pub tool: Span,
}

#[repr(C)]
pub struct Message {
    pub size: u32,
    pub reserved: u32,
    pub id: Span,
    pub content: Span,
    pub trigger: Span,
    pub queued_at_ms: i64,
}

pub const ACTION_START_TURN: u32 = 1;
pub const ACTION_ABORT_STREAM: u32 = 2;
pub const ACTION_STOP_TURN: u32 = 3;
pub const CAUSE_NONE: u32 = 0;
pub const CAUSE_CRITICAL: u32 = 1;
pub const CAUSE_REQUESTED: u32 = 2;

#[repr(C)]
pub struct Action {
    pub size: u32,
    pub r#type: u32,
    pub cause: u32,
    pub origin: u32,
    pub messages: *const *const Message,
    pub message_count: usize,
}

pub const STATE_IDLE: u32 = 0;
pub const STATE_STARTING: u32 = 1;
pub const STATE_BUSY: u32 = 2;
pub const STATE_RETRYING: u32 = 3;
pub const STATE_WAITING: u32 = 4;
pub const STATE_ERROR: u32 = 5;
pub const PHASE_UNKNOWN: u32 = 0;
pub const PHASE_STREAMING: u32 = 1;
pub const PHASE_TOOLS: u32 = 2;

#[repr(C)]
pub struct Status {
    pub size: u32,
    pub state: u32,
    pub phase: u32,
    pub attempt: u32,
    pub messages: *const *const Span,
    pub message_count: usize,
    pub started_at_ms: i64,
    pub detail: Span,
    pub orphaned: *const *const Span,
    pub orphaned_count: usize,
}

pub const REPLY_DUPLICATE: u32 = 1;

#[repr(C)]
pub struct Reply {
    pub size: u32,
    pub flags: u32,
    pub delivery_id: u64,
    pub notifications: *const *const Notification,
    pub notification_count: usize,
    pub parts: *const *const Part,
    pub part_count: usize,
    pub actions: *const *const Action,
    pub action_count: usize,
    pub steered: *const *const Span,
    pub steered_count: usize,
    pub status: *const Status,
    pub wake_at_ms: i64,
    pub ledger: Span,
}

// -- plugin.h ------------------------------------------------------------------------------------

#[repr(C)]
pub struct ToolResult {
    pub size: u32,
    pub flags: u32,
    pub session: Span,
    pub call_id: Span,
    pub tool: Span,
    pub content: Span,
    pub room_bytes: u64,
}

#[repr(C)]
pub struct ChatRequest {
    pub size: u32,
    pub flags: u32,
    pub session: Span,
    pub origin: u32,
    pub reserved: u32,
    pub content: Span,
    pub messages: *const *const Span,
    pub message_count: usize,
    pub room_bytes: u64,
}

// -- store.h -------------------------------------------------------------------------------------

#[repr(C)]
pub struct StoreRequest {
    pub size: u32,
    pub flags: u32,
    pub from: Span,
    pub to: Span,
    pub session: Span,
}

// -- hostkit.h -----------------------------------------------------------------------------------

pub const HOSTKIT_NO_PROBE: u32 = 1;
pub const HOSTKIT_KEEP_MAPPED: u32 = 2;
pub const HOSTKIT_COPY_IN_MEMORY: u32 = 4;
pub const HOSTKIT_LEAVE_TO_EXIT: u32 = 8;

#[repr(C)]
pub struct HostkitOptions {
    pub size: u32,
    pub flags: u32,
    pub plugin_path: *const c_char,
    pub store_dir: *const c_char,
    pub host_name: *const c_char,
    pub configuration: *const c_char,
    pub role: u32,
    pub owner_pid: u32,
    pub hook_budget_ms: u32,
    pub settle_on_return: u32,
    pub copy_dir: *const c_char,
    pub probe_path: *const c_char,
    pub probe_timeout_ms: u32,
    pub reserved: u32,
    pub host: *const Host,
    pub total_budget_ms: u64,
}

#[repr(C)]
pub struct HostkitInfo {
    pub size: u32,
    pub generation: u32,
    pub abi_major: u16,
    pub abi_minor: u16,
    pub has_query: u32,
    pub has_wake: u32,
    pub name: [c_char; 64],
    pub version: [c_char; 64],
    pub build_id: [c_char; 64],
}

pub const HOSTKIT_ACTIVATION_DEFAULT: u32 = 0;
pub const HOSTKIT_ACTIVATION_PASSIVE: u32 = 1;
pub const HOSTKIT_ACTIVATION_IDLE: u32 = 2;
pub const HOSTKIT_ACTIVATION_INTERRUPT: u32 = 3;

#[repr(C)]
pub struct HostkitNotification {
    pub size: u32,
    pub flags: u32,
    pub session: Span,
    pub kind_source: Span,
    pub kind_name: Span,
    pub text: Span,
    pub level: u32,
    pub activation: u32,
    pub data: Span,
    pub key: Span,
    pub tool: Span,
    pub handle: Span,
    pub ttl_ms: u64,
    pub caused_by: Span,
    pub event_source: Span,
    pub event_id: Span,
}

#[repr(C)]
pub struct HostkitPart {
    pub size: u32,
    pub voice: u32,
    pub is_carrier: u32,
    pub reserved: u32,
    pub text: *mut c_char,
    pub text_len: usize,
    pub call_id: *mut c_char,
    pub tool: *mut c_char,
}

#[repr(C)]
pub struct HostkitOutgoing {
    pub size: u32,
    pub carrier: u32,
    pub parts: *const *const HostkitPart,
    pub part_count: usize,
}
