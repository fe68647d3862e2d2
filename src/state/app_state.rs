//! The state of the window, and the queries that the UI makes while drawing.

use std::collections::VecDeque;
use std::path::PathBuf;

use super::{
    BranchDialog, BranchTree, ByHand, ChosenFolders, ComparedPair, Effect, ExportChoice, Folders,
    FormatTrial, Futures, HandDraws, HelpTab, History, HistoryLimits, HubState, Lessons, MAX_PANES,
    ModelStatus, Models, Notice, OpenedRun, Pace, Page, Palette, Pane, PaneId, PaneModels, Paste,
    PathPurpose, Pin, PromptMode, PromptReading, ScoreDialog, SecondModel, Servers, Settings,
    SettingsTab, Verification, ViewChoices, WatermarkDialog,
};
use crate::analysis::Divergence;
use crate::decoding::SettingError;
use crate::generation::formatting::pane_letter;
use crate::generation::{
    Generation, GenerationConfig, Limits, PaneModel, PaneSettings, Step, in_sentence,
};
use crate::interop::presets::OwnPreset;
use crate::lab::{Lab, LabSettings};
use crate::state::branches::{KeptText, KeptTexts};
use crate::state::panes::comparison::Comparison;
use crate::state::panes::run_end::{Repetition, TextsBefore};
use crate::state::panes::step_draws::ShownDraws;
use crate::state::panes::undo::Undo;
use crate::state::panes::why::WhySearch;
use crate::state::words::change::Snapshot;
use crate::worker::ModelSource;

/// Everything the window shows.
///
/// Settings are edited in place (see the [module](super) for the reason); everything else changes
/// only through [`AppState::apply`] and [`AppState::on_event`].
#[derive(Debug, Clone, PartialEq)]
pub struct AppState {
    /// The text to continue in raw mode, the message to answer in chat mode.
    pub prompt: String,
    pub prompt_mode: PromptMode,
    /// The system prompt of chat mode; may be empty.
    pub system: String,
    /// Whether an empty system prompt is sent as an empty message. Many templates write a system
    /// message of their own if there is none.
    pub sends_empty_system: bool,
    /// The engine's latest tokenization of the prompt, which may lag behind `prompt`.
    pub prompt_reading: Option<PromptReading>,
    /// When generations stop; shared by all panes.
    pub limits: Limits,
    /// The memory limit for the recorded distributions of all texts on screen.
    pub record_megabytes: u32,
    /// The memory limit for texts that no pane shows.
    pub kept_megabytes: u32,
    /// The memory limit for prompts and texts that stay in the KV cache.
    pub cache_megabytes: u32,
    /// The shared seed, for panes without their own.
    pub seed: u64,
    /// How fast texts are generated.
    pub pace: Pace,
    /// The panes from left to right; never empty, at most [`MAX_PANES`].
    pub panes: Vec<Pane>,
    /// How far the panes' texts agree, as of the last review.
    pub(super) comparison: Comparison,
    pub model: ModelStatus,
    /// The source of the current model, which is reloaded when the engine restarts.
    pub(crate) model_source: ModelSource,
    /// The sources of all loads in progress, in the order of the requests. Each stays until the
    /// engine reports that the load succeeded, failed or was cancelled; the newest is the wanted
    /// one.
    pub(super) pending_sources: VecDeque<ModelSource>,
    /// The model that drafts for the current one or guides it.
    pub second_model: SecondModel,
    /// The models of panes that do not use the current one.
    pub pane_models: PaneModels,
    pub servers: Servers,
    /// The models on this computer, and the compute settings.
    pub models: Models,
    /// The models on the Hub, and their downloads.
    pub hub: HubState,
    pub view: ViewChoices,
    /// The tokens and logits set by hand.
    pub by_hand: ByHand,
    /// The draws made from them.
    pub(super) hand_drawn: Option<HandDraws>,
    /// The page that the window shows.
    pub page: Page,
    /// The saved runs.
    pub history: History,
    pub history_limits: HistoryLimits,
    /// The run that is shown as it was generated.
    pub opened: Option<OpenedRun>,
    /// The rerun that verifies the opened run.
    pub verification: Option<Verification>,
    /// The number formats of that rerun, if they differ from the user's.
    pub(super) format_trial: Option<FormatTrial>,
    /// The number of the latest run. A run that is continued keeps its number, and so replaces its
    /// entry in the history.
    pub(super) run_number: u64,
    /// The pinned token.
    pub pin: Option<Pin>,
    /// The user's own presets.
    pub presets: Vec<OwnPreset>,
    /// The dialog for pasting settings, while it is open.
    pub paste: Option<Paste>,
    /// The dialog that continues from a token, while it is open.
    pub branch_dialog: Option<BranchDialog>,
    pub(super) kept_texts: KeptTexts,
    /// The kept text that was removed last.
    pub(super) removed_text: Option<KeptText>,
    /// The tree of texts, as of the last review.
    pub(super) branch_tree: BranchTree,
    /// The futures on screen, and what to draw next.
    pub futures: Futures,
    /// The experiments.
    pub lab: Lab,
    /// The lessons, and the one that is running.
    pub lessons: Lessons,
    /// What an export of everything leaves out, and whether its dialog is open.
    pub export: ExportChoice,
    /// The dialog for a text to be scored, while it is open.
    pub score_dialog: Option<ScoreDialog>,
    /// The dialog that tests a text for a watermark, while it is open.
    pub watermark_dialog: Option<WatermarkDialog>,
    /// The only pane that steps in step mode; `None` for all.
    pub step_pane: Option<PaneId>,
    /// The command palette, while it is open.
    pub palette: Option<Palette>,
    /// The tab of the settings dialog, while it is open.
    pub settings_tab: Option<SettingsTab>,
    /// The tab of the help, while it is open.
    pub help_tab: Option<HelpTab>,
    /// Where the system keeps files.
    pub folders: Folders,
    /// Where the user chose to keep them instead.
    pub chosen_folders: ChosenFolders,
    /// The pane whose chain editor opens in the next frame.
    pub chain_to_edit: Option<PaneId>,
    /// Notices, newest first; only the first is shown.
    pub notices: Vec<Notice>,
    /// The path field that replaces a missing file dialog: its purpose and the text typed so far.
    pub path_field: Option<(PathPurpose, String)>,
    /// The folder of the last path, where the next path field starts.
    pub(super) last_folder: Option<PathBuf>,
    /// The comparisons of all pairs of texts, while the dock shows them.
    pub(super) pairs: Vec<ComparedPair>,
    /// The search for the smallest change at the step that the dock shows.
    pub(super) why_search: Option<WhySearch>,
    /// The draws of the Monte Carlo check.
    pub(super) drawn_step: Option<ShownDraws>,
    pub(super) undo: Undo,
    /// The texts that the current run of all panes replaces.
    pub(super) texts_before: Option<TextsBefore>,
    /// Why the last run changed nothing.
    pub(super) repetition: Option<Repetition>,
    /// The last id given to a pane or a generation; ids are never reused.
    pub(crate) last_id: u64,
}

