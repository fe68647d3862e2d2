//! Whether what the stages report agrees with the settings, with the distribution before them and
//! with each other.

use super::ContradictionKind::{Figures, Settings};
use super::found::{Found, StepAt, figure};
use crate::analysis::grammar::Drawable;
use crate::decoding::rules::BeamScores;
use crate::decoding::{Filter, KnownCount, KnownProb, Picked, StageReport, Tosses, what_if_stages};

/// The error of sums and of probabilities in 32 bits.
const ROUNDING: f64 = 1e-4;

/// Checks the stages of a step. Returns whether they are those of the settings.
pub(super) fn check(at: StepAt<'_>, found: &mut Found) -> bool {
    let trace = &at.step.trace;
    let wanted: Vec<&Filter> = at.config.chain.enabled().collect();
    let reported = trace.stages.iter().map(|stage| &*stage.filter);
    if !reported.clone().eq(wanted.iter().copied()) {
        let words = words_of(reported);
        let wanted = words_of(wanted.into_iter());
        let words = format!("its stages are {words}, the settings say {wanted}");
        found.step(at, Settings, words);
        return false;
    }
    let n_head = trace.raw.head.len();
    for (index, stage) in trace.stages.iter().enumerate() {
        let fault = (stage.head_probs.len() != n_head)
            .then(|| "a probability for a token that is not listed".to_owned())
            .or_else(|| fault_of(at, index, stage));
        if let Some(fault) = fault {
            found.step(at, Figures, format!("{} reports {fault}", stage.filter));
        }
    }
    check_last(at, found);
    check_known(at, found);
    true
}

fn words_of<'a>(filters: impl Iterator<Item = &'a Filter>) -> String {
    let words: Vec<String> = filters.map(Filter::to_string).collect();
    if words.is_empty() {
        "none".to_owned()
    } else {
        format!("‘{}’", words.join(", "))
    }
}

/// Compares a stage's totals with its probabilities and with the stage before.
fn fault_of(at: StepAt<'_>, index: usize, stage: &StageReport) -> Option<String> {
    let probs = || {
        stage
            .head_probs
            .iter()
            .flatten()
            .map(|prob| f64::from(*prob))
    };
    let (n_listed, mass) = (probs().count(), probs().sum::<f64>());
    let trace = &at.step.trace;
    let known = trace.known_stage(index);
    let n_before = match index.checked_sub(1) {
        Some(before) => trace.known_stage(before).n_kept,
        None => trace.n_known_candidates(),
    };
    if let Some(n_kept) = known.n_kept
        && (n_before.is_some_and(|n| n_kept > n) || (n_kept as usize) < n_listed || n_kept == 0)
    {
        let n_before = n_before.map_or_else(|| "unknown".to_owned(), |n| n.to_string());
        return Some(format!(
            "{n_kept} tokens left of {n_before}, {n_listed} of them listed"
        ));
    }
    if probs().any(|prob| !(0.0..=1.0 + ROUNDING).contains(&prob)) || mass > 1.0 + ROUNDING {
        return Some("probabilities of more than 1".to_owned());
    }
    if !(-ROUNDING..=1.0 + ROUNDING).contains(&stage.mass_removed) {
        return Some(format!("that it removed {}", figure(stage.mass_removed)));
    }
    let (n_kept, entropy) = known.n_kept.zip(known.entropy_nats)?;
    let most = f64::from(n_kept).ln() + ROUNDING;
    if !(-ROUNDING..=most).contains(&entropy) {
        let entropy = figure(entropy);
        return Some(format!("an entropy of {entropy} nats over {n_kept} tokens"));
    }
    if n_listed == n_kept as usize && !at.is_served() {
        return fault_of_whole(stage, mass);
    }
    None
}

/// Checks a stage whose every token is listed.
fn fault_of_whole(stage: &StageReport, mass: f64) -> Option<String> {
    if (mass - 1.0).abs() > ROUNDING {
        return Some(format!("probabilities with the sum {}", figure(mass)));
    }
    let probs = stage
        .head_probs
        .iter()
        .flatten()
        .map(|prob| f64::from(*prob));
    let entropy: f64 = probs
        .filter(|prob| *prob > 0.0)
        .map(|prob| -prob * prob.ln())
        .sum();
    let said = stage.entropy_nats;
    ((said - entropy).abs() > ROUNDING * (1.0 + entropy)).then(|| {
        let (said, entropy) = (figure(said), figure(entropy));
        format!("an entropy of {said} nats, its probabilities say {entropy}")
    })
}

