//! Mixtures of experts: feed-forward networks of which a router chooses a few for each token.
//!
//! Shazeer et al. 2017, "Outrageously Large Neural Networks: The Sparsely-Gated Mixture-of-Experts
//! Layer".

use super::Blueprint;
use super::facts::{Facts, Key};
use crate::engine::EngineError;

/// More experts than this in a layer mean a broken file.
const MAX_EXPERTS: usize = 1 << 12;

/// The mixture of experts in a layer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Experts {
    pub n_all: usize,
    /// How many of them each token uses.
    pub n_chosen: usize,
    /// The inner width of an expert.
    pub ffn_size: usize,
    pub router: Router,
    pub beside: Beside,
    /// Whether the router and the experts have biases.
    pub biases: bool,
    /// Whether stacked matrices are stored as `[expert, inputs, outputs]`.
    pub transposed: bool,
}

/// How experts are chosen and weighted, from a score for each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Router {
    pub scoring: Scoring,
    /// Whether the weights of the chosen experts are divided by their sum.
    pub normalizes: bool,
    /// Added to that sum.
    pub eps: f32,
    /// Multiplies the weights.
    pub scale: f32,
    /// Whether a learned bias is added to the scores for the choice only. DeepSeek-AI 2024,
    /// "DeepSeek-V3 Technical Report".
    pub choice_bias: bool,
    /// The groups of neighboring experts among which those with the best experts are chosen first.
    pub groups: Option<ExpertGroups>,
}

/// How the router's outputs become scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scoring {
    /// A softmax over all experts.
    Softmax,
    /// A softmax over the chosen experts.
    SoftmaxOfChosen,
    /// A sigmoid of each output.
    Sigmoid,
}

/// Groups of neighboring experts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ExpertGroups {
    pub n_groups: usize,
    /// How many of them each token chooses, by the sum of the two best scores in each.
    pub n_chosen: usize,
}

/// What a layer with experts computes beside them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beside {
    Nothing,
    /// An expert that every token uses.
    SharedExpert,
    /// An expert that every token uses, multiplied by a gate.
    GatedSharedExpert,
    /// A feed-forward network. It, the router and the experts have their own norms.
    DenseNetwork,
}

impl Router {
    /// A softmax over all experts, whose chosen values are the weights.
    pub(crate) const SOFTMAX: Self = Self {
        scoring: Scoring::Softmax,
        normalizes: false,
        eps: 0.0,
        scale: 1.0,
        choice_bias: false,
        groups: None,
    };
}

const NORMALIZES: Key = Key::new("norm_topk_prob", "expert_weights_norm");
const SCALE: Key = Key::new("routed_scaling_factor", "expert_weights_scale");
const N_GROUPS: Key = Key::new("n_group", "expert_group_count");
const N_CHOSEN_GROUPS: Key = Key::new("topk_group", "expert_group_used_count");

impl Experts {
    /// Reads a mixture with the router of DeepSeek-V3 and a shared expert: sigmoids, a bias for the
    /// choice, and groups.
    pub(super) fn deepseek_v3(facts: &Facts<'_>) -> Result<Self, EngineError> {
        let n_groups = facts.size(N_GROUPS)?.unwrap_or(1);
        let groups = ExpertGroups {
            n_groups,
            n_chosen: facts.size(N_CHOSEN_GROUPS)?.unwrap_or(1),
        };
        let keys = ExpertKeys {
            n_experts: Key::new("n_routed_experts", "expert_count"),
            ..ExpertKeys::USUAL
        };
        Ok(Self {
            router: Router {
                scoring: Scoring::Sigmoid,
                normalizes: facts.flag(NORMALIZES)?.unwrap_or(!facts.is_gguf()),
                eps: 1e-20,
                scale: facts.number(SCALE)?.unwrap_or(1.0),
                choice_bias: true,
                groups: (n_groups > 1).then_some(groups),
            },
            beside: Beside::SharedExpert,
            ..keys.read(facts)?
        })
    }
}

/// Where a file states the sizes of its mixtures.
pub(super) struct ExpertKeys {
    pub n_experts: Key,
    pub n_chosen: Key,
    pub ffn_size: Key,
}

impl ExpertKeys {
    /// The keys of most families.
    pub(super) const USUAL: Self = Self {
        n_experts: Key::new("num_experts", "expert_count"),
        n_chosen: Key::new("num_experts_per_tok", "expert_used_count"),
        ffn_size: Key::new("moe_intermediate_size", "expert_feed_forward_length"),
    };

    /// Reads the sizes, with a router that takes the softmax as it is and with nothing beside the
    /// experts.
    pub(super) fn read(self, facts: &Facts<'_>) -> Result<Experts, EngineError> {
        Ok(Experts {
            n_all: facts.required_size(self.n_experts)?,
            n_chosen: facts.required_size(self.n_chosen)?,
            ffn_size: facts.required_size(self.ffn_size)?,
            router: Router::SOFTMAX,
            beside: Beside::Nothing,
            biases: false,
            transposed: false,
        })
    }
}

impl Blueprint {
    /// Gives the mixture to the layers that `has_experts` selects. If `shared_size` is given, it is the
    /// inner width of the expert that all tokens use.
    pub(super) fn with_experts(
        mut self,
        experts: Experts,
        shared_size: Option<usize>,
        has_experts: impl Fn(usize) -> bool,
    ) -> Self {
        self.experts = Some(experts);
        let layers = self.layers.iter_mut().chain(&mut self.mtp_block);
        for (index, layer) in layers.enumerate() {
            layer.has_experts = has_experts(index);
            if layer.has_experts && shared_size.is_some() {
                layer.ffn_size = shared_size;
            }
        }
        self
    }

    /// Returns the mixture of a layer, or `None` if it has a feed-forward network only.
    pub(crate) fn experts_of(&self, layer: usize) -> Option<Experts> {
        let plan = self.layers.get(layer)?;
        self.experts.filter(|_| plan.has_experts)
    }

    /// Returns what is impossible about the mixtures.
    pub(super) fn expert_error(&self) -> Option<String> {
        let Experts {
            n_all: n_experts,
            n_chosen,
            router,
            ..
        } = self.experts?;
        if !(1..=MAX_EXPERTS).contains(&n_experts) {
            return Some(format!("the number of experts is {n_experts}"));
        }
        if !(1..=n_experts).contains(&n_chosen) {
            return Some(format!(
                "a router can’t choose {n_chosen} of {n_experts} experts"
            ));
        }
        if !(router.scale.is_finite() && router.scale > 0.0) {
            return Some(format!("the scale of experts is {}", router.scale));
        }
        let ExpertGroups {
            n_groups,
            n_chosen: n_chosen_groups,
        } = router.groups?;
        if n_groups == 0 || !n_experts.is_multiple_of(n_groups) {
            return Some(format!("{n_experts} experts can’t form {n_groups} groups"));
        }
        if !(1..=n_groups).contains(&n_chosen_groups) {
            return Some(format!(
                "a router can’t choose {n_chosen_groups} of {n_groups} groups"
            ));
        }
        let n_eligible = n_chosen_groups * (n_experts / n_groups);
        (n_chosen > n_eligible)
            .then(|| format!("a router can’t choose {n_chosen} of {n_eligible} experts"))
    }
}
