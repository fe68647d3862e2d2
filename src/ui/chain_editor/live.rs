//! What the chain does at the step on display, stage by stage, even while a slider moves.

use std::sync::Arc;

use egui::Context;

use crate::analysis::xray::{XrayColumn, XrayPlace, XrayTable};
use crate::decoding::{
    ChainConfig, Evidence, FilterKind, GrammarReport, GrammarRule, KnownCount, Trace,
};
use crate::generation::formatting::{grouped, percent, token_word};
use crate::state::AppState;
use crate::ui::figures::step_table;

/// One step under a pane's current chain, and the record to compare it with.
pub(super) struct Live<'a> {
    table: Arc<XrayTable>,
    /// The chain that generated the text, and its trace of the step.
    run: (&'a ChainConfig, &'a Trace),
    /// What the grammar allowed at the step, if it had one.
    grammar: Option<(&'a GrammarReport, &'a Evidence)>,
    /// The token that "here" refers to: "token 48, ‘beside’".
    pub token: String,
}

impl<'a> Live<'a> {
    /// Returns the pinned step of a pane, or else its latest one. Returns `None` if there is
    /// no text or a setting is invalid.
    pub(super) fn of(ctx: &Context, state: &'a AppState, place: usize) -> Option<Self> {
        let pane = state.panes.get(place)?;
        let generation = pane.generation()?;
        let pinned = state.pin.filter(|pin| pin.pane == pane.id);
        let index = pinned.map_or(generation.steps.len().checked_sub(1)?, |pin| pin.step);
        let step = generation.steps.get(index)?;
        let chain = &pane.settings.chain;
        chain.validate().ok()?;
        Some(Self {
            table: step_table(ctx, generation, index, chain, state.seed_of(pane))?,
            run: (&generation.config.chain, &step.trace),
            grammar: step
                .trace
                .grammar
                .as_deref()
                .map(|report| (report, &step.trace.raw)),
            token: format!("token {}, ‘{}’", index + 1, token_word(&step.piece)),
        })
    }

    /// Says how much of the distribution this grammar allows: "34 % legal here". Returns `None` if
    /// the text was written without it.
    pub(super) fn legal_words(&self, rule: &GrammarRule) -> Option<String> {
        let (report, raw) = self
            .grammar
            .filter(|(report, _)| report.rule.allows_same_as(rule))?;
        let mass = (-report.distortion_bits(raw)).exp2();
        mass.is_finite()
            .then(|| format!("{} legal here", percent(mass)))
    }

    /// Describes what the stage at this index does: how many candidates it keeps, or how the
    /// entropy changes. Returns `None` if the stage is muted.
    pub(super) fn effect(&self, index: usize) -> Option<String> {
        let columns = &self.table.columns;
        let is_stage = |column: &XrayColumn| matches!(&column.at, XrayPlace::Stage { index: at, .. } if *at == index);
        let at = columns.iter().position(is_stage)?;
        let column = columns.get(at)?;
        let XrayPlace::Stage { stage, .. } = &column.at else {
            return None;
        };
        if !stage.enabled {
            return None;
        }
        if stage.filter.cuts() {
            let kept_before = self.n_kept_in_run(index, stage.filter.kind());
            return Some(kept_words(column.n_left, kept_before));
        }
        let is_on = |column: &&XrayColumn| match &column.at {
            XrayPlace::Stage { stage, .. } => stage.enabled,
            _ => true,
        };
        let before = columns.get(..at)?.iter().rev().find(is_on)?;
        Some(match (before.entropy_nats, column.entropy_nats) {
            (Some(before), Some(after)) => {
                format!("{:.2} → {:.2} bits here", bits(before), bits(after))
            }
            _ => "Effect here not recorded".to_owned(),
        })
    }

    /// Returns how many candidates the stage at this index kept when the text was generated, or
    /// `None` if a different kind of stage was there.
    fn n_kept_in_run(&self, index: usize, kind: FilterKind) -> Option<u32> {
        let (chain, trace) = self.run;
        let run = chain.stages.get(index)?;
        let n_before = chain.stages.iter().take(index);
        let n_before = n_before.filter(|stage| stage.enabled).count();
        let same = run.enabled && run.filter.kind() == kind;
        trace.stages.get(n_before).filter(|_| same)?;
        trace.known_stage(n_before).n_kept
    }
}

fn kept_words(now: KnownCount, before: Option<u32>) -> String {
    let number = |n: u32| grouped(f64::from(n));
    match (now, before) {
        (KnownCount::Exactly(now), Some(before)) if now != before => {
            format!("Keeps {} here, not {}", number(now), number(before))
        }
        (KnownCount::Exactly(now), _) => format!("Keeps {} here", number(now)),
        (KnownCount::AtMost(most), _) => format!("Keeps at most {} here", number(most)),
        (KnownCount::Unknown, _) => "Effect here not recorded".to_owned(),
    }
}

fn bits(nats: f64) -> f64 {
    (nats / std::f64::consts::LN_2).max(0.0)
}
