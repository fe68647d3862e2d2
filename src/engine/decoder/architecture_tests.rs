//! Each architecture in tensor operations only, against the same over slices, whose logits
//! `tests/architectures` proves against those of transformers.

use std::fs::File;
use std::path::{Path, PathBuf};

use candle_core::Device;

use super::Decoder;
use crate::decoding::TokenId;
use crate::engine::blueprint::Blueprint;
use crate::engine::weights::{Checkpoint, Source, read_header};
use crate::engine::{CausalLm, Row, SequenceId};

/// A checkpoint's files: a configuration and its weights, or both in one.
fn open(folder: &Path, is_gguf: bool) -> (Blueprint, Checkpoint) {
    let name = if is_gguf {
        "model.gguf"
    } else {
        "model.safetensors"
    };
    let mut file = File::open(folder.join(name)).unwrap();
    let n_bytes = file.metadata().unwrap().len();
    let source = |reader| Source {
        reader,
        n_bytes,
        path: "",
    };
    if is_gguf {
        let header = read_header(&mut file, "").unwrap();
        let blueprint = Blueprint::from_gguf(&header, "").unwrap();
        let mut file = File::open(folder.join(name)).unwrap();
        let checkpoint = Checkpoint::from_gguf(&header, source(&mut file), &mut |_| ());
        (blueprint, checkpoint.unwrap())
    } else {
        let config = std::fs::read(folder.join("config.json")).unwrap();
        let blueprint = Blueprint::from_config(&config, "").unwrap();
        let checkpoint = Checkpoint::from_safetensors(source(&mut file), &mut |_| ());
        (blueprint, checkpoint.unwrap())
    }
}

fn folders() -> Vec<PathBuf> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/architectures/fixtures");
    let entries = std::fs::read_dir(root).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.is_dir()).collect()
}

fn read(lm: &mut dyn CausalLm, sequences: &[SequenceId], tokens: &[u32]) -> Vec<f32> {
    let rows: Vec<Row> = tokens
        .iter()
        .flat_map(|token| {
            sequences.iter().map(|sequence| Row {
                sequence: *sequence,
                token: TokenId(*token),
                logits_wanted: true,
            })
        })
        .collect();
    let logits = lm.forward(&rows).unwrap();
    (0..rows.len())
        .flat_map(|row| logits.row(row).unwrap().to_vec())
        .collect()
}

/// At once past all windows and first contexts, then from a fork, together, one by one, and again
/// from before the first context's end.
fn logits(lm: &mut dyn CausalLm) -> Vec<f32> {
    let tokens: Vec<u32> = (0..24).map(|i| 3 + i * 7 % 61).collect();
    let first = lm.open();
    let mut found = read(lm, &[first], &tokens);
    let second = lm.fork(first).unwrap();
    found.extend(read(lm, &[second], &[9, 4]));
    for token in [11, 12] {
        found.extend(read(lm, &[first, second], &[token]));
    }
    lm.truncate(second, 5).unwrap();
    found.extend(read(lm, &[second, first], &[30, 31, 32]));
    found
}

#[test]
fn tensor_operations_agree_with_slices_for_each_architecture() {
    let folders = folders();
    assert!(!folders.is_empty());
    for (folder, is_gguf) in folders
        .iter()
        .flat_map(|path| [(path, false), (path, true)])
    {
        let (blueprint, mut checkpoint) = open(folder, is_gguf);
        let mut plain =
            Decoder::on_device(blueprint.clone(), &mut checkpoint, Device::Cpu).unwrap();
        let (_, mut checkpoint) = open(folder, is_gguf);
        let mut fast = Decoder::on_cpu(blueprint, &mut checkpoint).unwrap();
        let (plain, fast) = (logits(&mut plain), logits(&mut fast));
        assert_eq!(plain.len(), fast.len());
        let differences = plain
            .iter()
            .zip(&fast)
            .map(|(plain, fast)| (plain - fast).abs());
        let most = differences.fold(0.0, f32::max);
        assert!(most < 1e-4, "{}: {most}", folder.display());
    }
}
