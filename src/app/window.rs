//! The eframe application: drains events, draws the window, applies commands and runs effects.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use eframe::egui;

use super::autosave::{Autosave, Crashed, SetAside, Unrestored};
use super::copy_picture::Copies;
use super::dialogs::{self, Dialogs};
use super::documents;
use super::listening::Endpoint;
use super::no_window::no_window_words;
use super::runs::{self, RunFolder, TextsToKeep, ToKeep};
use super::save::{Save, Saves};
use super::servers::ServerWorkers;
use super::settings_file::{self, SettingsFile};
use super::{aside, folders, icon, import, model_paths, show};
use crate::design::appearance::theme_preference;
use crate::design::style;
use crate::design::theme::Theme;
use crate::generation::formatting::io_words;
use crate::lessons::is_lesson_name;
use crate::state::{
    AppState, Command, Effect, FolderKind, HubCommand, PathPurpose, RunCommand, RunRequest,
    Settings, SystemFolders,
};
use crate::ui::WindowUi;
use crate::ui::pictures::Look;
use crate::worker::{
    DownloadEvent, Downloads, Event, HubConfig, ModelSource, Request, Worker, hub_config,
    models_folder,
};

/// The name of the folder that holds the settings.
const APP_NAME: &str = "quartet";

/// The ID by which desktops match the window to its desktop entry.
const APP_ID: &str = "org.quartet.Quartet";

/// The delay from an event to its frame, which limits streaming to 30 frames per second.
const FRAME_INTERVAL: Duration = Duration::from_millis(33);

/// The longest time that a frame spends on draining events; the rest waits for the next frame.
const MAX_DRAIN_TIME: Duration = Duration::from_millis(6);

/// How many events are taken from a queue in one call.
const EVENT_BATCH: usize = 64;

/// How many commands from background threads can wait in the channel.
const N_PENDING_ANSWERS: usize = 16;

/// Opens the window and returns when it is closed, or a message that says why it can’t be opened.
/// Without a path, the built-in model is loaded. `file` is a run or a lesson to show.
pub fn run(model: Option<PathBuf>, file: Option<PathBuf>) -> Result<(), String> {
    let source = model.map_or(ModelSource::Embedded, ModelSource::Path);
    let viewport = egui::ViewportBuilder::default()
        .with_title("Quartet")
        .with_app_id(APP_ID)
        .with_icon(icon::icon())
        .with_inner_size([1280.0, 800.0])
        .with_min_inner_size([720.0, 520.0]);
    let options = eframe::NativeOptions {
        viewport,
        renderer: eframe::Renderer::Glow,
        ..Default::default()
    };
    let ended = eframe::run_native(
        APP_NAME,
        options,
        Box::new(|cc| {
            let loaded = eframe::storage_dir(APP_NAME)
                .map(settings_file::load)
                .unwrap_or_default();
            let start = |wake: Wake| Worker::start(wake);
            let settings = loaded.settings;
            let mut app = App::new(&cc.egui_ctx, settings, source, Dialogs::Native, start);
            app.state.folders.system = SystemFolders {
                data: eframe::storage_dir(APP_NAME),
                models: models_folder(),
            };
            app.settings_file = loaded.file;
            if !loaded.lost.is_empty() {
                app.state.notices.report_lost_settings(&loaded.lost);
            }
            if let Some(error) = loaded.error {
                app.state.notices.report_unsaved_settings(&error);
            }
            // A restored session may have texts to keep in the history.
            if let Some(folder) = app.state.folders.of(FolderKind::Runs) {
                app.keep_runs_in(folder);
            }
            if let Some(folder) = eframe::storage_dir(APP_NAME) {
                app.keep_sessions_in(&cc.egui_ctx, aside::sessions_in(&folder));
            }
            if let Some(path) = file {
                let command = if is_lesson_name(&path) {
                    Command::PathGiven(PathPurpose::Lesson, path)
                } else {
                    Command::Run(RunCommand::Open(path))
                };
                for effect in app.state.apply(command) {
                    app.run_effect(&cc.egui_ctx, None, effect);
                }
            }
            Ok(Box::new(app))
        }),
    );
    ended.map_err(|error| no_window_words(&error))
}

/// Wakes the window; a worker calls it after each event.
pub type Wake = Box<dyn Fn() + Send + Sync>;

