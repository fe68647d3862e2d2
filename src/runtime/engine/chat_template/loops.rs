//! Loops over `none` fail in Jinja2 but run zero times in minijinja, which has no setting for this.
//! So the list of each `for` tag passes through a filter that rejects `none`.

use minijinja::{Error, ErrorKind, Value};

/// The name of the filter that a loop's list passes through.
pub(super) const FILTER: &str = "not_none";

/// The filter: returns a list unchanged, but fails for `none` as Python does.
pub(super) fn not_none(list: Value) -> Result<Value, Error> {
    if list.is_none() {
        let reason = "'NoneType' object is not iterable";
        return Err(Error::new(ErrorKind::InvalidOperation, reason));
    }
    Ok(list)
}

/// Adds the filter to all loops of a template. Comments, strings and `raw` blocks stay as they are.
pub(super) fn with_checked_loops(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(start) = rest.find('{') {
        let (before, tag) = rest.split_at(start);
        text.push_str(before);
        let (tag, after) = tag.split_at(tag_len(tag));
        match tag.get(2..).map(keyword) {
            Some("for") if tag.starts_with("{%") => text.push_str(&with_checked_list(tag)),
            Some("raw") if tag.starts_with("{%") => {
                let (raw, after) = after.split_at(raw_len(after));
                text.extend([tag, raw]);
                rest = after;
                continue;
            }
            _ => text.push_str(tag),
        }
        rest = after;
    }
    text.push_str(rest);
    text
}

/// Returns the length of the tag, expression or comment at the start of a text, or 1 if its brace
/// opens none of them.
fn tag_len(text: &str) -> usize {
    let end = match text.as_bytes() {
        [b'{', b'#', ..] => text.find("#}"),
        [b'{', b'%', ..] => outside_strings(text)
            .find(|(_, rest)| rest.starts_with("%}"))
            .map(|it| it.0),
        // A map may end right before the expression does: `{{ {"a": {}}}}`.
        [b'{', b'{', ..] => outside_strings(text)
            .skip(2)
            .scan(0_i32, |depth, (at, rest)| {
                let ends = *depth <= 0 && rest.starts_with("}}");
                *depth += match rest.as_bytes().first() {
                    Some(b'{') => 1,
                    Some(b'}') => -1,
                    _ => 0,
                };
                Some((at, ends))
            })
            .find(|(_, ends)| *ends)
            .map(|it| it.0),
        _ => return 1,
    };
    end.map_or(text.len(), |end| end + 2)
}

/// Returns the length of a `raw` block's content, or of the whole text if the block is not closed.
fn raw_len(text: &str) -> usize {
    let mut tags = text.match_indices("{%");
    let is_end = |at: usize| {
        text.get(at + 2..)
            .is_some_and(|tag| keyword(tag) == "endraw")
    };
    tags.find(|(at, _)| is_end(*at))
        .map_or(text.len(), |(at, _)| at)
}

/// Returns the first word of a tag's code.
fn keyword(code: &str) -> &str {
    let code = code.trim_start_matches(['-', '+']).trim_start();
    let end = code.find(|c: char| !is_word(c)).unwrap_or(code.len());
    code.get(..end).unwrap_or_default()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Iterates over the characters of a template's code that are not part of strings, each as its
/// position and the text from there on.
fn outside_strings(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut quote = None;
    let mut escaped = false;
    code.char_indices().filter_map(move |(at, c)| {
        let is_outside = quote.is_none();
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(open) if c == open => quote = None,
            None if c == '"' || c == '\'' => quote = Some(c),
            _ => {}
        }
        is_outside.then(|| (at, code.get(at..).unwrap_or_default()))
    })
}

/// Adds the filter to the list of one `for` tag: between `in` and a condition, `recursive` or the
/// end of the tag.
fn with_checked_list(tag: &str) -> String {
    let words = top_level_words(tag);
    let after = |word: &str| words.iter().position(|(_, found)| *found == word);
    let Some(keyword_in) = after("in") else {
        return tag.to_owned();
    };
    let Some((start, _)) = words.get(keyword_in) else {
        return tag.to_owned();
    };
    let start = start + "in".len();
    let ends = |word: &str| word == "if" || word == "recursive";
    let next = words
        .iter()
        .skip(keyword_in + 1)
        .find(|(_, word)| ends(word));
    let end = next.map_or_else(
        || {
            tag.trim_end_matches("%}")
                .trim_end_matches(['-', '+'])
                .len()
        },
        |(at, _)| *at,
    );
    match (tag.get(..start), tag.get(start..end), tag.get(end..)) {
        (Some(before), Some(list), Some(after)) if !list.trim().is_empty() => {
            format!("{before} ({})|{FILTER} {after}", list.trim())
        }
        _ => tag.to_owned(),
    }
}

/// Returns the words of a tag that are outside strings and brackets, with their positions.
fn top_level_words(tag: &str) -> Vec<(usize, &str)> {
    let mut depth = 0_i32;
    let mut words = Vec::new();
    let mut previous = ' ';
    let mut end = 0;
    for (at, rest) in outside_strings(tag).skip(2) {
        let c = rest.chars().next().unwrap_or_default();
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        // `loop.in` would be an attribute.
        let starts = at >= end && is_word(c) && previous != '.';
        if depth == 0 && starts {
            let word = keyword(rest);
            end = at + word.len();
            words.push((at, word));
        }
        previous = c;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::with_checked_loops;

    #[test]
    fn the_list_of_each_loop_is_checked() {
        for (source, expected) in [
            ("{% for x in a %}", "{% for x in (a)|not_none %}"),
            (
                "{%- for x, y in a.items() -%}",
                "{%- for x, y in (a.items())|not_none -%}",
            ),
            (
                "{% for x in a if x.b in ['if'] recursive %}",
                "{% for x in (a)|not_none if x.b in ['if'] recursive %}",
            ),
            (
                "{% for x in (a if b else []) + ' if ' %}",
                "{% for x in ((a if b else []) + ' if ')|not_none %}",
            ),
            (
                "{% for x in a['%}'] %}",
                "{% for x in (a['%}'])|not_none %}",
            ),
            (
                "{% for x in a[::-1]-%}",
                "{% for x in (a[::-1])|not_none -%}",
            ),
            ("{%for x in a%}", "{%for x in (a)|not_none %}"),
            (
                "{{ {'a': {}}}}{% for x in a %}",
                "{{ {'a': {}}}}{% for x in (a)|not_none %}",
            ),
        ] {
            assert_eq!(with_checked_loops(source), expected);
        }
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        for source in [
            "",
            "{",
            "a { b } ä",
            "{% for",
            "{% for x %}",
            "{% for x in %}",
            "{# {% for x in a %} #}",
            "{{ '{% for x in a %}' }}",
            "{% raw %}{% for x in a %}{%- endraw %}",
            "{% if 'for x in a' in b %}{% endif %}",
            "{% set x = \"\\\"{% for x in a %}\" %}",
        ] {
            assert_eq!(with_checked_loops(source), source);
        }
    }
}
