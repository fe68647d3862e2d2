//! Opens models: first reads the headers of their files, then the weights.
//!
//! Files that are not models, and models with missing parts, are rejected based on the headers.

mod architecture;
mod folder;
mod gguf;
mod infinities;
mod other_formats;
mod other_kinds;
mod provenance;
mod remote;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use candle_core::quantized::gguf_file::Content;

use super::gguf_tokenizer::{END_TOKENS, tokenizer_of};
use super::model_folder::ModelFolder;
use super::small_file::{N_MAX_TOKENIZER_BYTES, read_at_most};
use super::tokenizer_config::TokenizerConfig;
use super::weights::{Catalog, Checkpoint, LoadStop, sha256_of};
use super::{
    ChatError, ChatTemplate, Compute, EngineError, GrammarTrie, LoadProgress, LoadedModel,
    Tokenizer,
};
use crate::decoding::TokenId;
use crate::generation::{
    Implementation, ModelInfo, ModelOutline, PieceKind, RecommendedSampling, Vocabulary,
};
use crate::kernels::ReturnedMemory;

use self::architecture::Architecture;
use self::provenance::provenance_of;

pub(super) use gguf::Gguf;
pub use remote::{check_remote, folder_openness, gguf_openness};

/// What error messages call the tokenizer.
const TOKENIZER: &str = "The tokenizer";

/// Opens a model: a GGUF file, any part of a split one, a folder with `config.json`,
/// `tokenizer.json` and safetensors, or one of the files in such a folder. Returns `None` if
/// `progress` cancels the load.
pub fn open_path(
    path: &Path,
    compute: &Compute,
    progress: LoadProgress<'_>,
) -> Result<Option<LoadedModel>, EngineError> {
    locate(path)?.load(compute, progress)
}

/// Describes a model and what it would take to load it. Reads only the headers of its files.
pub fn inspect(path: &Path) -> Result<ModelOutline, EngineError> {
    Ok(locate(path)?.outline())
}

/// Describes a model like [`inspect`], and also builds its tokenizer and checks its tensors, which
/// takes longer. Fails if the model could not be loaded because of its tokenizer, or because of the
/// names, shapes and types of its tensors.
pub fn inspect_with_tokenizer(
    path: &Path,
) -> Result<(ModelOutline, TokenizerOutline), EngineError> {
    locate(path)?.check()
}

/// Builds a model's tokenizer without its weights. Also returns the size of the model's vocabulary,
/// which may exceed the number of tokens, if the headers state it; otherwise the number of tokens.
pub fn open_tokenizer(path: &Path) -> Result<(Tokenizer, usize), EngineError> {
    locate(path)?.into_tokenizer()
}

/// A model's tokenizer and chat template, as described by its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenizerOutline {
    pub n_tokens: usize,
    /// The name of the file that contains the tokenizer.
    pub file: String,
    pub has_chat_template: bool,
}

fn locate(path: &Path) -> Result<LocatedModel, EngineError> {
    if path.is_dir() {
        return folder::locate(ModelFolder::Local(path), None);
    }
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let folder = folder.unwrap_or(Path::new("."));
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    match extension.to_str() {
        Some("json") => {
            folder::locate(ModelFolder::Local(folder), None).map_err(|error| match error {
                EngineError::FileMissing {
                    what: "config.json",
                    ..
                } if path.is_file() => {
                    let reason = "this is neither a GGUF file nor a model folder".to_owned();
                    let path = path.display().to_string();
                    EngineError::OtherFormat { reason, path }
                }
                error => error,
            })
        }
        Some("safetensors") => folder::locate(ModelFolder::Local(folder), Some(path)),
        _ => Gguf::from_path(path)?.locate(),
    }
}

/// A model whose files were found and whose headers were read, ready to be loaded.
pub(super) struct LocatedModel {
    architecture: Architecture,
    catalog: Catalog,
    tokenizer: TokenizerSource,
    chat: Option<Result<ChatTemplate, ChatError>>,
    end_tokens: Vec<TokenId>,
    recommended_sampling: Option<RecommendedSampling>,
    /// What could not be read, and where the files contradict each other.
    warnings: Vec<String>,
    name: String,
    file: String,
}

/// Where to get a model's tokenizer. Building it is slow, and an outline does not need it.
pub(super) enum TokenizerSource {
    Ready(Box<Tokenizer>),
    /// A `tokenizer.json`, and the settings from the files beside it.
    Json(JsonFile, Box<TokenizerConfig>),
    /// The metadata of the GGUF file at this path.
    Gguf {
        content: Box<Content>,
        path: String,
        /// The `tokenizer.json` to use if the metadata turns out to be unusable.
        json: Option<PathBuf>,
    },
}

/// A `tokenizer.json`.
pub(super) enum JsonFile {
    /// The file at this path.
    At(PathBuf),
    /// Its content, and its path for messages.
    Read(Vec<u8>, String),
}

