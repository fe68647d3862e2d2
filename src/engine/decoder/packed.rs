//! Products with the 8-bit weights of a small model.
//!
//! candle's products wake all threads for each matrix and spin until the last is done, which costs a
//! small model more than it gives, and far more where another program wants a core. These multiply the weights as they are with
//! inputs in full precision, in an order that does not depend on how many rows there are: a
//! sequence's logits are the same to the last bit whether it decodes alone or with others.

use candle_core::{CpuStorage, CustomOp1, Layout, Shape, Tensor};
use half::f16;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

/// Output rows side by side: one sum each in a vector register or two.
const N_LANES: usize = 16;

/// Weights that share one scale, as `Q8_0` has them.
const N_BLOCK: usize = 32;

/// Inputs that are multiplied with a weight each time that it is loaded.
const N_INPUTS: usize = 4;

/// Products below which other threads cost more than they give.
const N_MIN_PARALLEL_PRODUCTS: usize = 8_000_000;

/// A matrix of 8-bit weights, 16 of its rows interleaved.
#[derive(Debug)]
pub struct Packed {
    /// `[row / 16][column / 32]`.
    tiles: Vec<Tile>,
    n_rows: usize,
    width: usize,
    arch: pulp::Arch,
}

#[derive(Debug, Clone)]
struct Tile {
    scales: [f32; N_LANES],
    weights: [[i8; N_LANES]; N_BLOCK],
}

impl Packed {
    /// From rows of `Q8_0` blocks (an f16 scale, 32 signed bytes), one row after another.
    pub fn new(blocks: &[u8], width: usize) -> Self {
        let n_row_bytes = width / N_BLOCK * (2 + N_BLOCK);
        let n_rows = blocks.len() / n_row_bytes.max(1);
        let n_columns = width / N_BLOCK;
        let empty = Tile {
            scales: [0.0; N_LANES],
            weights: [[0; N_LANES]; N_BLOCK],
        };
        let mut tiles = vec![empty; n_rows.div_ceil(N_LANES) * n_columns];
        for (row, blocks) in blocks.chunks_exact(n_row_bytes.max(1)).enumerate() {
            let tiles = tiles.iter_mut().skip(row / N_LANES * n_columns);
            for (tile, block) in tiles.zip(blocks.chunks_exact(2 + N_BLOCK)) {
                tile.set(row % N_LANES, block);
            }
        }
        Self {
            tiles,
            n_rows,
            width,
            arch: pulp::Arch::new(),
        }
    }

    /// Rows of inputs to rows of outputs.
    pub fn forward(&self, input: &Tensor) -> candle_core::Result<Tensor> {
        input.apply_op1_no_bwd(&Product(self))
    }

    /// Splits the rows of the weights over the cores where the product is long enough for that.
    fn multiply(&self, inputs: &[f32], outputs: &mut [f32]) {
        let n_parts = if inputs.len() * self.n_rows < N_MIN_PARALLEL_PRODUCTS {
            1
        } else {
            2 * rayon::current_num_threads()
        };
        let n_part_rows = self
            .n_rows
            .div_ceil(n_parts)
            .next_multiple_of(N_LANES)
            .max(N_LANES);
        let n_part_tiles = n_part_rows / N_LANES * (self.width / N_BLOCK);
        let mut parts: Vec<Part<'_>> = self
            .tiles
            .chunks(n_part_tiles)
            .map(|tiles| Part {
                tiles,
                width: self.width,
                inputs,
                outputs: Vec::new(),
            })
            .collect();
        for outputs in outputs.chunks_mut(self.n_rows) {
            for (part, outputs) in parts.iter_mut().zip(outputs.chunks_mut(n_part_rows)) {
                part.outputs.push(outputs);
            }
        }
        if n_parts == 1 {
            for part in parts {
                self.arch.dispatch(part);
            }
        } else {
            parts
                .into_par_iter()
                .for_each(|part| self.arch.dispatch(part));
        }
    }

