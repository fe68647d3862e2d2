//! Compares each architecture's logits with those of transformers for the same weights: from
//! safetensors with either form of `config.json` and from GGUF, however the text is fed.
//!
//! `make_fixtures.py` generated the fixtures.

mod beams;
mod borrowed;
mod borrowed_faults;
mod comparing;
mod drafts;
mod faults;
mod fixture;
mod guidance;
mod model_drafts;
mod reading;
mod scoring;

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::ControlFlow;

use candle_core::{DType, Device, Tensor};
use quartet::engine;

use crate::architectures::fixture::{Fixture, Form};
use crate::architectures::reading::Reading;

/// How many tokens of a fixture's text its greedy text follows.
const N_PROMPT: usize = 24;

/// The error that a different summation order may cause in logits of magnitude 2.
const TOLERANCE: f32 = 1e-4;

const ARCHITECTURES: [&str; 34] = [
    "apertus",
    "arcee",
    "cohere2",
    "ernie4_5",
    "exaone4",
    "exaone4-global",
    "gemma",
    "gemma2",
    "gemma3",
    "gemma3-vision",
    "glm4",
    "gpt2",
    "granite",
    "hunyuan",
    "llama",
    "llama-linear",
    "llama-llama3",
    "llama-yarn",
    "minicpm",
    "ministral3",
    "mistral",
    "mistral3",
    "olmo",
    "olmo2",
    "olmo3",
    "phi3",
    "phi3-longrope",
    "qwen2",
    "qwen3",
    "qwen3_vl",
    "seed_oss",
    "smollm3",
    "stablelm",
    "stablelm-parallel",
];

/// Asserts that the logits match transformers for every architecture and form.
#[track_caller]
fn assert_reading(reading: Reading) {
    let own = ARCHITECTURES.map(|name| (name, Some(Form::Gguf)));
    for (name, other) in own.into_iter().chain(borrowed::ARCHITECTURES) {
        for form in [Form::Newer, Form::Older].into_iter().chain(other) {
            let fixture = Fixture::open(name, form);
            let difference = reading.difference(&fixture);
            assert!(
                difference < TOLERANCE,
                "{name}, {form:?}, {reading:?}: {difference}"
            );
        }
    }
}

#[test]
fn a_text_in_one_forward_pass() {
    assert_reading(Reading::Whole);
}

#[test]
fn a_text_in_chunks() {
    assert_reading(Reading::InChunks(7));
}

#[test]
fn a_text_token_by_token() {
    assert_reading(Reading::InChunks(1));
}

#[test]
fn a_text_batched_with_another() {
    assert_reading(Reading::BesideAnother);
}

#[test]
fn a_text_continued_from_a_fork() {
    assert_reading(Reading::FromFork);
}

#[test]
fn a_text_continued_after_truncation() {
    assert_reading(Reading::AfterTruncation);
}

#[test]
fn a_text_fed_when_the_model_is_ready() {
    assert_reading(Reading::WhenReady(7));
}

#[test]
fn a_text_whose_length_is_announced() {
    assert_reading(Reading::Announced(7));
}

/// Returns the token with the highest logit.
fn most_likely(logits: &[f32]) -> u32 {
    let tokens = logits.iter().zip(0..);
    tokens.max_by(|(a, _), (b, _)| a.total_cmp(b)).unwrap().1
}

#[test]
fn greedy_texts_are_those_of_transformers() {
    let mut n_texts = 0;
    for name in ARCHITECTURES {
        for form in [Form::Newer, Form::Older, Form::Gguf] {
            let fixture = Fixture::open(name, form);
            let Some(greedy) = &fixture.greedy else {
                continue;
            };
            let mut model = fixture.model.borrow_mut();
            let lm = model.lm.as_mut();
            let sequence = lm.open();
            let (prompt, _) = fixture.tokens.split_at(N_PROMPT);
            let (_, logits) = reading::read(lm, sequence, prompt);
            let mut found = vec![most_likely(logits.last().unwrap())];
            while found.len() < greedy.len() {
                let (_, logits) = reading::read(lm, sequence, &found[found.len() - 1..]);
                found.push(most_likely(&logits[0]));
            }
            assert_eq!(&found, greedy, "{name}, {form:?}");
            n_texts += 1;
        }
    }
    assert!(n_texts > 50);
}

