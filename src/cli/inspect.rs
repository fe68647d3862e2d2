//! `quartet inspect`: a model's properties and memory needs, read from its file headers and its
//! tokenizer.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::console;
use super::count::{N_MAX_TOKENS, count};
use super::failure::Failure;
use super::model::model_parser;
use crate::engine::{self, TokenizerOutline};
use crate::generation::formatting::{counted, grouped};
use crate::generation::{ByteSize, MemoryNeed, ModelOutline, with_formats};

/// The arguments of `quartet inspect`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// A GGUF file, or a folder with config.json, tokenizer.json and safetensors, or the name of a
    /// model on this computer, such as `OWNER/NAME:Q8_0`
    #[arg(value_name = "PATH", value_parser = model_parser())]
    path: PathBuf,

    /// Number of panes to estimate memory for
    #[arg(long, value_name = "N", default_value_t = 4)]
    #[arg(value_parser = count::<usize>(1..=1_000))]
    panes: usize,

    /// Number of tokens per pane, including the prompt; by default the model’s context, up to 2048
    #[arg(long, value_name = "N", value_parser = count::<usize>(1..=N_MAX_TOKENS))]
    tokens: Option<usize>,

    /// Print everything as JSON instead
    #[arg(long)]
    json: bool,
}

/// The default number of tokens per pane.
const DEFAULT_N_TOKENS: usize = 2048;

/// Runs `quartet inspect`.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (outline, tokenizer) = engine::inspect_with_tokenizer(&arguments.path)
        .map_err(|error| Failure::run(error.to_string()))?;
    let n_tokens = arguments.tokens.unwrap_or(DEFAULT_N_TOKENS);
    let n_tokens = n_tokens.min(outline.n_context);
    if arguments.json {
        let panes = (arguments.panes, n_tokens);
        return console::print_json_line(&outline_json(&outline, &tokenizer, panes));
    }
    let text = table(
        &outline,
        &tokenizer,
        arguments.panes,
        n_tokens,
        engine::free_memory(),
    );
    console::print(text.as_bytes())
}

/// Returns what is known of a model, with the memory that it needs for this many panes of this many
/// tokens.
fn outline_json(
    outline: &ModelOutline,
    tokenizer: &TokenizerOutline,
    (n_panes, n_tokens): (usize, usize),
) -> Value {
    let memory = outline.memory;
    let converted = outline.conversion.as_ref().map(ToString::to_string);
    json!({
        "name": outline.name,
        "architecture": outline.architecture,
        "n_params": outline.n_params,
        "quantization": outline.quantization,
        "formats": outline.formats,
        "n_vocab": tokenizer.n_tokens,
        "tokenizer": tokenizer.file,
        "has_chat_template": tokenizer.has_chat_template,
        "n_file_bytes": outline.n_file_bytes,
        "n_context": outline.n_context,
        "memory": {
            "n_panes": n_panes,
            "n_tokens": n_tokens,
            "n_bytes": memory.n_bytes(n_panes, n_tokens),
            "n_weight_bytes": memory.n_weight_bytes,
            "n_vocabulary_bytes": memory.n_vocabulary_bytes(),
            "n_pane_bytes": memory.n_pane_bytes(n_tokens),
            "n_state_bytes": memory.n_state_bytes,
            "n_free_bytes": engine::free_memory(),
        },
        "experts": outline.experts.as_ref().map(ToString::to_string),
        "conversion": converted,
        "note": outline.implementation.limits(),
        "warning": outline.load_warning,
    })
}

fn table(
    outline: &ModelOutline,
    tokenizer: &TokenizerOutline,
    n_panes: usize,
    n_tokens: usize,
    n_free: u64,
) -> String {
    let memory = outline.memory;
    let n_needed = memory.n_bytes(n_panes, n_tokens);
    let panes = match n_panes {
        1 => "one pane".to_owned(),
        n => format!("each of {n} panes"),
    };
    let mut rows = vec![
        ("Name", outline.name.clone()),
        ("Architecture", outline.architecture.clone()),
        (
            "Weights",
            format!(
                "{} million, stored as {}",
                millions(outline.n_params),
                with_formats(&outline.quantization, &outline.formats)
            ),
        ),
        (
            "Tokenizer",
            format!(
                "{} tokens, from {}",
                grouped(tokenizer.n_tokens as f64),
                tokenizer.file
            ),
        ),
        (
            "Chat",
            if tokenizer.has_chat_template {
                "has a chat template".to_owned()
            } else {
                "no chat template".to_owned()
            },
        ),
        ("On disk", ByteSize(outline.n_file_bytes).to_string()),
        ("Context", format!("{} tokens", outline.n_context)),
        (
            "Memory",
            format!(
                "{}: {} for the weights, {} for the vocabulary, {} for {panes} of {}",
                ByteSize(n_needed),
                ByteSize(memory.n_weight_bytes),
                ByteSize(memory.n_vocabulary_bytes()),
                ByteSize(memory.n_pane_bytes(n_tokens)),
                counted(n_tokens, "token"),
            ),
        ),
        ("Free memory", ByteSize(n_free).to_string()),
    ];
    rows.extend(state_rows(memory, n_tokens));
    if let Some(experts) = &outline.experts {
        rows.push(("Experts", experts.to_string()));
    }
    if let Some(conversion) = &outline.conversion {
        rows.push(("Converts", conversion.to_string()));
    }
    if let Some(limits) = outline.implementation.limits() {
        rows.push(("Note", format!("{limits}.")));
    }
    if let Some(shortage) = MemoryNeed::shortage(n_needed, n_free) {
        rows.push(("Warning", shortage));
    }
    if let Some(load_warning) = &outline.load_warning {
        // The file's path is on a separate line.
        rows.push(("Warning", load_warning.replace('\n', "\n             ")));
    }
    let mut table = String::new();
    for (title, text) in rows {
        // Writing to a string can't fail.
        writeln!(table, "{title:<13}{text}").ok();
    }
    table
}

