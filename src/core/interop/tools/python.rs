//! Reads the keyword arguments of a Python call, or a dict. Only literals are parsed, and nothing
//! is executed.

use super::strings::Strings;
use super::value::Value;

/// The calls whose keyword arguments are settings.
const CALLS: [&str; 7] = [
    "GenerationConfig",
    "generate",
    "create",
    "dict",
    "LLM",
    "pipe",
    "pipeline",
];

/// The calls whose only argument is the seed.
const SEEDS: [&str; 2] = ["set_seed", "manual_seed"];

/// The depth beyond which nested calls are not read. Every call is read again within the one around
/// it, so a text of unclosed calls would take quadratic time without this limit.
const MAX_NESTED_CALLS: usize = 16;

/// Returns the keyword arguments of every call that contains settings, in the order of the text, or
/// `None` if there is no such call.
pub(super) fn calls(text: &str) -> Option<Vec<(String, Value)>> {
    let mut keywords = Vec::new();
    let mut found = false;
    let mut ends_around: Vec<usize> = Vec::new();
    for at in argument_starts(text, &CALLS) {
        found = true;
        ends_around.retain(|end| *end > at);
        if ends_around.len() < MAX_NESTED_CALLS {
            let mut python = Python::new(text.get(at..)?, true);
            keywords.extend(python.keywords());
            ends_around.push(text.len() - python.rest.len());
        }
    }
    let seeds = argument_starts(text, &SEEDS).into_iter().filter_map(|at| {
        let seed = Python::new(text.get(at..)?, true).seed()?;
        Some(("seed".to_owned(), seed))
    });
    keywords.extend(seeds);
    found.then_some(keywords)
}

/// Returns keyword arguments without a call, separated by commas or line breaks.
pub(super) fn keywords(text: &str) -> Option<Vec<(String, Value)>> {
    let keywords = Python::new(text, false).keywords();
    (!keywords.is_empty()).then_some(keywords)
}

/// Whether a call to one of these names ends before its closing bracket. Only the first calls are
/// looked at.
pub(super) fn is_cut_off(text: &str) -> bool {
    let names = [&CALLS[..], &["SamplingParams"]].concat();
    let starts = argument_starts(text, &names).into_iter();
    starts.take(MAX_NESTED_CALLS).any(|at| {
        let mut python = Python::new(text.get(at..).unwrap_or_default(), true);
        python.keywords();
        python.rest.is_empty()
    })
}

/// Returns the entries of a dict literal.
pub(super) fn dict(text: &str) -> Option<Vec<(String, Value)>> {
    let mut python = Python::new(text, true);
    let Some(Value::Map(entries)) = python.literal() else {
        return None;
    };
    let named = entries.into_iter().map(|(key, value)| match key {
        Value::Text(key) => Some((key, value)),
        _ => None,
    });
    named.collect()
}

/// Whether the text contains a call to `name`.
pub(super) fn has_call(text: &str, name: &str) -> bool {
    !argument_starts(text, &[name]).is_empty()
}

/// Returns the keyword arguments of the first call to `name`, or `None` if there is none.
pub(super) fn arguments(text: &str, name: &str) -> Option<Vec<(String, Value)>> {
    let at = *argument_starts(text, &[name]).first()?;
    Some(Python::new(text.get(at..)?, true).keywords())
}

/// Returns the offsets at which the arguments of calls to these names start.
fn argument_starts(text: &str, names: &[&str]) -> Vec<usize> {
    let mut ends: Vec<usize> = names
        .iter()
        .flat_map(|name| text.match_indices(*name))
        .filter_map(|(start, name)| {
            let before = text.get(..start)?.chars().next_back();
            let after = text.get(start + name.len()..)?;
            let opened = after.trim_start_matches([' ', '\t']).strip_prefix('(')?;
            let is_whole_name = before.is_none_or(|c| !is_name_char(c));
            is_whole_name.then_some(text.len() - opened.len())
        })
        .collect();
    ends.sort_unstable();
    ends
}

