//! Compares attention with plain sums in double precision, and with itself under other batches,
//! cuts and thread counts.

use std::ops::Range;

use super::{CacheType, Heads, KeysValues, Row, Span, attend};
use crate::input_block::{InputBlock, padded};
use crate::{CpuContext, InstructionSet, N_BLOCK, ThreadPool};

const HEADS: Heads = Heads {
    n_heads: 6,
    n_kv_heads: 2,
    head_dim: 16,
    score_scale: 0.3,
    score_cap: None,
};

const TYPES: [CacheType; 3] = CacheType::ALL;

/// The queries, keys and values of one token of one text.
fn token(heads: Heads, text: usize, position: usize) -> Vec<f32> {
    let wave = |i: usize| {
        let phase = (text * 7919 + position * 104_729 + i * 1_299_709) % 1_000_003;
        2.0 * (phase as f32 * 0.77).sin()
    };
    (0..heads.qkv_width()).map(wave).collect()
}

fn split(heads: Heads, token: &[f32]) -> (&[f32], &[f32], &[f32]) {
    let (queries, keys_values) = token.split_at(heads.q_width());
    let (keys, values) = keys_values.split_at(heads.n_kv_heads * heads.head_dim);
    (queries, keys, values)
}

/// A run with tokens of a text, followed by NaN tokens that belong to no sequence.
fn run(heads: Heads, cache_type: CacheType, text: usize, positions: Range<usize>) -> KeysValues {
    let mut run = KeysValues::new(heads, cache_type, positions.start);
    for position in positions.clone() {
        let token = token(heads, text, position);
        let (_, keys, values) = split(heads, &token);
        run.write(position, keys, values);
    }
    let none = vec![f32::NAN; heads.n_kv_heads * heads.head_dim];
    for position in positions.end..positions.end + 5 {
        run.write(position, &none, &none);
    }
    run
}

/// A sequence: the text of the token at each position, and the runs that it consists of.
struct Sequence {
    texts: Vec<usize>,
    runs: Vec<(usize, Range<usize>)>,
}

/// Sequences that share runs.
struct Family {
    runs: Vec<KeysValues>,
    sequences: Vec<Sequence>,
}

/// Sequences that fork from one another at positions that are not multiples of the block size.
fn family(heads: Heads, cache_type: CacheType, n: usize) -> Family {
    let runs = vec![
        run(heads, cache_type, 0, 0..21),
        run(heads, cache_type, 0, 21..600),
        run(heads, cache_type, 0, 600..n),
        run(heads, cache_type, 1, 37..n - 9),
        run(heads, cache_type, 2, 5..70),
        run(heads, cache_type, 1, 600..603),
    ];
    let sequence = |parts: &[(usize, usize, Range<usize>)]| Sequence {
        texts: parts
            .iter()
            .flat_map(|(_, text, range)| range.clone().map(|_| *text))
            .collect(),
        runs: parts.iter().map(|(run, _, r)| (*run, r.clone())).collect(),
    };
    let sequences = vec![
        sequence(&[(0, 0, 0..21), (1, 0, 21..600), (2, 0, 600..n)]),
        sequence(&[(0, 0, 0..21), (1, 0, 21..37), (3, 1, 37..n - 9)]),
        sequence(&[(0, 0, 0..5), (4, 2, 5..70)]),
        sequence(&[(0, 0, 0..21), (1, 0, 21..600), (5, 1, 600..603)]),
    ];
    Family { runs, sequences }
}

/// The attention output of rows, each given as a sequence and a position.
fn attention_output(
    context: &CpuContext,
    heads: Heads,
    window: Option<usize>,
    family: &Family,
    rows: &[(usize, usize)],
) -> Vec<f32> {
    let Family { runs, sequences } = family;
    let spans: Vec<Vec<Span<'_>>> = sequences
        .iter()
        .map(|sequence| {
            let parts = sequence.runs.iter().map(|(run, positions)| Span {
                keys_values: &runs[*run],
                positions: positions.clone(),
            });
            parts.collect()
        })
        .collect();
    let views: Vec<Row<'_>> = rows
        .iter()
        .map(|&(sequence, position)| Row {
            spans: &spans[sequence],
            visible: first_visible(window, position)..position + 1,
            sinks: &[],
        })
        .collect();
    let qkv: Vec<f32> = rows
        .iter()
        .flat_map(|&(sequence, position)| {
            token(heads, sequences[sequence].texts[position], position)
        })
        .collect();
    let mut output = vec![f32::NAN; rows.len() * heads.q_width()];
    attend(context, heads, &views, &qkv, &mut output);
    output
}

