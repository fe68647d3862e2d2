//! The list of actions, in the order of the palette. To add an action, add an entry.

use super::conditions::{
    can_run, is_idle, is_unblocked, needs_model, needs_pin, needs_step_mode, needs_text, only_if,
};
use super::registry::{actions, first};
use super::runs::{
    answer_again, begin_conversation, copy_picture, export, generate, listen_words, of_opened_run,
    run_another_seed, save_picture, show_neighboring_turn, take_lesson, write_again,
};
use super::{KindAction, PaletteCommand, PaneAction, Shortcut};
use crate::export::ExportFormat;
use crate::generation::formatting::pane_letter;
use crate::lab::LabTab;
use crate::state::{
    AnswersDocument, AppState, BranchCommand, BranchesView, Command, DockTab, FuturesCommand,
    HelpTab, LessonCommand, LessonDocument, ListenCommand, MAX_PANES, ModelsCommand, Pace, Page,
    PaneId, PathPurpose, PictureDocument, PictureFormat, Plot, PromptMode, RunCommand, RunSetting,
    ScoreCommand, ServerCommand, SettingsTab, TextSize, ThemeChoice, Tint, ViewChange,
    WatermarkCommand,
};

/// What the palette lists for an action that it leaves out.
const UNLISTED: [Action; 0] = [];

const ENTER: Shortcut = Shortcut::key("Enter");
const ESCAPE: Shortcut = Shortcut::key("Escape");

