//! Products in loops that the compiler vectorizes, for CPUs without hand-written micro-kernels.

#![expect(
    clippy::inline_always,
    reason = "a loop is compiled for the instructions of its caller only if it is inlined there"
)]

mod blocks;
mod bytes;
mod floats;
mod half_scales;
mod mins;
mod q6_k;
mod sub_scales;
mod values;
mod wide_block;

use std::iter;
use std::marker::PhantomData;

use pulp::{Arch, Simd, WithSimd};

use self::blocks::{Q4_0, Q5_0, Q8_0, Q8_0Digits};
use self::floats::{BF16, F16, F32, FloatProduct};
use self::half_scales::{Q2K, Q3K};
use self::mins::{Q4_1, Q5_1};
use self::q6_k::Q6K;
use self::sub_scales::{Q4K, Q5K};
pub(super) use self::values::add as add_values;
use self::wide_block::WideBlock;
use super::cache_line::CacheLine;
use super::inputs::RowGroup;
use super::product::ProductTask;
use super::{Format, N_LANES};

/// The most rows in a group: their accumulators and some weights fit into 16 registers of 128 bits.
pub(super) const MAX_GROUP_ROWS: usize = 4;

/// One number for each row of a tile.
type Lanes = [f32; N_LANES];

/// The micro-kernel of one quantized format.
trait Kernel {
    /// Multiplies a tile by N rows of inputs, `[block][row]`.
    fn sums<S: Simd, const N: usize>(tile: &[CacheLine], inputs: &[[WideBlock; N]]) -> [Lanes; N];
}

/// Multiplies the tiles of a task by all of its inputs.
pub(super) fn multiply(task: ProductTask<'_>) {
    multiply_with(Arch::new(), task);
}

/// Multiplies the tiles of a task by all of its inputs, with these instructions.
fn multiply_with(arch: Arch, task: ProductTask<'_>) {
    match task.tiles.format {
        Format::F32 => arch.dispatch(FloatProduct::<F32, _>::new(task)),
        Format::F16 => arch.dispatch(FloatProduct::<F16, _>::new(task)),
        Format::BF16 => arch.dispatch(FloatProduct::<BF16, _>::new(task)),
        Format::Q2K => arch.dispatch(Product::<Q2K>::new(task)),
        Format::Q3K => arch.dispatch(Product::<Q3K>::new(task)),
        Format::Q4_0 => arch.dispatch(Product::<Q4_0>::new(task)),
        Format::Q4_1 => arch.dispatch(Product::<Q4_1>::new(task)),
        Format::Q4K => arch.dispatch(Product::<Q4K>::new(task)),
        Format::Q5_0 => arch.dispatch(Product::<Q5_0>::new(task)),
        Format::Q5_1 => arch.dispatch(Product::<Q5_1>::new(task)),
        Format::Q5K => arch.dispatch(Product::<Q5K>::new(task)),
        Format::Q6K => arch.dispatch(Product::<Q6K>::new(task)),
        Format::Q8_0 if task.adds_digits() => arch.dispatch(Product::<Q8_0Digits>::new(task)),
        Format::Q8_0 => arch.dispatch(Product::<Q8_0>::new(task)),
    }
}

/// Multiplies a task with the micro-kernel `K`.
struct Product<'a, K> {
    task: ProductTask<'a>,
    kernel: PhantomData<K>,
}

impl<'a, K> Product<'a, K> {
    const fn new(task: ProductTask<'a>) -> Self {
        Self {
            task,
            kernel: PhantomData,
        }
    }
}

impl<K: Kernel> WithSimd for Product<'_, K> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let mut task = self.task;
        let (tiles, inputs) = (task.tiles, task.inputs);
        let mut wide = Vec::new();
        for panel in inputs.panels() {
            wide.clear();
            for group in panel.groups() {
                let blocks = group.blocks.iter().map(WideBlock::new);
                let n_copies = n_kernel_rows(&group) / group.n_planes;
                wide.extend(blocks.flat_map(|block| iter::repeat_n(block, n_copies)));
            }
            for (index, tile) in tiles.iter().enumerate() {
                let mut rest = wide.as_slice();
                for group in panel.groups() {
                    let n_rows = n_kernel_rows(&group);
                    let n_blocks = group.blocks.len() / group.n_planes * n_rows;
                    let blocks = rest.split_off(..n_blocks).unwrap_or_default();
                    let task = &mut task;
                    match n_rows {
                        2 => multiply_group::<K, S, 2>(task, index, &group, tile, blocks),
                        3 => multiply_group::<K, S, 3>(task, index, &group, tile, blocks),
                        _ => multiply_group::<K, S, 4>(task, index, &group, tile, blocks),
                    }
                }
            }
        }
    }
}

