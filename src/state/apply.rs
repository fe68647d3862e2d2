//! Applies commands: each changes the state and returns the effects to run outside.

use std::path::Path;

use super::{
    Action, AppState, AsideRequest, ChainToEdit, Command, DockTab, Effect, MAX_PANES, ModelStatus,
    ModelsTab, Notice, Pace, Page, Palette, PaletteCommand, Pane, PaneId, Paste, Pin, PinMove,
    ScoreCommand, ScoreDialog, ServerCommand, ViewChange, WatermarkDialog,
};
use crate::decoding::ChainConfig;
use crate::generation::{FinishReason, PaneSettings};
use crate::interop::tools::Tool;
use crate::lab::{KeptResult, LabCommand};
use crate::state::folders::FolderContext;
use crate::state::panes::paste::copy_settings;
use crate::state::words::change::{PaneSnapshot, Snapshot};
use crate::worker::ModelSource;

impl AppState {
    /// Applies a command and returns the effects to run outside.
    ///
    /// A command that is not possible right now is ignored: its button was disabled, with the
    /// reason shown next to it.
    pub fn apply(&mut self, command: Command) -> Vec<Effect> {
        // Widgets edit settings in place, so they may have changed since the last command.
        self.panes.spell_thoughts(&self.models);
        self.observe_settings();
        let mut effects = self.dispatch(command);
        effects.extend(self.follow());
        self.observe_settings();
        effects
    }

    /// Lets the lesson, the models and the panes that read along catch up with a change.
    pub(super) fn follow(&mut self) -> Vec<Effect> {
        let mut effects = self.follow_lesson();
        let wanted = self.wanted_pane_models();
        effects.extend(self.models.follow_panes(wanted));
        effects.extend(self.runs.listening.follow(&self.models));
        effects.extend(self.follow_readers());
        effects.extend(self.follow_conversation());
        effects.extend(self.read_next_prompts());
        effects
    }

