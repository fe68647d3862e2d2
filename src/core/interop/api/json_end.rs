//! Finds where a JSON object or list ends in a text that is still being written.

/// Follows a text that begins with `{` or `[`. It may turn out not to be JSON.
#[derive(Debug, Clone, Default)]
pub(super) struct JsonEnd {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// How many bytes have been read.
    n_read: usize,
}

impl JsonEnd {
    /// Reads the rest of a text of which the beginning was read before. Returns where its first
    /// object or list ends, in bytes.
    pub(super) fn read(&mut self, text: &str) -> Option<usize> {
        for byte in text.bytes().skip(self.n_read) {
            self.n_read += 1;
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.in_string => self.is_escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(self.n_read);
                    }
                }
                _ => {}
            }
        }
        None
    }
}
