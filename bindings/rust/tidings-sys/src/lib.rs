// SPDX-License-Identifier: MIT
//! The C functions of hostkit (`tidings/hostkit.h`), loaded while the program runs. The crate `tidings` is a safe interface to them.
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_int, c_void};

mod structs;
pub use structs::*;

/// An open plugin. Only hostkit knows its members.
#[repr(C)]
pub struct Kit {
    _private: [u8; 0],
}

extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
}
const RTLD_NOW: c_int = 2;

macro_rules! functions {
    ($($name:ident($($type:ty),*) $(-> $result:ty)?;)*) => {
        /// hostkit's functions, of a library that stays loaded. hostkit.h says what they do, who owns what, and which thread may call them.
        pub struct Hostkit {
            $(pub $name: unsafe extern "C" fn($($type),*) $(-> $result)?,)*
        }

        impl Hostkit {
            /// Loads the library: a path, or a name that the system's loader finds. The error says why that failed.
            pub fn load(path: &str) -> Result<Hostkit, String> {
                let name = CString::new(path).map_err(|error| format!("{path:?}: {error}"))?;
                // Safety: the library is hostkit, whose functions have these types.
                unsafe {
                    let library = dlopen(name.as_ptr(), RTLD_NOW);
                    if library.is_null() {
                        return Err(CStr::from_ptr(dlerror()).to_string_lossy().into_owned());
                    }
                    Ok(Hostkit {
                        $($name: {
                            let symbol = dlsym(library, concat!(stringify!($name), "\0").as_ptr().cast());
                            if symbol.is_null() {
                                return Err(format!("{path} has no {}", stringify!($name)));
                            }
                            std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($type),*) $(-> $result)?>(symbol)
                        },)*
                    })
                }
            }
        }
    };
}

functions! {
    hostkit_open(*const HostkitOptions, *mut *mut Kit, *mut Error) -> i32;
    hostkit_close(*mut Kit, u32, *mut Error) -> i32;
    hostkit_swap(*mut Kit, *const c_char, u32, *mut Error) -> i32;
    hostkit_info(*mut Kit, *mut HostkitInfo) -> i32;
    hostkit_tool_result(*mut Kit, *const ToolResult, *mut *mut Reply, *mut Error) -> i32;
    hostkit_chat_request(*mut Kit, *const ChatRequest, *mut *mut Reply, *mut Error) -> i32;
    hostkit_event(*mut Kit, *const Span, *mut *mut Reply, *mut Error) -> i32;
    hostkit_settle(*mut Kit, u64, u32, *mut *mut Reply, *mut Error) -> i32;
    hostkit_reply_free(*mut Reply);
    hostkit_push(*mut Kit, *const HostkitNotification, *mut *mut Reply, *mut Error) -> i32;
    hostkit_wake(*mut Kit, *const Span, *mut *mut Reply, *mut Error) -> i32;
    hostkit_query(*mut Kit, *const Span, *mut *mut c_char, *mut Error) -> i32;
    hostkit_wake_descriptor(*mut Kit, *mut i32, *mut Error) -> i32;
    hostkit_next_session(*mut Kit, *mut c_char, usize, *mut usize, *mut Error) -> i32;
    hostkit_store(*const HostkitOptions, u32, *const StoreRequest, *mut *mut c_char, *mut Error) -> i32;
    hostkit_free(*mut c_void);
    hostkit_compose(*const Span, *const Reply, *mut *mut HostkitOutgoing, *mut Error) -> i32;
    hostkit_outgoing_free(*mut HostkitOutgoing);
    hostkit_reply_json(*const Reply, *mut *mut c_char, *mut Error) -> i32;
    hostkit_error_name(i32) -> *const c_char;
}
