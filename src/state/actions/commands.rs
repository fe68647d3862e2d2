//! Maps each action to its command, or to the reason why it is not possible now.

use super::{Action, PaletteCommand};
use crate::state::{
    AppState, BranchCommand, Command, DockTab, Document, Effect, FuturesCommand, LessonCommand,
    MAX_PANES, ModelsCommand, Page, PathPurpose, RunCommand, ScoreCommand, ServerCommand, TextSize,
    ViewChange, WatermarkCommand,
};

impl AppState {
    /// Returns the command that an action runs, or why it is not possible now.
    pub fn command_of(&self, action: Action) -> Result<Command, String> {
        Ok(match action {
            Action::Generate
            | Action::AnotherSeed
            | Action::Stop
            | Action::SetPace(_)
            | Action::Step
            | Action::StepBack => self.run_command(action)?,
            Action::Continue
            | Action::DrawFutures
            | Action::StopFutures
            | Action::Unpin
            | Action::CopyWhy
            | Action::TestWatermark
            | Action::Score => self.text_command(action)?,
            Action::AddPane => {
                let reason = format!("{MAX_PANES} panes are already open");
                only_if(self.panes.len() < MAX_PANES, &reason)?;
                Command::AddPane
            }
            Action::OfPane(id, action) => self.pane_command(id, action)?,
            Action::Undo => Command::Undo,
            Action::Redo => Command::Redo,
            Action::ShowPage(page) => Command::Run(RunCommand::ShowPage(page)),
            Action::ShowTab(tab) => Command::ChangeView(ViewChange::Tab(tab)),
            Action::ShowBranches(view) => Command::ChangeView(ViewChange::Branches(view)),
            Action::ShowLab(tab) => Command::ChangeView(ViewChange::Lab(tab)),
            Action::SetTint(tint) => Command::ChangeView(ViewChange::Tint(tint)),
            Action::ShowMarks => Command::ChangeView(ViewChange::Marks(!self.view.show_marks)),
            Action::SetTheme(theme) => Command::ChangeView(ViewChange::Theme(theme)),
            Action::EnlargeText => {
                Command::ChangeView(ViewChange::TextSize(self.view.text_size.larger()))
            }
            Action::ReduceText => {
                Command::ChangeView(ViewChange::TextSize(self.view.text_size.smaller()))
            }
            Action::ResetTextSize => Command::ChangeView(ViewChange::TextSize(TextSize::default())),
            Action::OpenRun => Command::AskPath(PathPurpose::Run),
            Action::VerifyRun | Action::UseSettingsOfRun | Action::CloseRun => {
                only_if(self.opened.is_some(), "No run is open")?;
                Command::Run(match action {
                    Action::VerifyRun => RunCommand::Verify,
                    Action::CloseRun => RunCommand::Close,
                    _ => RunCommand::UseSettings,
                })
            }
            Action::TakeLesson(_)
            | Action::LeaveLesson
            | Action::OpenLesson
            | Action::SaveNewLesson
            | Action::SaveLessonAnswers => self.lesson_command(action)?,
            Action::Export(format) => {
                self.needs_text()?;
                Command::AskPath(PathPurpose::Save(Document::Run(format)))
            }
            Action::ExportEverything => {
                self.needs_text()?;
                Command::ShowExport(true)
            }
            Action::CopyPicture(plot) => {
                self.needs_text()?;
                Command::CopyPicture(plot)
            }
            Action::SavePicture(plot, format) => {
                self.needs_text()?;
                Command::AskPath(PathPurpose::Save(Document::Picture(plot, format)))
            }
            Action::ShowModels => Command::Models(ModelsCommand::ShowDialog),
            Action::ShowServers => Command::Server(ServerCommand::Show),
            Action::OpenModelFile => Command::AskPath(PathPurpose::ModelFile),
            Action::OpenModelFolder => Command::AskPath(PathPurpose::ModelFolder),
            Action::UseEmbeddedModel => Command::LoadEmbeddedModel,
            Action::ShowPalette => Command::Palette(PaletteCommand::Open),
            Action::ShowSettings(tab) => Command::ShowSettings(Some(tab)),
            Action::ShowHelp(tab) => Command::ShowHelp(Some(tab)),
        })
    }

