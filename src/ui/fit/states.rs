//! The main states of the window.

use crate::decoding::filters::TopP;
use crate::decoding::{ChainConfig, Filter};
use crate::export::{PaneSummary, RunSummary};
use crate::generation::{ChatSupport, TemplateSwitch};
use crate::interop::api::Usage;
use crate::lab::LabTab;
use crate::lessons::built_in;
use crate::state::tests::lesson_kinds::{answer_well, begin_kinds, next_question};
use crate::state::tests::listening::{held, listening, open, opened, refused};
use crate::state::tests::servers::with_server_problems;
use crate::state::tests::{asked, branched, loaded_with, ready, write};
use crate::state::{
    AppState, BranchCommand, BranchesView, Command, DockTab, HelpTab, KeptRun, LessonCommand,
    ListenCommand, ModelsCommand, ModelsTab, Notice, Pace, Page, PaletteCommand, PasteCommand,
    PathPurpose, Pin, PromptMode, RunCommand, ScoreCommand, ServerCommand, SettingsTab,
    SystemFolders,
};

/// A state of the window, and the controls that are pressed in it, in order.
pub(super) struct Scene {
    pub name: String,
    make: Box<dyn Fn() -> AppState>,
    pub pressed: &'static [&'static str],
}

impl Scene {
    fn new(name: &str, make: impl Fn() -> AppState + 'static) -> Self {
        Self {
            name: name.to_owned(),
            make: Box::new(make),
            pressed: &[],
        }
    }

    fn pressing(mut self, pressed: &'static [&'static str]) -> Self {
        self.pressed = pressed;
        self
    }

    pub(super) fn state(&self) -> AppState {
        (self.make)()
    }
}

const WORDS: [&str; 14] = [
    " a", " fox", " lived", " in", " the", " little", " house", ",", " and", " every", " evening",
    " it", " told", " stories",
];

/// Four long texts that diverge at their third token.
fn story() -> AppState {
    let mut state = ready();
    let ids = asked(&state.apply(Command::GenerateAll));
    for (id, third) in ids
        .into_iter()
        .zip([" barn", " tower", " tower", " cottage"])
    {
        let words = WORDS.iter().cycle().take(150);
        let mut pieces: Vec<(&str, f64)> = words.map(|word| (*word, 0.4)).collect();
        pieces[2] = (third, 0.05);
        write(&mut state, id, &pieces);
    }
    state.notices.clear();
    state
}

fn with_panes(n_panes: usize) -> AppState {
    let mut state = story();
    state.apply(Command::SetPaneCount(n_panes));
    state
}

fn pinned() -> AppState {
    let mut state = story();
    let pane = state.panes[3].id;
    state.pin = Some(Pin { pane, step: 4 });
    state
}

fn in_tab(tab: DockTab) -> AppState {
    let mut state = pinned();
    state.view.dock_tab = tab;
    state.view.dock_open = Some(true);
    state
}

fn chatting() -> AppState {
    let mut state = ready();
    state.on_event(loaded_with(ChatSupport::ready()));
    state.prompt.mode = PromptMode::Chat;
    state.prompt.system = "Answer in one sentence, as to a child".to_owned();
    state.prompt.text = "Why is the sky blue?".to_owned();
    state
}

fn history() -> AppState {
    let run = |file: &str, prompt: &str| KeptRun {
        file: file.to_owned(),
        kept_at: 1_000_000,
        n_bytes: 123_456,
        pinned: file == "a",
        held: None,
        summary: Ok(RunSummary {
            title: None,
            finished_at: Some(1_000_000),
            model: "Quartet Stories".to_owned(),
            prompt: prompt.to_owned(),
            panes: (0..4)
                .map(|place| PaneSummary {
                    place,
                    name: "Greedy".to_owned(),
                    settings: "top token".to_owned(),
                    seed: 42,
                    n_tokens: 120,
                    text: WORDS.concat(),
                })
                .collect(),
            n_turns: 1,
            n_earlier_tokens: 0,
            is_interrupted: false,
            request: None,
            result: None,
        }),
    };
    let mut state = story();
    let runs = vec![
        run(
            "a",
            "Once upon a time there was a fox who lived in a little house by the road",
        ),
        run("b", "The bear was sad because"),
    ];
    state.apply(Command::Run(RunCommand::Listed(Ok(runs))));
    state.apply(Command::Run(RunCommand::ShowPage(Page::History)));
    state
}

fn empty_history() -> AppState {
    let mut state = ready();
    state.apply(Command::Run(RunCommand::Listed(Ok(Vec::new()))));
    state.apply(Command::Run(RunCommand::ShowPage(Page::History)));
    state
}

