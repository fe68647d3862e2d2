//! `--cache`: the number format of the KV cache.

use clap::Args;

use super::named_value::parse_by_name;
use crate::generation::ModelInfo;
use crate::worker::CacheType;

/// The argument, for commands that load a model.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct CacheArgument {
    /// Number format of the KV cache on the CPU: f16 takes half the memory and q8 about a quarter,
    /// at some loss of precision
    #[arg(long, value_name = "FORMAT", default_value = CacheType::default().name())]
    #[arg(value_parser = parse_by_name(CacheType::ALL, CacheType::name))]
    pub cache: CacheType,
}

impl CacheArgument {
    /// Returns a warning if the model does not use the requested format.
    pub(super) fn warning(self, info: &ModelInfo) -> Option<String> {
        let is_used = info.device.contains(self.cache.phrase());
        (self.cache != CacheType::default() && !is_used).then(|| {
            format!(
                "This model does not support a KV cache in {}",
                self.cache.name()
            )
        })
    }
}