impl AppState {
    /// Creates the state at startup, and returns the effects that load the first model.
    pub fn new(settings: Settings, model_source: ModelSource) -> (Self, Vec<Effect>) {
        let mut state = Self {
            prompt: settings.prompt,
            prompt_mode: settings.prompt_mode,
            system: settings.system,
            sends_empty_system: settings.sends_empty_system,
            prompt_reading: None,
            limits: settings.limits,
            record_megabytes: settings.record_megabytes,
            kept_megabytes: settings.kept_megabytes,
            cache_megabytes: settings.cache_megabytes,
            seed: settings.seed,
            pace: settings.pace,
            panes: Vec::new(),
            comparison: Comparison::default(),
            model: ModelStatus::Absent,
            model_source: model_source.clone(),
            pending_sources: VecDeque::new(),
            second_model: SecondModel::default(),
            pane_models: PaneModels::default(),
            servers: Servers::new(settings.servers),
            hub: HubState::default(),
            models: Models::new(settings.recent_models, settings.compute),
            view: settings.view,
            by_hand: settings.by_hand,
            hand_drawn: None,
            page: Page::default(),
            history: History::default(),
            history_limits: settings.history,
            opened: None,
            verification: None,
            format_trial: None,
            run_number: 0,
            pin: None,
            presets: settings.presets,
            paste: None,
            branch_dialog: None,
            kept_texts: KeptTexts::default(),
            removed_text: None,
            branch_tree: BranchTree::default(),
            futures: Futures::default(),
            lab: settings.lab.lab(),
            lessons: Lessons::new(settings.lessons),
            export: ExportChoice::default(),
            score_dialog: None,
            watermark_dialog: None,
            step_pane: None,
            palette: None,
            settings_tab: None,
            help_tab: None,
            folders: Folders::default(),
            chosen_folders: settings.folders,
            chain_to_edit: None,
            notices: Vec::new(),
            path_field: None,
            last_folder: None,
            pairs: Vec::new(),
            why_search: None,
            drawn_step: None,
            undo: Undo::new(Snapshot {
                seed: settings.seed,
                panes: Vec::new(),
            }),
            texts_before: None,
            repetition: None,
            last_id: 0,
        };
        state.add_panes(settings.panes);
        state.undo = Undo::new(state.snapshot());
        let mut effects: Vec<Effect> = state.compute_request().into_iter().collect();
        effects.extend(state.cache_limit_request());
        effects.extend(state.pace_request());
        effects.extend(state.open_first(model_source));
        (state, effects)
    }

