//! `--model`: which model runs.

use std::path::{Path, PathBuf};

use clap::Args;

use super::failure::Failure;
use super::pane_run::{Console, Engine, model_source};
use crate::worker::ModelSource;

/// The name of the built-in model on the command line.
const BUILT_IN: &str = "built-in";

/// Returns the source of a model that is given as a path or as `built-in`.
pub(crate) fn named_source(path: &Path) -> ModelSource {
    if path.as_os_str() == BUILT_IN && !path.exists() {
        ModelSource::Embedded
    } else {
        model_source(Some(path.to_owned()))
    }
}

/// The argument, for commands that run a model.
#[derive(Debug, Clone, Args)]
pub(crate) struct ModelArgument {
    /// A GGUF file, or a folder with config.json, tokenizer.json and safetensors; by default the
    /// built-in model
    #[arg(long, value_name = "PATH")]
    model: Option<PathBuf>,
}

impl ModelArgument {
    /// Returns the source of the model.
    pub(crate) fn source(&self) -> ModelSource {
        model_source(self.model.clone())
    }
}

/// The argument, for commands whose settings may need a second model.
#[derive(Debug, Clone, Args)]
pub(crate) struct DraftModelArgument {
    /// A second model with the same vocabulary, a GGUF file or a folder, for settings that name it:
    /// "drafts 4 model" and "guide 1.5 against model". The built-in model comes with a small one
    #[arg(long, value_name = "PATH")]
    draft_model: Option<PathBuf>,
}

impl DraftModelArgument {
    /// Returns the path of the second model.
    pub(crate) const fn path(&self) -> Option<&PathBuf> {
        self.draft_model.as_ref()
    }

    /// Loads the second model, if there is one.
    pub(crate) fn load(&self, engine: &mut Engine, console: &mut Console) -> Result<(), Failure> {
        match &self.draft_model {
            Some(path) => engine.load_second(path.clone(), console),
            None => Ok(()),
        }
    }
}
