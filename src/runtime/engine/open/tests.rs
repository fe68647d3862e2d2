//! Checks every GGUF data type on both backends: the logits must match those of the same weights in
//! full precision, up to the rounding of the inputs of matrix products.

use std::io::Cursor;
use std::ops::ControlFlow;

use candle_core::quantized::gguf_file::{self, Value};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Tensor};

use super::{Architecture, Gguf, LocatedModel};
use crate::decoding::TokenId;
use crate::engine::blueprint::Blueprint;
use crate::engine::decoder::Decoder;
use crate::engine::weights::Source;
use crate::engine::{CausalLm, Compute, Precision, Row};

const HIDDEN: usize = 256;
/// Not a multiple of the 256 values of a block.
const FFN: usize = 320;
const N_VOCAB: usize = 48;

/// The matrices of the model: name, rows, columns.
const MATRICES: [(&str, usize, usize); 8] = [
    ("token_embd", N_VOCAB, HIDDEN),
    ("blk.0.attn_q", HIDDEN, HIDDEN),
    ("blk.0.attn_k", 128, HIDDEN),
    ("blk.0.attn_v", 128, HIDDEN),
    ("blk.0.attn_output", HIDDEN, HIDDEN),
    ("blk.0.ffn_gate", FFN, HIDDEN),
    ("blk.0.ffn_up", FFN, HIDDEN),
    ("blk.0.ffn_down", HIDDEN, FFN),
];

/// Returns the type that llama.cpp falls back to if the rows of a tensor are not whole blocks.
fn fallback(dtype: GgmlDType, width: usize) -> GgmlDType {
    if width.is_multiple_of(dtype.block_size()) {
        return dtype;
    }
    match dtype {
        GgmlDType::Q2K | GgmlDType::Q3K => GgmlDType::Q4_0,
        GgmlDType::Q4K => GgmlDType::Q5_0,
        GgmlDType::Q5K => GgmlDType::Q5_1,
        _ => GgmlDType::Q8_0,
    }
}

/// Creates the model's weights, each stored in the type that `dtype_of` returns.
fn weights(dtype_of: impl Fn(&str) -> GgmlDType) -> Vec<(String, QTensor)> {
    let mut state = 7_u32;
    let mut next = move || {
        // The generator from Numerical Recipes.
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f32::from((state >> 16) as u16) / 32_768.0 - 1.0
    };
    let mut tensors = Vec::new();
    for (name, n_rows, width) in MATRICES {
        let values: Vec<f32> = (0..n_rows * width).map(|_| 0.1 * next()).collect();
        let values = Tensor::from_vec(values, (n_rows, width), &Device::Cpu).unwrap();
        let dtype = fallback(dtype_of(name), width);
        tensors.push((
            format!("{name}.weight"),
            QTensor::quantize(&values, dtype).unwrap(),
        ));
    }
    for name in ["output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"] {
        let ones = Tensor::ones(HIDDEN, candle_core::DType::F32, &Device::Cpu).unwrap();
        let ones = QTensor::quantize(&ones, GgmlDType::F32).unwrap();
        tensors.push((format!("{name}.weight"), ones));
    }
    tensors
}

fn dequantized(tensors: &[(String, QTensor)]) -> Vec<(String, QTensor)> {
    let dequantize =
        |tensor: &QTensor| QTensor::quantize(&tensor.dequantize(&Device::Cpu)?, GgmlDType::F32);
    let dequantize =
        |(name, tensor): &(String, QTensor)| (name.clone(), dequantize(tensor).unwrap());
    tensors.iter().map(dequantize).collect()
}

/// Writes a model with these weights, and locates it.
fn located(tensors: &[(String, QTensor)]) -> LocatedModel {
    let number = |value: usize| Value::U32(value as u32);
    let metadata = [
        ("general.architecture", Value::String("llama".to_owned())),
        ("llama.embedding_length", number(HIDDEN)),
        ("llama.feed_forward_length", number(FFN)),
        ("llama.block_count", number(1)),
        ("llama.attention.head_count", number(4)),
        ("llama.attention.head_count_kv", number(2)),
        ("llama.context_length", number(32)),
        ("llama.attention.layer_norm_rms_epsilon", Value::F32(1e-5)),
    ];
    let metadata: Vec<_> = metadata.iter().map(|(key, value)| (*key, value)).collect();
    let tensors: Vec<_> = tensors
        .iter()
        .map(|(name, tensor)| (name.as_str(), tensor))
        .collect();
    let mut file = Cursor::new(Vec::new());
    gguf_file::write(&mut file, &metadata, &tensors).unwrap();
    let source = Source::memory(file.into_inner(), "");
    Gguf::from_source(source, "", "", None)
        .unwrap()
        .locate()
        .unwrap()
}

/// Returns the logits after each of a few tokens.
fn logits(lm: &mut dyn CausalLm) -> Vec<f32> {
    let sequence = lm.open();
    let rows = [1, 17, 4, 33, 40].map(|token| Row {
        sequence,
        token: TokenId(token),
        logits_wanted: true,
    });
    let logits = lm.forward(&rows).unwrap();
    let rows = (0..logits.n_rows()).filter_map(|row| logits.row(row));
    rows.flatten().copied().collect()
}

