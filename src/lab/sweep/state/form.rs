//! What the next sweep varies, as the user sets it.

use serde::{Deserialize, Serialize};

use super::sweep_prompts;
use crate::analysis::sweep::{Keep, Parameter, SweepSetup};
use crate::decoding::FilterKind;
use crate::generation::formatting::grouped;
use crate::generation::{ByteSize, Limits, SweepPlan};
use crate::lab::{AxisForm, SavedAxis};
use crate::state::{AppState, Pane, PaneId};

/// The default memory limit for a sweep's results: enough for 100,000 texts of 200 tokens.
const DEFAULT_MEGABYTES: u32 = 256;

const MEGABYTE: usize = 1 << 20;

/// What the next sweep varies and what it keeps fixed. The fields are edited in place.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepForm {
    pub rows: AxisForm,
    /// `None` for a sweep over one number.
    pub columns: Option<AxisForm>,
    /// The pane that all other settings come from, or `None` for the last one.
    pub base: Option<PaneId>,
    /// Whether to use the prompts typed here instead of the window's prompt.
    pub own_prompts: bool,
    /// One per line.
    pub prompts: String,
    pub n_seeds: usize,
    pub n_tokens: usize,
    pub keep: Keep,
    /// The memory limit for the results.
    pub megabytes: u32,
}

impl Default for SweepForm {
    fn default() -> Self {
        let parameter = |kind| Parameter::Filter(kind, 0);
        Self {
            rows: AxisForm::new(parameter(FilterKind::Temperature), 8),
            columns: Some(AxisForm::new(parameter(FilterKind::TopP), 6)),
            base: None,
            own_prompts: false,
            prompts: String::new(),
            n_seeds: 8,
            n_tokens: 64,
            keep: Keep::default(),
            megabytes: DEFAULT_MEGABYTES,
        }
    }
}

/// What the form keeps across restarts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SweepSettings {
    #[serde(rename = "sweep_rows")]
    rows: SavedAxis,
    #[serde(rename = "sweep_columns")]
    columns: Option<SavedAxis>,
    own_prompts: bool,
    prompts: String,
    n_seeds: usize,
    n_tokens: usize,
    /// What is kept of each text, as on the command line.
    keep: String,
    /// The memory limit for the results.
    #[serde(rename = "sweep_megabytes")]
    megabytes: u32,
    pub(super) word: String,
}

impl Default for SweepSettings {
    fn default() -> Self {
        SweepForm::default().settings(String::new())
    }
}

impl SweepForm {
    /// Returns what the form keeps across restarts, with the word that is counted.
    pub(super) fn settings(&self, word: String) -> SweepSettings {
        SweepSettings {
            rows: (&self.rows).into(),
            columns: self.columns.as_ref().map(SavedAxis::from),
            own_prompts: self.own_prompts,
            prompts: self.prompts.clone(),
            n_seeds: self.n_seeds,
            n_tokens: self.n_tokens,
            keep: self.keep.key().to_owned(),
            megabytes: self.megabytes,
            word,
        }
    }

    /// Returns why the results of a sweep would take more memory than the limit.
    pub(super) fn size_refusal(
        &self,
        setup: &SweepSetup,
        n_prompts: usize,
        keep: Keep,
    ) -> Option<String> {
        let factors = [setup.n_cells(), setup.n_seeds, n_prompts].into_iter();
        let n_texts = factors.fold(1, usize::saturating_mul);
        let n_tokens = n_texts.saturating_mul(setup.limits.max_new_tokens);
        let n_bytes = keep.n_bytes(n_texts, n_tokens);
        let megabytes = self.megabytes;
        let is_too_large = n_bytes > (megabytes as usize).saturating_mul(MEGABYTE);
        is_too_large.then(|| {
            let kept = ByteSize(n_bytes as u64);
            format!(
                "The results would take up to {kept}, more than the limit of {megabytes} MB. Keep \
                 less of each text, or raise the limit"
            )
        })
    }

    /// Returns the form with what was kept.
    pub(super) fn restored(settings: SweepSettings) -> Self {
        let usual = Self::default();
        let mut keeps = Keep::ALL.into_iter();
        Self {
            rows: settings.rows.form().unwrap_or(usual.rows),
            columns: SavedAxis::optional_form(settings.columns, usual.columns),
            own_prompts: settings.own_prompts,
            prompts: settings.prompts,
            n_seeds: settings.n_seeds.max(1),
            n_tokens: settings.n_tokens.max(1),
            keep: keeps
                .find(|keep| keep.key() == settings.keep)
                .unwrap_or_default(),
            megabytes: settings.megabytes.max(1),
            base: None,
        }
    }
}

/// Returns the pane whose settings the sweep uses for everything that it does not vary.
pub(in crate::lab::sweep) fn sweep_base(state: &AppState) -> Option<&Pane> {
    let chosen = state.lab.sweep.form.base.and_then(|id| state.pane(id));
    chosen.or_else(|| state.panes.last())
}

/// Returns what the next sweep does, or why it can't run.
pub(in crate::lab::sweep) fn sweep_setup(state: &AppState) -> Result<SweepSetup, String> {
    let form = &state.lab.sweep.form;
    let Some(base) = sweep_base(state) else {
        return Err("Add a pane first".to_owned());
    };
    let setup = SweepSetup {
        base: base.settings.chain.clone(),
        rows: form.rows.axis()?,
        columns: form.columns.as_ref().map(AxisForm::axis).transpose()?,
        seed: state.seed_of(base),
        n_seeds: form.n_seeds,
        limits: Limits {
            max_new_tokens: form.n_tokens,
            ..state.limits.clone()
        },
    };
    setup.validate().map_err(|error| error.to_string())?;
    let refusal = form.size_refusal(&setup, sweep_prompts(state).len(), form.keep);
    refusal.map_or(Ok(setup), Err)
}

/// Says how much the sweep writes and keeps and, if one ran before, about how long it will
/// take. An error says why it can't run.
pub(in crate::lab::sweep) fn sweep_cost(state: &AppState) -> Result<String, String> {
    let setup = sweep_setup(state)?;
    let n_prompts = sweep_prompts(state).len();
    let n_texts = setup.n_cells() * setup.n_seeds * n_prompts;
    let n_tokens = n_texts.saturating_mul(setup.limits.max_new_tokens);
    let n = |n: usize| grouped(n as f64);
    let mut factors = vec![format!("{} cells", n(setup.n_cells()))];
    if n_prompts != 1 {
        factors.push(format!("{} prompts", n(n_prompts)));
    }
    factors.push(match setup.n_seeds {
        1 => "1 seed".to_owned(),
        seeds => format!("{} seeds", n(seeds)),
    });
    factors.push(format!("{} tokens", n(setup.limits.max_new_tokens)));
    let width = SweepPlan::DEFAULT_WIDTH.min(n_texts);
    let kept = ByteSize(state.lab.sweep.form.keep.n_bytes(n_texts, n_tokens) as u64);
    let mut words = format!(
        "{} = {} tokens, {width} texts at a time. Keeps up to {kept}.",
        factors.join(" × "),
        n(n_tokens)
    );
    if let Some(sweep) = state.lab.sweep.run.as_ref()
        && sweep.progress.secs > 0.0
    {
        let secs = n_tokens as f64 * sweep.progress.secs / sweep.progress.n_tokens.max(1) as f64;
        words = format!("{words} About {:.0} s here.", secs.max(1.0));
    }
    if setup.is_greedy() && setup.n_seeds > 1 {
        words = format!("{words} These settings toss no coin: all seeds give the same text.");
    }
    Ok(words)
}
