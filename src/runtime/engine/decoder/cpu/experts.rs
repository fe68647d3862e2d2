//! Mixtures of experts on the CPU: an expert is read from its file when a token first chooses it.

use std::collections::BTreeMap;

use super::projection::Projection;
use super::{Model, Slices};
use crate::engine::EngineError;
use crate::engine::decoder::experts::{ExpertLayer, ExpertRows, StoredExpert, route};
use crate::kernels::{Inputs, exp};

/// The experts in memory, packed for our kernels.
#[derive(Debug)]
pub(super) struct ReadExperts {
    /// By layer and number.
    experts: BTreeMap<(usize, usize), ReadExpert>,
    n_bytes: usize,
    /// Beyond this many bytes, those that were used longest ago are dropped and read again when they
    /// are needed.
    pub n_max_bytes: usize,
    /// Counts the layers that were computed.
    clock: u64,
}

#[derive(Debug)]
struct ReadExpert {
    /// The gate and up projections.
    input: Projection,
    down: Projection,
    n_bytes: usize,
    used_at: u64,
}

/// The memory of mixtures: the experts that were read, and the values of the layer that is computed.
#[derive(Debug)]
pub(super) struct ExpertMemory {
    pub read: ReadExperts,
    /// What the router and the experts read, if that is not the input of the layer's feed-forward
    /// network.
    router_input: Vec<f32>,
    expert_input: Vec<f32>,
    /// The router's outputs.
    scores: Vec<f32>,
    /// The inputs of one expert, and what it computes.
    rows: Vec<f32>,
    inner: Vec<f32>,
    activated: Vec<f32>,
    output: Vec<f32>,
    /// The weighted sum of the outputs.
    sum: Vec<f32>,
}

/// The mixture of a layer, and what it computes with.
pub(super) struct Mixture<'a> {
    pub model: &'a Model,
    /// The number of the layer.
    pub index: usize,
    pub layer: &'a ExpertLayer<Slices>,
    pub inputs: &'a mut Inputs,
    pub memory: &'a mut ExpertMemory,
}

impl ReadExperts {
    /// Creates an empty set that keeps up to `n_max_bytes`.
    pub(super) const fn new(n_max_bytes: usize) -> Self {
        Self {
            experts: BTreeMap::new(),
            n_bytes: 0,
            n_max_bytes,
            clock: 0,
        }
    }

    /// Starts another layer. Experts that it uses are not dropped before the next one starts.
    const fn begin_layer(&mut self) {
        self.clock += 1;
    }

    /// Reads an expert unless it is in memory.
    fn read(
        &mut self,
        key: (usize, usize),
        stored: &StoredExpert,
        form: &Slices,
    ) -> Result<(), EngineError> {
        let now = self.clock;
        if let Some(expert) = self.experts.get_mut(&key) {
            expert.used_at = now;
            return Ok(());
        }
        let expert = ReadExpert::new(stored, form, now)?;
        self.make_room(expert.n_bytes);
        self.n_bytes += expert.n_bytes;
        self.experts.insert(key, expert);
        Ok(())
    }

    /// Drops the experts that were used longest ago, until `n_more` bytes fit.
    fn make_room(&mut self, n_more: usize) {
        while self.n_bytes + n_more > self.n_max_bytes {
            let now = self.clock;
            let old = self.experts.iter().filter(|(_, old)| old.used_at < now);
            let oldest = old.min_by_key(|(_, old)| old.used_at);
            let Some(key) = oldest.map(|(key, _)| *key) else {
                return;
            };
            if let Some(dropped) = self.experts.remove(&key) {
                self.n_bytes -= dropped.n_bytes;
            }
        }
    }
}

impl ReadExpert {
    fn new(stored: &StoredExpert, form: &Slices, used_at: u64) -> Result<Self, EngineError> {
        stored.check_unchanged()?;
        let StoredExpert {
            input,
            input_bias,
            down,
            down_bias,
        } = stored;
        let input = Projection::read(input, input_bias.clone(), form)?;
        let down = Projection::read(std::slice::from_ref(down), down_bias.clone(), form)?;
        Ok(Self {
            n_bytes: input.n_bytes() + down.n_bytes(),
            input,
            down,
            used_at,
        })
    }
}

impl ExpertMemory {
    /// Creates an empty memory that keeps up to `n_max_bytes` of experts.
    pub(super) const fn new(n_max_bytes: usize) -> Self {
        Self {
            read: ReadExperts::new(n_max_bytes),
            router_input: Vec::new(),
            expert_input: Vec::new(),
            scores: Vec::new(),
            rows: Vec::new(),
            inner: Vec::new(),
            activated: Vec::new(),
            output: Vec::new(),
            sum: Vec::new(),
        }
    }
}

