//! What the next sweep varies, as the user sets it.

use crate::analysis::sweep::{Axis, Keep, Parameter, SweepSetup};
use crate::decoding::FilterKind;
use crate::generation::formatting::grouped;
use crate::generation::{ByteSize, Limits, SweepPlan};
use crate::state::{AppState, Pane, PaneId};

/// A number to vary and its range. The fields are edited in place.
#[derive(Debug, Clone, PartialEq)]
pub struct AxisForm {
    pub parameter: Parameter,
    pub from: f64,
    pub to: f64,
    pub n_steps: usize,
}

impl AxisForm {
    /// Creates an axis over the usual range of a parameter.
    pub fn new(parameter: Parameter, n_steps: usize) -> Self {
        let [from, to] = parameter.usual_range();
        Self {
            parameter,
            from,
            to,
            n_steps,
        }
    }

    /// Returns the values, or why there are none.
    pub fn axis(&self) -> Result<Axis, String> {
        let ends = [self.from, self.to];
        Axis::range(self.parameter, ends, self.n_steps).map_err(|error| error.to_string())
    }
}

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

impl AppState {
    /// Returns the pane whose settings the sweep uses for everything that it does not vary.
    pub fn sweep_base(&self) -> Option<&Pane> {
        let chosen = self.lab.form.base.and_then(|id| self.pane(id));
        chosen.or_else(|| self.panes.last())
    }

    /// Returns what the next sweep does, or why it can't run.
    pub fn sweep_setup(&self) -> Result<SweepSetup, String> {
        let form = &self.lab.form;
        let Some(base) = self.sweep_base() else {
            return Err("Add a pane first".to_owned());
        };
        let setup = SweepSetup {
            base: base.settings.chain.clone(),
            rows: form.rows.axis()?,
            columns: form.columns.as_ref().map(AxisForm::axis).transpose()?,
            seed: self.seed_of(base),
            n_seeds: form.n_seeds,
            limits: Limits {
                max_new_tokens: form.n_tokens,
                ..self.limits.clone()
            },
        };
        setup.validate().map_err(|error| error.to_string())?;
        let n_texts = setup.n_cells() * setup.n_seeds * self.sweep_prompts().len();
        let n_tokens = n_texts.saturating_mul(setup.limits.max_new_tokens);
        let n_bytes = form.keep.n_bytes(n_texts, n_tokens);
        if n_bytes > (form.megabytes as usize).saturating_mul(MEGABYTE) {
            let (kept, megabytes) = (ByteSize(n_bytes as u64), form.megabytes);
            return Err(format!(
                "The results would take up to {kept}, more than the limit of {megabytes} MB. Keep \
                 less of each text, or raise the limit"
            ));
        }
        Ok(setup)
    }

    /// Says how much the sweep writes and keeps and, if one ran before, about how long it will
    /// take. An error says why it can't run.
    pub fn sweep_cost(&self) -> Result<String, String> {
        let setup = self.sweep_setup()?;
        let n_prompts = self.sweep_prompts().len();
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
        let kept = ByteSize(self.lab.form.keep.n_bytes(n_texts, n_tokens) as u64);
        let mut words = format!(
            "{} = {} tokens, {width} texts at a time. Keeps up to {kept}.",
            factors.join(" × "),
            n(n_tokens)
        );
        if let Some(sweep) = self.lab.sweep()
            && sweep.progress.secs > 0.0
        {
            let secs =
                n_tokens as f64 * sweep.progress.secs / sweep.progress.n_tokens.max(1) as f64;
            words = format!("{words} About {:.0} s here.", secs.max(1.0));
        }
        if setup.is_greedy() && setup.n_seeds > 1 {
            words = format!("{words} These settings toss no coin: all seeds give the same text.");
        }
        Ok(words)
    }
}
