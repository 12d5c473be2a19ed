// SPDX-License-Identifier: MIT
//! tidings: notifications for the conversation of an LLM agent, for hosts in Rust.
//!
//! ```no_run
//! # fn main() -> Result<(), tidings::Error> {
//! let kit = tidings::Tidings::open(&tidings::Options { host_name: Some("Example".into()), ..Default::default() })?;
//! let delivery = kit.tool_result(&tidings::ToolResult { session: "s", content: "a.c\n", call_id: "c1", tool: "ls", room: 0 })?;
//! for part in &delivery.outgoing { /* send it */ }
//! if let Some(id) = delivery.reply.delivery_id { kit.settle(id, tidings::Outcome::Committed)?; }
//! # Ok(()) }
//! ```
use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::os::raw::c_char;
use std::os::unix::io::FromRawFd;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{SystemTime, UNIX_EPOCH};

use tidings_sys as sys;

mod agenda;
mod error;
mod library;
mod options;
mod reply;
mod wake;
pub use error::Error;
pub use options::{Activation, ChatRequest, Notify, Options, Outcome, Role, ToolResult};
pub use reply::{
    Action, ActionType, Cause, Delivery, Level, Message, Notification, Origin, Outgoing, Part,
    Phase, Place, Reply, State, Status, Voice,
};
pub use wake::{Next, Wakes, Woken};

const DRAIN_MS: u32 = 5000;

/// An open plugin. All methods may be called from any thread. It is closed when it is dropped.
pub struct Tidings {
    hostkit: sys::Hostkit,
    kit: *mut sys::Kit,
    agenda: Arc<Mutex<agenda::Agenda>>, // the threads of `Wakes` have it too
    sessions: Mutex<HashMap<u64, String>>, // by delivery that is not settled: its session
}

// Safety: hostkit's functions may be called from any thread; only close may not run beside others, and drop has no others beside it.
unsafe impl Send for Tidings {}
unsafe impl Sync for Tidings {}

/// The plugin that is loaded.
#[derive(Clone, Debug)]
pub struct Info {
    pub name: String,
    pub version: String,
    pub build_id: String,
    pub abi: (u16, u16),
    pub generation: u32,
}

fn span(text: &str) -> sys::Span {
    sys::Span {
        ptr: text.as_ptr().cast(),
        len: text.len(),
    }
}

fn size_of<T>() -> u32 {
    std::mem::size_of::<T>() as u32
}

pub(crate) fn now_ms() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as i64)
}

impl Tidings {
    /// Loads hostkit and the plugin.
    pub fn open(options: &Options) -> Result<Tidings, Error> {
        let hostkit = library::load(options.library.as_deref())?;
        let given = options::Given::new(options)?;
        let mut kit = std::ptr::null_mut();
        let mut why = error::empty();
        // Safety: the strings of `given` live until the call has returned.
        let code = unsafe { (hostkit.hostkit_open)(&given.as_struct(options), &mut kit, &mut why) };
        error::check(&hostkit, code, &why)?;
        Ok(Tidings {
            hostkit,
            kit,
            agenda: Arc::default(),
            sessions: Mutex::default(),
        })
    }

    /// Closes the plugin, and returns an error if that failed; the library then stays loaded.
    pub fn close(mut self) -> Result<(), Error> {
        let mut why = error::empty();
        // Safety: `self` is ours alone.
        let code = unsafe { (self.hostkit.hostkit_close)(self.kit, DRAIN_MS, &mut why) };
        self.kit = std::ptr::null_mut(); // closing NULL is harmless
        error::check(&self.hostkit, code, &why)
    }

    // -- carriers --------------------------------------------------------------------------------

    /// Call it before each tool result is sent. On an error send `Delivery::unchanged`.
    pub fn tool_result(&self, result: &ToolResult<'_>) -> Result<Delivery, Error> {
        let given = sys::ToolResult {
            size: size_of::<sys::ToolResult>(),
            flags: 0,
            session: span(result.session),
            call_id: span(result.call_id),
            tool: span(result.tool),
            content: span(result.content),
            room_bytes: result.room,
        };
        // Safety: all spans live until the call has returned.
        self.carry(result.session, result.content, |reply, why| unsafe {
            (self.hostkit.hostkit_tool_result)(self.kit, &given, reply, why)
        })
    }

    /// Call it before each chat request is sent. On an error do not send a request that names messages: they still wait, or are no longer offered.
    pub fn chat_request(&self, request: &ChatRequest<'_>) -> Result<Delivery, Error> {
        let spans: Vec<sys::Span> = request
            .messages
            .unwrap_or_default()
            .iter()
            .map(|id| span(id))
            .collect();
        let pointers: Vec<*const sys::Span> = spans.iter().map(|one| one as *const _).collect();
        let given = sys::ChatRequest {
            size: size_of::<sys::ChatRequest>(),
            flags: 0,
            session: span(request.session),
            origin: request.origin.number(),
            reserved: 0,
            content: span(request.content),
            messages: if request.messages.is_some() {
                pointers.as_ptr()
            } else {
                std::ptr::null()
            },
            message_count: pointers.len(),
            room_bytes: request.room,
        };
        // Safety: as above.
        self.carry(request.session, request.content, |reply, why| unsafe {
            (self.hostkit.hostkit_chat_request)(self.kit, &given, reply, why)
        })
    }