actions! {
    Generate {
        name: |state| match (state.is_step_mode(), state.is_replying()) {
            (true, _) => "Keep running",
            (false, true) => "Reply in all panes",
            (false, false) => "Generate",
        },
        keys: vec![ENTER.command()],
        help: "generate; in step mode, keep running",
        page: Page::Write,
        command: |state| generate(state),
    }
    Stop {
        name: |_| "Stop all panes",
        keys: vec![ESCAPE],
        help: "stop all panes, unpin the token, close an opened run, or leave a lesson",
        command: |state| {
            only_if(state.is_running(), "Nothing is running")?;
            Ok(Command::StopAll)
        },
    }
    AnotherSeed {
        name: |state| if state.is_replying() {
            "Answer again with another seed"
        } else {
            "Generate with another seed"
        },
        page: Page::Write,
        command: |state| run_another_seed(state),
    }
    Step {
        name: |_| "Step one token",
        keys: vec![Shortcut::key("Space")],
        help: "in step mode: generate one token, or take it back",
        page: Page::Write,
        command: |state| {
            needs_step_mode(state)?;
            can_run(state)?;
            Ok(Command::Branch(BranchCommand::Step))
        },
    }
    StepBack {
        name: |_| "Undo the last step",
        keys: vec![Shortcut::key("Backspace")],
        page: Page::Write,
        command: |state| {
            needs_step_mode(state)?;
            is_idle(state)?;
            needs_text(state)?;
            Ok(Command::Branch(BranchCommand::StepBack))
        },
    }
    Continue {
        name: |_| "Continue differently from the pinned token…",
        keys: vec![Shortcut::key("C")],
        help: "continue differently from the pinned token (also a right-click on a token)",
        page: Page::Write,
        command: |state| {
            let pin = needs_pin(state)?;
            Ok(Command::Branch(BranchCommand::Open(Some(pin))))
        },
    }
    EditText {
        name: |_| "Edit the text from the pinned token on",
        keys: vec![Shortcut::key("E")],
        help: "edit the text in place from the pinned token on (also a double-click on a token)",
        page: Page::Write,
        command: |state| {
            let pin = needs_pin(state)?;
            only_if(state.can_branch(pin), "This text can’t be continued")?;
            Ok(Command::Branch(BranchCommand::Edit(Some(pin))))
        },
    }
    NewConversation {
        name: |_| "New conversation",
        place: "Chat",
        keys: vec![Shortcut::key("N").command()],
        help: "set all texts aside and begin a new conversation",
        page: Page::Write,
        command: |state| begin_conversation(state),
    }
    AnswerAgain {
        name: |_| "Answer the message of the shown turn again",
        place: "Chat",
        keys: vec![Shortcut::key("R")],
        help: "in Chat, answer again in the focused pane, or in the one with the pinned token",
        page: Page::Write,
        command: |state| answer_again(state),
    }
    ShowNeighboringTurn(is_after: bool) {
        name: |_| if is_after { "Show the turn after" } else { "Show the turn before" },
        place: "Chat",
        keys: vec![Shortcut::key(if is_after { "ArrowDown" } else { "ArrowUp" }).alt()],
        help: "the turn that plots and X-ray show",
        page: Page::Write,
        listed: |_| [false, true].map(Action::ShowNeighboringTurn),
        command: |state| show_neighboring_turn(state, is_after),
    }
    DrawFutures {
        name: |_| "Draw futures of the pinned token, or of the prompt",
        keys: vec![Shortcut::key("F")],
        help: "draw what could follow the pinned token, or the prompt",
        page: Page::Write,
        command: |state| {
            is_unblocked(state)?;
            Ok(Command::Futures(FuturesCommand::Draw))
        },
    }
    StopFutures {
        name: |_| "Stop drawing futures",
        keys: vec![ESCAPE],
        command: |state| {
            only_if(state.futures.is_drawing(), "No futures are being drawn")?;
            Ok(Command::Futures(FuturesCommand::Stop))
        },
    }
    Unpin {
        name: |_| "Unpin the token",
        keys: vec![ESCAPE],
        command: |state| {
            needs_pin(state)?;
            Ok(Command::Unpin)
        },
    }
    OfKind(action: KindAction) {
        name: |state| action.name(state),
        place: "Token",
        keys: action.shortcuts(),
        help: "the next token of the chosen kind, or the one before",
        page: Page::Write,
        listed: |_| KindAction::all().map(Action::OfKind),
        command: |state| action.command(state),
    }
    CopyWhy {
        name: |_| "Copy why the token was chosen",
        command: |state| {
            only_if(state.shown_step().is_some(), "Generate a text first")?;
            Ok(Command::CopyWhy)
        },
    }
    Score {
        name: |_| "Score a text…",
        keys: vec![Shortcut::key("V").command().shift()],
        help: "score the text in the clipboard",
        page: Page::Write,
        command: |state| {
            needs_model(state)?;
            Ok(Command::Score(ScoreCommand::OpenWith(String::new())))
        },
    }
    /// Test a text for a watermark.
    TestWatermark {
        name: |_| "Test a text for a watermark…",
        page: Page::Write,
        command: |state| {
            needs_model(state)?;
            Ok(Command::Watermark(WatermarkCommand::Open(None)))
        },
    }
    AddPane {
        name: |_| "Add a pane",
        page: Page::Write,
        command: |state| {
            let reason = format!("{MAX_PANES} panes are already open");
            only_if(state.panes.len() < MAX_PANES, &reason)?;
            Ok(Command::AddPane)
        },
    }
    Undo {
        name: |_| "Undo the last settings change",
        keys: vec![Shortcut::key("Z").command()],
        help: "undo a settings change; in History, the last deletion",
        command: |_| Ok(Command::Undo),
    }
    Redo {
        name: |_| "Redo the settings change",
        keys: vec![Shortcut::key("Z").command().shift(), Shortcut::key("Y").command()],
        help: "redo it",
        command: |_| Ok(Command::Redo),
    }
    ShowPage(page: Page) {
        name: |_| page.name(),
        place: "Page",
        keys: vec![Shortcut::numbered(&Page::ALL, &page).command()],
        help: "the pages, from left to right",
        listed: |_| Page::ALL.map(Action::ShowPage),
        command: |_| Ok(Command::Run(RunCommand::ShowPage(page))),
    }
    ShowTab(tab: DockTab) {
        name: |_| tab.name(),
        place: "Tab",
        keys: vec![Shortcut::numbered(&DockTab::ALL, &tab).alt()],
        help: "the tabs below the texts",
        page: Page::Write,
        listed: |_| DockTab::ALL.map(Action::ShowTab),
        command: |_| Ok(Command::ChangeView(ViewChange::Tab(tab))),
    }
    ShowBranches(view: BranchesView) {
        name: |_| match view {
            BranchesView::Written => "Branches: what was written",
            BranchesView::Futures => "Branches: futures",
        },
        place: "Tab",
        page: Page::Write,
        listed: |_| BranchesView::ALL.map(Action::ShowBranches),
        command: |_| Ok(Command::ChangeView(ViewChange::Branches(view))),
    }
    ShowLab(tab: LabTab) {
        name: |_| tab.name(),
        place: "Lab",
        page: Page::Lab,
        listed: |_| LabTab::ALL.map(Action::ShowLab),
        command: |_| Ok(Command::ChangeView(ViewChange::Lab(tab))),
    }
    OfPane(pane: PaneId, action: PaneAction) {
        name: |state| {
            let letter = state.place_of(pane).map(pane_letter);
            action.name(&letter.unwrap_or_default())
        },
        place: action.place(),
        page: Page::Write,
        listed: |state| state.panes.iter().flat_map(|pane| {
            let (pane, all) = (pane.id, PaneAction::all().into_iter());
            all.map(move |action| Action::OfPane(pane, action))
        }),
        command: |state| action.command(pane, state),
    }
    SetPromptMode(mode: PromptMode) {
        name: |_| format!("{} mode", mode.name()),
        place: "Prompt",
        page: Page::Write,
        listed: |_| PromptMode::ALL.map(Action::SetPromptMode),
        command: |state| {
            if mode == PromptMode::Chat {
                let reason = state.models.main.chat_unavailable_reason();
                reason.map_or(Ok(()), Err)?;
            }
            Ok(Command::SetPromptMode(mode))
        },
    }
    EditRunSetting(setting: RunSetting) {
        name: |_| setting.name(),
        place: "Run",
        page: Page::Write,
        listed: |_| RunSetting::ALL.map(Action::EditRunSetting),
        command: |state| {
            only_if(!state.is_step_mode(), "Leave step mode first")?;
            only_if(state.runs.opened.is_none(), "Close the opened run first")?;
            Ok(Command::EditRunSetting(setting))
        },
    }
    SetPace(pace: Pace) {
        name: |_| pace.name(),
        place: "Pace",
        listed: |_| Pace::ALL.map(Action::SetPace),
        command: |_| Ok(Command::SetPace(pace)),
    }
    SetTint(tint: Tint) {
        name: |_| format!("Tint: {}", tint.name()),
        page: Page::Write,
        listed: |_| Tint::ALL.map(Action::SetTint),
        command: |_| Ok(Command::ChangeView(ViewChange::Tint(tint))),
    }
    ShowMarks {
        name: |state| if state.view.show_marks {
            "Hide spaces and line breaks"
        } else {
            "Show spaces and line breaks"
        },
        page: Page::Write,
        command: |state| Ok(Command::ChangeView(ViewChange::Marks(!state.view.show_marks))),
    }
    ShowModels {
        name: |_| "Models…",
        keys: vec![Shortcut::key("M").command()],
        help: "models",
        command: |_| Ok(Command::Models(ModelsCommand::ShowDialog)),
    }
    ShowServers {
        name: |_| "Add a server…",
        command: |_| Ok(Command::Server(ServerCommand::Show)),
    }
    ListenForRequests {
        name: |state| listen_words(state),
        command: |state| Ok(Command::Listen(ListenCommand::Switch(!state.runs.listening.is_on()))),
    }
    ShowRequests {
        name: |_| "Show the requests of other programs",
        command: |_| Ok(Command::Listen(ListenCommand::ShowRequests)),
    }
    OpenModelFile {
        name: |_| "Open a model file…",
        place: "Models",
        command: |_| Ok(Command::AskPath(PathPurpose::ModelFile)),
    }
    OpenModelFolder {
        name: |_| "Open a model folder…",
        place: "Models",
        command: |_| Ok(Command::AskPath(PathPurpose::ModelFolder)),
    }
    UseEmbeddedModel {
        name: |_| "Use the built-in model",
        place: "Models",
        command: |_| Ok(Command::LoadEmbeddedModel),
    }
    OpenRun {
        name: |_| "Open a run…",
        keys: vec![Shortcut::key("O").command()],
        help: "open a run file; in Lab, Prompts: a list of tasks",
        command: |_| Ok(Command::AskPath(PathPurpose::Run)),
    }
    VerifyRun {
        name: |_| "Verify the opened run",
        place: "Opened run",
        keys: vec![Shortcut::key("V")],
        help: "verify an opened run, or the selected run in History",
        page: Page::Write,
        command: |state| of_opened_run(state, RunCommand::Verify),
    }
    UseSettingsOfRun {
        name: |_| "Use the settings of the opened run",
        place: "Opened run",
        page: Page::Write,
        command: |state| of_opened_run(state, RunCommand::UseSettings),
    }
    WriteAgain {
        name: |_| "Write the opened answer again in four settings",
        place: "Opened run",
        page: Page::Write,
        command: |state| write_again(state),
    }
    CloseRun {
        name: |_| "Close the opened run",
        place: "Opened run",
        keys: vec![ESCAPE],
        command: |state| of_opened_run(state, RunCommand::Close),
    }
    LeaveLesson {
        name: |_| "Leave the lesson",
        place: "Lessons",
        keys: vec![ESCAPE],
        command: |state| {
            only_if(state.lessons.run().is_some(), "No lesson is running")?;
            Ok(Command::Lesson(LessonCommand::Leave))
        },
    }
    OpenLesson {
        name: |_| "Open a lesson…",
        place: "Lessons",
        command: |_| Ok(Command::AskPath(PathPurpose::Lesson)),
    }
    SaveNewLesson {
        name: |_| "New lesson from this window…",
        place: "Lessons",
        command: |state| {
            only_if(!state.prompt.text.trim().is_empty(), "Write a prompt first")?;
            Ok(Command::save(LessonDocument))
        },
    }
    SaveLessonAnswers {
        name: |_| "Save the answers…",
        place: "Lessons",
        command: |state| {
            let any = !state.lessons.predictions().is_empty();
            only_if(any, "No predictions have been made yet")?;
            Ok(Command::save(AnswersDocument))
        },
    }
    /// Start or resume the lesson with this index.
    TakeLesson(index: usize) {
        name: |state| {
            let lesson = state.lessons.list.get(index);
            format!("Lesson: {}", lesson.map_or("", |lesson| lesson.title.as_str()))
        },
        place: "Lessons",
        listed: |state| (0..state.lessons.list.len()).map(Action::TakeLesson),
        command: |state| take_lesson(state, index),
    }
    Export(format: ExportFormat) {
        name: |_| format!("Export the run as {}…", format.name()),
        place: "Export",
        listed: |_| ExportFormat::ALL.map(Action::Export),
        command: |state| export(state, format),
    }
    ExportEverything {
        name: |_| "Export everything…",
        place: "Export",
        command: |state| {
            needs_text(state)?;
            Ok(Command::ShowExport(true))
        },
    }
    CopyPicture(plot: Plot) {
        name: |_| format!("Copy {} as an image", plot.name_in_sentence()),
        place: "Pictures",
        // Each picture to copy, followed by the same picture to save.
        listed: |_| Plot::all().flat_map(|plot| {
            let save = move |format| Action::SavePicture(plot, format);
            [Action::CopyPicture(plot)].into_iter().chain(PictureFormat::ALL.map(save))
        }),
        command: |state| copy_picture(state, plot),
    }
    SavePicture(plot: Plot, format: PictureFormat) {
        name: |_| {
            let format = format.extension().to_uppercase();
            format!("Save {} as {format}…", plot.name_in_sentence())
        },
        place: "Pictures",
        // Beside the same picture to copy.
        listed: |_| UNLISTED,
        command: |state| save_picture(state, PictureDocument { plot, format }),
    }
    SetTheme(theme: ThemeChoice) {
        name: |_| format!("Theme: {}", theme.name()),
        listed: |_| ThemeChoice::ALL.map(Action::SetTheme),
        command: |_| Ok(Command::ChangeView(ViewChange::Theme(theme))),
    }
    EnlargeText {
        name: |_| "Larger text",
        keys: vec![Shortcut::key("Plus").command(), Shortcut::key("Equals").command()],
        help: "larger, smaller or normal text",
        command: |state| {
            let size = state.view.text_size.larger();
            Ok(Command::ChangeView(ViewChange::TextSize(size)))
        },
    }
    ReduceText {
        name: |_| "Smaller text",
        keys: vec![Shortcut::key("Minus").command()],
        command: |state| {
            let size = state.view.text_size.smaller();
            Ok(Command::ChangeView(ViewChange::TextSize(size)))
        },
    }
    ResetTextSize {
        name: |_| "Normal text size",
        keys: vec![Shortcut::key("0").command()],
        command: |_| Ok(Command::ChangeView(ViewChange::TextSize(TextSize::default()))),
    }
    ShowSettings(tab: SettingsTab) {
        name: |_| tab.name(),
        place: "Settings",
        keys: match tab {
            SettingsTab::Appearance => vec![Shortcut::key("Comma").command()],
            _ => Vec::new(),
        },
        help: "settings",
        listed: |_| SettingsTab::ALL.map(Action::ShowSettings),
        command: |_| Ok(Command::ShowSettings(Some(tab))),
    }
    ShowHelp(tab: HelpTab) {
        name: |_| tab.name(),
        place: "Help",
        keys: match tab {
            HelpTab::Keys => vec![Shortcut::key("F1")],
            _ => Vec::new(),
        },
        help: "help",
        listed: |_| HelpTab::ALL.map(Action::ShowHelp),
        command: |_| Ok(Command::ShowHelp(Some(tab))),
    }
    ShowPalette {
        name: |_| "Find an action",
        keys: vec![Shortcut::key("K").command()],
        help: "find any action, setting or page by its name",
        // The palette is open.
        listed: |_| UNLISTED,
        command: |_| Ok(Command::Palette(PaletteCommand::Open)),
    }
}
