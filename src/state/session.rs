//! What is on screen, so that it can be restored after a crash.

use std::path::{Path, PathBuf};

use super::branches::{KeptTexts, RunTexts, renumber};
use super::listening::{
    ask_again, of_request, on_read, read_tasks, stop_asking, use_tasks, write_again,
};
use super::runs::{HiddenSession, what_if_words};
use super::{
    AppState, BranchTree, Command, Effect, ListenCommand, MAX_PANES, Notice, Notices, OpenedRun,
    Pace, Page, Pane, PaneId, PaneStatus, Panes, Prompt, RequestView, RunCommand, RunRequest,
    Settings, Undo, unix_time_secs,
};
use crate::export::json::{self, Branch, RunFile, RunHeader};
use crate::generation::{FinishReason, Generation, GenerationId, PaneSettings, PromptForm};
use crate::lab::LabTab;

/// The settings and the texts on screen. While a run is open, they are those that it hides.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    pub settings: Settings,
    /// The places of the panes that show the texts.
    pub places: Vec<usize>,
    pub texts: RunTexts,
    /// When the run finished, in seconds since 1970. `None` if it is still being written.
    pub finished_at: Option<u64>,
}

/// Differs between two sessions if their settings or texts do.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionKey {
    settings: Settings,
    texts: Vec<Option<(GenerationId, usize, bool)>>,
    kept_revision: u64,
}

impl AppState {
    pub(super) fn apply_to_runs(&mut self, command: RunCommand) -> Vec<Effect> {
        match command {
            RunCommand::ShowPage(page) => self.show_page(page),
            RunCommand::List => self.list_runs(),
            RunCommand::Open(path) => {
                self.runs.history.verifies = false;
                vec![Effect::Runs(RunRequest::Read(path))]
            }
            RunCommand::OpenKept(file) => {
                self.runs.history.verifies = false;
                self.open_kept(file)
            }
            RunCommand::VerifyKept(file) => {
                self.runs.history.verifies = true;
                self.open_kept(file)
            }
            RunCommand::Read { name, run } => self.show_run(&name, run),
            RunCommand::MessagesRead { name, messages } => self.open_messages(&name, messages),
            RunCommand::ResultRead {
                name,
                result,
                finished_at,
            } => {
                self.show_result(&name, result, finished_at);
                Vec::new()
            }
            RunCommand::Close => self.close_run(),
            RunCommand::UseSettings => self.use_settings_of_run(),
            RunCommand::AskAgain(files) => ask_again(self, files),
            RunCommand::StopAsking => stop_asking(self),
            RunCommand::ReadToAsk { file, run } => on_read(self, file, run),
            RunCommand::UseAsTasks { files, tab } => read_tasks(self, files, tab),
            RunCommand::TasksRead {
                tasks,
                tab,
                n_unread,
            } => use_tasks(self, tasks, tab, n_unread),
            RunCommand::WriteAgain => write_again(self),
            RunCommand::ShowRequestAs(_)
            | RunCommand::SetRequestField { .. }
            | RunCommand::CopyRequest => of_request(self, command),
            RunCommand::Verify => {
                let (runs, mut context) = self.runs_in_context();
                runs.verify(&mut context)
            }
            RunCommand::VerifyIn(formats) => {
                let (runs, mut context) = self.runs_in_context();
                runs.verify_in(formats, &mut context)
            }
            RunCommand::EndVerification => self.runs.end_verification(&mut self.models),
            command => {
                let (indented, notices) = (self.view.run_file.indented, &mut self.notices);
                let request = self.runs.history.apply(command, indented, notices);
                request.map(Effect::Runs).into_iter().collect()
            }
        }
    }

    /// Shows a run of the history once it is read.
    fn open_kept(&mut self, file: String) -> Vec<Effect> {
        let Some(content) = self.runs.history.content_of(&file) else {
            return vec![Effect::Runs(RunRequest::ReadKept(file))];
        };
        let run = json::read(&content).map_err(|error| error.to_string());
        let asked = run.as_ref().ok().and_then(|run| run.panes.first());
        let name = asked.map_or(file, |text| text.prompt.text.clone());
        self.show_run(&name, run.map(Box::new))
    }

    pub(super) fn apply_to_endpoint(&mut self, command: ListenCommand) -> Vec<Effect> {
        let shows_requests = command == ListenCommand::ShowRequests;
        let mut effects = self.runs.listen(command, &mut self.notices);
        if shows_requests {
            effects.extend(self.show_page(Page::History));
        }
        effects
    }

