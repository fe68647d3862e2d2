//! Mutated model files, settings and templates: each works or is an error, never a panic.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use quartet::engine::{ChatTemplate, Compute, Message, open_path};
use quartet::export::json;
use quartet::generation::{ChatMessage, PaneSettings, TemplateKwargs};
use quartet::interop::tools::import_settings;

use crate::random::Random;
use crate::rounds::rounds;

/// How many mutations of each file and text are tried in each round.
const N_FILES: u64 = 150;
const N_TEXTS: u64 = 3_000;

/// Numbers that files lie with: counts, lengths and offsets.
pub(crate) const LIES: [u64; 8] = [
    0,
    1,
    0x7F,
    0xFFFF,
    0x7FFF_FFFF,
    0xFFFF_FFFF,
    0x7FFF_FFFF_FFFF_FFFF,
    u64::MAX,
];

/// Flips bits, writes lies, truncates, or repeats a part, starting within the first `n_head` bytes.
fn mutate(bytes: &mut Vec<u8>, n_head: usize, random: &mut Random) {
    for _ in 0..=random.below(3) {
        let n = bytes.len().min(n_head);
        let at = random.below(n);
        match random.below(5) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.next() as u8,
            2 if at + 8 <= bytes.len() => {
                let lie = random.pick(&LIES).to_le_bytes();
                let width = random.pick(&[1, 2, 4, 8]);
                bytes[at..at + width].copy_from_slice(&lie[..width]);
            }
            3 => bytes.truncate(at.max(1)),
            _ => {
                let end = (at + random.below(64)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
        }
    }
}

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/architectures")
}

/// Copies a fixture and opens it with one of its files mutated in many ways.
fn open_mutations_of(name: &str, file: &str, n_head: usize) {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(fixtures().join("borrowed").join(name))
        .unwrap()
        .flatten()
    {
        fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    let tokenizer = fixtures().join("fixtures/tokenizer.json");
    fs::copy(tokenizer, folder.path().join("tokenizer.json")).unwrap();
    let path = folder.path().join(file);
    let original = fs::read(&path).unwrap();
    for seed in 0..N_FILES * rounds() {
        let mut bytes = original.clone();
        mutate(&mut bytes, n_head, &mut Random(seed));
        fs::write(&path, &bytes).unwrap();
        let opened = open_path(
            &path,
            &Compute::on_cpu(),
            &mut |_| ControlFlow::Continue(()),
        );
        if let Err(error) = opened {
            assert!(!error.to_string().is_empty(), "{name}/{file}, seed {seed}");
        }
    }
}

#[test]
fn mutated_model_files_never_cause_a_panic() {
    open_mutations_of("phi", "model.gguf", 4096);
    open_mutations_of("starcoder2", "model.safetensors", 2048);
    open_mutations_of("starcoder2", "tokenizer.json", usize::MAX);
    open_mutations_of("starcoder2", "config.json", usize::MAX);
}

/// Calls `read` with mutations of these texts.
fn read_mutations(texts: &[&str], read: impl Fn(&str)) {
    for (text, start) in texts.iter().zip(0..) {
        for seed in 0..N_TEXTS * rounds() {
            let mut bytes = text.as_bytes().to_vec();
            mutate(
                &mut bytes,
                usize::MAX,
                &mut Random(start * N_TEXTS * rounds() + seed),
            );
            read(&String::from_utf8_lossy(&bytes));
        }
    }
}

#[test]
fn mutated_settings_never_cause_a_panic() {
    let panes = [
        "repeat 1.1 last 64 generated only, dry 0.8 base 1.75 allowed 2 breakers 13 5+6, greedy",
        "temp 0.7, top-p 0.9, xtc 0.5 threshold 0.1 off, mirostat 5 eta 0.1, seed 7, name \"A b\"",
        "bias 13 -2.5 14 1 ban 5 6, dialect transformers, min-keep 3",
    ];
    read_mutations(&panes, |text| {
        if let Ok(settings) = text.parse::<PaneSettings>() {
            let again = settings.to_string().parse::<PaneSettings>();
            assert_eq!(again.unwrap().to_string(), settings.to_string(), "{text}");
        }
    });
    let tools = [
        "llama-cli --samplers \"min_p;temperature;xtc\" --min-p 0.1 --temp 1.5 -l 15043-1 -s 7",
        r#"{"logit_bias": [[5, false]], "dry_multiplier": 0.8, "samplers": ["top_k"], "n_predict": 9}"#,
        "model.generate(**inputs, do_sample=True, sequence_bias=[[[1], float(\"-inf\")]], top_k=5)",
        "FROM llama3\nPARAMETER temperature 0.7\nPARAMETER stop \"User:\"\n",
        r#"{"model": "x", "temperature": 0.7, "top_p": 0.9, "logit_bias": {"50256": -100}}"#,
    ];
    read_mutations(&tools, |text| {
        import_settings(text, None).ok();
    });
}

#[test]
fn mutated_run_files_never_cause_a_panic() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let run = fs::read(folder.join("export.json")).unwrap();
    for seed in 0..N_TEXTS * rounds() {
        let mut bytes = run.clone();
        mutate(&mut bytes, usize::MAX, &mut Random(seed));
        json::parse(&bytes).ok();
    }
}

#[test]
fn mutated_templates_never_cause_a_panic() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tokenizers/templates");
    let chat = [Message::Other(ChatMessage::user("Why?"))];
    for (entry, start) in fs::read_dir(folder).unwrap().flatten().zip(0..) {
        let source = fs::read(entry.path()).unwrap();
        for seed in 0..60 {
            let mut bytes = source.clone();
            mutate(&mut bytes, usize::MAX, &mut Random(start * 60 + seed));
            let source = String::from_utf8_lossy(&bytes);
            if let Ok(template) = ChatTemplate::parse(&source, std::collections::BTreeMap::new()) {
                template.render(&chat, true, &TemplateKwargs::new()).ok();
            }
        }
    }
}
