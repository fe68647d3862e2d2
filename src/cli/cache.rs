//! `--cache`: as what keys and values are kept.

use clap::Args;

use super::named::named;
use crate::generation::ModelInfo;
use crate::worker::CacheType;

/// The argument, for the commands that load a model.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct CacheArgument {
    /// As what keys and values are kept on the processor: f16 takes half the memory and q8 about a quarter, and
    /// both round them
    #[arg(long, value_name = "NUMBERS", default_value = CacheType::default().name())]
    #[arg(value_parser = named(CacheType::ALL, CacheType::name))]
    pub cache: CacheType,
}

impl CacheArgument {
    /// What is to be said where the model does not keep them as was asked for.
    pub fn remark(self, info: &ModelInfo) -> Option<String> {
        let is_kept = info.device.ends_with(self.cache.phrase());
        (self.cache != CacheType::default() && !is_kept).then(|| {
            format!(
                "This model does not keep keys and values in {}",
                self.cache.name()
            )
        })
    }
}