    /// Call it when the carrier is in the transcript, or certainly never will be.
    pub fn settle(&self, delivery_id: u64, outcome: Outcome) -> Result<Reply, Error> {
        let began = self.agenda().begin_call();
        // Safety: no pointer is kept.
        let reply = self.ask(|reply, why| unsafe {
            (self.hostkit.hostkit_settle)(self.kit, delivery_id, outcome.number(), reply, why)
        })?;
        let session = self.sessions.lock().unwrap().remove(&delivery_id);
        Ok(match session {
            Some(session) => self.noted(&session, reply, began),
            None => reply,
        })
    }

    // -- events ----------------------------------------------------------------------------------

    /// Pushes a notification, which is stored durably when this is Ok. Do the reply's actions, because no wake repeats them.
    pub fn push(&self, notify: &Notify<'_>) -> Result<Reply, Error> {
        let given = notify.as_struct();
        let began = self.agenda().begin_call();
        // Safety: as above.
        let reply = self.ask(|reply, why| unsafe {
            (self.hostkit.hostkit_push)(self.kit, &given, reply, why)
        })?;
        Ok(self.noted(notify.session, reply, began))
    }

    /// Sends an event of docs/events.md, as JSON. `session` is the event's.
    pub fn event(&self, session: &str, event: &str) -> Result<Reply, Error> {
        let began = self.agenda().begin_call();
        // Safety: as above.
        let reply = self.ask(|reply, why| unsafe {
            (self.hostkit.hostkit_event)(self.kit, &span(event), reply, why)
        })?;
        Ok(self.noted(session, reply, began))
    }

    /// Asks a query of docs/queries.md: JSON in, JSON out.
    pub fn query(&self, request: &str) -> Result<String, Error> {
        let mut json: *mut c_char = std::ptr::null_mut();
        let mut why = error::empty();
        // Safety: on success `json` is NUL-terminated, and ours to free.
        unsafe {
            let code = (self.hostkit.hostkit_query)(self.kit, &span(request), &mut json, &mut why);
            error::check(&self.hostkit, code, &why)?;
            let text = CStr::from_ptr(json).to_string_lossy().into_owned();
            (self.hostkit.hostkit_free)(json.cast());
            Ok(text)
        }
    }

    /// Loads a rebuilt plugin. None: the same path again.
    pub fn swap(&self, plugin: Option<&str>) -> Result<(), Error> {
        let path = plugin
            .map(CString::new)
            .transpose()
            .map_err(|error| Error::invalid(format!("plugin: {error}")))?;
        let mut why = error::empty();
        // Safety: the path lives until the call has returned.
        let code = unsafe {
            (self.hostkit.hostkit_swap)(
                self.kit,
                path.as_ref().map_or(std::ptr::null(), |path| path.as_ptr()),
                DRAIN_MS,
                &mut why,
            )
        };
        error::check(&self.hostkit, code, &why)
    }

    pub fn info(&self) -> Result<Info, Error> {
        let mut info = sys::HostkitInfo {
            size: size_of::<sys::HostkitInfo>(),
            generation: 0,
            abi_major: 0,
            abi_minor: 0,
            has_query: 0,
            has_wake: 0,
            name: [0; 64],
            version: [0; 64],
            build_id: [0; 64],
        };
        // Safety: hostkit writes no further than `size`, and ends each text with a NUL.
        let code = unsafe { (self.hostkit.hostkit_info)(self.kit, &mut info) };
        error::check(&self.hostkit, code, &error::empty())?;
        let text = |bytes: &[c_char; 64]| {
            unsafe { CStr::from_ptr(bytes.as_ptr()) }
                .to_string_lossy()
                .into_owned()
        };
        Ok(Info {
            name: text(&info.name),
            version: text(&info.version),
            build_id: text(&info.build_id),
            abi: (info.abi_major, info.abi_minor),
            generation: info.generation,
        })
    }

    // -- being woken -----------------------------------------------------------------------------

    /// Asks what a session needs now.
    pub fn wake(&self, session: &str) -> Result<Reply, Error> {
        let began = self.agenda().begin_call();
        // Safety: as above.
        let reply = self.ask(|reply, why| unsafe {
            (self.hostkit.hostkit_wake)(self.kit, &span(session), reply, why)
        })?;
        Ok(self.noted(session, reply, began))
    }

    /// Returns the next session that rang; None: none is left.
    pub fn next_session(&self) -> Result<Option<String>, Error> {
        let mut buffer = [0u8; 256];
        let mut len = 0;
        let mut why = error::empty();
        // Safety: hostkit writes at most the buffer's size.
        let code = unsafe {
            (self.hostkit.hostkit_next_session)(
                self.kit,
                buffer.as_mut_ptr().cast(),
                buffer.len(),
                &mut len,
                &mut why,
            )
        };
        error::check(&self.hostkit, code, &why)?;
        Ok((len > 0).then(|| String::from_utf8_lossy(&buffer[..len]).into_owned()))
    }

