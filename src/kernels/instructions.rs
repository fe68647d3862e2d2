//! The instruction sets that the kernels can use, detected at run time.

use std::ops::Range;

use pulp::Arch;

use super::arch::ENV_VARIABLE;
use super::attention::{ByteValues, IntLanes};
#[cfg(target_arch = "x86_64")]
use super::avx2::{self, Avx2, AvxVnni};
#[cfg(target_arch = "x86_64")]
use super::avx512::{self, Avx512};
#[cfg(target_arch = "aarch64")]
use super::neon::{self, Dotprod, I8mm};
use super::product::ProductTask;
use super::{arch, portable, scalar};

/// The CPU instructions that a kernel uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstructionSet {
    /// 512-bit registers and 8-bit dot products.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    /// 256-bit registers and 8-bit dot products.
    #[cfg(target_arch = "x86_64")]
    AvxVnni(AvxVnni),
    /// 256-bit registers.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// 128-bit registers and 8-bit products of 2 × 8 matrices.
    #[cfg(target_arch = "aarch64")]
    I8mm(I8mm),
    /// 128-bit registers and 8-bit dot products.
    #[cfg(target_arch = "aarch64")]
    Dotprod(Dotprod),
    /// Loops that the compiler vectorizes; always available.
    Portable,
    /// One number at a time; always available, as the reference.
    Scalar,
}

impl InstructionSet {
    /// The sets that this CPU supports, fastest first.
    pub fn available() -> Vec<Self> {
        let mut available = Vec::new();
        #[cfg(target_arch = "x86_64")]
        available.extend(
            [
                Avx512::detect().map(Self::Avx512),
                AvxVnni::detect().map(Self::AvxVnni),
                Avx2::detect().map(Self::Avx2),
            ]
            .into_iter()
            .flatten(),
        );
        #[cfg(target_arch = "aarch64")]
        available.extend(
            [
                I8mm::detect().map(Self::I8mm),
                Dotprod::detect().map(Self::Dotprod),
            ]
            .into_iter()
            .flatten(),
        );
        available.extend([Self::Portable, Self::Scalar]);
        available
    }

    /// The fastest set that this CPU supports.
    pub fn best() -> Self {
        Self::available().first().copied().unwrap_or(Self::Portable)
    }

    /// Returns the set that [`arch::ENV_VARIABLE`] names, or the fastest one if it is not set. The
    /// error is a sentence that lists the supported names.
    pub fn chosen() -> Result<Self, String> {
        match arch::requested() {
            Some(name) => Self::named(&name),
            None => Ok(Self::best()),
        }
    }

    fn named(name: &str) -> Result<Self, String> {
        let available = Self::available();
        let found = available.iter().find(|set| set.short_name() == name);
        found.copied().ok_or_else(|| {
            let names: Vec<&str> = available.into_iter().map(Self::short_name).collect();
            let names = names.join(", ");
            format!(
                "{ENV_VARIABLE} asks for {name}, which this CPU does not support; use one of: {names}"
            )
        })
    }

