//! The columns of a file by name.

use std::collections::HashMap;

use super::TaskMistake;

/// The maximum number of columns of a file.
pub(super) const N_MAX_COLUMNS: usize = 1000;

/// The names of columns in the order in which they occur.
#[derive(Debug, Default)]
pub(super) struct Columns {
    names: Vec<String>,
    indices: HashMap<String, usize>,
}

impl Columns {
    /// Returns the index of a column, which is added if it is new.
    pub(super) fn index(&mut self, name: &str) -> Result<usize, TaskMistake> {
        if let Some(index) = self.indices.get(name) {
            return Ok(*index);
        }
        let index = self.names.len();
        if index == N_MAX_COLUMNS {
            return Err(TaskMistake::TooManyColumns);
        }
        self.names.push(name.to_owned());
        self.indices.insert(name.to_owned(), index);
        Ok(index)
    }

    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.indices.get(name).copied()
    }

    pub(super) fn into_names(self) -> Vec<String> {
        self.names
    }
}
