//! The weights of a safetensors model, laid out for candle-transformers to take what it knows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use candle_core::{DType, Device, Error, Result as CandleResult, Shape, Tensor};
use candle_nn::var_builder::SimpleBackend;
use candle_nn::{Init, VarBuilder};

use crate::engine::EngineError;
use crate::engine::weights::Checkpoint;

/// Tables that some files hold although they follow from the configuration.
const DERIVED: [&str; 1] = [".rotary_emb.inv_freq"];

/// What an output head is called that may be the table of tokens too.
const HEAD: &str = "lm_head.weight";
const TOKENS: &str = "model.embed_tokens.weight";

/// The tensors of a model by name, and which of them were taken. Clones are the same shelf.
#[derive(Clone)]
pub struct Shelf(Arc<Content>);

struct Content {
    tensors: BTreeMap<String, Tensor>,
    taken: Mutex<BTreeSet<String>>,
    device: Device,
}

impl Shelf {
    /// All tensors of a model, in full precision.
    pub fn fill(checkpoint: &mut Checkpoint<'_>, device: &Device) -> Result<Self, EngineError> {
        let places = checkpoint.catalog().places();
        let wanted: Vec<(String, Vec<usize>)> = places
            .filter(|place| !DERIVED.iter().any(|ending| place.name.ends_with(ending)))
            .map(|place| (place.name.clone(), place.shape.clone()))
            .collect();
        let mut tensors = BTreeMap::new();
        for (name, shape) in wanted {
            let tensor = checkpoint.take(&name, &shape)?;
            let values = tensor.values()?;
            tensors.insert(name, Tensor::from_vec(values, shape, device)?);
        }
        Ok(Self(Arc::new(Content {
            tensors,
            taken: Mutex::default(),
            device: device.clone(),
        })))
    }

    /// The shelf as candle-transformers looks at it.
    pub fn builder(&self) -> VarBuilder<'static> {
        let device = self.0.device.clone();
        VarBuilder::from_backend(Box::new(self.clone()), DType::F32, device)
    }

    /// How many weights were taken.
    pub fn n_taken(&self) -> u64 {
        let is_taken = self.taken();
        let tensors = self.0.tensors.iter();
        tensors
            .filter(|(name, _)| is_taken.contains(*name))
            .map(|(_, tensor)| tensor.elem_count() as u64)
            .sum()
    }

    /// A tensor that nobody took: a part of the model that would be missing. A head that repeats the
    /// table of tokens is none.
    pub fn left_over(&self) -> Option<String> {
        let is_taken = self.taken();
        let mut names = self.0.tensors.keys();
        names
            .find(|name| !is_taken.contains(*name) && *name != HEAD)
            .cloned()
    }

    fn taken(&self) -> BTreeSet<String> {
        let taken = self.0.taken.lock();
        // Nobody panics while holding it, and a set of names can't be half changed.
        taken.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn find(&self, name: &str) -> CandleResult<&Tensor> {
        let shared = (name == HEAD).then_some(TOKENS);
        let names = std::iter::once(name).chain(shared);
        let mut found = names.filter_map(|name| self.0.tensors.get_key_value(name));
        let Some((name, tensor)) = found.next() else {
            let path = name.to_owned();
            return Err(Error::CannotFindTensor { path });
        };
        let mut taken = self.0.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.insert(name.clone());
        Ok(tensor)
    }
}

impl SimpleBackend for Shelf {
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
            candle_core::bail!("{name} has the shape {:?}, not {shape:?}", tensor.shape());
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
