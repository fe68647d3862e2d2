//! However a text is read, models with recurrent layers compute the same bits; and they compute
//! what transformers does.

use std::path::{Path, PathBuf};

use candle_core::{DType, Device};

use super::states::RecurrentStates;
use crate::decoding::TokenId;
use crate::engine::decoder::architecture_tests::{cpu, tensors};
use crate::engine::{CausalLm, Precision, Row, SequenceId};

/// Those with recurrent layers, and two whose attention is not the usual one.
const FIXTURES: [&str; 11] = [
    "falcon_h1",
    "falcon_h1-plain",
    "falcon_mamba",
    "gemma3n",
    "granite4-h",
    "lfm2",
    "mamba",
    "mamba2",
    "minicpm3",
    "nemotron_h",
    "qwen3_5",
];

fn folder(name: &str) -> PathBuf {
    let root = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/architectures/fixtures"
    );
    Path::new(root).join(name)
}

/// Opens each fixture in both formats.
fn models() -> impl Iterator<Item = (&'static str, Box<dyn CausalLm>)> {
    let forms = FIXTURES
        .iter()
        .flat_map(|name| [(*name, false), (*name, true)]);
    forms.map(|(name, is_gguf)| (name, cpu(&folder(name), is_gguf)))
}

/// Returns 40 tokens.
fn text() -> Vec<u32> {
    (0..40).map(|i| 3 + i * 17 % 61).collect()
}

fn read(lm: &mut dyn CausalLm, sequence: SequenceId, tokens: &[u32]) -> Vec<f32> {
    let rows: Vec<Row> = tokens.iter().map(|token| row(sequence, *token)).collect();
    let logits = lm.forward(&rows).unwrap();
    let rows = (0..logits.n_rows()).flat_map(|index| logits.row(index).unwrap().to_vec());
    rows.collect()
}

fn row(sequence: SequenceId, token: u32) -> Row {
    Row {
        sequence,
        token: TokenId(token),
        logits_wanted: true,
    }
}

/// Reads a text into a new sequence, one token at a time.
fn one_by_one(lm: &mut dyn CausalLm, tokens: &[u32]) -> Vec<f32> {
    let sequence = lm.open();
    let logits = tokens
        .iter()
        .flat_map(|token| read(lm, sequence, &[*token]));
    let logits = logits.collect();
    lm.close(sequence);
    logits
}

#[track_caller]
fn assert_same_bits(found: &[f32], expected: &[f32], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<u32>>();
    let different = bits(found)
        .iter()
        .zip(bits(expected))
        .position(|(a, b)| *a != b);
    assert_eq!(different, None, "{what}");
}

#[test]
fn chunks_of_any_size_give_the_same_bits() {
    for (name, mut lm) in models() {
        let expected = one_by_one(&mut *lm, &text());
        for n_tokens in [2, 3, 7, 16, 40] {
            let sequence = lm.open();
            let chunks = text();
            let chunks = chunks.chunks(n_tokens);
            let found: Vec<f32> = chunks
                .flat_map(|chunk| read(&mut *lm, sequence, chunk))
                .collect();
            assert_same_bits(&found, &expected, &format!("{name}, {n_tokens}"));
        }
    }
}

#[test]
fn going_back_to_any_length_gives_the_same_bits() {
    for (name, mut lm) in models() {
        let text = text();
        let expected = one_by_one(&mut *lm, &text);
        let n_vocab = lm.n_vocab();
        for chunk in [1, 7, 40] {
            let sequence = lm.open();
            for tokens in text.chunks(chunk) {
                read(&mut *lm, sequence, tokens);
            }
            for n in (0..40).rev() {
                lm.truncate(sequence, n).unwrap();
                assert_eq!(lm.n_read(sequence), n);
                let fork = lm.fork(sequence).unwrap();
                let found = read(&mut *lm, fork, &text[n..]);
                let what = format!("{name}, back to {n} of chunks of {chunk}");
                assert_same_bits(&found, &expected[n * n_vocab..], &what);
                lm.close(fork);
            }
        }
    }
}

