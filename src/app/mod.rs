//! The window: drains events, draws, applies commands, runs effects.

mod dialogs;
mod elsewhere;
mod icon;
mod kept;
mod look;
mod read;
mod save;

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use eframe::egui;

use self::kept::SettingsFile;
use self::save::Saves;
use crate::state::{AppState, Command, Effect, HubCommand, Settings, ThemeChoice};
use crate::ui::theme::Theme;
use crate::ui::{WindowUi, style};
use crate::worker::{DownloadEvent, Downloads, HubConfig, ModelSource, Worker};

pub use dialogs::Dialogs;

/// The name of the folder that holds the settings.
const APP_NAME: &str = "quartet";

/// The name by which desktops match the window with its desktop entry.
const APP_ID: &str = "org.quartet.Quartet";

/// The key under which earlier versions kept the settings in eframe's store.
const SETTINGS: &str = "settings";

/// New events are drawn this much later, so that they are drawn 30 times a second at most.
const FRAME: Duration = Duration::from_millis(33);

/// A frame takes in events for no longer than this; the rest waits for the next.
const DRAIN: Duration = Duration::from_millis(6);

/// Events taken out at once.
const BATCH: usize = 64;

/// How many answers of dialogs and of saving can wait.
const N_ANSWERS: usize = 16;

/// Opens the window, and returns when it is closed. Without a path, the model inside the program is
/// loaded.
pub fn run(model: Option<PathBuf>) -> eframe::Result {
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
    eframe::run_native(
        APP_NAME,
        options,
        Box::new(|cc| {
            let older = cc.storage.and_then(|storage| storage.get_string(SETTINGS));
            let begun = eframe::storage_dir(APP_NAME)
                .map(|folder| kept::begin(folder, older))
                .unwrap_or_default();
            let start = |wake: Wake| Worker::start(wake);
            let mut app = App::new(&cc.egui_ctx, begun.settings, source, Dialogs::Native, start);
            app.settings_file = begun.file;
            if !begun.lost.is_empty() {
                app.state.tell_lost_settings(&begun.lost);
            }
            if let Some(error) = begun.error {
                app.state.tell_unkept_settings(&error);
            }
            Ok(Box::new(app))
        }),
    )
}

/// What a worker calls after each event.
pub type Wake = Box<dyn Fn() + Send + Sync>;

/// The state, what drawing remembers, and the doors to the world outside.
pub struct App {
    state: AppState,
    window: WindowUi,
    worker: Worker,
    /// The threads that speak with the Hub, once they are needed.
    downloads: Option<Downloads>,
    start_worker: Box<dyn FnMut(Wake) -> Worker>,
    dialogs: Dialogs,
    answers: (SyncSender<Command>, Receiver<Command>),
    /// What is being written. It is dropped after `answers`, so that none waits for its answer to be
    /// read.
    saves: Saves,
    /// Where the settings are kept.
    settings_file: Option<SettingsFile>,
    /// Whether they may have changed since they were kept.
    settings_changed: bool,
    /// Whether the last try to keep them failed, which was told.
    settings_failed: bool,
}

impl App {
    /// An app with these settings, which loads this model. `start_worker` starts the engine's
    /// thread, now and whenever it has to be started again.
    pub fn new(
        ctx: &egui::Context,
        settings: Settings,
        source: ModelSource,
        dialogs: Dialogs,
        mut start_worker: impl FnMut(Wake) -> Worker + 'static,
    ) -> Self {
        style::install(ctx);
        // A caret that blinks would draw the window twice a second while nothing happens.
        ctx.all_styles_mut(|style| style.visuals.text_cursor.blink = false);
        let (state, effects) = AppState::new(settings, source);
        let worker = start_worker(wake(ctx));
        let mut app = Self {
            state,
            window: WindowUi::default(),
            worker,
            downloads: None,
            start_worker: Box::new(start_worker),
            dialogs,
            answers: sync_channel(N_ANSWERS),
            saves: Saves::default(),
            settings_file: None,
            settings_changed: false,
            settings_failed: false,
        };
        for effect in effects {
            app.run_effect(ctx, None, effect);
        }
        app
    }

    /// All that the window shows.
    pub const fn state(&self) -> &AppState {
        &self.state
    }

