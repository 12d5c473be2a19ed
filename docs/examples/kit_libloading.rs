// SPDX-License-Identifier: MIT
//! The module `kit` of host.rs with the crate libloading: cargo run -- LIBTIDINGS-HOSTKIT.SO TIDINGS.SO STORE
use libloading::{Error, Library, Symbol};
use std::ffi::{c_char, c_void};

/// hostkit's flat functions, and the library that they are in, which is unloaded last.
pub struct Kit {
    pub open: unsafe extern "C" fn(*const c_char) -> i64,
    pub call: unsafe extern "C" fn(i64, *const c_char) -> *mut c_char,
    pub push: unsafe extern "C" fn(i64, *const c_char, *const c_char, i32, *const c_char) -> i32,
    pub close: unsafe extern "C" fn(i64) -> i32,
    pub error: unsafe extern "C" fn() -> *const c_char,
    pub free: unsafe extern "C" fn(*mut c_void),
    _library: Library,
}

unsafe fn find<T: Copy>(library: &Library, name: &str) -> Result<T, Error> {
    let symbol: Symbol<T> = library.get(name.as_bytes())?;
    Ok(*symbol)
}

unsafe fn bind(path: &str) -> Result<Kit, Error> {
    let library = Library::new(path)?;
    Ok(Kit {
        open: find(&library, "hostkit_flat_open")?,
        call: find(&library, "hostkit_flat_call")?,
        push: find(&library, "hostkit_flat_push")?,
        close: find(&library, "hostkit_flat_close")?,
        error: find(&library, "hostkit_flat_error")?,
        free: find(&library, "hostkit_free")?,
        _library: library,
    })
}

pub fn load(path: &str) -> Result<Kit, String> {
    unsafe { bind(path) }.map_err(|error| error.to_string())
}