/// The application: the state, the drawing state, the worker threads and the settings file.
pub struct App {
    state: AppState,
    window: WindowUi,
    worker: Worker,
    /// The Hub's threads, started by the first request.
    downloads: Option<Downloads>,
    servers: ServerWorkers,
    endpoint: Endpoint,
    start_worker: Box<dyn FnMut(Wake) -> Worker>,
    dialogs: Dialogs,
    /// Commands from dialogs and background threads.
    answers: (SyncSender<Command>, Receiver<Command>),
    /// The files being written. Declared after `answers`, so that the receiver is dropped first and
    /// no thread blocks on sending its answer.
    saves: Saves,
    /// The pictures being drawn for the clipboard.
    copies: Copies,
    autosave: Autosave,
    runs: RunFolder,
    /// The number of the run that was kept last, and its file.
    kept_run: Option<(u64, String)>,
    /// The settings file, or `None` if it can't be used.
    settings_file: Option<SettingsFile>,
    /// Whether the settings may have changed since they were last saved.
    settings_changed: bool,
    /// Whether the last save of the settings failed; a repeated failure is not reported again.
    settings_failed: bool,
}

impl App {
    /// Creates the application and starts loading a model. `start_worker` starts the engine's
    /// thread, now and after a crash.
    pub fn new(
        ctx: &egui::Context,
        settings: Settings,
        source: ModelSource,
        dialogs: Dialogs,
        mut start_worker: impl FnMut(Wake) -> Worker + 'static,
    ) -> Self {
        style::install(ctx);
        // A blinking cursor would redraw an idle window twice a second.
        ctx.all_styles_mut(|style| style.visuals.text_cursor.blink = false);
        let (state, effects) = AppState::new(settings, source);
        let worker = start_worker(wake(ctx));
        let mut app = Self {
            state,
            window: WindowUi::default(),
            worker,
            downloads: None,
            servers: ServerWorkers::default(),
            endpoint: Endpoint::default(),
            start_worker: Box::new(start_worker),
            dialogs,
            answers: sync_channel(N_PENDING_ANSWERS),
            saves: Saves::default(),
            copies: Copies::default(),
            autosave: Autosave::default(),
            runs: RunFolder::default(),
            kept_run: None,
            settings_file: None,
            settings_changed: false,
            settings_failed: false,
        };
        for effect in effects {
            app.run_effect(ctx, None, effect);
        }
        app
    }

    /// Keeps finished runs in this folder, which is created for the first one.
    pub fn keep_runs_in(&mut self, folder: PathBuf) {
        self.runs = RunFolder::open(folder);
    }

    /// Restores the session that a crash left in this folder, then saves what is on screen there as
    /// it changes.
    pub fn keep_sessions_in(&mut self, ctx: &egui::Context, folder: PathBuf) {
        let (autosave, crashed) = Autosave::open(folder);
        self.autosave = autosave;
        let effects = match crashed {
            Some(Ok(Crashed {
                settings,
                places,
                run,
            })) => self.state.restore_session(settings, run, &places),
            Some(Err(SetAside { reason, path })) => {
                let notices = &mut self.state.notices;
                match reason {
                    Unrestored::Unreadable(error) => {
                        notices.report_unreadable_session(&error, &path);
                    }
                    Unrestored::CrashedAgain => notices.offer_session(path),
                }
                Vec::new()
            }
            None => Vec::new(),
        };
        for effect in effects {
            self.run_effect(ctx, None, effect);
        }
        self.autosave.begin(&self.state);
    }

    /// Carries out a request about kept runs on a background thread.
    fn ask_runs(&mut self, ctx: &egui::Context, request: RunRequest) {
        let kept = self.take_kept(&request);
        let runs = self.runs.clone();
        let answers = self.answers.0.clone();
        let work = move || runs.answer(request, kept);
        self.saves.run(ctx.clone(), &answers, work);
    }

    /// Takes a copy of what a request keeps.
    fn take_kept(&mut self, request: &RunRequest) -> Option<ToKeep> {
        match request {
            RunRequest::Keep {
                number,
                finished_at,
                ..
            } => Some(ToKeep::Texts(self.texts_to_keep(*number, *finished_at))),
            RunRequest::KeepResult { tab, .. } => {
                let (facts, result) = self.state.lab.result(*tab)?;
                Some(ToKeep::Result(facts, result))
            }
            _ => None,
        }
    }

    /// Takes a copy of the texts on screen. A continued run keeps its file.
    fn texts_to_keep(&mut self, number: u64, finished_at: u64) -> TextsToKeep {
        let kept = self.kept_run.take().filter(|(kept, _)| *kept == number);
        let (_, file) = kept.unwrap_or_else(|| (number, runs::file_name(finished_at, number)));
        self.kept_run = Some((number, file.clone()));
        TextsToKeep {
            texts: self.state.run_texts(),
            file,
        }
    }