/// Returns unpacked arguments such as `**settings`, unless their name says that they are inputs.
fn unpacked_settings(value: &Value) -> Option<String> {
    let Value::Code(code) = value else {
        return None;
    };
    let name = code.strip_prefix("**")?;
    let is_name = !name.is_empty() && name.chars().all(is_name_char);
    (is_name && !name.contains("input")).then(|| code.clone())
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The nesting depth of brackets beyond which nothing is read, to protect the stack. No settings
/// are nested that deeply.
const MAX_DEPTH: usize = 64;

/// A recursive-descent parser.
struct Python<'a> {
    /// The text that is not parsed yet.
    rest: &'a str,
    /// Whether a line break is whitespace, as within brackets.
    in_brackets: bool,
    /// The number of brackets around the current literal.
    depth: usize,
    strings: Strings,
}

impl<'a> Python<'a> {
    const fn new(text: &'a str, in_brackets: bool) -> Self {
        Self {
            rest: text,
            in_brackets,
            depth: 0,
            strings: Strings::new(),
        }
    }

    fn keywords(&mut self) -> Vec<(String, Value)> {
        let mut keywords = Vec::new();
        loop {
            self.skip_blank();
            while self.take(",") {
                self.skip_blank();
            }
            if self.rest.is_empty() || self.rest.starts_with([')', ']', '}']) {
                return keywords;
            }
            let keyword = self.keyword();
            let value = self.value();
            let keyword = keyword.or_else(|| unpacked_settings(&value));
            keywords.extend(keyword.map(|keyword| (keyword, value)));
        }
    }

    /// Parses the name before an equals sign. Returns `None` for a positional argument.
    fn keyword(&mut self) -> Option<String> {
        let end = self.rest.find(|c| !is_name_char(c))?;
        let (name, after) = self.rest.split_at(end);
        let value = after.trim_start().strip_prefix('=')?;
        if name.is_empty() || value.starts_with('=') {
            return None;
        }
        self.rest = value;
        self.skip_spaces();
        Some(name.to_owned())
    }

    /// Parses a literal, or if more code follows it, everything up to the next comma as code.
    fn value(&mut self) -> Value {
        let start = self.rest;
        if let Some(literal) = self.literal() {
            self.skip_spaces();
            if self.rest.is_empty() || self.rest.starts_with([',', ')', '#', '\n', '\r', ';']) {
                return literal;
            }
        }
        self.rest = start;
        Value::Code(self.expression().trim().to_owned())
    }

