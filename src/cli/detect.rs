//! `quartet detect`: looks for a watermark in a text. It needs the key and a tokenizer, and no
//! model.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::console;
use super::count::count;
use super::failure::Failure;
use super::model::model_parser;
use super::progress::Progress;
use super::text_input::text_of;
use crate::analysis::watermark::{Verdict, WatermarkScan};
use crate::decoding::TokenId;
use crate::decoding::watermark::{TokenMark, Watermark};
use crate::engine::{Tokenizer, embedded_tokenizer, open_tokenizer};
use crate::generation::formatting::{grouped, quoted};
use crate::generation::{PaneSettings, PieceKind, Vocabulary};
use crate::interop::PaneSpecError;

/// The arguments of `quartet detect`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Arguments {
    /// The text to test; `-` reads it from standard input. A final line break is dropped
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The watermark to look for, in the grammar of --pane
    #[arg(long, value_name = "SETTINGS")]
    watermark: String,

    /// The model whose tokenizer splits the text: a GGUF file, or a folder with config.json and
    /// tokenizer.json; by default the built-in model
    #[arg(long, value_name = "PATH", value_parser = model_parser())]
    model: Option<PathBuf>,

    /// The model’s number of logits, if it differs from its tokenizer’s number of tokens. Green
    /// lists depend on it
    #[arg(long, value_name = "N", value_parser = vocabulary_size)]
    vocabulary: Option<u32>,

    /// Also print the score of every token
    #[arg(long, alias = "tokens")]
    scores: bool,

    /// Print one JSON object instead, with the score of every token if --scores is given
    #[arg(long)]
    json: bool,
}

const HELP: &str = "\
Describe the watermark as in --pane:
  green-list 2 ratio 0.25 key 42 window 1
                       A green list; the amount added to the logits does not matter.
  gumbel-mark 42 window 4
                       A Gumbel watermark.
  synth-id 4 keys 654 400 836
                       SynthID-Text.

A watermark counts as found if at most one unmarked text in 1,000 scores as high.";

/// Runs `quartet detect`.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let watermark = watermark_of(&arguments.watermark)?;
    let text = text_of(&arguments.file, "the text")?;
    let opened = match &arguments.model {
        Some(path) => open_tokenizer(path),
        None => embedded_tokenizer(),
    };
    let (tokenizer, n_vocab) = opened.map_err(|error| Failure::run(error.to_string()))?;
    let n_vocab = arguments.vocabulary.unwrap_or(n_vocab as u32);
    let vocabulary = tokenizer.vocabulary(n_vocab as usize);
    let mut progress = Progress::new();
    progress.update(|| "Splitting the text into tokens".to_owned());
    let tokens = tokens_of(&text, &tokenizer, &vocabulary);
    progress.clear();
    let tokens = tokens?;
    if let Some(n_vocab) = arguments.vocabulary {
        check_vocabulary(n_vocab, &tokens)?;
    }
    let mut scan = if arguments.scores {
        WatermarkScan::new(watermark, n_vocab)
    } else {
        WatermarkScan::for_verdict(watermark, n_vocab)
    };
    extend(&mut scan, &tokens, &mut progress);
    let scored = arguments.scores.then_some(tokens.as_slice());
    if arguments.json {
        return console::print_json_line(&scan_json(&scan, scored, &vocabulary));
    }
    let mut report = summary(&scan);
    if let Some(tokens) = scored {
        report.push('\n');
        report.push_str(&table(&scan, tokens, &vocabulary));
    }
    console::print(report.as_bytes())
}

/// Returns everything that was found, with a list of `tokens` if they are given.
fn scan_json(scan: &WatermarkScan, tokens: Option<&[TokenId]>, vocabulary: &Vocabulary) -> Value {
    let n_scored = scan.n_scored();
    let verdict = match scan.verdict() {
        Verdict::Found => "found",
        Verdict::NotFound => "not_found",
        Verdict::TooShort => "too_short",
    };
    let mut object = json!({
        "looked_for": scan.watermark().to_string(),
        "verdict": verdict,
        "sentence": scan.verdict_words(),
        "p_value": scan.p_value().get(),
        "p_value_log10": scan.p_value().log10(),
        "n_tokens": scan.marks().len(),
        "n_scored": n_scored,
        "n_repeated": scan.n_repeated(),
        "score": scan.score(),
        "expected_score": scan.expected_score() * n_scored as f64,
        "z_score": (n_scored > 0).then(|| scan.z_score()),
    });
    if let (Some(tokens), Value::Object(fields)) = (tokens, &mut object) {
        let rows = tokens.iter().zip(scan.marks()).zip(scan.p_values());
        let rows = rows.map(|((token, mark), p_value)| {
            let score = match mark {
                TokenMark::Scored(score) => Some(*score),
                TokenMark::NoContext | TokenMark::Repeated => None,
            };
            json!({
                "id": token.0,
                "piece": vocabulary.piece(*token).to_string(),
                "score": score,
                "is_repeated": matches!(mark, TokenMark::Repeated),
                "p_value": p_value.get(),
            })
        });
        fields.insert("tokens".to_owned(), rows.collect());
    }
    object
}