/// Older versions of transformers wrote the text parts of models that also read images under other
/// names.
#[test]
fn both_spellings_of_a_text_part_are_read() {
    for name in ["gemma3-vision", "mistral3", "qwen3_vl"] {
        let folder = tempfile::tempdir().unwrap();
        fixture::copy(name, &["config.json", "model.safetensors"], folder.path());
        let before = engine::inspect(folder.path()).unwrap();
        let path = folder.path().join("model.safetensors");
        let tensors = candle_core::safetensors::load(&path, &Device::Cpu).unwrap();
        let n_tensors = tensors.len();
        let renamed = tensors.into_iter().map(|(name, tensor)| {
            let older = match name.strip_prefix("model.") {
                Some(rest) => match rest.strip_prefix("language_model.") {
                    Some(text) => format!("language_model.model.{text}"),
                    None => rest.to_owned(),
                },
                None => format!("language_model.{name}"),
            };
            (older, tensor)
        });
        let tensors: HashMap<String, Tensor> = renamed.collect();
        assert_eq!(tensors.len(), n_tensors);
        candle_core::safetensors::save(&tensors, &path).unwrap();
        let after = engine::inspect(folder.path()).unwrap();
        assert_eq!(after.n_params, before.n_params);
        assert_eq!(after.n_step_bytes, before.n_step_bytes);
        assert_eq!(after.memory, before.memory);
        let mut fixture = Fixture::open(name, Form::Newer);
        let n_params = fixture.model.borrow().info.n_params;
        assert_eq!(after.n_params, n_params, "{name}");
        let keep_going = &mut |_| ControlFlow::Continue(());
        let opened = engine::open_path(folder.path(), &engine::Compute::on_cpu(), keep_going);
        fixture.model = RefCell::new(opened.unwrap().unwrap());
        assert!(Reading::Whole.difference(&fixture) < TOLERANCE, "{name}");
    }
}

/// On the Hub, `openai-community/gpt2` stores masks along with its weights, and its tensor names
/// have no prefix.
#[test]
fn masks_in_a_file_do_not_count_as_weights() {
    let folder = tempfile::tempdir().unwrap();
    fixture::copy("gpt2", &["config.json", "model.safetensors"], folder.path());
    let before = engine::inspect(folder.path()).unwrap();
    let path = folder.path().join("model.safetensors");
    let tensors = candle_core::safetensors::load(&path, &Device::Cpu).unwrap();
    let renamed = tensors.into_iter().map(|(name, tensor)| {
        let short = name.strip_prefix("transformer.");
        (short.unwrap_or(&name).to_owned(), tensor)
    });
    let mut tensors: HashMap<String, Tensor> = renamed.collect();
    let mask = Tensor::ones((1, 1, 32, 32), DType::F32, &Device::Cpu).unwrap();
    tensors.insert("h.0.attn.bias".to_owned(), mask);
    let masked = Tensor::ones((), DType::F32, &Device::Cpu).unwrap();
    tensors.insert("h.0.attn.masked_bias".to_owned(), masked);
    candle_core::safetensors::save(&tensors, &path).unwrap();
    let after = engine::inspect(folder.path()).unwrap();
    assert_eq!(after.n_params, before.n_params);
    assert_eq!(after.n_step_bytes, before.n_step_bytes);
    assert_eq!(after.memory, before.memory);
    let keep_going = &mut |_| ControlFlow::Continue(());
    let opened = engine::open_path(folder.path(), &engine::Compute::on_cpu(), keep_going);
    assert_eq!(opened.unwrap().unwrap().info.n_params, after.n_params);
}

#[test]
fn every_fixture_is_tested() {
    let borrowed = borrowed::ARCHITECTURES.map(|(name, _)| name);
    for (folder, tested) in [
        ("fixtures", ARCHITECTURES.as_slice()),
        ("borrowed", &borrowed),
    ] {
        let mut found = fixture::names(folder);
        found.sort();
        assert_eq!(found, tested);
    }
}
