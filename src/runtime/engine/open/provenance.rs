//! What can change a model's numbers besides its weights.

use crate::engine::Compute;
use crate::generation::{Implementation, Provenance};
use crate::kernels::InstructionSet;

/// Describes the code and the number formats that run a model. The hashes are added later.
pub(super) fn provenance_of(compute: &Compute, implementation: Implementation) -> Provenance {
    let is_cpu = compute.device.candle().is_cpu();
    let uses_kernels = is_cpu && implementation.is_quartet();
    let instructions = InstructionSet::chosen().map_or("", InstructionSet::name);
    let of_kernels = |name: &str| (if uses_kernels { name } else { "" }).to_owned();
    Provenance {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        instructions: of_kernels(instructions),
        precision: compute.device.precision().name().to_owned(),
        cache: of_kernels(compute.cache.name()),
        ..Provenance::default()
    }
}
