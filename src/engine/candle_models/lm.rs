//! Sequences over a model that knows one: each has a network of its own, which is read into again from
//! the beginning where it can't go back.

use candle_core::{DType, Device, Tensor};

use super::networks::{Network, Networks, Reading};
use crate::decoding::TokenId;
use crate::engine::sequences::{Reach, Sequences};
use crate::engine::{CausalLm, EngineError, Logits, PREFILL_CHUNK, Row, SequenceId};

/// How many are read at once where it does so only at first. The scores of each head are a square of as
/// many, which must fit into memory; what comes after is read one by one.
const N_WHOLE: usize = 1024;

/// A causal language model of candle-transformers.
pub struct BorrowedLm {
    networks: Networks,
    device: Device,
    n_vocab: usize,
    n_context: usize,
    sequences: Sequences<Sequence>,
}

/// A text, and the network that has read some of it.
#[derive(Default)]
struct Sequence {
    tokens: Vec<TokenId>,
    cached: Option<Cached>,
}

struct Cached {
    network: Box<dyn Network>,
    n_read: usize,
}

impl BorrowedLm {
    /// A model that has read nothing.
    pub fn new(networks: Networks, device: Device, n_vocab: usize, n_context: usize) -> Self {
        Self {
            networks,
            device,
            n_vocab,
            n_context,
            sequences: Sequences::new(),
        }
    }

    fn read(&mut self, rows: &[Row]) -> Result<Vec<f32>, EngineError> {
        let mut values = Vec::new();
        for row in rows {
            let sequence = self.sequences.get_mut(row.sequence)?;
            sequence.tokens.push(row.token);
            if row.logits_wanted
                && let Some(logits) = sequence.catch_up(&self.networks, &self.device)?
            {
                values.extend(scores(&logits, self.n_vocab)?);
            }
        }
        // What reads a text as a whole waits until somebody wants to know what follows.
        let n_least = match self.networks.reading {
            Reading::InChunks => 0,
            Reading::WholeOnly => N_WHOLE,
        };
        for row in rows {
            let sequence = self.sequences.get_mut(row.sequence)?;
            if sequence.tokens.len() >= n_least {
                sequence.catch_up(&self.networks, &self.device)?;
            }
        }
        Ok(values)
    }
}

impl Sequence {
    fn truncate(&mut self, n: usize) {
        self.tokens.truncate(n);
        self.cached = self.cached.take().filter(|cached| cached.n_read <= n);
    }

    /// Reads what is not read yet; gives the scores after the last token if there was any.
    fn catch_up(
        &mut self,
        networks: &Networks,
        device: &Device,
    ) -> candle_core::Result<Option<Tensor>> {
        let n_cached = self.cached.as_ref().map_or(0, |cached| cached.n_read);
        let n_pending = self.tokens.len() - n_cached;
        if n_pending == 0 {
            return Ok(None);
        }
        let goes_on = match networks.reading {
            Reading::InChunks => true,
            Reading::WholeOnly => n_pending == 1 || self.tokens.len() > N_WHOLE,
        };
        // A network that fails has read a part in some layers only, and is not used again.
        let (mut network, mut n_read) = match self.cached.take() {
            Some(cached) if goes_on => (cached.network, cached.n_read),
            _ => (networks.fresh()?, 0),
        };
        let mut logits = None;
        while n_read < self.tokens.len() {
            let n_chunk = n_chunk(networks.reading, n_read);
            let (scores, n_tokens) = self.read_chunk(&mut *network, n_read, n_chunk, device)?;
            logits = Some(scores);
            n_read += n_tokens;
        }
        self.cached = Some(Cached { network, n_read });
        Ok(logits)
    }

    /// Reads one chunk of what is not read yet, where the newest token would have to wait for several;
    /// gives whether it has not.
    fn get_ready(&mut self, networks: &Networks, device: &Device) -> candle_core::Result<bool> {
        let n_cached = self.cached.as_ref().map_or(0, |cached| cached.n_read);
        let n_chunk = n_chunk(networks.reading, n_cached);
        if self.tokens.len() - n_cached <= n_chunk {
            return Ok(true);
        }
        let (mut network, n_read) = match self.cached.take() {
            Some(cached) => (cached.network, cached.n_read),
            None => (networks.fresh()?, 0),
        };
        let (_, n_tokens) = self.read_chunk(&mut *network, n_read, n_chunk, device)?;
        let n_read = n_read + n_tokens;
        self.cached = Some(Cached { network, n_read });
        Ok(false)
    }

    /// The scores after the last token of a chunk, and how many tokens it has.
    fn read_chunk(
        &self,
        network: &mut dyn Network,
        n_read: usize,
        n_chunk: usize,
        device: &Device,
    ) -> candle_core::Result<(Tensor, usize)> {
        let chunk = self.tokens.iter().skip(n_read).take(n_chunk);
        let tokens: Vec<u32> = chunk.map(|token| token.0).collect();
        let n_tokens = tokens.len();
        let tokens = Tensor::new(tokens, device)?.unsqueeze(0)?;
        Ok((network.forward(&tokens, n_read)?, n_tokens))
    }

