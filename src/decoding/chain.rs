//! Filters in order and one selector at the end: from a row of logits to one token and its evidence.

use serde::{Deserialize, Serialize};

use super::{
    Candidates, Coins, DecodingError, Evidence, Filter, History, RankedCandidate, Selector,
    StageReport, TokenId, Trace,
};

/// How many of the most likely candidates a step's record keeps, before the chain and after it.
const N_RECORDED: usize = 32;

/// A filter at its place in the chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// The rule and its values.
    #[serde(flatten)]
    pub filter: Filter,
    /// Switched off, it stays in its place and does nothing.
    pub enabled: bool,
}

impl From<Filter> for Stage {
    fn from(filter: Filter) -> Self {
        Self {
            filter,
            enabled: true,
        }
    }
}

/// A chain as it is set: plain data, copied into the record of each run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChainConfig {
    /// The stages, in the order in which they are applied.
    pub stages: Vec<Stage>,
    /// What picks the token in the end.
    pub selector: Selector,
}

impl ChainConfig {
    /// Always the most likely token.
    pub const fn greedy() -> Self {
        Self {
            stages: Vec::new(),
            selector: Selector::Greedy,
        }
    }

    /// These filters in this order, then a draw.
    pub fn sampled(filters: impl IntoIterator<Item = Filter>) -> Self {
        Self {
            stages: filters.into_iter().map(Stage::from).collect(),
            selector: Selector::Multinomial,
        }
    }

    /// The filters that are switched on and set to something that can change a distribution.
    pub fn active(&self) -> impl Iterator<Item = &Filter> {
        self.stages
            .iter()
            .filter(|stage| stage.enabled && !stage.filter.is_neutral())
            .map(|stage| &stage.filter)
    }

    /// The first sentence about a value out of range, or nothing where the chain can run.
    pub fn complaint(&self) -> Option<String> {
        self.stages
            .iter()
            .filter(|stage| stage.enabled)
            .find_map(|stage| stage.filter.complaint())
    }
}

impl std::fmt::Display for ChainConfig {
    /// The chain in one line, as chips show it: "T 0.7 › top-p 0.9".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut parts: Vec<String> = self.active().map(Filter::to_string).collect();
        match (self.selector, parts.is_empty()) {
            (Selector::Greedy, _) => parts.push("top token".to_owned()),
            (Selector::Multinomial, true) => parts.push("T 1".to_owned()),
            (Selector::Multinomial, false) => {}
        }
        f.write_str(&parts.join(" › "))
    }
}

/// A chain as it runs for one sequence.
#[derive(Debug, Clone)]
pub struct SamplerChain {
    config: ChainConfig,
}

/// One step's outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    /// The token that was picked.
    pub token: TokenId,
    /// How it came about.
    pub trace: Trace,
}

impl SamplerChain {
    /// A chain at the beginning of a sequence.
    pub const fn new(config: ChainConfig) -> Self {
        Self { config }
    }

    /// Draws one token from a row of logits, one for each entry of the vocabulary.
    pub fn sample(
        &mut self,
        logits: &[f32],
        history: History<'_>,
        coins: Coins,
    ) -> Result<Sampled, DecodingError> {
        let mut candidates = Candidates::from_logits(logits)?;
        let raw = evidence_of(&mut candidates);
        let mut stages = Vec::new();
        for stage in self.config.stages.iter().filter(|stage| stage.enabled) {
            stages.push(run_stage(
                &stage.filter,
                history,
                &raw.head,
                &mut candidates,
            ));
        }
        let draw = self.config.selector.pick(coins, &mut candidates);
        let survivors = ranked_head(&mut candidates);

        let raw_logit = logits.get(draw.token.index()).copied().unwrap_or(f32::NAN);
        let trace = Trace {
            raw_prob: (f64::from(raw_logit) - raw.log_sum_exp).exp(),
            raw_rank: raw_rank(logits, draw.token, raw_logit),
            raw,
            stages,
            survivors,
            draw,
        };
        Ok(Sampled {
            token: draw.token,
            trace,
        })
    }
}

fn run_stage(
    filter: &Filter,
    history: History<'_>,
    head: &[RankedCandidate],
    candidates: &mut Candidates,
) -> StageReport {
    let before = candidates.clone();
    let before_softmax = candidates.softmax();
    filter.apply(history, candidates);
    let softmax = candidates.softmax();
    let mass_removed = if candidates.n_kept() < before.n_kept() {
        let kept: f64 = candidates
            .iter()
            .map(|candidate| before_softmax.prob(candidate.logit))
            .sum();
        (1.0 - kept).clamp(0.0, 1.0)
    } else {
        0.0
    };
    StageReport {
        filter: *filter,
        n_kept: candidates.n_kept() as u32,
        mass_removed,
        entropy_nats: softmax.entropy_nats,
        head_probs: head
            .iter()
            .map(|tracked| {
                candidates
                    .iter()
                    .find(|candidate| candidate.token == tracked.token)
                    .map(|candidate| softmax.prob(candidate.logit) as f32)
            })
            .collect(),
    }
}

fn evidence_of(candidates: &mut Candidates) -> Evidence {
    let softmax = candidates.softmax();
    Evidence {
        n_candidates: candidates.n_kept() as u32,
        head: ranked_head(candidates),
        log_sum_exp: softmax.log_sum_exp,
        entropy_nats: softmax.entropy_nats,
    }
}

fn ranked_head(candidates: &mut Candidates) -> Vec<RankedCandidate> {
    let softmax = candidates.softmax();
    candidates
        .head(N_RECORDED)
        .iter()
        .map(|candidate| RankedCandidate {
            token: candidate.token,
            logit: candidate.logit,
            prob: softmax.prob(candidate.logit),
        })
        .collect()
}

/// 1 plus the number of tokens that the model put before this one.
fn raw_rank(logits: &[f32], token: TokenId, logit: f32) -> u32 {
    let before = logits
        .iter()
        .enumerate()
        .filter(|(index, other)| **other > logit || (**other == logit && *index < token.index()));
    before.count() as u32 + 1
}
