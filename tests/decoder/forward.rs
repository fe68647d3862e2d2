//! A single sequence has the same logits as in candle-transformers, however it is prefilled.

use std::collections::HashMap;

use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::llama::{Cache, Llama, LlamaConfig};

use crate::decoder::fixture::{N_VOCAB, config, open, weights, write_folder, write_gguf};
use crate::decoder::{assert_near, read};

const TOKENS: [u32; 12] = [1, 17, 4, 33, 49, 8, 8, 21, 0, 12, 40, 5];

/// Returns candle-transformers' logits after each token, with weights rounded by `round`.
fn expected(tied: bool, round: impl Fn(Tensor) -> candle_core::Result<Tensor>) -> Vec<Vec<f32>> {
    let device = Device::Cpu;
    let config: LlamaConfig = serde_json::from_value(config(tied)).unwrap();
    let config = config.into_config(false);
    let weights = weights(tied)
        .into_iter()
        .map(|(name, tensor)| (name, round(tensor).unwrap()));
    let weights = VarBuilder::from_tensors(weights.collect(), DType::F32, &device);
    let model = Llama::load(weights, &config).unwrap();
    let mut cache = Cache::new(true, DType::F32, &config, &device).unwrap();
    let step = |(position, token): (usize, &u32)| {
        let input = Tensor::new(&[[*token]], &device).unwrap();
        let logits = model.forward(&input, position, &mut cache).unwrap();
        logits.squeeze(0).unwrap().to_vec1().unwrap()
    };
    TOKENS.iter().enumerate().map(step).collect()
}

#[test]
fn logits_match_candle_transformers_for_every_chunk_size() {
    for tied in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        write_folder(folder.path(), tied, DType::F32);
        let mut model = open(folder.path()).unwrap();
        let expected = expected(tied, Ok);
        for n_chunk in [TOKENS.len(), 5, 3, 1] {
            let sequence = model.lm.open();
            let chunks = TOKENS.chunks(n_chunk);
            let logits: Vec<_> = chunks
                .flat_map(|tokens| read(model.lm.as_mut(), sequence, tokens))
                .collect();
            assert_near(&logits, &expected, 1e-4);
            assert_eq!(model.lm.n_read(sequence), TOKENS.len());
        }
    }
}

/// As in transformers 5.24: a head that is stored counts if it differs from the table.
#[test]
fn a_stored_head_counts_although_the_configuration_ties_it() {
    let folder = tempfile::tempdir().unwrap();
    let answer = || {
        let mut model = open(folder.path()).unwrap();
        let sequence = model.lm.open();
        (
            read(model.lm.as_mut(), sequence, &TOKENS),
            model.info.n_params,
        )
    };
    write_folder(folder.path(), false, DType::F32);
    let own_head = answer();
    std::fs::write(folder.path().join("config.json"), config(true).to_string()).unwrap();
    assert_eq!(answer(), own_head);

    write_folder(folder.path(), true, DType::F32);
    let tied = answer();
    let mut stored: HashMap<String, Tensor> = weights(true).into_iter().collect();
    let head = stored["model.embed_tokens.weight"].clone();
    stored.insert("lm_head.weight".to_owned(), head);
    let file = folder.path().join("model.safetensors");
    candle_core::safetensors::save(&stored, &file).unwrap();
    assert_eq!(answer(), tied);

    // A difference in the last value counts.
    let mut values: Vec<f32> = stored["lm_head.weight"]
        .flatten_all()
        .unwrap()
        .to_vec1()
        .unwrap();
    *values.last_mut().unwrap() += 1.0;
    let shape = stored["lm_head.weight"].shape().clone();
    let head = Tensor::from_vec(values, shape, &Device::Cpu).unwrap();
    stored.insert("lm_head.weight".to_owned(), head);
    candle_core::safetensors::save(&stored, &file).unwrap();
    let (logits, n_params) = answer();
    assert!(n_params > tied.1);
    let n_differing = logits.iter().zip(&tied.0).filter(|(a, b)| a != b).count();
    assert_eq!(n_differing, TOKENS.len());
}

#[test]
fn half_precision_weights_are_multiplied_in_single_precision() {
    for dtype in [DType::F16, DType::BF16] {
        let folder = tempfile::tempdir().unwrap();
        write_folder(folder.path(), false, dtype);
        let mut model = open(folder.path()).unwrap();
        let sequence = model.lm.open();
        let logits = read(model.lm.as_mut(), sequence, &TOKENS);
        let rounded = |tensor: Tensor| tensor.to_dtype(dtype)?.to_dtype(DType::F32);
        assert_near(&logits, &expected(false, rounded), 1e-4);
    }
}

#[test]
fn gguf_and_safetensors_of_the_same_weights_agree() {
    for tied in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let path = write_gguf(folder.path(), tied, GgmlDType::F32, &[]);
        let mut model = open(&path).unwrap();
        let sequence = model.lm.open();
        let logits = read(model.lm.as_mut(), sequence, &TOKENS);
        assert_near(&logits, &expected(tied, Ok), 1e-4);
    }
}

#[test]
fn quantized_weights_produce_the_logits_of_their_dequantized_values() {
    // Inputs are rounded to 16 bits with one scale per 32 values.
    for dtype in [GgmlDType::Q8_0, GgmlDType::Q4_0] {
        let folder = tempfile::tempdir().unwrap();
        let path = write_gguf(folder.path(), true, dtype, &[]);
        let mut model = open(&path).unwrap();
        assert_eq!(model.info.quantization, format!("{dtype:?}"));
        let sequence = model.lm.open();
        let logits = read(model.lm.as_mut(), sequence, &TOKENS);
        let rounded = |tensor: Tensor| match tensor.rank() {
            1 => Ok(tensor),
            _ => QTensor::quantize(&tensor, dtype)?.dequantize(&Device::Cpu),
        };
        let expected = expected(true, rounded);
        let largest = expected
            .iter()
            .flatten()
            .fold(0.0_f32, |max, logit| max.max(logit.abs()));
        assert_near(&logits, &expected, 0.0005 * largest);
    }
}

#[test]
fn only_the_requested_rows_have_logits() {
    let folder = tempfile::tempdir().unwrap();
    write_folder(folder.path(), false, DType::F32);
    let mut model = open(folder.path()).unwrap();
    let sequence = model.lm.open();
    let mut rows: Vec<_> = TOKENS
        .iter()
        .map(|token| crate::decoder::row(sequence, *token))
        .collect();
    for (index, row) in rows.iter_mut().enumerate() {
        row.logits_wanted = index == 4 || index == 9;
    }
    let logits = crate::decoder::read_rows(model.lm.as_mut(), &rows);
    let expected = expected(false, Ok);
    assert_near(&logits, &[expected[4].clone(), expected[9].clone()], 1e-4);
    rows.truncate(2);
    assert!(crate::decoder::read_rows(model.lm.as_mut(), &rows).is_empty());
    assert_eq!(model.lm.n_read(sequence), TOKENS.len() + 2);
    assert_eq!(model.lm.n_vocab(), N_VOCAB);
}
