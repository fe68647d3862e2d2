//! Products in plain loops: the reference that all other kernels are tested against.

use super::formats::UnpackedBlock;
use super::input_block::InputBlock;
use super::inputs::{Panel, RowGroup};
use super::product::ProductTask;
use super::{N_BLOCK, N_LANES};

/// Multiplies the tiles of a task by all of its inputs.
pub(super) fn multiply(mut task: ProductTask<'_>) {
    let layout = task.tiles.format.layout();
    let quantizes_inputs = task.tiles.format.quantizes_inputs();
    let (inputs, width) = (task.inputs, task.tiles.width);
    for (index, tile) in task.tiles.iter().enumerate() {
        for group in inputs.panels().flat_map(Panel::groups) {
            let n_sums = if quantizes_inputs {
                group.n_planes
            } else {
                group.rows.len()
            };
            let mut sums = vec![[0.0; N_LANES]; n_sums];
            for block in 0..width.div_ceil(N_BLOCK) {
                for lane in 0..N_LANES {
                    let unpacked = (layout.unpack)(tile, block, lane);
                    for (row, sums) in sums.iter_mut().enumerate() {
                        let Some(sum) = sums.get_mut(lane) else {
                            continue;
                        };
                        *sum += if quantizes_inputs {
                            quantized_product(&unpacked, &group, block, row)
                        } else {
                            float_product(&unpacked, &group, block, row)
                        };
                    }
                }
            }
            task.write_planes(index, &group, &sums);
        }
    }
}

/// Multiplies one block of weights by the same columns of a plane of quantized inputs.
fn quantized_product(
    unpacked: &UnpackedBlock,
    group: &RowGroup<'_>,
    block: usize,
    plane: usize,
) -> f32 {
    let Some(input) = group.blocks.get(block * group.n_planes + plane) else {
        return 0.0;
    };
    let halves = half_dots(unpacked, input)
        .into_iter()
        .zip(input.half_sums());
    let halves = halves.zip(unpacked.scales).zip(unpacked.mins);
    let sum: f32 = halves
        .map(|(((sum, input_sum), scale), min)| scale * sum as f32 - min * input_sum as f32)
        .sum();
    sum * input.scale
}

/// The integer dot products of both halves of a block.
fn half_dots(unpacked: &UnpackedBlock, input: &InputBlock) -> [i32; 2] {
    let bytes = input.words.iter().flat_map(|word| word.to_le_bytes());
    let mut sums = [0; 2];
    for (column, (weight, input)) in unpacked.values.iter().zip(bytes).enumerate() {
        if let Some(sum) = sums.get_mut(column / (N_BLOCK / 2)) {
            *sum += *weight as i32 * i32::from(input.cast_signed());
        }
    }
    sums
}

/// Multiplies one block of weights by the same columns of a row of float inputs.
fn float_product(unpacked: &UnpackedBlock, group: &RowGroup<'_>, block: usize, row: usize) -> f32 {
    let n_rows = group.rows.len();
    let inputs = group.floats.iter().skip(block * N_BLOCK * n_rows + row);
    let products = unpacked.weights().zip(inputs.step_by(n_rows));
    products.map(|(weight, input)| weight * input).sum()
}
