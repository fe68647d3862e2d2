//! Applies commands: each changes the state and returns the effects to run outside.

use std::path::{Path, PathBuf};

use super::{
    AppState, Command, Document, Effect, MAX_PANES, ModelStatus, ModelsCommand, Notice,
    NoticeAction, NoticeKind, Pane, PaneId, PaneModelCommand, PaneStatus, PathPurpose, Pin,
    PinMove, RunCommand, Unsaved,
};
use crate::decoding::ChainConfig;
use crate::generation::{Continuation, FinishReason, PaneModel, PaneSettings};
use crate::interop::presets;
use crate::state::branches::Upcoming;
use crate::state::pane_models::OwnModel;
use crate::state::panes::pane::PendingGeneration;
use crate::state::panes::run_end::is_token_hint;
use crate::state::panes::solo::Solo;
use crate::worker::{GenerationId, ModelSource, PaneRequest, Request, ServerRequest};

impl AppState {
    /// Applies a command and returns the effects to run outside.
    ///
    /// A command that is not possible right now is ignored: its button was disabled, with the
    /// reason shown next to it.
    pub fn apply(&mut self, command: Command) -> Vec<Effect> {
        // Widgets edit settings in place, so they may have changed since the last command.
        self.observe_settings();
        let mut effects = self.dispatch(command);
        effects.extend(self.follow_lesson());
        effects.extend(self.follow_pane_models());
        effects.extend(self.follow_readers());
        self.observe_settings();
        effects
    }

    pub(super) fn dispatch(&mut self, command: Command) -> Vec<Effect> {
        match command {
            Command::GenerateAll => self.generate_all(),
            Command::AnotherSeed => self.try_another_seed(),
            Command::Generate(id) => self.generate_one(id),
            Command::StopAll => self.stop_all(),
            Command::Stop(id) => self.stop(id),
            Command::SetPace(pace) => self.set_pace(pace),
            Command::Branch(command) => self.apply_to_branches(command),
            Command::Futures(command) => self.apply_to_futures(command),
            Command::Lab(command) => command.apply(self),
            Command::Lesson(command) => self.apply_to_lessons(command),
            Command::PromptEdited => self.tokenize_prompt(),
            Command::CopyPrompt => self.copy_prompt(),

            Command::SetChain(id, chain) => self.set_chain(id, chain),
            Command::Solo(id, index) => self.solo(id, index),
            Command::SetSeed(id, seed) => self.set_seed(id, seed),
            Command::ResetSettings(id) => self.reset_settings(id),
            Command::AddPane => self.add_pane(),
            Command::SetPaneCount(n_panes) => self.set_pane_count(n_panes),
            Command::EditChain(id) => self.edit_chain(id),
            Command::Duplicate(id) => self.duplicate(id),
            Command::Remove(id) => self.remove(id),
            Command::Undo => self.undo_change(),
            Command::Redo => self.redo_change(),
            Command::EndUndoStep => {
                self.undo.end_step();
                Vec::new()
            }
            Command::CopyText(id) => self.copy_text(id),
            Command::CopySettings(id, tool) => self.copy_settings(id, tool),
            Command::Paste(command) => self.apply_to_paste(command),
            Command::Preset(command) => self.apply_to_presets(command),
            Command::Score(command) => self.apply_to_score(command),
            Command::GrammarRead { pane, path, text } => self.use_grammar(pane, &path, text),
            Command::Watermark(command) => self.apply_to_watermark(command),

            Command::Pin(pin) => self.toggle_pin(pin),
            Command::Unpin => self.unpin(),
            Command::MovePin(direction) => self.move_pin(direction),

            Command::CopyPicture(plot) => vec![Effect::CopyPicture(plot)],
            Command::CopyPictureFailed(error) => {
                self.notify(Notice::error("The picture was not copied", error))
            }
            Command::ShowExport(open) => self.show_export(open),

            Command::CopyWhy => self.copy_why(),
            Command::DrawStep => self.begin_step_draws(),

            Command::DrawByHand(n) => self.draw_by_hand(n),

            Command::Palette(command) => self.apply_to_palette(command),
            Command::ShowSettings(tab) => self.show_settings(tab),
            Command::ShowHelp(tab) => self.show_help(tab),
            Command::ChangeView(change) => self.change_view(change),

            Command::Run(command) => self.apply_to_runs(command),

            Command::LoadEmbeddedModel => self.load_model(ModelSource::Embedded),
            Command::Models(command) => self.apply_to_models(command),
            Command::ReadAlong(id, with) => self.read_along(id, with),
            Command::PaneModel(command) => self.apply_to_pane_models(command),
            Command::Server(command) => self.apply_to_servers(command),
            Command::SecondModel(command) => self.apply_to_second(command),
            Command::Hub(command) => self.apply_to_hub(command),
            Command::AskPath(purpose) => vec![Effect::OpenDialog(purpose)],
            Command::PathGiven(purpose, path) => self.use_path(purpose, path),
            Command::DialogUnavailable(purpose) => self.open_path_field(purpose),
            Command::ClosePathField => {
                self.path_field = None;
                Vec::new()
            }
            Command::Saved { document, path } => self.saved(document, &path),
            Command::SaveFailed {
                document,
                path,
                error,
            } => self.save_failed(document, path, &error),

            Command::ShowInFolder(path) => vec![Effect::ShowInFolder(path)],
            Command::OpenFolder(path) => vec![Effect::OpenFolder(path)],
            Command::FolderShown { path, error } => self.folder_shown(&path, error),

            Command::Folder(command) => self.apply_to_folders(command),

            Command::RestartEngine if self.model == ModelStatus::Lost => self.restart_engine(),
            // Opening a model has already restarted it.
            Command::RestartEngine => Vec::new(),
            Command::CloseNotice => self.close_notice(),
        }
    }

