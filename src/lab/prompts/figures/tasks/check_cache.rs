//! Checks that occur on many lines, and the limit on compiled ones.

use std::collections::HashMap;

use super::super::checks::{Check, CheckError};

/// The maximum number of patterns and schemas of a file that stay compiled.
const MAX_COMPILED: usize = 64;

/// Compiles a pattern or schema that occurs on many lines once. If there are too many different ones,
/// the others are compiled for each answer, so that the memory is bounded. Other checks are quick to
/// read.
#[derive(Debug, Clone, Default)]
pub(super) struct CheckCache {
    compiled: HashMap<String, Check>,
}

impl CheckCache {
    /// Reads a check without placeholders.
    pub(super) fn read(&mut self, spec: &str) -> Result<Check, CheckError> {
        match self.compiled.get(spec) {
            Some(check) => Ok(check.clone()),
            None => Ok(self.kept(spec, Check::parse(spec)?)),
        }
    }

    /// Reads a check whose placeholders are filled.
    pub(super) fn read_filled(
        &mut self,
        spec: &str,
        fill: &dyn Fn(&str) -> String,
    ) -> Result<Check, CheckError> {
        let check = Check::parse_filled(spec, fill)?;
        Ok(self.kept(&check.spec(), check))
    }

    fn kept(&mut self, spec: &str, mut check: Check) -> Check {
        if !check.is_compiled() {
            return check;
        }
        if let Some(same) = self.compiled.get(spec) {
            return same.clone();
        }
        if self.compiled.len() < MAX_COMPILED {
            self.compiled.insert(spec.to_owned(), check.clone());
        } else {
            check.release();
        }
        check
    }
}
