//! One interface to the models of candle-transformers, each of which owns its cache.

use candle_core::{Result, Tensor};

/// A model that holds one sequence in its own cache.
pub(crate) trait Network: Send {
    /// Reads tokens of shape `[1, n]`, which follow the first `n_read`. Returns the logits after
    /// the last one.
    fn forward(&mut self, tokens: &Tensor, n_read: usize) -> Result<Tensor>;

    /// Returns a copy that has read the same tokens, or `None` if both would write to the same
    /// cache.
    fn fork(&self) -> Option<Box<dyn Network>>;
}

/// How many tokens a network can read in one pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PrefillMode {
    /// Any number of tokens at any time.
    Chunked,
    /// Any number in the first pass, then one at a time. Later passes over several tokens would be
    /// wrong.
    SinglePass,
}

/// Creates networks that share their weights, one for each sequence.
pub(crate) struct NetworkFactory {
    create: Box<Create>,
    pub prefill_mode: PrefillMode,
}

type Create = dyn Fn() -> Result<Box<dyn Network>> + Send;
type Forward<M> = fn(&mut M, &Tensor, usize) -> Result<Tensor>;

impl NetworkFactory {
    /// For a model that replaces its cache and never writes to it in place. A clone can continue
    /// independently at any time.
    pub(crate) fn forkable<M>(model: M, prefill_mode: PrefillMode, forward: Forward<M>) -> Self
    where
        M: Clone + Send + 'static,
    {
        Self::new(prefill_mode, move || {
            Ok(Instance {
                model: model.clone(),
                forward,
                fork: Some(M::clone),
            })
        })
    }

    /// For a model that can't be cloned. Each network is built anew from the weights in memory.
    pub(crate) fn rebuilt<M: Send + 'static>(
        build: impl Fn() -> Result<M> + Send + 'static,
        prefill_mode: PrefillMode,
        forward: Forward<M>,
    ) -> Self {
        Self::new(prefill_mode, move || {
            Ok(Instance {
                model: build()?,
                forward,
                fork: None,
            })
        })
    }

    /// Creates a network that has read nothing.
    pub(crate) fn create(&self) -> Result<Box<dyn Network>> {
        (self.create)()
    }

    fn new<M: Send + 'static>(
        prefill_mode: PrefillMode,
        build: impl Fn() -> Result<Instance<M>> + Send + 'static,
    ) -> Self {
        Self {
            create: Box::new(move || Ok(Box::new(build()?))),
            prefill_mode,
        }
    }
}

struct Instance<M> {
    model: M,
    forward: Forward<M>,
    fork: Option<fn(&M) -> M>,
}

impl<M: Send + 'static> Network for Instance<M> {
    fn forward(&mut self, tokens: &Tensor, n_read: usize) -> Result<Tensor> {
        (self.forward)(&mut self.model, tokens, n_read)
    }

    fn fork(&self) -> Option<Box<dyn Network>> {
        let fork = self.fork?;
        Some(Box::new(Self {
            model: fork(&self.model),
            ..*self
        }))
    }
}
