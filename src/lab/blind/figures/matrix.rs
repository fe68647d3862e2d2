//! Symmetric positive definite matrices, factored by Cholesky's method.

/// The lower triangle L of a factored matrix L·Lᵀ, row by row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cholesky {
    rows: Vec<Vec<f64>>,
}

impl Cholesky {
    /// Factors a matrix of `n` rows in row-major order. Returns `None` if it is not positive
    /// definite.
    pub(super) fn of(matrix: &[f64], n: usize) -> Option<Self> {
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(n);
        for row in matrix.chunks(n.max(1)) {
            let mut new: Vec<f64> = Vec::with_capacity(n);
            for (above, value) in rows.iter().zip(row) {
                let known: f64 = above.iter().zip(&new).map(|(a, b)| a * b).sum();
                new.push((value - known) / above.last()?);
            }
            let square = row.get(new.len())? - new.iter().map(|value| value * value).sum::<f64>();
            if square <= 0.0 || !square.is_finite() {
                return None;
            }
            new.push(square.sqrt());
            rows.push(new);
        }
        Some(Self { rows })
    }

    /// Solves the system with this right side.
    pub(super) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut solution: Vec<f64> = Vec::with_capacity(right.len());
        for (row, value) in self.rows.iter().zip(right) {
            let known: f64 = row.iter().zip(&solution).map(|(a, b)| a * b).sum();
            solution.push((value - known) / row.last().copied().unwrap_or(1.0));
        }
        for (place, row) in self.rows.iter().enumerate().rev() {
            let Some((diagonal, before)) = row.split_last() else {
                continue;
            };
            let (earlier, later) = solution.split_at_mut(place);
            let Some(value) = later.first_mut() else {
                continue;
            };
            *value /= diagonal;
            for (earlier, factor) in earlier.iter_mut().zip(before) {
                *earlier -= factor * *value;
            }
        }
        solution
    }

    /// Returns the natural logarithm of the determinant.
    pub(super) fn ln_det(&self) -> f64 {
        let diagonal = self.rows.iter().filter_map(|row| row.last());
        2.0 * diagonal.map(|value| value.ln()).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::Cholesky;

    #[test]
    fn a_system_is_solved_and_the_determinant_is_known() {
        // The determinant is 4·(5·6 − 4) − 2·(2·6 − 2) + 1·(4 − 5) = 83.
        let matrix = [4.0, 2.0, 1.0, 2.0, 5.0, 2.0, 1.0, 2.0, 6.0];
        let factored = Cholesky::of(&matrix, 3).unwrap();
        assert!((factored.ln_det() - 83_f64.ln()).abs() < 1e-12);
        // The right side of the solution 1, −2, 3.
        let solution = factored.solve(&[3.0, -2.0, 15.0]);
        for (found, expected) in solution.iter().zip([1.0, -2.0, 3.0]) {
            assert!((found - expected).abs() < 1e-12, "{solution:?}");
        }
    }

    #[test]
    fn an_indefinite_matrix_is_refused() {
        assert_eq!(Cholesky::of(&[1.0, 2.0, 2.0, 1.0], 2), None);
    }
}
