//! Which model is measured: the one inside the program, one from a file, or random weights.

use std::ops::ControlFlow;

use super::passage::failure;
use crate::cli::failure::Failure;
use crate::cli::progress::Progress;
use crate::engine::{self, Compute, LoadedModel, Synthetic, inspect_embedded};
use crate::generation::ModelOutline;
use crate::worker::{self, ModelSource};

/// Which model is measured.
#[derive(Debug)]
pub(super) enum Subject {
    /// One that can be opened in the window too.
    Real(ModelSource),
    /// Random weights.
    Synthetic(Synthetic),
}

impl Subject {
    /// What it is and takes, from its headers alone.
    pub fn inspect(&self) -> Result<ModelOutline, Failure> {
        let outline = match self {
            Self::Real(ModelSource::Embedded) => inspect_embedded(),
            Self::Real(ModelSource::Path(path)) => engine::inspect(path),
            Self::Synthetic(synthetic) => synthetic.inspect(),
        };
        outline.map_err(|error| failure(&error))
    }

    /// Loads it.
    pub fn open(&self, compute: &Compute, progress: &mut Progress) -> Result<LoadedModel, Failure> {
        let told = &mut |fraction: f32| {
            progress.going_on(|| format!("Loading the model, {:.0} %", 100.0 * fraction));
            ControlFlow::Continue(())
        };
        let model = match self {
            Self::Real(source) => worker::open_on(source, compute, told),
            Self::Synthetic(synthetic) => synthetic.open(compute, told),
        };
        model
            .map_err(|error| failure(&error))?
            .ok_or_else(|| Failure::run("the model was not loaded to the end"))
    }
}
