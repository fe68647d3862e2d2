//! A model of candle-transformers behind one face: it reads tokens and keeps what it has read.

use candle_core::{Result, Tensor};

/// A model with its cache, which holds one sequence.
pub trait Network: Send {
    /// Reads tokens, one row of them, after the `n_read` that it has read; gives the scores after the
    /// last one.
    fn forward(&mut self, tokens: &Tensor, n_read: usize) -> Result<Tensor>;

    /// A second one that has read the same; `None` where the two would write into one cache.
    fn fork(&self) -> Option<Box<dyn Network>>;
}

/// How much a network reads at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Any number of tokens at any time.
    InChunks,
    /// Several at first, then one at a time: with several it forgets what was read before.
    WholeOnly,
}

/// Networks with the same weights, one for each sequence.
pub struct Networks {
    fresh: Box<Fresh>,
    /// How much one of them reads at once.
    pub reading: Reading,
}

type Fresh = dyn Fn() -> Result<Box<dyn Network>> + Send;
type Forward<M> = fn(&mut M, &Tensor, usize) -> Result<Tensor>;

impl Networks {
    /// A model whose cache is never changed but replaced, so that a copy goes on by itself.
    pub fn forking<M>(model: M, reading: Reading, forward: Forward<M>) -> Self
    where
        M: Clone + Send + 'static,
    {
        Self::new(reading, move || {
            Ok(Instance {
                model: model.clone(),
                forward,
                fork: Some(M::clone),
            })
        })
    }

    /// A model whose copies write into one cache, unless they are made before it has read anything.
    pub fn copied_unread<M>(model: M, reading: Reading, forward: Forward<M>) -> Self
    where
        M: Clone + Send + 'static,
    {
        Self::built_again(move || Ok(model.clone()), reading, forward)
    }

    /// A model that can't be copied, and is built again from the weights that are there.
    pub fn built_again<M: Send + 'static>(
        build: impl Fn() -> Result<M> + Send + 'static,
        reading: Reading,
        forward: Forward<M>,
    ) -> Self {
        Self::new(reading, move || {
            Ok(Instance {
                model: build()?,
                forward,
                fork: None,
            })
        })
    }

    /// One that has read nothing.
    pub fn fresh(&self) -> Result<Box<dyn Network>> {
        (self.fresh)()
    }

    fn new<M: Send + 'static>(
        reading: Reading,
        build: impl Fn() -> Result<Instance<M>> + Send + 'static,
    ) -> Self {
        Self {
            fresh: Box::new(move || Ok(Box::new(build()?))),
            reading,
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
