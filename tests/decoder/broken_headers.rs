//! Headers with false claims cause an error message, never a panic, and never use more memory than
//! the file could need.

use std::fs::File;
use std::path::Path;

use candle_core::DType;
use candle_core::quantized::GgmlDType;
use proptest::prelude::*;
use proptest::sample::Index;
use quartet::engine::inspect;

use crate::decoder::allocation::peak_of;
use crate::decoder::fixture::{open, write_folder, write_gguf};
use crate::decoder::raw_gguf::{ARRAY, BOOL, RawGguf, STRING, U8, U32};

/// The memory limit for a small file: some buffers and its actual content.
const N_MAX_BYTES: usize = 1 << 20;

/// Returns the first line of the error for a file, which excludes the path.
fn rejection(path: &Path) -> String {
    let (outcome, peak) = peak_of(|| inspect(path));
    assert!(peak < N_MAX_BYTES, "{peak} bytes were allocated");
    let message = outcome.unwrap_err().to_string();
    message.lines().next().unwrap().to_owned()
}

fn rejection_of(bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.gguf");
    std::fs::write(&path, bytes).unwrap();
    rejection(&path)
}

#[test]
fn the_error_identifies_other_file_types() {
    for (bytes, expected) in [
        (&b""[..], "ends inside its header"),
        (b"GG", "ends inside its header"),
        (b"GGUF\x03\0\0\0\x01", "ends inside its header"),
        (b"FUGG\x03\0\0\0", "it is not a GGUF file"),
        (
            b"version https://git-lfs.github.com/spec/v1\n",
            "a Git LFS pointer",
        ),
        (b"<!DOCTYPE html>", "a web page"),
        (b"PK\x03\x04....", "a PyTorch file"),
        (b"ggjt\x03\0\0\0", "its format is older than GGUF"),
        (b"GGUF\0\0\0\0", "version 0 of the GGUF format"),
        (b"GGUF\x01\0\0\0", "version 1 of the GGUF format"),
        (
            b"GGUF\x63\0\0\0",
            "version 99 of the GGUF format; Quartet reads versions 2 and 3",
        ),
        (b"GGUF\0\0\0\x03", "it is big-endian"),
    ] {
        let message = rejection_of(bytes);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn impossible_counts_are_rejected() {
    let huge = 1 << 60;
    for (raw, expected) in [
        (RawGguf::new(0, 1 << 40), "claims 1099511627776 entries"),
        (
            RawGguf::new(1 << 63, 0),
            "claims 9223372036854775808 tensors",
        ),
        (RawGguf::new(u64::MAX, u64::MAX), "claims"),
        (
            RawGguf::new(0, 1).u64(huge).data(99),
            "a header key extends beyond",
        ),
        (
            RawGguf::new(0, 1).u64(u64::MAX).data(99),
            "a header key extends beyond",
        ),
        (
            RawGguf::new(0, 1).key(b"k", STRING).u64(huge).data(99),
            "k extends beyond",
        ),
        (
            RawGguf::new(0, 1)
                .key(b"k", ARRAY)
                .u32(U8)
                .u64(huge)
                .data(99),
            "claims 1152921504606846976 values of k",
        ),
        (
            RawGguf::new(0, 1)
                .key(b"k", ARRAY)
                .u32(STRING)
                .u64(40)
                .data(99),
            "claims 40 values of k",
        ),
        (
            RawGguf::new(0, 1)
                .key(b"k", ARRAY)
                .u32(U8)
                .u64(5 << 20)
                .data(6 << 20),
            "more than 4194304 values",
        ),
        (
            RawGguf::new(1, 0).u64(huge).data(99),
            "a tensor name extends beyond",
        ),
    ] {
        let message = rejection_of(&raw.0);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn violations_of_the_format_are_named() {
    let aligned = |value| RawGguf::new(0, 1).key(b"general.alignment", U32).u32(value);
    let array_of = |value_type| RawGguf::new(0, 1).key(b"k", ARRAY).u32(value_type).u64(1);
    for (raw, expected) in [
        (aligned(0), "general.alignment must be a power of two"),
        (aligned(3), "general.alignment must be a power of two"),
        (
            RawGguf::new(0, 1)
                .key(b"general.alignment", STRING)
                .text(b"32"),
            "general.alignment must be a power of two",
        ),
        (array_of(ARRAY), "k is an array of arrays"),
        (array_of(13), "k is an array of unknown type 13"),
        (RawGguf::new(0, 1).key(b"k", 13), "k has unknown type 13"),
        (
            RawGguf::new(0, 1).key(b"k", BOOL).bytes(&[7]),
            "k is 7, which is neither true nor false",
        ),
        (
            RawGguf::new(0, 1).text(b"\xFF\xFE"),
            "a header key is not valid UTF-8",
        ),
        (
            RawGguf::new(0, 1).key(b"k", STRING).text(b"\xC3"),
            "k is not valid UTF-8",
        ),
        (
            RawGguf::new(1, 0).text(b"\xC3\x28"),
            "a tensor name is not valid UTF-8",
        ),
        (
            RawGguf::new(0, 2)
                .key(b"k", U32)
                .u32(1)
                .key(b"k", U32)
                .u32(1),
            "its header contains k twice",
        ),
    ] {
        let message = rejection_of(&raw.data(64).0);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn impossible_tensors_are_named() {
    let one =
        |dims: &[u64], ggml_type, offset| RawGguf::new(1, 0).tensor(b"w", dims, ggml_type, offset);
    let two = |name: &[u8], offset| {
        let raw = RawGguf::new(2, 0).tensor(b"v", &[32], 0, 0);
        raw.tensor(name, &[32], 0, offset)
    };
    for (raw, expected) in [
        (
            one(&[2; 5], 0, 0),
            "w has 5 dimensions, but at most 4 are possible",
        ),
        (one(&[], 8, 0), "w can’t have shape [] in Q8_0"),
        (one(&[32, 0], 0, 0), "w can’t have shape [0, 32] in F32"),
        (one(&[48, 2], 8, 0), "w can’t have shape [2, 48] in Q8_0"),
        (one(&[128, 2], 12, 0), "w can’t have shape [2, 128] in Q4_K"),
        (one(&[1 << 40, 1 << 40], 0, 0), "w can’t have shape"),
        (one(&[1 << 62, 1], 0, 0), "w can’t have shape"),
        (one(&[u64::MAX], 8, 0), "w can’t have shape"),
        (
            one(&[32], 0, 4),
            "w starts at 4, which is not a multiple of 32",
        ),
        (
            one(&[1 << 40], 0, 0),
            "this file is incomplete: 1.1 kB of 4.4 TB; download it again",
        ),
        (one(&[32], 0, 1 << 20), "this file is incomplete"),
        (one(&[32], 0, !31), "the offset of tensor w is out of range"),
        (two(b"v", 128), "it contains tensor v twice"),
        (two(b"w", 96), "tensors v and w overlap"),
        (two(b"w", 0), "tensors v and w overlap"),
        (
            one(&[256], 31, 0),
            "w is stored as Q4_0_4_4, which Quartet does not support; use the model’s Q4_K_M or Q8_0 file",
        ),
        (one(&[256], 5, 0), "w is stored as Q4_3"),
        (
            one(&[128, 2], 23, 0),
            "w can’t have shape [2, 128] in IQ4_XS",
        ),
        (one(&[48], 39, 0), "w can’t have shape [48] in MXFP4"),
        (one(&[256], 999, 0), "w is stored as type 999"),
        (one(&[256], 0, 0), "it does not specify an architecture"),
    ] {
        let message = rejection_of(&raw.data(1024).0);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn a_header_truncated_at_any_byte_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = write_gguf(folder.path(), true, GgmlDType::Q4_0, &[]);
    let whole = std::fs::read(&path).unwrap();
    let name = b"ffn_norm.weight";
    let last = whole.windows(name.len()).rposition(|bytes| bytes == name);
    let n_header_bytes = last.unwrap() + name.len() + 4 + 8 + 4 + 8;
    let file = File::options().write(true).open(&path).unwrap();
    for n_bytes in (0..=n_header_bytes).rev() {
        file.set_len(n_bytes as u64).unwrap();
        let message = rejection(&path);
        let expected = if n_bytes == n_header_bytes {
            "this file is incomplete"
        } else {
            "could not be understood"
        };
        assert!(message.contains(expected), "{n_bytes}: {message}");
    }
}

/// Creates a folder whose weights file contains these bytes.
fn folder_with(weights: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_folder(folder.path(), true, DType::F32);
    std::fs::write(folder.path().join("model.safetensors"), weights).unwrap();
    folder
}

#[test]
fn false_claims_of_a_safetensors_header_are_named() {
    let tensor = |entry: &str| format!(r#"{{"w":{entry}}}"#);
    for (header, expected) in [
        (String::new(), "its header is not JSON"),
        ("[]".to_owned(), "its header is not JSON"),
        ("{".to_owned(), "it ends within an object"),
        (format!("{{\"w\":{}", "[".repeat(5000)), "could not be understood"),
        (tensor("7"), "w: 7 instead of an object"),
        (tensor(r#"{"dtype":"F32","shape":[2]}"#), "w: ‘data_offsets’ is missing"),
        (
            tensor(r#"{"dtype":"F32","shape":[2],"data_offsets":[0,4]}"#),
            "w has 4 bytes, which does not match shape [2] in F32",
        ),
        (
            tensor(r#"{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}"#),
            "w: -2 instead of a whole number",
        ),
        (
            tensor(r#"{"dtype":"F32","shape":[2],"data_offsets":[8,0]}"#),
            "tensor w ends before it starts",
        ),
        (
            tensor(r#"{"dtype":"F16","shape":[4294967296,4294967296],"data_offsets":[0,8]}"#),
            "w has 8 bytes",
        ),
        (
            tensor(r#"{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,2],"data_offsets":[0,8]}"#),
            "at most 8 dimensions",
        ),
        (
            tensor(r#"{"dtype":"F32","shape":[2],"data_offsets":[18446744073709551600,18446744073709551608]}"#),
            "the offset of tensor w is out of range",
        ),
        (
            tensor(r#"{"dtype":"F32","shape":[1000000],"data_offsets":[0,4000000]}"#),
            "this file is incomplete: 90 bytes of 4.0 MB; download it again",
        ),
        (
            r#"{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#.to_owned(),
            "it contains tensor w twice",
        ),
        (
            r#"{"v":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#.to_owned(),
            "tensors v and w overlap",
        ),
    ] {
        let mut weights = (header.len() as u64).to_le_bytes().to_vec();
        weights.extend(header.as_bytes());
        weights.extend([0; 16]);
        let folder = folder_with(&weights);
        let message = rejection(folder.path());
        assert!(message.contains(expected), "{message}");
    }
    for length in [17_u64, 100_000_000, u64::MAX] {
        let mut weights = length.to_le_bytes().to_vec();
        weights.extend([b'{'; 16]);
        let message = rejection(folder_with(&weights).path());
        assert!(message.contains("at most 16 are possible"), "{message}");
    }
}

#[test]
fn a_header_of_100_megabytes_uses_no_more_memory_than_that() {
    let folder = folder_with(b"");
    let path = folder.path().join("model.safetensors");
    for (length, first, n_max) in [
        (100_000_001_u64, b'{', N_MAX_BYTES),
        (100_000_000, b'[', N_MAX_BYTES),
        (100_000_000, b'{', 101_000_000),
    ] {
        let mut bytes = length.to_le_bytes().to_vec();
        bytes.push(first);
        std::fs::write(&path, bytes).unwrap();
        // The rest is a sparse region of zeros.
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(150_000_000).unwrap();
        let (outcome, peak) = peak_of(|| inspect(folder.path()));
        assert!(
            outcome
                .unwrap_err()
                .to_string()
                .contains("could not be understood")
        );
        assert!(peak < n_max, "{peak}");
    }
}

#[test]
fn non_finite_weights_are_rejected() {
    for dtype in [GgmlDType::F32, GgmlDType::F16, GgmlDType::Q8_0] {
        let folder = tempfile::tempdir().unwrap();
        let path = write_gguf(folder.path(), true, dtype, &[]);
        let mut bytes = std::fs::read(&path).unwrap();
        let n_bytes = bytes.len();
        // The last tensor is a norm with 64 values, and the one before it is a matrix.
        bytes[n_bytes - 64 * 4 * 2 - dtype.type_size()..][..dtype.type_size()].fill(0xFF);
        std::fs::write(&path, &bytes).unwrap();
        let message = open(&path).err().unwrap().to_string();
        assert!(
            message.contains("ffn_down.weight contains values that are not finite"),
            "{message}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Corruption causes at most an error message, and reading the header never exceeds the memory
    /// limit.
    #[test]
    fn random_corruption_never_causes_a_panic(
        changes in prop::collection::vec((any::<Index>(), any::<u8>()), 1..6),
        in_header in any::<bool>(),
        cut in prop::option::weighted(0.2, any::<Index>()),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = write_gguf(folder.path(), true, GgmlDType::Q8_0, &[]);
        let mut bytes = std::fs::read(&path).unwrap();
        let n_bytes = if in_header { 2200 } else { bytes.len() };
        for (position, value) in changes {
            bytes[position.index(n_bytes)] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        std::fs::write(&path, &bytes).unwrap();
        let (outline, peak) = peak_of(|| inspect(&path));
        prop_assert!(peak < N_MAX_BYTES);
        if let Err(error) = &outline {
            prop_assert!(!error.to_string().is_empty());
        }
        // Reading the weights finds the corruption that the header does not reveal.
        if let Err(error) = open(&path) {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}