    pub(super) fn generate_all(&mut self) -> Vec<Effect> {
        if self.is_running() || self.blocking_reason().is_some() {
            return Vec::new();
        }
        self.begin_run();
        let places = self.valid_places();
        self.request_generation(&places, None)
    }

    /// Continues the prompt in these panes. In step mode, pauses after `pause_after` tokens.
    pub(super) fn generate_in(
        &mut self,
        places: &[usize],
        pause_after: Option<usize>,
    ) -> Vec<Effect> {
        if self.blocking_reason().is_some() {
            return Vec::new();
        }
        self.begin_run();
        self.request_generation(places, pause_after)
    }

    /// Returns the positions of the panes whose settings are valid, except those that keep a given
    /// text.
    pub(super) fn valid_places(&self) -> Vec<usize> {
        let is_valid = |place: &usize| {
            let pane = self.panes.get(*place);
            pane.is_some_and(|pane| {
                let is_blocked =
                    self.uses_several_models() && self.blocking_reason_of(pane).is_some();
                let is_valid = pane.settings.chain.validate().is_ok();
                is_valid && !is_blocked && !self.keeps_given_text(pane)
            })
        };
        (0..self.panes.len()).filter(is_valid).collect()
    }

    pub(crate) fn generate_one(&mut self, id: PaneId) -> Vec<Effect> {
        let Some(place) = self.place_of(id) else {
            return Vec::new();
        };
        let possible = self
            .pane(id)
            .is_some_and(|pane| self.blocking_reason_of(pane).is_none());
        if !possible {
            return Vec::new();
        }
        let mut effects = self.stop(id);
        effects.extend(self.request_generation(&[place], None));
        effects
    }

    /// Requests a generation for each of these panes, all in one request so that they decode
    /// together.
    fn request_generation(&mut self, places: &[usize], pause_after: Option<usize>) -> Vec<Effect> {
        self.run_number += 1;
        let n_detail_bytes = self.detail_bytes_per_step(places);
        let mut requests = Vec::new();
        for &place in places {
            let Some(pane) = self.panes.get(place) else {
                continue;
            };
            let config = self.config_of(pane);
            let own = self.own_model(pane);
            let (named, model) = (OwnModel::named(own.as_ref()), OwnModel::local(own.as_ref()));
            let served = named.as_ref().and_then(PaneModel::served).cloned();
            self.last_id += 1;
            let id = GenerationId(self.last_id);
            if let Some(pane) = self.panes.get_mut(place) {
                let mut status = std::mem::replace(&mut pane.status, PaneStatus::Ready);
                // A text that is replaced while it is being generated is cancelled.
                status.finish(FinishReason::Cancelled);
                let pending = PendingGeneration {
                    id,
                    name: pane.settings.name.clone(),
                    config: config.clone(),
                    previous: status.into_generation(),
                    kept: None,
                    own_model: own,
                };
                pane.running_model = named;
                pane.server_notes.clear();
                // The last token before the pause is only previewed.
                pane.upcoming = pause_after
                    .map(|n_tokens| Upcoming::expected(id, n_tokens - 1, config.clone()));
                pane.status = PaneStatus::Waiting { pending };
                let request = PaneRequest {
                    id,
                    config,
                    model,
                    continuation: Continuation {
                        pause_after,
                        ..Continuation::default()
                    },
                };
                requests.push((served, request));
            }
        }
        let prompt = self.prompt_text();
        let to_engine = |panes| Request::Generate {
            prompt: prompt.clone(),
            panes,
            n_detail_bytes,
        };
        let to_server = |panes| ServerRequest::Generate {
            prompt: prompt.clone(),
            panes,
        };
        self.send(requests, to_engine, to_server)
    }

    pub(super) fn stop_all(&self) -> Vec<Effect> {
        self.stop_all_effects()
    }