    /// Returns the command of an action that runs, steps or stops the panes.
    fn run_command(&self, action: Action) -> Result<Command, String> {
        let is_idle = || only_if(!self.is_running(), "Texts are being generated");
        let can_run = || {
            is_idle()?;
            self.blocking_reason().map_or(Ok(()), Err)
        };
        let is_step_mode = || only_if(self.is_step_mode(), "Only in step mode");
        Ok(match action {
            Action::Generate if self.is_step_mode() => {
                only_if(self.can_keep_running(), "No text can be continued")?;
                Command::Branch(BranchCommand::KeepRunning)
            }
            Action::Generate => {
                can_run()?;
                Command::GenerateAll
            }
            Action::AnotherSeed => {
                can_run()?;
                Command::AnotherSeed
            }
            Action::Stop => {
                only_if(self.is_running(), "Nothing is running")?;
                Command::StopAll
            }
            Action::SetPace(pace) => Command::SetPace(pace),
            Action::Step => {
                is_step_mode()?;
                can_run()?;
                Command::Branch(BranchCommand::Step)
            }
            _ => {
                is_step_mode()?;
                is_idle()?;
                self.needs_text()?;
                Command::Branch(BranchCommand::StepBack)
            }
        })
    }

    /// Returns the command of an action on a token or a text.
    fn text_command(&self, action: Action) -> Result<Command, String> {
        let is_drawing = self.futures.is_drawing();
        let pinned = || self.pin.ok_or_else(|| "Pin a token first".to_owned());
        Ok(match action {
            Action::Continue => Command::Branch(BranchCommand::Open(Some(pinned()?))),
            Action::DrawFutures => {
                self.blocking_reason().map_or(Ok(()), Err)?;
                Command::Futures(FuturesCommand::Draw)
            }
            Action::StopFutures => {
                only_if(is_drawing, "No futures are being drawn")?;
                Command::Futures(FuturesCommand::Stop)
            }
            Action::Unpin => {
                pinned()?;
                Command::Unpin
            }
            Action::CopyWhy => {
                only_if(self.shown_step().is_some(), "Generate a text first")?;
                Command::CopyWhy
            }
            Action::TestWatermark => {
                only_if(self.model.ready().is_some(), "No model is loaded")?;
                Command::Watermark(WatermarkCommand::Open(None))
            }
            _ => {
                only_if(self.model.ready().is_some(), "No model is loaded")?;
                Command::Score(ScoreCommand::OpenWith(String::new()))
            }
        })
    }

    /// Returns the page that an action belongs to, if it has an effect only there.
    pub(super) const fn page_of(action: Action) -> Option<Page> {
        match action {
            Action::Generate
            | Action::AnotherSeed
            | Action::Step
            | Action::StepBack
            | Action::Continue
            | Action::DrawFutures
            | Action::Score
            | Action::TestWatermark
            | Action::AddPane
            | Action::OfPane(..)
            | Action::ShowTab(_)
            | Action::ShowBranches(_)
            | Action::SetTint(_)
            | Action::ShowMarks
            | Action::VerifyRun
            | Action::UseSettingsOfRun => Some(Page::Write),
            Action::ShowLab(_) => Some(Page::Lab),
            _ => None,
        }
    }

    /// Changes how the window shows things.
    pub(in crate::state) fn change_view(&mut self, change: ViewChange) -> Vec<Effect> {
        let view = &mut self.view;
        match change {
            ViewChange::Tab(tab) => {
                view.dock_tab = tab;
                view.dock_open = Some(true);
            }
            ViewChange::Branches(branches) => {
                view.branches = branches;
                view.dock_tab = DockTab::Branches;
                view.dock_open = Some(true);
            }
            ViewChange::Lab(tab) => self.lab.tab = tab,
            ViewChange::Tint(tint) => view.tint = tint,
            ViewChange::Marks(shown) => view.show_marks = shown,
            ViewChange::Theme(theme) => view.theme = theme,
            ViewChange::TextSize(size) => view.text_size = size,
        }
        Vec::new()
    }

    fn needs_text(&self) -> Result<(), String> {
        let has_text = self.generations().iter().any(Option::is_some);
        only_if(has_text, "Generate a text first")
    }

    fn lesson_command(&self, action: Action) -> Result<Command, String> {
        Ok(match action {
            Action::TakeLesson(index) => {
                let lesson = self.lessons.list.get(index);
                let lesson = lesson.ok_or("There is no such lesson")?;
                self.lesson_blocked(lesson).map_or(Ok(()), Err)?;
                Command::Lesson(LessonCommand::Start(index))
            }
            Action::LeaveLesson => {
                only_if(self.lessons.run().is_some(), "No lesson is running")?;
                Command::Lesson(LessonCommand::Leave)
            }
            Action::OpenLesson => Command::AskPath(PathPurpose::Lesson),
            Action::SaveNewLesson => {
                only_if(!self.prompt.trim().is_empty(), "Write a prompt first")?;
                Command::AskPath(PathPurpose::Save(Document::Lesson))
            }
            _ => {
                let any = !self.lessons.predictions().is_empty();
                only_if(any, "No predictions have been made yet")?;
                Command::AskPath(PathPurpose::Save(Document::LessonAnswers))
            }
        })
    }
}

fn only_if(possible: bool, reason: &str) -> Result<(), String> {
    if possible {
        Ok(())
    } else {
        Err(reason.to_owned())
    }
}