/// How many tokens are scanned between updates of the progress.
const N_PART: usize = 1000;

/// Scans the tokens, and shows how many are done.
fn extend(scan: &mut WatermarkScan, tokens: &[TokenId], progress: &mut Progress) {
    let n_all = grouped(tokens.len() as f64);
    for part in tokens.chunks(N_PART) {
        scan.extend(part);
        let n_done = scan.marks().len() as f64;
        progress.update(|| format!("{} of {n_all} tokens scanned", grouped(n_done)));
    }
    progress.clear();
}

/// More logits than any model has: the largest vocabularies have about a million tokens.
const N_MAX_VOCABULARY: u64 = 4_000_000;

/// Parses the size of a vocabulary, which determines how much memory a scan takes.
fn vocabulary_size(text: &str) -> Result<u32, String> {
    count(1..=N_MAX_VOCABULARY)(text)
}

/// Parses a watermark in the grammar of `--pane`.
fn watermark_of(words: &str) -> Result<Watermark, Failure> {
    let settings: PaneSettings = words
        .parse()
        .map_err(|error: PaneSpecError| Failure::usage(error.to_string()))?;
    let mut marks = Watermark::all(&settings.chain);
    let mark = match (marks.next(), marks.count()) {
        (Some(mark), 0) => mark,
        (Some(_), others) => {
            let n = others + 1;
            let reason = format!("{words:?} has {n} watermarks; look for one at a time");
            return Err(Failure::usage(reason));
        }
        (None, _) => {
            let reason = "it has no green-list, gumbel-mark or synth-id";
            return Err(Failure::run(format!(
                "{words:?} is not a watermark: {reason}"
            )));
        }
    };
    settings
        .chain
        .validate()
        .map_err(|error| Failure::run(error.to_string()))?;
    Ok(mark)
}

/// Fails if the text has a token for which a model with this many logits has none.
fn check_vocabulary(n_vocab: u32, tokens: &[TokenId]) -> Result<(), Failure> {
    match tokens.iter().max() {
        Some(largest) if largest.0 >= n_vocab => Err(Failure::usage(format!(
            "--vocabulary {n_vocab} is too small: the text contains token {largest}, so the model \
             has at least {} logits",
            u64::from(largest.0) + 1
        ))),
        _ => Ok(()),
    }
}

/// Tokenizes a text and drops the special tokens at its start.
fn tokens_of(
    text: &str,
    tokenizer: &Tokenizer,
    vocabulary: &Vocabulary,
) -> Result<Vec<TokenId>, Failure> {
    let tokens = tokenizer
        .encode_turn(text)
        .map_err(|error| Failure::run(error.to_string()))?;
    let is_special = |token: &TokenId| vocabulary.piece(*token).kind == PieceKind::Special;
    Ok(tokens.into_iter().skip_while(is_special).collect())
}

/// Formats the verdict, and the figures behind it.
fn summary(scan: &WatermarkScan) -> String {
    let n_scored = scan.n_scored();
    let expected = scan.expected_score() * n_scored as f64;
    let rows = [
        ("Looked for", scan.watermark().to_string()),
        ("Verdict", scan.verdict_words()),
        ("p-value", scan.p_value().to_string()),
        ("Tokens scored", n_scored.to_string()),
        ("Repeated", format!("{} not counted", scan.n_repeated())),
        (
            "Score",
            format!("{:.1}, {expected:.1} expected by chance", scan.score()),
        ),
        (
            "z-score",
            match n_scored {
                0 => "–".to_owned(),
                _ => format!("{:.2}", scan.z_score()),
            },
        ),
    ];
    let mut text = String::new();
    for (title, words) in rows {
        // Writing to a string can't fail.
        writeln!(text, "{title:<14}{words}").ok();
    }
    text
}

