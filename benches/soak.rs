//! Generates tokens for a long time, with panes, models, branches and what-ifs that keep changing,
//! and prints the memory as it goes: `cargo bench --bench soak -- 1000000 > memory.csv`.
//!
//! The memory must level off: what is kept of texts, prompts and records has limits. Each line has
//! the number of tokens so far, the seconds, and the memory in megabytes.

#![expect(clippy::print_stdout, reason = "the benchmark prints its results")]
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a benchmark that panics has failed"
)]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use egui::{Context, Pos2, RawInput, Rect, vec2};
use quartet::engine::resident_memory;
use quartet::generation::PaneSettings;
use quartet::state::{
    AppState, BranchChange, BranchCommand, BranchTarget, Command, DockTab, Effect, Pin, Settings,
};
use quartet::ui::WindowUi;
use quartet::worker::{Event, ModelSource, Progress, Request, Worker};
use tempfile::TempDir;

/// How many tokens are generated if the command line does not say.
const N_TOKENS: usize = 100_000;

/// How many tokens are between two lines.
const N_TOKENS_PER_LINE: usize = 5_000;

/// How many rounds there are between two changes of the model.
const N_ROUNDS_PER_MODEL: usize = 25;

/// How long the engine may be silent.
const PATIENCE: Duration = Duration::from_mins(2);

const SETTINGS: [&str; 8] = [
    "greedy",
    "temp 1.2, seed 5",
    "temp 0.7, top-p 0.9",
    "top-k 40, repeat 1.3",
    "min-p 0.05, temp 1.5",
    "dry 0.8, xtc 0.5 threshold 0.1",
    "typical-p 0.9",
    "mirostat 5",
];

const PROMPTS: [&str; 3] = [
    "Once upon a time",
    "The fox and the crow",
    "Far away, a house",
];

const TABS: [DockTab; 6] = [
    DockTab::Plots,
    DockTab::Xray,
    DockTab::Loop,
    DockTab::Branches,
    DockTab::Compare,
    DockTab::Numbers,
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let n_tokens = arguments.find_map(|argument| argument.parse().ok());
    let n_tokens: usize = n_tokens.unwrap_or(N_TOKENS);
    let mut soak = Soak::start();
    println!("tokens,seconds,megabytes");
    let started = Instant::now();
    let mut n_printed = 0;
    for round in 0.. {
        soak.round(round);
        if soak.n_tokens >= n_printed + N_TOKENS_PER_LINE {
            n_printed = soak.n_tokens;
            let megabytes = resident_memory().map_or(0, |memory| memory.n_now / 1_000_000);
            println!(
                "{n_printed},{:.1},{megabytes}",
                started.elapsed().as_secs_f64()
            );
        }
        if soak.n_tokens >= n_tokens {
            break;
        }
    }
}

/// A folder with a model of random weights, and a tokenizer.
fn small_model() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/architectures/fixtures");
    for path in [
        "llama/config.json",
        "llama/model.safetensors",
        "tokenizer.json",
    ] {
        let from = fixtures.join(path);
        let to = folder.path().join(from.file_name().unwrap_or_default());
        fs::copy(&from, to).expect("the fixture is in the repository");
    }
    folder
}

/// A window without a screen.
struct Soak {
    state: AppState,
    worker: Worker,
    ctx: Context,
    window: WindowUi,
    small_model: TempDir,
    n_tokens: usize,
    /// The texts that the engine has not finished.
    n_running: usize,
    is_loading: bool,
}

impl Soak {
    fn start() -> Self {
        let (state, effects) = AppState::new(Settings::default(), ModelSource::Embedded);
        let ctx = Context::default();
        quartet::design::style::install(&ctx);
        let mut soak = Self {
            state,
            worker: Worker::start(|| {}),
            ctx,
            window: WindowUi::default(),
            small_model: small_model(),
            n_tokens: 0,
            n_running: 0,
            is_loading: false,
        };
        soak.run(effects);
        soak.finish();
        soak
    }

