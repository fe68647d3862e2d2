//! X-ray: one step's path through the chain as a table, with a row per candidate, a column per
//! stage, and the coin bar below.
//!
//! Every number was recorded or follows from the record. If it does not follow, the cell is
//! unknown.

mod bar;
mod mixture;
mod recorded;
#[cfg(test)]
mod tests;
mod unrecorded_row;

pub use bar::{BarPart, CoinBar, Drawn, DrawnBy};

use std::sync::Arc;

use super::grammar::Drawable;
use super::watermark::distortion_bits;
use crate::decoding::{
    ChainConfig, Coins, Evidence, GrammarReport, GrammarRule, Guidance, History, KnownCount,
    KnownProb, KnownStage, Selector, Stage, TokenId, Trace, WhatIfStages, what_if_stages,
};
use crate::generation::Generation;

/// One step's path through a chain.
#[derive(Debug, Clone, PartialEq)]
pub struct XrayTable {
    /// Under guidance, the two rows that are mixed; then the model or the mixture; then every
    /// stage, and an adaptive selector if there is one.
    pub columns: Vec<XrayColumn>,
    /// The most likely candidates before the chain, best first. A drawn token that is not among
    /// them is the last row.
    pub rows: Vec<XrayRow>,
    pub bar: CoinBar,
    /// Whether the table shows what other settings would have done rather than what happened.
    pub what_if: bool,
}

/// The state of the candidates after one stage.
#[derive(Debug, Clone, PartialEq)]
pub struct XrayColumn {
    pub at: XrayPlace,
    /// The number of candidates left.
    pub n_left: KnownCount,
    /// Shannon entropy, or `None` if unknown.
    pub entropy_nats: Option<f64>,
    /// The total probability, before this stage, of the candidates that it cut; `None` if unknown.
    pub mass_removed: Option<f64>,
    /// By how many bits a watermark has distorted the distribution, or `None` if the stage leaves
    /// none.
    pub distortion_bits: Option<f64>,
}

/// The point of the pipeline that a column shows.
#[derive(Debug, Clone, PartialEq)]
pub enum XrayPlace {
    /// The model's distribution, before the chain.
    Model,
    /// The distribution of a row that is mixed with another, by its heading.
    Row(String),
    /// The mixture of both rows, before the chain.
    Mixture(Arc<Guidance>),
    /// The legal tokens, before the first stage or after the draw.
    Grammar(GrammarColumn),
    Stage {
        /// The index into the chain's stages.
        index: usize,
        stage: Stage,
    },
    /// A selector that cuts or reweighs candidates before its draw.
    Selector(Selector),
}

/// What a column of a grammar shows.
#[derive(Debug, Clone, PartialEq)]
pub struct GrammarColumn {
    pub rule: Arc<GrammarRule>,
    /// How many tokens were legal.
    pub n_legal: u32,
    /// The probability of all legal tokens in the model's distribution.
    pub legal_mass: f64,
    /// Whether the stages saw only the legal tokens. Otherwise the token was checked after the
    /// draw.
    pub masked: bool,
}

/// One candidate's path through the chain.
#[derive(Debug, Clone, PartialEq)]
pub struct XrayRow {
    pub token: TokenId,
    /// Its rank before the chain, 1 for the most likely; `None` if a server did not name it.
    pub rank: Option<u32>,
    /// Its score before the chain, or `None` if it was not recorded.
    pub logit: Option<f32>,
    /// Whether it was drawn, or would have been.
    pub chosen: bool,
    /// One cell per column.
    pub cells: Vec<XrayCell>,
}

/// One candidate after one stage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum XrayCell {
    /// Kept, with this probability.
    Kept(f64),
    /// Kept, with a probability that the record only bounds.
    Between(f64, f64),
    /// Cut by this stage, with its probability before, if known.
    Cut(Option<f64>),
    /// Cut by an earlier stage.
    Gone,
    /// The record does not determine it.
    Unknown,
    /// The stage is disabled.
    Muted,
}