/// Describes what a model with recurrent layers keeps besides keys and values.
fn state_rows(memory: MemoryNeed, n_tokens: usize) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    let state = ByteSize(memory.n_state_bytes);
    if memory.n_state_bytes > 0 {
        let words =
            format!("{state} for each text in layers without attention, whatever its length");
        rows.push(("State", words));
    }
    let n_checkpoints = memory.n_checkpoints(n_tokens) as usize;
    if n_checkpoints > 0 {
        let words = format!(
            "at most {} of {state} in each pane for going back: {}, counted in Memory",
            counted(n_checkpoints, "earlier state"),
            ByteSize(memory.n_checkpoint_bytes(n_tokens)),
        );
        rows.push(("Checkpoints", words));
    }
    rows
}

/// Formats a count in millions, with one decimal below 100.
fn millions(n: u64) -> String {
    let millions = n as f64 / 1e6;
    if millions < 100.0 {
        format!("{millions:.1}")
    } else {
        format!("{millions:.0}")
    }
}

#[cfg(test)]
mod tests {
    use super::{state_rows, table};
    use crate::engine::TokenizerOutline;
    use crate::generation::{Conversion, Implementation, MemoryNeed, ModelOutline};

    #[test]
    fn the_table_shows_properties_and_memory_needs() {
        let outline = ModelOutline {
            name: "tiny".to_owned(),
            architecture: "llama".to_owned(),
            implementation: Implementation::Quartet,
            n_params: 1_235_814_400,
            quantization: "Q8_0".to_owned(),
            formats: vec!["Q8_0".to_owned()],
            n_context: 131_072,
            n_file_bytes: 1_320_000_000,
            n_step_bytes: 1_320_000_000,
            memory: MemoryNeed {
                n_weight_bytes: 1_320_000_000,
                n_cache_bytes_per_token: 65_536,
                n_state_bytes: 0,
                keeps_checkpoints: false,
                n_vocab: 128_256,
            },
            experts: None,
            conversion: Some(Conversion {
                formats: vec![("IQ4_NL".to_owned(), "Q8_0".to_owned())],
                n_file_bytes: 18_000_000,
                n_memory_bytes: 34_000_000,
                n_secs: 0,
            }),
            head_dim: Some(64),
            load_warning: Some("the settings could not be read\nmodel/settings.json".to_owned()),
        };
        let tokenizer = TokenizerOutline {
            n_tokens: 128_256,
            file: "tokenizer.json".to_owned(),
            has_chat_template: false,
        };
        let expected = "\
Name         tiny
Architecture llama
Weights      1236 million, stored as Q8_0
Tokenizer    128,256 tokens, from tokenizer.json
Chat         no chat template
On disk      1.3 GB
Context      131072 tokens
Memory       1.7 GB: 1.3 GB for the weights, 31 MB for the vocabulary, 77 MB for each of 4 panes of 1,000 tokens
Free memory  900 MB
Converts     IQ4_NL to Q8_0 while loading: 34 MB of memory instead of 18 MB, in less than 1 s
Warning      Needs 1.7 GB of memory, but only 900 MB is free
Warning      the settings could not be read
             model/settings.json
";
        assert_eq!(table(&outline, &tokenizer, 4, 1000, 900_000_000), expected);
        let through_candle = ModelOutline {
            implementation: Implementation::CandleTransformers,
            ..outline.clone()
        };
        let through_candle = table(&through_candle, &tokenizer, 1, 1000, 9_000_000_000);
        assert!(through_candle.contains("Note         Runs on candle-transformers"));
        let enough = table(&outline, &tokenizer, 1, 1000, 9_000_000_000);
        assert!(!enough.contains("Needs"), "{enough}");
    }

    #[test]
    fn states_and_their_earlier_copies_are_described() {
        let memory = MemoryNeed {
            n_weight_bytes: 0,
            n_cache_bytes_per_token: 0,
            n_state_bytes: 1_000_000,
            keeps_checkpoints: true,
            n_vocab: 0,
        };
        let state = "1.0 MB for each text in layers without attention, whatever its length";
        let checkpoints = "at most 3 earlier states of 1.0 MB in each pane for going back: 3.0 MB, \
                           counted in Memory";
        let expected = [("State", state), ("Checkpoints", checkpoints)];
        let expected = expected.map(|(title, words)| (title, words.to_owned()));
        assert_eq!(state_rows(memory, 130), expected);
        let stateless = MemoryNeed {
            n_state_bytes: 0,
            ..memory
        };
        assert!(state_rows(stateless, 130).is_empty());
    }
}