    pub(super) fn show_page(&mut self, page: Page) -> Vec<Effect> {
        self.page = page;
        if page == Page::History {
            return self.list_runs();
        }
        Vec::new()
    }

    /// Reads the history, unless it is known.
    fn list_runs(&self) -> Vec<Effect> {
        let is_unknown = self.runs.history.runs.is_none();
        let list = is_unknown.then_some(Effect::Runs(RunRequest::List));
        list.into_iter().collect()
    }

    /// Returns the header that a file has for the run on screen.
    pub fn run_header(&self) -> RunHeader {
        let opened = self
            .runs
            .opened
            .as_ref()
            .map(|opened| opened.header.clone());
        opened.unwrap_or_else(|| {
            let finished_at = self.runs.finished_at.filter(|_| !self.is_running());
            RunHeader {
                finished_at: Some(finished_at.unwrap_or_else(unix_time_secs)),
                ..RunHeader::default()
            }
        })
    }

    /// Shows a run, or why it can't be read.
    pub(super) fn show_run(
        &mut self,
        name: &str,
        run: Result<Box<RunFile>, String>,
    ) -> Vec<Effect> {
        let verifies = std::mem::take(&mut self.runs.history.verifies);
        let run = match run {
            Ok(run) if run.panes.is_empty() => Err("it has no texts".to_owned()),
            run => run,
        };
        let run = match run {
            Ok(run) => *run,
            Err(error) => {
                let title = format!("{name} can’t be opened");
                return self.notify(Notice::error(title, error));
            }
        };
        let n_panes = run.panes.len();
        if n_panes > MAX_PANES {
            let words = format!("Showing the first {MAX_PANES} of {n_panes} texts");
            self.notify(Notice::hint(words));
        }
        let mut effects = self.runs.end_verification(&mut self.models);
        effects.extend(self.leave_lesson());
        let hidden = match self.runs.opened.take() {
            Some(opened) => {
                effects.extend(self.stop_texts());
                self.futures.take_runs();
                opened.hidden
            }
            None => self.set_aside(&mut effects),
        };
        let title = run.header.title.clone();
        let what_if_words = what_if_words(&run.panes);
        let places = (0..n_panes).map(|index| run.place(index)).collect();
        let request = run.header.request.as_ref();
        self.runs.opened = Some(OpenedRun {
            name: title.unwrap_or_else(|| name.to_owned()),
            request_view: RequestView::default(),
            request_fields: request.map(|it| it.fields.clone()).unwrap_or_default(),
            field_error: None,
            header: run.header,
            what_if_words,
            contradiction: run.contradiction,
            hidden,
        });
        self.fill_from(run.panes, places, run.branches);
        self.page = Page::Write;
        if verifies {
            let (runs, mut context) = self.runs_in_context();
            effects.extend(runs.verify(&mut context));
        }
        effects
    }

    /// Stops everything that is being written.
    fn stop_texts(&mut self) -> Vec<Effect> {
        let mut effects = self.panes.stop_all();
        effects.extend(self.stop_futures());
        for pane in &mut self.panes {
            pane.status.finish(FinishReason::Cancelled);
        }
        effects
    }

    /// Stops what is being written and takes it off the screen, to be brought back later.
    pub(in crate::state) fn set_aside(&mut self, effects: &mut Vec<Effect>) -> HiddenSession {
        let was_running = self.is_running();
        effects.extend(self.stop_texts());
        let futures = self.futures.take_runs();
        HiddenSession {
            prompt: self.prompt.clone(),
            limits: self.limits.clone(),
            seed: self.seed,
            panes: std::mem::take(&mut self.panes),
            pin: self.pin.take(),
            undo: self.undo.clone(),
            kept_texts: std::mem::take(&mut self.branches.kept),
            removed_text: self.branches.removed.take(),
            futures,
            was_running,
            finished_at: if was_running {
                Some(unix_time_secs())
            } else {
                self.runs.finished_at.take()
            },
        }
    }