/// Compares the last stage with the probabilities with which the token was drawn.
fn check_last(at: StepAt<'_>, found: &mut Found) {
    let trace = &at.step.trace;
    let selector = at.config.chain.selector.spec();
    let tosses = selector.tosses != Tosses::None && !selector.reweighs;
    let draws_as_left = tosses || selector.compares_texts();
    let Some(last) = trace.stages.last().filter(|_| draws_as_left) else {
        return;
    };
    let n_left = trace.known_stage(trace.stages.len() - 1).n_kept;
    let counts = trace.n_known_kept().zip(n_left);
    if let Some((n, left)) = counts.filter(|(n, left)| n != left)
        && trace.draw.picked != Picked::ByServer
    {
        let words = format!("it was drawn from {n} tokens, the last stage left {left}");
        found.step(at, Figures, words);
    }
    let finals = trace
        .head_final_probs
        .iter()
        .map(|prob| prob.map(|prob| prob as f32));
    let is_same = last.head_probs.iter().copied().eq(finals);
    if !is_same {
        let words = "its final probabilities are not those that the last stage left";
        found.step(at, Figures, words);
    }
}

/// Compares every stage with what the distribution before the chain says about it.
fn check_known(at: StepAt<'_>, found: &mut Found) {
    let trace = &at.step.trace;
    let chain = &at.config.chain;
    // With a grammar, the reports are those of the legal tokens.
    let Some(Drawable::All(evidence)) = Drawable::of(trace, chain) else {
        return;
    };
    // What-if gives the stages logits.
    let sees_log_probs =
        chain.selector.beam_search().is_some() && chain.rules.beam_scores != BeamScores::Logits;
    if at.is_served() || sees_log_probs {
        return;
    }
    let known = what_if_stages(evidence, &[], chain, at.history(), at.coins());
    let Some(known) = known else {
        return;
    };
    for (stage, known) in trace.stages.iter().zip(&known.stages) {
        let mut probs = stage.head_probs.iter().zip(&known.probs);
        let wrong = probs.position(|(said, known)| !agrees(*said, *known));
        let n_agrees = match known.n_kept {
            KnownCount::Exactly(n) => n == stage.n_kept,
            KnownCount::AtMost(n) => stage.n_kept <= n,
            KnownCount::Unknown => true,
        };
        let near = |said: f64, known: Option<f64>| {
            known.is_none_or(|known| (said - known).abs() <= ROUNDING * (1.0 + known.abs()))
        };
        let fault = if let Some(token) = wrong.and_then(|index| trace.raw.head.get(index)) {
            format!(
                "a probability of {} that its settings do not give",
                at.quoted(token.token)
            )
        } else if !n_agrees {
            format!(
                "{} tokens left, its settings leave another number",
                stage.n_kept
            )
        } else if !near(stage.entropy_nats, known.entropy_nats) {
            format!("an entropy of {} nats", figure(stage.entropy_nats))
        } else if !near(stage.mass_removed, known.mass_removed) {
            format!("that it removed {}", figure(stage.mass_removed))
        } else {
            continue;
        };
        let words = format!(
            "{} reports {fault}, which its distribution rules out",
            stage.filter
        );
        found.step(at, Figures, words);
    }
}

/// Whether a recorded probability is possible.
fn agrees(said: Option<f32>, known: KnownProb) -> bool {
    let said = said.map(f64::from);
    let room = |prob: f64| 4.0 * ROUNDING * prob + 1e-12;
    match (said, known) {
        (_, KnownProb::Unknown) | (None, KnownProb::Cut) => true,
        (Some(said), KnownProb::Exactly(prob)) => (said - prob).abs() <= room(prob),
        (Some(said), KnownProb::Between(least, most)) => {
            (least - room(least)..=most + room(most)).contains(&said)
        }
        (Some(said), KnownProb::Cut) => said <= 1e-30,
        (None, KnownProb::Exactly(prob) | KnownProb::Between(prob, _)) => prob <= 1e-30,
    }
}