    /// Applies a command without what follows it.
    #[expect(clippy::too_many_lines, reason = "a line or a few for each command")]
    pub(super) fn dispatch(&mut self, command: Command) -> Vec<Effect> {
        match command {
            Command::GenerateAll => return self.generate_all(),
            Command::AnotherSeed => return self.try_another_seed(),
            Command::Generate(id) => return self.generate_one(id),
            Command::StopAll => return self.panes.stop_all(),
            Command::Stop(id) => return self.panes.stop(id).into_iter().collect(),
            Command::SetPace(pace) => return self.set_pace(pace),
            Command::Branch(command) => return self.apply_to_branches(command),
            Command::Futures(command) => return self.apply_to_futures(command),
            Command::Lab(command) => {
                let effects = command.apply(self);
                let lab = &mut self.lab;
                let begins =
                    |kept: &KeptResult| matches!(command, LabCommand::Run(tab) if tab == kept.tab);
                if lab.kept.as_ref().is_some_and(begins) && lab.is_running(lab.tab) {
                    lab.kept = None;
                }
                return effects;
            }
            Command::Lesson(command) => return self.apply_to_lessons(command),
            Command::PromptEdited => return self.prompt.tokenize(&self.models.main),
            Command::Conversation(command) => return self.apply_to_conversation(command),
            Command::SetPromptMode(mode) => {
                self.prompt.mode = mode;
                return self.prompt.tokenize(&self.models.main);
            }
            Command::CopyPrompt(None) => return self.prompt.copy().into_iter().collect(),
            Command::CopyPrompt(Some(id)) => {
                let copied = self.pane(id).and_then(Pane::copy_next_prompt);
                return copied.into_iter().collect();
            }

            Command::SetChain(id, chain) => self.panes.set_chain(id, chain),
            Command::Solo(id, index) => self.panes.solo(id, index),
            Command::SetSeed(id, seed) => self.panes.set_seed(id, seed),
            Command::ResetSettings(id) => self.panes.reset_settings(id),
            Command::AddPane => self.add_pane(),
            Command::SetPaneCount(n_panes) => return self.set_pane_count(n_panes),
            Command::EditChain(pane) => {
                let setting = None;
                self.dialogs.chain_to_edit = Some(ChainToEdit { pane, setting });
            }
            Command::EditRunSetting(setting) => self.dialogs.run_setting_to_edit = Some(setting),
            Command::Rename(id) => self.dialogs.pane_to_rename = Some(id),
            Command::Duplicate(id) => self.duplicate(id),
            Command::Remove(id) => return self.remove(id),
            Command::Undo => return self.undo_change(),
            Command::Redo => return self.redo_change(),
            Command::EndUndoStep => self.undo.end_step(),
            Command::CopyText(id) => return self.copy_text(id),
            Command::CopySettings(id, tool) => return self.copy_settings(id, tool),
            Command::Paste(command) => {
                let (open, panes) = (&mut self.dialogs.paste, &mut self.panes);
                Paste::apply(open, command, panes, &mut self.limits, &self.models);
            }
            Command::Preset(command) => {
                let notice = command.apply(&mut self.presets, &self.panes);
                notice.map(|notice| self.notify(notice));
            }
            Command::Score(ScoreCommand::Run) => return self.score_text(),
            Command::Score(ScoreCommand::TestForWatermark) => {
                let (open, view) = (&mut self.dialogs.watermark, &mut self.view);
                let (panes, n_vocab) = (&self.panes, self.models.main.n_vocab());
                let own = self.dialogs.score.take();
                let request =
                    own.and_then(|own| WatermarkDialog::open_on(open, own, panes, view, n_vocab));
                return request.into_iter().collect();
            }
            Command::Score(command) => {
                let (open, notices) = (&mut self.dialogs.score, &mut self.notices);
                let request = ScoreDialog::apply(open, command, &self.panes, &self.models, notices);
                return request.into_iter().collect();
            }
            Command::GrammarRead { pane, path, text } => self.use_grammar(pane, &path, text),
            Command::Watermark(command) => {
                let (open, view) = (&mut self.dialogs.watermark, &mut self.view);
                let n_vocab = self.models.main.n_vocab();
                let request = WatermarkDialog::apply(open, command, &self.panes, view, n_vocab);
                return request.into_iter().collect();
            }

            Command::Pin(pin) => self.toggle_pin(pin),
            Command::Unpin => self.pin = None,
            Command::MovePin(direction) => self.move_pin(direction),
            Command::MovePinIn(pane, direction) => self.move_pin_in(pane, direction),

            Command::CopyPicture(picture) => return vec![Effect::CopyPicture(picture)],
            Command::CopyPictureFailed(error) => {
                self.notify(Notice::error("The picture was not copied", error));
            }
            Command::ShowExport(open) => return self.show_export(open),

            Command::CopyWhy => return self.copy_why(),
            Command::DrawStep => self.begin_step_draws(),

            Command::DrawByHand(n) => return self.draw_by_hand(n),

            Command::Palette(command) => return self.apply_to_palette(command),
            Command::ShowSettings(tab) => {
                let opens = tab.is_some() && self.dialogs.settings.is_none();
                self.dialogs.settings = tab;
                return opens
                    .then_some(Effect::Aside(AsideRequest::List))
                    .into_iter()
                    .collect();
            }
            Command::ShowHelp(tab) => self.dialogs.help = tab,
            Command::ChangeView(change) => self.change_view(change),

            Command::Run(command) => return self.apply_to_runs(command),
            Command::Listen(command) => return self.apply_to_endpoint(command),

            Command::LoadEmbeddedModel => return self.load_model(ModelSource::Embedded),
            Command::Models(command) => return self.apply_to_models(command),
            Command::ReadAlong(id, with) => return self.read_along(id, with),
            Command::PaneModel(command) => return self.apply_to_pane_models(command),
            Command::Server(ServerCommand::Show) => {
                self.models.hub.tab = ModelsTab::Servers;
                return self.models.show();
            }
            Command::Server(command) => {
                let effects = self.models.servers.apply(command, &mut self.panes);
                return self.end_lost_lists(effects);
            }
            Command::SecondModel(command) => {
                return self.models.second.apply(command).into_iter().collect();
            }
            Command::Hub(command) => {
                let (open, notices) = (self.models.dialog_open, &mut self.notices);
                return self.models.hub.apply(command, open, notices);
            }
            Command::AskPath(purpose) => return vec![Effect::OpenDialog(purpose)],
            Command::PathGiven(purpose, path) => return self.use_path(purpose, path),
            Command::DialogUnavailable(purpose) => self.dialogs.open_path_field(purpose),
            Command::ClosePathField => self.dialogs.path_field = None,
            Command::Saved { document, path } => self.notices.on_saved(document, &path),
            Command::SaveFailed {
                document,
                path,
                error,
            } => self.notices.on_save_failed(document, path, &error),

            Command::ShowInFolder(path) => return vec![Effect::ShowInFolder(path)],
            Command::OpenFolder(path) => return vec![Effect::OpenFolder(path)],
            Command::FolderShown { path, error } => self.notices.on_folder_shown(&path, error),

            Command::Folder(command) => {
                let mut context = FolderContext {
                    history: &mut self.runs.history,
                    hub: &mut self.models.hub,
                    notices: &mut self.notices,
                };
                let was_lost = context.history.unkept.is_some();
                let mut effects = self.folders.apply(command, &mut context);
                if was_lost && self.runs.history.unkept.is_none() {
                    effects.extend(self.keep_run());
                }
                return effects;
            }

            Command::RestartEngine if self.models.main == ModelStatus::Lost => {
                return self.restart_engine();
            }
            // Opening a model has already restarted it.
            Command::RestartEngine => {}
            Command::CloseNotice(place) => self.close_notice(place),
        }
        Vec::new()
    }

