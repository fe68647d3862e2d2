//! Finds a model in a GGUF file, or in the parts of one.

use std::path::Path;

use super::architecture::Architecture;
use super::{Found, FoundTokenizer, lossy};
use crate::engine::chat_template;
use crate::engine::gguf_tokenizer::end_tokens_of;
use crate::engine::recommended_sampling::recommended_by_gguf;
use crate::engine::weights::{Catalog, Header, Source, Split, read_header};
use crate::engine::{EngineError, Tokenizer};

const WHAT: &str = "The model";

/// A GGUF file, or all parts of one, and what is known beside it.
pub struct Gguf {
    sources: Vec<Source>,
    headers: Vec<Header>,
    name: String,
    file: String,
    tokenizer: Option<FoundTokenizer>,
}

impl Gguf {
    /// The file at a path. Where it is a part of a model, all parts are looked for beside it.
    pub fn from_path(path: &Path) -> Result<Self, EngineError> {
        let tokenizer = path.with_file_name("tokenizer.json");
        let tokenizer = tokenizer.is_file().then_some(tokenizer);
        let source = Source::file(path, WHAT)?;
        let header = read_header(&source)?;
        let file = lossy(path.file_name());
        let tokenizer = tokenizer.map(|path| FoundTokenizer::Json(path, Box::default()));
        match header.split {
            None => Ok(Self {
                sources: vec![source],
                headers: vec![header],
                name: lossy(path.file_stem()),
                file,
                tokenizer,
            }),
            Some(split) => {
                let stem = stem(split, &file, &source)?;
                let (sources, headers) = parts(path, &stem, split, (source, header))?;
                Ok(Self {
                    sources,
                    headers,
                    file: split.file_name(&stem, 0),
                    name: stem,
                    tokenizer,
                })
            }
        }
    }

    /// A file that is whole, wherever its bytes are.
    pub fn from_source(
        source: Source,
        name: &str,
        tokenizer: Option<Tokenizer>,
    ) -> Result<Self, EngineError> {
        Ok(Self {
            headers: vec![read_header(&source)?],
            sources: vec![source],
            name: name.to_owned(),
            file: "embedded".to_owned(),
            tokenizer: tokenizer.map(|tokenizer| FoundTokenizer::Ready(Box::new(tokenizer))),
        })
    }

    /// What the headers say of the model.
    pub fn find(mut self) -> Result<Found, EngineError> {
        let path = self.sources.first().map_or("", Source::path).to_owned();
        let catalog = Catalog::from_gguf(&self.headers, self.sources)?;
        check_count(&self.headers, &path)?;
        // The first part has the metadata, and gets the tensors of the others.
        let others = self.headers.split_off(self.headers.len().min(1));
        let Some(mut first) = self.headers.pop() else {
            return Err(EngineError::malformed(WHAT, "it has no file", &path));
        };
        for header in others {
            first
                .content
                .tensor_infos
                .extend(header.content.tensor_infos);
        }
        let architecture = Architecture::from_gguf(&first.content, &path)?;
        Ok(Found {
            architecture,
            catalog,
            chat: chat_template::of_gguf(&first.content),
            end_tokens: end_tokens_of(&first.content),
            recommended_sampling: recommended_by_gguf(&first.content),
            unread: None,
            tokenizer: self
                .tokenizer
                .unwrap_or_else(|| FoundTokenizer::Gguf(Box::new(first.content), path)),
            name: self.name,
            file: self.file,
        })
    }
}

fn stem(split: Split, file: &str, source: &Source) -> Result<String, EngineError> {
    split.stem(file).map(str::to_owned).ok_or_else(|| {
        let (part, n_parts) = (split.part + 1, split.n_parts);
        let ending = split.ending(split.part);
        let reason = format!(
            "it is part {part} of {n_parts} of a model, and so its name must end in {ending}"
        );
        EngineError::malformed(WHAT, reason, source.path())
    })
}

/// All parts of a model, of which one has been read.
fn parts(
    path: &Path,
    stem: &str,
    split: Split,
    read: (Source, Header),
) -> Result<(Vec<Source>, Vec<Header>), EngineError> {
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
        let path = path.with_file_name(&name);
        if !path.is_file() {
            let folder = path.parent().unwrap_or(Path::new(""));
            return Err(EngineError::PartMissing {
                name,
                path: folder.display().to_string(),
            });
        }
        let source = Source::file(&path, WHAT)?;
        let header = read_header(&source)?;
        let found = header.split.map(|split| (split.part, split.n_parts));
        if found != Some((part, split.n_parts)) {
            let reason = format!(
                "it says that it is not part {} of {}, as its name says",
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

/// Parts that are all there may still be of two different models.
fn check_count(headers: &[Header], path: &str) -> Result<(), EngineError> {
    let n_said = headers.first().and_then(|header| header.split?.n_tensors);
    let n_tensors: usize = headers.iter().map(|header| header.places.len()).sum();
    match n_said {
        Some(n_said) if n_said != n_tensors => {
            let reason = format!(
                "its parts have {n_tensors} tensors and not the {n_said} that the first one counts"
            );
            Err(EngineError::malformed(WHAT, reason, path))
        }
        _ => Ok(()),
    }
}
