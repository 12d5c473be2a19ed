// SPDX-License-Identifier: MIT
use std::ffi::CStr;
use std::fmt;

use tidings_sys as sys;

/// A call that failed. On any error the host sends its message unchanged, unless it is a chat request that names messages; `text` says why.
#[derive(Clone, Debug)]
pub struct Error {
    /// A constant `E_…` of tidings-sys, such as `E_BUSY`.
    pub code: i32,
    /// Its name, such as "TIDINGS_E_BUSY".
    pub name: String,
    pub text: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.text)
    }
}

impl std::error::Error for Error {}

impl Error {
    pub(crate) fn new(code: i32, name: &str, text: impl Into<String>) -> Error {
        Error {
            code,
            name: name.to_string(),
            text: text.into(),
        }
    }

    pub(crate) fn invalid(text: impl Into<String>) -> Error {
        Error::new(sys::E_INVAL, "TIDINGS_E_INVAL", text)
    }
}

/// Makes the struct into which hostkit writes why a call failed.
pub(crate) fn empty() -> sys::Error {
    sys::Error {
        size: std::mem::size_of::<sys::Error>() as u32,
        code: 0,
        text: [0; 504],
    }
}

pub(crate) fn check(hostkit: &sys::Hostkit, code: i32, error: &sys::Error) -> Result<(), Error> {
    if code == sys::OK {
        return Ok(());
    }
    // Safety: both are NUL-terminated.
    let (name, text) = unsafe {
        (
            CStr::from_ptr((hostkit.hostkit_error_name)(code)),
            CStr::from_ptr(error.text.as_ptr()),
        )
    };
    Err(Error::new(
        code,
        &name.to_string_lossy(),
        text.to_string_lossy(),
    ))
}
