//! Whether the draw follows from the settings, the coin and the distribution.

use super::ContradictionKind::{Choice, Figures};
use super::found::{Found, StepAt, figure, near};
use crate::decoding::{
    Coins, DraftRule, Drafts, Evidence, Filter, GrammarMode, Picked, Tosses, Trace, WhatIf,
    rechoice,
};
use crate::generation::Implementation;

/// The error of a sum of probabilities.
const ROUNDING: f64 = 1e-5;

/// How many candidates a step lists after the chain, if there are as many.
const N_LISTED: usize = 48;

/// Checks everything that a step says about its draw. `knows_stages` is whether the stages are
/// those of the settings.
pub(super) fn check(at: StepAt<'_>, knows_stages: bool, found: &mut Found) {
    check_picked(at, found);
    check_coin(at, found);
    check_survivors(at, found);
    check_state(at, found);
    check_bounded(at, found);
    if knows_stages && at.step.trace.draw.picked == Picked::ByChain {
        check_choice(at, found);
    }
}

/// Checks that the settings have what is said to have picked the token.
fn check_picked(at: StepAt<'_>, found: &mut Found) {
    let (trace, chain) = (&at.step.trace, &at.config.chain);
    let is_ratio =
        matches!(chain.drafts, Some(Drafts::Model(drafts)) if drafts.rule == DraftRule::Ratio);
    let was_drafted = at.step.draft.is_some_and(|draft| draft.token.is_some());
    let is_search = chain.selector.beam_search().is_some();
    let words = match trace.draw.picked {
        Picked::ByBeams if !is_search => {
            "it is marked as chosen by beams, its settings search none"
        }
        Picked::ByChain if is_search => {
            "it is marked as chosen by the chain, its settings search beams"
        }
        Picked::ByRatio if !(is_ratio && was_drafted) => {
            "it is marked as chosen by speculative sampling, its settings do none"
        }
        Picked::ByChain if is_ratio && was_drafted => {
            "it is marked as chosen by the chain, its settings accept drafts by their ratio"
        }
        Picked::ByServer if !at.is_served() => {
            "it is marked as chosen by a server, its model ran on this computer"
        }
        _ => return,
    };
    found.step(at, Choice, words);
}

/// Returns the coins that were tossed for the token.
fn coins_of(at: StepAt<'_>) -> Coins {
    let report = at.step.trace.grammar.as_deref();
    let is_redrawn =
        report.is_some_and(|report| report.masked && report.rule.mode() == GrammarMode::Check);
    if is_redrawn {
        at.coins().redraw()
    } else {
        at.coins()
    }
}

/// Checks that the coin is that of the seed and the position, and that it fell on the token.
fn check_coin(at: StepAt<'_>, found: &mut Found) {
    let draw = &at.step.trace.draw;
    let has_one_coin = at.config.chain.selector.spec().tosses == Tosses::One;
    let is_tossed = has_one_coin && draw.picked == Picked::ByChain;
    let expected = is_tossed.then(|| coins_of(at).draw());
    match (draw.coin, expected) {
        (Some(coin), Some(expected)) if coin.to_bits() != expected.to_bits() => {
            let (coin, seed, expected) = (figure(coin), at.config.seed, figure(expected));
            let words = format!("its coin is {coin}, seed {seed} tosses {expected} here");
            found.step(at, Choice, words);
            return;
        }
        (Some(coin), None) => {
            let words = format!("its coin is {}, and no coin decided", figure(coin));
            found.step(at, Choice, words);
            return;
        }
        (None, Some(_)) => {
            found.step(at, Choice, "its coin is missing");
            return;
        }
        _ => {}
    }
    let end = draw.below + draw.prob;
    let is_hit = draw.coin.is_none_or(|coin| {
        draw.below - ROUNDING <= coin && (coin <= end + ROUNDING || end > 1.0 - ROUNDING)
    });
    if !is_hit || draw.coin.is_none() && draw.below != 0.0 {
        let (below, end) = (figure(draw.below), figure(end));
        let words = format!("its coin did not fall between {below} and {end}, where it lies");
        found.step(at, Figures, words);
    }
}

/// Checks the candidates that were left, and the token's place among them.
fn check_survivors(at: StepAt<'_>, found: &mut Found) {
    if let Some(words) = fault_of_survivors(at) {
        found.step(at, Figures, words);
    }
}

fn fault_of_survivors(at: StepAt<'_>) -> Option<String> {
    let trace = &*at.step.trace;
    let left = &trace.survivors;
    let mass: f64 = left.iter().map(|left| left.prob).sum();
    let is_ordered = left.windows(2).all(|pair| match pair {
        [a, b] => a.logit >= b.logit && a.token != b.token,
        _ => true,
    });
    if !is_ordered || mass > 1.0 + ROUNDING {
        return Some("the tokens after the chain are not a distribution".to_owned());
    }
    let lists_all = left.len() < N_LISTED && !at.is_served();
    if let Some(n_kept) = trace.n_known_kept().map(|n| n as usize)
        && (lists_all && n_kept != left.len() || n_kept < left.len())
    {
        let n_left = left.len();
        return Some(format!(
            "it was drawn from {n_kept} tokens, {n_left} are listed"
        ));
    }
    let counts = trace.n_known_kept().zip(trace.n_known_candidates());
    if let Some((n_kept, n)) = counts.filter(|(n_kept, n)| n_kept > n) {
        return Some(format!("it was drawn from {n_kept} tokens of {n}"));
    }
    if lists_all && (mass - 1.0).abs() > ROUNDING {
        return Some(format!(
            "the tokens after the chain have the sum {}",
            figure(mass)
        ));
    }
    fault_of_prob(at, lists_all).or_else(|| fault_of_finals(trace, lists_all))
}