    /// The name in [`arch::ENV_VARIABLE`].
    const fn short_name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => "avx512",
            #[cfg(target_arch = "x86_64")]
            Self::AvxVnni(_) => "avx-vnni",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => "avx2",
            #[cfg(target_arch = "aarch64")]
            Self::I8mm(_) => "i8mm",
            #[cfg(target_arch = "aarch64")]
            Self::Dotprod(_) => "dotprod",
            Self::Portable => "portable",
            Self::Scalar => "scalar",
        }
    }

    /// The name for display.
    pub const fn name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => "AVX-512 VNNI",
            #[cfg(target_arch = "x86_64")]
            Self::AvxVnni(_) => "AVX-VNNI",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => "AVX2",
            #[cfg(target_arch = "aarch64")]
            Self::I8mm(_) => "NEON I8MM",
            #[cfg(target_arch = "aarch64")]
            Self::Dotprod(_) => "NEON dotprod",
            Self::Portable => "portable",
            Self::Scalar => "scalar",
        }
    }

    /// The instructions for vectorized loops: attention, norms, and the quantization of inputs.
    pub fn arch(self) -> Arch {
        arch::arch_of(self.short_name())
    }

    /// Divides rows of inputs into groups whose accumulators, one for each plane of a row, fit into
    /// registers. A row's result does not depend on its group.
    pub(super) fn groups(
        self,
        n_rows: usize,
        n_planes: usize,
    ) -> impl Iterator<Item = Range<usize>> {
        let n_groups = n_rows.div_ceil(self.max_group_rows() / n_planes);
        let start = move |group: usize| group * n_rows / n_groups;
        (0..n_groups).map(move |group| start(group)..start(group + 1))
    }

    /// Whether groups with an even number of planes are interleaved in pairs.
    pub(super) const fn interleaves_rows(self) -> bool {
        match self {
            #[cfg(target_arch = "aarch64")]
            Self::I8mm(_) => true,
            _ => false,
        }
    }

    /// Whether 16-bit inputs meet 8-bit weights as [`InputWords`](super::input_words::InputWords),
    /// rather than as planes of bytes.
    pub(super) const fn multiplies_words(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::AvxVnni(_) | Self::Avx2(_) => true,
            _ => false,
        }
    }

    const fn max_group_rows(self) -> usize {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => avx512::MAX_GROUP_ROWS,
            #[cfg(target_arch = "x86_64")]
            Self::AvxVnni(_) | Self::Avx2(_) => avx2::MAX_GROUP_ROWS,
            #[cfg(target_arch = "aarch64")]
            Self::I8mm(_) | Self::Dotprod(_) => neon::MAX_GROUP_ROWS,
            Self::Portable => portable::MAX_GROUP_ROWS,
            Self::Scalar => 4,
        }
    }

    /// Multiplies the tiles of a task by all of its inputs.
    pub(super) fn multiply(self, task: ProductTask<'_>) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(avx512) => avx512.multiply(task),
            #[cfg(target_arch = "x86_64")]
            Self::AvxVnni(avx_vnni) => avx_vnni.multiply(task),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(avx2) => avx2.multiply(task),
            #[cfg(target_arch = "aarch64")]
            Self::I8mm(i8mm) => i8mm.multiply(task),
            #[cfg(target_arch = "aarch64")]
            Self::Dotprod(dotprod) => dotprod.multiply(task),
            Self::Portable => portable::multiply(task),
            Self::Scalar => scalar::multiply(task),
        }
    }

    /// Adds weighted values of an 8-bit cache to the accumulators of some queries, `[query][dim /
    /// 16]`. All sets produce the same bits.
    pub(super) fn add_values<const N: usize>(
        self,
        values: &ByteValues<'_, N>,
        sums: &mut [IntLanes],
    ) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(avx512) => avx512.add_values(values, sums),
            #[cfg(target_arch = "x86_64")]
            Self::AvxVnni(avx_vnni) => avx_vnni.add_values(values, sums),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(avx2) => avx2.add_values(values, sums),
            #[cfg(target_arch = "aarch64")]
            Self::I8mm(i8mm) => i8mm.add_values(values, sums),
            #[cfg(target_arch = "aarch64")]
            Self::Dotprod(dotprod) => dotprod.add_values(values, sums),
            Self::Portable | Self::Scalar => portable::add_values(self.arch(), values, sums),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_supported_set_is_found_by_its_name() {
        for set in InstructionSet::available() {
            assert_eq!(InstructionSet::named(set.short_name()), Ok(set));
        }
    }

    #[test]
    fn an_unsupported_name_is_rejected_with_the_supported_ones() {
        let error = InstructionSet::named("abacus").unwrap_err();
        assert!(error.starts_with(&format!("{ENV_VARIABLE} asks for abacus, which")));
        assert!(error.ends_with("scalar"));
    }
}
