//! Texts that are generated together, printed line by line, each line after its pane's letter.

use crate::generation::formatting::pane_letter;

/// A longer line is broken at its last space.
const N_MAX_CHARS: usize = 100;

/// The part of a pane's text that is not yet a complete line.
#[derive(Debug)]
pub(super) struct TextLines {
    letter: String,
    pending: String,
}

impl TextLines {
    /// Starts the text of the pane at this index.
    pub(super) fn of_pane(place: usize) -> Self {
        Self {
            letter: pane_letter(place),
            pending: String::new(),
        }
    }

    /// Adds to the text, and returns the lines that this completes.
    pub(super) fn push(&mut self, text: &str) -> String {
        self.pending.push_str(text);
        let mut lines = String::new();
        while let Some((line, rest)) = first_line(&self.pending) {
            lines += &self.marked(line);
            self.pending = rest.to_owned();
        }
        lines
    }

    /// Adds the end of the text, and returns all remaining lines.
    pub(super) fn finish(&mut self, text: &str) -> String {
        let mut lines = self.push(text.trim_end_matches('\n'));
        if !self.pending.is_empty() {
            lines += &self.marked(&self.pending);
            self.pending.clear();
        }
        lines
    }

    fn marked(&self, line: &str) -> String {
        format!("{}  {line}\n", self.letter)
    }
}

/// Splits off a complete line, or as much of a long one as fits.
fn first_line(text: &str) -> Option<(&str, &str)> {
    let end = text.char_indices().nth(N_MAX_CHARS).map(|(end, _)| end);
    let start = end.and_then(|end| text.get(..end)).unwrap_or(text);
    if let Some(line) = start.split_once('\n') {
        return Some((line.0, text.get(line.0.len() + 1..)?));
    }
    let end = end?;
    // The space is dropped: at the end of a line, it would be invisible.
    match start.rfind(' ').filter(|space| *space > 0) {
        Some(space) => Some((text.get(..space)?, text.get(space + 1..)?)),
        None => text.split_at_checked(end),
    }
}

#[cfg(test)]
mod tests {
    use super::{N_MAX_CHARS, TextLines};

    #[test]
    fn lines_are_returned_once_they_are_complete() {
        let mut lines = TextLines::of_pane(1);
        assert_eq!(lines.push("Once upon"), "");
        assert_eq!(lines.push(" a time\nthere"), "B  Once upon a time\n");
        assert_eq!(lines.push("\n\nwas"), "B  there\nB  \n");
        assert_eq!(
            lines.finish(" a fox\n[End]\n\n"),
            "B  was a fox\nB  [End]\n"
        );
        assert_eq!(lines.finish(""), "");
    }

    #[test]
    fn a_long_line_is_broken_at_a_space_or_anywhere() {
        let mut lines = TextLines::of_pane(0);
        let words = "é word ".repeat(30);
        let printed = lines.push(&words) + &lines.finish("");
        let lengths = printed.lines().map(|line| line.chars().count());
        assert!(lengths.max().unwrap() <= N_MAX_CHARS + 3, "{printed}");
        let joined: Vec<&str> = printed.lines().map(|line| &line[3..]).collect();
        assert_eq!(joined.join(" ").trim_end(), words.trim_end());

        let endless = "é".repeat(N_MAX_CHARS + 1);
        let whole = format!("A  {}\n", "é".repeat(N_MAX_CHARS));
        assert_eq!(lines.push(&endless), whole);
        assert_eq!(lines.finish(""), "A  é\n");
    }
}