    /// Returns a descriptor to poll, for your own event loop. Get it first, then ask `next_session`, then sleep.
    pub fn wake_descriptor(&self) -> Result<File, Error> {
        let mut fd = -1;
        let mut why = error::empty();
        // Safety: on success the descriptor is a new one, and ours.
        unsafe {
            let code = (self.hostkit.hostkit_wake_descriptor)(self.kit, &mut fd, &mut why);
            error::check(&self.hostkit, code, &why)?;
            Ok(File::from_raw_fd(fd))
        }
    }

    /// Returns a future of the sessions that want their host to act: `wakes.next().await`. A session also comes at the `wake_at_ms` of its newest reply, and
    /// only then without a wake descriptor (256 processes wait already). Dropping it loses no session: the next one continues with the remaining ones.
    pub fn wakes(self: &Arc<Self>) -> Result<Wakes, Error> {
        let descriptor = match self.wake_descriptor() {
            Ok(descriptor) => Some(descriptor),
            Err(error) if error.code == sys::E_FULL || error.code == sys::E_UNSUPPORTED => None,
            Err(error) => return Err(error),
        };
        Wakes::new(Arc::clone(self), descriptor).map_err(|error| {
            Error::new(
                sys::E_NOMEM,
                "TIDINGS_E_NOMEM",
                format!("waiting for sessions: {error}"),
            )
        })
    }

    pub(crate) fn agenda(&self) -> MutexGuard<'_, agenda::Agenda> {
        self.agenda.lock().unwrap()
    }

    // -- inside ----------------------------------------------------------------------------------

    fn ask_for(
        &self,
        call: impl FnOnce(*mut *mut sys::Reply, *mut sys::Error) -> i32,
    ) -> Result<Raw<'_>, Error> {
        let mut reply = std::ptr::null_mut();
        let mut why = error::empty();
        let code = call(&mut reply, &mut why);
        error::check(&self.hostkit, code, &why)?;
        Ok(Raw {
            hostkit: &self.hostkit,
            reply,
        })
    }

    fn ask(
        &self,
        call: impl FnOnce(*mut *mut sys::Reply, *mut sys::Error) -> i32,
    ) -> Result<Reply, Error> {
        let raw = self.ask_for(call)?;
        // Safety: it lives until `raw` is dropped.
        Ok(unsafe { reply::reply(raw.reply) })
    }

    fn carry(
        &self,
        session: &str,
        content: &str,
        call: impl FnOnce(*mut *mut sys::Reply, *mut sys::Error) -> i32,
    ) -> Result<Delivery, Error> {
        let began = self.agenda().begin_call();
        let raw = self.ask_for(call)?;
        // Safety: it lives until `raw` is dropped.
        let reply = self.noted(session, unsafe { reply::reply(raw.reply) }, began);
        let composed = self.compose(content, &raw);
        if let Some(id) = reply.delivery_id {
            if composed.is_err() {
                let _ = self.settle(id, Outcome::RolledBack); // the caller cannot send it; if this fails too, it stays leased and is delivered again
            } else {
                self.sessions
                    .lock()
                    .unwrap()
                    .insert(id, session.to_string());
            }
        }
        Ok(Delivery {
            outgoing: composed?,
            reply,
        })
    }

    fn compose(&self, content: &str, raw: &Raw<'_>) -> Result<Vec<Outgoing>, Error> {
        let mut composed: *mut sys::HostkitOutgoing = std::ptr::null_mut();
        let mut why = error::empty();
        // Safety: on success `composed` is ours to free.
        unsafe {
            let code =
                (self.hostkit.hostkit_compose)(&span(content), raw.reply, &mut composed, &mut why);
            error::check(&self.hostkit, code, &why)?;
            let parts = reply::each((*composed).parts, (*composed).part_count, reply::outgoing);
            (self.hostkit.hostkit_outgoing_free)(composed);
            Ok(parts)
        }
    }

    fn noted(&self, session: &str, reply: Reply, began: u64) -> Reply {
        if reply.status.is_some() {
            self.agenda().note(session, reply.wake_at_ms, began);
        }
        reply
    }
}

impl Drop for Tidings {
    fn drop(&mut self) {
        // Safety: nobody else has it. If closing fails the plugin stays open until the process ends, and nothing is lost.
        unsafe { (self.hostkit.hostkit_close)(self.kit, DRAIN_MS, std::ptr::null_mut()) };
    }
}

/// A reply of hostkit's, freed when it is dropped.
struct Raw<'a> {
    hostkit: &'a sys::Hostkit,
    reply: *mut sys::Reply,
}

impl Drop for Raw<'_> {
    fn drop(&mut self) {
        // Safety: NULL is allowed, and nothing that was copied points into it.
        unsafe { (self.hostkit.hostkit_reply_free)(self.reply) };
    }
}
