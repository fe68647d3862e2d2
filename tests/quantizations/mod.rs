//! Opens models in formats that are converted while they are read, and compares their
//! log-probabilities with those of 32-bit weights.

use std::path::{Path, PathBuf};

use candle_core::{DType, Tensor};
use quartet::engine::inspect;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::decoder::fixture::{N_VOCAB, config, open, tokenizer, weights, write_folder};
use crate::decoder::read;

/// The most that a log-probability may differ.
const TOLERANCE: f32 = 0.005;

const N_FIXTURE_VOCAB: usize = 32;

/// A text, and the log-probabilities after each of its tokens.
#[derive(Deserialize)]
struct Text {
    tokens: Vec<u32>,
    log_probs: Vec<Vec<f32>>,
}

/// Copies the model whose types are converted to a folder, with a tokenizer.
fn copy_model(folder: &Path) -> PathBuf {
    copy_fixture("model.gguf", folder)
}

fn copy_fixture(file: &str, folder: &Path) -> PathBuf {
    let path = folder.join(file);
    std::fs::copy(fixture(file), &path).unwrap();
    let tokenizer = tokenizer(N_FIXTURE_VOCAB).to_string();
    std::fs::write(folder.join("tokenizer.json"), tokenizer).unwrap();
    path
}

fn fixture(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("tests/quantizations").join(name)
}

/// Returns the log-probabilities after each token.
fn log_probs(path: &Path, tokens: &[u32]) -> Vec<Vec<f32>> {
    let mut model = open(path).unwrap();
    let sequence = model.lm.open();
    let rows = read(&mut *model.lm, sequence, tokens);
    let rows = rows.into_iter().map(|logits| {
        let sum: f64 = logits.iter().map(|logit| f64::from(*logit).exp()).sum();
        let log_sum = sum.ln() as f32;
        logits.into_iter().map(|logit| logit - log_sum).collect()
    });
    rows.collect()
}

fn assert_close(found: &[Vec<f32>], expected: &[Vec<f32>]) {
    assert_eq!(found.len(), expected.len());
    let pairs = found.iter().flatten().zip(expected.iter().flatten());
    let largest = pairs.map(|(found, expected)| (found - expected).abs());
    let largest = largest.fold(0.0, f32::max);
    assert!(largest <= TOLERANCE, "{largest}");
}

#[test]
fn a_model_of_many_formats_has_the_log_probabilities_of_its_values() {
    for stem in ["model", "native"] {
        let folder = tempfile::tempdir().unwrap();
        let path = copy_fixture(&format!("{stem}.gguf"), folder.path());
        let text = std::fs::read(fixture(&format!("{stem}.json"))).unwrap();
        let text: Text = serde_json::from_slice(&text).unwrap();
        assert_close(&log_probs(&path, &text.tokens), &text.log_probs);
    }
}

#[test]
fn an_outline_says_what_is_converted() {
    let folder = tempfile::tempdir().unwrap();
    let outline = inspect(&copy_model(folder.path())).unwrap();
    assert_eq!(outline.quantization, "IQ4_XS");
    let conversion = outline.conversion.unwrap();
    let words = conversion.to_string();
    for pair in [
        "IQ4_XS to Q8_0",
        "IQ4_NL to Q8_0",
        "IQ3_S to Q6_K",
        "MXFP4 to Q5_0",
        "IQ2_S to F16",
    ] {
        assert!(words.contains(pair), "{words}");
    }
    assert!(conversion.n_memory_bytes > conversion.n_file_bytes);
    // The rest of the file is a header and weights that stay as they are.
    let n_unconverted = outline.memory.n_weight_bytes - conversion.n_memory_bytes;
    let n_all = conversion.n_file_bytes + n_unconverted;
    let n_header = outline.n_file_bytes - n_all;
    assert!(n_header < 8_000, "{n_header}");
}

/// An 8-bit float with 4 exponent bits, by its definition.
fn e4m3(bits: u8) -> f32 {
    let (exponent, mantissa) = (i32::from(bits >> 3 & 0xF), f32::from(bits & 7) / 8.0);
    let magnitude = match exponent {
        0 => mantissa * 2_f32.powi(-6),
        exponent => (1.0 + mantissa) * 2_f32.powi(exponent - 7),
    };
    if bits & 0x80 == 0 {
        magnitude
    } else {
        -magnitude
    }
}

