//! Splits a stream of bytes into lines, and lines into server-sent events.

/// The longest line that is read. A whole distribution over 150,000 tokens takes about 17 MB.
pub(super) const N_MAX_LINE_BYTES: usize = 64 << 20;

/// Collects bytes until a line is complete.
#[derive(Debug, Default)]
pub(super) struct LineReader {
    buffer: Vec<u8>,
    /// Where the next line begins.
    start: usize,
    /// Where the search for the next line break continues.
    searched: usize,
}

impl LineReader {
    /// Appends received bytes. Returns whether the unfinished line is still short enough.
    pub(super) fn push(&mut self, bytes: &[u8]) -> bool {
        self.buffer.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        self.buffer.extend_from_slice(bytes);
        self.buffer.len() <= N_MAX_LINE_BYTES
    }

    /// Returns the next complete line, without its line break.
    pub(super) fn next_line(&mut self) -> Option<&[u8]> {
        let rest = self.buffer.get(self.searched..)?;
        let Some(at) = rest.iter().position(|byte| *byte == b'\n') else {
            self.searched = self.buffer.len();
            return None;
        };
        let (start, end) = (self.start, self.searched + at);
        (self.start, self.searched) = (end + 1, end + 1);
        let line = self.buffer.get(start..end)?;
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// Returns the part of an incomplete line that has arrived.
    pub(super) fn rest(&self) -> &[u8] {
        self.buffer.get(self.start..).unwrap_or_default()
    }
}

/// Returns the data in one line: a server-sent event's, or a line of JSON unchanged. Returns
/// `None` for comments, other fields and empty lines. Each event of these servers has one line of
/// data.
pub(super) fn data_of(line: &[u8]) -> Option<&[u8]> {
    let line = line.trim_ascii();
    if line.starts_with(b"{") {
        return Some(line);
    }
    // llama-server reports errors in a separate field.
    let data = line
        .strip_prefix(b"data:")
        .or_else(|| line.strip_prefix(b"error:"))?;
    Some(data.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::{LineReader, data_of};

    #[test]
    fn lines_are_found_wherever_the_stream_is_cut() {
        let text = "data: {\"a\": \"é\"}\r\n\r\n: ping\ndata:[DONE]\n\nrest".as_bytes();
        let expected = ["{\"a\": \"é\"}", "[DONE]"];
        for size in 1..=text.len() {
            let (mut reader, mut found) = (LineReader::default(), Vec::new());
            for part in text.chunks(size) {
                assert!(reader.push(part));
                while let Some(line) = reader.next_line() {
                    found.extend(
                        data_of(line).map(|data| String::from_utf8_lossy(data).into_owned()),
                    );
                }
            }
            assert_eq!(found, expected, "parts of {size}");
            assert_eq!(reader.rest(), b"rest");
        }
    }

    #[test]
    fn lines_of_json_and_of_errors_are_data() {
        assert_eq!(data_of(b"{\"done\":true}"), Some(&b"{\"done\":true}"[..]));
        assert_eq!(data_of(b"error: {}"), Some(&b"{}"[..]));
        assert_eq!(data_of(b"event: message"), None);
        assert_eq!(data_of(b""), None);
    }
}
