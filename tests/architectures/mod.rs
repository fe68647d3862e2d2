//! Compares each architecture's logits with those of transformers for the same weights: from
//! safetensors with either form of `config.json` and from GGUF, however the text is fed.
//!
//! `make_fixtures.py`, `make_families.py`, `make_hybrids.py`, `make_experts.py` and `make_mtp.py`
//! generated the fixtures.

mod beams;
mod before_download;
mod borrowed;
mod borrowed_faults;
mod comparing;
mod drafts;
mod early_layers;
mod exact_answers;
mod experts;
mod families;
mod faults;
mod fixture;
mod guidance;
mod hybrids;
mod model_drafts;
mod mtp;
mod reading;
mod recurrent;
mod scoring;

use std::collections::HashMap;
use std::ops::ControlFlow;

use candle_core::{DType, Device, Tensor};
use quartet::engine;
use quartet::kernels::InputBits;

use crate::architectures::fixture::{Fixture, Form};
use crate::architectures::reading::Reading;

/// The error that a different summation order may cause in logits of magnitude 2.
const TOLERANCE: f32 = 1e-4;

const ARCHITECTURES: [&str; 67] = [
    "apertus",
    "arcee",
    "cohere2",
    "ernie4_5",
    "exaone4",
    "exaone4-global",
    "falcon_h1",
    "falcon_h1-norm-first",
    "falcon_h1-plain",
    "falcon_mamba",
    "gemma",
    "gemma2",
    "gemma3",
    "gemma3-vision",
    "gemma3n",
    "gemma4",
    "gemma4-experts",
    "gemma4-large",
    "glm4",
    "glm4_moe",
    "glm4_moe-groups",
    "glm4_moe-mtp",
    "gpt2",
    "gpt_oss",
    "gpt_oss-mxfp4",
    "granite",
    "granite4",
    "granite4-experts",
    "granite4-h",
    "granitemoe",
    "hunyuan",
    "lfm2",
    "lfm2_moe",
    "llama",
    "llama-linear",
    "llama-llama3",
    "llama-yarn",
    "mamba",
    "mamba2",
    "minicpm",
    "minicpm3",
    "ministral3",
    "mistral",
    "mistral3",
    "mixtral",
    "nemotron_h",
    "nemotron_h-experts",
    "olmo",
    "olmo2",
    "olmo3",
    "olmoe",
    "phi3",
    "phi3-longrope",
    "qwen2",
    "qwen2_moe",
    "qwen3",
    "qwen3_5",
    "qwen3_5-mtp",
    "qwen3_5_moe",
    "qwen3_5_moe-mtp",
    "qwen3_moe",
    "qwen3_vl",
    "qwen3_vl_moe",
    "seed_oss",
    "smollm3",
    "stablelm",
    "stablelm-parallel",
];

/// Asserts that the logits match transformers for every architecture and form.
#[track_caller]
fn assert_reading(reading: Reading) {
    let own = ARCHITECTURES.map(|name| (name, Some(Form::Gguf)));
    let mut faults = Vec::new();
    for (name, other) in own.into_iter().chain(borrowed::ARCHITECTURES) {
        for form in [Form::Newer, Form::Older].into_iter().chain(other) {
            // So that quantized weights, too, round their inputs no more than f32 does.
            let fixture = Fixture::open_with(name, form, InputBits::TwentyFour);
            let difference = reading.difference(&fixture);
            if difference >= TOLERANCE {
                faults.push(format!("{name}, {form:?}: {difference}"));
            }
        }
    }
    assert!(faults.is_empty(), "{reading:?}: {faults:#?}");
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