impl XrayTable {
    /// Builds the table of a step under this chain and seed: what happened if the generation used
    /// them, otherwise what they would have done. Returns `None` if there is no such step.
    pub fn of(
        generation: &Generation,
        step_index: usize,
        chain: &ChainConfig,
        seed: u64,
    ) -> Option<Self> {
        let trace = &generation.steps.get(step_index)?.trace;
        let run = &generation.config;
        let drawable = Drawable::of(trace, chain)?;
        let same_rules = run.chain.rules == chain.rules;
        let same_stages = run.chain.stages == chain.stages;
        let same_grammar = run.chain.grammar == chain.grammar;
        let same_draw = run.seed == seed && run.chain.selector == chain.selector;
        if same_rules && same_stages && same_draw && same_grammar {
            let table = Self::recorded(chain, trace);
            return Some(table.with_known(trace).with_mixture(trace));
        }
        let shared = trace
            .stages
            .iter()
            .zip(chain.enabled())
            .take_while(|(report, filter)| {
                let same_coin = run.seed == seed || !report.filter.is_random();
                same_rules && same_coin && *report.filter == **filter
            });
        let saw_all = trace.grammar.as_ref().is_none_or(|report| !report.masked);
        // Of a server's distribution, the reports may be estimates.
        let is_exact = saw_all && trace.known.is_none();
        let n_shared = if is_exact { shared.count() } else { 0 };
        let reports = trace.stages.get(..n_shared).unwrap_or_default();

        let n_prompt = generation.prompt.tokens.len();
        let previous_steps = generation.steps.iter().take(step_index);
        let mut tokens = generation.prompt.tokens.clone();
        tokens.extend(previous_steps.map(|step| step.token));
        let history = History::new(&tokens, n_prompt);
        let position = tokens.len() as u64;
        let coins = Coins { seed, position };
        if let Some(table) = Self::under_grammar(drawable, (chain, history, coins), trace) {
            return Some(table.with_known(trace).with_mixture(trace));
        }
        let known = what_if_stages(&trace.raw, reports, chain, history, coins)?;
        let shown = [known.outcome.token(), Some(trace.draw.token)];
        let evidence = trace.raw.with_tokens(shown.into_iter().flatten());
        if evidence.head.len() == trace.raw.head.len() {
            let table = Self::what_if(chain, &trace.raw, &known, coins);
            return Some(table.with_known(trace).with_mixture(trace));
        }
        // The reports say nothing about tokens below the recorded head.
        let known = what_if_stages(&evidence, &[], chain, history, coins)?;
        let mut table = Self::what_if(chain, &evidence, &known, coins);
        for row in table.rows.iter_mut().skip(trace.raw.head.len()) {
            row.rank = trace.raw.rank(row.token).or(row.rank);
        }
        Some(table.with_known(trace).with_mixture(trace))
    }

