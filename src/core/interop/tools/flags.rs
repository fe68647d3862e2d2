//! Reading and writing the command lines of llama.cpp's programs.
//!
//! Sources: the table of flags in llama.cpp's `tools/server/README.md` (2026, commit 00dc805) and
//! `common/arg.cpp` (commit 145b628).

use super::fields::Field;
use super::value::Value;

/// The name of each setting in llama-server's JSON, and its flags. The first flag is the one that
/// is written: one that old versions also know, if new ones still do.
const FLAGS: &[(&str, &[&str])] = &[
    ("samplers", &["--samplers"]),
    ("temperature", &["--temp", "--temperature"]),
    ("dynatemp_range", &["--dynatemp-range"]),
    ("dynatemp_exponent", &["--dynatemp-exp"]),
    ("top_k", &["--top-k"]),
    ("top_p", &["--top-p"]),
    ("min_p", &["--min-p"]),
    ("typical_p", &["--typical", "--typical-p"]),
    ("top_n_sigma", &["--top-nsigma", "--top-n-sigma"]),
    ("xtc_probability", &["--xtc-probability"]),
    ("xtc_threshold", &["--xtc-threshold"]),
    ("repeat_last_n", &["--repeat-last-n"]),
    ("repeat_penalty", &["--repeat-penalty"]),
    ("frequency_penalty", &["--frequency-penalty"]),
    ("presence_penalty", &["--presence-penalty"]),
    ("dry_multiplier", &["--dry-multiplier"]),
    ("dry_base", &["--dry-base"]),
    ("dry_allowed_length", &["--dry-allowed-length"]),
    ("dry_penalty_last_n", &["--dry-penalty-last-n"]),
    ("dry_sequence_breakers", &["--dry-sequence-breaker"]),
    ("adaptive_target", &["--adaptive-target"]),
    ("adaptive_decay", &["--adaptive-decay"]),
    ("mirostat", &["--mirostat"]),
    ("mirostat_tau", &["--mirostat-ent"]),
    ("mirostat_eta", &["--mirostat-lr"]),
    ("logit_bias", &["--logit-bias", "-l"]),
    ("grammar", &["--grammar"]),
    ("json_schema", &["--json-schema", "-j"]),
    ("reasoning_budget_tokens", &["--reasoning-budget"]),
    ("reasoning_budget_message", &["--reasoning-budget-message"]),
    (
        "speculative.n_max",
        &["--spec-draft-n-max", "--draft-max", "--draft-n", "--draft"],
    ),
    (
        "speculative.n_min",
        &["--spec-draft-n-min", "--draft-min", "--draft-n-min"],
    ),
    (
        "speculative.p_min",
        &["--draft-p-min", "--spec-draft-p-min"],
    ),
    ("speculative.type", &["--spec-type"]),
    (
        "model_draft",
        &["--model-draft", "-md", "--spec-draft-model"],
    ),
    (
        "ngram_size_n",
        &["--spec-ngram-simple-size-n", "--spec-ngram-size-n"],
    ),
    (
        "ngram_size_m",
        &["--spec-ngram-simple-size-m", "--spec-ngram-size-m"],
    ),
    ("seed", &["--seed", "-s"]),
    ("n_predict", &["--n-predict", "--predict", "-n"]),
    ("stop", &["--reverse-prompt", "-r"]),
];

/// The flags that list the samplers as letters.
const LETTERS: [&str; 2] = ["--sampler-seq", "--sampling-seq"];

