//! The multi-token-prediction head: one more layer, which reads a token's embedding and the hidden
//! state before it, and predicts the token after.
//!
//! DeepSeek-AI 2024, "DeepSeek-V3 Technical Report", section 2.2. As in transformers' `MtpModel` and in
//! llama.cpp, the hidden state is that after the last norm, and so is the one from which the head goes
//! on.

use super::{Batch, Buffers, Model};
use crate::engine::decoder::backend::{MtpOutput, MtpRows};
use crate::engine::decoder::batch::{Place, RotaryAngles};
use crate::engine::decoder::cache::Cache;
use crate::engine::decoder::cpu::run::CpuRun;
use crate::engine::{EngineError, ForwardTimes};

impl Model {
    /// Returns the hidden states of some rows of the last pass, after the last norm.
    pub(super) fn hidden_states(
        &self,
        rows: impl Iterator<Item = usize>,
        buffers: &mut Buffers,
    ) -> Vec<f32> {
        let width = self.blueprint.hidden_size;
        let mut states = Vec::new();
        for row in rows {
            let state = buffers.hidden.get(row * width..(row + 1) * width);
            states.extend_from_slice(state.unwrap_or_default());
        }
        let norm = Some(&self.weights.final_norm);
        self.normed(norm, &states, &mut buffers.normed).to_vec()
    }

    /// Runs the head, whose keys and values go to the tail of `cache`.
    pub(super) fn run_mtp_head(
        &self,
        rows: MtpRows<'_>,
        cache: &mut Cache<CpuRun>,
        buffers: &mut Buffers,
    ) -> Result<MtpOutput, EngineError> {
        let head = self.weights.mtp_head.as_ref();
        let head = head.ok_or(EngineError::NoMtpHead)?;
        let threads = &self.context.threads;
        let joined = self.mtp_inputs(rows, buffers);
        let Buffers { hidden, inputs, .. } = &mut *buffers;
        head.input.forward(threads, &joined, inputs, hidden);
        let places = (cache.n_read()..).map(|position| Place {
            cache: 0,
            position,
            is_long: false,
        });
        let places: Vec<Place> = places.take(rows.tokens.len()).collect();
        let rotations = self.weights.facts.rotations.iter();
        let mut batch = Batch {
            context: &self.context,
            places: &places,
            rotary_angles: rotations
                .map(|rotation| RotaryAngles::new(rotation, &places))
                .collect(),
            caches: std::slice::from_mut(cache),
        };
        // Its time is that of a draft, not of a pass.
        let mut times = ForwardTimes::default();
        self.layer(&head.layer, &mut batch, buffers, &mut times)?;
        if !rows.logits_wanted {
            return Ok(MtpOutput::default());
        }
        let Buffers {
            hidden,
            normed,
            inputs,
            ..
        } = buffers;
        let start = hidden.len().saturating_sub(self.blueprint.hidden_size);
        let last = hidden.get(start..).unwrap_or_default();
        let norm = head.final_norm.as_ref();
        let norm = norm.unwrap_or(&self.weights.final_norm);
        let hidden = self.normed(Some(norm), last, normed).to_vec();
        let mut logits = Vec::new();
        self.weights
            .head()
            .forward(threads, &hidden, inputs, &mut logits);
        self.finish_logits(&mut logits);
        Ok(MtpOutput { logits, hidden })
    }

    /// Returns, for each row, the normed embedding of its token and the normed hidden state before it,
    /// side by side.
    fn mtp_inputs(&self, rows: MtpRows<'_>, buffers: &mut Buffers) -> Vec<f32> {
        let Some(head) = &self.weights.mtp_head else {
            return Vec::new();
        };
        let width = self.blueprint.hidden_size;
        let mut embedded = Vec::new();
        let tokens = rows.tokens.iter().map(|token| token.index());
        self.weights
            .embedding
            .extend_with_rows(tokens, &mut embedded);
        let norm = Some(&head.token_norm);
        let tokens = self.normed(norm, &embedded, &mut buffers.normed);
        let norm = Some(&head.hidden_norm);
        let states = self.normed(norm, rows.hidden, &mut buffers.found);
        let pairs = tokens.chunks_exact(width).zip(states.chunks_exact(width));
        let pairs = pairs.flat_map(|(token, state)| token.iter().chain(state));
        pairs.copied().collect()
    }
}
