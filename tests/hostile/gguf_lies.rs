//! GGUF files that lie: random numbers in the header are replaced, and the file is truncated after
//! random fields. Set `QUARTET_HOSTILE_ROUNDS` to try more of them.

use std::fs;
use std::ops::{ControlFlow, Range};
use std::path::Path;

use quartet::engine::{Compute, inspect_with_tokenizer, open_path};

use crate::hostile::mutations::{LIES, fixtures};
use crate::random::Random;
use crate::rounds::rounds;

/// How many lies and how many truncations are tried in each round.
const N_LIES: u64 = 250;
const N_CUTS: u64 = 60;

/// Finds the numbers in a GGUF header.
struct Header<'a> {
    bytes: &'a [u8],
    position: usize,
    /// The byte range of each number.
    numbers: Vec<Range<usize>>,
}

impl<'a> Header<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        let mut header = Self {
            bytes,
            position: 4,
            numbers: Vec::new(),
        };
        header.number(4);
        let n_tensors = header.number(8);
        let n_entries = header.number(8);
        for _ in 0..n_entries {
            header.text();
            let value_type = header.number(4);
            header.value(value_type);
        }
        for _ in 0..n_tensors {
            header.text();
            let n_dims = header.number(4);
            for _ in 0..n_dims {
                header.number(8);
            }
            header.number(4);
            header.number(8);
        }
        header
    }

    fn number(&mut self, n_bytes: usize) -> u64 {
        let range = self.position..self.position + n_bytes;
        self.position = range.end;
        self.numbers.push(range.clone());
        let mut number = [0; 8];
        number[..n_bytes].copy_from_slice(&self.bytes[range]);
        u64::from_le_bytes(number)
    }

    fn text(&mut self) {
        let n_bytes = self.number(8);
        self.position += usize::try_from(n_bytes).unwrap();
    }

    fn value(&mut self, value_type: u64) {
        match value_type {
            0 | 1 | 7 => drop(self.number(1)),
            2 | 3 => drop(self.number(2)),
            4..=6 => drop(self.number(4)),
            8 => self.text(),
            9 => {
                let value_type = self.number(4);
                let n_values = self.number(8);
                (0..n_values).for_each(|_| self.value(value_type));
            }
            _ => drop(self.number(8)),
        }
    }
}

fn open(bytes: &[u8], path: &Path, what: &str) {
    fs::write(path, bytes).unwrap();
    inspect_with_tokenizer(path).ok();
    let opened = open_path(path, &Compute::on_cpu(), &mut |_| ControlFlow::Continue(()));
    if let Err(error) = opened {
        assert!(!error.to_string().is_empty(), "{what}");
    }
}

#[test]
fn lying_headers_never_cause_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.gguf");
    for name in ["borrowed/phi", "fixtures/llama", "fixtures/gemma3"] {
        let model = fs::read(fixtures().join(name).join("model.gguf")).unwrap();
        let numbers = Header::of(&model).numbers;
        assert!(numbers.len() > 100, "{name}");
        for seed in 0..N_LIES * rounds() {
            let mut random = Random(seed);
            let mut bytes = model.clone();
            // One lie, or two that may agree with each other.
            for _ in 0..=random.below(2) {
                let range = numbers[random.below(numbers.len())].clone();
                let honest = &model[range.clone()];
                let near = honest[0].wrapping_add(random.pick(&[1, 255, 2, 128]));
                let lie = random.pick(&LIES).to_le_bytes();
                match random.below(3) {
                    0 => bytes[range.start] = near,
                    _ => bytes[range.clone()].copy_from_slice(&lie[..range.len()]),
                }
            }
            open(&bytes, &path, &format!("{name}, seed {seed}"));
        }
        for seed in 0..N_CUTS * rounds() {
            let end = numbers[Random(seed).below(numbers.len())].end;
            open(&model[..end], &path, &format!("{name}, {end} bytes"));
        }
    }
}
