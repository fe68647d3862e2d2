//! How many candidates the chain keeps at each token, and their mass.

use super::{PanelSpec, TrendAxis, TrendShape, TrendSpec};
use crate::decoding::Trace;
use crate::generation::Generation;
use crate::generation::formatting::{grouped, percent};

pub(super) const SPEC: TrendSpec = TrendSpec {
    name: "Candidates kept",
    subtitle: "and their mass before the chain",
    hint: "How many candidates the chain keeps at each token, and their mass.",
    file_name: "candidates-kept",
    file_summary: "how many candidates each chain keeps",
    needs_times: false,
    shape: TrendShape::Lines {
        panels: &[
            PanelSpec {
                title: "Tokens kept",
                axis: TrendAxis::Log,
                values: counts,
            },
            PanelSpec {
                title: "Mass kept",
                axis: TrendAxis::Share,
                values: masses,
            },
        ],
        words,
    },
};

/// The probability mass, before the chain, of the tokens that the chain kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeptMass {
    /// From 0 to 1.
    pub value: f64,
    /// Whether all kept tokens were recorded. Otherwise the value is a lower bound.
    pub exact: bool,
}

impl KeptMass {
    /// Computes the mass at one step.
    pub fn of(trace: &Trace) -> Self {
        let n_kept = trace.n_known_kept();
        if n_kept.is_some() && n_kept >= trace.n_known_candidates() {
            return Self {
                value: 1.0,
                exact: true,
            };
        }
        let head = trace.raw.head.iter().enumerate();
        let kept = head.filter(|(index, _)| trace.head_final_prob(*index).is_some());
        let (n, value) = kept.fold((0, 0.0), |(n, sum), (_, token)| (n + 1, sum + token.prob));
        Self {
            value: f64::min(value, 1.0),
            exact: n_kept.is_some_and(|n_kept| n >= n_kept),
        }
    }
}

fn counts(text: &Generation) -> Vec<Option<f64>> {
    let counts = text.steps.iter().map(|step| step.trace.n_known_kept());
    counts.map(|n_kept| n_kept.map(f64::from)).collect()
}

fn masses(text: &Generation) -> Vec<Option<f64>> {
    let masses = text.steps.iter().map(|step| KeptMass::of(&step.trace));
    masses.map(|mass| Some(mass.value)).collect()
}

fn words(text: &Generation, index: usize) -> Option<String> {
    let trace = &text.steps.get(index)?.trace;
    let mass = KeptMass::of(trace);
    let bound = if mass.exact { "" } else { "at least " };
    let share = percent(mass.value);
    Some(match trace.n_known_kept() {
        Some(n_kept) => format!("{} kept, {bound}{share}", grouped(f64::from(n_kept))),
        None => format!("number kept unknown, {bound}{share}"),
    })
}

#[cfg(test)]
mod tests {
    use super::KeptMass;
    use crate::decoding::filters::TopK;
    use crate::decoding::testing::logits_of;
    use crate::decoding::{ChainConfig, Coins, Filter, History, SamplerChain, Trace};

    fn trace(chain: ChainConfig, n: usize) -> Trace {
        let halves = std::iter::successors(Some(0.5_f32), |prob| Some(prob / 2.0));
        let probs: Vec<f32> = halves.take(n).collect();
        let coins = Coins {
            seed: 1,
            position: 0,
        };
        let sampled = SamplerChain::new(chain).sample(&logits_of(&probs), History::empty(), coins);
        sampled.unwrap().trace
    }

    #[test]
    fn the_kept_mass_is_measured_before_the_chain() {
        let top_k = |k| ChainConfig::sampled([Filter::TopK(TopK { k })]);
        let mass = KeptMass::of(&trace(top_k(2), 12));
        assert!(mass.exact && (mass.value - 0.75).abs() < 1e-3, "{mass:?}");
        let all = KeptMass::of(&trace(ChainConfig::sampled([]), 12));
        assert!(all.exact && (all.value - 1.0).abs() < 1e-12);
        let greedy = KeptMass::of(&trace(ChainConfig::greedy(), 12));
        assert!(greedy.exact && (greedy.value - 0.5).abs() < 1e-3);
        // More tokens are kept than were recorded.
        let most = KeptMass::of(&trace(top_k(70), 80));
        assert!(!most.exact && most.value > 0.99, "{most:?}");
    }
}