/// Checks the probability with which the token was drawn, and where it begins.
fn fault_of_prob(at: StepAt<'_>, lists_all: bool) -> Option<String> {
    let trace = &*at.step.trace;
    let (draw, left) = (&trace.draw, &trace.survivors);
    let place = left.iter().position(|left| left.token == draw.token);
    let least = left.last().map_or(1.0, |left| left.prob);
    let is_prob = match place.and_then(|place| left.get(place)) {
        Some(known) => near(draw.prob, known.prob, 1e-12),
        None if lists_all => draw.prob == 0.0 && draw.picked != Picked::ByChain,
        None => (0.0..=least * (1.0 + ROUNDING)).contains(&draw.prob),
    };
    if !is_prob {
        let prob = figure(draw.prob);
        return Some(format!(
            "its final probability is {prob}, which the tokens after the chain rule out"
        ));
    }
    let before = left.iter().take(place?).map(|left| left.prob).sum::<f64>();
    let is_here = (draw.below - before).abs() <= ROUNDING;
    (draw.coin.is_some() && !is_here).then(|| {
        let (below, before) = (figure(draw.below), figure(before));
        format!("it begins at {below}, the tokens before it end at {before}")
    })
}

/// Compares the final probabilities of the head with the tokens that are left.
fn fault_of_finals(trace: &Trace, lists_all: bool) -> Option<String> {
    let head = &trace.raw.head;
    let least = trace.survivors.last().map_or(1.0, |left| left.prob);
    let fits = |(known, prob): (&crate::decoding::RankedCandidate, &Option<f64>)| {
        let left = trace
            .survivors
            .iter()
            .find(|left| left.token == known.token);
        match (left, prob) {
            (Some(left), Some(prob)) => near(left.prob, *prob, 1e-12),
            (Some(_), None) => false,
            (None, Some(prob)) => !lists_all && *prob <= least * (1.0 + ROUNDING),
            (None, None) => true,
        }
    };
    let is_same = head.len() == trace.head_final_probs.len()
        && head.iter().zip(&trace.head_final_probs).all(fits);
    (!is_same).then(|| "its final probabilities are not those of the tokens left".to_owned())
}

/// Checks what the selector says it had learned.
fn check_state(at: StepAt<'_>, found: &mut Found) {
    let (trace, before) = (&at.step.trace, at.state_before());
    let selector = at.config.chain.selector;
    let head = trace.raw.head.iter();
    let place = head
        .take_while(|known| known.token != at.step.token)
        .count();
    let prob_before = match trace.stages.last() {
        Some(last) => last.head_probs.get(place).copied().flatten().map(f64::from),
        None => trace.raw.head.get(place).map(|known| known.prob),
    };
    // Under a mask, the distribution before the stages is that of the legal tokens, and a server's
    // may be assumed.
    let is_known = trace.grammar.is_none() && !trace.bounded;
    let prob_before = prob_before.filter(|_| is_known);
    let has_learned = match trace.draw.picked {
        Picked::ByChain => true,
        Picked::Given => trace.draw.prob > 0.0 && !at.is_served(),
        _ => false,
    };
    let follows = if has_learned {
        (trace.selector_state).follows(&before, selector, &trace.draw, prob_before)
    } else {
        trace.selector_state == before
    };
    if !follows {
        let words = "what its selector has learned does not follow from the step before";
        found.step(at, Figures, words);
    }
}

/// Checks whether the choice depends on what a server did not report.
fn check_bounded(at: StepAt<'_>, found: &mut Found) {
    let trace = &at.step.trace;
    if trace.bounded && at.text.model.implementation != Implementation::Server {
        let words = "it is marked as bounded, and its distribution is known";
        found.step(at, Figures, words);
    }
}

/// Returns the distribution from which the chain drew, if it is recorded.
fn drawn_from<'a>(trace: &'a Trace, filters: &[&Filter]) -> Option<&'a Evidence> {
    match trace.grammar.as_deref() {
        // The green list depends on the size of the whole vocabulary.
        Some(report) if report.masked => {
            let is_marked = filters
                .iter()
                .any(|filter| matches!(filter, Filter::GreenList(_)));
            (!is_marked).then_some(&report.legal)
        }
        _ => Some(&trace.raw),
    }
}

/// Chooses the token again.
fn check_choice(at: StepAt<'_>, found: &mut Found) {
    let (trace, chain) = (&*at.step.trace, &at.config.chain);
    if trace.bounded || chain.selector.beam_search().is_some() {
        return;
    }
    let filters: Vec<&Filter> = chain.active().collect();
    let Some(evidence) = drawn_from(trace, &filters) else {
        return;
    };
    let coins = coins_of(at);
    let outcome = rechoice(evidence, chain, at.history(), coins, at.state_before());
    let token = at.step.token;
    let drawn = match outcome {
        Some(WhatIf::Exact(drawn)) if drawn != token => at.quoted(drawn),
        Some(WhatIf::Unrecorded) if evidence.knows(token) => "a less likely token".to_owned(),
        _ => return,
    };
    let coin = match trace.draw.coin {
        Some(coin) => format!("its settings and its coin {} draw", figure(coin)),
        None => "its settings choose".to_owned(),
    };
    let words = format!("{coin} {drawn}, and it is {}", at.quoted(token));
    found.step(at, Choice, words);
}