    fn fork(&self) -> Self {
        let fork = |cached: &Cached| {
            let network = cached.network.fork()?;
            let n_read = cached.n_read;
            Some(Cached { network, n_read })
        };
        Self {
            tokens: self.tokens.clone(),
            cached: self.cached.as_ref().and_then(fork),
        }
    }
}

/// How many tokens are read at once after so many.
const fn n_chunk(reading: Reading, n_read: usize) -> usize {
    match reading {
        Reading::InChunks => PREFILL_CHUNK,
        Reading::WholeOnly if n_read == 0 => N_WHOLE,
        Reading::WholeOnly => 1,
    }
}

/// One row of scores, in whichever shape a network gives it.
fn scores(logits: &Tensor, n_vocab: usize) -> candle_core::Result<Vec<f32>> {
    let values = logits.flatten_all()?.to_dtype(DType::F32)?.to_vec1()?;
    if values.len() == n_vocab {
        Ok(values)
    } else {
        let n_values = values.len();
        candle_core::bail!("the model gives {n_values} scores for a vocabulary of {n_vocab}")
    }
}

impl CausalLm for BorrowedLm {
    fn n_vocab(&self) -> usize {
        self.n_vocab
    }

    fn n_context(&self) -> usize {
        self.n_context
    }

    fn open(&mut self) -> SequenceId {
        self.sequences.add(Sequence::default())
    }

    fn fork(&mut self, parent: SequenceId) -> Result<SequenceId, EngineError> {
        let child = self.sequences.get_mut(parent)?.fork();
        Ok(self.sequences.add(child))
    }

    fn truncate(&mut self, sequence: SequenceId, n: usize) -> Result<(), EngineError> {
        self.sequences.get_mut(sequence)?.truncate(n);
        Ok(())
    }

    fn close(&mut self, sequence: SequenceId) {
        self.sequences.remove(sequence);
    }

    fn n_read(&self, sequence: SequenceId) -> usize {
        self.sequences
            .get(sequence)
            .map_or(0, |sequence| sequence.tokens.len())
    }

