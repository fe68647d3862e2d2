//! What can have cut a token that the chain could not have picked, such as one of a given text.
//!
//! The record follows the most likely tokens through the stages. Any other token was cut by
//! something that cut tokens, at the latest by the first stage that left only recorded ones.

use crate::decoding::{StageReport, Trace};

/// What can have cut a token, in the order in which it acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Suspect {
    /// A grammar that masks before the first stage.
    Grammar,
    /// The stage with this index in [`Trace::stages`].
    Stage(usize),
    Selector,
}

/// Returns what can have cut the drawn token, in order, if the chain could not have picked it. A
/// single suspect did cut it.
pub(super) fn suspects(trace: &Trace) -> Vec<Suspect> {
    let mut suspects = Vec::new();
    if trace.draw.was_possible() {
        return suspects;
    }
    let mut n_before = trace.raw.n_candidates;
    if let Some(report) = trace.grammar.as_deref().filter(|report| report.masked) {
        let n_legal = report.n_legal();
        let all_recorded = report.legal.head.len() >= n_legal as usize;
        let legal = report.is_legal(trace.draw.token, &trace.raw);
        match legal.or_else(|| all_recorded.then_some(false)) {
            Some(false) => return vec![Suspect::Grammar],
            None if n_legal < n_before => suspects.push(Suspect::Grammar),
            Some(true) | None => {}
        }
        n_before = n_legal;
    }
    let mut head = trace.raw.head.iter();
    if let Some(place) = head.position(|known| known.token == trace.draw.token) {
        let is_cut = |stage: &StageReport| stage.head_probs.get(place).copied().flatten().is_none();
        let stage = trace.stages.iter().position(is_cut);
        return vec![stage.map_or(Suspect::Selector, Suspect::Stage)];
    }
    for (index, stage) in trace.stages.iter().enumerate() {
        if stage.n_kept < n_before {
            suspects.push(Suspect::Stage(index));
        }
        if stage.head_probs.iter().flatten().count() >= stage.n_kept as usize {
            return suspects;
        }
        n_before = stage.n_kept;
    }
    if trace.draw.n_kept < n_before {
        suspects.push(Suspect::Selector);
    }
    suspects
}

#[cfg(test)]
mod tests {
    use super::{Suspect, suspects};
    use crate::decoding::{Coins, History, SamplerChain, Taken, TokenId, Trace};
    use crate::generation::PaneSettings;

    /// Scores the token of this rank.
    fn trace(settings: &str, rank: u32) -> Trace {
        let settings: PaneSettings = settings.parse().unwrap();
        let logits: Vec<f32> = (1..=400_u16).map(|rank| -f32::from(rank).ln()).collect();
        let coins = Coins {
            seed: 1,
            position: 0,
        };
        let given = Taken::Given(TokenId(rank - 1));
        let mut chain = SamplerChain::new(settings.chain);
        let scored = chain.take(&logits, History::empty(), coins, given);
        scored.unwrap().trace
    }

    #[test]
    fn the_only_thing_that_cuts_is_to_blame() {
        use Suspect::{Selector, Stage};
        for (settings, expected) in [
            ("temp 0.7", &[][..]),
            ("temp 0.7, top-k 300, temp 2", &[Stage(1)]),
            ("greedy", &[Selector]),
            ("top-k 300, greedy", &[Stage(0), Selector]),
            ("top-k 330, temp 2, top-k 300", &[Stage(0), Stage(2)]),
            // Top-k 5 left only recorded tokens.
            ("top-k 5, temp 2, top-k 2, greedy", &[Stage(0)]),
        ] {
            assert_eq!(suspects(&trace(settings, 351)), expected, "{settings}");
        }
    }

    #[test]
    fn the_record_tells_what_cut_one_of_the_most_likely_tokens() {
        for (settings, expected) in [
            ("top-k 300, greedy", Suspect::Selector),
            ("top-k 20, temp 2, top-k 2", Suspect::Stage(2)),
        ] {
            assert_eq!(suspects(&trace(settings, 9)), [expected], "{settings}");
        }
    }
}