#[test]
fn rejected_drafts_leave_no_trace() {
    for (name, mut lm) in models() {
        let text = text();
        let expected = one_by_one(&mut *lm, &text);
        let n_vocab = lm.n_vocab();
        let sequence = lm.open();
        let mut found = Vec::new();
        let mut n_done = 0;
        for n_right in (0..4).cycle() {
            // The next token, some right drafts, and as many wrong ones.
            let n_rows = (1 + n_right).min(text.len() - n_done);
            let mut tokens = text[n_done..n_done + n_rows].to_vec();
            tokens.extend([5, 9, 4]);
            let logits = read(&mut *lm, sequence, &tokens);
            found.extend_from_slice(&logits[..n_rows * n_vocab]);
            n_done += n_rows;
            lm.truncate(sequence, n_done).unwrap();
            if n_done == text.len() {
                break;
            }
        }
        assert_same_bits(&found, &expected, name);
    }
}

#[test]
fn batches_of_forks_give_the_same_bits_as_single_texts() {
    for (name, mut lm) in models() {
        let (prompt, others) = (
            [7, 8, 9, 10, 11],
            [[20, 21, 22], [30, 31, 32], [40, 41, 42]],
        );
        let first = lm.open();
        read(&mut *lm, first, &prompt);
        let forks: Vec<SequenceId> = others.iter().map(|_| lm.fork(first).unwrap()).collect();
        let mut found = vec![Vec::new(); others.len()];
        for step in 0..3 {
            let sequences = forks.iter().zip(&others);
            let rows: Vec<Row> = sequences
                .map(|(fork, tokens)| row(*fork, tokens[step]))
                .collect();
            let logits = lm.forward(&rows).unwrap();
            for (index, found) in found.iter_mut().enumerate() {
                found.extend_from_slice(logits.row(index).unwrap());
            }
        }
        for (found, tokens) in found.iter().zip(&others) {
            let whole = [&prompt[..], tokens].concat();
            let expected = one_by_one(&mut *lm, &whole);
            let n_prompt = prompt.len() * lm.n_vocab();
            assert_same_bits(found, &expected[n_prompt..], name);
        }
    }
}

/// Opens, forks, truncates and closes sequences at random, reads some of them together, and compares
/// each row with a new sequence that reads the same text.
#[test]
fn any_history_gives_the_bits_of_its_text() {
    for (name, mut lm) in models() {
        let mut state = 7_u64;
        let mut below = |n: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as usize % n
        };
        let mut open: Vec<(SequenceId, Vec<u32>)> = vec![(lm.open(), Vec::new())];
        for _ in 0..40 {
            let chosen = below(open.len());
            let (sequence, tokens) = open[chosen].clone();
            match below(5) {
                0 | 1 if open.len() < 5 => open.push((lm.fork(sequence).unwrap(), tokens)),
                2 => {
                    let n = below(tokens.len() + 1);
                    lm.truncate(sequence, n).unwrap();
                    open[chosen].1.truncate(n);
                }
                3 if open.len() > 1 => {
                    lm.close(sequence);
                    open.remove(chosen);
                }
                _ => {}
            }
            let mut rows = Vec::new();
            for (sequence, tokens) in &mut open {
                for _ in 0..below(5).min(48 - tokens.len()) {
                    let token = 3 + below(61) as u32;
                    tokens.push(token);
                    rows.push(row(*sequence, token));
                }
            }
            let logits = lm.forward(&rows).unwrap();
            for (sequence, tokens) in &open {
                let last = rows.iter().rposition(|row| row.sequence == *sequence);
                let Some(found) = last.and_then(|last| logits.row(last)) else {
                    continue;
                };
                let expected = one_by_one(&mut *lm, tokens);
                let n_before = expected.len() - lm.n_vocab();
                assert_same_bits(found, &expected[n_before..], name);
            }
        }
    }
}

