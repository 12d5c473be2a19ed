// SPDX-License-Identifier: MIT
//! Finds hostkit, and the plugin that was installed with it.
use std::path::Path;

use tidings_sys::{Hostkit, E_NOT_FOUND};

use crate::Error;

const NAME: &str = "libtidings-hostkit.so.1";

fn candidates(named: Option<&str>) -> Vec<String> {
    if let Some(path) = named
        .map(str::to_string)
        .or_else(|| std::env::var("TIDINGS_HOSTKIT").ok())
    {
        return vec![path];
    }
    let home = std::env::var("HOME").map(|home| format!("{home}/.local/lib/{NAME}"));
    [
        Some(NAME.to_string()),
        home.ok(),
        Some(format!("/usr/local/lib/{NAME}")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

pub(crate) fn load(named: Option<&str>) -> Result<Hostkit, Error> {
    let mut reasons = Vec::new();
    for path in candidates(named) {
        match Hostkit::load(&path) {
            Ok(hostkit) => return Ok(hostkit),
            Err(reason) => reasons.push(reason),
        }
    }
    let text = format!("hostkit cannot be loaded: {}; install tidings, or set TIDINGS_HOSTKIT to the path of {NAME}", reasons.join("; "));
    Err(Error::new(E_NOT_FOUND, "TIDINGS_E_NOT_FOUND", text))
}

/// Returns the plugin in the folder of the loaded library, or in the folder `tidings` there.
pub(crate) fn installed_plugin() -> String {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let line = maps
        .lines()
        .find(|line| line.contains("/libtidings-hostkit.so"))
        .unwrap_or("");
    let library = line.find('/').map_or("", |at| &line[at..]);
    let folder = Path::new(library).parent().unwrap_or_else(|| Path::new(""));
    let beside = folder.join("tidings.so");
    let found = if beside.exists() {
        beside
    } else {
        folder.join("tidings").join("tidings.so")
    };
    found.to_string_lossy().into_owned()
}
