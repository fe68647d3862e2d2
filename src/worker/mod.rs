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

pub use crate::engine::{ComputeChoice, CpuThreads, DeviceChoice, Precision, memory_with_cache};
pub use crate::generation::GenerationId;
pub use crate::hub::{
    CachedModel, DownloadProgress, HubConfig, KeptDownload, ModelFiles, ModelFormat, RECOMMENDED,
    RecommendedModel, Repository, Stage, Wanted,
};
pub use crate::kernels::attention::CacheType;
pub use download::Downloads;
pub use download_protocol::{DownloadEvent, DownloadRequest};
pub use handle::Worker;
pub use protocol::{Devices, Event, ModelSource, PaneRequest, Request};

use crate::engine::{
    Compute, Device, EngineError, LoadProgress, LoadedModel, open_embedded, open_path,
};

/// Opens a model, to compute on a device that is open; nothing comes back where `progress` wants no
/// more of it. The model inside the program is always for the processor.
pub(crate) fn open_on(
    source: &ModelSource,
    compute: &Compute,
    progress: LoadProgress<'_>,
) -> Result<Option<LoadedModel>, EngineError> {
    match source {
        ModelSource::Embedded => {
            let on_cpu = Compute {
                device: Device::cpu(),
                ..compute.clone()
            };
            open_embedded(&on_cpu, progress)
        }
        ModelSource::Path(path) => open_path(path, compute, progress),
    }
}
