//! One pane: a header with its name and settings, its text, and a footer with its status.

use egui::{Rect, Stroke, StrokeKind, Ui, pos2, vec2};

use super::empty_pane::empty_pane_ui;
use super::layout::Breakpoint;
use super::pane_footer::{edit_footer_ui, footer_ui, message_footer_ui};
use super::pane_header::header_ui;
use super::pane_model::{MODEL_LINE, at_bottom_ui, model_notice_ui, pane_model_ui};
use super::token_text::{
    EditEnd, KindMarks, PaneText, TextEnd, TokenTextInput, TokenTextResponse, text_height,
};
use super::turns::turns_ui;
use crate::design::child_ui::child_ui;
use crate::design::theme::Theme;
use crate::design::widgets::{Notice, NoticeKind};
use crate::generation::Generation;
use crate::generation::formatting::pane_letter;
use crate::state::{
    AppState, BranchChange, BranchCommand, BranchTarget, Command, ConversationCommand, DockTab,
    InPlaceEdit, MessageEdit, Pane, PaneId, PaneStatus, Pin, capitalize,
};

/// A pane's place in the window, and what it needs to know about the other panes.
#[derive(Debug, Clone, Copy)]
pub(super) struct PaneFrame {
    pub rect: Rect,
    /// Its letter and color.
    pub place: usize,
    pub breakpoint: Breakpoint,
    /// The first step at which the panes diverge.
    pub fork_step: Option<usize>,
    /// The step of this pane that is hovered in a plot.
    pub hovered_in_plot: Option<usize>,
    /// Whether the dock shows more than its tab row.
    pub dock_open: bool,
}

const HEADER: f32 = 40.0;
const FOOTER: f32 = 28.0;

/// Returns the height of a pane that shows this many lines of text.
pub(super) fn pane_height(n_lines: u8, names_model: bool) -> f32 {
    let model = if names_model { MODEL_LINE } else { 0.0 };
    HEADER + model + text_height(n_lines) + FOOTER
}

/// Draws a pane. Returns how the user interacted with its text.
pub(super) fn pane_ui(
    ui: &mut Ui,
    frame: PaneFrame,
    state: &mut AppState,
    view: &mut PaneText,
    commands: &mut Vec<Command>,
) -> TokenTextResponse {
    let theme = Theme::of(ui);
    let rect = frame.rect;
    ui.painter().rect_filled(rect, 8, theme.surface_1);
    let header = Rect::from_min_size(rect.min, vec2(rect.width(), HEADER));
    let footer = Rect::from_min_max(pos2(rect.left(), rect.bottom() - FOOTER), rect.max);
    let line = state.panes_name_models().then(|| {
        let size = vec2(rect.width(), MODEL_LINE);
        Rect::from_min_size(header.left_bottom(), size)
    });
    let top = line.unwrap_or(header).left_bottom();
    let body = Rect::from_min_max(top, footer.right_top());

    header_ui(
        ui,
        PaneFrame {
            rect: header,
            ..frame
        },
        rect,
        state,
        commands,
    );
    pane_model_ui(ui, (frame.place, header), line, state, commands);
    let mut edit = edit_of(frame.place, state, commands);
    let mut message_edit = message_edit_of(frame.place, state);
    let response = body_ui(
        ui,
        PaneFrame {
            rect: body,
            ..frame
        },
        state,
        (view, (edit.as_mut(), message_edit.as_mut())),
        commands,
    );
    let inside = footer.shrink2(vec2(12.0, 0.0));
    if let Some(edit) = edit {
        edit_footer_ui(
            &mut child_ui(ui, inside, "edit footer"),
            &edit,
            state,
            commands,
        );
        state.branches.edit = Some(edit);
    } else if let Some(edit) = message_edit {
        let mut ui = child_ui(ui, inside, "message footer");
        let n_commands = commands.len();
        message_footer_ui(&mut ui, frame.place, &edit, commands);
        let focused = ui.memory(egui::Memory::focused);
        if let Some(from) = focused.filter(|_| commands.len() > n_commands) {
            view.take_focus_from(&ui, from);
        }
        state.branches.message = Some(edit);
    } else if let Some(pane) = state.panes.get(frame.place) {
        let target_step = footer_ui(
            &mut child_ui(ui, inside, "footer"),
            frame.breakpoint,
            pane,
            state,
            commands,
        );
        if let Some(step) = target_step {
            view.scroll_to(step);
        }
    }

    if response.focused {
        let ring = Stroke::new(2.0, theme.focus);
        let inside = body.shrink2(vec2(2.0, 0.0));
        ui.painter()
            .rect_stroke(inside, 6, ring, StrokeKind::Inside);
    }
    let pinned = state.pinned().map(|(place, ..)| place);
    let edge = if pinned == Some(frame.place) {
        theme.stroke_3
    } else {
        theme.stroke_1
    };
    ui.painter()
        .rect_stroke(rect, 8, Stroke::new(1.0, edge), StrokeKind::Inside);
    response
}