/// Formats one row per token: its number, its text, its score, and the p-value so far.
fn table(scan: &WatermarkScan, tokens: &[TokenId], vocabulary: &Vocabulary) -> String {
    let mut text = format!(
        "{:>5}  {:<20}  {:>8}  {:>8}\n",
        "#", "token", "score", "p-value"
    );
    let rows = tokens.iter().zip(scan.marks()).zip(scan.p_values());
    for (number, ((token, mark), p_value)) in (1..).zip(rows) {
        let score = match mark {
            TokenMark::NoContext => "–".to_owned(),
            TokenMark::Repeated => "repeated".to_owned(),
            TokenMark::Scored(score) => format!("{score:.2}"),
        };
        let (piece, p_value) = (quoted(&vocabulary.piece(*token)), p_value.to_string());
        writeln!(text, "{number:>5}  {piece:<20}  {score:>8}  {p_value:>8}").ok();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{
        check_vocabulary, extend, summary, table, tokens_of, vocabulary_size, watermark_of,
    };
    use crate::analysis::watermark::WatermarkScan;
    use crate::cli::failure::Failure;
    use crate::cli::progress::Progress;
    use crate::decoding::TokenId;
    use crate::decoding::selector::GumbelMark;
    use crate::decoding::watermark::Watermark;
    use crate::engine::embedded_tokenizer;

    #[test]
    fn a_report_has_the_verdict_and_a_row_per_token() {
        let (tokenizer, n_vocab) = embedded_tokenizer().unwrap();
        let vocabulary = tokenizer.vocabulary(n_vocab);
        let tokens = tokens_of("The fox ran home.", &tokenizer, &vocabulary).unwrap();
        let mark = Watermark::GumbelMark(GumbelMark { key: 42, window: 4 });
        let scan = WatermarkScan::of(mark, n_vocab as u32, &tokens);
        let summary = summary(&scan);
        assert!(summary.starts_with("Looked for    Gumbel watermark with key 42\n"));
        assert!(summary.contains("Too short to tell"), "{summary}");
        let table = table(&scan, &tokens, &vocabulary);
        assert_eq!(table.lines().count(), tokens.len() + 1, "{table}");
        assert!(table.contains("‘fox’"), "{table}");
    }

    #[test]
    fn an_empty_text_has_no_z_score() {
        let mark = Watermark::GumbelMark(GumbelMark { key: 42, window: 4 });
        let summary = summary(&WatermarkScan::of(mark, 9, &[]));
        assert!(summary.ends_with("z-score       –\n"), "{summary}");
    }

    #[test]
    fn exactly_one_watermark_is_looked_for() {
        for (words, name) in [
            ("green-list 2 ratio 0.25 key 42", "green list with key 42"),
            ("gumbel-mark 42 window 4", "Gumbel watermark with key 42"),
            ("synth-id 4 keys 654 400 836", "SynthID-Text with 3 keys"),
            ("synth-id 4 keys 654", "SynthID-Text with key 654"),
        ] {
            assert_eq!(watermark_of(words).unwrap().to_string(), name);
        }
        for (words, reason) in [
            ("T 0.7", "no green-list, gumbel-mark or synth-id"),
            (
                "green-list 2 ratio 0.25 key 42, gumbel-mark 7",
                "has 2 watermarks; look for one at a time",
            ),
        ] {
            let (Failure::Usage(error) | Failure::Run(error)) = watermark_of(words).unwrap_err()
            else {
                panic!("{words} has no reason");
            };
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn a_vocabulary_has_a_plausible_size() {
        for (text, expected) in [
            ("1", Some(1)),
            ("262144", Some(262_144)),
            ("4000000", Some(4_000_000)),
            ("4000001", None),
            ("1000000000", None),
            ("0", None),
            ("-1", None),
            ("1e6", None),
        ] {
            assert_eq!(vocabulary_size(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn the_verdict_alone_is_that_of_the_whole_scan() {
        let (tokenizer, n_vocab) = embedded_tokenizer().unwrap();
        let vocabulary = tokenizer.vocabulary(n_vocab);
        let tokens = tokens_of("The fox ran home. The fox ran.", &tokenizer, &vocabulary);
        let tokens = tokens.unwrap();
        for words in [
            "green-list 2",
            "green-list 2 window 3",
            "gumbel-mark 42",
            "synth-id 4 keys 654",
        ] {
            let mark = watermark_of(words).unwrap();
            let mut whole = WatermarkScan::for_verdict(mark, n_vocab as u32);
            extend(&mut whole, &tokens, &mut Progress::Log);
            let scan = WatermarkScan::of(mark, n_vocab as u32, &tokens);
            assert_eq!(summary(&whole), summary(&scan), "{words}");
        }
    }

    #[test]
    fn a_token_can_prove_the_vocabulary_too_small() {
        let tokens = [TokenId(3), TokenId(8)];
        assert!(check_vocabulary(9, &tokens).is_ok() && check_vocabulary(0, &[]).is_ok());
        let Failure::Usage(error) = check_vocabulary(8, &tokens).unwrap_err() else {
            panic!("a wrong argument is a usage error");
        };
        assert!(
            error.ends_with("so the model has at least 9 logits"),
            "{error}"
        );
    }
}
