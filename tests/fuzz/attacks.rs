//! What each fuzz target does with its input. A panic is a finding; an error is a correct answer.
//!
//! `tests/hostile/corpus.rs` includes this file and replays the saved inputs.

#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a panic is how a target reports a finding"
)]

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use quartet::decoding::{Coins, History, SamplerChain, TokenId};
use quartet::engine::{ChatTemplate, Compute, Message, Row, Tokenizer, open_path};
use quartet::export::{CsvReader, ExportFormat, FileFacts, json, render, render_panes};
use quartet::generation::{ChatMessage, Generation, PaneSettings, TemplateKwargs};
use quartet::interop::tools::import_settings;
use quartet::worker::{ServerKind, Transcript};
use serde_json::Value;

/// A target's name, which is also that of its corpus folder, and what it does with an input.
pub type Attack = (&'static str, fn(&[u8]));

/// All targets.
pub const ATTACKS: [Attack; 14] = [
    ("chain", chain),
    ("chat_template", chat_template),
    ("config", config),
    ("escape", escape),
    ("gguf", gguf),
    ("pane", pane),
    ("run_file", run_file),
    ("safetensors", safetensors),
    ("server_llama", server_llama),
    ("server_ollama", server_ollama),
    ("server_openai", server_openai),
    ("server_vllm", server_vllm),
    ("settings", settings),
    ("tokenizer", tokenizer),
];

/// The files of a small model folder.
const CONFIG: &[u8] = include_bytes!("../architectures/fixtures/llama/config.json");
const WEIGHTS: &[u8] = include_bytes!("../architectures/fixtures/llama/model.safetensors");
const TOKENIZER: &[u8] = include_bytes!("../architectures/fixtures/tokenizer.json");

/// The size of the vocabulary of the servers whose responses are read.
const N_VOCAB: usize = 300;

/// A run with two panes, which `escape` fills with hostile text.
const RUN: &[u8] = include_bytes!("../golden/export.json");

/// Samples from any logits with any settings. The input is the settings, a zero byte, the number of
/// tokens so far, the tokens, and the logits as little-endian `f32`.
pub fn chain(data: &[u8]) {
    let (words, rest) = split_at_zero(data);
    let Ok(settings) = String::from_utf8_lossy(words).parse::<PaneSettings>() else {
        return;
    };
    let Some((n_tokens, rest)) = rest.split_first() else {
        return;
    };
    let (tokens, logits) = rest.split_at(rest.len().min(usize::from(*n_tokens)));
    let tokens: Vec<TokenId> = tokens.iter().map(|id| TokenId(u32::from(*id))).collect();
    let logits = logits.as_chunks().0.iter();
    let logits: Vec<f32> = logits.map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let history = History::new(&tokens, tokens.len() / 2);
    let coins = Coins {
        seed: 3,
        position: tokens.len() as u64,
    };
    let mut chain = SamplerChain::new(settings.chain);
    let Ok(sampled) = chain.clone().sample(&logits, history, coins) else {
        return;
    };
    let draw = sampled.trace.draw;
    assert!(sampled.token.index() < logits.len());
    assert!((0.0..=1.0 + 1e-9).contains(&draw.prob), "{}", draw.prob);
    assert!(draw.n_kept >= 1);
    let again = chain.sample_token(&logits, history, coins);
    assert_eq!(again, Ok(sampled.token), "with and without evidence");
    let left = chain.distribution(&logits, history, coins).unwrap();
    let mass: f64 = left.iter().map(|candidate| candidate.prob).sum();
    assert!((mass - 1.0).abs() < 1e-6, "{mass}");
}

/// Parses and renders a chat template. The input is the template, a zero byte and a message.
pub fn chat_template(data: &[u8]) {
    let (source, content) = split_at_zero(data);
    let source = String::from_utf8_lossy(source);
    let special = BTreeMap::from([("bos_token".to_owned(), "<s>".to_owned())]);
    let Ok(template) = ChatTemplate::parse(&source, special) else {
        return;
    };
    // Large numbers make template filters allocate a lot of memory. Quartet limits that from
    // outside, by rendering in a helper process.
    let is_digit = |byte: &u8| byte.is_ascii_digit() || *byte == b'_';
    let numbers = source.as_bytes().split(|byte| !is_digit(byte));
    if numbers.map(<[u8]>::len).max() > Some(4) {
        return;
    }
    let chat = [
        Message::System("Rhyme.".to_owned()),
        Message::Other(ChatMessage::user(String::from_utf8_lossy(content))),
        Message::Other(ChatMessage::assistant("No.")),
        Message::Other(ChatMessage::user("Why?")),
    ];
    template.render(&chat, true, &TemplateKwargs::new()).ok();
    template
        .render(&chat[1..2], false, &TemplateKwargs::new())
        .ok();
}

/// Opens a folder whose `config.json` is the input.
pub fn config(data: &[u8]) {
    open(&[
        ("config.json", data),
        ("tokenizer.json", TOKENIZER),
        ("model.safetensors", WEIGHTS),
    ]);
}

/// Renders a run whose texts are the input, and checks that they break out of neither a table cell
/// nor an HTML element.
pub fn escape(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let hostile = run_with(&text);
    let page = String::from_utf8(render(ExportFormat::Html, &[&hostile])).unwrap();
    let harmless: String = text
        .chars()
        .map(|c| if "<>&\"'".contains(c) { 'x' } else { c })
        .collect();
    let expected = String::from_utf8(render(ExportFormat::Html, &[&run_with(&harmless)])).unwrap();
    for mark in ['<', '>'] {
        let count = |page: &str| page.matches(mark).count();
        assert_eq!(count(&page), count(&expected), "{mark} of {text:?}");
    }
    let rows = table_of(&hostile, CsvReader::Any);
    let piece = rows[0].iter().position(|name| name == "piece").unwrap();
    for (cells, step) in rows[1..].iter().zip(&hostile.steps) {
        assert_eq!(cells[piece], step.piece.as_str().unwrap_or_default());
    }
    for cell in table_of(&hostile, CsvReader::Excel).iter().flatten() {
        let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
        assert!(!is_formula || cell.parse::<f64>().is_ok(), "{cell:?}");
    }
    for line in render(ExportFormat::JsonLines, &[&hostile]).split(|byte| *byte == b'\n') {
        assert!(line.is_empty() || serde_json::from_slice::<Value>(line).is_ok());
    }
    render(ExportFormat::Markdown, &[&hostile]);
}

/// Opens a GGUF file.
pub fn gguf(data: &[u8]) {
    open(&[("model.gguf", data)]);
}

/// Parses a pane's description, and checks that it survives printing and parsing again.
pub fn pane(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(settings) = text.parse::<PaneSettings>() else {
        return;
    };
    let printed = settings.to_string();
    let again = printed.parse::<PaneSettings>();
    let again = again.unwrap_or_else(|error| panic!("{printed:?}: {error}"));
    assert_eq!(again.to_string(), printed);
}

/// Reads a run file. If it is readable, it must be writable in every format, and its JSON readable
/// again.
pub fn run_file(data: &[u8]) {
    let Ok(generations) = json::parse(data) else {
        return;
    };
    let generations: Vec<&Generation> = generations.iter().collect();
    for format in ExportFormat::ALL {
        let rendered = render(format, &generations);
        if format == ExportFormat::Json {
            json::parse(&rendered).unwrap();
        }
    }
}

/// Opens a folder whose weights are the input.
pub fn safetensors(data: &[u8]) {
    open(&[
        ("config.json", CONFIG),
        ("tokenizer.json", TOKENIZER),
        ("model.safetensors", data),
    ]);
}

/// Reads a response of llama-server.
pub fn server_llama(data: &[u8]) {
    response(ServerKind::LlamaServer, data);
}

/// Reads a response of Ollama.
pub fn server_ollama(data: &[u8]) {
    response(ServerKind::Ollama, data);
}

/// Reads a response of a server with OpenAI's completions API.
pub fn server_openai(data: &[u8]) {
    response(ServerKind::OpenAi, data);
}

/// Reads a response of vLLM.
pub fn server_vllm(data: &[u8]) {
    response(ServerKind::Vllm, data);
}

/// Reads a response as a stream, whole and byte by byte, and as an answer for one token. Where the
/// stream is cut makes no difference, and whatever is recorded as known is a probability.
fn response(kind: ServerKind, data: &[u8]) {
    let data = data.get(..4096).unwrap_or(data);
    let whole = Transcript::of_stream(kind, N_VOCAB, data, data.len());
    let cut = Transcript::of_stream(kind, N_VOCAB, data, 1);
    assert_eq!(whole.text, cut.text);
    assert_eq!(whole.finish, cut.finish);
    assert_eq!(whole.error, cut.error);
    let answer = Transcript::of_answer(kind, N_VOCAB, data);
    for transcript in [&whole, &cut, &answer] {
        let error = transcript.error.as_ref().map(ToString::to_string);
        assert_ne!(error.as_deref(), Some(""));
        for trace in &transcript.traces {
            let known = [trace.known_raw_prob(), trace.known_final_prob()];
            for prob in known.into_iter().flatten() {
                assert!((0.0..=1.0 + 1e-6).contains(&prob), "{prob}");
            }
            let entropy = trace.known_entropy_nats();
            assert!(entropy.is_none_or(|nats| nats >= 0.0), "{entropy:?}");
        }
    }
}

/// Reads another tool's settings, and prints what they mean.
pub fn settings(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(imported) = import_settings(&text, None) {
        let printed = PaneSettings::from(imported.chain).to_string();
        printed.parse::<PaneSettings>().unwrap();
    }
}

/// Reads a `tokenizer.json`, and splits a few texts with it.
pub fn tokenizer(data: &[u8]) {
    let Ok(tokenizer) = Tokenizer::from_json(data, "tokenizer.json") else {
        return;
    };
    for text in ["", "Once upon  a time", "w3 w4\n\u{1F98A}e\u{301}\0<s>"] {
        tokenizer.encode(text).ok();
    }
    tokenizer.vocabulary(tokenizer.n_tokens().min(1000));
}

fn split_at_zero(data: &[u8]) -> (&[u8], &[u8]) {
    let at = data.iter().position(|byte| *byte == 0);
    at.map_or((data, &[]), |at| (&data[..at], &data[at + 1..]))
}

/// Opens the model that consists of these files, and runs one token through it if it opens.
fn open(files: &[(&str, &[u8])]) {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        fs::write(folder.path().join(name), content).unwrap();
    }
    let path = match files {
        [(name, _)] => folder.path().join(name),
        _ => folder.path().to_owned(),
    };
    open_model(&path);
}

