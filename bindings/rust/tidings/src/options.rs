// SPDX-License-Identifier: MIT
//! The arguments of calls.
use std::ffi::CString;
use std::os::raw::c_char;
use std::ptr::null;

use tidings_sys as sys;

use crate::{library, size_of, span, Error, Level, Origin};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Role {
    #[default]
    Host,
    /// Only pushes, submits and queries.
    Producer,
}

/// How a plugin is opened. None and 0 are the defaults that docs/embedding.md lists.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The path of `tidings.so`. None: the one that was installed with hostkit.
    pub plugin: Option<String>,
    pub store: Option<String>,
    pub host_name: Option<String>,
    /// A JSON object.
    pub configuration: Option<String>,
    pub role: Role,
    pub owner_pid: u32,
    pub hook_budget_ms: u32,
    pub total_budget_ms: u64,
    pub settle_on_return: bool,
    /// Load the plugin without trying it first in another process.
    pub no_probe: bool,
    /// The path of `libtidings-hostkit.so.1`. None: $TIDINGS_HOSTKIT, or the installed one.
    pub library: Option<String>,
}

/// The strings of the options as C strings.
pub(crate) struct Given {
    plugin: CString,
    store: Option<CString>,
    host_name: Option<CString>,
    configuration: Option<CString>,
}

fn c_string(name: &str, text: &Option<String>) -> Result<Option<CString>, Error> {
    text.as_deref()
        .map(CString::new)
        .transpose()
        .map_err(|error| Error::invalid(format!("{name}: {error}")))
}

fn pointer(text: &Option<CString>) -> *const c_char {
    text.as_ref().map_or(null(), |text| text.as_ptr())
}

impl Given {
    pub(crate) fn new(options: &Options) -> Result<Given, Error> {
        let plugin = options
            .plugin
            .clone()
            .unwrap_or_else(library::installed_plugin);
        Ok(Given {
            plugin: CString::new(plugin)
                .map_err(|error| Error::invalid(format!("plugin: {error}")))?,
            store: c_string("store", &options.store)?,
            host_name: c_string("host_name", &options.host_name)?,
            configuration: c_string("configuration", &options.configuration)?,
        })
    }

    pub(crate) fn as_struct(&self, options: &Options) -> sys::HostkitOptions {
        sys::HostkitOptions {
            size: size_of::<sys::HostkitOptions>(),
            flags: if options.no_probe {
                sys::HOSTKIT_NO_PROBE
            } else {
                0
            },
            plugin_path: self.plugin.as_ptr(),
            store_dir: pointer(&self.store),
            host_name: pointer(&self.host_name),
            configuration: pointer(&self.configuration),
            role: if options.role == Role::Host {
                sys::ROLE_HOST
            } else {
                sys::ROLE_PRODUCER
            },
            owner_pid: options.owner_pid,
            hook_budget_ms: options.hook_budget_ms,
            settle_on_return: options.settle_on_return.into(),
            copy_dir: null(),
            probe_path: null(),
            probe_timeout_ms: 0,
            reserved: 0,
            host: null(),
            total_budget_ms: options.total_budget_ms,
        }
    }
}

/// A tool's result that is about to be sent. `room`: how many bytes of UTF-8 the reply's texts may have together; 0: no bound.
#[derive(Clone, Copy, Debug, Default)]
pub struct ToolResult<'a> {
    pub session: &'a str,
    pub call_id: &'a str,
    pub tool: &'a str,
    pub content: &'a str,
    pub room: u64,
}

/// A chat request that is about to be sent. `messages`: the ids of the offered messages that it sends; None: it is the host's own.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChatRequest<'a> {
    pub session: &'a str,
    pub origin: Origin,
    pub content: &'a str,
    pub messages: Option<&'a [&'a str]>,
    pub room: u64,
}

impl Default for Origin {
    fn default() -> Origin {
        Origin::User
    }
}

impl Origin {
    pub(crate) fn number(self) -> u32 {
        match self {
            Origin::User => sys::ORIGIN_USER,
            Origin::System => sys::ORIGIN_SYSTEM,
            Origin::Other(number) => number,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The carrier is in the transcript.
    Committed,
    /// The carrier is not in the transcript, and will not be.
    RolledBack,
}

impl Outcome {
    pub(crate) fn number(self) -> u32 {
        match self {
            Outcome::Committed => sys::COMMITTED,
            Outcome::RolledBack => sys::ROLLED_BACK,
        }
    }
}

/// When a notification may start a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Activation {
    /// As the configuration decides by kind and level.
    #[default]
    Default,
    Passive,
    Idle,
    Interrupt,
}

/// A notification to push: `Notify { text: "…", level: Level::Error, ..Notify::new("session", "tool.failed") }`. An empty text is absent.
#[derive(Clone, Copy, Debug)]
pub struct Notify<'a> {
    pub session: &'a str,
    /// Such as "tool.failed"; the source is the part before the first dot.
    pub kind: &'a str,
    pub text: &'a str,
    pub level: Level,
    pub activation: Activation,
    /// A JSON value for programs.
    pub data: &'a str,
    pub key: &'a str,
    pub tool: &'a str,
    pub handle: &'a str,
    pub ttl_ms: u64,
    pub caused_by: &'a str,
    /// With this and `event_id`, pushing again is harmless.
    pub event_source: &'a str,
    pub event_id: &'a str,
}

impl<'a> Notify<'a> {
    pub fn new(session: &'a str, kind: &'a str) -> Notify<'a> {
        Notify {
            session,
            kind,
            text: "",
            level: Level::Info,
            activation: Activation::Default,
            data: "",
            key: "",
            tool: "",
            handle: "",
            ttl_ms: 0,
            caused_by: "",
            event_source: "",
            event_id: "",
        }
    }

    pub(crate) fn as_struct(&self) -> sys::HostkitNotification {
        let (source, name) = self.kind.split_once('.').unwrap_or((self.kind, ""));
        sys::HostkitNotification {
            size: size_of::<sys::HostkitNotification>(),
            flags: 0,
            session: span(self.session),
            kind_source: span(source),
            kind_name: span(name),
            text: span(self.text),
            level: match self.level {
                Level::Info => sys::LEVEL_INFO,
                Level::Warning => sys::LEVEL_WARNING,
                Level::Error => sys::LEVEL_ERROR,
                Level::Critical => sys::LEVEL_CRITICAL,
                Level::Other(number) => number,
            },
            activation: self.activation as u32, // hostkit numbers them in this order
            data: span(self.data),
            key: span(self.key),
            tool: span(self.tool),
            handle: span(self.handle),
            ttl_ms: self.ttl_ms,
            caused_by: span(self.caused_by),
            event_source: span(self.event_source),
            event_id: span(self.event_id),
        }
    }
}
