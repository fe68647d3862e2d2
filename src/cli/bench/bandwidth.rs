//! How fast this machine reads memory: the limit of decoding, where each token reads all weights.
//!
//! A plain sum over a buffer that no cache holds, in the widest registers there are, by as many threads
//! as the engine has. Each thread reads one stretch or several at once, because processors fetch ahead
//! within a page only; the fastest way counts.

#![allow(
    clippy::inline_always,
    reason = "only what is inlined into a dispatch is compiled for the processor that is there"
)]

use std::hint::black_box;
use std::io;
use std::thread;
use std::time::Instant;

use pulp::{Arch, Simd, WithSimd};
use serde::Serialize;

use crate::cli::failure::Failure;
use crate::engine::free_memory;

/// More than any usual cache; less where memory is short.
const N_MOST_BYTES: usize = 512 << 20;

/// How many stretches a thread reads at once.
const N_STREAMS: [usize; 4] = [1, 4, 8, 16];

/// What is read in one go: a cache line of 64 bytes, as 64-bit numbers.
type Line = [u64; 8];

/// A buffer to read, and who reads it.
#[derive(Debug)]
pub(super) struct Bandwidth {
    lines: Vec<Line>,
    n_threads: usize,
}

/// How fast memory was read.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Sample {
    /// Bytes a second, all threads together.
    pub bytes_per_sec: f64,
    /// How many threads read.
    pub threads: usize,
    /// How many stretches each of them read at once.
    pub streams: usize,
    /// How many bytes they read.
    pub buffer_bytes: usize,
}

impl Bandwidth {
    /// A buffer that is in memory, to be read by so many threads.
    pub fn new(n_threads: usize) -> Self {
        let n_free = usize::try_from(free_memory() / 4).unwrap_or(usize::MAX);
        let n_lines = N_MOST_BYTES.min(n_free) / size_of::<Line>();
        Self {
            // Zeros would be one page that is mapped everywhere.
            lines: vec![[1; 8]; n_lines],
            n_threads,
        }
    }

    /// Reads all of it in each way, and tells of the fastest.
    pub fn measure(&self) -> Result<Sample, Failure> {
        let mut best = Sample {
            bytes_per_sec: 0.0,
            threads: self.n_threads,
            streams: 1,
            buffer_bytes: size_of_val(self.lines.as_slice()),
        };
        for streams in N_STREAMS {
            let secs = self.read(streams).map_err(|error| {
                Failure::run(format!("the threads could not be started: {error}"))
            })?;
            let bytes_per_sec = best.buffer_bytes as f64 / secs;
            if bytes_per_sec > best.bytes_per_sec {
                best = Sample {
                    bytes_per_sec,
                    streams,
                    ..best
                };
            }
        }
        Ok(best)
    }

    /// Gives the seconds that it took.
    fn read(&self, n_streams: usize) -> io::Result<f64> {
        let n_part = self.lines.len().div_ceil(self.n_threads).max(1);
        let arch = Arch::new();
        let started_at = Instant::now();
        thread::scope(|scope| {
            let mut readers = Vec::new();
            for part in self.lines.chunks(n_part) {
                let reader = thread::Builder::new().name("bandwidth".to_owned());
                let read = move || black_box(arch.dispatch(Read { part, n_streams }));
                readers.push(reader.spawn_scoped(scope, read)?);
            }
            for reader in readers {
                // A sum can't panic.
                reader.join().ok();
            }
            Ok(started_at.elapsed().as_secs_f64())
        })
    }
}

/// The sum of a part of the buffer.
struct Read<'a> {
    part: &'a [Line],
    n_streams: usize,
}

impl WithSimd for Read<'_> {
    type Output = u64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> u64 {
        match self.n_streams {
            4 => sum::<4>(self.part),
            8 => sum::<8>(self.part),
            16 => sum::<16>(self.part),
            _ => sum::<1>(self.part),
        }
    }
}

/// Reads N stretches of equal length side by side.
#[inline(always)]
fn sum<const N: usize>(part: &[Line]) -> u64 {
    let n_stretch = part.len() / N;
    let mut stretches: [&[Line]; N] = [&[]; N];
    for (stretch, lines) in stretches
        .iter_mut()
        .zip(part.chunks_exact(n_stretch.max(1)))
    {
        *stretch = lines;
    }
    let mut sums = [[0_u64; 8]; N];
    for index in 0..n_stretch {
        for (sums, stretch) in sums.iter_mut().zip(&stretches) {
            if let Some(line) = stretch.get(index) {
                for (sum, number) in sums.iter_mut().zip(line) {
                    *sum = sum.wrapping_add(*number);
                }
            }
        }
    }
    sums.as_flattened()
        .iter()
        .fold(0, |sum, n| sum.wrapping_add(*n))
}

#[cfg(test)]
mod tests {
    use super::{Bandwidth, sum};

    #[test]
    fn every_line_is_read_once_however_many_stretches_there_are() {
        let part: Vec<_> = (0..160).map(|number| [number; 8]).collect();
        let expected = 8 * (0..160).sum::<u64>();
        assert_eq!(sum::<1>(&part), expected);
        assert_eq!(sum::<4>(&part), expected);
        assert_eq!(sum::<16>(&part), expected);
    }

    #[test]
    fn memory_is_read_at_some_speed() {
        let bandwidth = Bandwidth {
            lines: vec![[1; 8]; 1 << 16],
            n_threads: 2,
        };
        let sample = bandwidth.measure().unwrap();
        assert!(sample.bytes_per_sec > 0.0 && sample.bytes_per_sec.is_finite());
        assert_eq!((sample.threads, sample.buffer_bytes), (2, 4 << 20));
    }
}
