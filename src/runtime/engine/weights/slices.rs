//! Views of some rows of a stored tensor, such as the matrix of one expert.

use super::StoredTensor;

impl StoredTensor {
    /// Divides a stack of matrices, whose first dimension counts them. All share the file, and each
    /// is read when its values are requested.
    pub(crate) fn unstacked(self) -> Vec<Self> {
        let [n_matrices, rest @ ..] = self.entry.shape.as_slice() else {
            return vec![self];
        };
        let (n_matrices, shape) = (*n_matrices, rest.to_vec());
        let n_bytes = self.entry.n_bytes / n_matrices.max(1) as u64;
        let n_values = shape.iter().product::<usize>();
        let matrices = (0..n_matrices).map(|index| {
            let mut matrix = self.clone();
            matrix.entry.shape.clone_from(&shape);
            matrix.entry.start += index as u64 * n_bytes;
            matrix.entry.n_bytes = n_bytes;
            matrix.factors = matrix
                .factors
                .map(|factors| factors.after(index * n_values));
            matrix.exponents = matrix
                .exponents
                .map(|exponents| exponents.after(index * n_values));
            matrix
        });
        matrices.collect()
    }
}
