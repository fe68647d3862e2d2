//! Whether the drafts of a text agree with its settings, its tokens and its coins.

use super::ContradictionKind::{Choice, Figures};
use super::found::{Found, StepAt, figure, near};
use crate::decoding::{Draft, DraftRule, Drafts, Picked, PromptLookup};

/// The error of a sum of probabilities.
const ROUNDING: f64 = 1e-5;

/// Checks a step's draft.
pub(super) fn check(at: StepAt<'_>, found: &mut Found) {
    let rule = at.config.chain.drafts;
    let (Some(rule), Some(draft)) = (rule, at.step.draft) else {
        // A text that is scored is drafted by nothing.
        let is_given = at.step.trace.draw.is_given();
        if at.step.draft.is_some() || rule.is_some() && !is_given {
            let words = "it has a draft and its settings draft none, or the other way round";
            found.step(at, Figures, words);
        }
        return;
    };
    let fault = fault_of_pass(at, rule, draft).or_else(|| fault_of_probs(at, rule, draft));
    if let Some(words) = fault {
        found.step(at, Figures, words);
    }
    if let Some(words) = fault_of_coin(at, rule, draft) {
        found.step(at, Choice, words);
    }
    if let Drafts::Lookup(lookup) = rule
        && draft.place == 0
    {
        check_lookup(at, lookup, draft, found);
    }
}

/// Checks the draft's place in its pass.
fn fault_of_pass(at: StepAt<'_>, rule: Drafts, draft: Draft) -> Option<String> {
    let Draft {
        n_drafts,
        place,
        token,
        ..
    } = draft;
    if n_drafts > rule.n_drafts() || place > n_drafts || token.is_some() != (place < n_drafts) {
        return Some(format!("its draft is number {place} of {n_drafts}"));
    }
    let steps = &at.text.steps;
    let before = at
        .index
        .checked_sub(1)
        .and_then(|index| steps.get(index))
        .and_then(|step| Some((step.draft?, step.token)));
    let follows = match before {
        // A pass that was accepted so far goes on, and ends with a token of the chain.
        Some((before, taken)) if place > 0 => {
            before.place + 1 == place && before.n_drafts == n_drafts && before.token == Some(taken)
        }
        // A text that was paused begins a new pass when it goes on.
        Some(_) => true,
        None => place == 0,
    };
    (!follows).then(|| "its draft does not follow from the token before".to_owned())
}

fn fault_of_probs(at: StepAt<'_>, rule: Drafts, draft: Draft) -> Option<String> {
    let trace = &at.step.trace;
    let by_model = matches!(rule, Drafts::Model(_)) && draft.token.is_some();
    let is_prob =
        |prob: Option<f64>| prob.is_none_or(|prob| (0.0..=1.0 + ROUNDING).contains(&prob));
    if draft.draft_prob.is_some() != by_model || !is_prob(draft.draft_prob) || !is_prob(draft.prob)
    {
        return Some("its draft has a probability that no draft of its settings has".to_owned());
    }
    let token = draft.token?;
    let in_head = trace
        .raw
        .head
        .iter()
        .position(|known| known.token == token)
        .map(|place| trace.head_final_prob(place).unwrap_or(0.0));
    let left = trace.survivors.iter().find(|left| left.token == token);
    let taken = (trace.draw.token == token).then_some(trace.draw.prob);
    let known = taken.or(left.map(|left| left.prob)).or(in_head);
    let agrees = match (known, draft.prob) {
        (Some(known), Some(prob)) => near(known, prob, ROUNDING),
        (Some(_), None) => false,
        (None, prob) => prob.is_none_or(|prob| prob <= 1.0),
    };
    (!agrees).then(|| {
        let [known, prob] = [known, draft.prob].map(|prob| figure(prob.unwrap_or(0.0)));
        format!("its draft had the probability {known}, it says {prob}")
    })
}

/// Checks the coin that accepted or rejected a draft.
fn fault_of_coin(at: StepAt<'_>, rule: Drafts, draft: Draft) -> Option<String> {
    let is_ratio = matches!(rule, Drafts::Model(rule) if rule.rule == DraftRule::Ratio);
    let is_tossed =
        is_ratio && draft.token.is_some() && at.step.trace.draw.picked == Picked::ByRatio;
    let expected = is_tossed.then(|| at.coins().acceptance());
    if draft.coin.map(f64::to_bits) != expected.map(f64::to_bits) {
        return Some("the coin of its draft is not that of its seed and position".to_owned());
    }
    let (coin, q, p) = (draft.coin?, draft.draft_prob?, draft.prob?);
    let margin = coin * q - p;
    let accepted = draft.token == Some(at.step.token);
    // A replacement is never the draft, because the draft has no excess.
    let is_wrong = margin.abs() > ROUNDING * p.max(1e-12) && accepted != (margin < 0.0);
    is_wrong.then(|| {
        let (coin, verb) = (figure(coin), if accepted { "rejects" } else { "accepts" });
        format!("its coin {coin} {verb} the draft")
    })
}

/// Looks up the drafts of a pass again.
fn check_lookup(at: StepAt<'_>, lookup: PromptLookup, draft: Draft, found: &mut Found) {
    let drafted = lookup.drafts(at.tokens);
    let n_drafts = draft.n_drafts as usize;
    let steps = at.text.steps.range(at.index..);
    let pass = steps.enumerate().map_while(|(place, step)| {
        let draft = step.draft.filter(|draft| draft.place as usize == place)?;
        Some(draft.token).filter(|_| place < n_drafts)
    });
    let mut pairs = pass.zip(drafted.iter().copied().map(Some));
    if n_drafts > drafted.len() || pairs.any(|(said, expected)| said != expected) {
        found.step(at, Figures, "the text before it does not give these drafts");
    }
}
