//! The order in which a grid is filled: coarse first, so that its shape shows early.

/// The distance between the cells of each pass, in order.
const STRIDES: [usize; 3] = [4, 2, 1];

/// Returns the indices of a grid's cells, which are numbered row by row, in the order of the
/// passes: every fourth cell of every fourth row, then every second cell of every second row, then
/// all others.
pub fn coarse_order(n_rows: usize, n_columns: usize) -> Vec<usize> {
    let mut order = Vec::new();
    let mut is_ordered = vec![false; n_rows * n_columns];
    for stride in STRIDES {
        for row in (0..n_rows).step_by(stride) {
            for column in (0..n_columns).step_by(stride) {
                let cell = row * n_columns + column;
                if let Some(known) = is_ordered.get_mut(cell).filter(|known| !**known) {
                    *known = true;
                    order.push(cell);
                }
            }
        }
    }
    order
}

/// Returns a cell, followed by the coarser cells above and to the left that stand in for it until
/// it is known, nearest first.
pub fn stand_ins(cell: usize, n_columns: usize) -> impl Iterator<Item = usize> {
    let n_columns = n_columns.max(1);
    let (row, column) = (cell / n_columns, cell % n_columns);
    let coarse =
        move |stride: &usize| (row - row % stride) * n_columns + (column - column % stride);
    STRIDES.iter().rev().map(coarse)
}
