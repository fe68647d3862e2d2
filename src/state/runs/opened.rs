//! A run that is shown as it was generated, in place of what was on screen.

use serde_json::{Map, Value};

use crate::analysis::contradictions::Contradiction;
use crate::decoding::Detail;
use crate::export::json::RunHeader;
use crate::generation::{Generation, Limits, Step};
use crate::state::branches::{KeptText, KeptTexts};
use crate::state::panes::undo::Undo;
use crate::state::{FuturesRun, Panes, Pin, Prompt, Settings};

/// An opened run, and what it hides.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenedRun {
    /// Its title, or the name of its file.
    pub name: String,
    pub header: RunHeader,
    /// How exact what-if is, and why.
    pub what_if_words: String,
    /// The first place at which its file contradicts itself.
    pub contradiction: Option<Contradiction>,
    /// What its request shows of itself, if it answers one.
    pub request_view: RequestView,
    /// The fields of the request as the user changed them.
    pub request_fields: Map<String, Value>,
    /// Why the changed fields can't be used, if so.
    pub field_error: Option<String>,
    pub(in crate::state) hidden: HiddenSession,
}

/// How the card of a request shows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RequestView {
    #[default]
    Fields,
    Json,
}

impl RequestView {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fields => "Fields",
            Self::Json => "JSON",
        }
    }
}

/// What was on screen before something else took its place.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::state) struct HiddenSession {
    pub prompt: Prompt,
    pub limits: Limits,
    pub seed: u64,
    pub panes: Panes,
    pub pin: Option<Pin>,
    pub undo: Undo,
    pub kept_texts: KeptTexts,
    pub removed_text: Option<KeptText>,
    pub futures: Vec<FuturesRun>,
    /// Whether it was being written, so that its run has not been kept.
    pub was_running: bool,
    /// When it finished, in seconds since 1970.
    pub finished_at: Option<u64>,
}

impl OpenedRun {
    /// Returns what the run hides.
    pub(in crate::state) const fn hidden(&self) -> &HiddenSession {
        &self.hidden
    }
}

impl HiddenSession {
    /// Returns the hidden panes and kept texts.
    pub(in crate::state) fn texts(&self) -> (&Panes, &KeptTexts) {
        (&self.panes, &self.kept_texts)
    }

    /// Replaces the settings on screen with the hidden ones.
    pub(in crate::state) fn restore_settings(&self, settings: &mut Settings) {
        self.prompt.write_to(settings);
        settings.limits = self.limits.clone();
        settings.seed = self.seed;
        settings.set_panes(&self.panes);
    }
}

/// Says how exact what-if is for texts from a file, and why.
pub(in crate::state) fn what_if_words(texts: &[Generation]) -> String {
    let steps = || texts.iter().flat_map(|text| &text.steps);
    let is_whole = |step: &Step| {
        let raw = &step.trace.raw;
        matches!(raw.detail, Detail::Whole(_)) || raw.head.len() >= raw.n_candidates as usize
    };
    if steps().all(is_whole) {
        return "What-if is exact: the file has all probabilities".to_owned();
    }
    if steps().all(|step| step.trace.raw.detail != Detail::HeadOnly) {
        return "What-if far from the run shows only bounds: the file summarizes unlikely tokens"
            .to_owned();
    }
    let n_head = steps().map(|step| step.trace.raw.head.len()).max();
    format!(
        "What-if shows only bounds: the file has the top {} tokens of each step",
        n_head.unwrap_or_default()
    )
}
