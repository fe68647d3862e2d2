//! The engine's thread, and those that speak with the Hub: requests in, events out.
//!
//! The window and the command line know the engine only through this border.

mod download;
mod download_protocol;
mod download_thread;
mod facts;
mod handle;
mod inbox;
mod lane;
mod loading;
mod protocol;
mod thread;

pub use crate::engine::{DeviceChoice, Precision};
pub use crate::generation::GenerationId;
pub use crate::hub::{
    CachedModel, DownloadProgress, HubConfig, ModelFiles, ModelFormat, RECOMMENDED,
    RecommendedModel, Repository, Stage, Wanted,
};
pub use download::Downloads;
pub use download_protocol::{DownloadEvent, DownloadRequest};
pub use handle::Worker;
pub use protocol::{Devices, Event, ModelSource, PaneRequest, Request};

use crate::engine::{Device, EngineError, LoadedModel, open_embedded, open_path};

/// Opens a model for the best device there is. `progress` hears how far it has come, between 0 and 1.
pub(crate) fn open(
    source: &ModelSource,
    precision: Precision,
    progress: &mut dyn FnMut(f32),
) -> Result<LoadedModel, EngineError> {
    let device = Device::choose(DeviceChoice::Best, precision);
    open_on(source, &device, progress)
}

/// Opens a model from where it comes from. `progress` hears how far it has come, between 0 and 1. The
/// one inside the program is always for the processor.
fn open_on(
    source: &ModelSource,
    device: &Device,
    progress: &mut dyn FnMut(f32),
) -> Result<LoadedModel, EngineError> {
    match source {
        ModelSource::Embedded => open_embedded(progress),
        ModelSource::Path(path) => open_path(path, device, progress),
    }
}