    pub(super) fn stop(&self, id: PaneId) -> Vec<Effect> {
        let stopped = self.pane(id).and_then(Self::stop_effect);
        stopped.into_iter().collect()
    }

    pub(super) fn set_chain(&mut self, id: PaneId, chain: ChainConfig) -> Vec<Effect> {
        if let Some(pane) = self.panes.iter_mut().find(|pane| pane.id == id) {
            pane.settings.set_chain(chain);
        }
        Vec::new()
    }

    fn solo(&mut self, id: PaneId, index: usize) -> Vec<Effect> {
        let Some(pane) = self.panes.iter_mut().find(|pane| pane.id == id) else {
            return Vec::new();
        };
        let mut chain = pane.settings.chain.clone();
        Solo::toggle(&mut pane.solo, index, &mut chain);
        self.set_chain(id, chain)
    }

    fn set_seed(&mut self, id: PaneId, seed: Option<u64>) -> Vec<Effect> {
        if let Some(pane) = self.panes.iter_mut().find(|pane| pane.id == id) {
            pane.settings.seed = seed;
        }
        Vec::new()
    }

    fn reset_settings(&mut self, id: PaneId) -> Vec<Effect> {
        if let Some(place) = self.place_of(id) {
            let classics = PaneSettings::classics();
            let settings = classics.into_iter().cycle().nth(place);
            if let (Some(pane), Some(settings)) = (self.panes.get_mut(place), settings) {
                let model = pane.settings.model.take();
                pane.settings = PaneSettings { model, ..settings };
            }
        }
        Vec::new()
    }

    /// Adds a pane on the right with the first built-in preset that no pane uses.
    pub(super) fn add_pane(&mut self) -> Vec<Effect> {
        if self.panes.len() < MAX_PANES {
            let is_used = |chain: &ChainConfig| {
                let mut panes = self.panes.iter();
                panes.any(|pane| pane.settings.chain == *chain)
            };
            let presets = presets::built_in().into_iter();
            let mut presets = presets.flat_map(|group| group.presets);
            let preset = presets.find(|preset| !is_used(&preset.chain));
            let chain = preset.map_or_else(ChainConfig::greedy, |preset| preset.chain);
            let id = self.next_pane_id();
            self.panes.push(Pane::new(id, PaneSettings::from(chain)));
        }
        Vec::new()
    }

    /// Adds a pane with this chain and seed on the right. Returns its id, or `None` if there is no
    /// room for it.
    pub(crate) fn push_pane(&mut self, chain: ChainConfig, seed: u64) -> Option<PaneId> {
        if self.panes.len() >= MAX_PANES {
            return None;
        }
        let id = self.next_pane_id();
        let settings = PaneSettings {
            seed: Some(seed),
            ..PaneSettings::from(chain)
        };
        self.panes.push(Pane::new(id, settings));
        Some(id)
    }

    fn duplicate(&mut self, id: PaneId) -> Vec<Effect> {
        if self.panes.len() >= MAX_PANES {
            return Vec::new();
        }
        if let Some(place) = self.place_of(id) {
            let new_id = self.next_pane_id();
            if let Some(settings) = self.panes.get(place).map(|pane| pane.settings.clone()) {
                self.panes.insert(place + 1, Pane::new(new_id, settings));
            }
        }
        Vec::new()
    }

    fn remove(&mut self, id: PaneId) -> Vec<Effect> {
        if self.panes.len() <= 1 {
            return Vec::new();
        }
        self.remove_pane(id)
    }

    fn copy_text(&self, id: PaneId) -> Vec<Effect> {
        let generation = self.pane(id).and_then(Pane::generation);
        generation
            .map(|generation| Effect::CopyText(generation.text()))
            .into_iter()
            .collect()
    }

    fn unpin(&mut self) -> Vec<Effect> {
        self.pin = None;
        Vec::new()
    }

    fn toggle_pin(&mut self, pin: Pin) -> Vec<Effect> {
        self.pin = (self.pin != Some(pin)).then_some(pin);
        self.learn_tokens();
        Vec::new()
    }

    /// If nothing is pinned yet, any direction pins the step that the dock shows.
    fn move_pin(&mut self, direction: PinMove) -> Vec<Effect> {
        let Some((place, step)) = self.shown_step() else {
            return Vec::new();
        };
        self.learn_tokens();
        let has_text = |place: &usize| self.n_steps(*place) > 0;
        let (place, step) = match (self.pin, direction) {
            (None, _) => (place, step),
            (Some(_), PinMove::Earlier) => (place, step.saturating_sub(1)),
            (Some(_), PinMove::Later) => (place, step + 1),
            (Some(_), PinMove::PreviousPane) => {
                (((0..place).rev().find(has_text)).unwrap_or(place), step)
            }
            (Some(_), PinMove::NextPane) => {
                let mut after = place + 1..self.panes.len();
                (after.find(has_text).unwrap_or(place), step)
            }
        };
        let last = self.n_steps(place).saturating_sub(1);
        self.pin = self.panes.get(place).map(|pane| Pin {
            pane: pane.id,
            step: step.min(last),
        });
        Vec::new()
    }

