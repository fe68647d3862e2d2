//! `--model`: which model runs.

use std::path::PathBuf;

use clap::Args;

use super::pane_run::model_source;
use crate::worker::ModelSource;

/// The argument, for commands that run a model.
#[derive(Debug, Clone, Args)]
pub(super) struct ModelArgument {
    /// A GGUF file, or a folder with config.json, tokenizer.json and safetensors; by default the
    /// built-in model
    #[arg(long, value_name = "PATH")]
    model: Option<PathBuf>,
}

impl ModelArgument {
    /// Returns where the model is.
    pub(super) fn source(&self) -> ModelSource {
        model_source(self.model.clone())
    }
}