    fn get_ready(&mut self, rows: &[Row]) -> Result<bool, EngineError> {
        for row in rows {
            let sequence = self.sequences.get_mut(row.sequence)?;
            if !sequence.get_ready(&self.networks, &self.device)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn forward(&mut self, rows: &[Row]) -> Result<Logits, EngineError> {
        let reach = Reach {
            n_vocab: self.n_vocab,
            n_context: self.n_context,
        };
        let n_read = |sequence: &Sequence| sequence.tokens.len();
        let plan = self.sequences.plan(rows, reach, n_read)?;
        let values = self.read(rows);
        if values.is_err() {
            for (id, n_before) in plan.sequences {
                self.sequences.get_mut(id)?.truncate(n_before);
            }
        }
        Ok(Logits::new(values?, self.n_vocab))
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "sums of small whole numbers are exact")]
mod tests {
    use std::sync::{Arc, Mutex};

    use candle_core::{Device, Result, Tensor};

    use super::super::networks::{Networks, Reading};
    use super::BorrowedLm;
    use crate::decoding::TokenId;
    use crate::engine::{CausalLm, EngineError, Row, SequenceId};

    /// Adds up what it reads, fails at 9, and tells how much it was given at once.
    #[derive(Clone)]
    struct Sum {
        sum: u32,
        chunks: Arc<Mutex<Vec<usize>>>,
    }

    const N_VOCAB: usize = 10;

    fn read(model: &mut Sum, tokens: &Tensor, n_read: usize) -> Result<Tensor> {
        let tokens: Vec<u32> = tokens.squeeze(0)?.to_vec1()?;
        if n_read == 0 {
            assert_eq!(model.sum, 0, "it begins anew");
        }
        model.chunks.lock().unwrap().push(tokens.len());
        model.sum += tokens.iter().sum::<u32>();
        if tokens.contains(&9) {
            candle_core::bail!("nine");
        }
        Tensor::full(model.sum as f32, (1, 1, N_VOCAB), &Device::Cpu)
    }

    /// A model, and the lengths of what its networks read at once.
    fn model(reading: Reading, forks: bool) -> (BorrowedLm, Arc<Mutex<Vec<usize>>>) {
        let chunks = Arc::default();
        let sum = Sum {
            sum: 0,
            chunks: Arc::clone(&chunks),
        };
        let networks = if forks {
            Networks::forking(sum, reading, read)
        } else {
            Networks::copied_unread(sum, reading, read)
        };
        (BorrowedLm::new(networks, Device::Cpu, N_VOCAB, 300), chunks)
    }

    fn rows(sequence: SequenceId, tokens: &[u32]) -> Vec<Row> {
        let last = tokens.len() - 1;
        let row = |(index, token): (usize, &u32)| Row {
            sequence,
            token: TokenId(*token),
            logits_wanted: index == last,
        };
        tokens.iter().enumerate().map(row).collect()
    }

    fn score(lm: &mut BorrowedLm, sequence: SequenceId, tokens: &[u32]) -> f32 {
        let logits = lm.forward(&rows(sequence, tokens)).unwrap();
        assert_eq!(logits.n_rows(), 1);
        logits.row(0).unwrap()[0]
    }

    #[test]
    fn a_fork_and_its_parent_go_apart_and_a_cut_text_is_read_again() {
        for (reading, forks) in [
            (Reading::InChunks, true),
            (Reading::InChunks, false),
            (Reading::WholeOnly, true),
        ] {
            let (mut lm, _) = model(reading, forks);
            let parent = lm.open();
            assert_eq!(score(&mut lm, parent, &[1, 2, 3]), 6.0);
            let child = lm.fork(parent).unwrap();
            assert_eq!(score(&mut lm, parent, &[4]), 10.0);
            assert_eq!(score(&mut lm, child, &[5, 1]), 12.0);
            lm.truncate(parent, 2).unwrap();
            assert_eq!(lm.n_read(parent), 2);
            assert_eq!(score(&mut lm, parent, &[7]), 10.0);
            assert_eq!(score(&mut lm, child, &[1]), 13.0);
        }
    }

    #[test]
    fn a_network_is_read_into_as_it_allows() {
        let text = [1; 130];
        for (reading, expected) in [
            (Reading::InChunks, vec![128, 2, 1, 2]),
            // What is more than one token later is read with all that was before.
            (Reading::WholeOnly, vec![130, 1, 133]),
        ] {
            let (mut lm, chunks) = model(reading, true);
            let sequence = lm.open();
            score(&mut lm, sequence, &text);
            score(&mut lm, sequence, &[1]);
            score(&mut lm, sequence, &[1, 1]);
            assert_eq!(*chunks.lock().unwrap(), expected, "{reading:?}");
        }
    }

    #[test]
    fn what_a_fork_must_read_again_is_read_in_chunks_that_can_be_waited_for() {
        for (reading, n_tokens, n_waits, expected) in [
            (Reading::InChunks, 290, 2, vec![128, 128, 35]),
            (Reading::InChunks, 128, 0, vec![128, 1]),
            (Reading::WholeOnly, 290, 0, vec![291]),
            (Reading::WholeOnly, 1026, 2, vec![1024, 1, 1, 1]),
        ] {
            let (mut lm, chunks) = model(reading, false);
            lm.n_context = 2000;
            let parent = lm.open();
            score(&mut lm, parent, &vec![0; n_tokens]);
            let child = lm.fork(parent).unwrap();
            chunks.lock().unwrap().clear();
            let next = rows(child, &[1]);
            for n_read in 1..=n_waits {
                assert!(!lm.get_ready(&next).unwrap(), "{reading:?}");
                assert_eq!(chunks.lock().unwrap().len(), n_read);
            }
            assert!(lm.get_ready(&next).unwrap(), "{reading:?}");
            assert_eq!(lm.forward(&next).unwrap().row(0).unwrap()[0], 1.0);
            assert_eq!(*chunks.lock().unwrap(), expected, "{reading:?}");
        }
    }

    #[test]
    fn a_long_text_is_not_read_at_once() {
        let (mut lm, chunks) = model(Reading::WholeOnly, true);
        lm.n_context = 2000;
        let sequence = lm.open();
        let mut rows = rows(sequence, &[0; 1026]);
        for row in &mut rows {
            row.logits_wanted = false;
        }
        let (before, after) = rows.split_at(1000);
        lm.forward(before).unwrap();
        assert_eq!(*chunks.lock().unwrap(), [0; 0]);
        lm.forward(after).unwrap();
        assert_eq!(*chunks.lock().unwrap(), [1024, 1, 1]);
        score(&mut lm, sequence, &[1, 1]);
        assert_eq!(*chunks.lock().unwrap(), [1024, 1, 1, 1, 1]);
    }

    #[test]
    fn a_pass_that_fails_reads_nothing() {
        let (mut lm, _) = model(Reading::InChunks, true);
        let sequence = lm.open();
        score(&mut lm, sequence, &[1, 2]);
        let error = lm.forward(&rows(sequence, &[3, 9])).unwrap_err();
        assert!(matches!(error, EngineError::Compute(_)), "{error}");
        let error = lm.forward(&rows(sequence, &[3, 10])).unwrap_err();
        assert!(matches!(error, EngineError::TokenUnknown { token: 10, .. }));
        let error = lm.forward(&rows(sequence, &[0; 299])).unwrap_err();
        assert!(matches!(error, EngineError::ContextFull { n_max: 300 }));
        assert_eq!(lm.n_read(sequence), 2);
        assert_eq!(score(&mut lm, sequence, &[4]), 7.0);
        lm.close(sequence);
        let error = lm.forward(&rows(sequence, &[1])).unwrap_err();
        assert!(matches!(error, EngineError::SequenceUnknown(_)));
    }
}
