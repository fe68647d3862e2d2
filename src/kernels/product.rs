//! Products of matrices with rows of inputs, over the cores.

use super::inputs::Inputs;
use super::matrix::Tiles;
use super::{Matrix, N_LANES, ThreadPool};

/// Products below which other threads cost more than they give.
const N_MIN_PARALLEL_PRODUCTS: usize = 1 << 18;

/// The least products of a part.
const N_PART_PRODUCTS: usize = 1 << 17;

/// The most parts for each thread.
const N_MOST_THREAD_PARTS: usize = 4;

/// Some tiles of a matrix, to be multiplied with all inputs.
#[derive(Debug)]
pub struct Part<'a> {
    /// The tiles.
    pub tiles: Tiles<'a>,
    /// All rows of inputs.
    pub inputs: &'a Inputs,
    /// For each row of inputs the outputs of these tiles; the last tile may have fewer rows than 16.
    pub outputs: Vec<&'a mut [f32]>,
}

impl Part<'_> {
    /// Puts the sums of one tile in their places: `sums[row][lane]` for the rows from `first_row` on.
    pub fn write(&mut self, tile: usize, first_row: usize, sums: &[[f32; N_LANES]]) {
        let outputs = self.outputs.iter_mut().skip(first_row);
        for (outputs, sums) in outputs.zip(sums) {
            let places = outputs.get_mut(tile * N_LANES..).unwrap_or_default();
            if let Some(places) = places.first_chunk_mut() {
                *places = *sums;
            } else {
                places
                    .iter_mut()
                    .zip(sums)
                    .for_each(|(place, sum)| *place = *sum);
            }
        }
    }
}

/// Multiplies matrices of one width with the inputs. The outputs of each row stand side by side in the
/// order of the matrices: `[row of inputs][row of the first matrix, then of the second, …]`.
pub fn multiply(team: &ThreadPool, matrices: &[&Matrix], inputs: &Inputs, outputs: &mut [f32]) {
    let n_outputs: usize = matrices.iter().map(|matrix| matrix.n_rows()).sum();
    let n_products = n_outputs * inputs.width() * inputs.n_rows();
    let n_parts = n_parts(team.n_threads(), n_products);
    let n_part_tiles = n_outputs.div_ceil(N_LANES).div_ceil(n_parts);
    let mut rest: Vec<&mut [f32]> = outputs.chunks_exact_mut(n_outputs.max(1)).collect();
    let mut parts = Vec::with_capacity(n_parts + matrices.len());
    for matrix in matrices {
        let mut n_left = matrix.n_rows();
        for tiles in matrix.tiles().parts(n_part_tiles) {
            let n_rows = n_left.min(tiles.len() * N_LANES);
            n_left -= n_rows;
            let outputs = rest
                .iter_mut()
                .filter_map(|rest| rest.split_off_mut(..n_rows));
            parts.push(Part {
                tiles,
                inputs,
                outputs: outputs.collect(),
            });
        }
    }
    let instructions = inputs.instructions();
    if n_parts == 1 {
        for part in parts {
            instructions.multiply(part);
        }
    } else {
        team.run(parts, |part| instructions.multiply(part));
    }
}

/// Into how many parts so many products are split: enough that a thread which comes late has less to do,
/// and none so small that it is not worth its taking.
fn n_parts(n_threads: usize, n_products: usize) -> usize {
    if n_threads == 1 || n_products < N_MIN_PARALLEL_PRODUCTS {
        return 1;
    }
    let n_most = N_MOST_THREAD_PARTS * n_threads;
    (n_products / N_PART_PRODUCTS).clamp(n_threads, n_most)
}
