//! One step through the chain as a table: a row a candidate, a column a stage, and below them the
//! bar on which the coin falls.
//!
//! Every number is one that was recorded, or follows from what was recorded; where it does not
//! follow, the table says so.

mod bar;
mod beside;
#[cfg(test)]
mod tests;

pub use bar::{BarPart, CoinBar, Drawn, DrawnBy};

use crate::decoding::{
    ChainConfig, Coins, History, KnownCount, KnownProb, KnownStage, Selector, Stage, TokenId,
    Trace, WhatIfStages, what_if_stages,
};
use crate::generation::Generation;

/// A step's way through a chain.
#[derive(Debug, Clone, PartialEq)]
pub struct XrayTable {
    /// From the model to the draw.
    pub columns: Vec<XrayColumn>,
    /// The most likely before the chain, best first; a token that was written and is not among them
    /// stands at the end.
    pub rows: Vec<XrayRow>,
    /// What was left in the end, and what was drawn from it.
    pub bar: CoinBar,
    /// Whether it shows what other settings would have done; otherwise it is what was done.
    pub what_if: bool,
}

/// One stage, or what stands before and after all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct XrayColumn {
    /// What it is.
    pub at: XrayPlace,
    /// How many candidates are left after it.
    pub n_left: KnownCount,
    /// Shannon entropy after it, in nats; nothing where it is not known.
    pub entropy_nats: Option<f64>,
    /// The probability, as it stood before, of all that it cut; nothing where it is not known.
    pub mass_removed: Option<f64>,
}

/// What a column is.
#[derive(Debug, Clone, PartialEq)]
pub enum XrayPlace {
    /// The model's own distribution.
    Model,
    /// A stage of the chain.
    Stage {
        /// Its place among the chain's stages.
        index: usize,
        /// The stage.
        stage: Stage,
    },
    /// A selector that cuts or weighs before it tosses its coin.
    Selector(Selector),
}

/// One candidate on its way.
#[derive(Debug, Clone, PartialEq)]
pub struct XrayRow {
    /// The candidate.
    pub token: TokenId,
    /// Its place before the chain, 1 for the most likely.
    pub rank: u32,
    /// Whether it is what was drawn, or would have been.
    pub chosen: bool,
    /// What each column holds of it.
    pub cells: Vec<XrayCell>,
}

/// One candidate after one stage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum XrayCell {
    /// Its probability.
    Kept(f64),
    /// Its probability lies between these; the record does not tell where.
    Between(f64, f64),
    /// This stage cut it; what it had before, where that is known.
    Cut(Option<f64>),
    /// It was cut before.
    Gone,
    /// The record does not tell.
    Unknown,
    /// The stage is switched off.
    Muted,
}

impl XrayTable {
    /// A step of a text under this chain and seed: what was done where they are those of the text,
    /// and otherwise what they would have done.
    pub fn of(
        generation: &Generation,
        step_index: usize,
        chain: &ChainConfig,
        seed: u64,
    ) -> Option<Self> {
        let trace = &generation.steps.get(step_index)?.trace;
        let run = &generation.config;
        let same_rules = run.chain.rules == chain.rules;
        let same_stages = run.chain.stages == chain.stages;
        if same_rules && same_stages && run.seed == seed && run.chain.selector == chain.selector {
            return Some(Self::recorded(chain, trace));
        }
        let enabled = chain.stages.iter().filter(|stage| stage.enabled);
        let shared = trace
            .stages
            .iter()
            .zip(enabled)
            .take_while(|(report, stage)| {
                let same_coin = run.seed == seed || !report.filter.is_random();
                same_rules && same_coin && *report.filter == stage.filter
            });
        let reports = trace.stages.get(..shared.count()).unwrap_or_default();

        let n_prompt = generation.prompt.tokens.len();
        let written = generation.steps.iter().take(step_index);
        let mut tokens = generation.prompt.tokens.clone();
        tokens.extend(written.map(|step| step.token));
        let history = History::new(&tokens, n_prompt);
        let position = tokens.len() as u64;
        let coins = Coins { seed, position };
        let told = what_if_stages(&trace.raw, reports, chain, history, coins)?;
        Some(Self::what_if(chain, trace, &told, coins))
    }

