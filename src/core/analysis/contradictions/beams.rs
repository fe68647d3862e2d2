//! Whether the passes of a beam search lead to its text.

use super::ContradictionKind::{Figures, Settings};
use super::found::{Found, figure};
use crate::decoding::TokenId;
use crate::decoding::rules::BeamScores;
use crate::decoding::selector::{BeamSearch, Fate};
use crate::generation::{BeamPass, FinishReason, Generation};

/// The error of a total of log-probs.
const ROUNDING: f64 = 1e-5;

/// Checks the passes of a search.
pub(super) fn check(text: &Generation, found: &mut Found) {
    let beams = &*text.beams;
    let Some(search) = text.config.chain.selector.beam_search() else {
        if !beams.passes.is_empty() {
            found.text(
                Settings,
                "it has the passes of a beam search, its settings search none",
            );
        }
        return;
    };
    for pass in 0..beams.passes.len() {
        if let Some(words) = fault_of_pass(text, pass, search) {
            found.text(
                Figures,
                format!("in pass {} of its beams, {words}", pass + 1),
            );
        }
    }
    if let Some(words) = fault_of_path(text) {
        found.text(Figures, words);
    }
}

/// Whether the log-probs of the tokens add up to the totals. As in transformers, log-probs that are
/// not normalized after the stages may add up instead.
fn adds_probs(text: &Generation) -> bool {
    text.config.chain.rules.beam_scores != BeamScores::LogProbs
}

fn fault_of_pass(text: &Generation, pass: usize, search: BeamSearch) -> Option<String> {
    let beams = &*text.beams;
    let compared = beams.passes.get(pass)?;
    let is_ordered = compared.nodes.windows(2).all(|pair| match pair {
        [a, b] => {
            let key = |node: &crate::generation::BeamNode| (node.parent, node.token);
            a.log_prob > b.log_prob || a.log_prob >= b.log_prob && key(a) < key(b)
        }
        _ => true,
    });
    if !is_ordered {
        return Some("the continuations are not in order".to_owned());
    }
    for node in &compared.nodes {
        let place = |node| crate::generation::BeamPlace {
            pass: pass - 1,
            node,
        };
        let before = pass
            .checked_sub(1)
            .and_then(|before| beams.passes.get(before));
        let parent = before.and_then(|before| before.running().nth(node.parent));
        let most = match parent {
            Some((index, _)) => beams.node(place(index))?.log_prob,
            None => 0.0,
        };
        let is_too_much = adds_probs(text) && node.log_prob > most + ROUNDING;
        if is_too_much || !node.log_prob.is_finite() {
            let (total, most) = (figure(node.log_prob), figure(most));
            return Some(format!(
                "a text has the total {total}, its beginning {most}"
            ));
        }
    }
    fault_of_fates(compared, search)
}

/// Checks which continuations went on. Which of them end a text is known from the record only if
/// they ended it.
fn fault_of_fates(pass: &BeamPass, search: BeamSearch) -> Option<String> {
    let n_beams = search.n_beams();
    let mut n_running = 0;
    for (rank, node) in pass.nodes.iter().enumerate() {
        let is_possible = match node.fate {
            Fate::Running => n_running < n_beams,
            Fate::Ended => rank < n_beams,
            Fate::Dropped => n_running >= n_beams || rank >= n_beams || search.early_stopping == 1,
        };
        if !is_possible {
            return Some(format!("the fate of rank {} is not possible", rank + 1));
        }
        n_running += usize::from(node.fate == Fate::Running);
    }
    None
}

/// Checks that the passes lead to the tokens of the text, with the sum of their log-probs.
fn fault_of_path(text: &Generation) -> Option<String> {
    let beams = &*text.beams;
    if beams.passes.is_empty() {
        return None;
    }
    if beams.n_before > text.steps.len() {
        return Some("its beams begin after its end".to_owned());
    }
    let steps = text.steps.range(beams.n_before..);
    let tokens: Vec<TokenId> = steps.clone().map(|step| step.token).collect();
    let path = beams.path_of(&tokens);
    if path.len() < tokens.len() {
        let n = beams.n_before + path.len() + 1;
        return Some(format!("its beams do not lead to its token {n}"));
    }
    let mut total = 0.0;
    for (place, step) in path.iter().zip(steps) {
        if step.trace.draw.is_by_beams() {
            total += step.trace.draw.prob.ln();
        }
        let said = beams.node(*place)?.log_prob;
        if adds_probs(text) && (said - total).abs() > ROUNDING * (1.0 + total.abs()) {
            let (said, total) = (figure(said), figure(total));
            return Some(format!(
                "its beams have the total {said}, its tokens {total}"
            ));
        }
    }
    let last = path.last().and_then(|place| beams.node(*place))?;
    let ended = matches!(
        text.finish,
        Some(
            FinishReason::EndOfText
                | FinishReason::StopString { .. }
                | FinishReason::GrammarComplete
        )
    );
    (ended && last.fate != Fate::Ended).then(|| "its beams say that its text went on".to_owned())
}