    /// Writes texts with other settings, branches off them, and looks at them.
    fn round(&mut self, round: usize) {
        if round % N_ROUNDS_PER_MODEL == N_ROUNDS_PER_MODEL - 1 {
            self.change_model(round / N_ROUNDS_PER_MODEL);
        }
        PROMPTS[round % PROMPTS.len()].clone_into(&mut self.state.prompt);
        self.state.limits.max_new_tokens = 30 + round * 7 % 170;
        self.apply(Command::PromptEdited);
        self.apply(Command::SetPaneCount(1 + round % 8));
        for place in 0..self.state.panes.len() {
            let settings: PaneSettings = SETTINGS[(round + place) % SETTINGS.len()]
                .parse()
                .unwrap_or_else(|_| PaneSettings::classics()[0].clone());
            let pane = self.state.panes[place].id;
            self.apply(Command::SetChain(pane, settings.chain));
        }
        self.apply(Command::AnotherSeed);
        self.finish();
        self.look(round);
        let pin = Pin {
            pane: self.state.panes[0].id,
            step: round % 20,
        };
        self.apply(Command::Branch(BranchCommand::Branch {
            from: pin,
            change: BranchChange::AnotherSeed,
            target: BranchTarget::InPlace,
        }));
        self.finish();
        self.look(round + 1);
        // What the texts would have been under the settings of the next round.
        for place in 0..self.state.panes.len() {
            if let Ok(settings) = SETTINGS[(round + place + 3) % SETTINGS.len()].parse() {
                let settings: PaneSettings = settings;
                let pane = self.state.panes[place].id;
                self.apply(Command::SetChain(pane, settings.chain));
            }
        }
        self.look(round + 2);
    }

    /// Loads another model: the built-in one, or a small one from a file.
    fn change_model(&mut self, number: usize) {
        let source = if number.is_multiple_of(2) {
            ModelSource::Path(self.small_model.path().to_owned())
        } else {
            ModelSource::Embedded
        };
        self.run(vec![Effect::Send(Request::LoadModel(source))]);
        self.finish();
    }

    /// Draws a few frames with a token pinned.
    fn look(&mut self, round: usize) {
        self.state.view.dock_tab = TABS[round % TABS.len()];
        let pane = self.state.panes[round % self.state.panes.len()].id;
        self.state.pin = Some(Pin {
            pane,
            step: round % 20,
        });
        for _ in 0..5 {
            let input = RawInput {
                screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(1280.0, 800.0))),
                ..RawInput::default()
            };
            let mut commands = Vec::new();
            let output = self.ctx.run_ui(input, |ui| {
                commands = self.window.ui(ui, &mut self.state);
            });
            output.drop_without_applying_deltas();
            for command in commands {
                self.apply(command);
            }
        }
        self.state.pin = None;
    }

    fn apply(&mut self, command: Command) {
        let effects = self.state.apply(command);
        self.run(effects);
    }

    fn run(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            let Effect::Send(request) = effect else {
                continue;
            };
            match &request {
                Request::Generate { panes, .. } | Request::Continue { panes, .. } => {
                    self.n_running += panes.len();
                }
                Request::LoadModel(_) => self.is_loading = true,
                _ => {}
            }
            self.worker.send(request);
        }
    }

    /// Waits until the engine has nothing left to do.
    fn finish(&mut self) {
        while self.n_running > 0 || self.is_loading {
            let Some(Some(event)) = self.worker.wait_at_most(PATIENCE) else {
                panic!("the engine is silent");
            };
            match &event {
                Event::Progress(Progress::Stepped { .. }) => self.n_tokens += 1,
                Event::Progress(Progress::Finished { .. }) => {
                    self.n_running = self.n_running.saturating_sub(1);
                }
                Event::ModelLoaded { .. } => self.is_loading = false,
                Event::ModelFailed { error } => panic!("{error}"),
                Event::Panicked { message } => panic!("{message}"),
                _ => {}
            }
            let effects = self.state.on_event(event);
            self.run(effects);
        }
    }
}