    /// Returns everything up to the comma, bracket or comment that ends this argument.
    fn expression(&mut self) -> &'a str {
        let start = self.rest;
        let mut depth = 0_usize;
        while let Some(c) = self.rest.chars().next() {
            match c {
                '"' | '\'' if self.string().is_some() => continue,
                '#' | ')' | ']' | '}' | ',' if depth == 0 => break,
                '#' => {
                    self.skip_comment();
                    continue;
                }
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth -= 1,
                '\n' if depth == 0 && !self.in_brackets => break,
                _ => {}
            }
            self.skip(c.len_utf8());
        }
        let length = start.len() - self.rest.len();
        start.get(..length).unwrap_or_default()
    }

    /// Parses the argument of a call that sets the seed.
    fn seed(&mut self) -> Option<Value> {
        self.skip_spaces();
        let is_number = self.rest.starts_with(begins_number);
        is_number.then(|| self.number()).flatten()
    }

    fn literal(&mut self) -> Option<Value> {
        self.skip_spaces();
        self.depth += 1;
        let literal = (self.depth <= MAX_DEPTH).then(|| self.any_literal());
        self.depth -= 1;
        literal.flatten()
    }

    fn any_literal(&mut self) -> Option<Value> {
        match self.rest.chars().next()? {
            '"' | '\'' => self.string().map(Value::Text),
            '[' => self.sequence(']').map(Value::List),
            '(' => self.sequence(')').map(Value::List),
            '{' => self.map(),
            c if begins_number(c) => self.number(),
            _ => self.infinity().or_else(|| self.constant()),
        }
    }

    fn sequence(&mut self, end: char) -> Option<Vec<Value>> {
        self.skip(1);
        let mut values = Vec::new();
        loop {
            self.skip_blank();
            if self.take(end.encode_utf8(&mut [0; 4])) {
                return Some(values);
            }
            values.push(self.nested()?);
        }
    }

    fn map(&mut self) -> Option<Value> {
        self.skip(1);
        let mut entries = Vec::new();
        loop {
            self.skip_blank();
            if self.take("}") {
                return Some(Value::Map(entries));
            }
            let key = self.literal()?;
            self.skip_blank();
            if !self.take(":") {
                return None;
            }
            self.skip_blank();
            entries.push((key, self.nested()?));
        }
    }

    /// Parses a literal inside brackets, with the comma that follows it.
    fn nested(&mut self) -> Option<Value> {
        let value = self.literal()?;
        self.skip_blank();
        let followed = self.take(",") || self.rest.starts_with([']', ')', '}']);
        followed.then_some(value)
    }

    fn number(&mut self) -> Option<Value> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_');
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let written = self.rest.get(..end)?.replace('_', "");
        written.parse::<f64>().ok()?;
        self.skip(end);
        Some(Value::Number(written))
    }

    /// Parses `float("-inf")`, which is how Python writes an infinity.
    fn infinity(&mut self) -> Option<Value> {
        let argument = self.rest.strip_prefix("float(")?;
        let (argument, after) = argument.split_once(')')?;
        let argument = argument.trim();
        let is_quote = |c| matches!(c, '"' | '\'');
        let inner = argument.strip_prefix(is_quote)?.strip_suffix(is_quote)?;
        let number: f32 = inner.trim().parse().ok()?;
        if !number.is_infinite() {
            return None;
        }
        self.rest = after;
        Some(Value::Number(number.to_string()))
    }

    fn constant(&mut self) -> Option<Value> {
        let end = self
            .rest
            .find(|c| !is_name_char(c))
            .unwrap_or(self.rest.len());
        let value = match self.rest.get(..end)? {
            "True" | "true" => Value::Bool(true),
            "False" | "false" => Value::Bool(false),
            "None" | "null" => Value::Null,
            _ => return None,
        };
        self.skip(end);
        Some(value)
    }

    fn string(&mut self) -> Option<String> {
        let (text, after) = self.strings.read(self.rest)?;
        self.rest = after;
        Some(text)
    }

    fn take(&mut self, token: &str) -> bool {
        let after = self.rest.strip_prefix(token);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn skip(&mut self, n_bytes: usize) {
        self.rest = self.rest.get(n_bytes..).unwrap_or_default();
    }

    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    /// Skips spaces, line breaks and comments.
    fn skip_blank(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            if !self.rest.starts_with('#') {
                return;
            }
            self.skip_comment();
        }
    }

    fn skip_comment(&mut self) {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        self.skip(end);
    }
}

const fn begins_number(c: char) -> bool {
    matches!(c, '+' | '-' | '.' | '0'..='9')
}

#[cfg(test)]
mod tests {
    use super::{calls, dict, keywords};
    use crate::interop::tools::value::Value;

    fn shown(keywords: &[(String, Value)]) -> String {
        let shown: Vec<String> = keywords
            .iter()
            .map(|(name, value)| match value {
                Value::Code(code) => format!("{name}=<{code}>"),
                value => format!("{name}={}", value.python()),
            })
            .collect();
        shown.join(" ")
    }

    #[test]
    fn keyword_arguments_are_read_and_nothing_is_executed() {
        for (text, expected) in [
            (
                "out = model.generate(**inputs, do_sample=True, temperature=0.7)",
                "do_sample=True temperature=0.7",
            ),
            (
                "transformers.set_seed(42)\nmodel.generate(\n    input_ids,  # the prompt\n    \
                 top_k=1_000,\n    top_p = .9,\n    stop_strings=['a\\n', \"\"\"b\"\"\"],\n)",
                "top_k=1000 top_p=.9 stop_strings=[\"a\\n\", \"b\"] seed=42",
            ),
            (
                "config = GenerationConfig(bad_words_ids=[[1], [2, 3],], eta_cutoff=3e-4)",
                "bad_words_ids=[[1], [2, 3]] eta_cutoff=3e-4",
            ),
            (
                "m.generate(x, pad_token_id=tok.eos_token_id, max_new_tokens=len(f(a, b)) + 1, top_k=None)",
                "pad_token_id=<tok.eos_token_id> max_new_tokens=<len(f(a, b)) + 1> top_k=None",
            ),
            (
                "GenerationConfig(sequence_bias={(13,): -2.5, (4, 5): 1})",
                "sequence_bias={[13]: -2.5, [4, 5]: 1}",
            ),
            (
                "m.generate(generation_config=GenerationConfig(top_k=5), top_p=0.5)",
                "generation_config=<GenerationConfig(top_k=5)> top_p=0.5 top_k=5",
            ),
        ] {
            assert_eq!(shown(&calls(text).unwrap()), expected, "{text}");
        }
        assert_eq!(calls("regenerate(top_k=5)"), None);
    }

