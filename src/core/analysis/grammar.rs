//! Figures about grammars: what one changed in a text, where another text breaks it, and what other
//! settings would have drawn under it.

use std::sync::Arc;

use crate::decoding::{
    ChainConfig, Coins, Evidence, GrammarChecker, GrammarMode, GrammarReport, GrammarRule, History,
    TokenId, Trace, WhatIf, what_if, what_if_rules_out,
};
use crate::generation::{Generation, PieceKind, Step, Steps};

/// What a grammar did to a whole text.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct GrammarTotals {
    /// How many tokens were drawn under the grammar.
    pub n_steps: usize,
    /// How many of them differ from what the same coins draw without the grammar.
    pub n_changed: usize,
    /// How many of them were the only legal token.
    pub n_forced: usize,
    /// The sum of −log2 of the legal mass.
    pub distortion_bits: f64,
    /// The time to find the legal tokens, summed over the steps.
    pub mask_secs: f64,
}

impl GrammarTotals {
    /// Adds up the steps of a text. Returns `None` if no grammar was active.
    pub fn of(generation: &Generation) -> Option<Self> {
        let mut totals = Self::default();
        for step in &generation.steps {
            let Some(report) = step.trace.grammar.as_deref() else {
                continue;
            };
            totals.n_steps += 1;
            totals.n_changed += usize::from(grammar_changed(step));
            totals.n_forced += usize::from(report.is_forced());
            totals.distortion_bits += report.distortion_bits(&step.trace.raw);
            totals.mask_secs += step.time.mask_secs.unwrap_or_default();
        }
        (totals.n_steps > 0).then_some(totals)
    }

    /// Returns the mean time to find the legal tokens of a step, in milliseconds.
    pub fn mask_millis(&self) -> f64 {
        self.mask_secs * 1e3 / self.n_steps.max(1) as f64
    }
}

/// Returns whether the same chain and coin draw a different token without the grammar.
pub fn grammar_changed(step: &Step) -> bool {
    let report = step.trace.grammar.as_deref();
    let unconstrained = report.and_then(|report| report.unconstrained);
    unconstrained.is_some_and(|token| token != step.token)
}

/// Returns whether the step's token was the only legal one.
pub fn is_forced(step: &Step) -> bool {
    let report = step.trace.grammar.as_deref();
    report.is_some_and(GrammarReport::is_forced)
}

/// Finds where a growing text breaks a grammar that did not constrain it.
#[derive(Debug, Clone)]
pub struct GrammarBreak {
    rule: Arc<GrammarRule>,
    checker: Option<GrammarChecker>,
    n_read: usize,
    broken_at: Option<usize>,
}

impl PartialEq for GrammarBreak {
    fn eq(&self, other: &Self) -> bool {
        self.rule == other.rule && self.n_read == other.n_read && self.broken_at == other.broken_at
    }
}

impl GrammarBreak {
    /// Starts at the beginning of a text.
    pub fn new(rule: &Arc<GrammarRule>) -> Self {
        Self {
            rule: Arc::clone(rule),
            checker: GrammarChecker::new(rule).ok(),
            n_read: 0,
            broken_at: None,
        }
    }

    /// Returns the grammar that the text is checked against.
    pub const fn rule(&self) -> &Arc<GrammarRule> {
        &self.rule
    }

    /// Returns how many steps were read.
    pub const fn n_read(&self) -> usize {
        self.n_read
    }

    /// Checks the steps that were added since the last call.
    pub fn read(&mut self, steps: &Steps) {
        for (index, step) in steps.iter().enumerate().skip(self.n_read) {
            if let (None, Some(checker)) = (self.broken_at, &mut self.checker) {
                // A special token adds no text. If it ends the text, the grammar must accept it.
                let keeps = match step.piece.kind {
                    PieceKind::Text => checker.push(&step.piece.bytes),
                    PieceKind::Special => checker.accepts(),
                };
                self.broken_at = (!keeps).then_some(index);
            }
        }
        self.n_read = steps.len();
    }

    /// Returns the index of the first step that breaks the grammar.
    pub const fn broken_at(&self) -> Option<usize> {
        self.broken_at
    }
}

/// What a chain draws from at a recorded step.
#[derive(Debug, Clone, Copy)]
pub enum Drawable<'a> {
    /// All tokens.
    All(&'a Evidence),
    /// The legal tokens only.
    Legal(&'a GrammarReport),
    /// All tokens first, then the legal ones if the drawn token is illegal.
    Checked(&'a Evidence, &'a GrammarReport),
}

impl<'a> Drawable<'a> {
    /// Returns `None` if the chain has a different grammar than the step, because its legal tokens
    /// were not recorded, or different guidance, because its mixture was not.
    pub fn of(trace: &'a Trace, chain: &ChainConfig) -> Option<Self> {
        let guidance = trace.mixture.as_ref().map(|mixed| &*mixed.guidance);
        if guidance != chain.guidance.as_ref() {
            return None;
        }
        let Some(rule) = &chain.grammar else {
            return Some(Self::All(&trace.raw));
        };
        let report = trace.grammar.as_deref();
        let report = report.filter(|report| report.rule.allows_same_as(rule))?;
        Some(match rule.mode() {
            GrammarMode::Mask => Self::Legal(report),
            GrammarMode::Check => Self::Checked(&trace.raw, report),
        })
    }

    /// Returns the distribution of the first draw, before any check.
    pub const fn evidence(self) -> &'a Evidence {
        match self {
            Self::All(evidence) | Self::Checked(evidence, _) => evidence,
            Self::Legal(report) => &report.legal,
        }
    }

    /// Returns the token that a chain would have drawn, or `None` if it is not known.
    pub fn what_if(
        self,
        chain: &ChainConfig,
        history: History<'_>,
        coins: Coins,
    ) -> Option<WhatIf> {
        let first = what_if(self.evidence(), chain, history, coins)?;
        let Self::Checked(raw, report) = self else {
            return Some(first);
        };
        let is_legal = first.token().and_then(|token| report.is_legal(token, raw));
        let redrawn = || what_if(&report.legal, chain, history, coins.redraw());
        match (first, is_legal) {
            (WhatIf::Exact(_) | WhatIf::Bounded(_), Some(true)) => Some(first),
            (WhatIf::Exact(_), Some(false)) => redrawn(),
            (WhatIf::Exact(token), None) => Some(WhatIf::Bounded(token)),
            (WhatIf::Bounded(_) | WhatIf::Unrecorded, _) => redrawn()?.token().map(WhatIf::Bounded),
        }
    }

    /// Returns whether a chain would certainly have drawn a different token than this one. False if
    /// a check follows the draw.
    pub fn rules_out(
        self,
        chain: &ChainConfig,
        history: History<'_>,
        coins: Coins,
        token: TokenId,
    ) -> bool {
        let is_checked = matches!(self, Self::Checked(..));
        !is_checked && what_if_rules_out(self.evidence(), chain, history, coins, token)
    }
}
