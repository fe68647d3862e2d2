//! The model to measure: the built-in one, one from a file, or random weights.

use std::ops::ControlFlow;

use super::passage::failure;
use crate::cli::failure::Failure;
use crate::cli::progress::Progress;
use crate::engine::{self, Compute, LoadedModel, Synthetic, inspect_embedded};
use crate::generation::ModelOutline;
use crate::worker::{self, ModelSource};

/// The model to measure.
#[derive(Debug)]
pub(super) enum BenchModel {
    /// The built-in model, or one from a file.
    Real(ModelSource),
    /// Random weights in the shape of a known model.
    Synthetic(Synthetic),
}

impl BenchModel {
    /// Reads the model's properties and memory needs from its headers alone.
    pub(super) fn inspect(&self) -> Result<ModelOutline, Failure> {
        let outline = match self {
            Self::Real(ModelSource::Embedded) => inspect_embedded(),
            Self::Real(ModelSource::Path(path)) => engine::inspect(path),
            Self::Synthetic(synthetic) => synthetic.inspect(),
        };
        outline.map_err(|error| failure(&error))
    }

    /// Loads the model.
    pub(super) fn open(
        &self,
        compute: &Compute,
        progress: &mut Progress,
    ) -> Result<LoadedModel, Failure> {
        let report = &mut |fraction: f32| {
            progress.update(|| format!("Loading the model, {:.0} %", 100.0 * fraction));
            ControlFlow::Continue(())
        };
        let model = match self {
            Self::Real(source) => worker::open_on(source, compute, report),
            Self::Synthetic(synthetic) => synthetic.open(compute, report),
        };
        model
            .map_err(|error| failure(&error))?
            .ok_or_else(|| Failure::run("loading the model was cancelled"))
    }
}
