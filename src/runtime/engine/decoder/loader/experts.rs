//! Loads mixtures of experts.

use super::Loader;
use crate::engine::blueprint::{Beside, ExpertMatrix, Experts, FeedForward, Matrices, TensorRole};
use crate::engine::decoder::backend::Form;
use crate::engine::decoder::experts::{ExpertLayer, OwnNorms, StoredExpert};
use crate::engine::decoder::norm::NormWeights;
use crate::engine::decoder::weights::DenseNetwork;
use crate::engine::weights::{LoadStop, StoredTensor};

/// How a layer stores the projections that its experts read.
const FUSED: &[ExpertMatrix] = &[ExpertMatrix::GateUp];
const SEPARATE: &[ExpertMatrix] = &[ExpertMatrix::Gate, ExpertMatrix::Up];
const UNGATED: &[ExpertMatrix] = &[ExpertMatrix::Up];

impl<F: Form> Loader<'_, '_, F> {
    /// Loads the mixture of a layer, or returns `None` if it has none.
    pub(super) fn experts(&mut self, layer: usize) -> Result<Option<ExpertLayer<F>>, LoadStop> {
        let Some(plan) = self.blueprint.experts_of(layer) else {
            return Ok(None);
        };
        let hidden = self.blueprint.hidden_size;
        let router = [(TensorRole::Router, plan.n_all)];
        let router = self.projection(layer, &router, hidden, plan.biases)?;
        let choice_bias = if plan.router.choice_bias {
            self.experts_vector(TensorRole::ExpertChoiceBias, layer, plan.n_all)?
        } else {
            Vec::new()
        };
        let (own_norms, scales) = if plan.beside == Beside::DenseNetwork {
            let scales = self.experts_vector(TensorRole::ExpertScale, layer, plan.n_all)?;
            (Some(self.own_norms(layer)?), scales)
        } else {
            (None, Vec::new())
        };
        let shared_gate = match plan.beside {
            Beside::GatedSharedExpert => Some(self.shared_gate(layer)?),
            Beside::Nothing | Beside::SharedExpert | Beside::DenseNetwork => None,
        };
        let stored = self.stored_experts(layer, plan)?;
        let experts = stored.into_iter().map(|stored| self.form.expert(stored));
        Ok(Some(ExpertLayer {
            plan,
            feed_forward: self.blueprint.feed_forward,
            router,
            choice_bias,
            scales,
            shared_gate,
            own_norms,
            experts: experts.collect::<Result<_, _>>()?,
        }))
    }

    /// Loads the feed-forward network of a layer, which may be beside experts. Returns `None` for a
    /// layer without one, or with experts only.
    pub(super) fn dense_network(
        &mut self,
        layer: usize,
    ) -> Result<Option<DenseNetwork<F>>, LoadStop> {
        let (biases, hidden) = (self.blueprint.biases, self.blueprint.hidden_size);
        let ffn = self.blueprint.ffn_size_of(layer);
        let plan = self.blueprint.layers.get(layer);
        if plan.is_some_and(|plan| !plan.has_feed_forward()) {
            return Ok(None);
        }
        let beside = self.blueprint.experts_of(layer).map(|plan| plan.beside);
        let (input, down) = match beside {
            Some(Beside::Nothing) => return Ok(None),
            Some(Beside::SharedExpert | Beside::GatedSharedExpert)
                if self.blueprint.matrices == Matrices::Separate =>
            {
                let mut input = vec![(TensorRole::SharedUp, ffn)];
                if !self.is_ungated() {
                    input.insert(0, (TensorRole::SharedGate, ffn));
                }
                (input, TensorRole::SharedDown)
            }
            _ => (self.ffn_roles(ffn), TensorRole::FfnDown),
        };
        Ok(Some(DenseNetwork {
            feed_forward: self.feed_forward(layer)?,
            input: self.projection(layer, &input, hidden, biases.ffn)?,
            down: self.projection(layer, &[(down, hidden)], ffn, biases.ffn)?,
        }))
    }

    /// Returns whether feed-forward networks have no gate.
    const fn is_ungated(&self) -> bool {
        matches!(self.blueprint.feed_forward, FeedForward::Plain(_))
    }

    /// Takes a vector with one number for each expert.
    fn experts_vector(
        &mut self,
        role: TensorRole,
        layer: usize,
        width: usize,
    ) -> Result<Vec<f32>, LoadStop> {
        let name = self.blueprint.naming.name(role, layer);
        Ok(self.take(&name, &[width])?.values()?)
    }

    /// Loads the gate of the expert that all tokens use. GGUF stores its only row as a vector.
    fn shared_gate(&mut self, layer: usize) -> Result<F::Matrix, LoadStop> {
        let hidden = self.blueprint.hidden_size;
        let name = self.blueprint.naming.name(TensorRole::SharedScore, layer);
        let shape = self.checkpoint.shape(&self.file_name(&name));
        let gate = if shape.is_some_and(|shape| shape.len() == 1) {
            self.take(&name, &[hidden])?
        } else {
            self.take(&name, &[1, hidden])?
        };
        Ok(self.form.matrix(vec![gate], None)?)
    }