#[test]
fn both_backends_agree_with_transformers() {
    for name in FIXTURES {
        let path = folder(name).join("expected.safetensors");
        let expected = candle_core::safetensors::load(path, &Device::Cpu).unwrap();
        let tokens = expected["tokens"].to_dtype(DType::U32).unwrap();
        let tokens: Vec<u32> = tokens.to_vec1().unwrap();
        for is_gguf in [false, true] {
            let in_gguf = expected.get("gguf_logits").filter(|_| is_gguf);
            let logits = in_gguf.unwrap_or(&expected["logits"]);
            let logits: Vec<Vec<f32>> = logits.to_vec2().unwrap();
            let on_tensors = tensors(&folder(name), is_gguf, Precision::F32);
            for mut lm in [cpu(&folder(name), is_gguf), on_tensors] {
                let sequence = lm.open();
                let found = read(&mut *lm, sequence, &tokens);
                for (found, expected) in found.chunks(lm.n_vocab()).zip(&logits) {
                    let differences = log_probs(found)
                        .into_iter()
                        .zip(log_probs(expected))
                        .map(|(a, b)| (a - b).abs());
                    let largest = differences.fold(0.0, f64::max);
                    assert!(largest < 3e-4, "{name}, {is_gguf}: {largest}");
                }
            }
        }
    }
}

fn log_probs(logits: &[f32]) -> Vec<f64> {
    let sum: f64 = logits.iter().map(|x| f64::from(*x).exp()).sum();
    logits.iter().map(|x| f64::from(*x) - sum.ln()).collect()
}

#[test]
fn a_long_text_keeps_a_state_every_64_tokens() {
    let mut lm = cpu(&folder("lfm2"), false);
    let tokens: Vec<u32> = (0..250).map(|i| 3 + i * 17 % 61).collect();
    // Two layers with windows of two tokens, in 32 bits.
    let n_state_bytes = 2 * 2 * 32 * 4;
    assert_eq!(lm.cache_shape().unwrap().n_state_bytes, n_state_bytes);
    let sequence = lm.open();
    for token in &tokens {
        read(&mut *lm, sequence, &[*token]);
    }
    let n_before = lm.n_cache_bytes(&[sequence]).unwrap();
    let n_kept = lm.truncate_for(sequence, 200, 250).unwrap();
    assert_eq!((n_kept, lm.n_read(sequence)), (192, 192));
    // The state after the last token is gone; that after 192 is both the current and a kept one.
    let n_after = lm.n_cache_bytes(&[sequence]).unwrap();
    assert_eq!(n_before - n_after, n_state_bytes);
}

#[test]
fn a_failed_pass_falls_back_to_the_latest_kept_state() {
    let mut states = RecurrentStates::default();
    let write = |states: &mut RecurrentStates, n_read: usize, value: f32| {
        states.begin_pass(n_read, 2, n_read);
        states.layer_mut(0, 3, n_read).state.fill(value);
    };
    write(&mut states, 0, 1.0);
    states.end_pass();
    write(&mut states, 2, 2.0);
    assert_eq!(states.restore(2), 2);
    assert_same_bits(states.layer_mut(0, 3, 2).state, &[1.0; 3], "at 2");
    assert_eq!(states.restore(1), 0);
    assert_same_bits(states.layer_mut(0, 3, 0).state, &[0.0; 3], "at 0");
}

#[test]
fn large_states_are_kept_only_as_far_as_memory_allows() {
    let mut states = RecurrentStates::default();
    // 12 MiB each: two of them are within the limit.
    let n_values = 3 << 20;
    for n_read in (0..20).map(|index| 64 * index) {
        states.begin_pass(n_read, 64, n_read);
        states.layer_mut(0, n_values, n_read).state.fill(1.0);
        states.end_pass();
    }
    let n_bytes: u64 = states.held().map(|(_, n_bytes)| n_bytes).sum();
    assert_eq!(n_bytes, 3 * 4 * n_values as u64);
}