    /// Adds a pane for each of these settings, as long as there is room.
    pub(super) fn add_panes(&mut self, settings: Vec<PaneSettings>) {
        for settings in settings.into_iter().take(MAX_PANES) {
            let id = self.next_pane_id();
            self.panes.push(Pane::new(id, settings));
        }
    }

    /// Returns everything that persists across restarts.
    pub fn settings(&self) -> Settings {
        let mut settings = Settings {
            prompt: self.prompt.clone(),
            prompt_mode: self.prompt_mode,
            system: self.system.clone(),
            sends_empty_system: self.sends_empty_system,
            panes: self
                .panes
                .iter()
                .map(|pane| pane.settings.clone())
                .collect(),
            limits: self.limits.clone(),
            record_megabytes: self.record_megabytes,
            kept_megabytes: self.kept_megabytes,
            cache_megabytes: self.cache_megabytes,
            seed: self.seed,
            pace: self.pace,
            view: self.view,
            by_hand: self.by_hand.clone(),
            lab: LabSettings::from(&self.lab),
            presets: self.presets.clone(),
            // JSON cannot represent a path that is not valid Unicode.
            recent_models: self
                .models
                .recent
                .iter()
                .filter(|recent| recent.path.to_str().is_some())
                .cloned()
                .collect(),
            compute: self.models.compute,
            servers: self.servers.added.clone(),
            history: self.history_limits,
            lessons: self.lessons.progress.clone(),
            folders: self.chosen_folders.clone(),
        };
        if let Some(hidden) = self.hidden() {
            hidden.restore_settings(&mut settings);
        }
        if let Some(run) = self.lessons.run() {
            run.restore_settings(&mut settings);
        }
        for pane in &mut settings.panes {
            // As above.
            let is_unicode = |model: &ModelSource| {
                let path = model.path();
                path.is_none_or(|path| path.to_str().is_some())
            };
            let is_lost =
                |model: &PaneModel| model.local().is_some_and(|source| !is_unicode(source));
            pane.model.take_if(|model| is_lost(model));
        }
        settings
    }

    /// Returns the pane with this id, or `None` if it was removed.
    pub fn pane(&self, id: PaneId) -> Option<&Pane> {
        self.panes.iter().find(|pane| pane.id == id)
    }

    /// Returns a pane's position from the left, which determines its letter and color.
    pub fn place_of(&self, id: PaneId) -> Option<usize> {
        self.panes.iter().position(|pane| pane.id == id)
    }

    /// Returns whether any pane is waiting for tokens or generating.
    pub fn is_running(&self) -> bool {
        self.panes
            .iter()
            .any(|pane| pane.status.running().is_some())
    }

    /// Returns the generation each pane shows, from left to right.
    pub fn generations(&self) -> Vec<Option<&Generation>> {
        self.panes.iter().map(Pane::generation).collect()
    }

    /// Returns the panes that show a text, with their letters and names: "A Greedy".
    pub fn panes_with_text(&self) -> Vec<(PaneId, String)> {
        let panes = self.panes.iter().enumerate();
        let panes = panes.filter(|(_, pane)| pane.has_text());
        panes
            .map(|(place, pane)| {
                let name = format!("{} {}", pane_letter(place), pane.settings.name);
                (pane.id, name)
            })
            .collect()
    }

    /// Returns where the panes' texts diverge.
    pub fn divergence(&self) -> Divergence {
        // Include the tokens that arrived since the last review.
        let mut comparison = self.comparison.clone();
        comparison.update(&self.panes);
        comparison.divergence(&self.panes)
    }

    /// Returns the seed of a pane's next generation: its own or the shared one.
    pub fn seed_of(&self, pane: &Pane) -> u64 {
        pane.settings.seed.unwrap_or(self.seed)
    }

    /// Returns the configuration of a pane's next generation.
    pub fn config_of(&self, pane: &Pane) -> GenerationConfig {
        GenerationConfig {
            chain: pane.settings.chain.clone(),
            seed: self.seed_of(pane),
            limits: self.limits.clone(),
        }
    }