    /// Loads the norms of a layer whose experts run beside a feed-forward network.
    fn own_norms(&mut self, layer: usize) -> Result<OwnNorms<F::Vector>, LoadStop> {
        let hidden = self.blueprint.hidden_size;
        let mut scales = self.experts_vector(TensorRole::RouterScale, layer, hidden)?;
        let factor = (hidden as f32).sqrt().recip();
        for scale in &mut scales {
            *scale *= factor;
        }
        Ok(OwnNorms {
            router: NormWeights::Rms {
                weights: self.form.vector(scales)?,
                eps: self.blueprint.norm.eps,
            },
            experts: self.norm(TensorRole::ExpertNorm, layer)?,
            experts_after: self.norm(TensorRole::ExpertNormAfter, layer)?,
            dense_after: self.norm(TensorRole::DenseNormAfter, layer)?,
        })
    }

    /// Takes the matrices of all experts of a layer, stacked or one by one.
    fn stored_experts(
        &mut self,
        layer: usize,
        plan: Experts,
    ) -> Result<Vec<StoredExpert>, LoadStop> {
        let (hidden, ffn) = (self.blueprint.hidden_size, plan.ffn_size);
        let layout = if self.is_ungated() {
            UNGATED
        } else if self.stacked_name(ExpertMatrix::GateUp, layer).is_some() {
            FUSED
        } else {
            SEPARATE
        };
        let mut inputs: Vec<Vec<StoredTensor>> = Vec::new();
        inputs.resize_with(plan.n_all, Vec::new);
        let mut input_biases = vec![Vec::new(); plan.n_all];
        for matrix in layout {
            let n_rows = if *matrix == ExpertMatrix::GateUp {
                2 * ffn
            } else {
                ffn
            };
            let matrices = self.expert_matrices(*matrix, layer, plan, [n_rows, hidden])?;
            for (parts, part) in inputs.iter_mut().zip(matrices) {
                parts.push(part);
            }
            let biases = self.expert_biases(*matrix, layer, plan, n_rows)?;
            for (parts, part) in input_biases.iter_mut().zip(biases) {
                parts.extend(part);
            }
        }
        let downs = self.expert_matrices(ExpertMatrix::Down, layer, plan, [hidden, ffn])?;
        let mut down_biases = self
            .expert_biases(ExpertMatrix::Down, layer, plan, hidden)?
            .into_iter();
        let parts = inputs.into_iter().zip(input_biases).zip(downs);
        let experts = parts.map(|((input, input_bias), down)| StoredExpert {
            input,
            input_bias: plan.biases.then_some(input_bias),
            down,
            down_bias: down_biases.next(),
        });
        Ok(experts.collect())
    }

    /// Returns the name of the tensor with a matrix of all experts, if the file has it.
    fn stacked_name(&self, matrix: ExpertMatrix, layer: usize) -> Option<String> {
        let names = self.blueprint.naming.stacked_experts(matrix, layer);
        let mut names = names.into_iter();
        names.find(|name| self.checkpoint.shape(&self.file_name(name)).is_some())
    }

    /// Takes one matrix of each expert.
    fn expert_matrices(
        &mut self,
        matrix: ExpertMatrix,
        layer: usize,
        plan: Experts,
        [n_rows, width]: [usize; 2],
    ) -> Result<Vec<StoredTensor>, LoadStop> {
        let naming = self.blueprint.naming;
        let stacked = self.stacked_name(matrix, layer);
        let stacked = stacked.or_else(|| {
            let mut names = naming.stacked_experts(matrix, layer).into_iter();
            names.next().filter(|_| naming.is_gguf())
        });
        let Some(name) = stacked else {
            let names = (0..plan.n_all).map(|expert| naming.single_expert(matrix, layer, expert));
            let names: Vec<String> = names.collect();
            let shape = [n_rows, width];
            return names.iter().map(|name| self.take(name, &shape)).collect();
        };
        // Blocks of four bits are stored in the usual order even there, as are the files of some
        // tools.
        let transposed = [plan.n_all, width, n_rows];
        let stored = self.checkpoint.shape(&self.file_name(&name));
        let is_transposed = plan.transposed && !self.is_quantized(&name);
        if is_transposed && stored.is_none_or(|shape| shape == transposed) {
            let stacked = self.take(&name, &transposed)?;
            let matrices = stacked.unstacked().into_iter();
            return Ok(matrices.map(StoredTensor::transposed).collect());
        }
        let stacked = self.take(&name, &[plan.n_all, n_rows, width])?;
        Ok(stacked.unstacked())
    }

    /// Takes the biases of one matrix of each expert. None if the model has no biases.
    fn expert_biases(
        &mut self,
        matrix: ExpertMatrix,
        layer: usize,
        plan: Experts,
        width: usize,
    ) -> Result<Vec<Vec<f32>>, LoadStop> {
        let names = self.blueprint.naming.expert_biases(matrix, layer);
        let Some(name) = names.into_iter().next().filter(|_| plan.biases) else {
            return Ok(Vec::new());
        };
        let values = self.take(&name, &[plan.n_all, width])?.values()?;
        Ok(values.chunks_exact(width).map(<[f32]>::to_vec).collect())
    }

    /// Returns whether a tensor is stored in blocks.
    fn is_quantized(&self, name: &str) -> bool {
        self.checkpoint.is_quantized(&self.file_name(name))
    }
}
