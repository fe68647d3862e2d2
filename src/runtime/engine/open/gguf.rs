//! Locates a model in a GGUF file, or in the parts of a split one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::architecture::Architecture;
use super::{JsonFile, LocatedModel, TokenizerSource, lossy};
use crate::engine::chat_template;
use crate::engine::gguf_tokenizer::{end_tokens_of, is_exact};
use crate::engine::model_folder::ModelFolder;
use crate::engine::recommended_sampling::recommended_by_gguf;
use crate::engine::weights::{Catalog, Header, Source, Split, read_header};
use crate::engine::{EngineError, Tokenizer};

const WHAT: &str = "The model";

/// A GGUF file, or all parts of a split one, with their headers.
pub(crate) struct Gguf {
    sources: Vec<Source>,
    headers: Vec<Header>,
    name: String,
    file: String,
    /// The tokenizer that comes with the bytes, if one does.
    tokenizer: Option<TokenizerSource>,
    /// The `tokenizer.json` beside the file, for a file that doesn't describe its tokenizer exactly.
    tokenizer_json: Option<PathBuf>,
}

impl Gguf {
    /// Reads the header of the file at a path. For a part of a split model, also finds all other
    /// parts in the same folder.
    pub(crate) fn from_path(path: &Path) -> Result<Self, EngineError> {
        let folder = ModelFolder::Local(path.parent().unwrap_or(Path::new("")));
        let tokenizer = path.with_file_name("tokenizer.json");
        Ok(Self {
            tokenizer_json: tokenizer.is_file().then_some(tokenizer),
            ..Self::from_folder(folder, Path::new(path.file_name().unwrap_or_default()))?
        })
    }

    /// Reads the header of a file in a folder. For a part of a split model, also finds all other
    /// parts.
    pub(crate) fn from_folder(folder: ModelFolder<'_>, path: &Path) -> Result<Self, EngineError> {
        let source = folder.source(path, WHAT)?;
        let header = read_header(&source)?;
        let file = path.to_string_lossy().into_owned();
        match header.split {
            None => Ok(Self {
                sources: vec![source],
                headers: vec![header],
                name: lossy(path.file_stem()),
                file,
                tokenizer: None,
                tokenizer_json: None,
            }),
            Some(split) => {
                let stem = stem(split, &file, &source)?;
                let (sources, headers) = parts(folder, &stem, split, (source, header))?;
                Ok(Self {
                    sources,
                    headers,
                    file: split.file_name(&stem, 0),
                    name: stem,
                    tokenizer: None,
                    tokenizer_json: None,
                })
            }
        }
    }

    /// Reads the header of an unsplit file, wherever its bytes are. `file` is what records name as
    /// its file.
    pub(crate) fn from_source(
        source: Source,
        name: &str,
        file: &str,
        tokenizer: Option<Tokenizer>,
    ) -> Result<Self, EngineError> {
        Ok(Self {
            headers: vec![read_header(&source)?],
            sources: vec![source],
            name: name.to_owned(),
            file: file.to_owned(),
            tokenizer: tokenizer.map(|tokenizer| TokenizerSource::Ready(Box::new(tokenizer))),
            tokenizer_json: None,
        })
    }

    /// Reads the model's configuration from the headers.
    pub(crate) fn locate(mut self) -> Result<LocatedModel, EngineError> {
        let path = self.sources.first().map_or("", Source::path).to_owned();
        let catalog = Catalog::from_gguf(&self.headers, self.sources)?;
        check_count(&self.headers, &path)?;
        // The first part has the metadata. Add the tensors of the others to it.
        let others = self.headers.split_off(self.headers.len().min(1));
        let Some(mut first) = self.headers.pop() else {
            return Err(EngineError::malformed(WHAT, "it has no files", &path));
        };
        for header in others {
            first
                .content
                .tensor_infos
                .extend(header.content.tensor_infos);
        }
        let architecture = Architecture::from_gguf(&first.content, &path)?;
        if matches!(architecture, Architecture::Candle(_)) {
            catalog.check_unconverted()?;
        }
        Ok(LocatedModel {
            architecture,
            catalog,
            chat: chat_template::of_gguf(&first.content),
            end_tokens: end_tokens_of(&first.content),
            recommended_sampling: recommended_by_gguf(&first.content),
            warnings: Vec::new(),
            tokenizer: match (self.tokenizer, self.tokenizer_json) {
                (Some(tokenizer), _) => tokenizer,
                (None, Some(json)) if !is_exact(&first.content) => {
                    TokenizerSource::Json(JsonFile::At(json), Box::default())
                }
                (None, json) => TokenizerSource::Gguf {
                    content: Box::new(first.content),
                    path,
                    json,
                },
            },
            name: self.name,
            file: self.file,
        })
    }
}

fn stem(split: Split, file: &str, source: &Source) -> Result<String, EngineError> {
    split.stem(file).map(str::to_owned).ok_or_else(|| {
        let (part, n_parts) = (split.part + 1, split.n_parts);
        let ending = split.ending(split.part);
        let reason =
            format!("it is part {part} of {n_parts} of a model, so its name must end in {ending}");
        EngineError::malformed(WHAT, reason, source.path())
    })
}

/// Reads the headers of all parts of a split model, one of which has already been read.
fn parts(
    folder: ModelFolder<'_>,
    stem: &str,
    split: Split,
    read: (Source, Header),
) -> Result<(Vec<Source>, Vec<Header>), EngineError> {
    let files = Arc::default();
    let names: Vec<String> = (0..split.n_parts)
        .map(|part| split.file_name(stem, part))
        .collect();
    folder.expect_headers(names.iter().map(String::as_str));
    let mut read = Some(read);
    let mut sources = Vec::new();
    let mut headers = Vec::new();
    for part in 0..split.n_parts {
        if let Some((source, header)) = read.take_if(|_| part == split.part) {
            sources.push(source);
            headers.push(header);
            continue;
        }
        let name = split.file_name(stem, part);
        if !folder.has(&name) {
            return Err(EngineError::PartMissing {
                name,
                place: folder.noun(),
                path: folder.path(),
            });
        }
        let source = folder.part(&name, WHAT, &files)?;
        let header = read_header(&source)?;
        let found = header.split.map(|split| (split.part, split.n_parts));
        if found != Some((part, split.n_parts)) {
            let reason = format!(
                "it is not part {} of {}, although its name says so",
                part + 1,
                split.n_parts
            );
            return Err(EngineError::malformed(WHAT, reason, source.path()));
        }
        sources.push(source);
        headers.push(header);
    }
    Ok((sources, headers))
}

/// Checks by their number of tensors that the parts belong to the same model.
fn check_count(headers: &[Header], path: &str) -> Result<(), EngineError> {
    let n_expected = headers.first().and_then(|header| header.split?.n_tensors);
    let n_tensors: usize = headers.iter().map(|header| header.entries.len()).sum();
    match n_expected {
        Some(n_expected) if n_expected != n_tensors => {
            let reason = format!(
                "its parts have {n_tensors} tensors instead of the {n_expected} that the first part lists"
            );
            Err(EngineError::malformed(WHAT, reason, path))
        }
        _ => Ok(()),
    }
}