    /// Changes the pace from the next token on. Step mode stops what is being generated, so that
    /// the next token is requested by hand.
    fn set_pace(&mut self, pace: Pace) -> Vec<Effect> {
        let before = std::mem::replace(&mut self.pace, pace);
        if before == pace {
            return Vec::new();
        }
        if before == Pace::Step || pace == Pace::Step {
            for pane in &mut self.panes {
                pane.upcoming = None;
            }
        }
        let mut effects = vec![self.pace.request()];
        if pace == Pace::Step {
            effects.extend(self.panes.stop_all());
        }
        effects
    }

    /// Changes how the window shows things.
    pub(super) fn change_view(&mut self, change: ViewChange) {
        match change {
            ViewChange::Lab(tab) => self.lab.tab = tab,
            ViewChange::Tab(tab) => {
                self.choose_for_pressed(tab);
                self.view.change(change);
            }
            change => self.view.change(change),
        }
    }

    /// Remembers whether Plots or X-ray is to be shown when a token is pressed, if the user chooses
    /// between them. The token where the texts diverge is pinned when a run ends: going to Plots
    /// then says nothing about pressing.
    fn choose_for_pressed(&mut self, tab: DockTab) {
        let Some(pin) = self.pin.filter(|_| self.pinned().is_some()) else {
            return;
        };
        let was_pressed = || self.panes.fork(&self.divergence()) != Some(pin);
        match tab {
            DockTab::Xray => self.view.keeps_plots = false,
            DockTab::Plots if self.view.dock_tab == DockTab::Xray || was_pressed() => {
                self.view.keeps_plots = true;
            }
            _ => {}
        }
    }

    /// Adds a pane with the first built-in preset that no pane uses.
    fn add_pane(&mut self) {
        if self.panes.has_room() {
            let settings = self.panes.unused_preset();
            self.add_panes([settings]);
        }
    }