    /// Returns the state that the window shows.
    pub const fn state(&self) -> &AppState {
        &self.state
    }

    /// Applies everything that arrived from dialogs, downloads and the engine.
    fn drain_events(&mut self, ctx: &egui::Context) {
        let started_at = Instant::now();
        let mut effects = Vec::new();
        while let Ok(command) = self.answers.1.try_recv() {
            self.settings_changed = true;
            effects.extend(self.state.apply(command));
        }
        for event in self.download_events(ctx) {
            let command = Command::Hub(HubCommand::Event(event));
            effects.extend(self.state.apply(command));
        }
        let (events, any_left) = self.servers.drain(EVENT_BATCH);
        self.autosave.changed |= !events.is_empty();
        for (served, event) in events {
            effects.extend(self.state.on_server_event(&served, event));
        }
        if any_left {
            ctx.request_repaint();
        }
        loop {
            let events = self.worker.drain(EVENT_BATCH);
            let drained = events.len() < EVENT_BATCH;
            self.autosave.changed |= !events.is_empty();
            let is_step = |event: &Event| matches!(event, Event::Progress(_));
            self.settings_changed |= !events.iter().all(is_step);
            for event in events {
                if !self.endpoint.take(&event) {
                    effects.extend(self.state.on_event(event));
                }
            }
            if drained {
                break;
            }
            if started_at.elapsed() > MAX_DRAIN_TIME {
                ctx.request_repaint();
                break;
            }
        }
        effects.extend(
            self.endpoint
                .advance(ctx, &mut self.worker, &mut self.state),
        );
        for effect in effects {
            self.run_effect(ctx, None, effect);
        }
    }

    /// Returns the events that the Hub's threads reported.
    fn download_events(&mut self, ctx: &egui::Context) -> Vec<DownloadEvent> {
        let drain = |downloads: &mut Downloads| downloads.drain(EVENT_BATCH);
        let mut events = self.downloads.as_mut().map(drain).unwrap_or_default();
        if events.len() == EVENT_BATCH {
            // More events may be waiting.
            ctx.request_repaint();
        }
        let panicked = |event: &DownloadEvent| matches!(event, DownloadEvent::Panicked { .. });
        if let Some(at) = events.iter().position(panicked) {
            // Later events of the old threads are stale.
            events.truncate(at + 1);
            self.end_downloads();
        }
        events
    }

    /// Ends the Hub's threads without waiting for them. The next request starts new ones.
    fn end_downloads(&mut self) {
        let old = self.downloads.take();
        let cleanup = std::thread::Builder::new().name("hub-end".to_owned());
        // If no thread can be started, the old threads are joined here.
        cleanup.spawn(move || drop(old)).ok();
    }

    /// Returns the Hub's threads, and starts them if necessary.
    fn downloads(&mut self, ctx: &egui::Context) -> &mut Downloads {
        let config = HubConfig {
            cache_folder: self.state.folders.chosen.models.clone(),
            ..hub_config()
        };
        self.downloads
            .get_or_insert_with(|| Downloads::start(config, wake(ctx)))
    }

    /// Switches to the folder that the state now names for runs or models.
    fn use_folder(&mut self, kind: FolderKind) {
        match kind {
            FolderKind::Runs => self.runs = RunFolder::new(self.state.folders.of(kind)),
            FolderKind::Models => self.end_downloads(),
        }
    }

