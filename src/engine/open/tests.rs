//! Every way in which a GGUF file stores weights, on both paths: the logits are those of the same
//! weights in full precision, up to what the inputs of a product are rounded by.

use std::io::Cursor;
use std::ops::ControlFlow;

use candle_core::quantized::gguf_file::{self, Value};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Tensor};

use super::{Architecture, Found, Gguf};
use crate::decoding::TokenId;
use crate::engine::blueprint::Blueprint;
use crate::engine::decoder::Decoder;
use crate::engine::weights::Source;
use crate::engine::{CausalLm, Compute, Precision, Row};

const HIDDEN: usize = 256;
/// Not a multiple of the 256 values of a block.
const FFN: usize = 320;
const N_VOCAB: usize = 48;

/// Matrices of one layer: name, rows, columns.
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

/// What llama.cpp stores a tensor as whose rows are no whole blocks.
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

/// The model's weights, stored as `dtype_of` says.
fn weights(dtype_of: impl Fn(&str) -> GgmlDType) -> Vec<(String, QTensor)> {
    let mut state = 7_u32;
    let mut next = move || {
        // The constants of Numerical Recipes.
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

fn in_full_precision(tensors: &[(String, QTensor)]) -> Vec<(String, QTensor)> {
    let widened =
        |tensor: &QTensor| QTensor::quantize(&tensor.dequantize(&Device::Cpu)?, GgmlDType::F32);
    let widened = |(name, tensor): &(String, QTensor)| (name.clone(), widened(tensor).unwrap());
    tensors.iter().map(widened).collect()
}

/// A model of these weights.
fn found(tensors: &[(String, QTensor)]) -> Found {
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
    Gguf::from_source(source, "", None).unwrap().find().unwrap()
}

/// The logits after each of a few tokens.
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
        Architecture::Own(blueprint) => blueprint,
        Architecture::Borrowed(_) => panic!("this one is ours"),
    }
}

/// The logits on the processor's path, and on that of tensors alone.
fn both_paths(tensors: &[(String, QTensor)]) -> [Vec<f32>; 2] {
    let here = found(tensors);
    let mut progress = |_| ControlFlow::Continue(());
    let mut checkpoint = here.catalog.open(&mut progress).unwrap();
    let mut lm = Decoder::on_cpu(
        blueprint(here.architecture),
        &mut checkpoint,
        &Compute::on_cpu(),
    )
    .unwrap();
    let on_cpu = logits(&mut lm);
    [on_cpu, in_tensors(tensors, Precision::F32)]
}

/// The logits on the path of tensors, in this precision.
fn in_tensors(tensors: &[(String, QTensor)], precision: Precision) -> Vec<f32> {
    let found = found(tensors);
    let mut progress = |_| ControlFlow::Continue(());
    let mut checkpoint = found.catalog.open(&mut progress).unwrap();
    let blueprint = blueprint(found.architecture);
    let lm = Decoder::on_device(blueprint, &mut checkpoint, Device::Cpu, precision);
    logits(&mut lm.unwrap())
}

/// The root of the mean square of the differences, relative to the logits'.
fn relative_error(found: &[f32], expected: &[f32]) -> f32 {
    let square = |values: &mut dyn Iterator<Item = f32>| -> f32 { values.map(|x| x * x).sum() };
    let differences = &mut found.iter().zip(expected).map(|(a, b)| a - b);
    (square(differences) / square(&mut expected.iter().copied())).sqrt()
}

fn check(dtype_of: impl Fn(&str) -> GgmlDType, tolerance: f32, quantization: &str) {
    let tensors = weights(dtype_of);
    assert_eq!(found(&tensors).catalog.quantization(), quantization);
    let [expected, _] = both_paths(&in_full_precision(&tensors));
    let [ours, candles] = both_paths(&tensors).map(|found| {
        assert_eq!(found.len(), 5 * N_VOCAB);
        let error = relative_error(&found, &expected);
        assert!(error < tolerance, "{quantization}: {error}");
        error
    });
    // Chance decides between errors of one size.
    assert!(
        ours < 1.2 * candles.max(1e-6),
        "{quantization}: {ours}, candle's {candles}"
    );
}

#[test]
fn every_type_gives_the_logits_of_its_widened_weights() {
    // Products with floating-point weights round nothing; the others round their inputs to 8 bits, 32 or
    // 256 of them by one scale.
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
fn a_file_of_several_types_is_read_as_each_tensor_says() {
    // As in Q4_K_M: what matters most is stored better.
    let mixed = |name: &str| match name {
        "blk.0.attn_v" | "token_embd" => GgmlDType::Q6K,
        "blk.0.ffn_gate" => GgmlDType::BF16,
        _ => GgmlDType::Q4K,
    };
    check(mixed, 0.02, "Q4_K");
}

#[test]
fn quantised_weights_stay_as_they_are_in_half_precision() {
    for dtype in [GgmlDType::Q8_0, GgmlDType::Q4K] {
        let tensors = weights(|_| dtype);
        let expected = in_tensors(&in_full_precision(&tensors), Precision::F32);
        // The inputs of such products are rounded to 8 bits in all cases.
        for (precision, tolerance) in [(Precision::Bf16, 0.04), (Precision::F16, 0.02)] {
            let error = relative_error(&in_tensors(&tensors, precision), &expected);
            assert!(
                error < tolerance,
                "{dtype:?} in {}: {error}",
                precision.name()
            );
        }
    }
}
