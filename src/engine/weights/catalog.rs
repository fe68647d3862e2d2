//! Which tensors a model's files hold, known from their headers alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::gguf::Header;
use super::place::{Place, check_places};
use super::stored_type::{StoredType, is_half};
use super::{Checkpoint, Source, safetensors};
use crate::engine::{EngineError, LoadProgress};

/// Which tensors a model's files hold, and where.
#[derive(Debug)]
pub struct Catalog {
    pub(super) sources: Arc<[Source]>,
    pub(super) places: BTreeMap<String, Place>,
}

impl Catalog {
    /// The tensors of a GGUF file, or of all parts of one.
    pub fn from_gguf(headers: &[Header], sources: Vec<Source>) -> Result<Self, EngineError> {
        let places = headers.iter().enumerate().flat_map(|(file, header)| {
            let places = header.places.iter().cloned();
            places.map(move |place| Place { file, ..place })
        });
        Self::new(places.collect(), sources)
    }

    /// The tensors of a safetensors file.
    pub fn from_safetensors(source: Source) -> Result<Self, EngineError> {
        let places = safetensors::read_header(&source)?;
        Self::new(places, vec![source])
    }

    /// The tensors of several safetensors files, each with the names of those that are wanted of it.
    pub fn from_shards(shards: Vec<(Source, Vec<String>)>) -> Result<Self, EngineError> {
        let mut wanted_places = Vec::new();
        let mut sources = Vec::new();
        for (file, (source, names)) in shards.into_iter().enumerate() {
            let places = safetensors::read_header(&source)?;
            let mut places: BTreeMap<_, _> = places
                .into_iter()
                .map(|place| (place.name.clone(), place))
                .collect();
            for name in names {
                let Some(place) = places.remove(&name) else {
                    let reason = format!(
                        "there is no tensor {name}, which the index looks for in this file"
                    );
                    return Err(source.malformed(reason));
                };
                wanted_places.push(Place { file, ..place });
            }
            sources.push(source);
        }
        Self::new(wanted_places, sources)
    }

    fn new(places: Vec<Place>, sources: Vec<Source>) -> Result<Self, EngineError> {
        let mut by_name = BTreeMap::new();
        for place in places {
            let (name, file) = (place.name.clone(), place.file);
            if by_name.insert(name.clone(), place).is_some()
                && let Some(source) = sources.get(file)
            {
                return Err(source.malformed(format!("there are two tensors {name}")));
            }
        }
        check_places(&by_name, &sources)?;
        Ok(Self {
            sources: sources.into(),
            places: by_name,
        })
    }

    /// Begins to read.
    pub fn open(self, progress: LoadProgress<'_>) -> Result<Checkpoint<'_>, EngineError> {
        Checkpoint::open(self, progress)
    }

    /// The shape of a tensor that is there.
    pub fn shape(&self, name: &str) -> Option<&[usize]> {
        self.places.get(name).map(|place| place.shape.as_slice())
    }

    /// How many values a tensor has that is there.
    pub fn n_values(&self, name: &str) -> u64 {
        self.places.get(name).map_or(0, Place::n_values)
    }

    /// All tensors but for masks and tables that follow from the configuration: some files hold those
    /// too, and they are never loaded.
    pub fn weights(&self) -> impl Iterator<Item = &Place> {
        self.places.values().filter(|place| {
            let is_mask = place.name.ends_with(".attn.bias") && place.shape.len() == 4;
            let ends = [".attn.masked_bias", ".rotary_emb.inv_freq"];
            !is_mask && !ends.iter().any(|end| place.name.ends_with(end))
        })
    }

    /// How many values all weights have.
    pub fn n_all_values(&self) -> u64 {
        let n_values = self.weights().map(Place::n_values);
        n_values.fold(0, u64::saturating_add)
    }

    /// The type that holds most of the weights: "`Q8_0`".
    pub fn quantization(&self) -> String {
        let mut n_values: BTreeMap<_, u64> = BTreeMap::new();
        for place in self.places.values() {
            let sum = n_values.entry(place.stored_type.to_string()).or_default();
            *sum = sum.saturating_add(place.n_values());
        }
        let main = n_values.into_iter().max_by_key(|(_, n_values)| *n_values);
        main.map(|(name, _)| name).unwrap_or_default()
    }

    /// How many bytes of 16-bit floating-point weights there are.
    pub fn n_half_bytes(&self) -> u64 {
        let half = |place: &&Place| matches!(&place.stored_type, StoredType::Known(dtype) if is_half(*dtype));
        self.places
            .values()
            .filter(half)
            .map(|place| place.n_bytes)
            .sum()
    }

    /// How many bytes all tensors have.
    pub fn n_bytes(&self) -> u64 {
        self.places.values().map(|place| place.n_bytes).sum()
    }

    /// How many bytes the files have.
    pub fn n_file_bytes(&self) -> u64 {
        self.sources.iter().map(Source::n_bytes).sum()
    }

    /// All tensors, by name.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        self.places.values()
    }

    /// The file that a message about the whole model names.
    pub(super) fn path(&self) -> &str {
        self.sources.first().map_or("", Source::path)
    }
}