impl LocatedModel {
    /// Builds the tokenizer and checks the tensors, without the values of matrices.
    pub(super) fn check(self) -> Result<(ModelOutline, TokenizerOutline), EngineError> {
        let mut outline = self.outline();
        let file = self.tokenizer.file();
        let has_chat_template = matches!(self.chat, Some(Ok(_)));
        let (tokenizer, _) = self.tokenizer.build()?;
        let progress = &mut |_| ControlFlow::Continue(());
        let mut checkpoint = self.catalog.open(progress);
        let unused = match self.architecture.check(&mut checkpoint) {
            Ok(n_vocab) => {
                check_tokenizer(&tokenizer, n_vocab).map(|()| unused_warning(&checkpoint))
            }
            Err(LoadStop::Failed(error)) => Err(error),
            // Nothing cancels it.
            Err(LoadStop::Cancelled) => Ok(None),
        }?;
        let warnings = [
            outline.load_warning.take(),
            tokenizer.warning().map(str::to_owned),
            unused.filter(|_| outline.implementation == Implementation::Quartet),
        ];
        outline.load_warning = joined(warnings.into_iter().flatten());
        let tokenizer = TokenizerOutline {
            n_tokens: tokenizer.n_tokens(),
            file,
            has_chat_template,
        };
        Ok((outline, tokenizer))
    }

    /// Describes the model from its headers.
    pub(super) fn outline(&self) -> ModelOutline {
        ModelOutline {
            load_warning: joined(self.warnings.clone()),
            ..self.architecture.outline(self.name.clone(), &self.catalog)
        }
    }

    /// Builds the tokenizer, and returns it with the size of the vocabulary.
    pub(super) fn into_tokenizer(self) -> Result<(Tokenizer, usize), EngineError> {
        let n_vocab = self.architecture.n_vocab();
        let (tokenizer, _) = self.tokenizer.build()?;
        let n_vocab = n_vocab.unwrap_or_else(|| tokenizer.n_tokens());
        Ok((tokenizer, n_vocab))
    }

    /// Returns the hash of the chat template, or an empty string if it has none.
    fn template_sha256(&self) -> String {
        let template = self.chat.as_ref().and_then(|chat| chat.as_ref().ok());
        template.map_or_else(String::new, |template| {
            sha256_of(template.source().as_bytes())
        })
    }

    /// Loads the weights and the tokenizer. Returns `None` if `progress` cancels the load.
    pub(super) fn load(
        self,
        compute: &Compute,
        progress: LoadProgress<'_>,
    ) -> Result<Option<LoadedModel>, EngineError> {
        // Dropped last: the file's buffers have been freed by then.
        let _memory = ReturnedMemory::default();
        let architecture = self.architecture.name().to_owned();
        let implementation = self.architecture.implementation();
        let (quantization, formats) = (self.catalog.quantization(), self.catalog.formats());
        let compute = self.architecture.compute(compute, &self.catalog);
        let mut provenance = provenance_of(&compute, implementation);
        provenance.template_sha256 = self.template_sha256();
        let mut checkpoint = self.catalog.open(progress);
        checkpoint.start_hashing()?;
        let (tokenizer, tokenizer_sha256) = self.tokenizer.build()?;
        provenance.tokenizer_sha256 = tokenizer_sha256;
        let (lm, n_params) = match self.architecture.load(&mut checkpoint, &compute) {
            Ok(loaded) => loaded,
            Err(LoadStop::Cancelled) => return Ok(None),
            Err(LoadStop::Failed(error)) => return Err(error),
        };
        let n_vocab = lm.n_vocab();
        check_tokenizer(&tokenizer, n_vocab)?;
        let warnings = [
            tokenizer.warning().map(str::to_owned),
            // Models that run through candle-transformers take all tensors at once.
            unused_warning(&checkpoint).filter(|_| implementation == Implementation::Quartet),
        ];
        let load_warning = joined(
            self.warnings
                .into_iter()
                .chain(warnings.into_iter().flatten()),
        );
        let vocabulary = tokenizer.vocabulary(n_vocab);
        let Some(sha256) = checkpoint.sha256()? else {
            return Ok(None);
        };
        let end_tokens = all_end_tokens(self.end_tokens, &tokenizer, &vocabulary);
        provenance.end_tokens.clone_from(&end_tokens);
        let info = ModelInfo {
            name: self.name,
            architecture,
            implementation,
            n_params,
            quantization,
            formats,
            device: compute.name(),
            n_threads: compute.threads_of(implementation),
            n_vocab,
            n_context: lm.n_context(),
            file: self.file,
            sha256,
            provenance,
        };
        Ok(Some(LoadedModel {
            lm,
            end_tokens,
            tokenizer,
            chat: self.chat,
            vocabulary: Arc::new(vocabulary),
            info: Arc::new(info),
            recommended_sampling: self.recommended_sampling.map(Arc::new),
            load_warning,
            second: None,
            own_second: None,
            grammar_trie: GrammarTrie::default(),
            memory: ReturnedMemory::default(),
        }))
    }
}

