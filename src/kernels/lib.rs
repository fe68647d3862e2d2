//! CPU kernels: matrix products, attention and the exponential function.
//!
//! Slices in, slices out: this module knows nothing about models, files or tensor libraries.
//! Weights are packed once, when a model is loaded. The instruction set is chosen at run time.

pub mod arch;
pub mod attention;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod cache_line;
mod cpu_context;
mod exp;
mod format;
mod formats;
mod input_bits;
mod input_block;
mod input_words;
mod inputs;
mod instructions;
mod lines;
mod matrix;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
mod product;
mod returned_memory;
mod scalar;
mod soft_cap;
#[cfg(test)]
mod tests;
mod thread_pool;

pub use cpu_context::CpuContext;
pub use exp::exp;
pub use exp::exp_normal;
pub use format::Format;
pub use input_bits::InputBits;
pub use inputs::{InputKinds, Inputs};
pub use instructions::InstructionSet;
pub use matrix::Matrix;
pub use product::multiply;
pub use returned_memory::ReturnedMemory;
pub use soft_cap::soft_cap;
pub use thread_pool::ThreadPool;

/// Output rows per tile, one per 32-bit lane of a cache line.
pub const N_LANES: usize = 16;

/// Inputs that share one scale, and the columns of a quantized block.
pub const N_BLOCK: usize = 32;