/// Flags with a value that do not affect sampling.
const UNRELATED: &[&str] = &[
    "-m",
    "--model",
    "-mu",
    "--model-url",
    "-hf",
    "-hfr",
    "--hf-repo",
    "-hff",
    "--hf-file",
    "-c",
    "--ctx-size",
    "-ngl",
    "--gpu-layers",
    "--n-gpu-layers",
    "-t",
    "--threads",
    "-tb",
    "--threads-batch",
    "-b",
    "--batch-size",
    "-ub",
    "--ubatch-size",
    "-p",
    "--prompt",
    "-f",
    "--file",
    "-sys",
    "--system-prompt",
    "-a",
    "--alias",
    "--host",
    "--port",
    "--api-key",
    "--keep",
    "-ctk",
    "--cache-type-k",
    "-ctv",
    "--cache-type-v",
    "-np",
    "--parallel",
    "-sm",
    "--split-mode",
    "-ts",
    "--tensor-split",
    "-mg",
    "--main-gpu",
    "-dev",
    "--device",
    "--lora",
    "--numa",
    "--chat-template",
    "--chat-template-file",
    "-lv",
    "--verbosity",
    "--log-file",
    "--rope-scaling",
    "--rope-scale",
    "--rope-freq-base",
    "--rope-freq-scale",
    "-ncmoe",
    "--n-cpu-moe",
    "-ot",
    "--override-tensor",
    "--reasoning-format",
];

/// Flags without a value that do not affect sampling.
const UNRELATED_SWITCHES: &[&str] = &[
    "-cnv",
    "--conversation",
    "-no-cnv",
    "--no-conversation",
    "-i",
    "--interactive",
    "-st",
    "--single-turn",
    "--jinja",
    "--no-jinja",
    "--mlock",
    "--mmap",
    "--no-mmap",
    "-v",
    "--verbose",
    "--no-warmup",
    "--simple-io",
    "--metrics",
    "-cb",
    "--cont-batching",
    "-kvo",
    "--no-kv-offload",
    "-cmoe",
    "--cpu-moe",
    "--swa-full",
    "--no-display-prompt",
    "--log-disable",
    "--offline",
    "-mli",
    "--multiline-input",
    "--special",
    "-e",
    "--escape",
    "--no-escape",
];

/// Flags that do not affect sampling and take a value only in newer versions. The next word is the
/// value unless it is a flag.
const UNRELATED_OPTIONAL_VALUE: &[&str] = &["-fa", "--flash-attn", "--color"];

/// Whether a flag does not affect sampling.
pub(super) fn is_unrelated(flag: &str) -> bool {
    [UNRELATED, UNRELATED_SWITCHES, UNRELATED_OPTIONAL_VALUE]
        .iter()
        .any(|flags| flags.contains(&flag))
}

/// Whether the text looks like a command line: it contains a flag that llama.cpp knows.
pub(super) fn is_command_line(text: &str) -> bool {
    text.split_whitespace().any(|word| {
        let flag = word.split_once('=').map_or(word, |(flag, _)| flag);
        name_of(flag).is_some() || is_unrelated(flag) || flag == "--ignore-eos"
    })
}

/// Parses the settings of a command line, with or without the program's name. Known flags get their
/// names in llama-server's JSON.
pub(super) fn read(text: &str) -> Result<Vec<Field>, String> {
    // shlex would return an empty word for a line continuation.
    let text = text.replace("\\\r\n", " ").replace("\\\n", " ");
    let words = shlex::split(&text).ok_or("The command line has an unclosed quote")?;
    let escapes = !words.iter().any(|word| word == "--no-escape");
    let mut words = words
        .into_iter()
        .skip_while(|word| !is_flag(word))
        .peekable();
    let mut fields = Vec::new();
    while let Some(word) = words.next() {
        let (flag, joined) = match word.split_once('=') {
            Some((flag, value)) if flag.starts_with("--") => (flag, Some(value.to_owned())),
            _ => (word.as_str(), None),
        };
        let is_switch =
            !is_flag(flag) || UNRELATED_SWITCHES.contains(&flag) || flag == "--ignore-eos";
        let needs_value = name_of(flag).is_some() || UNRELATED.contains(&flag);
        let value = match joined {
            Some(value) => Some(value),
            None if is_switch => None,
            None if needs_value => words.next(),
            None => words.next_if(|next| !is_flag(next)),
        };
        fields.push(match (name_of(flag), value) {
            (None, value) => Field::new(flag, value.map_or(Value::Bool(true), Value::Text)),
            (Some(_), None) => return Err(format!("{flag} needs a value")),
            (Some(name), Some(text)) => Field {
                name: name.to_owned(),
                shown: flag.to_owned(),
                value: value_of(name, flag, &text, escapes)?,
            },
        });
    }
    Ok(fields)
}