impl TokenizerSource {
    /// The `tokenizer.json` of a folder, which is read now if the folder is elsewhere.
    fn json(folder: ModelFolder<'_>, config: Box<TokenizerConfig>) -> Result<Self, EngineError> {
        const NAME: &str = "tokenizer.json";

        let file = match folder {
            ModelFolder::Local(folder) => JsonFile::At(folder.join(NAME)),
            ModelFolder::Remote(_) => {
                let json = folder.read(NAME, N_MAX_TOKENIZER_BYTES, TOKENIZER)?;
                JsonFile::Read(json, folder.path_of(NAME))
            }
        };
        Ok(Self::Json(file, config))
    }

    /// Returns the name of the file that contains the tokenizer.
    fn file(&self) -> String {
        match self {
            Self::Ready(_) => "embedded".to_owned(),
            Self::Json(..) => "tokenizer.json".to_owned(),
            Self::Gguf { path, .. } => lossy(Path::new(path).file_name()),
        }
    }

    /// Returns the tokenizer, and the hash of its file if it has one.
    fn build(self) -> Result<(Tokenizer, String), EngineError> {
        match self {
            Self::Ready(tokenizer) => Ok((*tokenizer, String::new())),
            Self::Json(file, config) => {
                let (json, path) = match file {
                    JsonFile::At(path) => {
                        let json = read_at_most(N_MAX_TOKENIZER_BYTES, &path, TOKENIZER)?;
                        (json, path.display().to_string())
                    }
                    JsonFile::Read(json, path) => (json, path),
                };
                let mut tokenizer = Tokenizer::from_json(&json, &path)?;
                config.apply(&mut tokenizer);
                Ok((tokenizer, sha256_of(&json)))
            }
            Self::Gguf {
                content,
                path,
                json,
            } => match (tokenizer_of(&content, &path), json) {
                (Err(_), Some(json)) => Self::Json(JsonFile::At(json), Box::default()).build(),
                (tokenizer, _) => Ok((tokenizer?, String::new())),
            },
        }
    }
}

/// Returns all warnings, one per line.
fn joined(warnings: impl IntoIterator<Item = String>) -> Option<String> {
    let warnings: Vec<String> = warnings.into_iter().collect();
    (!warnings.is_empty()).then(|| warnings.join("\n"))
}

/// Returns a warning that names the tensors for which the architecture has no place: the model that
/// runs is then not quite the one in the files.
fn unused_warning(checkpoint: &Checkpoint<'_>) -> Option<String> {
    let unused: Vec<&str> = checkpoint.catalog().unused().collect();
    let first = unused.first()?;
    let words = match unused.len() {
        1 => format!("The tensor {first} is ignored because this architecture has no place for it"),
        n => format!(
            "{n} tensors, such as {first}, are ignored because this architecture has no place for \
             them"
        ),
    };
    Some(format!(
        "{words}; the model may not work as its authors intended"
    ))
}

/// Checks that the tokenizer fits the model.
///
/// The embedding table may be padded with some extra rows. A few tokens may have no row: the
/// text-only Gemma 3 shares the tokenizer of the multimodal one, and some fine-tunes add tokens
/// that they never use. A larger difference means that the two don't belong together.
fn check_tokenizer(tokenizer: &Tokenizer, n_model: usize) -> Result<(), EngineError> {
    let n_tokenizer = tokenizer.n_tokens();
    let n_extra_rows = n_model.saturating_sub(n_tokenizer);
    let n_extra_tokens = n_tokenizer.saturating_sub(n_model);
    let n_tolerated = n_model / 8;
    if n_extra_rows <= n_tolerated.max(1024) && n_extra_tokens <= n_tolerated.min(64) {
        Ok(())
    } else {
        Err(EngineError::TokenizerMismatch {
            n_tokenizer,
            n_model,
        })
    }
}

/// Returns the end-of-text tokens that the files list, and those recognized by name.
fn all_end_tokens(
    mut tokens: Vec<TokenId>,
    tokenizer: &Tokenizer,
    vocabulary: &Vocabulary,
) -> Vec<TokenId> {
    let by_name = END_TOKENS
        .into_iter()
        .filter_map(|name| tokenizer.token(name))
        .filter(|token| vocabulary.piece(*token).kind == PieceKind::Special);
    tokens.extend(by_name);
    tokens.retain(|token| token.index() < vocabulary.n_tokens());
    tokens.sort_unstable();
    tokens.dedup();
    tokens
}

fn lossy(name: Option<&std::ffi::OsStr>) -> String {
    name.unwrap_or_default().to_string_lossy().into_owned()
}
