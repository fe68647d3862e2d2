//! `quartet inspect`: what a model is and what it takes, from the headers of its files alone.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;

use super::console;
use super::failure::Failure;
use crate::engine;
use crate::generation::{ByteSize, MemoryNeed, ModelOutline};

/// What `quartet inspect` is given.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// A GGUF file, or a folder with config.json, tokenizer.json and safetensors
    #[arg(value_name = "PATH")]
    path: PathBuf,

    /// How many panes the memory is estimated for
    #[arg(long, value_name = "N", default_value_t = 4)]
    panes: usize,

    /// How many tokens each pane may hold, the prompt included; as many as the model reads, but no more
    /// than 2048, where it is not given
    #[arg(long, value_name = "N")]
    tokens: Option<usize>,
}

/// How many tokens a pane is estimated with where nobody says.
const N_USUAL_TOKENS: usize = 2048;

/// Runs the command.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let outline =
        engine::inspect(&arguments.path).map_err(|error| Failure::run(error.to_string()))?;
    let n_tokens = arguments.tokens.unwrap_or(N_USUAL_TOKENS);
    let n_tokens = n_tokens.min(outline.n_context);
    let text = table(&outline, arguments.panes, n_tokens, engine::free_memory());
    console::print(text.as_bytes())
}

fn table(outline: &ModelOutline, n_panes: usize, n_tokens: usize, n_free: u64) -> String {
    let memory = outline.memory;
    let n_needed = memory.n_bytes(n_panes, n_tokens);
    let mut rows = vec![
        ("Name", outline.name.clone()),
        ("Architecture", outline.architecture.clone()),
        (
            "Weights",
            format!(
                "{} million, stored as {}",
                millions(outline.n_params),
                outline.quantization
            ),
        ),
        ("On disk", ByteSize(outline.n_file_bytes).to_string()),
        ("Context", format!("{} tokens", outline.n_context)),
        (
            "Memory",
            format!(
                "{}: {} for the weights, {} for each of {n_panes} panes of {n_tokens} tokens",
                ByteSize(n_needed),
                ByteSize(memory.n_weight_bytes),
                ByteSize(memory.n_cache_bytes(n_tokens)),
            ),
        ),
        ("Free", ByteSize(n_free).to_string()),
    ];
    if let Some(limits) = outline.implementation.limits() {
        rows.push(("Note", format!("{limits}.")));
    }
    if let Some(shortage) = MemoryNeed::shortage(n_needed, n_free) {
        rows.push(("Warning", shortage));
    }
    if let Some(unread) = &outline.unread {
        // The file's path stands on a line of its own.
        rows.push(("Unread", unread.replace('\n', "\n             ")));
    }
    let mut table = String::new();
    for (title, text) in rows {
        // Writing to a string can't fail.
        writeln!(table, "{title:<13}{text}").ok();
    }
    table
}

/// Millions with as many digits as matter.
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
    use super::table;
    use crate::generation::{Implementation, MemoryNeed, ModelOutline};

    #[test]
    fn the_table_says_what_a_model_is_and_what_it_takes() {
        let outline = ModelOutline {
            name: "tiny".to_owned(),
            architecture: "llama".to_owned(),
            implementation: Implementation::Quartet,
            n_params: 1_235_814_400,
            quantization: "Q8_0".to_owned(),
            n_context: 131_072,
            n_file_bytes: 1_320_000_000,
            n_step_bytes: 1_320_000_000,
            memory: MemoryNeed {
                n_weight_bytes: 1_320_000_000,
                n_cache_bytes_per_token: 65_536,
                n_state_bytes: 0,
            },
            head_dim: Some(64),
            unread: Some("the settings could not be read\nmodel/settings.json".to_owned()),
        };
        let expected = "\
Name         tiny
Architecture llama
Weights      1236 million, stored as Q8_0
On disk      1.3 GB
Context      131072 tokens
Memory       1.6 GB: 1.3 GB for the weights, 66 MB for each of 4 panes of 1000 tokens
Free         900 MB
Warning      Needs 1.6 GB of memory, but only 900 MB is free
Unread       the settings could not be read
             model/settings.json
";
        assert_eq!(table(&outline, 4, 1000, 900_000_000), expected);
        let borrowed = ModelOutline {
            implementation: Implementation::CandleTransformers,
            ..outline.clone()
        };
        let borrowed = table(&borrowed, 1, 1000, 9_000_000_000);
        assert!(borrowed.contains("Note         Runs on candle-transformers"));
        let enough = table(&outline, 1, 1000, 9_000_000_000);
        assert!(!enough.contains("Warning"), "{enough}");
    }
}