    /// Returns why no pane can generate now, or `None` if at least one can.
    pub fn blocking_reason(&self) -> Option<String> {
        if self.uses_several_models() {
            return self.common_blocking_reason().or_else(|| {
                let mut reasons = self.panes.iter().map(|pane| self.blocking_reason_of(pane));
                let first = reasons.next()??;
                reasons
                    .all(|reason| reason.is_some())
                    .then(|| format!("{}: {first}", pane_letter(0)))
            });
        }
        let all_invalid = || {
            let mut invalid = self.invalid_panes();
            let (place, error) = invalid.next()?;
            let are_all = invalid.count() + 1 == self.panes.len();
            are_all.then(|| format!("{}: {error}", pane_letter(place)))
        };
        self.shared_blocking_reason().or_else(all_invalid)
    }

    /// Returns which pane will be left out because of an invalid value or its model, and why.
    pub fn skipped_pane_words(&self) -> Option<String> {
        let mut panes = self.panes.iter().enumerate();
        let (place, reason) = panes.find_map(|(place, pane)| {
            let reason = if self.uses_several_models() {
                self.blocking_reason_of(pane)
            } else {
                let invalid = pane.settings.chain.validate().err();
                invalid.map(|error| error.to_string())
            };
            Some((place, reason?))
        })?;
        let reason = in_sentence(&reason);
        Some(format!("{} will not run: {reason}", pane_letter(place)))
    }

    fn invalid_panes(&self) -> impl Iterator<Item = (usize, SettingError)> {
        let places = self.panes.iter().enumerate();
        places.filter_map(|(place, pane)| Some((place, pane.settings.chain.validate().err()?)))
    }

    /// Returns why this pane can't generate now, or `None` if it can.
    pub fn blocking_reason_of(&self, pane: &Pane) -> Option<String> {
        let shared = if self.chosen_model(&pane.settings).is_some() {
            let common = self.common_blocking_reason();
            common.or_else(|| self.own_model_blocking_reason(pane))
        } else {
            self.shared_blocking_reason()
        };
        shared.or_else(|| {
            let invalid = pane.settings.chain.validate().err();
            invalid.map(|error| error.to_string())
        })
    }

    /// Returns why no pane that uses the main model can generate now.
    fn shared_blocking_reason(&self) -> Option<String> {
        if self.opened.is_some() {
            return Some("Close this run or use its settings first".to_owned());
        }
        if let Some(reason) = self.model.blocking_reason() {
            return Some(reason.to_owned());
        }
        let reason = self.question_reason();
        let reason = reason.or_else(|| self.prompt_blocking_reason());
        reason.or_else(|| self.limit_blocking_reason())
    }

    /// Returns why no pane can generate now, whatever its model.
    fn common_blocking_reason(&self) -> Option<String> {
        if self.opened.is_some() || self.model == ModelStatus::Lost {
            return self.shared_blocking_reason();
        }
        let reason = self.question_reason();
        let reason = reason.or_else(|| self.empty_prompt_reason());
        reason.or_else(|| self.limit_blocking_reason())
    }

    fn limit_blocking_reason(&self) -> Option<String> {
        let is_zero = self.limits.max_new_tokens == 0;
        is_zero.then(|| "The token limit must be at least 1".to_owned())
    }

    /// Returns whether generating now could produce a text that the panes don't show yet: the
    /// prompt, the settings or the model changed since the last run.
    pub fn output_is_stale(&self) -> bool {
        let mut panes = self.panes.iter();
        panes.any(|pane| {
            let model = self.model_of(pane).map(|model| &model.info);
            let written = !self.keeps_given_text(pane);
            written
                && pane.generation().is_none_or(|generation| {
                    !self.is_prompt_of(&generation.prompt)
                        || generation.config != self.config_of(pane)
                        || Some(&generation.model) != model
                })
        })
    }

    /// Returns the pinned step, with its pane's position and generation.
    pub fn pinned(&self) -> Option<(usize, &Generation, &Step)> {
        let pin = self.pin?;
        let place = self.place_of(pin.pane)?;
        let generation = self.panes.get(place)?.generation()?;
        Some((place, generation, generation.steps.get(pin.step)?))
    }

    /// Returns the pane position and step index that the dock shows: the pinned step, or else the
    /// newest step of the last pane that has one.
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

    /// Returns a pane id that was never used before.
    pub(super) const fn next_pane_id(&mut self) -> PaneId {
        self.last_id += 1;
        PaneId(self.last_id as u32)
    }
}
