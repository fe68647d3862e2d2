//! Answers questions that need no loaded model: what a file contains, and which devices there are.

use std::path::PathBuf;

use super::{Devices, Event};
use crate::engine::{CpuThreads, DeviceChoice, free_memory, inspect};

/// Reads the headers of a model's files and measures the free memory.
pub(super) fn inspect_model(path: PathBuf) -> Event {
    let found = inspect(&path).map_err(|error| error.to_string());
    Event::Inspected {
        path,
        found,
        n_free_bytes: free_memory(),
    }
}

/// Lists the devices that are available now.
pub(super) fn list_devices() -> Event {
    Event::DevicesListed(Devices {
        choices: DeviceChoice::available(),
        build_supports_gpus: DeviceChoice::build_supports_gpus(),
        cpu_threads: CpuThreads::of_machine(),
    })
}
