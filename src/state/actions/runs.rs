//! What some actions run, or why they are not possible now.

use super::conditions::{can_run, needs_opened_run, needs_text, only_if};
use crate::export::ExportFormat;
use crate::state::{
    AppState, BranchCommand, Command, ConversationCommand, LessonCommand, Pane, PictureDocument,
    PictureFormat, Plot, RunCommand, RunDocument,
};

/// Generates, or keeps running in step mode.
pub(super) fn generate(state: &AppState) -> Result<Command, String> {
    if state.opened_request().is_some() {
        return write_again(state);
    }
    if state.is_step_mode() {
        only_if(state.can_keep_running(), "No text can be continued")?;
        return Ok(Command::Branch(BranchCommand::KeepRunning));
    }
    can_run(state)?;
    Ok(Command::GenerateAll)
}

/// Generates with another seed; in a conversation, answers the last message again.
pub(super) fn run_another_seed(state: &AppState) -> Result<Command, String> {
    if !state.panes.iter().any(|pane| state.can_answer_again(pane)) {
        can_run(state)?;
    }
    Ok(Command::AnotherSeed)
}

pub(super) fn begin_conversation(state: &AppState) -> Result<Command, String> {
    only_if(state.is_replying(), "Generate an answer in Chat first")?;
    Ok(Command::Conversation(ConversationCommand::New))
}

/// Answers the message of the shown turn again.
pub(super) fn answer_again(state: &AppState) -> Result<Command, String> {
    let at = state
        .turn_to_answer()
        .ok_or("Pin a token of an answer first")?;
    only_if(
        state.can_ask_again(at),
        "This message can’t be answered now",
    )?;
    Ok(Command::Conversation(ConversationCommand::Again(at)))
}

/// Shows the turn after the shown one, or before it.
pub(super) fn show_neighboring_turn(state: &AppState, is_after: bool) -> Result<Command, String> {
    let turn = state.neighboring_turn(is_after);
    let turn = turn.ok_or("The conversation has no such turn")?;
    let show = ConversationCommand::ShowTurn(Some(turn));
    Ok(Command::Conversation(show))
}

/// Starts or resumes the lesson with this index.
pub(super) fn take_lesson(state: &AppState, index: usize) -> Result<Command, String> {
    let lesson = state.lessons.list.get(index);
    let lesson = lesson.ok_or("There is no such lesson")?;
    state.lesson_blocked(lesson).map_or(Ok(()), Err)?;
    Ok(Command::Lesson(LessonCommand::Start(index)))
}

/// Returns the name of the switch of the endpoint.
pub(super) fn listen_words(state: &AppState) -> &'static str {
    if state.runs.listening.is_on() {
        "Stop listening for requests"
    } else {
        "Listen for requests"
    }
}

/// Does something with the opened run.
pub(super) fn of_opened_run(state: &AppState, command: RunCommand) -> Result<Command, String> {
    needs_opened_run(state)?;
    Ok(Command::Run(command))
}

/// Writes the answer to the opened request again.
pub(super) fn write_again(state: &AppState) -> Result<Command, String> {
    let is_request = state.opened_request().is_some();
    only_if(is_request, "Open an answer to a request first")?;
    match state.models.main.blocking_reason() {
        Some(reason) => Err(reason.to_owned()),
        None => Ok(Command::Run(RunCommand::WriteAgain)),
    }
}

pub(super) fn copy_picture(state: &AppState, plot: Plot) -> Result<Command, String> {
    needs_text(state)?;
    let format = PictureFormat::Svg;
    Ok(Command::copy(PictureDocument { plot, format }))
}

pub(super) fn save_picture(state: &AppState, picture: PictureDocument) -> Result<Command, String> {
    needs_text(state)?;
    Ok(Command::save(picture))
}

/// Saves the run in this format.
pub(super) fn export(state: &AppState, format: ExportFormat) -> Result<Command, String> {
    needs_text(state)?;
    if format == ExportFormat::Messages {
        let any = state.panes.iter().any(Pane::has_turns);
        only_if(any, "Generate an answer in Chat first")?;
    }
    Ok(Command::save(RunDocument(format)))
}
