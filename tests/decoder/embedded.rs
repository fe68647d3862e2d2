//! Tests the built-in model.

use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use candle_core::quantized::{GgmlDType, QTensor, gguf_file};
use candle_core::{Device, Tensor};
use candle_transformers::models::quantized_llama::ModelWeights;
use quartet::decoding::TokenId;
use quartet::engine::{Compute, LoadedModel, open_embedded, open_path};
use quartet::kernels::InputBits;
use quartet::kernels::attention::CacheType;

use crate::decoder::{argmax, read};

const PROMPT: &str = "Once upon a time there was a little fox who";
const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/assets/model/quartet-stories-q8_0.gguf"
);

const TOKENIZER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/model/tokenizer.json");

/// Texts that the model generated with weights in single precision: `quartet generate` with eight
/// prompts, pure sampling and a different seed for each.
const WRITTEN: &str = include_str!("written.json");

#[test]
fn it_opens_with_the_expected_facts_and_tokenizer() {
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
        (7_868_672, 384, 6144)
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
fn a_cancelled_load_stops_immediately() {
    for last in [0.0, 0.1, 0.3, 0.6, 1.0] {
        let mut n_late_reports = 0;
        let mut cancelled = false;
        let opened = open_embedded(&Compute::on_cpu(), &mut |fraction| {
            n_late_reports += usize::from(cancelled);
            cancelled |= fraction >= last;
            if cancelled {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        assert!(opened.unwrap().is_none(), "{last}");
        assert_eq!(n_late_reports, 0, "{last}");
    }
}

/// Both implementations use weights in single precision. With 8-bit weights, they would round
/// inputs differently, which can swap two tokens of nearly equal probability.
#[test]
fn its_greedy_story_matches_candle_transformers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("exact.gguf");
    write_widened(&path);
    std::fs::copy(TOKENIZER, folder.path().join("tokenizer.json")).unwrap();
    let keep_going = &mut |_| ControlFlow::Continue(());
    let opened = open_path(&path, &Compute::on_cpu(), keep_going);
    let mut model = opened.unwrap().unwrap();
    let mut file = File::open(&path).unwrap();
    let content = gguf_file::Content::read(&mut file).unwrap();
    let mut oracle = ModelWeights::from_gguf(content, &mut file, &Device::Cpu).unwrap();
    let prompt = model.tokenizer.encode(PROMPT).unwrap();
    let mut tokens: Vec<u32> = prompt.iter().map(|token| token.0).collect();
    let sequence = model.lm.open();
    let mut text = Vec::new();
    let mut n_read = 0;
    for step in 0..60 {
        let logits = read(model.lm.as_mut(), sequence, &tokens[n_read..]);
        let input = Tensor::new(&tokens[n_read..], &Device::Cpu)
            .unwrap()
            .unsqueeze(0)
            .unwrap();
        let expected = oracle.forward(&input, n_read).unwrap().squeeze(0).unwrap();
        n_read = tokens.len();
        let expected = expected.to_vec1::<f32>().unwrap();
        let found = logits.last().unwrap();
        let difference = expected.iter().zip(found).map(|(a, b)| (a - b).abs());
        let largest = difference.fold(0.0, f32::max);
        assert!(largest < 1e-3, "step {step}: {largest}");
        let token = argmax(found);
        assert_eq!(token, argmax(&expected), "step {step}");
        text.extend(model.vocabulary.piece(TokenId(token)).bytes);
        tokens.push(token);
    }
    let text = String::from_utf8(text).unwrap();
    assert!(
        text.starts_with(" lived in a hollow tree.\n\nThe fox wanted to give a bat a star."),
        "{text}"
    );
}

/// Compares the ten most likely tokens of each distribution with the same weights in single
/// precision.
#[test]
fn its_probabilities_match_those_of_its_dequantized_weights() {
    let keep_going = &mut |_| ControlFlow::Continue(());
    let mut open = |widens_weights| {
        let compute = Compute {
            widens_weights,
            ..Compute::on_cpu()
        };
        open_embedded(&compute, keep_going).unwrap().unwrap()
    };
    let (mut exact, mut default) = (open(true), open(false));
    let texts: Vec<String> = serde_json::from_str(WRITTEN).unwrap();
    let mut differences = Vec::new();
    for text in &texts {
        let (_, exact) = log_probs_of(&mut exact, text);
        let (_, found) = log_probs_of(&mut default, text);
        for (exact, found) in exact.iter().zip(&found) {
            let mut pairs: Vec<(f64, f64)> = exact.iter().copied().zip(found.clone()).collect();
            pairs.sort_by(|(a, _), (b, _)| b.total_cmp(a));
            let top = pairs.iter().take(10);
            differences.extend(top.map(|(exact, found)| (exact - found).abs()));
        }
    }
    let largest = differences.iter().copied().fold(0.0, f64::max);
    assert!(mean(&differences) < 5e-4, "{}", mean(&differences));
    assert!(largest < 0.01, "{largest}");
}

#[test]
fn rounding_inputs_to_8_bits_preserves_perplexity() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("exact.gguf");
    write_widened(&path);
    std::fs::copy(TOKENIZER, folder.path().join("tokenizer.json")).unwrap();
    let keep_going = &mut |_| ControlFlow::Continue(());
    let exact = open_path(&path, &Compute::on_cpu(), keep_going);
    let compute = Compute {
        inputs: InputBits::Eight,
        ..Compute::on_cpu()
    };
    let rounded = open_embedded(&compute, keep_going);
    let change = Change::between(&mut exact.unwrap().unwrap(), &mut rounded.unwrap().unwrap());
    change.assert_is_under_a_thousandth();
}

#[test]
fn quantizing_the_kv_cache_preserves_perplexity() {
    let keep_going = &mut |_| ControlFlow::Continue(());
    let mut open = |cache: CacheType| {
        let compute = Compute {
            cache,
            ..Compute::on_cpu()
        };
        open_embedded(&compute, keep_going).unwrap().unwrap()
    };
    let mut single = open(CacheType::F32);
    for coarser in [CacheType::F16, CacheType::Q8] {
        Change::between(&mut single, &mut open(coarser)).assert_is_under_a_thousandth();
    }
}

/// How reduced precision changes the model's predictions for the fixed texts.
#[derive(Debug)]
struct Change {
    /// Kullback-Leibler divergence of the coarser from the finer probabilities, in nats per token.
    /// It is the expected increase in log-perplexity for texts that the finer model generates.
    divergence: f64,
    /// The texts' perplexity under the finer model.
    perplexity: f64,
    /// The measured increase in log-perplexity, in nats per token.
    growth: f64,
    /// The standard error of `growth`, from its variance over the tokens.
    standard_error: f64,
}

impl Change {
    fn between(finer: &mut LoadedModel, coarser: &mut LoadedModel) -> Self {
        let texts: Vec<String> = serde_json::from_str(WRITTEN).unwrap();
        let (mut log_probs, mut growths, mut divergences) = (Vec::new(), Vec::new(), Vec::new());
        for text in &texts {
            let (tokens, fine) = log_probs_of(finer, text);
            let (_, coarse) = log_probs_of(coarser, text);
            for ((fine, coarse), next) in fine.iter().zip(&coarse).zip(&tokens[1..]) {
                let next = *next as usize;
                log_probs.push(fine[next]);
                growths.push(fine[next] - coarse[next]);
                let pairs = fine.iter().zip(coarse);
                divergences.push(pairs.map(|(p, q)| p.exp() * (p - q)).sum());
            }
        }
        assert!(growths.len() > 1500);
        let growth = mean(&growths);
        let squares: Vec<f64> = growths.iter().map(|x| (x - growth).powi(2)).collect();
        Self {
            divergence: mean(&divergences),
            perplexity: (-mean(&log_probs)).exp(),
            growth,
            standard_error: (mean(&squares) / growths.len() as f64).sqrt(),
        }
    }

    fn assert_is_under_a_thousandth(&self) {
        assert!((5.0..60.0).contains(&self.perplexity), "{self:?}");
        assert!((1e-9..1e-3).contains(&self.divergence), "{self:?}");
        let surprise = (self.growth - self.divergence).abs();
        assert!(surprise < 4.0 * self.standard_error, "{self:?}");
        assert!(self.standard_error < 2e-3, "{self:?}");
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Writes the model's file with its weights dequantized to single precision.
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

/// Returns the text's tokens, and the log-probs of the whole vocabulary after each of them.
fn log_probs_of(model: &mut LoadedModel, text: &str) -> (Vec<u32>, Vec<Vec<f64>>) {
    let tokens = model.tokenizer.encode(text).unwrap();
    let tokens: Vec<u32> = tokens.iter().map(|token| token.0).collect();
    let sequence = model.lm.open();
    let logits = read(model.lm.as_mut(), sequence, &tokens);
    let log_probs = |logits: &Vec<f32>| {
        let wide = logits.iter().map(|logit| f64::from(*logit));
        let mass: f64 = wide.clone().map(f64::exp).sum();
        wide.map(|logit| logit - mass.ln()).collect()
    };
    (tokens, logits.iter().map(log_probs).collect())
}

/// The message of a thinking budget is written as the model would read it.
#[test]
fn texts_are_spelled_in_the_tokens_that_the_tokenizer_makes_of_them() {
    let model = open_embedded(&Compute::on_cpu(), &mut |_| ControlFlow::Continue(()));
    let model = model.unwrap().unwrap();
    let texts: Vec<String> = serde_json::from_str(WRITTEN).unwrap();
    let mut n_unusual = 0;
    for sentence in texts.iter().flat_map(|text| text.split('.')) {
        let own = model.tokenizer.encode_continuation(sentence).unwrap();
        let fewest = model.vocabulary.spell_with_special(sentence);
        n_unusual += usize::from(fewest.is_some_and(|fewest| fewest != own));
        let spelled = model.vocabulary.tokenize(sentence).unwrap_or_default();
        assert_eq!(spelled, own, "{sentence:?}");
    }
    assert!(n_unusual > 0);
    let vocabulary = Arc::clone(&model.vocabulary);
    drop(model);
    // Without its tokenizer.
    assert!(vocabulary.tokenize(" Time is up").is_some());
}