    /// Fills the window with these texts at their places, their prompt and their settings.
    fn fill_from(&mut self, texts: Vec<Generation>, places: Vec<usize>, branches: Vec<Branch>) {
        if let Some(first) = texts.first() {
            self.prompt.text.clone_from(&first.prompt.text);
            self.prompt
                .set_form(PromptForm::of(first.prompt.chat.as_ref()));
            self.limits = first.config.limits.clone();
            self.seed = first.config.seed;
        }
        self.panes.clear();
        for (text, place) in texts.into_iter().zip(places).take(MAX_PANES) {
            let id = self.next_pane_id();
            let settings = PaneSettings {
                name: text.name.clone(),
                chain: text.config.chain.clone(),
                seed: Some(text.config.seed).filter(|seed| *seed != self.seed),
                model: self.models.loaded_as(&text.model),
            };
            let mut pane = Pane::new(id, settings);
            pane.place = place;
            pane.status = PaneStatus::Finished(text);
            self.panes.insert(pane);
        }
        self.branches.kept = KeptTexts::default();
        self.branches.removed = None;
        let panes: Vec<PaneId> = self.panes.iter().map(|pane| pane.id).collect();
        self.adopt_texts(&panes, branches);
        self.start_over();
    }

    /// Forgets what belonged to the texts that were on screen.
    pub(in crate::state) fn start_over(&mut self) {
        self.pin = None;
        self.runs.repetition = None;
        self.runs.texts_before = None;
        self.branches.dialog = None;
        self.branches.edit = None;
        self.prompt.reading = None;
        if self.is_step_mode() {
            self.pace = Pace::FullSpeed;
        }
        self.branches.tree = BranchTree::default();
        self.undo = Undo::new(self.panes.snapshot(self.seed));
    }

    pub(super) fn close_run(&mut self) -> Vec<Effect> {
        let Some(OpenedRun { hidden, .. }) = self.runs.opened.take() else {
            return Vec::new();
        };
        let mut effects = self.bring_back(hidden);
        effects.extend(self.runs.end_verification(&mut self.models));
        effects
    }

    /// Shows again what was set aside.
    pub(in crate::state) fn bring_back(&mut self, hidden: HiddenSession) -> Vec<Effect> {
        self.prompt = hidden.prompt;
        self.limits = hidden.limits;
        self.seed = hidden.seed;
        self.panes = hidden.panes;
        self.start_over();
        self.pin = hidden.pin;
        self.undo = hidden.undo;
        self.branches.kept = hidden.kept_texts;
        self.branches.removed = hidden.removed_text;
        self.runs.finished_at = hidden.finished_at;
        let mut effects = self.stop_futures();
        self.futures.runs = hidden.futures;
        effects.extend(self.prompt.tokenize(&self.models.main));
        if hidden.was_running {
            effects.extend(self.keep_run());
        }
        effects
    }

    pub(super) fn use_settings_of_run(&mut self) -> Vec<Effect> {
        if self.runs.opened.take().is_none() {
            return Vec::new();
        }
        // What is generated next is a new run.
        self.runs.number += 1;
        if self.is_replying() {
            // The message of the last turn is on screen; the next one is yet to be typed.
            self.prompt.text.clear();
            self.prompt.reading = None;
        }
        let mut effects = self.runs.end_verification(&mut self.models);
        effects.extend(self.prompt.tokenize(&self.models.main));
        effects
    }

    /// Returns the texts on screen and those kept with them in Branches.
    pub fn run_texts(&self) -> RunTexts {
        RunTexts::of(&self.panes, &self.branches.kept)
    }

    /// Returns what an opened run or a lesson hides.
    pub(in crate::state) fn hidden(&self) -> Option<&HiddenSession> {
        let opened = self.runs.opened.as_ref().map(OpenedRun::hidden);
        opened.or_else(|| Some(self.lessons.run()?.hidden()))
    }

    /// Returns the panes and the kept texts of the session, which an opened run or a lesson hides.
    pub(in crate::state) fn session_texts(&self) -> (&Panes, &KeptTexts) {
        let hidden = self.hidden().map(HiddenSession::texts);
        hidden.unwrap_or((&self.panes, &self.branches.kept))
    }

    /// Returns what is on screen, including texts that are still being generated.
    pub fn session(&self) -> Session {
        let (panes, kept) = self.session_texts();
        let finished_at = match self.hidden() {
            Some(hidden) => hidden.finished_at,
            None => self.runs.finished_at.filter(|_| !self.is_running()),
        };
        Session {
            settings: self.settings(),
            places: RunTexts::places(panes),
            texts: RunTexts::of(panes, kept),
            finished_at,
        }
    }

    /// Returns a key that changes whenever the session does.
    pub fn session_key(&self) -> SessionKey {
        let (panes, kept) = self.session_texts();
        let texts = panes.iter().map(|pane| {
            let text = pane.latest()?;
            Some((text.lineage.id, text.steps.len(), text.finish.is_some()))
        });
        SessionKey {
            settings: self.settings(),
            texts: texts.collect(),
            kept_revision: kept.revision(),
        }
    }

