//! Whether what a grammar reports agrees with the settings and with the model's distribution.

use super::ContradictionKind::{Choice, Ending, Figures, Settings};
use super::evidence::fault_of;
use super::found::{Found, StepAt};
use super::is_by_settings;
use crate::analysis::grammar::GrammarBreak;
use crate::decoding::{GrammarMode, GrammarReport, Picked, WhatIf, rechoice};
use crate::generation::formatting::quoted;
use crate::generation::{FinishReason, Generation, Implementation};

/// Checks a step's grammar.
pub(super) fn check(at: StepAt<'_>, found: &mut Found) {
    let trace = &*at.step.trace;
    let wanted = at.config.chain.grammar.as_deref();
    let report = trace.grammar.as_deref();
    let Some(report) = report else {
        return;
    };
    if wanted != Some(&*report.rule) {
        found.step(at, Settings, "its grammar is not that of the settings");
        return;
    }
    if let Some(words) = fault_of(&report.legal, at.text.model.n_vocab) {
        found.step(at, Figures, format!("among the legal tokens, {words}"));
    }
    if let Some(words) = fault_of_legal(at, report) {
        found.step(at, Figures, words);
    }
    if let Some(words) = fault_of_choice(at, report) {
        found.step(at, Choice, words);
    }
}

/// Checks that the tokens that the settings chose keep to their grammar, and that it reports each of
/// them. A given token may break it, and from then on it is not applied.
pub(super) fn check_text(text: &Generation, found: &mut Found) {
    let rule = text.config.chain.grammar.as_ref();
    // A server applies its grammar without a report, and a scored text begins with its prompt.
    let is_elsewhere = text.model.implementation == Implementation::Server || text.is_scored();
    let Some(rule) = rule.filter(|_| !is_elsewhere && text.earlier.is_empty()) else {
        return;
    };
    let mut checker = GrammarBreak::new(rule);
    checker.read(&text.steps);
    let broken_at = checker.broken_at();
    let n_reports = text
        .steps
        .iter()
        .take_while(|step| step.trace.grammar.is_some())
        .count();
    let n_steps = text.steps.len();
    if n_reports < broken_at.map_or(n_steps, |index| index + 1) {
        let n = n_reports + 1;
        found.text(
            Settings,
            format!("its grammar reports nothing about token {n}"),
        );
    }
    let breaking = broken_at.and_then(|index| Some((index, text.steps.get(index)?)));
    if let Some((index, step)) = breaking.filter(|(_, step)| is_by_settings(&step.trace.draw)) {
        let (n, word) = (index + 1, quoted(&step.piece));
        found.text(
            Choice,
            format!("its grammar does not allow {word} at token {n}"),
        );
    }
}

/// Checks whether the text is complete under its grammar.
pub(super) fn check_completeness(text: &Generation, found: &mut Found) {
    let has_ended = text.finish.is_some();
    let expected = has_ended.then(|| text.check_grammar()).flatten();
    if text.grammar_complete != expected {
        let words = |complete| match complete {
            Some(true) => "that its grammar is complete",
            Some(false) => "that its grammar is not complete",
            None => "nothing about its grammar",
        };
        let (said, expected) = (words(text.grammar_complete), words(expected));
        found.text(Ending, format!("it says {said}, its text says {expected}"));
    }
    let is_complete = text.grammar_complete != Some(false);
    if text.finish == Some(FinishReason::GrammarComplete) && !is_complete {
        found.text(Ending, "it ended with its grammar, which is not complete");
    }
}

/// Compares the legal tokens with all tokens.
fn fault_of_legal(at: StepAt<'_>, report: &GrammarReport) -> Option<String> {
    let (raw, legal) = (&at.step.trace.raw, &report.legal);
    if report.n_legal() > raw.n_candidates || report.n_legal() == 0 {
        let (n, n_legal) = (raw.n_candidates, report.n_legal());
        return Some(format!("{n_legal} of {n} tokens are legal"));
    }
    if legal.log_sum_exp > raw.log_sum_exp + 1e-5 {
        return Some("the legal tokens have more probability than all tokens".to_owned());
    }
    let logit = |token| {
        raw.head
            .iter()
            .find(|known| known.token == token)
            .map(|known| known.logit)
    };
    let last = raw.head.last().map(|last| last.logit);
    let differs = |(token, found): (crate::decoding::TokenId, f32)| match logit(token) {
        Some(logit) => logit.to_bits() != found.to_bits(),
        None => last.is_some_and(|last| found > last),
    };
    let mut known = legal.head.iter().map(|known| (known.token, known.logit));
    known.find(|known| differs(*known)).map(|(token, _)| {
        format!("token {token} has one logit among all tokens and another among the legal ones")
    })
}

/// Checks who was asked first, and that the outcome is legal.
fn fault_of_choice(at: StepAt<'_>, report: &GrammarReport) -> Option<String> {
    let trace = &*at.step.trace;
    let (raw, chain, token) = (&trace.raw, &at.config.chain, at.step.token);
    let by_chain = trace.draw.picked == Picked::ByChain;
    let Some(unconstrained) = report.unconstrained else {
        return by_chain
            .then(|| "it does not say what the chain draws without the grammar".to_owned());
    };
    if !by_chain {
        return Some("it says what the chain drew, and the chain did not draw".to_owned());
    }
    if report.is_legal(token, raw) == Some(false) {
        return Some(format!("the grammar does not allow {}", at.quoted(token)));
    }
    let checks = report.rule.mode() == GrammarMode::Check;
    let passed = report.is_legal(unconstrained, raw) == Some(true);
    if checks && report.masked == passed || !checks && !report.masked {
        return Some("it says both that the first draw was legal and that it was not".to_owned());
    }
    if !report.masked && unconstrained != token {
        return Some("the first draw was legal, and it is another token".to_owned());
    }
    let outcome = rechoice(raw, chain, at.history(), at.coins(), at.state_before());
    let is_other = match outcome {
        Some(WhatIf::Exact(drawn)) => drawn != unconstrained,
        Some(WhatIf::Unrecorded) => raw.knows(unconstrained),
        _ => false,
    };
    is_other.then(|| {
        let said = at.quoted(unconstrained);
        format!("without the grammar its settings and its coin do not draw {said}")
    })
}
