//! Several sequences: batches, forks, truncation, and the state after an error.

use candle_core::DType;
use candle_core::quantized::GgmlDType;
use quartet::decoding::TokenId;
use quartet::engine::{EngineError, LoadedModel, SequenceId};

use crate::decoder::fixture::{N_CONTEXT, N_VOCAB, open, write_folder, write_gguf};
use crate::decoder::{assert_near, read, read_rows, row};

fn model() -> LoadedModel {
    let folder = tempfile::tempdir().unwrap();
    write_folder(folder.path(), true, DType::F32);
    open(folder.path()).unwrap()
}

/// Returns the logits of a new sequence with these tokens.
fn fresh(model: &mut LoadedModel, tokens: &[u32]) -> Vec<Vec<f32>> {
    let sequence = model.lm.open();
    let logits = read(model.lm.as_mut(), sequence, tokens);
    model.lm.close(sequence);
    logits
}

#[test]
fn a_batch_computes_the_same_logits_as_separate_sequences() {
    let mut model = model();
    let texts: [&[u32]; 3] = [&[1, 5, 9, 33, 2, 7], &[1, 8], &[4, 4, 4, 30]];
    let sequences: Vec<SequenceId> = texts.iter().map(|_| model.lm.open()).collect();
    // Interleave the rows of the three texts.
    let mut rows = Vec::new();
    let mut owners = Vec::new();
    for index in 0..6 {
        for (owner, text) in texts.iter().enumerate() {
            if let Some(token) = text.get(index) {
                rows.push(row(sequences[owner], *token));
                owners.push(owner);
            }
        }
    }
    let logits = read_rows(model.lm.as_mut(), &rows);
    for (owner, text) in texts.iter().enumerate() {
        let found: Vec<_> = logits
            .iter()
            .zip(&owners)
            .filter(|(_, row_owner)| **row_owner == owner)
            .map(|(logits, _)| logits.clone())
            .collect();
        assert_near(&found, &fresh(&mut model, text), 1e-4);
    }
}

#[test]
fn a_small_quantized_model_computes_the_same_bits_alone_and_in_a_batch() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_gguf(folder.path(), true, GgmlDType::Q8_0, &[]);
    let mut model = open(&path).unwrap();
    let alone: Vec<_> = [3, 9, 27, 41]
        .map(|token| fresh(&mut model, &[1, token]))
        .into();
    let rows: Vec<_> = [3, 9, 27, 41]
        .into_iter()
        .flat_map(|token| {
            let sequence = model.lm.open();
            [row(sequence, 1), row(sequence, token)]
        })
        .collect();
    assert_eq!(read_rows(model.lm.as_mut(), &rows), alone.concat());
}

#[test]
fn a_fork_equals_a_fresh_run_and_leaves_its_parent_untouched() {
    let mut model = model();
    let parent = model.lm.open();
    read(model.lm.as_mut(), parent, &[1, 5, 9, 33, 2]);
    let child = model.lm.fork(parent).unwrap();
    let grandchild = {
        read(model.lm.as_mut(), child, &[7, 8]);
        model.lm.fork(child).unwrap()
    };
    let middle = model.lm.fork(child).unwrap();
    model.lm.truncate(middle, 3).unwrap();
    for (sequence, next, tokens) in [
        (middle, 40, vec![1, 5, 9, 40]),
        (grandchild, 11, vec![1, 5, 9, 33, 2, 7, 8, 11]),
        (child, 12, vec![1, 5, 9, 33, 2, 7, 8, 12]),
        (parent, 13, vec![1, 5, 9, 33, 2, 13]),
        (middle, 14, vec![1, 5, 9, 40, 14]),
        (parent, 15, vec![1, 5, 9, 33, 2, 13, 15]),
        (grandchild, 16, vec![1, 5, 9, 33, 2, 7, 8, 11, 16]),
    ] {
        let found = read(model.lm.as_mut(), sequence, &[next]);
        let expected = fresh(&mut model, &tokens);
        assert_near(&found, &expected[tokens.len() - 1..], 1e-4);
        assert_eq!(model.lm.n_read(sequence), tokens.len());
    }
}