    /// What was done. The trace is of this chain.
    pub fn recorded(chain: &ChainConfig, trace: &Trace) -> Self {
        let stages: Vec<KnownStage> = trace.stages.iter().map(KnownStage::recorded).collect();
        let mut table = Self::new(chain, trace, &stages);
        table.bar = CoinBar::recorded(chain.selector, trace);
        table.what_if = false;
        table.add_selector(chain.selector, trace);
        if trace
            .raw
            .head
            .iter()
            .all(|ranked| ranked.token != trace.draw.token)
        {
            let row = beside::row(&table.columns, chain.selector, trace);
            table.rows.push(row);
        }
        table.mark(Some(trace.draw.token));
        table
    }

    fn what_if(chain: &ChainConfig, trace: &Trace, told: &WhatIfStages, coins: Coins) -> Self {
        let mut table = Self::new(chain, trace, &told.stages);
        let last: Vec<KnownProb> = match told.stages.last() {
            Some(stage) => stage.probs.clone(),
            None => raw_probs(trace).collect(),
        };
        table.bar = CoinBar::what_if(chain.selector, &trace.raw.head, &last, told.outcome, coins);
        table.what_if = true;
        table.mark(table.bar.drawn.token);
        table
    }

    fn new(chain: &ChainConfig, trace: &Trace, stages: &[KnownStage]) -> Self {
        let mut table = Self {
            columns: vec![XrayColumn {
                at: XrayPlace::Model,
                n_left: KnownCount::Exactly(trace.raw.n_candidates),
                entropy_nats: Some(trace.raw.entropy_nats),
                mass_removed: None,
            }],
            rows: rows_of(trace),
            bar: CoinBar::default(),
            what_if: false,
        };
        let mut before: Vec<KnownProb> = raw_probs(trace).collect();
        let mut known = stages.iter();
        for (index, stage) in chain.stages.iter().enumerate() {
            let after = if stage.enabled { known.next() } else { None };
            table.columns.push(column(index, stage, after));
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
        table
    }

    /// A column for what a selector does before its coin falls, if it does anything.
    fn add_selector(&mut self, selector: Selector, trace: &Trace) {
        if !selector.is_adaptive() {
            return;
        }
        let whole = self.bar.is_whole();
        let probs = || trace.survivors.iter().map(|survivor| survivor.prob);
        self.columns.push(XrayColumn {
            at: XrayPlace::Selector(selector),
            n_left: if whole {
                KnownCount::Exactly(trace.survivors.len() as u32)
            } else {
                KnownCount::Unknown
            },
            entropy_nats: whole.then(|| probs().map(|prob| -prob * prob.ln()).sum()),
            mass_removed: None,
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
                (None, Some(XrayCell::Kept(prob))) if whole => XrayCell::Cut(Some(*prob)),
                (None, _) => XrayCell::Unknown,
            });
        }
    }

    fn mark(&mut self, chosen: Option<TokenId>) {
        for row in &mut self.rows {
            row.chosen = Some(row.token) == chosen;
        }
    }

    /// Lets the coin fall elsewhere on the bar; where no coin decides, nothing changes.
    pub fn move_coin(&mut self, coin: f64) {
        self.bar.move_coin(coin);
        self.mark(self.bar.drawn.token);
    }

    /// The stage that cut a candidate, and nothing where it is still there.
    pub fn cut_by(&self, row: &XrayRow) -> Option<&XrayColumn> {
        let is_cut = |cell: &XrayCell| matches!(cell, XrayCell::Cut(_));
        self.columns.get(row.cells.iter().position(is_cut)?)
    }
}

fn raw_probs(trace: &Trace) -> impl Iterator<Item = KnownProb> {
    let head = trace.raw.head.iter();
    head.map(|ranked| KnownProb::Exactly(ranked.prob))
}

fn rows_of(trace: &Trace) -> Vec<XrayRow> {
    let head = trace.raw.head.iter().zip(1..);
    head.map(|(ranked, rank)| XrayRow {
        token: ranked.token,
        rank,
        chosen: false,
        cells: vec![XrayCell::Kept(ranked.prob)],
    })
    .collect()
}

fn column(index: usize, stage: &Stage, after: Option<&KnownStage>) -> XrayColumn {
    XrayColumn {
        at: XrayPlace::Stage {
            index,
            stage: stage.clone(),
        },
        n_left: after.map_or(KnownCount::Unknown, |after| after.n_kept),
        entropy_nats: after.and_then(|after| after.entropy_nats),
        mass_removed: after.and_then(|after| after.mass_removed),
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