fn no_requests() -> AppState {
    let mut state = listening();
    state.apply(Command::Run(RunCommand::Listed(Ok(Vec::new()))));
    state.apply(Command::Listen(ListenCommand::ShowRequests));
    state
}

fn requests() -> AppState {
    let mut state = listening();
    state.apply(Command::Run(RunCommand::Listed(Ok(Vec::new()))));
    state.apply(Command::Run(RunCommand::Held { run: held("a") }));
    let refusals = vec![refused(1), refused(2)];
    state.apply(Command::Listen(ListenCommand::Answered(refusals)));
    let writing = Usage {
        n_prompt: 2_004,
        n_cached: 1_988,
        n_written: 23,
    };
    let opened = vec![open(3, Some(writing)), open(4, None)];
    state.apply(Command::Listen(ListenCommand::Changed(opened)));
    state.apply(Command::Listen(ListenCommand::ShowRequests));
    state
}

fn with_folders(mut state: AppState) -> AppState {
    state.folders.system = SystemFolders {
        data: Some("/home/ada/.local/share/quartet".into()),
        models: Some("/home/ada/.cache/huggingface/hub".into()),
    };
    state
}

fn with(change: impl Fn(&mut AppState) + 'static) -> impl Fn() -> AppState {
    move || {
        let mut state = pinned();
        change(&mut state);
        state
    }
}

pub(super) fn scenes() -> Vec<Scene> {
    let mut scenes = vec![
        Scene::new("first window", ready),
        Scene::new("four texts", story),
        Scene::new("one pane", || with_panes(1)),
        Scene::new("six panes", || with_panes(6)),
        Scene::new("eight panes", || with_panes(8)),
        Scene::new("a branch", branched),
        Scene::new("chat", chatting),
        Scene::new("chat with switches", || {
            let mut state = chatting();
            let switches = [
                TemplateSwitch::EnableThinking,
                TemplateSwitch::ReasoningEffort,
            ];
            state.on_event(loaded_with(ChatSupport::Ready {
                switches: switches.to_vec(),
                tool_calls: None,
            }));
            state
        })
        .pressing(&["Thinking"]),
        Scene::new("generating", || {
            let mut state = story();
            state.prompt.text.push_str(" there was");
            state.apply(Command::GenerateAll);
            state
        }),
        Scene::new("step mode", || {
            let mut state = story();
            state.apply(Command::SetPace(Pace::Step));
            state
        }),
        Scene::new("history", history),
        Scene::new("requests", requests),
        Scene::new("no requests", no_requests),
        Scene::new("an opened request", opened),
        Scene::new("empty history", empty_history),
        Scene::new("no prompt", || {
            let mut state = ready();
            state.prompt.text.clear();
            state
        }),
        Scene::new("invalid settings", || {
            let mut state = ready();
            for pane in &mut state.panes {
                pane.settings.chain = ChainConfig::sampled([Filter::TopP(TopP { p: 1.7 })]);
            }
            state
        }),
    ];
    scenes.extend(DockTab::ALL.map(|tab| {
        let name = format!("tab {}", tab.name());
        Scene::new(&name, move || in_tab(tab))
    }));
    scenes.push(Scene::new("tab Futures", || {
        let mut state = in_tab(DockTab::Branches);
        state.view.branches = BranchesView::Futures;
        state
    }));
    scenes.extend(LabTab::ALL.map(|tab| {
        let name = format!("Lab {}", tab.name());
        Scene::new(&name, move || {
            let mut state = pinned();
            (state.page, state.lab.tab) = (Page::Lab, tab);
            state
        })
    }));
    scenes.extend(lessons());
    scenes.extend(dialogs());
    scenes.extend(tabbed_dialogs());
    scenes.extend(popups());
    scenes
}

/// The list of lessons, the first card of each, and every kind of question before and after it is
/// answered.
fn lessons() -> Vec<Scene> {
    let mut scenes = vec![Scene::new("lessons", || {
        let mut state = ready();
        state.page = Page::Lessons;
        state
    })];
    scenes.extend(built_in().iter().enumerate().map(|(index, lesson)| {
        let needs_chat = lesson.setup.chat;
        Scene::new(&format!("lesson {}", index + 1), move || {
            let mut state = ready();
            if needs_chat {
                state.on_event(loaded_with(ChatSupport::ready()));
            }
            state.apply(Command::Lesson(LessonCommand::Start(index)));
            assert!(
                state.lessons.run().is_some(),
                "lesson {index} has not started"
            );
            state
        })
    }));
    let at_step = |step: usize| {
        let mut state = ready();
        begin_kinds(&mut state);
        for _ in 0..step {
            answer_well(&mut state);
            next_question(&mut state);
        }
        state
    };
    let n_kinds = 4;
    scenes.extend(
        (0..n_kinds)
            .map(|step| Scene::new(&format!("question {}", step + 1), move || at_step(step))),
    );
    scenes.extend((0..n_kinds).map(|step| {
        Scene::new(&format!("answer {}", step + 1), move || {
            let mut state = at_step(step);
            answer_well(&mut state);
            state
        })
    }));
    scenes
}

