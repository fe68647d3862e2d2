//! Texts of others in our sentences: in one line and shortened.

/// The maximum length of a quoted text, in characters.
pub(super) const MAX_QUOTED_CHARS: usize = 40;

/// The maximum length of a reason that isn't ours, in characters.
const MAX_REASON_CHARS: usize = 120;

/// Quotes a text in one line, shortened if it is long.
pub(in super::super) fn quote(text: &str) -> String {
    format!("‘{}’", one_line(text, MAX_QUOTED_CHARS))
}

/// Returns a text of others in one line, shortened if it is long.
pub(in super::super) fn brief(text: &str) -> String {
    one_line(text, MAX_REASON_CHARS)
}

fn one_line(text: &str, n_max: usize) -> String {
    let mut line: String = text.chars().take(n_max).map(visible).collect();
    if text.chars().nth(n_max).is_some() {
        line.truncate(line.trim_end().len());
        line.push_str(" …");
    }
    line
}

/// Shows what would break a line. Spaces stay, because they can be the difference.
fn visible(c: char) -> char {
    match c {
        '\n' => '↵',
        '\t' => '⇥',
        c if c.is_control() => '·',
        c => c,
    }
}
