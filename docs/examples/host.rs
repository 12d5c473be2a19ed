// SPDX-License-Identifier: MIT
//! A whole host in Rust: a notification is pushed, delivered with a tool's result, and settled. It needs no crate: rustc host.rs. With cargo, and the Cargo.toml beside it, the
//! crate libloading loads the library; with serde_json, `member` would be an index.
//! host LIBTIDINGS-HOSTKIT.SO TIDINGS.SO STORE
use std::ffi::{CStr, CString};
use std::io::Write;

#[cfg(feature = "libloading")]
#[path = "kit_libloading.rs"]
mod kit;

#[cfg(not(feature = "libloading"))]
mod kit {
    use std::ffi::{c_char, c_int, c_void, CStr, CString};

    extern "C" {
        fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
        fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
        fn dlerror() -> *const c_char;
    }
    const RTLD_NOW: c_int = 2;

    /// hostkit's flat functions, of a library that stays loaded.
    pub struct Kit {
        pub open: unsafe extern "C" fn(*const c_char) -> i64,
        pub call: unsafe extern "C" fn(i64, *const c_char) -> *mut c_char,
        pub push: unsafe extern "C" fn(i64, *const c_char, *const c_char, i32, *const c_char) -> i32,
        pub close: unsafe extern "C" fn(i64) -> i32,
        pub error: unsafe extern "C" fn() -> *const c_char,
        pub free: unsafe extern "C" fn(*mut c_void),
    }

    unsafe fn find<T: Copy>(library: *mut c_void, name: &str) -> Result<T, String> {
        let symbol = dlsym(library, CString::new(name).unwrap().as_ptr());
        if symbol.is_null() {
            return Err(format!("the library has no {name}"));
        }
        Ok(std::mem::transmute_copy::<*mut c_void, T>(&symbol))
    }

    pub fn load(path: &str) -> Result<Kit, String> {
        let name = CString::new(path).map_err(|error| error.to_string())?;
        unsafe {
            let library = dlopen(name.as_ptr(), RTLD_NOW);
            if library.is_null() {
                return Err(CStr::from_ptr(dlerror()).to_string_lossy().into_owned());
            }
            Ok(Kit {
                open: find(library, "hostkit_flat_open")?,
                call: find(library, "hostkit_flat_call")?,
                push: find(library, "hostkit_flat_push")?,
                close: find(library, "hostkit_flat_close")?,
                error: find(library, "hostkit_flat_error")?,
                free: find(library, "hostkit_free")?,
            })
        }
    }
}

/// An open plugin.
struct Tidings {
    kit: kit::Kit,
    handle: i64,
}

impl Tidings {
    fn open(library: &str, options: &str) -> Result<Tidings, String> {
        let kit = kit::load(library)?;
        let options = CString::new(options).map_err(|error| error.to_string())?;
        let handle = unsafe { (kit.open)(options.as_ptr()) };
        if handle == 0 {
            return Err(unsafe { CStr::from_ptr((kit.error)()) }.to_string_lossy().into_owned());
        }
        Ok(Tidings { kit, handle })
    }

    /// A JSON object with "op" in, one out; `{"error": …}` is an Err.
    fn call(&self, request: &str) -> Result<String, String> {
        let request = CString::new(request).map_err(|error| error.to_string())?;
        unsafe {
            let answer = (self.kit.call)(self.handle, request.as_ptr());
            if answer.is_null() {
                return Err("out of memory".into());
            }
            let text = CStr::from_ptr(answer).to_string_lossy().into_owned();
            (self.kit.free)(answer.cast());
            if text.starts_with("{\"error\"") { Err(text) } else { Ok(text) }
        }
    }
}

impl Tidings {
    /// A notification; its text may have any characters but NUL. It is stored for good when this is Ok.
    fn push(&self, session: &str, kind: &str, level: i32, text: &str) -> Result<(), String> {
        let as_c = |text: &str| CString::new(text).map_err(|error| error.to_string());
        let (session, kind, text) = (as_c(session)?, as_c(kind)?, as_c(text)?);
        match unsafe { (self.kit.push)(self.handle, session.as_ptr(), kind.as_ptr(), level, text.as_ptr()) } {
            0 => Ok(()),
            _ => Err(unsafe { CStr::from_ptr((self.kit.error)()) }.to_string_lossy().into_owned()),
        }
    }
}

impl Drop for Tidings {
    fn drop(&mut self) {
        unsafe { (self.kit.close)(self.handle) };
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out + "\""
}

/// The string that is the first member of this name; None: there is none, or it is no string.
fn member(json: &str, name: &str) -> Option<String> {
    let value = json.split_once(&format!("\"{name}\":"))?.1.trim_start().strip_prefix('"')?;
    let mut out = String::new();
    let mut chars = value.chars();
    loop {
        match chars.next()? {
            '"' => return Some(out),
            '\\' => match chars.next()? {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'u' => out.extend(char::from_u32(u32::from_str_radix(&chars.by_ref().take(4).collect::<String>(), 16).ok()?)),
                c => out.push(c),
            },
            c => out.push(c),
        }
    }
}

fn run(library: &str, plugin: &str, store: &str) -> Result<(), String> {
    let tidings = Tidings::open(library, &format!(r#"{{"plugin": {}, "store": {}, "host_name": "Example"}}"#, quoted(plugin), quoted(store)))?;
    const LEVEL_ERROR: i32 = 2;
    tidings.push("s", "tool.failed", LEVEL_ERROR, "The build failed.")?;

    let result = "a.c\n";
    let request = format!(r#"{{"op": "tool_result", "session": "s", "call_id": "c1", "tool": "ls", "content": {}}}"#, quoted(result));
    let answer = tidings.call(&request).unwrap_or_default(); // on an error a host sends the result unchanged
    let outgoing = answer.rsplit_once("\"outgoing\":").map_or("", |(_, parts)| parts);
    // This host sends no messages of its own: if the carrier is not the only part, the result goes out unchanged.
    let placed = outgoing.matches("\"carrier\":").count() == 1;
    let text = if placed { member(outgoing, "text") } else { None };
    // To the model, and into the transcript with the delivery's id.
    let mut stdout = std::io::stdout();
    let written = stdout.write_all(text.as_deref().unwrap_or(result).as_bytes()).and_then(|()| stdout.flush()).is_ok();
    if let Some(delivery) = member(&answer, "delivery") {
        let outcome = if text.is_some() && written { "committed" } else { "rolled_back" };
        tidings.call(&format!(r#"{{"op": "settle", "delivery": "{delivery}", "outcome": "{outcome}"}}"#))?;
    }
    Ok(())
}

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [library, plugin, store] => run(library, plugin, store),
        _ => Err("usage: host LIBTIDINGS-HOSTKIT.SO TIDINGS.SO STORE".into()),
    }
}