fn blueprint(architecture: Architecture) -> Blueprint {
    match architecture {
        Architecture::Quartet(blueprint) => *blueprint,
        Architecture::Candle(_) => panic!("our own decoder should support this model"),
    }
}

/// Returns the logits of the CPU backend and of the tensor backend.
fn both_backends(tensors: &[(String, QTensor)]) -> [Vec<f32>; 2] {
    let located = located(tensors);
    let mut progress = |_| ControlFlow::Continue(());
    let mut checkpoint = located.catalog.open(&mut progress);
    let mut lm = Decoder::on_cpu(
        blueprint(located.architecture),
        &mut checkpoint,
        &Compute::on_cpu(),
    )
    .unwrap();
    let on_cpu = logits(&mut lm);
    [on_cpu, on_tensors(tensors, Precision::F32)]
}

/// Returns the logits of the tensor backend.
fn on_tensors(tensors: &[(String, QTensor)], precision: Precision) -> Vec<f32> {
    let located = located(tensors);
    let mut progress = |_| ControlFlow::Continue(());
    let mut checkpoint = located.catalog.open(&mut progress);
    let blueprint = blueprint(located.architecture);
    let lm = Decoder::on_device(blueprint, &mut checkpoint, Device::Cpu, precision);
    logits(&mut lm.unwrap())
}

/// Returns the root mean square of the differences divided by that of the expected logits.
fn relative_error(found: &[f32], expected: &[f32]) -> f32 {
    let square = |values: &mut dyn Iterator<Item = f32>| -> f32 { values.map(|x| x * x).sum() };
    let differences = &mut found.iter().zip(expected).map(|(a, b)| a - b);
    (square(differences) / square(&mut expected.iter().copied())).sqrt()
}

fn check(dtype_of: impl Fn(&str) -> GgmlDType, tolerance: f32, quantization: &str) {
    let tensors = weights(dtype_of);
    assert_eq!(located(&tensors).catalog.quantization(), quantization);
    let [expected, _] = both_backends(&dequantized(&tensors));
    let [ours, candles] = both_backends(&tensors).map(|found| {
        assert_eq!(found.len(), 5 * N_VOCAB);
        let error = relative_error(&found, &expected);
        assert!(error < tolerance, "{quantization}: {error}");
        error
    });
    // The tolerance allows for chance differences between errors of the same size.
    assert!(
        ours < 1.2 * candles.max(1e-6),
        "{quantization}: {ours}, candle’s {candles}"
    );
}

#[test]
fn every_type_yields_the_logits_of_its_dequantized_weights() {
    // Products with floating-point weights don't round their inputs. The others round them to 8
    // bits, in blocks of 32 or 256 values that share a scale.
    for (dtype, tolerance, quantization) in [
        (GgmlDType::F32, 1e-5, "F32"),
        (GgmlDType::F16, 1e-5, "F16"),
        (GgmlDType::BF16, 1e-5, "BF16"),
        (GgmlDType::Q4_0, 0.02, "Q4_0"),
        (GgmlDType::Q4_1, 0.02, "Q4_1"),
        (GgmlDType::Q5_0, 0.02, "Q5_0"),
        (GgmlDType::Q5_1, 0.02, "Q5_1"),
        (GgmlDType::Q8_0, 0.02, "Q8_0"),
        (GgmlDType::Q8_1, 0.02, "Q8_1"),
        (GgmlDType::Q2K, 0.02, "Q2_K"),
        (GgmlDType::Q3K, 0.02, "Q3_K"),
        (GgmlDType::Q4K, 0.02, "Q4_K"),
        (GgmlDType::Q5K, 0.02, "Q5_K"),
        (GgmlDType::Q6K, 0.02, "Q6_K"),
        (GgmlDType::Q8K, 0.02, "Q8_K"),
    ] {
        check(|_| dtype, tolerance, quantization);
    }
}

#[test]
fn a_file_can_mix_types() {
    // As in Q4_K_M, the most sensitive tensors get more bits.
    let mixed = |name: &str| match name {
        "blk.0.attn_v" | "token_embd" => GgmlDType::Q6K,
        "blk.0.ffn_gate" => GgmlDType::BF16,
        _ => GgmlDType::Q4K,
    };
    check(mixed, 0.02, "Q4_K");
}

#[test]
fn half_precision_leaves_quantized_weights_unchanged() {
    for dtype in [GgmlDType::Q8_0, GgmlDType::Q4K] {
        let tensors = weights(|_| dtype);
        let expected = on_tensors(&dequantized(&tensors), Precision::F32);
        // In any precision, these products round their inputs to 8 bits.
        for (precision, tolerance) in [(Precision::Bf16, 0.04), (Precision::F16, 0.02)] {
            let error = relative_error(&on_tensors(&tensors, precision), &expected);
            assert!(
                error < tolerance,
                "{dtype:?} in {}: {error}",
                precision.name()
            );
        }
    }
}
