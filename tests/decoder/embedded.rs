//! The model inside the program.

use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;

use candle_core::quantized::{GgmlDType, QTensor, gguf_file};
use candle_core::{Device, Tensor};
use candle_transformers::models::quantized_llama::ModelWeights;
use quartet::decoding::TokenId;
use quartet::engine::{CacheType, Compute, LoadedModel, open_embedded, open_path};

use crate::{argmax, read};

const PROMPT: &str = "Once upon a time there was a little fox who";
const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/assets/model/quartet-stories-q8_0.gguf"
);

const TOKENIZER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/model/tokenizer.json");

/// What the model wrote with its weights in single precision (`quartet generate`, eight beginnings, each drawn
/// from all tokens with a seed of its own).
const WRITTEN: &str = include_str!("written.json");

#[test]
fn it_opens_with_its_facts_and_its_tokenizer() {
    let mut fractions = Vec::new();
    let opened = open_embedded(&Compute::on_cpu(), &mut |fraction| {
        fractions.push(fraction);
        ControlFlow::Continue(())
    });
    let model = opened.unwrap().unwrap();
    assert!(fractions.is_sorted() && fractions.last().is_some_and(|last| *last > 0.99));
    let info = &model.info;
    assert_eq!(info.name, "Quartet Stories");
    assert_eq!(
        (info.n_params, info.n_context, info.n_vocab),
        (5_115_136, 384, 6144)
    );
    assert_eq!(
        (info.quantization.as_str(), info.file.as_str()),
        ("Q8_0", "embedded")
    );
    assert_eq!(model.end_tokens, [TokenId(2)]);
    for prompt in [PROMPT, "<s>Once upon a time", ""] {
        let tokens = model.tokenizer.encode(prompt).unwrap();
        let n_begin = tokens.iter().filter(|token| **token == TokenId(1)).count();
        assert_eq!((tokens[0], n_begin), (TokenId(1), 1), "{prompt:?}");
    }
}

#[test]
fn a_loading_that_is_called_off_ends_there_and_then() {
    for last in [0.0, 0.1, 0.3, 0.6, 1.0] {
        let mut n_heard_after = 0;
        let mut is_left = false;
        let opened = open_embedded(&Compute::on_cpu(), &mut |fraction| {
            n_heard_after += usize::from(is_left);
            is_left |= fraction >= last;
            if is_left {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        assert!(opened.unwrap().is_none(), "{last}");
        assert_eq!(n_heard_after, 0, "{last}");
    }
}

#[test]
fn its_greedy_story_is_that_of_candle_transformers() {
    let to_the_end = &mut |_| ControlFlow::Continue(());
    let opened = open_embedded(&Compute::on_cpu(), to_the_end);
    let mut model = opened.unwrap().unwrap();
    let mut file = File::open(FILE).unwrap();
    let content = gguf_file::Content::read(&mut file).unwrap();
    let mut oracle = ModelWeights::from_gguf(content, &mut file, &Device::Cpu).unwrap();
    let prompt: Vec<u32> = model
        .tokenizer
        .encode(PROMPT)
        .unwrap()
        .iter()
        .map(|t| t.0)
        .collect();
    let sequence = model.lm.open();
    let mut tokens = prompt.clone();
    let mut text = Vec::new();
    let mut n_read = 0;
    for _ in 0..30 {
        let logits = read(model.lm.as_mut(), sequence, &tokens[n_read..]);
        let input = Tensor::new(&tokens[n_read..], &Device::Cpu)
            .unwrap()
            .unsqueeze(0)
            .unwrap();
        let expected = oracle.forward(&input, n_read).unwrap().squeeze(0).unwrap();
        n_read = tokens.len();
        let token = argmax(logits.last().unwrap());
        assert_eq!(token, argmax(&expected.to_vec1::<f32>().unwrap()));
        text.extend(model.vocabulary.piece(TokenId(token)).bytes);
        tokens.push(token);
    }
    let text = String::from_utf8(text).unwrap();
    assert!(text.starts_with(" lived in a small village."), "{text}");
}

#[test]
fn rounding_inputs_to_8_bits_leaves_its_perplexity_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("exact.gguf");
    write_widened(&path);
    std::fs::copy(TOKENIZER, folder.path().join("tokenizer.json")).unwrap();
    let to_the_end = &mut |_| ControlFlow::Continue(());
    let exact = open_path(&path, &Compute::on_cpu(), to_the_end);
    let exact = perplexity(&mut exact.unwrap().unwrap());
    let rounded = open_embedded(&Compute::on_cpu(), to_the_end);
    let rounded = perplexity(&mut rounded.unwrap().unwrap());
    assert!((5.0..60.0).contains(&exact), "{exact}");
    assert!(
        (rounded / exact - 1.0).abs() < 1e-3,
        "{rounded}, not {exact}"
    );
}

#[test]
fn keys_and_values_in_half_precision_leave_its_perplexity_as_it_is() {
    let to_the_end = &mut |_| ControlFlow::Continue(());
    let in_half = Compute {
        cache: CacheType::F16,
        ..Compute::on_cpu()
    };
    let found = [Compute::on_cpu(), in_half].map(|compute| {
        let opened = open_embedded(&compute, to_the_end);
        perplexity(&mut opened.unwrap().unwrap())
    });
    assert!(
        found[0].to_bits() != found[1].to_bits(),
        "the choice has an effect"
    );
    assert!((found[1] / found[0] - 1.0).abs() < 1e-3, "{found:?}");
}

/// The model's file with its weights in single precision, as what they stand for.
fn write_widened(path: &Path) {
    let mut file = File::open(FILE).unwrap();
    let content = gguf_file::Content::read(&mut file).unwrap();
    let names = content.tensor_infos.keys();
    let widened = names.map(|name| {
        let tensor = content.tensor(&mut file, name, &Device::Cpu).unwrap();
        let widened = tensor.dequantize(&Device::Cpu).unwrap();
        let widened = QTensor::quantize(&widened, GgmlDType::F32).unwrap();
        (name.as_str(), widened)
    });
    let tensors: Vec<(&str, QTensor)> = widened.collect();
    let metadata: Vec<_> = content
        .metadata
        .iter()
        .map(|(name, value)| (name.as_str(), value))
        .collect();
    let tensors: Vec<_> = tensors
        .iter()
        .map(|(name, tensor)| (*name, tensor))
        .collect();
    let mut written = File::create(path).unwrap();
    gguf_file::write(&mut written, &metadata, &tensors).unwrap();
}

/// Of all tokens of the texts but the first of each.
fn perplexity(model: &mut LoadedModel) -> f64 {
    let texts: Vec<String> = serde_json::from_str(WRITTEN).unwrap();
    let log_probs: Vec<f64> = texts
        .iter()
        .flat_map(|text| log_probs(model, text))
        .collect();
    assert!(log_probs.len() > 1500);
    (-log_probs.iter().sum::<f64>() / log_probs.len() as f64).exp()
}

fn log_probs(model: &mut LoadedModel, text: &str) -> Vec<f64> {
    let tokens = model.tokenizer.encode(text).unwrap();
    let tokens: Vec<u32> = tokens.iter().map(|token| token.0).collect();
    let sequence = model.lm.open();
    let logits = read(model.lm.as_mut(), sequence, &tokens);
    let steps = logits.iter().zip(&tokens[1..]);
    let log_prob = |(logits, token): (&Vec<f32>, &u32)| {
        let mass: f64 = logits.iter().map(|logit| f64::from(*logit).exp()).sum();
        f64::from(logits[*token as usize]) - mass.ln()
    };
    steps.map(log_prob).collect()
}