fn context(n_threads: usize, instructions: InstructionSet) -> CpuContext {
    CpuContext {
        threads: ThreadPool::new(n_threads).unwrap(),
        instructions,
    }
}

fn first_visible(window: Option<usize>, position: usize) -> usize {
    window.map_or(0, |window| (position + 1).saturating_sub(window))
}

/// The same in double precision, for one row.
fn exact(
    heads: Heads,
    cache_type: CacheType,
    window: Option<usize>,
    texts: &[usize],
    position: usize,
) -> Vec<f64> {
    let visible: Vec<Vec<f32>> = (first_visible(window, position)..=position)
        .map(|position| token(heads, texts[position], position))
        .collect();
    let own = token(heads, texts[position], position);
    let dim = heads.head_dim;
    let mut mixed = Vec::new();
    for (head, query) in own[..heads.q_width()].chunks_exact(dim).enumerate() {
        let query: Vec<f32> = query.iter().map(|x| x * heads.score_scale).collect();
        let query = match cache_type {
            CacheType::Q8 => quantized_in_blocks(&query, |scale| scale),
            CacheType::F16 | CacheType::F32 => query.into_iter().map(f64::from).collect(),
        };
        let part = head / heads.group_size() * dim..(head / heads.group_size() + 1) * dim;
        let scores: Vec<f64> = visible
            .iter()
            .map(|token| {
                let keys = &split(heads, token).1[part.clone()];
                let keys = match cache_type {
                    CacheType::Q8 => {
                        quantized_in_blocks(keys, |scale| half::f16::from_f32(scale).to_f32())
                    }
                    CacheType::F16 | CacheType::F32 => stored(cache_type, keys),
                };
                let score: f64 = keys
                    .iter()
                    .zip(&query)
                    .map(|(key, query)| key * query)
                    .sum();
                heads.score_cap.map_or(score, |cap| {
                    f64::from(cap) * (score / f64::from(cap)).tanh()
                })
            })
            .collect();
        let max = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = scores.iter().map(|score| (score - max).exp()).collect();
        let sum: f64 = weights.iter().sum();
        let values: Vec<Vec<f64>> = visible
            .iter()
            .map(|token| stored(cache_type, &split(heads, token).2[part.clone()]))
            .collect();
        for dim in 0..heads.head_dim {
            let products = weights
                .iter()
                .zip(&values)
                .map(|(weight, values)| weight * values[dim]);
            mixed.push(products.sum::<f64>() / sum);
        }
    }
    mixed
}

/// Keys or values as the cache stores them; in 8 bits with one scale.
fn stored(cache_type: CacheType, values: &[f32]) -> Vec<f64> {
    match cache_type {
        CacheType::F32 => values.iter().copied().map(f64::from).collect(),
        CacheType::F16 => values
            .iter()
            .map(|value| half::f16::from_f32(*value).to_f64())
            .collect(),
        CacheType::Q8 => {
            let largest = values.iter().fold(0.0_f32, |max, x| max.max(x.abs()));
            let unit = f64::from(largest) / 127.0;
            let rounded = values
                .iter()
                .map(|x| f64::from((x * (127.0 / largest)).round_ties_even()));
            rounded.map(|number| number * unit).collect()
        }
    }
}