    fn n_steps(&self, place: usize) -> usize {
        let generation = self.panes.get(place).and_then(Pane::generation);
        generation.map_or(0, |generation| generation.steps.len())
    }

    fn use_path(&mut self, purpose: PathPurpose, path: PathBuf) -> Vec<Effect> {
        self.path_field = None;
        if let Some(folder) = path.parent() {
            self.last_folder = Some(folder.to_owned());
        }
        match purpose {
            PathPurpose::ModelFile | PathPurpose::ModelFolder => {
                self.apply_to_models(ModelsCommand::Open(path))
            }
            PathPurpose::SecondModel => self.open_second_model(path, false),
            PathPurpose::SecondModelToVerify => self.open_second_model(path, true),
            PathPurpose::PaneModel(pane) | PathPurpose::PaneModelFolder(pane) => {
                let source = Some(ModelSource::Path(path).into());
                self.apply_to_pane_models(PaneModelCommand::Choose(pane, source))
            }
            PathPurpose::Lab(tab) => {
                self.lab.use_path(tab, path);
                Vec::new()
            }
            PathPurpose::Presets => vec![Effect::ReadPresets(path)],
            PathPurpose::Run => self.apply_to_runs(RunCommand::Open(path)),
            PathPurpose::Text => vec![Effect::ReadText(path)],
            PathPurpose::Grammar(pane) => vec![Effect::ReadGrammar(pane, path)],
            PathPurpose::Lesson => vec![Effect::ReadLesson(path)],
            PathPurpose::ExportRun => self.apply_to_runs(RunCommand::Export(path)),
            PathPurpose::Folder(kind) => self.try_folder(kind, path),
            PathPurpose::Save(document) => vec![Effect::Save(document, path)],
        }
    }

    fn open_path_field(&mut self, purpose: PathPurpose) -> Vec<Effect> {
        let suggestion = purpose.suggested_name().unwrap_or_default();
        let suggestion = match &self.last_folder {
            Some(folder) => folder.join(suggestion).display().to_string(),
            None => format!("~/{suggestion}"),
        };
        self.path_field = Some((purpose, suggestion));
        Vec::new()
    }

    /// Also dismisses earlier notices that saving this document failed.
    fn saved(&mut self, document: Document, path: &Path) -> Vec<Effect> {
        let ask = Command::AskPath(PathPurpose::Save(document));
        let saves = |action: &NoticeAction| action.command == ask;
        self.notices
            .retain(|notice| !notice.actions.iter().any(saves));
        let show = Command::ShowInFolder(path.to_owned());
        let notice = Notice::done(format!("Saved {}", path.display()));
        self.notify(notice.with_action("Show in folder", show))
    }

    /// Reports that the system could not show a file or a folder.
    fn folder_shown(&mut self, path: &Path, error: Option<String>) -> Vec<Effect> {
        let Some(error) = error else {
            return Vec::new();
        };
        let body = format!("{error}. Nothing is lost.\n{}", path.display());
        self.notify(Notice::error("No file manager could be opened", body))
    }

    fn save_failed(&mut self, document: Document, path: PathBuf, error: &str) -> Vec<Effect> {
        let Unsaved { title, kept } = document.unsaved();
        let purpose = PathPurpose::Save(document);
        let body = format!("{error}. {kept}.\n{}", path.display());
        let notice = Notice::error(title, body)
            .with_action("Save elsewhere…", Command::AskPath(purpose.clone()))
            .with_action("Try again", Command::PathGiven(purpose, path));
        self.notify(notice)
    }

    /// Shows a notice in front of the others, but no hint in front of an error. An identical notice
    /// is replaced, not repeated.
    pub(crate) fn notify(&mut self, notice: Notice) -> Vec<Effect> {
        self.notices.retain(|other| *other != notice);
        let is_error = |other: &Notice| other.kind == NoticeKind::Error;
        let n_before = match notice.kind {
            NoticeKind::Hint => self.notices.iter().rposition(is_error).map_or(0, |n| n + 1),
            NoticeKind::Done | NoticeKind::Error => 0,
        };
        self.notices.insert(n_before, notice);
        Vec::new()
    }

    fn close_notice(&mut self) -> Vec<Effect> {
        if self.notices.first().is_some_and(is_token_hint) {
            self.learn_tokens();
        } else if !self.notices.is_empty() {
            self.notices.remove(0);
        }
        Vec::new()
    }
}
