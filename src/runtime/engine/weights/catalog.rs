//! The tensors in a model's files, known from the file headers alone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::formats::FileType;
use super::gguf::Header;
use super::stored_type::StoredType;
use super::tensor_entry::{TensorEntry, check_entries};
use super::{Checkpoint, Source, exponents, safetensors};
use crate::engine::{EngineError, LoadProgress};

/// The tensors in a model's files, by name.
#[derive(Debug)]
pub(crate) struct Catalog {
    pub(super) sources: Vec<Arc<Source>>,
    pub(super) entries: BTreeMap<String, TensorEntry>,
    /// What a GGUF file says about its formats.
    pub(super) file_type: Option<FileType>,
}

impl Catalog {
    /// Lists the tensors of a GGUF file, or of all parts of a split one.
    pub(crate) fn from_gguf(headers: &[Header], sources: Vec<Source>) -> Result<Self, EngineError> {
        let entries = headers.iter().enumerate().flat_map(|(file, header)| {
            let entries = header.entries.iter().cloned();
            entries.map(move |entry| TensorEntry { file, ..entry })
        });
        let catalog = Self::new(entries.collect(), sources)?;
        Ok(Self {
            file_type: headers.first().and_then(FileType::of),
            ..catalog
        })
    }

    /// Lists the tensors of a safetensors file.
    pub(crate) fn from_safetensors(source: Source) -> Result<Self, EngineError> {
        let entries = safetensors::read_header(&source)?;
        Self::new(entries, vec![source])
    }

    /// Lists the tensors of several safetensors files. As in transformers, the files themselves say
    /// what they contain, not their index, and of two tensors with the same name the later file's
    /// counts.
    pub(crate) fn from_shards(sources: Vec<Source>) -> Result<Self, EngineError> {
        let mut entries = BTreeMap::new();
        for (file, source) in sources.iter().enumerate() {
            for entry in safetensors::read_header(source)? {
                entries.insert(entry.name.clone(), TensorEntry { file, ..entry });
            }
        }
        Self::new(entries.into_values().collect(), sources)
    }

    fn new(entries: Vec<TensorEntry>, sources: Vec<Source>) -> Result<Self, EngineError> {
        let mut by_name = BTreeMap::new();
        for entry in entries {
            let (name, file) = (entry.name.clone(), entry.file);
            if by_name.insert(name.clone(), entry).is_some()
                && let Some(source) = sources.get(file)
            {
                return Err(source.malformed(format!("it contains tensor {name} twice")));
            }
        }
        check_entries(&by_name, &sources)?;
        exponents::combine(&mut by_name);
        Ok(Self {
            sources: sources.into_iter().map(Arc::new).collect(),
            entries: by_name,
            file_type: None,
        })
    }

    /// Fails if a tensor is converted while it is read, for models that candle-transformers reads
    /// itself.
    pub(crate) fn check_unconverted(&self) -> Result<(), EngineError> {
        let is_converted =
            |entry: &&TensorEntry| matches!(entry.stored_type, StoredType::Converted(_));
        match self.entries.values().find(is_converted) {
            None => Ok(()),
            Some(entry) => Err(EngineError::UnsupportedTensorType {
                tensor: entry.name.clone(),
                stored_as: entry.stored_type.to_string(),
                instead: "the model’s Q4_K_M or Q8_0 file",
                path: self.path().to_owned(),
            }),
        }
    }

    /// Begins to hand out the tensors.
    pub(crate) fn open(self, progress: LoadProgress<'_>) -> Checkpoint<'_> {
        Checkpoint::open(self, progress)
    }

    /// Returns the shape of a tensor, or `None` if it is missing or already taken.
    pub(crate) fn shape(&self, name: &str) -> Option<&[usize]> {
        self.entries.get(name).map(|entry| entry.shape.as_slice())
    }

    /// Returns the number of values in a tensor, or 0 if it is missing or already taken.
    pub(crate) fn n_values(&self, name: &str) -> u64 {
        self.entries.get(name).map_or(0, TensorEntry::n_values)
    }

    /// Iterates over the tensors that are weights. Some files also store masks and tables that
    /// follow from the configuration, which are never loaded, and factors of 8-bit floats, which are
    /// loaded with their weights.
    pub(crate) fn weights(&self) -> impl Iterator<Item = &TensorEntry> {
        self.entries.values().filter(|entry| {
            let is_mask = entry.name.ends_with(".attn.bias") && entry.shape.len() == 4;
            let ends = [".attn.masked_bias", ".rotary_emb.inv_freq"];
            !is_mask && !entry.is_factor() && !ends.iter().any(|end| entry.name.ends_with(end))
        })
    }

    /// Iterates over the names of the weights that have not been taken, once a model has taken all
    /// that it needs. Leaves out what text models never need: the other modalities of a multimodal
    /// model, a stored copy of a head that is the embedding table, and blocks that predict tokens
    /// after the next.
    pub(crate) fn unused(&self) -> impl Iterator<Item = &str> {
        const OTHER_MODALITIES: [&str; 5] = ["vision", "visual", "audio", "multi_modal", "mm_"];
        let names = || self.weights().map(|entry| entry.name.as_str());
        let ahead: BTreeSet<&str> = names()
            .filter_map(|name| {
                let parts = [".nextn.", ".eh_proj.", ".shared_head."];
                parts.iter().find_map(|part| name.split_once(part))
            })
            .map(|(block, _)| block)
            .collect();
        names().filter(move |name| {
            let mut blocks = ahead.iter().filter_map(|block| name.strip_prefix(block));
            *name != "lm_head.weight"
                && !name.starts_with("mtp.")
                && !blocks.any(|rest| rest.starts_with('.'))
                && !OTHER_MODALITIES.iter().any(|part| name.contains(part))
        })
    }

    /// Returns the number of values in all weights.
    pub(crate) fn n_all_values(&self) -> u64 {
        let n_values = self.weights().map(TensorEntry::n_values);
        n_values.fold(0, u64::saturating_add)
    }

    /// Returns the size in bytes of all tensors.
    pub(crate) fn n_bytes(&self) -> u64 {
        self.entries.values().map(|entry| entry.n_bytes).sum()
    }

    /// Returns the size in bytes of all files.
    pub(crate) fn n_file_bytes(&self) -> u64 {
        self.sources.iter().map(|source| source.n_bytes()).sum()
    }

    /// Iterates over all tensors in the order of their names.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &TensorEntry> {
        self.entries.values()
    }

    /// Returns the path to name in a message about the model as a whole.
    pub(super) fn path(&self) -> &str {
        self.sources.first().map_or("", |source| source.path())
    }
}