    /// Adds a pane with this chain and seed. Returns its id, or `None` if there is no room for it.
    pub(crate) fn push_pane(&mut self, chain: ChainConfig, seed: u64) -> Option<PaneId> {
        if !self.panes.has_room() {
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

    fn duplicate(&mut self, id: PaneId) {
        if self.panes.has_room() {
            let new_id = self.next_pane_id();
            self.panes.duplicate(id, new_id);
        }
    }

    /// Adds panes, or removes those on the right, until this many are open.
    fn set_pane_count(&mut self, n_panes: usize) -> Vec<Effect> {
        let n_panes = n_panes.clamp(1, MAX_PANES);
        while self.panes.len() < n_panes {
            self.add_pane();
        }
        let mut effects = Vec::new();
        while self.panes.len() > n_panes {
            let last = self.panes.last().map(|pane| pane.id);
            effects.extend(last.map_or_else(Vec::new, |id| self.remove_pane(id)));
        }
        effects
    }

    /// Records any change to the settings since the last call, made in place or by a command.
    /// This is the only way that undo learns of a change.
    pub(super) fn observe_settings(&mut self) {
        self.undo.observe(self.panes.snapshot(self.seed));
    }

    /// Undoes the last change.
    pub(super) fn undo_change(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        for swap in self.undo.swaps_to_undo() {
            effects.extend(self.show_in_place(swap.pane, swap.before));
        }
        if let Some(snapshot) = self.undo.step_back() {
            effects.extend(self.restore(snapshot));
        }
        effects
    }

    /// Redoes the last change that was undone.
    pub(super) fn redo_change(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        for swap in self.undo.swaps_to_redo() {
            effects.extend(self.show_in_place(swap.pane, swap.after));
        }
        if let Some(snapshot) = self.undo.step_forward() {
            effects.extend(self.restore(snapshot));
        }
        effects
    }

    fn restore(&mut self, snapshot: Snapshot) -> Vec<Effect> {
        let stays = |id: PaneId| snapshot.panes.iter().any(|other| other.id == id);
        let ids: Vec<PaneId> = self.panes.iter().map(|pane| pane.id).collect();
        let mut effects = Vec::new();
        for id in ids.into_iter().filter(|id| !stays(*id)) {
            effects.extend(self.remove_pane(id));
        }
        for PaneSnapshot {
            id,
            place,
            settings,
        } in snapshot.panes
        {
            let existing = self.panes.remove(id);
            let pane = existing
                .or_else(|| self.undo.take_removed_pane(id))
                .unwrap_or_else(|| Pane::new(id, settings.clone()));
            self.panes.insert(Pane {
                place,
                settings,
                ..pane
            });
        }
        self.seed = snapshot.seed;
        effects
    }

    /// Removes a pane, and keeps it with its text for undo.
    pub(super) fn remove_pane(&mut self, id: PaneId) -> Vec<Effect> {
        let was_running = self.is_running();
        let mut effects: Vec<Effect> = self.panes.stop(id).into_iter().collect();
        effects.extend(self.runs.end_verification(&mut self.models));
        if let Some(mut pane) = self.panes.remove(id) {
            // Its remaining events will be ignored, so the generation ends here.
            pane.status.finish(FinishReason::Cancelled);
            self.undo.keep_removed_pane(pane);
        }
        self.pin = self.pin.filter(|pin| pin.pane != id);
        if was_running {
            effects.extend(self.end_run());
        }
        effects
    }

    fn remove(&mut self, id: PaneId) -> Vec<Effect> {
        if self.panes.len() <= 1 {
            return Vec::new();
        }
        self.remove_pane(id)
    }

    fn copy_settings(&mut self, id: PaneId, tool: Tool) -> Vec<Effect> {
        let Some(pane) = self.panes.pane(id) else {
            return Vec::new();
        };
        let model = self.models.of(pane);
        let vocabulary = model.map(|model| &*model.vocabulary);
        copy_settings(tool, &self.config_of(pane), vocabulary, &mut self.notices)
    }

    /// Replaces a pane's grammar with the one read from a file.
    fn use_grammar(&mut self, pane: PaneId, path: &Path, text: Result<String, String>) {
        match text {
            Ok(text) => self.panes.set_grammar(pane, &text),
            Err(error) => {
                let body = format!("{error}\nFile: {}", path.display());
                self.notify(Notice::error("The grammar was not read", body));
            }
        }
    }

    fn apply_to_palette(&mut self, command: PaletteCommand) -> Vec<Effect> {
        self.dialogs.palette = (command == PaletteCommand::Open).then(Palette::default);
        match command {
            PaletteCommand::Open | PaletteCommand::Close => Vec::new(),
            PaletteCommand::Run(action) => self.run_action(action),
            PaletteCommand::Edit(pane, setting) => {
                let setting = Some(setting);
                self.dialogs.chain_to_edit = Some(ChainToEdit { pane, setting });
                self.show_page(Page::Write)
            }
            PaletteCommand::UsePreset(pane, chain) => {
                let mut effects = self.show_page(Page::Write);
                effects.extend(self.apply(Command::SetChain(pane, chain)));
                effects
            }
        }
    }

    /// Runs an action on its page. Does nothing if it is not possible.
    fn run_action(&mut self, action: Action) -> Vec<Effect> {
        let Ok(command) = action.command(self) else {
            return Vec::new();
        };
        let page = action.page();
        let mut effects = page.map_or_else(Vec::new, |page| self.show_page(page));
        effects.extend(self.apply(command));
        effects
    }

    fn copy_text(&self, id: PaneId) -> Vec<Effect> {
        let generation = self.pane(id).and_then(Pane::generation);
        generation
            .map(|generation| Effect::CopyText(generation.text()))
            .into_iter()
            .collect()
    }

    fn toggle_pin(&mut self, pin: Pin) {
        self.pin = (self.pin != Some(pin)).then_some(pin);
    }

    /// If nothing is pinned yet, any direction pins the step that the dock shows.
    fn move_pin(&mut self, direction: PinMove) {
        let Some((place, step)) = self.shown_step() else {
            return;
        };
        let has_text = |place: &usize| self.panes.n_steps(*place) > 0;
        let (place, step) = match (self.pin, direction) {
            (None, _) => (place, step),
            (Some(_), PinMove::Earlier) => (place, step.saturating_sub(1)),
            (Some(_), PinMove::Later) => (place, step + 1),
            (Some(_), PinMove::PreviousPane) => {
                (((0..place).rev().find(has_text)).unwrap_or(place), step)
            }
            (Some(_), PinMove::NextPane) => {
                let mut after = self.panes.places().filter(|other| *other > place);
                (after.find(has_text).unwrap_or(place), step)
            }
        };
        let last = self.panes.n_steps(place).saturating_sub(1);
        self.pin = self.panes.get(place).map(|pane| Pin {
            pane: pane.id,
            step: step.min(last),
        });
    }

    /// Moves the pin as if it were in this pane.
    fn move_pin_in(&mut self, pane: PaneId, direction: PinMove) {
        let n_steps = self.place_of(pane).map(|place| self.panes.n_steps(place));
        let last = n_steps.unwrap_or_default().saturating_sub(1);
        self.pin = self.pin.map(|pin| Pin {
            pane,
            step: pin.step.min(last),
        });
        self.move_pin(direction);
    }

    pub(crate) fn notify(&mut self, notice: Notice) -> Vec<Effect> {
        self.notices.notify(notice)
    }

    fn close_notice(&mut self, place: usize) {
        if place < self.notices.len() {
            self.notices.remove(place);
        }
    }
}
