//! The ways in which a text can be fed to a model.

use quartet::decoding::TokenId;
use quartet::engine::{CausalLm, Row, SequenceId};

use crate::architectures::fixture::Fixture;

/// How a text is fed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reading {
    /// In one forward pass.
    Whole,
    /// In chunks of this many tokens.
    InChunks(usize),
    /// In chunks, interleaved with rows of another sequence.
    BesideAnother,
    /// The first half by a parent, the second half by its fork, while the parent reads other
    /// tokens.
    FromFork,
    /// In chunks, each followed by extra tokens that are then truncated.
    AfterTruncation,
    /// In chunks of this many tokens, each when the model is ready for it.
    WhenReady(usize),
    /// In chunks of this many tokens, with the total length announced after the first chunk.
    Announced(usize),
}

/// The logits of each chunk, each with the length of the sequence after it.
type Found = Vec<(usize, Vec<Vec<f32>>)>;

impl Reading {
    /// Returns the largest deviation from the expected logits.
    pub(crate) fn difference(self, fixture: &Fixture) -> f32 {
        let mut model = fixture.model.borrow_mut();
        let found = self.read(model.lm.as_mut(), &fixture.tokens);
        let mut position = 0;
        let mut largest = 0.0_f32;
        for (n_read, rows) in found {
            for row in rows {
                let expected = fixture.expected(position, n_read);
                assert_eq!(row.len(), expected.len());
                for (found, expected) in row.iter().zip(expected) {
                    let difference = (found - expected).abs();
                    assert!(difference.is_finite(), "{found}, not {expected}");
                    largest = largest.max(difference);
                }
                position += 1;
            }
        }
        assert_eq!(position, fixture.tokens.len());
        largest
    }

    fn read(self, lm: &mut dyn CausalLm, tokens: &[u32]) -> Found {
        let sequence = lm.open();
        match self {
            Self::Whole => vec![read(lm, sequence, tokens)],
            Self::InChunks(n_tokens) => {
                let chunks = tokens.chunks(n_tokens);
                chunks.map(|chunk| read(lm, sequence, chunk)).collect()
            }
            Self::BesideAnother => {
                let other = lm.open();
                let chunks = tokens.chunks(3);
                chunks
                    .map(|chunk| beside(lm, sequence, other, chunk))
                    .collect()
            }
            Self::FromFork => {
                let (before, after) = tokens.split_at(tokens.len() / 2);
                let mut found = vec![read(lm, sequence, before)];
                let child = lm.fork(sequence).unwrap();
                for chunk in after.chunks(5) {
                    read(lm, sequence, &[5, 6, 7]);
                    found.push(read(lm, child, chunk));
                }
                found
            }
            Self::AfterTruncation => {
                let chunks = tokens.chunks(13);
                chunks
                    .map(|chunk| {
                        let found = read(lm, sequence, chunk);
                        read(lm, sequence, &[9, 8, 7, 6, 5, 4, 3]);
                        lm.truncate(sequence, found.0).unwrap();
                        found
                    })
                    .collect()
            }
            Self::WhenReady(n_tokens) => {
                let chunks = tokens.chunks(n_tokens);
                chunks
                    .map(|chunk| {
                        let rows: Vec<Row> =
                            chunk.iter().map(|token| row(sequence, *token)).collect();
                        while !lm.get_ready(&rows).unwrap() {}
                        read(lm, sequence, chunk)
                    })
                    .collect()
            }
            Self::Announced(n_tokens) => {
                let (first, _) = tokens.split_at(n_tokens);
                let before = read(lm, sequence, first).1;
                let n_kept = lm.truncate_for(sequence, n_tokens, tokens.len()).unwrap();
                let n_read = lm.n_read(sequence);
                assert_eq!(n_read, n_kept);
                let mut found = if n_kept == 0 { Vec::new() } else { before };
                for chunk in tokens[n_read..].chunks(n_tokens) {
                    found.extend(read(lm, sequence, chunk).1);
                }
                vec![(tokens.len(), found)]
            }
        }
    }
}

/// Reads tokens in one forward pass. Returns the length of the sequence after it, and the logits
/// after each token.
pub(crate) fn read(
    lm: &mut dyn CausalLm,
    sequence: SequenceId,
    tokens: &[u32],
) -> (usize, Vec<Vec<f32>>) {
    let rows: Vec<Row> = tokens.iter().map(|token| row(sequence, *token)).collect();
    let logits = lm.forward(&rows).unwrap();
    let rows = (0..logits.n_rows()).map(|index| logits.row(index).unwrap().to_vec());
    (lm.n_read(sequence), rows.collect())
}

/// Returns the text after a prompt, in which each token is the most likely one.
pub(crate) fn greedy_text(lm: &mut dyn CausalLm, prompt: &[u32], n_tokens: usize) -> Vec<u32> {
    let sequence = lm.open();
    let mut text = Vec::new();
    let mut next = prompt.to_vec();
    for _ in 0..n_tokens {
        let (_, logits) = read(lm, sequence, &next);
        let token = most_likely(logits.last().unwrap());
        text.push(token);
        next = vec![token];
    }
    text
}

/// Returns the token with the highest logit.
fn most_likely(logits: &[f32]) -> u32 {
    let tokens = logits.iter().zip(0..);
    tokens.max_by(|(a, _), (b, _)| a.total_cmp(b)).unwrap().1
}

/// Like [`read`], with a row of another sequence before each row.
fn beside(
    lm: &mut dyn CausalLm,
    sequence: SequenceId,
    other: SequenceId,
    tokens: &[u32],
) -> (usize, Vec<Vec<f32>>) {
    let rows: Vec<Row> = tokens
        .iter()
        .flat_map(|token| [row(other, 63 - token), row(sequence, *token)])
        .collect();
    let logits = lm.forward(&rows).unwrap();
    let own = (1..logits.n_rows()).step_by(2);
    let rows = own.map(|index| logits.row(index).unwrap().to_vec());
    (lm.n_read(sequence), rows.collect())
}

const fn row(sequence: SequenceId, token: u32) -> Row {
    Row {
        sequence,
        token: TokenId(token),
        logits_wanted: true,
    }
}
