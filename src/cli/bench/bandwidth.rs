//! Measures memory bandwidth, which limits decoding because every step reads all weights.
//!
//! It sums a buffer larger than any cache in the widest SIMD registers, with as many threads as the
//! engine uses. Each thread reads one or more streams side by side, because CPUs prefetch only
//! within a page; the fastest number of streams counts.

#![allow(
    clippy::inline_always,
    reason = "only code inlined into a dispatch is compiled for the CPU at hand"
)]

use std::hint::black_box;
use std::io;
use std::thread;
use std::time::Instant;

use pulp::{Arch, Simd, WithSimd};
use serde::Serialize;

use crate::cli::failure::Failure;
use crate::engine::free_memory;
use crate::generation::formatting::io_words;

/// Larger than common caches. The buffer is smaller if memory is short.
const MAX_BUFFER_BYTES: usize = 512 << 20;

/// The numbers of streams to try per thread.
const N_STREAMS: [usize; 4] = [1, 4, 8, 16];

/// A cache line of 64 bytes, as 64-bit numbers.
type Line = [u64; 8];

/// The buffer to read and the number of threads.
#[derive(Debug)]
pub(super) struct Bandwidth {
    lines: Vec<Line>,
    n_threads: usize,
}

/// A bandwidth measurement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Sample {
    /// Bytes per second over all threads.
    pub bytes_per_sec: f64,
    pub threads: usize,
    /// Streams per thread.
    pub streams: usize,
    pub buffer_bytes: usize,
}

impl Bandwidth {
    /// Allocates a resident buffer for this many threads.
    pub(super) fn new(n_threads: usize) -> Self {
        let n_free = usize::try_from(free_memory() / 4).unwrap_or(usize::MAX);
        let n_lines = MAX_BUFFER_BYTES.min(n_free) / size_of::<Line>();
        Self {
            // A zeroed buffer could be a single page, mapped many times.
            lines: vec![[1; 8]; n_lines],
            n_threads,
        }
    }

    /// Reads the buffer with each number of streams and returns the fastest measurement.
    pub(super) fn measure(&self) -> Result<Sample, Failure> {
        let mut best = Sample {
            bytes_per_sec: 0.0,
            threads: self.n_threads,
            streams: 1,
            buffer_bytes: size_of_val(self.lines.as_slice()),
        };
        for streams in N_STREAMS {
            let secs = self.read(streams).map_err(|error| {
                Failure::run(format!("could not start the threads: {}", io_words(&error)))
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

    /// Reads the buffer once and returns the time in seconds.
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

/// Sums a part of the buffer.
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

/// Sums N streams of equal length side by side.
#[inline(always)]
fn sum<const N: usize>(part: &[Line]) -> u64 {
    let n_stream_lines = part.len() / N;
    let mut streams: [&[Line]; N] = [&[]; N];
    for (stream, lines) in streams
        .iter_mut()
        .zip(part.chunks_exact(n_stream_lines.max(1)))
    {
        *stream = lines;
    }
    let mut sums = [[0_u64; 8]; N];
    for index in 0..n_stream_lines {
        for (lane_sums, stream) in sums.iter_mut().zip(&streams) {
            if let Some(line) = stream.get(index) {
                for (sum, number) in lane_sums.iter_mut().zip(line) {
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
    fn every_line_is_read_once_for_any_number_of_streams() {
        let part: Vec<_> = (0..160).map(|number| [number; 8]).collect();
        let expected = 8 * (0..160).sum::<u64>();
        assert_eq!(sum::<1>(&part), expected);
        assert_eq!(sum::<4>(&part), expected);
        assert_eq!(sum::<16>(&part), expected);
    }

    #[test]
    fn bandwidth_is_positive_and_finite() {
        let bandwidth = Bandwidth {
            lines: vec![[1; 8]; 1 << 16],
            n_threads: 2,
        };
        let sample = bandwidth.measure().unwrap();
        assert!(sample.bytes_per_sec > 0.0 && sample.bytes_per_sec.is_finite());
        assert_eq!((sample.threads, sample.buffer_bytes), (2, 4 << 20));
    }
}
