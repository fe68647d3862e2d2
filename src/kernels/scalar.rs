//! Products in plain loops: the reference that all other kernels are tested against.

use super::formats::BlockView;
use super::input_block::InputBlock;
use super::inputs::{Group, Panel};
use super::product::Part;
use super::{N_BLOCK, N_LANES};

/// Multiplies the tiles of a task by all of its inputs.
pub fn multiply(mut part: Part<'_>) {
    let layout = part.tiles.format.layout();
    let rounds_inputs = part.tiles.format.rounds_inputs();
    let (inputs, width) = (part.inputs, part.tiles.width);
    for (index, tile) in part.tiles.iter().enumerate() {
        for group in inputs.panels().flat_map(Panel::groups) {
            let mut sums = vec![[0.0; N_LANES]; group.rows.len()];
            for block in 0..width.div_ceil(N_BLOCK) {
                for lane in 0..N_LANES {
                    let view = (layout.view)(tile, block, lane);
                    for (row, sums) in sums.iter_mut().enumerate() {
                        let Some(sum) = sums.get_mut(lane) else {
                            continue;
                        };
                        *sum += if rounds_inputs {
                            rounded_product(&view, &group, block, row)
                        } else {
                            float_product(&view, &group, block, row)
                        };
                    }
                }
            }
            part.write(index, group.rows.start, &sums);
        }
    }
}

/// Multiplies one block of weights by the same columns of a row of quantized inputs.
fn rounded_product(view: &BlockView, group: &Group<'_>, block: usize, row: usize) -> f32 {
    let Some(input) = group.blocks.get(block * group.rows.len() + row) else {
        return 0.0;
    };
    let halves = halves(view, input).into_iter().zip(input.half_sums());
    let halves = halves.zip(view.scales).zip(view.mins);
    let sum: f32 = halves
        .map(|(((sum, input_sum), scale), min)| scale * sum as f32 - min * input_sum as f32)
        .sum();
    sum * input.scale
}

/// The integer dot products of both halves of a block.
fn halves(view: &BlockView, input: &InputBlock) -> [i32; 2] {
    let bytes = input.words.iter().flat_map(|word| word.to_le_bytes());
    let mut sums = [0; 2];
    for (column, (weight, input)) in view.values.iter().zip(bytes).enumerate() {
        if let Some(sum) = sums.get_mut(column / (N_BLOCK / 2)) {
            *sum += *weight as i32 * i32::from(input.cast_signed());
        }
    }
    sums
}

/// Multiplies one block of weights by the same columns of a row of float inputs.
fn float_product(view: &BlockView, group: &Group<'_>, block: usize, row: usize) -> f32 {
    let n_rows = group.rows.len();
    let inputs = group.floats.iter().skip(block * N_BLOCK * n_rows + row);
    let products = view.weights().zip(inputs.step_by(n_rows));
    products.map(|(weight, input)| weight * input).sum()
}