    /// Appends the weights of one row in full precision.
    pub fn extend_with_row(&self, row: usize, values: &mut Vec<f32>) {
        let n_columns = self.width / N_BLOCK;
        let tiles = self.tiles.iter().skip(row / N_LANES * n_columns);
        for tile in tiles.take(n_columns) {
            let lane = row % N_LANES;
            let scale = tile.scales.get(lane).copied().unwrap_or_default();
            let weights = tile.weights.iter().filter_map(|lanes| lanes.get(lane));
            values.extend(weights.map(|weight| f32::from(*weight) * scale));
        }
    }

    /// The length of a row.
    pub const fn width(&self) -> usize {
        self.width
    }
}

impl Tile {
    fn set(&mut self, lane: usize, block: &[u8]) {
        let Some((scale, weights)) = block.split_first_chunk() else {
            return;
        };
        if let Some(place) = self.scales.get_mut(lane) {
            *place = f16::from_le_bytes(*scale).to_f32();
        }
        for (lanes, weight) in self.weights.iter_mut().zip(weights) {
            if let Some(place) = lanes.get_mut(lane) {
                *place = weight.cast_signed();
            }
        }
    }
}

struct Product<'a>(&'a Packed);

impl CustomOp1 for Product<'_> {
    fn name(&self) -> &'static str {
        "product with packed weights"
    }

    fn cpu_fwd(
        &self,
        storage: &CpuStorage,
        layout: &Layout,
    ) -> candle_core::Result<(CpuStorage, Shape)> {
        let Self(packed) = self;
        let (n_inputs, width) = layout.shape().dims2()?;
        let values = storage.as_slice::<f32>()?;
        let range = layout.contiguous_offsets().map(|(start, end)| start..end);
        let inputs = range.and_then(|range| values.get(range));
        let (Some(inputs), true) = (inputs, width == packed.width) else {
            candle_core::bail!(
                "an input of {layout:?} for weights of width {}",
                packed.width
            );
        };
        let mut outputs = vec![0.0; n_inputs * packed.n_rows];
        packed.multiply(inputs, &mut outputs);
        Ok((CpuStorage::F32(outputs), (n_inputs, packed.n_rows).into()))
    }
}

/// Some rows of the weights with all inputs. A type and not a closure, because only what is inlined
/// here is compiled for the processor that is there.
struct Part<'a> {
    tiles: &'a [Tile],
    width: usize,
    inputs: &'a [f32],
    /// These rows' part of each input's outputs.
    outputs: Vec<&'a mut [f32]>,
}

impl WithSimd for Part<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _simd: S) {
        let inputs = self.inputs.chunks(N_INPUTS * self.width);
        for (inputs, outputs) in inputs.zip(self.outputs.chunks_mut(N_INPUTS)) {
            let (tiles, width) = (self.tiles, self.width);
            match outputs.len() {
                1 => multiply::<S, 1>(tiles, width, inputs, outputs),
                2 => multiply::<S, 2>(tiles, width, inputs, outputs),
                3 => multiply::<S, 3>(tiles, width, inputs, outputs),
                _ => multiply::<S, N_INPUTS>(tiles, width, inputs, outputs),
            }
        }
    }
}

