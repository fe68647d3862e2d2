//! Answers questions that need no loaded model: what a file contains, and which devices are
//! available.

use super::{Devices, Event, ModelSource};
use crate::engine::{CpuThreads, DeviceChoice, free_memory, inspect, inspect_embedded};

/// Reads the headers of a model's files and measures the free memory.
pub(super) fn inspect_model(source: ModelSource) -> Event {
    let found = match &source {
        ModelSource::Embedded => inspect_embedded(),
        ModelSource::Path(path) => inspect(path),
    };
    Event::Inspected {
        source,
        found: found.map(Box::new).map_err(|error| error.to_string()),
        n_free_bytes: free_memory(),
    }
}

/// Lists the devices that are available now.
pub(super) fn list_devices() -> Event {
    Event::DevicesListed(Devices {
        choices: DeviceChoice::available(),
        build_supports_gpus: DeviceChoice::build_supports_gpus(),
        launcher_reason: DeviceChoice::launcher_reason(),
        cpu_threads: CpuThreads::of_machine(),
    })
}
