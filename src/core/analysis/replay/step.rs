//! Compares one recorded step with the same step of a replay.

use crate::decoding::{Evidence, Guidance, RankedCandidate, TokenId};
use crate::generation::Step;

/// How the logits of a recorded step compare with those of its replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    Same,
    Different,
    /// The hashes say that all logits are the same, but the recorded head has others.
    NotThoseOfHash,
}

/// Compares the recorded logits bit by bit, and the hashes of all logits if both steps have one and
/// were computed alike.
pub(super) fn compare_numbers(then: &Step, now: &Step, alike: bool) -> Numbers {
    let (a, b) = (&then.trace.raw, &now.trace.raw);
    let same_head = a.head == b.head
        && a.n_candidates == b.n_candidates
        && a.log_sum_exp.to_bits() == b.log_sum_exp.to_bits()
        && a.entropy_nats.to_bits() == b.entropy_nats.to_bits();
    // Whoever computed alike recorded a hash, unless there is none to record now either.
    let has_hash = alike && (then.logits_hash.is_some() || now.logits_hash.is_some());
    let same_hash = has_hash.then(|| then.logits_hash == now.logits_hash);
    match (same_head, same_hash) {
        (true, None | Some(true)) => Numbers::Same,
        (false, Some(true)) => Numbers::NotThoseOfHash,
        (true, Some(false)) | (false, None | Some(false)) => Numbers::Different,
    }
}

/// Returns the first part of a step's record that its replay does not confirm, although it follows
/// from the same logits. A token of earlier settings, which was given again, confirms only what the
/// model says about it.
pub(super) fn unconfirmed(then: &Step, now: &Step, under_earlier: bool) -> Option<&'static str> {
    let (a, b) = (&*then.trace, &*now.trace);
    let same_author = !under_earlier && a.draw.picked == b.draw.picked;
    let same_draft = !drafted_alike(then, now) || then.draft == now.draft;
    let of_model = [
        (
            a.raw_prob.to_bits() == b.raw_prob.to_bits(),
            "the model’s probability",
        ),
        (a.raw_rank == b.raw_rank, "its rank"),
    ];
    let of_settings = [
        (a.stages == b.stages, "what the stages did"),
        (a.grammar == b.grammar, "what the grammar allowed"),
        (a.mixture == b.mixture, "what guidance mixed"),
        (a.survivors == b.survivors, "what the settings left"),
        (
            a.head_final_probs == b.head_final_probs,
            "the probabilities that the settings left",
        ),
        (a.draw == b.draw, "how it was drawn"),
        (
            a.selector_state == b.selector_state,
            "what the selector had learned",
        ),
        (same_draft, "its draft"),
    ]
    .into_iter()
    .filter(|_| same_author);
    let mut parts = of_model.into_iter().chain(of_settings);
    parts.find(|(is_same, _)| !is_same).map(|(_, name)| name)
}

/// Returns whether both steps were drafted at the same place of a pass of the same length. A text
/// that was written in pieces has other passes than its replay.
pub(super) fn drafted_alike(then: &Step, now: &Step) -> bool {
    let place = |step: &Step| step.draft.map(|draft| (draft.n_drafts, draft.place));
    place(then) == place(now)
}

/// Returns whether the same guidance mixed the logits of both steps, or none did.
pub(super) fn guided_alike(then: &Step, now: &Step) -> bool {
    guidance_of(then) == guidance_of(now)
}

fn guidance_of(step: &Step) -> Option<&Guidance> {
    let mixture = step.trace.mixture.as_ref()?;
    Some(&mixture.guidance)
}

/// What the candidates' numbers are compared as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Logits,
    /// A server reports no logits, but log-probabilities.
    LogProbs,
}

impl Unit {
    /// Returns the name of one of them.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Logits => "logit",
            Self::LogProbs => "log-probability",
        }
    }
}

/// Returns the largest difference between numbers that both steps recorded.
pub(super) fn largest_gap(then: &Step, now: &Step, unit: Unit) -> f32 {
    let (then, now) = (&then.trace.raw, &now.trace.raw);
    let gap = |(place, candidate): (usize, &RankedCandidate)| {
        let in_place = now
            .head
            .get(place)
            .filter(|other| other.token == candidate.token);
        let other = in_place
            .map(|other| other.logit)
            .or_else(|| logit(now, candidate.token))?;
        Some((value(then, candidate.logit, unit) - value(now, other, unit)).abs() as f32)
    };
    let gaps = then.head.iter().enumerate().filter_map(gap);
    gaps.filter(|gap| gap.is_finite()).fold(0.0, f32::max)
}

fn value(raw: &Evidence, logit: f32, unit: Unit) -> f64 {
    match unit {
        Unit::Logits => f64::from(logit),
        Unit::LogProbs => f64::from(logit) - raw.log_sum_exp,
    }
}

/// Returns how far apart the recorded logits of two tokens are.
pub(super) fn logit_gap(
    step: Option<&Step>,
    then: Option<TokenId>,
    now: Option<TokenId>,
) -> Option<f32> {
    let raw = &step?.trace.raw;
    Some((logit(raw, then?)? - logit(raw, now?)?).abs())
}

fn logit(raw: &Evidence, token: TokenId) -> Option<f32> {
    let mut head = raw.head.iter();
    let found = head.find(|candidate| candidate.token == token);
    found.map(|candidate| candidate.logit)
}