/// N inputs with some rows of the weights.
#[inline(always)]
fn multiply<S: Simd, const N: usize>(
    tiles: &[Tile],
    width: usize,
    inputs: &[f32],
    outputs: &mut [&mut [f32]],
) {
    let mut rows = inputs.chunks_exact(width);
    let inputs: [&[[f32; N_BLOCK]]; N] =
        std::array::from_fn(|_| rows.next().unwrap_or_default().as_chunks().0);
    for (index, tiles) in tiles.chunks_exact(width / N_BLOCK).enumerate() {
        let mut sums = [[0.0_f32; N_LANES]; N];
        for (column, tile) in tiles.iter().enumerate() {
            let blocks = inputs.map(|input| input.get(column).unwrap_or(&[0.0; N_BLOCK]));
            let products = tile_product::<S, N>(tile, blocks);
            for (sums, products) in sums.iter_mut().zip(&products) {
                for ((sum, product), scale) in sums.iter_mut().zip(products).zip(&tile.scales) {
                    *sum = multiply_add::<S>(*product, *scale, *sum);
                }
            }
        }
        for (outputs, sums) in outputs.iter_mut().zip(&sums) {
            let outputs = outputs.iter_mut().skip(index * N_LANES);
            for (output, sum) in outputs.zip(sums) {
                *output = *sum;
            }
        }
    }
}

/// One block of N inputs with one tile, without its scales.
#[inline(always)]
fn tile_product<S: Simd, const N: usize>(
    tile: &Tile,
    blocks: [&[f32; N_BLOCK]; N],
) -> [[f32; N_LANES]; N] {
    let mut products = [[0.0_f32; N_LANES]; N];
    for (k, weights) in tile.weights.iter().enumerate() {
        let weights = weights.map(f32::from);
        for (products, block) in products.iter_mut().zip(blocks) {
            let input = block.get(k).copied().unwrap_or_default();
            for (product, weight) in products.iter_mut().zip(&weights) {
                *product = multiply_add::<S>(input, *weight, *product);
            }
        }
    }
    products
}

/// a × b + c: in one step where the processor has that, because the step's emulation is slow.
#[inline(always)]
pub fn multiply_add<S: Simd>(a: f32, b: f32, c: f32) -> f32 {
    if S::IS_SCALAR {
        a * b + c
    } else {
        a.mul_add(b, c)
    }
}

#[cfg(test)]
mod tests {
    use super::Packed;
    use candle_core::quantized::{GgmlDType, QTensor};
    use candle_core::{Device, Tensor};

    fn wave(n_rows: usize, width: usize, step: f32) -> Tensor {
        let values: Vec<f32> = (0..n_rows * width)
            .map(|i| (i as f32 * step).sin())
            .collect();
        Tensor::from_vec(values, (n_rows, width), &Device::Cpu).unwrap()
    }

    #[test]
    fn products_are_those_of_the_widened_weights() {
        // 37 rows fill two groups of lanes and a part of a third.
        let weights = QTensor::quantize(&wave(37, 96, 0.37), GgmlDType::Q8_0).unwrap();
        let packed = Packed::new(&weights.data().unwrap(), 96);
        let widened = weights.dequantize(&Device::Cpu).unwrap();
        for n_inputs in 1..=9 {
            let input = wave(n_inputs, 96, 0.71);
            let expected = input.matmul(&widened.t().unwrap()).unwrap();
            let found = packed.forward(&input).unwrap();
            let difference = (expected - found)
                .unwrap()
                .abs()
                .unwrap()
                .max_all()
                .unwrap();
            assert!(difference.to_scalar::<f32>().unwrap() < 1e-5);
        }
        let mut row = Vec::new();
        packed.extend_with_row(36, &mut row);
        assert_eq!(row, widened.get(36).unwrap().to_vec1::<f32>().unwrap());
    }

    #[test]
    fn a_row_gives_the_same_bits_alone_and_among_others() {
        let weights = QTensor::quantize(&wave(16, 64, 0.37), GgmlDType::Q8_0).unwrap();
        let packed = Packed::new(&weights.data().unwrap(), 64);
        let input = wave(7, 64, 0.71);
        let together = packed.forward(&input).unwrap().to_vec2::<f32>().unwrap();
        for (row, expected) in together.iter().enumerate() {
            let alone = packed.forward(&input.narrow(0, row, 1).unwrap()).unwrap();
            assert_eq!(&alone.to_vec2::<f32>().unwrap()[0], expected);
        }
    }
}