#[test]
fn forks_outlive_their_parent() {
    let mut model = model();
    let parent = model.lm.open();
    read(model.lm.as_mut(), parent, &[1, 5, 9]);
    let child = model.lm.fork(parent).unwrap();
    model.lm.close(parent);
    let found = read(model.lm.as_mut(), child, &[6]);
    let expected = fresh(&mut model, &[1, 5, 9, 6]);
    assert_near(&found, &expected[3..], 1e-4);
    assert!(matches!(
        model.lm.fork(parent),
        Err(EngineError::UnknownSequence(_))
    ));
    assert_eq!(model.lm.n_read(parent), 0);
}

#[test]
fn truncated_tokens_do_not_affect_later_logits() {
    let mut model = model();
    for n_kept in 0..=6 {
        let sequence = model.lm.open();
        read(model.lm.as_mut(), sequence, &[1, 5, 9, 33, 2, 7]);
        model.lm.truncate(sequence, n_kept).unwrap();
        let found = read(model.lm.as_mut(), sequence, &[30, 31]);
        let mut tokens = [1, 5, 9, 33, 2, 7][..n_kept].to_vec();
        tokens.extend([30, 31]);
        let expected = fresh(&mut model, &tokens);
        assert_near(&found, &expected[n_kept..], 1e-4);
    }
}

#[test]
fn a_failed_forward_pass_leaves_the_sequence_unchanged() {
    let mut model = model();
    let sequence = model.lm.open();
    let other = model.lm.open();
    read(model.lm.as_mut(), sequence, &[1, 5]);
    let unknown = row(other, N_VOCAB as u32);
    let error = model.lm.forward(&[row(sequence, 3), unknown]).unwrap_err();
    assert!(matches!(
        error,
        EngineError::UnknownToken {
            token: 50,
            n_vocab: 50
        }
    ));
    let closed = row(SequenceId(999), 3);
    let error = model.lm.forward(&[row(sequence, 3), closed]).unwrap_err();
    assert!(matches!(error, EngineError::UnknownSequence(999)));
    assert_eq!(model.lm.n_read(sequence), 2);
    let found = read(model.lm.as_mut(), sequence, &[9]);
    let expected = fresh(&mut model, &[1, 5, 9]);
    assert_near(&found, &expected[2..], 1e-4);
}

#[test]
fn the_context_can_be_filled_but_not_exceeded() {
    let mut model = model();
    let sequence = model.lm.open();
    let tokens: Vec<u32> = (0..N_CONTEXT as u32).map(|i| i % 50).collect();
    read(model.lm.as_mut(), sequence, &tokens);
    let error = model.lm.forward(&[row(sequence, 3)]).unwrap_err();
    assert!(matches!(
        error,
        EngineError::ContextFull { n_max: N_CONTEXT }
    ));
    assert_eq!(model.lm.n_read(sequence), N_CONTEXT);
    assert_eq!(model.lm.n_context(), N_CONTEXT);
}

#[test]
fn facts_and_end_tokens_come_from_the_files_that_count() {
    let mut model = model();
    // 2 and 4 from the config, 5 from the generation config, 3 by its name.
    // One from generation_config.json, which replaces those of config.json, and two by their names.
    assert_eq!(model.end_tokens, [2, 3, 5].map(TokenId));
    let warning = model.load_warning.as_deref().unwrap_or_default();
    let contradiction =
        "config.json says that token 2 ends a text, and generation_config.json does not";
    assert!(warning.starts_with(contradiction), "{warning}");
    let info = &model.info;
    let n_layer = 64 * 64 * 2 + 64 * 32 * 2 + 3 * 64 * 96 + 2 * 64;
    assert_eq!(info.n_params, 50 * 64 + 64 + 2 * n_layer);
    assert_eq!(
        (info.quantization.as_str(), info.device.as_str()),
        ("F32", "CPU")
    );
    assert_eq!((info.n_vocab, info.n_context), (50, 64));
    assert_eq!(info.file, "model.safetensors");
    assert_eq!(info.sha256.len(), 64);
    assert!(read_rows(model.lm.as_mut(), &[]).is_empty());
}
