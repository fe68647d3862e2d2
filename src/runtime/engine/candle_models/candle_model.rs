//! Runs several sequences on networks that hold one each. Every sequence has its own network, which
//! starts over from the first token if it can't be rewound.

use candle_core::{DType, Device, Tensor};

use super::network::{Network, NetworkFactory, PrefillMode};
use crate::decoding::TokenId;
use crate::engine::caught_panic::catch_panic;
use crate::engine::sequences::{RowLimits, Sequences};
use crate::engine::{CausalLm, EngineError, Logits, PREFILL_CHUNK, Row, SequenceId};

/// The most tokens of the first pass in [`PrefillMode::SinglePass`]; the rest are read one by one.
/// Each head's attention scores are a square matrix of this size, which must fit into memory.
const N_FIRST_PASS: usize = 1024;

/// A causal language model that candle-transformers runs.
pub(crate) struct CandleModel {
    networks: NetworkFactory,
    device: Device,
    n_vocab: usize,
    n_context: usize,
    sequences: Sequences<Sequence>,
}

/// The tokens of a sequence, and a network that has read a prefix of them.
#[derive(Default)]
struct Sequence {
    tokens: Vec<TokenId>,
    /// `None` if no network holds a prefix of the tokens.
    cached: Option<Cached>,
}

struct Cached {
    network: Box<dyn Network>,
    n_read: usize,
}

