//! What can be known without loading a model: what is in a file, which devices there are.

use std::path::PathBuf;

use super::{Devices, Event};
use crate::engine::{CpuThreads, DeviceChoice, free_memory, inspect};

/// What the files of a model say, and the memory that is free.
pub(super) fn inspected(path: PathBuf) -> Event {
    let found = inspect(&path).map_err(|error| error.to_string());
    Event::Inspected {
        path,
        found,
        n_free_bytes: free_memory(),
    }
}

/// The devices that answer now.
pub(super) fn devices() -> Event {
    Event::DevicesListed(Devices {
        choices: DeviceChoice::available(),
        build_knows_accelerators: DeviceChoice::build_knows_accelerators(),
        cpu_threads: CpuThreads::of_machine(),
    })
}