/// Values after quantization to 8-bit blocks, whose scales are stored as `kept` says.
fn quantized_in_blocks(values: &[f32], kept: impl Fn(f32) -> f32) -> Vec<f64> {
    let blocks = values.chunks(N_BLOCK).flat_map(|values| {
        let block = InputBlock::quantize(&padded(values));
        let bytes = block.words.into_iter().flat_map(i32::to_le_bytes);
        let unit = f64::from(kept(block.scale));
        let dequantized = bytes.map(move |byte| f64::from(byte.cast_signed()) * unit);
        dequantized.take(values.len()).collect::<Vec<f64>>()
    });
    blocks.collect()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Rows of all sequences: isolated ones, adjacent ones, and some at the borders of blocks and
/// segments.
const ROWS: [(usize, usize); 14] = [
    (0, 1040),
    (1, 1000),
    (2, 69),
    (3, 602),
    (0, 511),
    (0, 512),
    (0, 513),
    (2, 0),
    (2, 1),
    (2, 15),
    (2, 16),
    (1, 36),
    (1, 37),
    (3, 600),
];

#[track_caller]
fn assert_exact(heads: Heads, cache_type: CacheType, windows: &[Option<usize>]) {
    let family = family(heads, cache_type, 1041);
    // Values have 8 bits, and probabilities 14 bits relative to the largest.
    let tolerance = if cache_type == CacheType::Q8 {
        2e-3
    } else {
        1e-5
    };
    let contexts: Vec<CpuContext> = InstructionSet::available()
        .into_iter()
        .map(|set| context(2, set))
        .collect();
    let combinations = windows
        .iter()
        .flat_map(|window| contexts.iter().map(|context| (*window, context)));
    for (window, context) in combinations {
        let set = context.instructions;
        let found = attention_output(context, heads, window, &family, &ROWS);
        for (found, (sequence, position)) in found.chunks_exact(heads.q_width()).zip(ROWS) {
            let texts = &family.sequences[sequence].texts;
            let expected = exact(heads, cache_type, window, texts, position);
            for (found, expected) in found.iter().zip(expected) {
                assert!(
                    (f64::from(*found) - expected).abs() < tolerance,
                    "{heads:?} {cache_type:?} {window:?} {set:?} {sequence} {position}: {found} {expected}"
                );
            }
        }
    }
}

#[test]
fn attention_is_correct_for_heads_of_any_shape() {
    for (n_heads, n_kv_heads, head_dim) in [
        (4, 2, 16),
        (3, 1, 2),
        (2, 2, 24),
        (4, 1, 30),
        (7, 1, 64),
        (2, 1, 80),
        (2, 1, 96),
        (2, 1, 128),
        (1, 1, 256),
    ] {
        for cache_type in TYPES {
            let heads = Heads {
                n_heads,
                n_kv_heads,
                head_dim,
                score_scale: 1.0 / (head_dim as f32).sqrt(),
                ..HEADS
            };
            assert_exact(heads, cache_type, &[None]);
        }
    }
}

#[test]
fn attention_is_correct_in_windows_of_any_size() {
    let windows = [1, 2, 15, 16, 17, 40, 500, 512, 530, 2000].map(Some);
    for cache_type in TYPES {
        assert_exact(HEADS, cache_type, &windows);
    }
}

#[test]
fn attention_is_correct_with_capped_scores() {
    let heads = Heads {
        score_cap: Some(2.0),
        ..HEADS
    };
    for cache_type in TYPES {
        assert_exact(heads, cache_type, &[None, Some(37)]);
    }
}

#[test]
fn a_row_is_bit_identical_alone_in_a_batch_and_on_any_number_of_threads() {
    for (n_heads, n_kv_heads, head_dim) in [(9, 3, 64), (6, 2, 80), (2, 2, 24), (8, 1, 16)] {
        let heads = Heads {
            n_heads,
            n_kv_heads,
            head_dim,
            ..HEADS
        };
        for cache_type in TYPES {
            let family = family(heads, cache_type, 1041);
            let mut rows = ROWS.to_vec();
            rows.extend((480..620).map(|position| (0, position)));
            rows.extend((30..60).map(|position| (1, position)));
            for window in [None, Some(45)] {
                let one_thread = context(1, InstructionSet::best());
                let alone = rows
                    .iter()
                    .flat_map(|row| attention_output(&one_thread, heads, window, &family, &[*row]));
                let alone: Vec<f32> = alone.collect();
                for n_threads in [1, 3, 40] {
                    let best = context(n_threads, InstructionSet::best());
                    let together = attention_output(&best, heads, window, &family, &rows);
                    assert!(bits(&alone) == bits(&together), "{heads:?} {n_threads}");
                    for set in bit_identical_sets(cache_type) {
                        let context = context(n_threads, set);
                        let same = attention_output(&context, heads, window, &family, &rows);
                        assert!(bits(&alone) == bits(&same), "{heads:?} {set:?}");
                    }
                    let few = attention_output(&best, heads, window, &family, &rows[..4]);
                    assert!(bits(&alone[..few.len()]) == bits(&few));
                }
            }
        }
    }
}

/// The instruction sets whose results are bit-identical to the best one's: all with fused
/// multiply-add. With 8-bit keys, each set adds the products in its own order.
fn bit_identical_sets(cache_type: CacheType) -> Vec<InstructionSet> {
    match cache_type {
        CacheType::Q8 => vec![InstructionSet::best()],
        CacheType::F16 | CacheType::F32 => {
            let sets = InstructionSet::available().into_iter();
            sets.filter(|set| *set != InstructionSet::Scalar).collect()
        }
    }
}

/// One text, cut into runs at these positions.
fn cut(heads: Heads, cache_type: CacheType, n: usize, cuts: &[usize]) -> Family {
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain([n]);
    let parts: Vec<Range<usize>> = starts.zip(ends).map(|(start, end)| start..end).collect();
    let runs = parts
        .iter()
        .map(|part| run(heads, cache_type, 0, part.clone()));
    let sequence = Sequence {
        texts: vec![0; n],
        runs: parts.iter().cloned().enumerate().collect(),
    };
    Family {
        runs: runs.collect(),
        sequences: vec![sequence],
    }
}

#[test]
fn a_row_is_bit_identical_wherever_its_sequence_is_cut() {
    let heads = Heads {
        n_heads: 2,
        n_kv_heads: 1,
        ..HEADS
    };
    let (context, n) = (context(2, InstructionSet::best()), 540);
    let rows: Vec<(usize, usize)> = (n - 30..n).map(|position| (0, position)).collect();
    for cache_type in TYPES {
        let bits_of_cut = |cuts: &[usize]| {
            let family = cut(heads, cache_type, n, cuts);
            let windows = [None, Some(30), Some(520)];
            let found =
                windows.map(|window| attention_output(&context, heads, window, &family, &rows));
            bits(&found.concat())
        };
        let uncut = bits_of_cut(&[]);
        for position in (1..40).chain([505, 511, 512, 513, 519]) {
            assert!(uncut == bits_of_cut(&[position]), "{position}");
        }
        for cuts in [[3, 5], [15, 17], [16, 33], [7, 509], [511, 513], [514, 515]] {
            assert!(uncut == bits_of_cut(&cuts), "{cuts:?}");
        }
    }
}

#[test]
fn a_nan_token_affects_only_rows_that_attend_to_it() {
    let context = context(1, InstructionSet::best());
    let none = vec![f32::NAN; HEADS.n_kv_heads * HEADS.head_dim];
    let some = vec![0.5; none.len()];
    // Half precision cannot store such a token.
    for cache_type in [CacheType::F32, CacheType::Q8] {
        for (keys, values) in [(&none, &none), (&none, &some), (&some, &none)] {
            let mut family = family(HEADS, cache_type, 1041);
            family.runs[1].write(40, keys, values);
            let found = attention_output(
                &context,
                HEADS,
                None,
                &family,
                &[(0, 39), (0, 40), (0, 900), (1, 900)],
            );
            let rows = found.chunks_exact(HEADS.q_width());
            let poisoned: Vec<bool> = rows.map(|row| row.iter().all(|x| x.is_nan())).collect();
            assert_eq!(poisoned, [false, true, true, false], "{cache_type:?}");
            assert!(found[..HEADS.q_width()].iter().all(|x| x.is_finite()));
        }
    }
}

#[test]
fn memory_per_position_matches_the_estimate() {
    for head_dim in [16, 32, 64, 80, 128] {
        let n_allocated_bytes = |cache_type: CacheType| {
            let heads = Heads {
                n_heads: 1,
                n_kv_heads: 1,
                head_dim,
                ..HEADS
            };
            run(heads, cache_type, 0, 0..27).n_bytes()
        };
        for cache_type in TYPES {
            let n_bytes = 32 * cache_type.n_bytes(head_dim);
            assert_eq!(
                n_allocated_bytes(cache_type),
                n_bytes,
                "{cache_type:?} {head_dim}"
            );
        }
    }
}