    /// Renumbers the texts of a file, which must already be in these panes, and keeps its branches.
    pub(super) fn adopt_texts(&mut self, homes: &[PaneId], mut branches: Vec<Branch>) {
        renumber(&mut branches, homes, &mut self.panes, &mut self.last_id);
        for branch in branches {
            let home = branch.pane.and_then(|place| homes.get(place));
            let home = home.copied().unwrap_or_default();
            self.branches.keep(home, branch.text, self.memory);
        }
    }

    /// Shows a session that ended in a crash: its prompt, its panes, and its texts in the panes at
    /// these places. Texts that were being generated are stopped, and can be continued.
    pub fn restore_session(
        &mut self,
        settings: Settings,
        run: RunFile,
        places: &[usize],
    ) -> Vec<Effect> {
        self.prompt = Prompt {
            reading: self.prompt.reading.take(),
            ..Prompt::of(&settings)
        };
        self.limits = settings.limits;
        self.seed = settings.seed;
        self.panes.clear();
        self.restore_panes(settings.panes, &settings.pane_places);
        self.undo = Undo::new(self.panes.snapshot(self.seed));
        let mut restored: Vec<PaneId> = Vec::new();
        let mut is_kept = true;
        for (mut text, place) in run.panes.into_iter().zip(places) {
            is_kept &= !is_unfinished(&text);
            if text.finish.is_none() {
                text.end(FinishReason::Interrupted);
            }
            if let Some(pane) = self.panes.get_mut(*place) {
                pane.status = PaneStatus::Finished(text);
                restored.push(pane.id);
            }
        }
        self.adopt_texts(&restored, run.branches);
        self.complete_vocabularies();
        self.runs.number += 1;
        self.runs.finished_at = run.header.finished_at;
        self.notify(Notice::done("Restored what was on screen"));
        let mut effects = self.prompt.tokenize(&self.models.main);
        // A finished run is already in the history.
        effects.extend((!is_kept).then(|| self.runs.keep_as_it_is()));
        effects
    }

    /// Ends what is being written because the window closes. Returns the requests to keep what is
    /// not in the history yet: the texts on screen, and the results of running experiments.
    pub fn close(&mut self) -> Vec<Effect> {
        // What an opened run or a lesson hides was stopped when it was hidden.
        let mut effects = self.close_run();
        effects.extend(self.leave_lesson());
        let is_kept = !self.panes.texts().any(is_unfinished);
        if !is_kept {
            self.runs.finished_at = Some(unix_time_secs());
        }
        for pane in &mut self.panes {
            pane.status.finish(FinishReason::Interrupted);
        }
        let is_keep = |effect: &Effect| matches!(effect, Effect::Runs(RunRequest::Keep { .. }));
        effects.retain(is_keep);
        if effects.is_empty() && !is_kept {
            effects.push(self.runs.keep_as_it_is());
        }
        for tab in LabTab::ALL {
            if self.lab.is_running(tab) {
                effects.extend(self.keep_found(tab));
            } else if self.lab.has_new_result(tab) {
                effects.extend(self.keep_result(tab));
            }
        }
        effects
    }
}

/// Returns whether a text that has begun has not ended, so that its run is not in the history.
fn is_unfinished(text: &Generation) -> bool {
    let may_go_on = matches!(text.finish, None | Some(FinishReason::Paused));
    may_go_on && !text.steps.is_empty()
}

impl Notices {
    /// Reports that a session could not be read, and where its file is now.
    pub fn report_unreadable_session(&mut self, error: &str, path: &Path) {
        let title = "What was on screen could not be restored";
        let body = format!("{error}\n{}", path.display());
        self.notify(Notice::error(title, body));
    }

    /// Reports that a session was not restored, because that crashed the last window, and offers to
    /// open its texts.
    pub fn offer_session(&mut self, path: PathBuf) {
        let title = "What was on screen was not restored";
        let body = format!(
            "Quartet stopped the last time it tried. The texts are in this file:\n{}",
            path.display()
        );
        let open = Command::Run(RunCommand::Open(path));
        self.notify(Notice::error(title, body).with_action("Open them", open));
    }

    /// Reports that what is on screen would not survive a crash now.
    pub fn report_unsaved_session(&mut self, error: &str) {
        let title = "What is on screen can’t be saved for a restart";
        self.notify(Notice {
            body: format!("Quartet keeps trying: {error}"),
            ..Notice::hint(title)
        });
    }
}
