//! The state of the whole window, and the questions that drawing asks of it.

use std::collections::VecDeque;

use super::{
    ByHand, Effect, HandDraws, HubState, MAX_PANES, ModelStatus, Models, Notice, Pane, PaneId,
    Paste, PathPurpose, Pin, PromptMode, PromptReading, Settings, ViewChoices,
};
use crate::analysis::Divergence;
use crate::generation::{Generation, GenerationConfig, Limits, Step};
use crate::interop::presets::OwnPreset;
use crate::state::panes::comparison::Comparison;
use crate::state::panes::undo::Undo;
use crate::state::words::change::Snapshot;
use crate::worker::ModelSource;

/// All that the window shows.
///
/// Settings are edited in place; everything else changes through [`AppState::apply`] and
/// [`AppState::on_event`] alone.
#[derive(Debug, Clone, PartialEq)]
pub struct AppState {
    /// The text to continue, or the message to answer.
    pub prompt: String,
    /// Which of the two it is.
    pub prompt_mode: PromptMode,
    /// How the model is to behave when it answers; empty for nothing.
    pub system: String,
    /// What the model makes of the prompt; nothing until it was asked.
    pub prompt_reading: Option<PromptReading>,
    /// When all texts end.
    pub limits: Limits,
    /// The seed of the panes that have none of their own.
    pub seed: u64,
    /// The texts, from left to right.
    pub panes: Vec<Pane>,
    /// How far their texts are known to agree.
    pub(super) comparison: Comparison,
    /// Which model there is.
    pub model: ModelStatus,
    /// Where it came from; what is loaded when the engine is started again.
    pub(super) model_source: ModelSource,
    /// Where those that were asked for come from, each until it is there or will not come. The newest
    /// is the one that is wanted.
    pub(super) asked_sources: VecDeque<ModelSource>,
    /// Which models can be opened.
    pub models: Models,
    /// Which models of the Hub can be brought.
    pub hub: HubState,
    /// How the record is looked at.
    pub view: ViewChoices,
    /// What is sampled from by hand.
    pub by_hand: ByHand,
    /// What was drawn from it.
    pub(super) hand_drawn: Option<HandDraws>,
    /// The token that the reader holds on to.
    pub pin: Option<Pin>,
    /// The ways to choose that the user keeps.
    pub presets: Vec<OwnPreset>,
    /// The dialog in which settings are pasted, while it is open.
    pub paste: Option<Paste>,
    /// Messages, newest first; the first is shown.
    pub notices: Vec<Notice>,
    /// What a path is being typed for where there is no dialog, and what was typed.
    pub path_field: Option<(PathPurpose, String)>,
    /// The way back through the panes' settings.
    pub(super) undo: Undo,
    /// The last number that named a pane or a generation.
    pub(super) last_id: u64,
}

impl AppState {
    /// The state at the start of the program, and what it needs first.
    pub fn new(settings: Settings, model_source: ModelSource) -> (Self, Vec<Effect>) {
        let mut state = Self {
            prompt: settings.prompt,
            prompt_mode: settings.prompt_mode,
            system: settings.system,
            prompt_reading: None,
            limits: settings.limits,
            seed: settings.seed,
            panes: Vec::new(),
            comparison: Comparison::default(),
            model: ModelStatus::Absent,
            model_source: model_source.clone(),
            asked_sources: VecDeque::new(),
            hub: HubState::default(),
            models: Models::new(settings.recent_models, settings.compute),
            view: settings.view,
            by_hand: settings.by_hand,
            hand_drawn: None,
            pin: None,
            presets: settings.presets,
            paste: None,
            notices: Vec::new(),
            path_field: None,
            undo: Undo::new(Snapshot {
                seed: settings.seed,
                panes: Vec::new(),
            }),
            last_id: 0,
        };
        for settings in settings.panes.into_iter().take(MAX_PANES) {
            let id = state.next_pane_id();
            state.panes.push(Pane::new(id, settings));
        }
        state.undo = Undo::new(state.snapshot());
        let mut effects: Vec<Effect> = state.compute_request().into_iter().collect();
        effects.extend(state.open_first(model_source));
        (state, effects)
    }

