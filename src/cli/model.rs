//! `--model`: which model runs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};

use super::failure::Failure;
use super::pane_run::{Console, Engine, model_source};
use crate::hub::{DownloadTarget, Hub};
use crate::worker::{ModelSource, hub_config, local_models};

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

/// Parses the path of a model, or the name of one that is on this computer: one of the Hub’s, as in
/// `owner/name:Q8_0` or the address of its page, or one that `quartet models` lists, as in
/// `llama3.2:1b`.
pub(crate) fn model_parser() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().try_map(model_path)
}

/// Returns the path of a model that is given by its path or its name. A name that is neither is
/// returned as a path, so that opening it says what is wrong.
pub(crate) fn model_path(text: impl Into<OsString>) -> Result<PathBuf, String> {
    let path = PathBuf::from(text.into());
    let Some(name) = path.to_str().filter(|name| is_name(name, &path)) else {
        return Ok(path);
    };
    let Some(wanted) = DownloadTarget::parse(name) else {
        let mut known = local_models(None).models.into_iter();
        let found = known.find(|model| model.name == name);
        return Ok(found.map_or_else(|| path.clone(), |model| model.path));
    };
    let hub = Hub::open(hub_config()).map_err(|error| error.to_string())?;
    match hub
        .cached_model(&wanted)
        .map_err(|error| error.to_string())?
    {
        Some(cached) => Ok(cached.path),
        None => Err(format!(
            "there is no such file or folder, and no model of this name is in the cache of the Hub; to \
             download it: quartet download {name}"
        )),
    }
}

/// Returns whether a text can be the name of a model rather than a path.
fn is_name(text: &str, path: &Path) -> bool {
    let is_file_name = [".gguf", ".json", ".safetensors"]
        .iter()
        .any(|end| text.ends_with(end));
    let is_address = text.starts_with("http") || text.starts_with("hf.co/");
    let has_tag = text.contains(':');
    let is_repository = text.split('/').count() == 2 && !text.starts_with(['.', '~', '/']);
    !path.exists() && (is_address || !is_file_name && (has_tag || is_repository))
}

/// The argument, for commands that run a model.
#[derive(Debug, Clone, Args)]
pub(crate) struct ModelArgument {
    /// A GGUF file, or a folder with config.json, tokenizer.json and safetensors, or the name of a
    /// model on this computer, such as `OWNER/NAME:Q8_0`; by default the built-in model
    #[arg(long, value_name = "PATH", value_parser = model_parser())]
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
    #[arg(long, value_name = "PATH", value_parser = model_parser())]
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

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{is_name, model_path};

    #[test]
    fn a_path_stays_a_path() {
        for text in [
            "model.gguf",
            "folder/model.gguf",
            "a/b/c",
            "./owner/name",
            "../a",
            "/a/b",
            "~/a",
            "built-in",
            "folder",
        ] {
            assert!(!is_name(text, Path::new(text)), "{text}");
            assert_eq!(model_path(text), Ok(PathBuf::from(text)));
        }
        for text in [
            "owner/name",
            "owner/name:Q8_0",
            "llama3.2:1b",
            "https://huggingface.co/owner/name/blob/main/a.gguf",
            "hf.co/owner/name",
        ] {
            assert!(is_name(text, Path::new(text)), "{text}");
        }
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_name("owner/name", folder.path()), "it exists");
    }
}