    fn run_effect(&mut self, ctx: &egui::Context, frame: Option<&eframe::Frame>, effect: Effect) {
        let answers = self.answers.0.clone();
        match effect {
            // The user’s Stop is about the panes, not about what programs wait for.
            Effect::Send(Request::StopAll) => {
                let kept = self.endpoint.unfinished();
                self.worker.send(Request::StopAllExcept(kept));
            }
            Effect::Send(request) => self.worker.send(request),
            Effect::RestartWorker => self.worker = (self.start_worker)(wake(ctx)),
            Effect::CopyText(text) => ctx.copy_text(text),
            Effect::CopyPicture(picture) => {
                let look = Look::of(&self.state, ctx);
                let render = documents::gather(&self.state, &picture, look);
                self.copies.start(ctx, render, look.style.scale, answers);
            }
            Effect::OpenDialog(purpose) => {
                dialogs::open(ctx, self.dialogs, frame, purpose, answers);
            }
            Effect::Runs(request) => self.ask_runs(ctx, request),
            Effect::Listen(request) => {
                let (worker, state) = (&mut self.worker, &mut self.state);
                for effect in self.endpoint.run(ctx, request, worker, state) {
                    self.run_effect(ctx, frame, effect);
                }
            }
            Effect::ShowInFolder(path) => show::in_folder(ctx.clone(), path, answers),
            Effect::OpenFolder(path) => show::folder(ctx.clone(), path, answers),
            Effect::ReadPresets(path) => import::presets(ctx.clone(), path, answers),
            Effect::ReadText(path) => import::text(ctx.clone(), path, answers),
            Effect::ReadGrammar(pane, path) => {
                import::grammar(ctx.clone(), pane, path, answers);
            }
            Effect::ReadLesson(path) => import::lesson(ctx.clone(), path, answers),
            Effect::StartServer(served, config) => self.servers.start(served, *config, wake(ctx)),
            Effect::Server(served, request) => self.servers.send(&served, request),
            Effect::EndServer(served) => self.servers.end(&served),
            Effect::Hub(request) => self.downloads(ctx).send(request),
            Effect::Aside(request) => {
                if let Some(data) = &self.state.folders.system.data {
                    aside::answer(ctx.clone(), aside::sessions_in(data), request, answers);
                }
            }
            Effect::TryFolder(kind, folder) => folders::attempt(ctx.clone(), kind, folder, answers),
            Effect::UseFolder(kind) => self.use_folder(kind),
            Effect::FindModels => {
                let hub_folder = self.state.folders.chosen.models.clone();
                model_paths::find(ctx.clone(), hub_folder, answers);
            }
            Effect::CheckModelFiles(paths) => model_paths::check(ctx.clone(), paths, answers),
            Effect::CheckDroppedPath(path) => {
                model_paths::check_dropped(ctx.clone(), path, answers);
            }
            Effect::Save(document, path) => {
                let look = Look::of(&self.state, ctx);
                let render = documents::gather(&self.state, &document, look);
                let save = Save {
                    document,
                    path,
                    render,
                };
                self.saves.start(ctx.clone(), &answers, save);
            }
        }
    }
}

impl eframe::App for App {
    fn logic(&mut self, ctx: &egui::Context, _frame: &mut eframe::Frame) {
        self.copies.hand_over(ctx);
        self.drain_events(ctx);
        ctx.set_theme(theme_preference(self.state.view.theme));
    }

    fn ui(&mut self, ui: &mut egui::Ui, frame: &mut eframe::Frame) {
        let commands = self.window.ui(ui, &mut self.state);
        let has_input = ui.input(|input| !input.events.is_empty());
        self.settings_changed |= has_input;
        self.autosave.changed |= has_input || !commands.is_empty();
        if self.settings_changed {
            // eframe saves during a frame, and an idle window would not draw another one until it
            // is closed.
            let interval = eframe::App::auto_save_interval(self);
            ui.request_repaint_after(interval + FRAME_INTERVAL);
        }
        if !commands.is_empty() {
            // Show the changes in the next frame.
            ui.request_repaint();
        }
        for command in commands {
            for effect in self.state.apply(command) {
                self.run_effect(ui.ctx(), Some(&*frame), effect);
            }
        }
        if let Some(error) = self.autosave.update(ui.ctx(), &self.state) {
            self.state.notices.report_unsaved_session(&error);
        }
    }

    fn save(&mut self, _storage: &mut dyn eframe::Storage) {
        self.settings_changed = false;
        let Some(file) = &mut self.settings_file else {
            return;
        };
        let saved = file.save(self.state.settings());
        if let Err(error) = &saved
            && !self.settings_failed
        {
            self.state.notices.report_unsaved_settings(&io_words(error));
        }
        self.settings_failed = saved.is_err();
    }

    /// A program that is killed loses what it has not saved.
    fn auto_save_interval(&self) -> Duration {
        Duration::from_secs(2)
    }

    fn on_exit(&mut self, _gl: Option<&eframe::glow::Context>) {
        for effect in self.state.close() {
            let Effect::Runs(request) = effect else {
                continue;
            };
            let kept = self.take_kept(&request);
            let answer = self.runs.answer(request, kept);
            if let Command::Run(RunCommand::NotKept { .. }) = answer {
                // The next window restores the texts.
                self.autosave.leave_behind();
            }
        }
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        let bg = Theme::dark_or_light(visuals.dark_mode).bg;
        egui::Rgba::from(bg).to_array()
    }

    fn persist_egui_memory(&self) -> bool {
        false
    }
}

fn wake(ctx: &egui::Context) -> Wake {
    let ctx = ctx.clone();
    Box::new(move || ctx.request_repaint_after(FRAME_INTERVAL))
}