fn open_model(path: &Path) {
    let compute = Compute::on_cpu();
    let opened = open_path(path, &compute, &mut |_| ControlFlow::Continue(()));
    match opened {
        Ok(Some(mut model)) => {
            model.tokenizer.encode("w3 w4").ok();
            let sequence = model.lm.open();
            let row = |token| Row {
                sequence,
                token: TokenId(token),
                logits_wanted: true,
            };
            model.lm.forward(&[row(0), row(1)]).ok();
        }
        Ok(None) => panic!("nobody cancelled it"),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Returns the golden run with every text replaced.
fn run_with(text: &str) -> Generation {
    let mut run: Value = serde_json::from_slice(RUN).unwrap();
    for entry in run["vocabulary"].as_array_mut().unwrap() {
        if entry.get("bytes").is_none() {
            entry["piece"] = text.into();
        }
    }
    run["prompt"]["text"] = text.into();
    run["model"]["name"] = text.into();
    run["panes"][0]["name"] = text.into();
    let bytes = serde_json::to_vec(&run).unwrap();
    let generations = json::parse(&bytes).unwrap();
    generations.into_iter().next().unwrap()
}

/// Returns the run as a CSV table for this program: its header, and a row of equal length per step.
fn table_of(run: &Generation, csv_reader: CsvReader) -> Vec<Vec<String>> {
    let facts = FileFacts {
        csv_reader,
        ..FileFacts::default()
    };
    let table = render_panes(ExportFormat::Csv, &[Some(run)], facts);
    let rows = rows_of_csv(std::str::from_utf8(&table).unwrap());
    assert_eq!(rows.len(), run.steps.len() + 1);
    assert!(rows.iter().all(|cells| cells.len() == rows[0].len()));
    rows
}

/// Parses a CSV table as RFC 4180 specifies.
fn rows_of_csv(table: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let (mut quoted, mut characters) = (false, table.chars().peekable());
    while let Some(c) = characters.next() {
        let row = rows.last_mut().unwrap();
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                row.last_mut().unwrap().push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(String::new()),
            '\r' if !quoted && characters.peek() == Some(&'\n') => {
                characters.next();
                rows.push(vec![String::new()]);
            }
            c => row.last_mut().unwrap().push(c),
        }
    }
    // The last row ends with a line break, so an empty row follows it.
    rows.pop();
    rows
}