    #[test]
    fn infinities_are_read() {
        let read = calls(r#"generate(a=[[[1], float("-inf")]], b=float('inf'), c=float(x))"#);
        assert_eq!(shown(&read.unwrap()), "a=[[[1], -inf]] b=inf c=<float(x)>");
    }

    #[test]
    fn unclosed_brackets_do_not_overflow_the_stack() {
        let deep = |opened: &str| opened.repeat(200_000);
        let read = calls(&format!("generate(a={}", deep("["))).unwrap();
        assert!(matches!(&read[..], [(name, Value::Code(_))] if name == "a"));
        assert_eq!(dict(&format!("{{'a': {}", deep("{"))), None);
    }

    #[test]
    fn unclosed_calls_and_strings_are_read_in_linear_time() {
        for part in [
            "generate(a=f(",
            "generate(",
            "generate(a=generate(",
            "generate(a=[#],",
            "generate(a='\"\\\"",
            "a=[ #],\n",
            "set_seed([#",
        ] {
            let text = format!("generate({}", part.repeat(10_000));
            assert!(calls(&text).is_some(), "{part}");
        }
        let escapes = format!("generate(a=\"{}", "\\\"".repeat(50_000));
        let read = calls(&escapes).unwrap();
        assert!(matches!(&read[..], [(name, Value::Code(_))] if name == "a"));
    }

    #[test]
    fn a_malformed_string_does_not_hide_later_ones() {
        let text = r#"generate(a=["x, y", "\xzz", 'b, c'], top_k=5)"#;
        assert_eq!(
            shown(&calls(text).unwrap()),
            r#"a=<["x, y", "\xzz", 'b, c']> top_k=5"#
        );
    }

    #[test]
    fn comments_are_not_part_of_a_value() {
        for (text, expected) in [
            (
                "generate(\n    top_k=5,  # a few)\n    max_new_tokens=len(x)  # all, top_p=1\n)",
                "top_k=5 max_new_tokens=<len(x)>",
            ),
            (
                "generate(a=f(1,  # ), top_p=1\n    2), top_k=5)",
                "a=<f(1,  # ), top_p=1\n    2)> top_k=5",
            ),
        ] {
            assert_eq!(shown(&calls(text).unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn keyword_arguments_need_no_call() {
        for text in [
            "do_sample=True, temperature=0.7",
            "do_sample = True\ntemperature = 0.7  # mild\n",
        ] {
            let read = keywords(text).unwrap();
            assert_eq!(shown(&read), "do_sample=True temperature=0.7", "{text}");
        }
        assert_eq!(keywords("a sentence, and another"), None);
    }

    #[test]
    fn a_dict_with_any_invalid_entry_is_rejected() {
        let read = dict("{'do_sample': True, 'temperature': 0.7,}").unwrap();
        assert_eq!(shown(&read), "do_sample=True temperature=0.7");
        for text in ["{'a': 1", "{1: 2}", "{'a' 1}", "{'a': open('b')}", "['a']"] {
            assert_eq!(dict(text), None, "{text}");
        }
    }

    #[test]
    fn malformed_calls_do_not_panic() {
        for text in [
            "generate(",
            "generate(top_p='",
            "generate(=,=)",
            "generate(a=[[[",
            "generate(a=\"\\x\")",
            "generate(a=\"\\U00110000\")",
            "generate(]",
        ] {
            assert!(calls(text).is_some(), "{text}");
        }
    }
}