impl CandleModel {
    /// Creates a model without open sequences.
    pub(crate) fn new(
        networks: NetworkFactory,
        device: Device,
        n_vocab: usize,
        n_context: usize,
    ) -> Self {
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
                values.extend(logits_row(&logits, self.n_vocab)?);
            }
        }
        // A single-pass network waits until logits are wanted, or until its first pass is full.
        let n_min = match self.networks.prefill_mode {
            PrefillMode::Chunked => 0,
            PrefillMode::SinglePass => N_FIRST_PASS,
        };
        for row in rows {
            let sequence = self.sequences.get_mut(row.sequence)?;
            if sequence.tokens.len() >= n_min {
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

    /// Reads all pending tokens. Returns the logits after the last one, or `None` if none were
    /// pending.
    fn catch_up(
        &mut self,
        networks: &NetworkFactory,
        device: &Device,
    ) -> candle_core::Result<Option<Tensor>> {
        let n_cached = self.cached.as_ref().map_or(0, |cached| cached.n_read);
        let n_pending = self.tokens.len() - n_cached;
        if n_pending == 0 {
            return Ok(None);
        }
        let can_continue = match networks.prefill_mode {
            PrefillMode::Chunked => true,
            PrefillMode::SinglePass => n_pending == 1 || self.tokens.len() > N_FIRST_PASS,
        };
        // Take the network out: if a pass fails, only some of its layers have read the chunk, so it
        // must be dropped.
        let (mut network, mut n_read) = match self.cached.take() {
            Some(cached) if can_continue => (cached.network, cached.n_read),
            _ => (networks.create()?, 0),
        };
        let mut logits = None;
        while n_read < self.tokens.len() {
            let n_chunk = n_chunk(networks.prefill_mode, n_read);
            let (chunk_logits, n_tokens) =
                self.read_chunk(&mut *network, n_read, n_chunk, device)?;
            logits = Some(chunk_logits);
            n_read += n_tokens;
        }
        self.cached = Some(Cached { network, n_read });
        Ok(logits)
    }

    /// Reads one chunk of the pending tokens, unless they fit into a single chunk. Returns whether
    /// they do.
    fn get_ready(
        &mut self,
        networks: &NetworkFactory,
        device: &Device,
    ) -> candle_core::Result<bool> {
        let n_cached = self.cached.as_ref().map_or(0, |cached| cached.n_read);
        let n_chunk = n_chunk(networks.prefill_mode, n_cached);
        if self.tokens.len() - n_cached <= n_chunk {
            return Ok(true);
        }
        let (mut network, n_read) = match self.cached.take() {
            Some(cached) => (cached.network, cached.n_read),
            None => (networks.create()?, 0),
        };
        let (_, n_tokens) = self.read_chunk(&mut *network, n_read, n_chunk, device)?;
        let n_read = n_read + n_tokens;
        self.cached = Some(Cached { network, n_read });
        Ok(false)
    }

    /// Reads one chunk. Returns the logits after its last token, and its number of tokens.
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
        let pass = catch_panic(|| network.forward(&tokens, n_read));
        let logits = pass.map_err(candle_core::Error::msg)??;
        Ok((logits, n_tokens))
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

/// Returns how many tokens to read in one pass after the first `n_read`.
const fn n_chunk(mode: PrefillMode, n_read: usize) -> usize {
    match mode {
        PrefillMode::Chunked => PREFILL_CHUNK,
        PrefillMode::SinglePass if n_read == 0 => N_FIRST_PASS,
        PrefillMode::SinglePass => 1,
    }
}

/// Returns one row of logits, whatever the shape of the network's output.
fn logits_row(logits: &Tensor, n_vocab: usize) -> candle_core::Result<Vec<f32>> {
    let values = logits.flatten_all()?.to_dtype(DType::F32)?.to_vec1()?;
    if values.len() == n_vocab {
        Ok(values)
    } else {
        let n_values = values.len();
        candle_core::bail!(
            "the model returned {n_values} logits for a vocabulary of {n_vocab} tokens"
        )
    }
}

impl CausalLm for CandleModel {
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
        let limits = RowLimits {
            n_vocab: self.n_vocab,
            n_context: self.n_context,
        };
        let n_read = |sequence: &Sequence| sequence.tokens.len();
        let plan = self.sequences.plan(rows, limits, n_read)?;
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

    use super::super::network::{NetworkFactory, PrefillMode};
    use super::CandleModel;
    use crate::decoding::TokenId;
    use crate::engine::{CausalLm, EngineError, Row, SequenceId};

    /// Sums the tokens it reads, fails at token 9, and records the length of each chunk.
    #[derive(Clone)]
    struct Sum {
        sum: u32,
        chunks: Arc<Mutex<Vec<usize>>>,
    }

    const N_VOCAB: usize = 10;

    fn read(model: &mut Sum, tokens: &Tensor, n_read: usize) -> Result<Tensor> {
        let tokens: Vec<u32> = tokens.squeeze(0)?.to_vec1()?;
        if n_read == 0 {
            assert_eq!(model.sum, 0, "a fresh network starts at 0");
        }
        model.chunks.lock().unwrap().push(tokens.len());
        model.sum += tokens.iter().sum::<u32>();
        if tokens.contains(&9) {
            candle_core::bail!("nine");
        }
        assert!(!tokens.contains(&8), "eight");
        Tensor::full(model.sum as f32, (1, 1, N_VOCAB), &Device::Cpu)
    }

    /// Returns a model, and the lengths of the chunks that its networks read.
    fn model(mode: PrefillMode, can_fork: bool) -> (CandleModel, Arc<Mutex<Vec<usize>>>) {
        let chunks = Arc::default();
        let sum = Sum {
            sum: 0,
            chunks: Arc::clone(&chunks),
        };
        let networks = if can_fork {
            NetworkFactory::forkable(sum, mode, read)
        } else {
            NetworkFactory::rebuilt(move || Ok(sum.clone()), mode, read)
        };
        (
            CandleModel::new(networks, Device::Cpu, N_VOCAB, 300),
            chunks,
        )
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

    fn logit(lm: &mut CandleModel, sequence: SequenceId, tokens: &[u32]) -> f32 {
        let logits = lm.forward(&rows(sequence, tokens)).unwrap();
        assert_eq!(logits.n_rows(), 1);
        logits.row(0).unwrap()[0]
    }

    #[test]
    fn forks_diverge_and_a_truncated_sequence_is_read_again() {
        for (mode, can_fork) in [
            (PrefillMode::Chunked, true),
            (PrefillMode::Chunked, false),
            (PrefillMode::SinglePass, true),
        ] {
            let (mut lm, _) = model(mode, can_fork);
            let parent = lm.open();
            assert_eq!(logit(&mut lm, parent, &[1, 2, 3]), 6.0);
            let child = lm.fork(parent).unwrap();
            assert_eq!(logit(&mut lm, parent, &[4]), 10.0);
            assert_eq!(logit(&mut lm, child, &[5, 1]), 12.0);
            lm.truncate(parent, 2).unwrap();
            assert_eq!(lm.n_read(parent), 2);
            assert_eq!(logit(&mut lm, parent, &[7]), 10.0);
            assert_eq!(logit(&mut lm, child, &[1]), 13.0);
        }
    }

    #[test]
    fn a_network_reads_in_chunks_or_in_a_single_pass() {
        let text = [1; 130];
        for (mode, expected) in [
            (PrefillMode::Chunked, vec![128, 2, 1, 2]),
            // More than one pending token makes a single-pass network start over.
            (PrefillMode::SinglePass, vec![130, 1, 133]),
        ] {
            let (mut lm, chunks) = model(mode, true);
            let sequence = lm.open();
            logit(&mut lm, sequence, &text);
            logit(&mut lm, sequence, &[1]);
            logit(&mut lm, sequence, &[1, 1]);
            assert_eq!(*chunks.lock().unwrap(), expected, "{mode:?}");
        }
    }

    #[test]
    fn a_fork_is_reread_one_chunk_at_a_time() {
        for (mode, n_tokens, n_waits, expected) in [
            (PrefillMode::Chunked, 290, 2, vec![128, 128, 35]),
            (PrefillMode::Chunked, 128, 0, vec![128, 1]),
            (PrefillMode::SinglePass, 290, 0, vec![291]),
            (PrefillMode::SinglePass, 1026, 2, vec![1024, 1, 1, 1]),
        ] {
            let (mut lm, chunks) = model(mode, false);
            lm.n_context = 2000;
            let parent = lm.open();
            logit(&mut lm, parent, &vec![0; n_tokens]);
            let child = lm.fork(parent).unwrap();
            chunks.lock().unwrap().clear();
            let next = rows(child, &[1]);
            for n_read in 1..=n_waits {
                assert!(!lm.get_ready(&next).unwrap(), "{mode:?}");
                assert_eq!(chunks.lock().unwrap().len(), n_read);
            }
            assert!(lm.get_ready(&next).unwrap(), "{mode:?}");
            assert_eq!(lm.forward(&next).unwrap().row(0).unwrap()[0], 1.0);
            assert_eq!(*chunks.lock().unwrap(), expected, "{mode:?}");
        }
    }

    #[test]
    fn a_long_text_is_not_read_in_one_pass() {
        let (mut lm, chunks) = model(PrefillMode::SinglePass, true);
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
        logit(&mut lm, sequence, &[1, 1]);
        assert_eq!(*chunks.lock().unwrap(), [1024, 1, 1, 1, 1]);
    }

    #[test]
    fn a_failed_pass_leaves_the_sequence_unchanged() {
        let (mut lm, _) = model(PrefillMode::Chunked, true);
        let sequence = lm.open();
        logit(&mut lm, sequence, &[1, 2]);
        let error = lm.forward(&rows(sequence, &[3, 9])).unwrap_err();
        assert!(matches!(error, EngineError::Compute(_)), "{error}");
        let panicked = lm.forward(&rows(sequence, &[8])).unwrap_err();
        assert!(panicked.to_string().contains("eight"), "{panicked}");
        let error = lm.forward(&rows(sequence, &[3, 10])).unwrap_err();
        assert!(matches!(error, EngineError::UnknownToken { token: 10, .. }));
        let error = lm.forward(&rows(sequence, &[0; 299])).unwrap_err();
        assert!(matches!(error, EngineError::ContextFull { n_max: 300 }));
        assert_eq!(lm.n_read(sequence), 2);
        assert_eq!(logit(&mut lm, sequence, &[4]), 7.0);
        lm.close(sequence);
        let error = lm.forward(&rows(sequence, &[1])).unwrap_err();
        assert!(matches!(error, EngineError::UnknownSequence(_)));
    }
}