/// Formats settings as a command line without the program's name.
pub(super) fn write(fields: &[(&'static str, Value)]) -> String {
    let mut words = Vec::new();
    for (name, value) in fields {
        if (*name, value) == ("ignore_eos", &Value::Bool(true)) {
            words.push("--ignore-eos".to_owned());
        }
        let known = FLAGS.iter().find(|(known, _)| known == name);
        let Some(flag) = known.and_then(|(_, flags)| flags.first()) else {
            continue;
        };
        let mut push = |value: &str| {
            words.push(format!("{flag} {}", quoted(value)));
        };
        match (*name, value) {
            ("samplers", Value::List(samplers)) => {
                let samplers: Vec<String> = samplers.iter().map(ToString::to_string).collect();
                push(&samplers.join(";"));
            }
            ("logit_bias", Value::List(pairs)) => {
                for pair in pairs {
                    push(&bias(pair));
                }
            }
            (_, Value::List(values)) => {
                for value in values {
                    push(&escaped(&value.to_string()));
                }
            }
            (_, value) => push(&value.to_string()),
        }
    }
    words.join(" ")
}

/// Quotes a word for a shell, if possible with single quotes, in which a backslash is literal.
fn quoted(word: &str) -> String {
    // Quoting only fails for NUL, which is already escaped.
    let quoted = shlex::try_quote(word).unwrap_or_default();
    if quoted.starts_with('"') && !word.contains('\'') {
        return format!("'{word}'");
    }
    quoted.into_owned()
}

fn name_of(flag: &str) -> Option<&'static str> {
    if LETTERS.contains(&flag) {
        return Some("samplers");
    }
    let named = FLAGS.iter().find(|(_, flags)| flags.contains(&flag));
    named.map(|(name, _)| *name)
}

/// Whether a word is one or two dashes and a letter, so that a negative number is not a flag.
fn is_flag(word: &str) -> bool {
    let after = word.strip_prefix("--").or_else(|| word.strip_prefix('-'));
    after.is_some_and(|after| after.starts_with(char::is_alphabetic))
}

fn value_of(name: &str, flag: &str, text: &str, escapes: bool) -> Result<Value, String> {
    let plain = if escapes {
        unescaped(text)
    } else {
        text.to_owned()
    };
    match name {
        "samplers" if LETTERS.contains(&flag) => Ok(Value::text(text)),
        "samplers" => Ok(Value::texts(text.split(';').map(str::trim))),
        "logit_bias" => biased(text)
            .map(|pair| Value::List(vec![pair]))
            .ok_or_else(|| {
                format!("{flag} must be a token id and a bias, such as 15043-1, not {text}")
            }),
        "dry_sequence_breakers" if text == "none" => Ok(Value::List(Vec::new())),
        "dry_sequence_breakers" | "stop" => Ok(Value::texts([plain])),
        _ => Ok(Value::text(text)),
    }
}

/// Parses "13-2.5" as a pair of token and bias; a bias of -inf is a ban.
fn biased(text: &str) -> Option<Value> {
    let (token, bias) = text.split_at(text.find(['+', '-'])?);
    let token: u32 = token.trim().parse().ok()?;
    let number: f32 = bias.parse().ok()?;
    let bias = if number == f32::NEG_INFINITY {
        Value::Bool(false)
    } else {
        Value::Number(bias.trim_start_matches('+').to_owned())
    };
    Some(Value::List(vec![Value::from(token), bias]))
}

fn bias(pair: &Value) -> String {
    let Value::List(pair) = pair else {
        return String::new();
    };
    match pair.as_slice() {
        [token, Value::Bool(false)] => format!("{token}-inf"),
        [token, bias] => {
            let bias = bias.to_string();
            let sign = if bias.starts_with('-') { "" } else { "+" };
            format!("{token}{sign}{bias}")
        }
        _ => String::new(),
    }
}

/// Escapes backslashes and control characters, which llama.cpp unescapes unless `--no-escape` is
/// given.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('\n', "\\n")
        .replace('\r', "\\r")
        .replace('\t', "\\t")
        .replace('\0', "\\x00")
}

fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        let mut chars = after.chars();
        match chars.next() {
            Some('n') => plain.push('\n'),
            Some('r') => plain.push('\r'),
            Some('t') => plain.push('\t'),
            Some(c @ ('\'' | '"' | '\\')) => plain.push(c),
            Some('x') => {
                let code = after
                    .get(1..3)
                    .and_then(|digits| u8::from_str_radix(digits, 16).ok());
                if let Some(code) = code.filter(u8::is_ascii) {
                    plain.push(char::from(code));
                    chars = after.get(3..).unwrap_or_default().chars();
                } else {
                    plain.push_str("\\x");
                }
            }
            Some(c) => {
                plain.push('\\');
                plain.push(c);
            }
            None => plain.push('\\'),
        }
        rest = chars.as_str();
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::{Value, read, write};

    fn shown(text: &str) -> String {
        let fields = read(text).unwrap();
        let shown: Vec<String> = fields
            .iter()
            .map(|field| format!("{}={}", field.name, field.value.json()))
            .collect();
        shown.join(" ")
    }

    #[test]
    fn a_command_line_may_omit_its_program() {
        for (text, expected) in [
            ("--temp 0.7 --top-k 40", r#"temperature="0.7" top_k="40""#),
            (
                "./llama-cli -m a.gguf -n -1 \\\n  --temp=0.7",
                r#"-m="a.gguf" n_predict="-1" temperature="0.7""#,
            ),
            (
                "llama-server --jinja --frobnicate 3 -s 7 --new",
                r#"--jinja=true --frobnicate="3" seed="7" --new=true"#,
            ),
            (
                "--samplers 'top_k;temperature'",
                r#"samplers=["top_k", "temperature"]"#,
            ),
            ("--sampler-seq kt", r#"samplers="kt""#),
            (
                "-l 15043+1 -l 13-inf --logit-bias 5-2.5",
                "logit_bias=[[15043, 1]] logit_bias=[[13, false]] logit_bias=[[5, -2.5]]",
            ),
            (r#"-r "User:" -r '\n\\'"#, r#"stop=["User:"] stop=["\n\\"]"#),
            (
                "-p '- a list' --ignore-eos --top-p 1",
                r#"-p="- a list" --ignore-eos=true top_p="1""#,
            ),
            ("--dry-sequence-breaker none", "dry_sequence_breakers=[]"),
            (
                "llama-server -fa --temp 0.3 -fa on --color --frobnicate -1 -n -2",
                r#"-fa=true temperature="0.3" -fa="on" --color=true --frobnicate="-1" n_predict="-2""#,
            ),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn settings_survive_a_round_trip() {
        let texts = ["User:", "a\nb", "it's \"so\"", "\\n", "\0"];
        let text = write(&[
            ("stop", Value::texts(texts)),
            ("samplers", Value::texts(["top_p", "min_p"])),
        ]);
        let fields = read(&text).unwrap();
        let (samplers, stops) = fields.split_last().unwrap();
        assert_eq!(samplers.value, Value::texts(["top_p", "min_p"]));
        for (field, expected) in stops.iter().zip(texts) {
            assert_eq!(field.value, Value::texts([expected]));
        }
        assert_eq!(stops.len(), texts.len());
    }

    #[test]
    fn errors_name_the_flag() {
        for (text, expected) in [
            ("--temp", "--temp needs a value"),
            (
                "--logit-bias 13",
                "--logit-bias must be a token id and a bias, such as 15043-1, not 13",
            ),
            ("-r 'open", "The command line has an unclosed quote"),
        ] {
            assert_eq!(read(text).unwrap_err(), expected);
        }
    }
}
