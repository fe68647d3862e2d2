//! Templates with the columns of a file.
//!
//! There is one rule, for templates and for checks: `{column}` and `{{column}}` stand for the text of
//! a column. A name in single braces that is no column is an error; in double braces it stands for
//! itself in single ones. All other braces, such as those of JSON and of `\d{3}`, stand for themselves,
//! and so do those after a backslash and a letter, as in `\p{Greek}`.

/// The maximum length of a name in braces, in bytes.
const MAX_NAME_BYTES: usize = 256;

/// A piece of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece<'a> {
    /// A name in braces, and how it is written.
    Name {
        name: &'a str,
        written: &'a str,
        is_doubled: bool,
        byte: usize,
    },
    Text(&'a str),
}

/// What a template names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Names {
    /// The columns.
    pub(super) columns: Vec<usize>,
    /// Names in double braces that are no columns.
    pub(super) others: Vec<String>,
}

/// Lists what a template names, each once. Fails with a name in single braces that is no column, and
/// its 1-based column in characters.
pub(super) fn names(template: &str, columns: &[String]) -> Result<Names, (String, usize)> {
    let mut names = Names::default();
    for piece in pieces(template) {
        let Piece::Name {
            name,
            is_doubled,
            byte,
            ..
        } = piece
        else {
            continue;
        };
        match columns.iter().position(|column| column == name) {
            Some(index) if !names.columns.contains(&index) => names.columns.push(index),
            None if !is_name(name) => {}
            None if is_doubled => names.others.push(name.to_owned()),
            None => {
                let before = template.get(..byte).unwrap_or_default();
                return Err((name.to_owned(), before.chars().count() + 1));
            }
            Some(_) => {}
        }
    }
    Ok(names)
}

/// Fills a template, whose names were checked. `value` returns the text of a column.
pub(super) fn filled<'a>(template: &str, value: &dyn Fn(&str) -> Option<&'a str>) -> String {
    let mut text = String::with_capacity(template.len());
    for piece in pieces(template) {
        match piece {
            Piece::Text(piece) => text.push_str(piece),
            Piece::Name {
                name,
                written,
                is_doubled,
                ..
            } => match value(name) {
                Some(value) => text.push_str(value),
                None if is_doubled && is_name(name) => {
                    text.extend(["{", name, "}"]);
                }
                None => text.push_str(written),
            },
        }
    }
    text
}

/// Fills only double braces, as promptfoo does. Names that are no columns stay as they are written.
pub(super) fn filled_doubled<'a>(
    template: &str,
    value: &dyn Fn(&str) -> Option<&'a str>,
) -> String {
    let mut text = String::with_capacity(template.len());
    for piece in pieces(template) {
        text.push_str(match piece {
            Piece::Text(piece) => piece,
            Piece::Name {
                name,
                written,
                is_doubled,
                ..
            } => value(name).filter(|_| is_doubled).unwrap_or(written),
        });
    }
    text
}

/// Returns whether a text in braces looks like the name of a column.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || "_-.".contains(c))
}

fn pieces(template: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut byte = 0;
    std::iter::from_fn(move || {
        let rest = template.get(byte..).filter(|rest| !rest.is_empty())?;
        let before = template.get(..byte).unwrap_or_default();
        let piece = name_at(rest, before).unwrap_or_else(|| {
            // A brace that begins no name is text, up to the next brace.
            let next = rest.char_indices().skip(1).find(|(_, c)| *c == '{');
            let end = next.map_or(rest.len(), |(index, _)| index);
            Piece::Text(rest.get(..end).unwrap_or(rest))
        });
        byte += match piece {
            Piece::Name { written, .. } => written.len(),
            Piece::Text(text) => text.len(),
        };
        Some(piece)
    })
}

/// Reads the name in braces at the start of a text.
fn name_at<'a>(text: &'a str, before: &str) -> Option<Piece<'a>> {
    let mut last = before.chars().rev();
    let escape = (last.next(), last.next());
    if matches!(escape, (Some(letter), Some('\\')) if letter.is_ascii_alphabetic()) {
        return None;
    }
    let is_doubled = text.starts_with("{{");
    let (open, close) = if is_doubled { ("{{", "}}") } else { ("{", "}") };
    let inside = text.strip_prefix(open)?;
    let length = inside
        .char_indices()
        .take_while(|(index, c)| *index < MAX_NAME_BYTES && !matches!(c, '{' | '}' | '\n'))
        .last()
        .map(|(index, c)| index + c.len_utf8())?;
    inside.get(length..)?.strip_prefix(close)?;
    let inside = inside.get(..length)?;
    Some(Piece::Name {
        name: if is_doubled { inside.trim() } else { inside },
        written: text.get(..length + 2 * open.len())?,
        is_doubled,
        byte: before.len(),
    })
}
