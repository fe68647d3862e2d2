//! The weights of a safetensors model, by name, as candle-transformers looks them up.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use candle_core::{DType, Device, Error, Result as CandleResult, Shape, Tensor};
use candle_nn::var_builder::SimpleBackend;
use candle_nn::{Init, VarBuilder};

use crate::engine::weights::{Checkpoint, LoadStop};

/// Suffixes of tables that some files contain although they follow from the configuration.
const DERIVED: [&str; 1] = [".rotary_emb.inv_freq"];

/// The output head. A file without one uses the embedding table instead.
const HEAD: &str = "lm_head.weight";
const TOKENS: &str = "model.embed_tokens.weight";

/// The tensors of a model by name, and which of them were used. Clones share both.
#[derive(Clone)]
pub(super) struct WeightStore(Arc<Content>);

struct Content {
    tensors: BTreeMap<String, Tensor>,
    used: Mutex<BTreeSet<String>>,
    device: Device,
}

impl WeightStore {
    /// Loads all tensors of a model as 32-bit floats.
    pub(super) fn load(checkpoint: &mut Checkpoint<'_>, device: &Device) -> Result<Self, LoadStop> {
        let entries = checkpoint.catalog().entries();
        let wanted: Vec<(String, Vec<usize>)> = entries
            .filter(|entry| !DERIVED.iter().any(|ending| entry.name.ends_with(ending)))
            // Taken with the weights that they belong to.
            .filter(|entry| !entry.is_factor())
            .map(|entry| (entry.name.clone(), entry.shape.clone()))
            .collect();
        let mut tensors = BTreeMap::new();
        for (name, shape) in wanted {
            let tensor = checkpoint.take(&name, &shape)?;
            let values = tensor.values()?;
            tensors.insert(name, Tensor::from_vec(values, shape, device)?);
        }
        Ok(Self(Arc::new(Content {
            tensors,
            used: Mutex::default(),
            device: device.clone(),
        })))
    }

    /// Returns the interface through which candle-transformers looks up weights.
    pub(super) fn builder(&self) -> VarBuilder<'static> {
        let device = self.0.device.clone();
        VarBuilder::from_backend(Box::new(self.clone()), DType::F32, device)
    }

    /// Returns the number of weights that were used.
    pub(super) fn n_used(&self) -> u64 {
        let used = self.used();
        let tensors = self.0.tensors.iter();
        tensors
            .filter(|(name, _)| used.contains(*name))
            .map(|(_, tensor)| tensor.elem_count() as u64)
            .sum()
    }

    /// Returns the name of a tensor that was never used, which means that a part of the model would
    /// be missing. Ignores a stored copy of a tied output head.
    pub(super) fn unused_tensor(&self) -> Option<String> {
        let used = self.used();
        let mut names = self.0.tensors.keys();
        names
            .find(|name| !used.contains(*name) && *name != HEAD)
            .cloned()
    }

    fn used(&self) -> BTreeSet<String> {
        let used = self.0.used.lock();
        // Nothing panics while holding the lock, and a set of names can't be left half changed.
        used.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn find(&self, name: &str) -> CandleResult<&Tensor> {
        let shared = (name == HEAD).then_some(TOKENS);
        let names = std::iter::once(name).chain(shared);
        let mut found = names.filter_map(|name| self.0.tensors.get_key_value(name));
        let Some((name, tensor)) = found.next() else {
            let path = name.to_owned();
            return Err(Error::CannotFindTensor { path });
        };
        let mut used = self.0.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.insert(name.clone());
        Ok(tensor)
    }
}

impl SimpleBackend for WeightStore {
    fn get(
        &self,
        shape: Shape,
        name: &str,
        _: Init,
        dtype: DType,
        at: &Device,
    ) -> CandleResult<Tensor> {
        let tensor = self.find(name)?;
        if tensor.shape() != &shape {
            candle_core::bail!(
                "tensor {name} has shape {:?} instead of {shape:?}",
                tensor.shape()
            );
        }
        tensor.to_device(at)?.to_dtype(dtype)
    }

    fn get_unchecked(&self, name: &str, dtype: DType, at: &Device) -> CandleResult<Tensor> {
        self.find(name)?.to_device(at)?.to_dtype(dtype)
    }

    fn contains_tensor(&self, name: &str) -> bool {
        self.0.tensors.contains_key(name)
    }
}
