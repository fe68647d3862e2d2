//! What models write, and how text parts of models that also read images are stored.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::ControlFlow;

use candle_core::{Device, Tensor};
use quartet::engine;

use crate::architectures::fixture::{self, Fixture, Form};
use crate::architectures::reading::{self, Reading};
use crate::architectures::{TOLERANCE, experts};

/// The fixtures of `make_families.py` that have a greedy text for all forms.
const FAMILIES: [&str; 19] = [
    "apertus",
    "arcee",
    "cohere2",
    "ernie4_5",
    "exaone4",
    "exaone4-global",
    "gemma4",
    "gemma4-large",
    "glm4",
    "hunyuan",
    "minicpm",
    "ministral3",
    "mistral3",
    "olmo",
    "olmo3",
    "qwen3_vl",
    "seed_oss",
    "stablelm",
    "stablelm-parallel",
];

#[test]
fn greedy_texts_are_those_of_transformers() {
    let recurrent = [
        ("falcon_h1", 200),
        ("falcon_h1-plain", 200),
        ("falcon_mamba", 200),
        ("granite4-h", 32),
        ("lfm2", 200),
        ("mamba", 200),
        ("mamba2", 200),
        ("qwen3_5", 32),
    ];
    let experts = experts::FAMILIES.into_iter();
    let families = FAMILIES.into_iter().chain(experts);
    let families = families.map(|name| match name {
        "nemotron_h-experts" | "qwen3_vl_moe" => (name, 200),
        _ => (name, 32),
    });
    let families = families.chain(recurrent);
    for (name, n_tokens) in families {
        for form in [Form::Newer, Form::Older, Form::Gguf] {
            let fixture = Fixture::open(name, form);
            assert_eq!(fixture.greedy.len(), n_tokens, "{name}");
            assert!(fixture.tokens.starts_with(&fixture.prompt), "{name}");
            let mut model = fixture.model.borrow_mut();
            let text = reading::greedy_text(model.lm.as_mut(), &fixture.prompt, n_tokens);
            assert_eq!(text, fixture.greedy, "{name}, {form:?}");
        }
    }
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