    /// What is to be there again at the next start.
    pub fn settings(&self) -> Settings {
        Settings {
            prompt: self.prompt.clone(),
            prompt_mode: self.prompt_mode,
            system: self.system.clone(),
            panes: self
                .panes
                .iter()
                .map(|pane| pane.settings.clone())
                .collect(),
            limits: self.limits.clone(),
            seed: self.seed,
            view: self.view,
            by_hand: self.by_hand.clone(),
            presets: self.presets.clone(),
            // JSON has no word for a path that is no text.
            recent_models: self
                .models
                .recent
                .iter()
                .filter(|recent| recent.path.to_str().is_some())
                .cloned()
                .collect(),
            compute: self.models.compute,
        }
    }

    /// The pane of this name.
    pub fn pane(&self, id: PaneId) -> Option<&Pane> {
        self.panes.iter().find(|pane| pane.id == id)
    }

    /// A pane's place from the left, which gives its letter and its colour.
    pub fn place_of(&self, id: PaneId) -> Option<usize> {
        self.panes.iter().position(|pane| pane.id == id)
    }

    /// Whether any pane has something to come.
    pub fn is_running(&self) -> bool {
        self.panes
            .iter()
            .any(|pane| pane.status.running().is_some())
    }

    /// The texts to be seen, by place.
    pub fn generations(&self) -> Vec<Option<&Generation>> {
        self.panes.iter().map(Pane::generation).collect()
    }

    /// How far the panes agree.
    pub fn divergence(&self) -> Divergence {
        // What came since the last review counts too.
        let mut comparison = self.comparison.clone();
        comparison.follow(&self.panes);
        comparison.divergence(&self.panes)
    }

    /// The seed of a pane's next text.
    pub fn seed_of(&self, pane: &Pane) -> u64 {
        pane.settings.seed.unwrap_or(self.seed)
    }

    /// How a pane's next text is to be written.
    pub fn config_of(&self, pane: &Pane) -> GenerationConfig {
        GenerationConfig {
            chain: pane.settings.chain.clone(),
            seed: self.seed_of(pane),
            limits: self.limits.clone(),
        }
    }

    /// Why nothing can be generated now, or nothing where it can.
    pub fn complaint(&self) -> Option<String> {
        let pane_complaints = || {
            self.panes.iter().enumerate().find_map(|(place, pane)| {
                let error = pane.settings.chain.validate().err()?;
                Some(format!("{}: {error}", letter(place)))
            })
        };
        self.common_complaint().or_else(pane_complaints)
    }

    /// Why this pane can't generate now, or nothing where it can.
    pub fn complaint_of(&self, pane: &Pane) -> Option<String> {
        self.common_complaint().or_else(|| {
            pane.settings
                .chain
                .validate()
                .err()
                .map(|error| error.to_string())
        })
    }

    fn common_complaint(&self) -> Option<String> {
        if let Some(complaint) = self.model.complaint() {
            return Some(complaint.to_owned());
        }
        let no_room = self.limits.max_new_tokens == 0;
        let limit_complaint = || no_room.then(|| "The limit is at least 1 token".to_owned());
        self.prompt_complaint().or_else(limit_complaint)
    }

    /// Whether to generate now would give something that is not there yet.
    pub fn generating_is_news(&self) -> bool {
        let model = self.model.ready().map(|model| &model.info);
        self.panes.iter().any(|pane| {
            pane.generation().is_none_or(|generation| {
                !self.is_prompt_of(&generation.prompt)
                    || generation.config != self.config_of(pane)
                    || Some(&generation.model) != model
            })
        })
    }

    /// The pinned token, with its pane's place and text.
    pub fn pinned(&self) -> Option<(usize, &Generation, &Step)> {
        let pin = self.pin?;
        let place = self.place_of(pin.pane)?;
        let generation = self.panes.get(place)?.generation()?;
        Some((place, generation, generation.steps.get(pin.step)?))
    }

    /// The pane and the step that the dock looks at: the pinned one, otherwise the newest of the
    /// last pane that has any.
    pub fn shown_step(&self) -> Option<(usize, usize)> {
        if let (Some(pin), Some((place, ..))) = (self.pin, self.pinned()) {
            return Some((place, pin.step));
        }
        let mut from_the_last = self.panes.iter().enumerate().rev();
        from_the_last.find_map(|(place, pane)| {
            let newest = pane.generation()?.steps.len().checked_sub(1)?;
            Some((place, newest))
        })
    }

    /// A name for a pane that no other ever had.
    pub(super) const fn next_pane_id(&mut self) -> PaneId {
        self.last_id += 1;
        PaneId(self.last_id as u32)
    }
}

/// The letter of the pane at this place.
pub(super) fn letter(place: usize) -> char {
    char::from(b'A' + (place % 26) as u8)
}
