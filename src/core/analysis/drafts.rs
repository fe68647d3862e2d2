//! What speculative decoding did for a text: its forward passes, and how many of their drafts were
//! accepted.

use crate::decoding::TokenId;
use crate::generation::formatting::grouped;
use crate::generation::{Generation, Step};

/// The forward passes of a text that was generated with speculative decoding.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DraftPasses {
    pub passes: Vec<DraftPass>,
}

/// One forward pass, and the tokens that it produced.
#[derive(Debug, Clone, PartialEq)]
pub struct DraftPass {
    /// The index of its first step.
    pub first: usize,
    /// The number of tokens drafted for it.
    pub n_drafts: usize,
    pub tokens: Vec<VerifiedToken>,
}

/// A token that a pass produced, and what had been drafted in its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VerifiedToken {
    pub verdict: Verdict,
    /// The drafted token's probability after the chain, if it is known.
    pub prob: Option<f64>,
    /// The probability that the draft model gave it, if a model drafted it.
    pub draft_prob: Option<f64>,
    /// The coin that accepted or rejected it, if one did.
    pub coin: Option<f64>,
}

/// Whether a draft was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The chain picked the drafted token.
    Accepted,
    /// The chain picked a different token.
    Rejected { draft: TokenId },
    /// Nothing was drafted here: the pass had no drafts, or all of them were accepted.
    Sampled,
}

impl DraftPasses {
    /// Returns the passes of a text, or `None` if it was generated without drafts.
    pub fn of(generation: &Generation) -> Option<Self> {
        generation.config.chain.drafts?;
        let mut passes: Vec<DraftPass> = Vec::new();
        for (index, step) in generation.steps.iter().enumerate() {
            let token = verified(step);
            let place = step.draft.map_or(0, |draft| draft.place);
            match passes.last_mut().filter(|_| place > 0) {
                Some(pass) => pass.tokens.push(token),
                None => passes.push(DraftPass {
                    first: index,
                    n_drafts: step.draft.map_or(0, |draft| draft.n_drafts as usize),
                    tokens: vec![token],
                }),
            }
        }
        (!passes.is_empty()).then_some(Self { passes })
    }

    /// Returns the index of the pass that produced a step.
    pub fn pass_of(&self, step: usize) -> Option<usize> {
        let after = self.passes.partition_point(|pass| pass.first <= step);
        after.checked_sub(1)
    }

    /// Returns the number of drafts. Those after a rejected one were never verified.
    pub fn n_drafted(&self) -> usize {
        self.passes.iter().map(|pass| pass.n_drafts).sum()
    }

    /// Returns the number of drafts that were compared with the chain's token.
    pub fn n_verified(&self) -> usize {
        let is_draft = |token: &&VerifiedToken| token.verdict != Verdict::Sampled;
        let tokens = self.passes.iter().flat_map(|pass| &pass.tokens);
        tokens.filter(is_draft).count()
    }

    /// Returns the number of accepted drafts.
    pub fn n_accepted(&self) -> usize {
        let tokens = self.passes.iter().flat_map(|pass| &pass.tokens);
        let accepted = tokens.filter(|token| token.verdict == Verdict::Accepted);
        accepted.count()
    }

    /// Says how many drafts were accepted: "4 of 10 verified drafts accepted (19 drafted)". Other
    /// programs divide by all drafts.
    pub fn words(&self) -> String {
        let [accepted, verified, drafted] =
            [self.n_accepted(), self.n_verified(), self.n_drafted()].map(|n| grouped(n as f64));
        let drafts = if verified == "1" { "draft" } else { "drafts" };
        format!("{accepted} of {verified} verified {drafts} accepted ({drafted} drafted)")
    }

    /// Returns the mean number of tokens per pass.
    pub fn tokens_per_pass(&self) -> f64 {
        let n_tokens: usize = self.passes.iter().map(|pass| pass.tokens.len()).sum();
        n_tokens as f64 / self.passes.len().max(1) as f64
    }
}

fn verified(step: &Step) -> VerifiedToken {
    let draft = step.draft.and_then(|draft| draft.token);
    let verdict = match draft {
        None => Verdict::Sampled,
        Some(draft) if draft == step.token => Verdict::Accepted,
        Some(draft) => Verdict::Rejected { draft },
    };
    VerifiedToken {
        verdict,
        prob: step.draft.and_then(|draft| draft.prob),
        draft_prob: step.draft.and_then(|draft| draft.draft_prob),
        coin: step.draft.and_then(|draft| draft.coin),
    }
}

#[cfg(test)]
mod tests {
    use super::{DraftPasses, Verdict};
    use crate::decoding::{Draft, PromptLookup, TokenId};
    use crate::generation::testing::generation;

    #[test]
    fn a_pass_ends_with_the_first_rejected_draft() {
        use Verdict::{Accepted, Rejected, Sampled};
        let words = [" a", " fox", " ran", " in", " a", " house"].map(|word| (word, 0.5));
        let mut text = generation(&words);
        assert_eq!(DraftPasses::of(&text), None);
        text.config.chain.drafts = Some(PromptLookup::USUAL.into());
        let taken = text.steps[1].token;
        let drafts = [
            None,
            Some((0, Some(taken))),
            Some((1, Some(TokenId(99)))),
            Some((0, Some(text.steps[3].token))),
            Some((1, Some(text.steps[4].token))),
            Some((2, None)),
        ];
        for (step, draft) in text.steps.iter_mut().zip(drafts) {
            step.draft = draft.map(|(place, token)| Draft {
                n_drafts: 3,
                place,
                token,
                prob: Some(0.5),
                ..Draft::default()
            });
        }
        let passes = DraftPasses::of(&text).unwrap();
        let verdicts: Vec<Vec<Verdict>> = passes
            .passes
            .iter()
            .map(|pass| pass.tokens.iter().map(|token| token.verdict).collect())
            .collect();
        let draft = TokenId(99);
        assert_eq!(
            verdicts,
            [
                vec![Sampled],
                vec![Accepted, Rejected { draft }],
                vec![Accepted, Accepted, Sampled]
            ]
        );
        assert_eq!((passes.n_verified(), passes.n_accepted()), (4, 3));
        // The third draft of the second pass was never verified.
        assert_eq!(passes.n_drafted(), 6);
        assert_eq!(
            passes.words(),
            "3 of 4 verified drafts accepted (6 drafted)"
        );
        assert!((passes.tokens_per_pass() - 2.0).abs() < 1e-12);
        let places: Vec<_> = (0..6).map(|step| passes.pass_of(step)).collect();
        assert_eq!(places, [0, 1, 1, 2, 2, 2].map(Some));
    }
}
