//! Products of matrices and rows of inputs, divided among the threads.

use super::inputs::{Inputs, RowGroup};
use super::matrix::Tiles;
use super::{Format, InputBits, Matrix, N_LANES, ThreadPool};

/// The number of multiply-adds below which starting other threads costs more time than it saves.
const MIN_PARALLEL_PRODUCTS: usize = 1 << 18;

/// The fewest multiply-adds per task.
const MIN_TASK_PRODUCTS: usize = 1 << 17;

/// The most tasks per thread.
const MAX_TASKS_PER_THREAD: usize = 4;

/// Adjacent tiles of a matrix, to be multiplied by all inputs.
#[derive(Debug)]
pub struct ProductTask<'a> {
    pub tiles: Tiles<'a>,
    /// All rows of inputs.
    pub inputs: &'a Inputs,
    /// For each row of inputs, the outputs of these tiles. The last tile may have fewer than 16
    /// rows.
    pub outputs: Vec<&'a mut [f32]>,
}

impl ProductTask<'_> {
    /// Whether 8-bit weights meet 16-bit inputs. Then the integer products with both digits of an
    /// input are added before they are scaled, so that instructions for 16-bit products produce the
    /// same bits as those for bytes.
    pub fn adds_digits(&self) -> bool {
        self.tiles.format == Format::Q8_0 && self.inputs.bits() == InputBits::Sixteen
    }

    /// Writes the products of one tile with quantized inputs, `sums[row][plane][lane]`: adds the
    /// planes of each row.
    pub fn write_planes(&mut self, tile: usize, group: &RowGroup<'_>, sums: &[[f32; N_LANES]]) {
        match sums.len() / group.rows.len().max(1) {
            1 => self.write(tile, group.rows.start, sums),
            n_planes => {
                for (row, planes) in group.rows.clone().zip(sums.chunks_exact(n_planes)) {
                    self.write(tile, row, &[total(planes)]);
                }
            }
        }
    }

    /// Writes the sums of one tile: `sums[row][lane]` for the rows from `first_row` on.
    pub fn write(&mut self, tile: usize, first_row: usize, sums: &[[f32; N_LANES]]) {
        let outputs = self.outputs.iter_mut().skip(first_row);
        for (outputs, sums) in outputs.zip(sums) {
            let targets = outputs.get_mut(tile * N_LANES..).unwrap_or_default();
            if let Some(targets) = targets.first_chunk_mut() {
                *targets = *sums;
            } else {
                targets
                    .iter_mut()
                    .zip(sums)
                    .for_each(|(target, sum)| *target = *sum);
            }
        }
    }
}

/// Adds the planes of one row, the finest first.
fn total(planes: &[[f32; N_LANES]]) -> [f32; N_LANES] {
    let mut total = [0.0; N_LANES];
    for plane in planes.iter().rev() {
        for (sum, value) in total.iter_mut().zip(plane) {
            *sum += value;
        }
    }
    total
}

/// Multiplies matrices of equal width by the inputs. The outputs are `[row of inputs][row of the
/// first matrix, then of the second, …]`.
pub fn multiply(threads: &ThreadPool, matrices: &[&Matrix], inputs: &Inputs, outputs: &mut [f32]) {
    let n_outputs: usize = matrices.iter().map(|matrix| matrix.n_rows()).sum();
    let n_products = n_outputs * inputs.width() * inputs.n_rows();
    let n_tasks = n_tasks(threads.n_threads(), n_products);
    let n_task_tiles = n_outputs.div_ceil(N_LANES).div_ceil(n_tasks);
    let mut rest: Vec<&mut [f32]> = outputs.chunks_exact_mut(n_outputs.max(1)).collect();
    let mut tasks = Vec::with_capacity(n_tasks + matrices.len());
    for matrix in matrices {
        let mut n_left = matrix.n_rows();
        for tiles in matrix.tiles().chunks(n_task_tiles) {
            let n_rows = n_left.min(tiles.len() * N_LANES);
            n_left -= n_rows;
            let outputs = rest
                .iter_mut()
                .filter_map(|rest| rest.split_off_mut(..n_rows));
            tasks.push(ProductTask {
                tiles,
                inputs,
                outputs: outputs.collect(),
            });
        }
    }
    let instructions = inputs.instructions();
    if n_tasks == 1 {
        for task in tasks {
            instructions.multiply(task);
        }
    } else {
        threads.run(tasks, |task| instructions.multiply(task));
    }
}

/// Chooses the number of tasks: enough that a thread that starts late gets fewer, and none so small
/// that dispatching it costs more than it saves.
fn n_tasks(n_threads: usize, n_products: usize) -> usize {
    if n_threads == 1 || n_products < MIN_PARALLEL_PRODUCTS {
        return 1;
    }
    let n_max = MAX_TASKS_PER_THREAD * n_threads;
    (n_products / MIN_TASK_PRODUCTS).clamp(n_threads, n_max)
}