impl Mixture<'_> {
    /// Adds the output of the experts to `found`, the output of the network beside them. `values` is
    /// the input of that network, `hidden` the residual stream.
    pub(super) fn add(
        mut self,
        values: &[f32],
        hidden: &[f32],
        found: &mut Vec<f32>,
    ) -> Result<(), EngineError> {
        self.gate(values, found);
        let model = self.model;
        let Some(norms) = &self.layer.own_norms else {
            let routed = self.route(values)?;
            self.sum(&routed, values, found);
            return Ok(());
        };
        let mut router_input = std::mem::take(&mut self.memory.router_input);
        let mut expert_input = std::mem::take(&mut self.memory.expert_input);
        model.normed(Some(&norms.router), hidden, &mut router_input);
        let routed = self.route(&router_input)?;
        model.normed(Some(&norms.experts), hidden, &mut expert_input);
        let mut sum = std::mem::take(&mut self.memory.sum);
        sum.clear();
        sum.resize(hidden.len(), 0.0);
        self.sum(&routed, &expert_input, &mut sum);
        // The inputs are no longer needed.
        model.normed(Some(&norms.dense_after), found, &mut router_input);
        model.normed(Some(&norms.experts_after), &sum, &mut expert_input);
        found.clear();
        let terms = router_input.iter().zip(&expert_input);
        found.extend(terms.map(|(dense, experts)| dense + experts));
        self.memory.router_input = router_input;
        self.memory.expert_input = expert_input;
        self.memory.sum = sum;
        Ok(())
    }

    /// Multiplies the output of the expert that all tokens use by its gate, if it has one.
    fn gate(&mut self, values: &[f32], found: &mut [f32]) {
        let Some(gate) = &self.layer.shared_gate else {
            return;
        };
        let scores = &mut self.memory.scores;
        let threads = &self.model.context.threads;
        gate.forward(threads, values, self.inputs, scores);
        let rows = found.chunks_exact_mut(self.model.blueprint.hidden_size);
        for (row, score) in rows.zip(scores) {
            let gate = 1.0 / (1.0 + exp(-*score));
            for value in row {
                *value *= gate;
            }
        }
    }

    /// Chooses the experts of all rows, and reads those that are not in memory.
    fn route(&mut self, values: &[f32]) -> Result<Vec<ExpertRows>, EngineError> {
        let (layer, scores) = (self.layer, &mut self.memory.scores);
        let threads = &self.model.context.threads;
        layer.router.forward(threads, values, self.inputs, scores);
        let routed = route(&layer.plan, scores, &layer.choice_bias);
        let read = &mut self.memory.read;
        read.begin_layer();
        for rows in &routed {
            if let Some(stored) = layer.experts.get(rows.expert) {
                read.read((self.index, rows.expert), stored, &self.model.form)?;
            }
        }
        Ok(routed)
    }

    /// Adds the weighted outputs of the experts to `sums`.
    fn sum(&mut self, routed: &[ExpertRows], values: &[f32], sums: &mut [f32]) {
        let width = self.model.blueprint.hidden_size;
        let threads = &self.model.context.threads;
        let ExpertMemory {
            read,
            rows,
            inner,
            activated,
            output,
            ..
        } = &mut *self.memory;
        let experts = routed
            .iter()
            .filter_map(|rows| Some((rows, read.experts.get(&(self.index, rows.expert))?)));
        for (routed, expert) in experts {
            rows.clear();
            for used in &routed.uses {
                let row = values.get(used.row * width..(used.row + 1) * width);
                rows.extend_from_slice(row.unwrap_or_default());
            }
            expert.input.forward(threads, rows, self.inputs, inner);
            let n_inner = expert.input.n_rows();
            let feed_forward = self.layer.feed_forward;
            self.model.activate(feed_forward, n_inner, inner, activated);
            expert.down.forward(threads, activated, self.inputs, output);
            let scale = self.layer.scales.get(routed.expert).copied();
            for (used, output) in routed.uses.iter().zip(output.chunks_exact(width)) {
                let weight = used.weight * scale.unwrap_or(1.0);
                let row = sums.get_mut(used.row * width..(used.row + 1) * width);
                for (sum, value) in row.unwrap_or_default().iter_mut().zip(output) {
                    *sum += weight * value;
                }
            }
        }
    }
}
