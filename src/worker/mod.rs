//! The engine's thread: requests in, events out.
//!
//! The window and the command line know the engine only through this border.

mod handle;
mod protocol;
mod thread;

pub use crate::generation::GenerationId;
pub use handle::Worker;
pub use protocol::{Event, ModelSource, PaneRequest, Request};

use crate::engine::scripted::ScriptedLm;
use crate::engine::{EngineError, LoadedModel};

fn open(_source: &ModelSource, progress: &mut dyn FnMut(f32)) -> Result<LoadedModel, EngineError> {
    progress(1.0);
    ScriptedLm::reciting(512, "Once upon a time there was a little fox.").into_loaded()
}