    /// Takes in what has happened outside.
    fn take_in(&mut self, ctx: &egui::Context) {
        let began = Instant::now();
        let mut effects = Vec::new();
        while let Ok(command) = self.answers.1.try_recv() {
            effects.extend(self.state.apply(command));
        }
        for event in self.download_events(ctx) {
            let command = Command::Hub(HubCommand::Event(event));
            effects.extend(self.state.apply(command));
        }
        loop {
            let events = self.worker.drain(BATCH);
            let all = events.len() < BATCH;
            for event in events {
                effects.extend(self.state.on_event(event));
            }
            if all {
                break;
            }
            if began.elapsed() > DRAIN {
                ctx.request_repaint();
                break;
            }
        }
        for effect in effects {
            self.run_effect(ctx, None, effect);
        }
    }

    /// What the threads that speak with the Hub report.
    fn download_events(&mut self, ctx: &egui::Context) -> Vec<DownloadEvent> {
        let drain = |downloads: &mut Downloads| downloads.drain(BATCH);
        let mut events = self.downloads.as_mut().map(drain).unwrap_or_default();
        if events.len() == BATCH {
            // There may be more.
            ctx.request_repaint();
        }
        let lost = |event: &DownloadEvent| matches!(event, DownloadEvent::Panicked { .. });
        if let Some(at) = events.iter().position(lost) {
            // The next request starts new ones. What the other thread still reported is over as well,
            // and the window does not wait until it has ended.
            events.truncate(at + 1);
            let old = self.downloads.take();
            let end = std::thread::Builder::new().name("hub-end".to_owned());
            // Where there is no thread for it, it ends here.
            end.spawn(move || drop(old)).ok();
        }
        events
    }

    fn run_effect(&mut self, ctx: &egui::Context, frame: Option<&eframe::Frame>, effect: Effect) {
        let answers = self.answers.0.clone();
        match effect {
            Effect::Send(request) => self.worker.send(request),
            Effect::RestartWorker => self.worker = (self.start_worker)(wake(ctx)),
            Effect::CopyText(text) => ctx.copy_text(text),
            Effect::OpenDialog(purpose) => {
                dialogs::open(ctx, self.dialogs, frame, purpose, answers);
            }
            Effect::ReadPresets(path) => read::presets(ctx.clone(), path, answers),
            Effect::Hub(request) => self
                .downloads
                .get_or_insert_with(|| Downloads::start(HubConfig::default(), wake(ctx)))
                .send(request),
            Effect::LookAt(paths) => look::at(ctx.clone(), paths, answers),
            Effect::LookAtDropped(path) => look::at_dropped(ctx.clone(), path, answers),
            Effect::Save(document, path) => {
                let dark = ctx.global_style().visuals.dark_mode;
                let job = save::Job::new(&self.state, document, path, dark);
                job.start(ctx.clone(), &answers, &mut self.saves);
            }
        }
    }
}

impl eframe::App for App {
    fn logic(&mut self, ctx: &egui::Context, _frame: &mut eframe::Frame) {
        self.take_in(ctx);
        ctx.set_theme(preference(self.state.view.theme));
    }

    fn ui(&mut self, ui: &mut egui::Ui, frame: &mut eframe::Frame) {
        let commands = self.window.ui(ui, &mut self.state);
        self.settings_changed |= ui.input(|input| !input.events.is_empty());
        if self.settings_changed {
            // They are kept in a frame, and without this the next may come when the window is closed.
            let interval = eframe::App::auto_save_interval(self);
            ui.request_repaint_after(interval + FRAME);
        }
        if !commands.is_empty() {
            // What they change is to be seen at once.
            ui.request_repaint();
        }
        for command in commands {
            for effect in self.state.apply(command) {
                self.run_effect(ui.ctx(), Some(&*frame), effect);
            }
        }
    }

    fn save(&mut self, _storage: &mut dyn eframe::Storage) {
        self.settings_changed = false;
        let Some(file) = &mut self.settings_file else {
            return;
        };
        let kept = file.keep(self.state.settings());
        if let Err(error) = &kept
            && !self.settings_failed
        {
            self.state.tell_unkept_settings(&error.to_string());
        }
        self.settings_failed = kept.is_err();
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
    Box::new(move || ctx.request_repaint_after(FRAME))
}

const fn preference(choice: ThemeChoice) -> egui::ThemePreference {
    match choice {
        ThemeChoice::System => egui::ThemePreference::System,
        ThemeChoice::Dark => egui::ThemePreference::Dark,
        ThemeChoice::Light => egui::ThemePreference::Light,
    }
}