/// The number of rows that the micro-kernel processes for a group. A single row is processed twice,
/// which is faster because the compiler does not vectorize the micro-kernel for one row.
fn n_kernel_rows(group: &RowGroup<'_>) -> usize {
    group.n_planes.max(2)
}

/// Multiplies tile number `tile_index` by N rows of inputs and keeps the sums of the group.
#[inline(always)]
fn multiply_group<K: Kernel, S: Simd, const N: usize>(
    task: &mut ProductTask<'_>,
    tile_index: usize,
    group: &RowGroup<'_>,
    tile: &[CacheLine],
    blocks: &[WideBlock],
) {
    let sums = K::sums::<S, N>(tile, blocks.as_chunks::<N>().0);
    let kept = sums.get(..group.n_planes).unwrap_or_default();
    task.write_planes(tile_index, group, kept);
}

/// Adds a × b to the accumulator of each row.
#[inline(always)]
fn add_product<S: Simd>(a: &Lanes, b: &Lanes, sum: &mut Lanes) {
    for ((sum, a), b) in sum.iter_mut().zip(a).zip(b) {
        *sum = multiply_add::<S>(*a, *b, *sum);
    }
}

/// Returns a × b + c, fused if the CPU has the instruction; emulating it is slow.
#[inline(always)]
fn multiply_add<S: Simd>(a: f32, b: f32, c: f32) -> f32 {
    if S::IS_SCALAR {
        a * b + c
    } else {
        a.mul_add(b, c)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{InputBits, InputKinds, Inputs, InstructionSet, Matrix, ThreadPool, scalar};
    use super::*;

    const FORMATS: [Format; 13] = [
        Format::F32,
        Format::F16,
        Format::BF16,
        Format::Q2K,
        Format::Q3K,
        Format::Q4_0,
        Format::Q4_1,
        Format::Q4K,
        Format::Q5_0,
        Format::Q5_1,
        Format::Q5K,
        Format::Q6K,
        Format::Q8_0,
    ];

    #[test]
    fn loops_without_vector_instructions_agree_with_the_scalar_reference() {
        let (n_rows, width) = (37, 512);
        let threads = ThreadPool::new(1).unwrap();
        for format in FORMATS {
            let layout = format.layout();
            let n_bytes = n_rows * width / layout.n_file_values * layout.n_file_bytes;
            // Bytes so small that they form no huge floats.
            let bytes: Vec<u8> = (0..n_bytes).map(|i| (i * 37 % 65) as u8).collect();
            let matrix = Matrix::pack(format, &bytes, width).unwrap();
            for n_inputs in [1, 2, 3, 4, 7] {
                let values = (0..n_inputs * width).map(|i| (i as f32 * 0.71).sin());
                let values: Vec<f32> = values.collect();
                let mut inputs = Inputs::new(InstructionSet::Portable, InputBits::Sixteen);
                inputs.set(&threads, &values, width, InputKinds::of([format]));
                let product = |multiply: &dyn Fn(ProductTask<'_>)| {
                    let mut outputs = vec![0.0; n_inputs * n_rows];
                    multiply(ProductTask {
                        tiles: matrix.tiles(),
                        inputs: &inputs,
                        outputs: outputs.chunks_mut(n_rows).collect(),
                    });
                    outputs
                };
                let found = product(&|task| multiply_with(Arch::Scalar, task));
                let expected = product(&|task| scalar::multiply(task));
                let largest = expected.iter().fold(0.0_f32, |max, sum| max.max(sum.abs()));
                for (found, expected) in found.iter().zip(&expected) {
                    let error = (found - expected).abs();
                    assert!(
                        error <= 1e-5 * largest,
                        "{format:?}, {n_inputs}: {found} for {expected}"
                    );
                }
            }
        }
    }
}