/// A tensor of a safetensors file: its name, type, shape and bytes.
type Stored = (String, &'static str, Vec<usize>, Vec<u8>);

fn write_safetensors(path: &Path, tensors: &[Stored]) {
    let mut header = Map::new();
    let mut data = Vec::<u8>::new();
    for (name, dtype, shape, bytes) in tensors {
        let start = data.len();
        data.extend(bytes);
        let entry = json!({"dtype": dtype, "shape": shape, "data_offsets": [start, data.len()]});
        header.insert(name.clone(), entry);
    }
    let header = Value::Object(header).to_string();
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.extend(data);
    std::fs::write(path, file).unwrap();
}

fn float_bytes(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

/// Stores a matrix as 8-bit floats with the factors of one kind. Returns its tensors, and the values
/// that they stand for.
fn as_eight_bit_floats(name: &str, matrix: &Tensor, kind: usize) -> (Vec<Stored>, Vec<f32>) {
    let (n_rows, width) = matrix.dims2().unwrap();
    let values: Vec<f32> = matrix.flatten_all().unwrap().to_vec1().unwrap();
    let (suffix, shape) = match kind {
        0 => ("_scale_inv", vec![1, 1]),
        1 => ("_scale", vec![n_rows, 1]),
        _ => ("_scale", Vec::new()),
    };
    let n_factors = shape.iter().product::<usize>();
    let factors: Vec<f32> = (0..n_factors)
        .map(|index| (1 + index) as f32 / 5e3)
        .collect();
    let factor = |index: usize| factors[index / width % n_factors];
    // The nearest 8-bit float, but not 0x7F and 0xFF, which are not numbers.
    let nearest = |value: f32| {
        let candidates = (0..=255_u8).filter(|bits| bits & 0x7F != 0x7F);
        let distance = |bits: &u8| (e4m3(*bits) - value).abs();
        candidates
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))
            .unwrap()
    };
    let bits = values
        .iter()
        .enumerate()
        .map(|(index, value)| nearest(value / factor(index)));
    let bits: Vec<u8> = bits.collect();
    let exact = bits
        .iter()
        .enumerate()
        .map(|(index, bits)| e4m3(*bits) * factor(index));
    let exact = exact.collect();
    let tensors = vec![
        (name.to_owned(), "F8_E4M3", vec![n_rows, width], bits),
        (
            format!("{name}{suffix}"),
            "F32",
            shape,
            float_bytes(&factors),
        ),
    ];
    (tensors, exact)
}

#[test]
fn eight_bit_floats_are_multiplied_by_their_factors() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [stored, exact] = &folders;
    let mut tensors: [Vec<Stored>; 2] = [Vec::new(), Vec::new()];
    for (index, (name, tensor)) in weights(false).into_iter().enumerate() {
        let values: Vec<f32> = tensor.flatten_all().unwrap().to_vec1().unwrap();
        let plain = |values: &[f32]| {
            let shape = tensor.dims().to_vec();
            (name.clone(), "F32", shape, float_bytes(values))
        };
        if name.contains("proj") {
            let (eight_bit, values) = as_eight_bit_floats(&name, &tensor, index % 3);
            tensors[0].extend(eight_bit);
            let of_inputs = name.replace(".weight", ".input_scale");
            tensors[0].push((of_inputs, "F32", Vec::new(), float_bytes(&[1.0])));
            tensors[1].push(plain(&values));
        } else {
            tensors[0].push(plain(&values));
            tensors[1].push(plain(&values));
        }
    }
    for (folder, tensors) in [stored, exact].into_iter().zip(&tensors) {
        write_folder(folder.path(), false, DType::F32);
        write_safetensors(&folder.path().join("model.safetensors"), tensors);
    }
    let mut settings = config(false);
    settings["quantization_config"] = json!({"quant_method": "fp8"});
    std::fs::write(stored.path().join("config.json"), settings.to_string()).unwrap();

    let tokens: Vec<u32> = (0..20)
        .map(|index| 4 + index * 7 % (N_VOCAB as u32 - 4))
        .collect();
    let expected = log_probs(exact.path(), &tokens);
    assert_close(&log_probs(stored.path(), &tokens), &expected);

    let (outline, plain) = (
        inspect(stored.path()).unwrap(),
        inspect(exact.path()).unwrap(),
    );
    assert_eq!(outline.n_params, plain.n_params);
    assert_eq!(outline.quantization, "F8_E4M3");
    assert!(
        outline
            .conversion
            .unwrap()
            .to_string()
            .starts_with("F8_E4M3 to F16")
    );
    let warning = open(stored.path()).unwrap().load_warning;
    assert!(!warning.unwrap_or_default().contains("ignored"));
}

#[test]
fn factors_that_do_not_fit_their_matrix_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    write_folder(folder.path(), true, DType::F32);
    let mut tensors: Vec<Stored> = Vec::new();
    for (name, tensor) in weights(true) {
        let values: Vec<f32> = tensor.flatten_all().unwrap().to_vec1().unwrap();
        if name.contains("q_proj") {
            let (mut eight_bit, _) = as_eight_bit_floats(&name, &tensor, 2);
            eight_bit[1].2 = vec![3];
            eight_bit[1].3 = float_bytes(&[1.0; 3]);
            tensors.extend(eight_bit);
        } else {
            tensors.push((name, "F32", tensor.dims().to_vec(), float_bytes(&values)));
        }
    }
    write_safetensors(&folder.path().join("model.safetensors"), &tensors);
    let Err(error) = open(folder.path()) else {
        panic!("it opened");
    };
    let expected = "q_proj.weight_scale with shape [3] does not fit";
    assert!(error.to_string().contains(expected), "{error}");
}
