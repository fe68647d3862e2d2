//! One pane: its name and settings above, its text, its state and figures below.

use egui::{Align, Layout, Rect, Stroke, StrokeKind, Ui, pos2, vec2};

use super::empty_pane::empty_pane_ui;
use super::layout::Room;
use super::pane_footer::footer_ui;
use super::pane_header::header_ui;
use super::part::part;
use super::theme::Theme;
use super::token_text::{TokenTextInput, TokenTextResponse, TokenView};
use super::widgets::{Notice, NoticeKind};
use crate::generation::{FinishReason, Generation};
use crate::state::{AppState, Command, Pane, PaneStatus, Pin, capital};

/// Where a pane stands, and what it needs to know of the others.
#[derive(Debug, Clone, Copy)]
pub(super) struct PaneFrame {
    /// Its card.
    pub rect: Rect,
    /// Its place from the left, which gives its letter and its colour.
    pub place: usize,
    /// How much room there is in the window.
    pub room: Room,
    /// The step at which the panes part.
    pub fork_step: Option<usize>,
    /// The step of this pane that is pointed at in a plot.
    pub pointed: Option<usize>,
}

const HEADER: f32 = 40.0;
const FOOTER: f32 = 28.0;

/// Draws a pane; says what was done to its text.
pub(super) fn pane_ui(
    ui: &mut Ui,
    frame: PaneFrame,
    state: &mut AppState,
    view: &mut TokenView,
    commands: &mut Vec<Command>,
) -> TokenTextResponse {
    let theme = Theme::of(ui);
    let rect = frame.rect;
    ui.painter().rect_filled(rect, 8, theme.surface_1);
    let header = Rect::from_min_size(rect.min, vec2(rect.width(), HEADER));
    let footer = Rect::from_min_max(pos2(rect.left(), rect.bottom() - FOOTER), rect.max);
    let body = Rect::from_min_max(header.left_bottom(), footer.right_top());

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
    let response = body_ui(
        ui,
        PaneFrame {
            rect: body,
            ..frame
        },
        state,
        view,
        commands,
    );
    if let Some(pane) = state.panes.get(frame.place) {
        let inside = footer.shrink2(vec2(12.0, 0.0));
        let goal = footer_ui(
            &mut part(ui, inside, "footer"),
            frame.room,
            pane,
            state.model.ready().is_some(),
        );
        if let Some(step) = goal {
            view.scroll_to(step);
        }
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
    view: &mut TokenView,
    commands: &mut Vec<Command>,
) -> TokenTextResponse {
    let Some(pane) = state.panes.get(frame.place) else {
        return TokenTextResponse::default();
    };
    let mut rect = frame.rect;
    if let Some(error) = failure(&pane.status) {
        rect.max.y -= notice_ui(ui, rect, pane, error, commands);
    }
    let text_frame = PaneFrame { rect, ..frame };
    let Some(generation) = pane.generation() else {
        empty_pane_ui(ui, rect, &state.prompt, &pane.settings.chain, frame.place);
        return TokenTextResponse::default();
    };
    let response = text_ui(ui, text_frame, state, (pane, generation), view);
    if let Some(step) = response.clicked {
        let pane = pane.id;
        commands.push(Command::Pin(Pin { pane, step }));
    }
    response
}

/// Why a pane failed, if it did.
fn failure(status: &PaneStatus) -> Option<&str> {
    let reason = match status {
        PaneStatus::Finished(generation) => generation.finish.as_ref(),
        PaneStatus::Refused { reason, .. } => Some(reason),
        _ => None,
    };
    match reason {
        Some(FinishReason::Failed { error }) => Some(error),
        _ => None,
    }
}

/// Says in the pane what failed there; gives the height that it takes.
fn notice_ui(
    ui: &mut Ui,
    body: Rect,
    pane: &Pane,
    error: &str,
    commands: &mut Vec<Command>,
) -> f32 {
    let kept = match pane.status {
        PaneStatus::Finished(_) => " The text so far is kept.",
        _ => "",
    };
    let words = format!("{}.{kept}", capital(error));
    let inside = body.shrink2(vec2(14.0, 8.0));
    let mut child = ui.new_child(
        egui::UiBuilder::new()
            .id_salt("failure")
            .max_rect(inside)
            .layout(Layout::bottom_up(Align::Min)),
    );
    let pressed = child
        .vertical(|ui| {
            Notice::new(NoticeKind::Error, &words)
                .actions(&["Run again"])
                .show(ui)
        })
        .inner;
    if pressed.is_some() {
        commands.push(Command::Generate(pane.id));
    }
    child.min_rect().height() + 16.0
}

fn text_ui(
    ui: &mut Ui,
    frame: PaneFrame,
    state: &AppState,
    (pane, generation): (&Pane, &Generation),
    view: &mut TokenView,
) -> TokenTextResponse {
    let pin = state.pin.filter(|_| state.pinned().is_some());
    let here = pin.filter(|pin| pin.pane == pane.id).map(|pin| pin.step);
    let elsewhere = pin.filter(|_| here.is_none()).map(|pin| pin.step);
    let input = TokenTextInput {
        generation,
        tint: state.view.tint,
        pinned: here,
        same_step: frame.pointed.or(elsewhere),
        fork_step: frame.fork_step,
        what_ifs: pane.what_ifs(),
        show_marks: state.view.show_marks,
        writing: pane.status.is_writing(),
        pane_color: Theme::of(ui).pane(frame.place),
    };
    view.ui(&mut part(ui, frame.rect, "text"), input)
}