fn dialogs() -> Vec<Scene> {
    vec![
        Scene::new(
            "palette",
            with(|state| {
                state.apply(Command::Palette(PaletteCommand::Open));
            }),
        ),
        Scene::new(
            "palette with a query",
            with(|state| {
                state.apply(Command::Palette(PaletteCommand::Open));
                if let Some(palette) = &mut state.dialogs.palette {
                    "copy".clone_into(&mut palette.query);
                }
            }),
        ),
        Scene::new(
            "export everything",
            with(|state| {
                state.apply(Command::ShowExport(true));
            }),
        ),
        Scene::new(
            "score a text",
            with(|state| {
                let text = "A fox lived in a house".to_owned();
                state.apply(Command::Score(ScoreCommand::OpenWith(text)));
            }),
        ),
        Scene::new(
            "paste settings",
            with(|state| {
                let pane = state.panes[0].id;
                state.apply(Command::Paste(PasteCommand::Open(pane)));
                if let Some(paste) = &mut state.dialogs.paste {
                    "--temp 0.5 --top-k 7".clone_into(&mut paste.text);
                }
                state.apply(Command::Paste(PasteCommand::Edited));
            }),
        ),
        Scene::new(
            "continue from a token",
            with(|state| {
                let pin = state.pin;
                state.apply(Command::Branch(BranchCommand::Open(pin)));
            }),
        ),
        Scene::new(
            "path field",
            with(|state| {
                state.apply(Command::DialogUnavailable(PathPurpose::Run));
            }),
        ),
        Scene::new(
            "a notice",
            with(|state| {
                let notice =
                    Notice::error("The run was not saved", "The disk is full: 1.2 MB needed");
                let notice = notice
                    .with_action("Save elsewhere…", Command::CloseNotice(0))
                    .with_action("Try again", Command::CloseNotice(0));
                state.notices.push(notice);
            }),
        ),
    ]
}

fn tabbed_dialogs() -> Vec<Scene> {
    let mut scenes = Vec::new();
    scenes.extend(ModelsTab::ALL.map(|tab| {
        let show = with(move |state| {
            state.apply(Command::Models(ModelsCommand::ShowDialog));
            state.models.hub.tab = tab;
        });
        Scene::new(&format!("models, {}", tab.name()), show)
    }));
    let servers = || {
        let mut state = with_server_problems();
        state.apply(Command::Server(ServerCommand::Show));
        state
    };
    scenes.push(Scene::new("models, servers in use", servers));
    let use_it = Scene::new("panes of a server", servers);
    scenes.push(use_it.pressing(&["Use Stories in a pane"]));
    scenes.push(Scene::new("panes over servers", with_server_problems));
    scenes.extend(SettingsTab::ALL.map(|tab| {
        let show = move || {
            let mut state = with_folders(story());
            state.dialogs.settings = Some(tab);
            state
        };
        Scene::new(&format!("settings, {}", tab.name()), show)
    }));
    scenes.extend(HelpTab::ALL.map(|tab| {
        let show = move || {
            let mut state = with_folders(story());
            state.dialogs.help = Some(tab);
            state
        };
        Scene::new(&format!("help, {}", tab.name()), show)
    }));
    scenes
}

fn popups() -> Vec<Scene> {
    let pressed: [&'static [&'static str]; 14] = [
        &["How A chooses"],
        &["How D chooses"],
        &["How D chooses", "More commands for the chain", "Order…"],
        &["How D chooses", "More ways to write…"],
        &["How D chooses", "Presets"],
        &["Export"],
        &["Export", "Pictures"],
        &["Tint"],
        &["Settings, theme and help"],
        &["Seed 42"],
        &["Stop: end of text"],
        &["Pace: Full speed"],
        &["Starter prompts"],
        &["More actions for pane B", "Model…"],
    ];
    let scene = |pressed: &'static [&'static str]| {
        Scene::new(&format!("pressed {}", pressed.join(", ")), pinned).pressing(pressed)
    };
    pressed.into_iter().map(scene).collect()
}
