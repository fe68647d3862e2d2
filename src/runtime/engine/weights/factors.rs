//! Factors that a file stores beside a matrix whose values have too few bits for its range.

/// Factors by which the stored values of a matrix are multiplied, one for each block of rows and
/// columns.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Factors {
    /// `[row of blocks][column of blocks]`.
    values: Vec<f32>,
    /// Columns of the matrix.
    width: usize,
    /// Rows and columns that share a factor.
    block: [usize; 2],
    /// How many values of the matrix come before the first one.
    n_before: usize,
}

impl Factors {
    /// The rows and columns of a block if there are several blocks, as in DeepSeek-V3 and in the FP8
    /// versions of Qwen3.
    const N_BLOCK: usize = 128;

    /// Creates the factors of a matrix, or of the matrices of several experts, from a tensor of the
    /// shape `stored`. Returns `None` unless it has, for the rows and for the columns, one factor for
    /// all of them, for each of them, or for each 128, or one factor for each expert.
    pub(super) fn new(values: Vec<f32>, stored: &[usize], shape: &[usize]) -> Option<Self> {
        let width = shape.last().copied().unwrap_or(1).max(1);
        let n_rows = shape.iter().product::<usize>() / width;
        let block = match *stored {
            [] => [n_rows, width],
            // One factor for each expert.
            [n] if shape.len() > 2 && shape.first() == Some(&n) => [n_rows / n.max(1), width],
            [n] => [Self::n_block(n_rows, n)?, width],
            [n, n_columns] => [Self::n_block(n_rows, n)?, Self::n_block(width, n_columns)?],
            _ => return None,
        };
        Some(Self {
            values,
            width,
            block,
            n_before: 0,
        })
    }

    /// Returns how many rows or columns share a factor, given the number of both.
    fn n_block(n: usize, n_factors: usize) -> Option<usize> {
        match n_factors {
            1 => Some(n.max(1)),
            n_factors if n_factors == n => Some(1),
            n_factors if n_factors == n.div_ceil(Self::N_BLOCK) => Some(Self::N_BLOCK),
            _ => None,
        }
    }

    /// Returns the factors of the values after the first `n_values`.
    #[must_use]
    pub(super) fn after(self, n_values: usize) -> Self {
        Self {
            n_before: self.n_before + n_values,
            ..self
        }
    }

    /// Multiplies adjacent values of the matrix, the first of which is value number `first`.
    pub(super) fn multiply(&self, first: usize, values: &mut [f32]) {
        let [n_block_rows, n_block_columns] = self.block;
        let n_row_factors = self.width.div_ceil(n_block_columns);
        let mut position = self.n_before + first;
        let mut rest = values;
        while !rest.is_empty() {
            let (row, column) = (position / self.width, position % self.width);
            let n_left = n_block_columns - column % n_block_columns;
            let n_values = n_left.min(self.width - column).min(rest.len());
            let index = row / n_block_rows * n_row_factors + column / n_block_columns;
            let factor = self.values.get(index).copied().unwrap_or(1.0);
            let (values, after) = rest.split_at_mut(n_values);
            for value in values {
                *value *= factor;
            }
            rest = after;
            position += n_values;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Factors;

    /// Multiplies a matrix of ones, some values at a time.
    fn multiplied(factors: &Factors, n_values: usize, n_at_once: usize) -> Vec<f32> {
        let mut values = vec![1.0; n_values];
        for (index, values) in values.chunks_mut(n_at_once).enumerate() {
            factors.multiply(index * n_at_once, values);
        }
        values
    }

    #[test]
    fn each_value_is_multiplied_by_the_factor_of_its_block() {
        type Expected = fn(usize, usize) -> usize;
        let (n_rows, width) = (130, 200);
        let cases: [(&[usize], Expected); 6] = [
            (&[], |_, _| 0),
            (&[1], |_, _| 0),
            (&[130], |row, _| row),
            (&[130, 1], |row, _| row),
            (&[2, 2], |row, column| row / 128 * 2 + column / 128),
            (&[130, 2], |row, column| row * 2 + column / 128),
        ];
        for (stored, expected) in cases {
            let n_factors: usize = stored.iter().product();
            let values = (0..n_factors).map(|factor| factor as f32).collect();
            let factors = Factors::new(values, stored, &[n_rows, width]).unwrap();
            for n_at_once in [1, 7, 200, n_rows * width] {
                let found = multiplied(&factors, n_rows * width, n_at_once);
                let expected: Vec<f32> = (0..n_rows * width)
                    .map(|index| expected(index / width, index % width) as f32)
                    .collect();
                assert!(found == expected, "{stored:?}, {n_at_once}");
            }
        }
    }

    #[test]
    fn an_expert_has_a_factor_of_its_own() {
        let factors = Factors::new(vec![1.0, 2.0, 3.0], &[3], &[3, 2, 5]).unwrap();
        let found = multiplied(&factors, 30, 7);
        assert_eq!(found, [[1.0; 10], [2.0; 10], [3.0; 10]].concat());
    }

    #[test]
    fn other_numbers_of_factors_are_rejected() {
        for stored in [&[3][..], &[2, 3], &[200], &[200, 1], &[1, 1, 1]] {
            let values = vec![1.0; stored.iter().product()];
            assert_eq!(
                Factors::new(values, stored, &[130, 200]),
                None,
                "{stored:?}"
            );
        }
    }
}
