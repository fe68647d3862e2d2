//! Each architecture against the logits that transformers computes for the same weights: from
//! safetensors with either form of `config.json` and from GGUF, however the text is read.
//!
//! `make_fixtures.py` wrote the fixtures.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that fails may panic, in a helper too"
)]

mod borrowed;
mod borrowed_faults;
mod faults;
mod fixture;
mod reading;

use std::collections::HashMap;
use std::ops::ControlFlow;

use candle_core::{DType, Device, Tensor};
use quartet::engine;

use crate::fixture::{Fixture, Form};
use crate::reading::Reading;

/// What may differ where the sums are the same and their order is not, in logits of about 2.
const TOLERANCE: f32 = 1e-4;

const ARCHITECTURES: [&str; 16] = [
    "gemma",
    "gemma2",
    "gemma3",
    "gpt2",
    "granite",
    "llama",
    "llama-linear",
    "llama-llama3",
    "llama-yarn",
    "mistral",
    "olmo2",
    "phi3",
    "phi3-longrope",
    "qwen2",
    "qwen3",
    "smollm3",
];

/// In each form, the logits of each architecture are those of transformers.
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
fn a_text_read_at_once() {
    assert_reading(Reading::Whole);
}

#[test]
fn a_text_read_in_chunks() {
    assert_reading(Reading::InChunks(7));
}

#[test]
fn a_text_read_token_by_token() {
    assert_reading(Reading::InChunks(1));
}

#[test]
fn a_text_read_beside_another() {
    assert_reading(Reading::BesideAnother);
}

#[test]
fn a_text_read_on_from_a_fork() {
    assert_reading(Reading::FromFork);
}

#[test]
fn a_text_read_again_from_where_it_was_cut() {
    assert_reading(Reading::AfterCut);
}

#[test]
fn a_text_read_as_soon_as_the_model_is_ready() {
    assert_reading(Reading::WhenReady(7));
}

#[test]
fn a_text_whose_length_is_known_before() {
    assert_reading(Reading::Announced(7));
}

/// As `openai-community/gpt2` holds them on the Hub: masks beside the weights, and names without their prefix.
#[test]
fn masks_that_a_file_holds_are_no_weights() {
    let folder = tempfile::tempdir().unwrap();
    fixture::copy("gpt2", &["config.json", "model.safetensors"], folder.path());
    let before = engine::inspect(folder.path()).unwrap();
    let path = folder.path().join("model.safetensors");
    let tensors = candle_core::safetensors::load(&path, &Device::Cpu).unwrap();
    let tensors = tensors.into_iter().map(|(name, tensor)| {
        let short = name.strip_prefix("transformer.");
        (short.unwrap_or(&name).to_owned(), tensor)
    });
    let mut tensors: HashMap<String, Tensor> = tensors.collect();
    let mask = Tensor::ones((1, 1, 32, 32), DType::F32, &Device::Cpu).unwrap();
    tensors.insert("h.0.attn.bias".to_owned(), mask);
    let masked = Tensor::ones((), DType::F32, &Device::Cpu).unwrap();
    tensors.insert("h.0.attn.masked_bias".to_owned(), masked);
    candle_core::safetensors::save(&tensors, &path).unwrap();
    let after = engine::inspect(folder.path()).unwrap();
    assert_eq!(after.n_params, before.n_params);
    assert_eq!(after.n_step_bytes, before.n_step_bytes);
    assert_eq!(after.memory, before.memory);
    let to_the_end = &mut |_| ControlFlow::Continue(());
    let opened = engine::open_path(folder.path(), &engine::Compute::on_cpu(), to_the_end);
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