fn body_ui(
    ui: &mut Ui,
    frame: PaneFrame,
    state: &AppState,
    (view, edits): (&mut PaneText, Edits<'_>),
    commands: &mut Vec<Command>,
) -> TokenTextResponse {
    let Some(pane) = state.panes.get(frame.place) else {
        return TokenTextResponse::default();
    };
    let mut rect = frame.rect;
    rect.max.y -= model_notice_ui(ui, rect, pane, state, commands);
    if let Some(error) = pane.status.failure() {
        rect.max.y -= notice_ui(ui, rect, (pane, error), state, commands);
    }
    if pane.has_turns() {
        let ui = &mut child_ui(ui, rect, "text");
        return turns_ui(ui, frame, (pane, state), (view, edits), commands);
    }
    let Some(generation) = pane.latest() else {
        empty_pane_ui(
            ui,
            rect,
            &state.prompt.text,
            &pane.settings.chain,
            frame.place,
        );
        let words = format!("Pane {}, no text yet", pane_letter(frame.place));
        return TokenTextResponse {
            focused: view.placeholder_ui(ui, rect, &words),
            ..TokenTextResponse::default()
        };
    };
    let input = text_input(ui, frame, state, generation);
    let response = view.text_ui(&mut child_ui(ui, rect, "text"), input, edits.0);
    text_response_ui(ui, frame, response, state, commands);
    response
}

/// Applies how the user interacted with the shown text.
pub(super) fn text_response_ui(
    ui: &Ui,
    frame: PaneFrame,
    response: TokenTextResponse,
    state: &AppState,
    commands: &mut Vec<Command>,
) {
    let Some(pane) = state.panes.get(frame.place).map(|pane| pane.id) else {
        return;
    };
    press_ui(frame, pane, response, state, commands);
    if let Some(step) = response.secondary_clicked {
        // On a token, the popup takes the place of the pane's menu.
        egui::Popup::close_all(ui.ctx());
        let from = Pin { pane, step };
        commands.push(Command::Branch(BranchCommand::Open(Some(from))));
    }
}

/// What is being edited in a pane: its text, or a message.
pub(super) type Edits<'a> = (Option<&'a mut InPlaceEdit>, Option<&'a mut MessageEdit>);

/// Takes out the edit of a message of this pane.
fn message_edit_of(place: usize, state: &mut AppState) -> Option<MessageEdit> {
    let pane = state.panes.get(place)?.id;
    let edit = state
        .branches
        .message
        .take_if(|edit| edit.at.pane == pane)?;
    state.can_ask_again(edit.at).then_some(edit)
}

/// Takes out the edit of this pane's text. If the text can't be continued any more, ends it.
fn edit_of(place: usize, state: &mut AppState, commands: &mut Vec<Command>) -> Option<InPlaceEdit> {
    let pane = state.panes.get(place)?.id;
    let edit = state.branches.edit.take_if(|edit| edit.from.pane == pane)?;
    if state.can_branch(edit.from) {
        return Some(edit);
    }
    commands.push(Command::Branch(BranchCommand::Edit(None)));
    None
}

/// Pins a pressed token and shows why it was chosen. Enter does so for the pinned token, or else for
/// the newest one.
/// Continues with a token that was chosen on a card.
fn press_ui(
    frame: PaneFrame,
    pane: PaneId,
    response: TokenTextResponse,
    state: &AppState,
    commands: &mut Vec<Command>,
) {
    // In a lesson, Enter goes on.
    let entered = response.entered && state.lessons.run().is_none();
    let is_pinned_here = state
        .pinned()
        .is_some_and(|(place, ..)| place == frame.place);
    let clicked = response.clicked.map(|step| Pin { pane, step });
    let text = state.pane(pane).and_then(Pane::generation);
    let newest = text.and_then(|text| text.steps.len().checked_sub(1));
    let newest = newest.map(|step| Pin { pane, step });
    let pressed = clicked.or(newest.filter(|_| entered && !is_pinned_here));
    commands.extend(pressed.map(Command::Pin));
    let shows_why = match pressed {
        // Pressing a pinned token unpins it.
        Some(pin) => state.pin != Some(pin),
        None => entered,
    };
    if shows_why {
        let change = state.view.on_press(frame.dock_open);
        commands.extend(change.map(Command::ChangeView));
    }
    if let Some(step) = response.double_clicked {
        let edit = BranchCommand::Edit(Some(Pin { pane, step }));
        commands.push(Command::Branch(edit));
    }
    commands.extend(response.edited.map(|end| {
        Command::Branch(match end {
            EditEnd::Continue(target) => BranchCommand::FinishEdit(target),
            EditEnd::Cancel => BranchCommand::Edit(None),
        })
    }));
    if let Some(chosen) = response.chosen {
        let target = if chosen.in_new_pane {
            BranchTarget::NewPane
        } else {
            BranchTarget::InPlace
        };
        let step = chosen.step;
        commands.push(Command::Branch(BranchCommand::Branch {
            from: Pin { pane, step },
            change: BranchChange::Tokens(vec![chosen.token]),
            target,
        }));
    }
}

const CONTINUE: &str = "Continue";
const AGAIN: &str = "Run again";
const CPU: &str = "Use the CPU";
const LEAVE_OUT: &str = "Leave out the oldest turn";

/// Shows an error at the bottom of the pane. Returns the height of the notice.
fn notice_ui(
    ui: &mut Ui,
    body: Rect,
    (pane, error): (&Pane, &str),
    state: &AppState,
    commands: &mut Vec<Command>,
) -> f32 {
    const KEPT: &str = "the text so far is kept";
    let kept = match pane.status {
        // Some errors say so themselves.
        PaneStatus::Finished(_) if !error.contains(KEPT) => " The text so far is kept.",
        _ => "",
    };
    let error = capitalize(error);
    let stop = if error.ends_with(['.', '?', '!', '…']) {
        ""
    } else {
        "."
    };
    let text = format!("{error}{stop}{kept}");
    let cpu_instead = state.models.cpu_instead(pane);
    let offered = [
        (CONTINUE, state.can_continue(pane)),
        (AGAIN, true),
        (LEAVE_OUT, state.can_leave_out_oldest(pane)),
        (CPU, cpu_instead.is_some()),
    ];
    let offered = offered.into_iter().filter(|(_, is_offered)| *is_offered);
    let actions: Vec<&str> = offered.map(|(action, _)| action).collect();
    let mut pressed = None;
    let height = at_bottom_ui(ui, body, ("failure", pane), |ui| {
        let notice = Notice::new(NoticeKind::Error, &text).actions(&actions);
        pressed = notice.show(ui);
        true
    });
    match pressed.and_then(|at| actions.get(at)) {
        Some(&CONTINUE) => commands.push(Command::Branch(BranchCommand::Continue(pane.id))),
        Some(&CPU) => commands.extend(cpu_instead),
        Some(&LEAVE_OUT) => {
            let leave_out = ConversationCommand::LeaveOutOldest(pane.id);
            commands.push(Command::Conversation(leave_out));
            commands.push(Command::Generate(pane.id));
        }
        Some(_) => commands.push(Command::Generate(pane.id)),
        None => {}
    }
    height
}

/// Returns whether the prefix that all texts share is dimmed.
fn dims_shared(state: &AppState) -> bool {
    state.view.compare.dim_shared && state.view.dock_tab == DockTab::Compare
}

/// Returns whether it is marked where texts break the grammar of another pane.
fn marks_other_breaks(state: &AppState) -> bool {
    state.view.compare.grammar_breaks && state.view.dock_tab == DockTab::Compare
}

/// Returns what follows the last token of a pane's text.
fn text_end(state: &AppState, pane: &Pane, place: usize) -> TextEnd {
    let steps = state.branches.step_pane.is_none_or(|only| only == pane.id);
    if pane.status.is_writing() {
        TextEnd::Writing
    } else if !state.is_step_mode() || !steps || !state.can_continue(pane) {
        TextEnd::Plain
    } else if state.sampler_place() == Some(place) {
        TextEnd::Slot
    } else {
        TextEnd::Paused
    }
}

pub(super) fn text_input<'a>(
    ui: &Ui,
    frame: PaneFrame,
    state: &'a AppState,
    generation: &'a Generation,
) -> TokenTextInput<'a> {
    let pane = state.panes.get(frame.place);
    let pin = state.pin.filter(|_| state.pinned().is_some());
    let pinned_here = pin.filter(|pin| Some(pin.pane) == pane.map(|pane| pane.id));
    let pinned_elsewhere = pin.filter(|_| pinned_here.is_none());
    let shown = state.shown_step().map(|(place, _)| place);
    let has_kind = shown == Some(frame.place) && !state.lessons.hides_evidence();
    let kind = state.view.kind.filter(|_| has_kind);
    TokenTextInput {
        generation,
        tint: state.view.tint,
        watermark: pane.and_then(Pane::watermark),
        pinned: pinned_here.map(|pin| pin.step),
        same_step: frame
            .hovered_in_plot
            .or(pinned_elsewhere.map(|pin| pin.step)),
        fork_step: frame.fork_step,
        breaks_at: pane.and_then(Pane::breaks_grammar_at),
        breaks_other_at: pane
            .filter(|_| marks_other_breaks(state))
            .and_then(Pane::breaks_other_grammar_at),
        contradicts_at: state
            .runs
            .contradiction_in(frame.place)
            .and_then(|found| found.step),
        unjudged_from: state.runs.unjudged_from(frame.place),
        n_dimmed: frame.fork_step.filter(|_| dims_shared(state)).unwrap_or(0),
        looping: pane.and_then(|pane| pane.text_metrics()?.repetition.as_ref()),
        what_ifs: pane.and_then(Pane::what_ifs),
        kind: kind.zip(pane).map(|(kind, pane)| KindMarks {
            kinds: pane.kinds(),
            kind,
        }),
        show_marks: state.view.show_marks,
        has_cards: state.branches.dialog.is_none(),
        can_branch: pane.is_some_and(|pane| {
            let (pane, step) = (pane.id, 0);
            state.can_branch(Pin { pane, step })
        }),
        end: pane.map_or(TextEnd::Plain, |pane| text_end(state, pane, frame.place)),
        pane_color: Theme::of(ui).pane(frame.place),
    }
}
