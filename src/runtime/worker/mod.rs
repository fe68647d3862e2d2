//! The background threads: one for the engine, two for the Hugging Face Hub, and some for each
//! server. Requests in, events out.
//!
//! The window and the command line reach the engine only through this module. It does not know who
//! sends the requests, or what is shown.

mod beside;
mod download;
mod download_protocol;
mod download_thread;
mod event_sender;
mod handle;
mod hub_config;
mod incoming;
mod inspection;
mod loading;
mod other_model;
mod pacer;
mod pane_models;
mod protocol;
mod request_queue;
mod server_protocol;
mod server_thread;
mod server_worker;
mod thread;

pub use crate::engine::{
    AnyPlan, ComputeChoice, CpuThreads, DeviceChoice, JobData, JobPlan, JobReport, JobUpdate,
    Precision, Progress, Recorder, memory_with_cache,
};
pub use crate::generation::{GenerationId, ModelSource};
pub use crate::hub::{
    CachedModel, DownloadPhase, DownloadProgress, DownloadTarget, HubConfig, LocalModel,
    LocalModels, ModelFiles, ModelFormat, ModelProgram, PartialDownload, RECOMMENDED,
    RecommendedModel, Repository, cache_folder as models_folder, local_models,
};
pub use crate::kernels::InputBits;
pub use crate::kernels::attention::CacheType;
pub use crate::servers::{
    Key, KeySource, ListPlan, ListReport, ListedPrompt, ListedSettings, SampledBy, ServerConfig,
    ServerInfo, ServerKind, Transcript, not_applied, server_address,
};
pub use beside::BesideUpdate;
pub use download::Downloads;
pub use download_protocol::{DownloadEvent, DownloadRequest};
pub use handle::Worker;
pub use hub_config::hub_config;
pub use other_model::{OtherModel, OtherWay};
pub use pane_models::PaneModelUpdate;
pub use protocol::{Devices, Event, PaneRequest, Request};
pub use server_protocol::{ServerEvent, ServerRequest};
pub use server_worker::ServerWorker;

use crate::engine::{
    Compute, Device, EngineError, LoadProgress, LoadedModel, open_embedded, open_path,
};

/// Opens a model on an open device. Returns `None` if `progress` cancels the load. The embedded
/// model always runs on the CPU.
pub fn open_on(
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