    /// Builds the table of what other settings would have drawn from the legal tokens, or `None` if
    /// they would have drawn from all tokens. Its rows are the legal tokens.
    fn under_grammar(
        drawable: Drawable<'_>,
        (chain, history, coins): (&ChainConfig, History<'_>, Coins),
        trace: &Trace,
    ) -> Option<Self> {
        let (report, coins) = match drawable {
            Drawable::All(_) => return None,
            Drawable::Legal(report) => (report, coins),
            Drawable::Checked(raw, report) => {
                let first = what_if_stages(raw, &[], chain, history, coins)?.outcome;
                let is_legal = first.token().and_then(|token| report.is_legal(token, raw));
                if is_legal != Some(false) {
                    return None;
                }
                (report, coins.redraw())
            }
        };
        let known = what_if_stages(&report.legal, &[], chain, history, coins)?;
        let mut table = Self::what_if(chain, &report.legal, &known, coins);
        for (row, legal) in table.rows.iter_mut().zip(&report.legal.head) {
            let raw_prob = (f64::from(legal.logit) - trace.raw.log_sum_exp).exp();
            row.rank = trace.raw.rank(row.token).or(row.rank);
            row.cells.insert(0, XrayCell::Kept(raw_prob));
        }
        table.columns.splice(
            0..1,
            [model_column(&trace.raw), grammar_column(report, &trace.raw)],
        );
        Some(table)
    }

    /// Builds the table of a recorded step. The trace must come from this chain.
    pub fn recorded(chain: &ChainConfig, trace: &Trace) -> Self {
        let indices = 0..trace.stages.len();
        let mut stages: Vec<_> = indices
            .filter_map(|index| KnownStage::in_trace(trace, index))
            .collect();
        let report = trace.grammar.as_deref();
        let mut table = match report.filter(|report| report.masked) {
            Some(report) => {
                stages.insert(0, legal_stage(report, &trace.raw));
                Self::after_grammar(chain, (report, &trace.raw), &stages)
            }
            None => Self::new(chain, &trace.raw, &stages),
        };
        table.bar = CoinBar::recorded(chain.selector, trace);
        table.what_if = false;
        table.add_selector(chain.selector, trace);
        if let Some(report) = report.filter(|report| !report.masked) {
            table.add_check(report, &trace.raw);
        }
        if trace
            .raw
            .head
            .iter()
            .all(|ranked| ranked.token != trace.draw.token)
        {
            let row = unrecorded_row::row(&table.columns, chain.selector, trace);
            table.rows.push(row);
        }
        table.mark(Some(trace.draw.token));
        table
    }

    fn what_if(
        chain: &ChainConfig,
        evidence: &Evidence,
        what_if: &WhatIfStages,
        coins: Coins,
    ) -> Self {
        let mut table = Self::new(chain, evidence, &what_if.stages);
        let last: Vec<KnownProb> = match what_if.stages.last() {
            Some(stage) => stage.probs.clone(),
            None => raw_probs(evidence).collect(),
        };
        table.bar = CoinBar::what_if(
            chain.selector,
            &evidence.head,
            &last,
            what_if.outcome,
            coins,
        );
        table.what_if = true;
        table.mark(table.bar.drawn.token);
        table
    }

    fn new(chain: &ChainConfig, evidence: &Evidence, stages: &[KnownStage]) -> Self {
        let before = raw_probs(evidence).collect();
        Self::of_model(evidence).with_stages(chain, before, stages)
    }

    /// Builds the table of stages that saw legal tokens only; the first of `stages` is the grammar.
    fn after_grammar(
        chain: &ChainConfig,
        (report, evidence): (&GrammarReport, &Evidence),
        stages: &[KnownStage],
    ) -> Self {
        let mut table = Self::of_model(evidence);
        let Some((grammar, stages)) = stages.split_first() else {
            return table;
        };
        table.columns.push(grammar_column(report, evidence));
        let before: Vec<KnownProb> = raw_probs(evidence).collect();
        for (at, row) in table.rows.iter_mut().enumerate() {
            let after = grammar.probs.get(at).copied().unwrap_or(KnownProb::Cut);
            row.cells.push(cell(before.get(at), after));
        }
        table.with_stages(chain, grammar.probs.clone(), stages)
    }

    fn of_model(evidence: &Evidence) -> Self {
        Self {
            columns: vec![model_column(evidence)],
            rows: rows_of(evidence),
            bar: CoinBar::default(),
            what_if: false,
        }
    }

    /// Adds a column for each stage of the chain.
    fn with_stages(
        mut self,
        chain: &ChainConfig,
        mut before: Vec<KnownProb>,
        stages: &[KnownStage],
    ) -> Self {
        let table = &mut self;
        let mut known = stages.iter();
        for (index, stage) in chain.stages.iter().enumerate() {
            let after = if stage.enabled { known.next() } else { None };
            table.columns.push(column(index, stage, &before, after));
            for (at, row) in table.rows.iter_mut().enumerate() {
                let after = after.and_then(|after| after.probs.get(at));
                row.cells.push(match after {
                    Some(after) => cell(before.get(at), *after),
                    None if stage.enabled => XrayCell::Unknown,
                    None => XrayCell::Muted,
                });
            }
            if let Some(after) = after {
                before.clone_from(&after.probs);
            }
        }
        self
    }

    /// Adds a column for an adaptive selector, which changes the distribution before its draw.
    fn add_selector(&mut self, selector: Selector, trace: &Trace) {
        if !selector.is_adaptive() {
            return;
        }
        let complete = self.bar.is_complete();
        let probs = || trace.survivors.iter().map(|survivor| survivor.prob);
        self.columns.push(XrayColumn {
            at: XrayPlace::Selector(selector),
            n_left: if complete {
                KnownCount::Exactly(trace.survivors.len() as u32)
            } else {
                KnownCount::Unknown
            },
            entropy_nats: complete.then(|| probs().map(|prob| -prob * prob.ln()).sum()),
            mass_removed: None,
            distortion_bits: None,
        });
        for row in &mut self.rows {
            let mut survivors = trace.survivors.iter();
            let left = survivors.find(|survivor| survivor.token == row.token);
            let before = row
                .cells
                .iter()
                .rev()
                .find(|cell| **cell != XrayCell::Muted);
            row.cells.push(match (left, before) {
                (Some(survivor), _) => XrayCell::Kept(survivor.prob),
                (None, Some(XrayCell::Cut(_) | XrayCell::Gone)) => XrayCell::Gone,
                (None, Some(XrayCell::Kept(prob))) if complete => XrayCell::Cut(Some(*prob)),
                (None, _) => XrayCell::Unknown,
            });
        }
    }

    fn mark(&mut self, chosen: Option<TokenId>) {
        for row in &mut self.rows {
            row.chosen = Some(row.token) == chosen;
        }
    }

    /// Moves the coin along the bar and updates the chosen row. Does nothing if the selector does
    /// not use a single coin.
    pub fn move_coin(&mut self, coin: f64) {
        self.bar.move_coin(coin);
        self.mark(self.bar.drawn.token);
    }

    /// Returns the column of the stage that cut a candidate, or `None` if it was kept.
    pub fn cut_by(&self, row: &XrayRow) -> Option<&XrayColumn> {
        let is_cut = |cell: &XrayCell| matches!(cell, XrayCell::Cut(_));
        self.columns.get(row.cells.iter().position(is_cut)?)
    }
}

fn model_column(evidence: &Evidence) -> XrayColumn {
    XrayColumn {
        at: XrayPlace::Model,
        n_left: KnownCount::Exactly(evidence.n_candidates),
        entropy_nats: Some(evidence.entropy_nats),
        mass_removed: None,
        distortion_bits: None,
    }
}

fn grammar_column(report: &GrammarReport, raw: &Evidence) -> XrayColumn {
    let legal_mass = report.legal_mass(raw);
    XrayColumn {
        at: XrayPlace::Grammar(GrammarColumn {
            rule: Arc::clone(&report.rule),
            n_legal: report.n_legal(),
            legal_mass,
            masked: report.masked,
        }),
        n_left: KnownCount::Exactly(report.n_legal()),
        entropy_nats: Some(report.legal.entropy_nats),
        mass_removed: Some(1.0 - legal_mass),
        distortion_bits: Some(report.distortion_bits(raw)),
    }
}

/// What a grammar leaves of the head of the model's distribution.
fn legal_stage(report: &GrammarReport, raw: &Evidence) -> KnownStage {
    let prob_of = |token| {
        let legal = report.legal.head.iter().find(|legal| legal.token == token);
        legal.map_or(KnownProb::Cut, |legal| KnownProb::Exactly(legal.prob))
    };
    KnownStage {
        probs: raw.head.iter().map(|known| prob_of(known.token)).collect(),
        n_kept: KnownCount::Exactly(report.n_legal()),
        entropy_nats: Some(report.legal.entropy_nats),
        mass_removed: Some(1.0 - report.legal_mass(raw)),
    }
}

fn raw_probs(evidence: &Evidence) -> impl Iterator<Item = KnownProb> {
    let head = evidence.head.iter();
    head.map(|ranked| KnownProb::Exactly(ranked.prob))
}

fn rows_of(evidence: &Evidence) -> Vec<XrayRow> {
    let head = evidence.head.iter().zip(1..);
    head.map(|(ranked, rank)| XrayRow {
        token: ranked.token,
        rank: Some(rank),
        logit: Some(ranked.logit),
        chosen: false,
        cells: vec![XrayCell::Kept(ranked.prob)],
    })
    .collect()
}

fn column(
    index: usize,
    stage: &Stage,
    before: &[KnownProb],
    after: Option<&KnownStage>,
) -> XrayColumn {
    XrayColumn {
        at: XrayPlace::Stage {
            index,
            stage: stage.clone(),
        },
        n_left: after.map_or(KnownCount::Unknown, |after| after.n_kept),
        entropy_nats: after.and_then(|after| after.entropy_nats),
        mass_removed: after.and_then(|after| after.mass_removed),
        distortion_bits: after.and_then(|after| {
            let mut known = before
                .iter()
                .zip(&after.probs)
                .filter_map(|probs| match probs {
                    (KnownProb::Exactly(before), KnownProb::Exactly(after)) => {
                        Some((*before, *after))
                    }
                    _ => None,
                });
            let (before, after) = known.next()?;
            distortion_bits(&stage.filter, before, after)
        }),
    }
}

fn cell(before: Option<&KnownProb>, after: KnownProb) -> XrayCell {
    match (after, before) {
        (KnownProb::Exactly(prob), _) => XrayCell::Kept(prob),
        (KnownProb::Between(least, most), _) => XrayCell::Between(least, most),
        (KnownProb::Unknown, _) => XrayCell::Unknown,
        (KnownProb::Cut, Some(KnownProb::Cut)) => XrayCell::Gone,
        (KnownProb::Cut, Some(KnownProb::Exactly(prob))) => XrayCell::Cut(Some(*prob)),
        (KnownProb::Cut, _) => XrayCell::Cut(None),
    }
}
