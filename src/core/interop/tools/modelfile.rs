//! Ollama's Modelfile: one instruction per line, with a bare or quoted value.
//!
//! Sources: `parser/parser.go` and `docs/modelfile.mdx` of Ollama, August 2026. There are no
//! escapes. A quoted value may span several lines. A value that contains a quote needs triple
//! quotes.

use super::fields::Field;
use super::value::Value;

/// The keywords that can start an instruction.
const INSTRUCTIONS: [&str; 11] = [
    "FROM",
    "PARAMETER",
    "TEMPLATE",
    "SYSTEM",
    "ADAPTER",
    "LICENSE",
    "MESSAGE",
    "REQUIRES",
    "DRAFT",
    "RENDERER",
    "PARSER",
];

/// Whether the text is a Modelfile: one of its lines sets a parameter or names the model.
pub(super) fn is_modelfile(text: &str) -> bool {
    let mut lines = text.lines().filter_map(instruction);
    lines.any(|(word, rest)| match word.as_str() {
        "PARAMETER" => true,
        // A Python import starts with "from" too.
        "FROM" => !rest.split_whitespace().any(|word| word == "import"),
        _ => false,
    })
}

/// Parses the parameters, and the other instructions by their keywords.
pub(super) fn read(text: &str) -> Result<Vec<Field>, String> {
    let mut fields = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let number = index + 1;
        let (word, rest) = instruction(line).ok_or_else(|| {
            format!(
                "line {number}: expected an instruction such as PARAMETER or FROM, found {line:?}"
            )
        })?;
        let (name, value) = match (word.as_str(), rest.split_once([' ', '\t'])) {
            ("PARAMETER", Some((name, value))) => (name, value.trim_start()),
            ("PARAMETER", None) => {
                return Err(format!(
                    "line {number}: PARAMETER needs a name and a value, as in PARAMETER top_p 0.9"
                ));
            }
            _ => (word.as_str(), rest),
        };
        let mut value = value.trim_end().to_owned();
        let text = loop {
            if let Some(text) = unquoted(&value) {
                break text.to_owned();
            }
            let (_, next) = lines.next().ok_or_else(|| {
                format!("line {number}: the quoted value of {name} is not closed")
            })?;
            value.push('\n');
            value.push_str(next);
        };
        fields.push(Field::new(name, Value::Text(text)));
    }
    Ok(fields)
}

/// Formats one `PARAMETER` line per value; a list gets a line for each of its values.
pub(super) fn write(fields: &[(&'static str, Value)]) -> String {
    let line = |name: &str, value: &Value| {
        let value = match value {
            Value::Text(text) => quoted(text),
            value => value.json(),
        };
        format!("PARAMETER {name} {value}\n")
    };
    let lines = fields.iter().flat_map(|(name, value)| {
        let values = match value {
            Value::List(values) => values.as_slice(),
            value => std::slice::from_ref(value),
        };
        values.iter().map(move |value| line(name, value))
    });
    lines.collect()
}

/// Whether a text survives quoting and Ollama's parser, which drops most control characters.
pub(super) fn can_hold(text: &str) -> bool {
    let is_dropped = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    let ends_early = text
        .lines()
        .rev()
        .skip(1)
        .any(|line| line.trim_end().ends_with("\"\"\""));
    !text.chars().any(is_dropped) && !ends_early
}

fn instruction(line: &str) -> Option<(String, &str)> {
    let (word, rest) = line.trim_start().split_once([' ', '\t'])?;
    let word = word.to_uppercase();
    INSTRUCTIONS
        .contains(&word.as_str())
        .then(|| (word, rest.trim_start()))
}

fn quoted(text: &str) -> String {
    let quote = if text.contains(['"', '\n', '\r']) {
        "\"\"\""
    } else {
        "\""
    };
    format!("{quote}{text}{quote}")
}

/// Returns the text without its quotes, or `None` if they are not closed yet.
fn unquoted(value: &str) -> Option<&str> {
    for quote in ["\"\"\"", "\""] {
        if let Some(rest) = value.strip_prefix(quote) {
            return rest.strip_suffix(quote);
        }
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::{Value, can_hold, read, write};

    #[test]
    fn quoted_values_may_contain_spaces_quotes_and_line_breaks() {
        let texts = [
            "plain",
            " a b ",
            "say \"no\"",
            "\"",
            "a\n\nb",
            "User:",
            "\\n",
            "",
            "\"\"x",
        ];
        let text = write(&[("stop", Value::texts(texts))]);
        let read = read(&text).unwrap();
        let values: Vec<String> = read.iter().map(|field| field.value.to_string()).collect();
        assert_eq!(values, texts);
        assert!(read.iter().all(|field| field.name == "stop"));
        assert!(texts.into_iter().all(can_hold));
        assert!(!can_hold("a\u{7}") && !can_hold("a\"\"\"\nb"));
    }

    #[test]
    fn all_instructions_of_a_file_are_read() {
        let text = "# comment\nFROM ./m.gguf\n\nparameter temperature 0.7\nSYSTEM \"\"\"Be\nbrief.\"\"\"\n\
                    PARAMETER stop \"<|im_end|>\"\nPARAMETER   top_k\t5\n";
        let fields = read(text).unwrap();
        let shown: Vec<String> = fields
            .iter()
            .map(|field| format!("{}={}", field.name, field.value))
            .collect();
        let expected = [
            "FROM=./m.gguf",
            "temperature=0.7",
            "SYSTEM=Be\nbrief.",
            "stop=<|im_end|>",
            "top_k=5",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_long_quoted_value_is_read_in_linear_time() {
        let lines = "A line of a long text.\n".repeat(100_000);
        let error = read(&format!("SYSTEM \"\"\"\n{lines}")).unwrap_err();
        assert_eq!(error, "line 1: the quoted value of SYSTEM is not closed");
        let fields = read(&format!("SYSTEM \"\"\"{lines}\"\"\"")).unwrap();
        assert_eq!(fields[0].value, Value::text(lines));
    }

    #[test]
    fn errors_name_the_line() {
        for (text, expected) in [
            (
                "FROM a\nPARAMETR top_p 1",
                "line 2: expected an instruction such as PARAMETER or FROM, found \"PARAMETR top_p 1\"",
            ),
            (
                "PARAMETER top_p",
                "line 1: PARAMETER needs a name and a value, as in PARAMETER top_p 0.9",
            ),
            (
                "\nPARAMETER stop \"a\nb",
                "line 2: the quoted value of stop is not closed",
            ),
        ] {
            assert_eq!(read(text).unwrap_err(), expected);
        }
    }
}
