//! The turns of a conversation in one pane, below each other: a head, the message and the answer.

use egui::emath::Rangef;
use egui::style::ScrollAnimation;
use egui::{
    Align, Frame, Id, Key, Margin, Memory, Modifiers, Rect, Stroke, StrokeKind, TextEdit, Ui, vec2,
};

use super::edit::take_plain_enter;
use super::message::MessageView;
use super::{TokenTextInput, TokenTextResponse, TokenView, line_span, scroll_area};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::generation::GenerationId;
use crate::state::{EditScope, InPlaceEdit, MessageEdit};

/// The space between a message and its answer, in points.
const MESSAGE_GAP: f32 = 5.0;

/// Where the head of a new turn stops while the answer grows, as a fraction of the visible height. In a
/// low pane it stops higher, so that so many lines of the answer are visible.
const STOPS_AT: f32 = 1.0 / 3.0;
const MIN_LINES: f32 = 3.0;

/// A turn to draw.
#[derive(Debug, Clone, Copy)]
pub struct TurnInput<'a> {
    /// The turn's number, from 1, with its pane's letter: "Turn 2 of pane C".
    pub name: &'a str,
    pub number: usize,
    pub message: &'a str,
    /// The answer; `None` before its first token.
    pub answer: Option<TokenTextInput<'a>>,
    /// The answers to its message, oldest first, and the index of the one on screen.
    pub versions: &'a [GenerationId],
    pub version: usize,
    /// The seed of the answer on screen.
    pub seed: u64,
    /// Whether plots, X-ray and the other views show it.
    pub is_shown: bool,
    /// Whether its message can be edited and answered again now.
    pub can_ask: bool,
    /// Whether the model does not read it any more, because it was left out to make room.
    pub is_left_out: bool,
}

/// What the user asked of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnAction {
    Edit,
    Again,
    /// Continue differently from the answer's first token.
    Branch,
    ShowVersion(GenerationId),
    FinishEdit(EditScope),
    CancelEdit,
}

impl TurnAction {
    /// Returns whether the control that asked for it is gone afterwards.
    const fn ends_control(self) -> bool {
        matches!(self, Self::Again | Self::FinishEdit(_) | Self::CancelEdit)
    }
}

/// How the user interacted with the turns.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TurnsResponse {
    /// The index of the turn that `text` is about.
    pub turn: usize,
    pub text: TokenTextResponse,
    /// What was asked of the turn with this index.
    pub action: Option<(usize, TurnAction)>,
}

/// A turn with its layout.
#[derive(Debug)]
struct TurnView {
    message: MessageView,
    answer: TokenView,
    /// What was drawn last.
    drawn: Option<DrawnTurn>,
}

/// A turn as it was drawn, and how high it was, in points.
#[derive(Debug, Clone, Copy)]
struct DrawnTurn {
    key: DrawnKey,
    height: f32,
}

/// What the height of a turn depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
struct DrawnKey {
    answer: Option<GenerationId>,
    n_steps: usize,
    n_message_bytes: usize,
    width: f32,
}

impl Default for TurnView {
    fn default() -> Self {
        Self {
            message: MessageView::default(),
            answer: TokenView::without_prompt(),
            drawn: None,
        }
    }
}

impl TurnView {
    /// Returns how high the turn is, if it was drawn like this before.
    fn height(&self, key: DrawnKey) -> Option<f32> {
        let drawn = self.drawn.filter(|drawn| drawn.key == key);
        drawn.map(|drawn| drawn.height)
    }
}

/// The turns of a conversation, with their layouts, and where they are scrolled.
#[derive(Debug, Default)]
pub(super) struct TurnsView {
    turns: Vec<TurnView>,
    /// Stands for a turn that is not drawn.
    spare: TurnView,
    /// The index of the turn that the views show.
    shown: usize,
    /// Whether the last turn is followed while it is written, until the user scrolls.
    follows: bool,
    /// Whether the head of the shown turn is scrolled into view in the next frame.
    seeks_shown: bool,
    was_writing: bool,
    /// The index of the turn whose answer had the focus in the previous frame.
    focused: Option<usize>,
    focus_return: Option<FocusReturn>,
}

/// The focus of a control that is gone goes to the shown answer as soon as there is one, unless
/// something else has taken it by then.
#[derive(Debug, Clone, Copy)]
struct FocusReturn {
    /// `None` if it has lost the focus already.
    from: Option<Id>,
}

impl TurnsView {
    /// Returns the answer that the views show.
    pub(super) fn shown(&mut self) -> &mut TokenView {
        self.make_views(self.shown + 1);
        let found = self.turns.get_mut(self.shown);
        &mut found.unwrap_or(&mut self.spare).answer
    }

    /// Scrolls to the head of the shown turn in the next frame.
    pub(super) const fn scroll_to_shown(&mut self) {
        self.seeks_shown = true;
    }

    /// Lets the shown answer have the focus of a control that disappears.
    pub(super) const fn take_focus_from(&mut self, from: Option<Id>) {
        self.focus_return = Some(FocusReturn { from });
    }

    /// Gives the shown answer, if there is one, the focus of a control that is gone.
    fn return_focus(&mut self, ui: &Ui, has_answer: bool) {
        let Some(FocusReturn { from }) = self.focus_return else {
            return;
        };
        let focused = ui.memory(Memory::focused);
        if focused.is_some() && focused != from {
            self.focus_return = None;
        } else if has_answer {
            self.focus_return = None;
            self.shown().take_focus();
        }
    }

    fn make_views(&mut self, n: usize) {
        while self.turns.len() < n {
            self.turns.push(TurnView::default());
        }
    }

    /// Draws the turns in all available space.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        turns: &[TurnInput<'_>],
        edits: (Option<&mut InPlaceEdit>, Option<&mut MessageEdit>),
    ) -> TurnsResponse {
        self.make_views(turns.len().max(1));
        self.turns.truncate(turns.len().max(1));
        let shown = turns.iter().position(|turn| turn.is_shown);
        let shown = shown.unwrap_or_else(|| turns.len().saturating_sub(1));
        if shown != self.shown {
            self.shown = shown;
            self.seeks_shown = true;
        }
        let has_answer = turns.get(shown).is_some_and(|turn| turn.answer.is_some());
        if self.focused.is_some() && !has_answer {
            self.take_focus_from(ui.memory(Memory::focused));
        }
        self.return_focus(ui, has_answer && edits.1.is_none());
        let sticks = self.sync(ui, turns) && turns.len() == 1;
        let response = Frame::new()
            .fill(Theme::of(ui).surface_1)
            .show(ui, |ui| {
                scroll_area(sticks)
                    .show_viewport(ui, |ui, viewport| self.list_ui(ui, viewport, turns, edits))
                    .inner
            })
            .inner;
        let action = response.action.map(|(_, action)| action);
        let ends_control = action.is_some_and(TurnAction::ends_control);
        if ends_control {
            self.take_focus_from(ui.memory(Memory::focused));
        }
        self.focused = response.text.focused.then_some(response.turn);
        response
    }

    /// Follows the texts. Returns whether the end of the last one stays in view.
    fn sync(&mut self, ui: &Ui, turns: &[TurnInput<'_>]) -> bool {
        let mut sticks = false;
        let mut writes = false;
        for (view, turn) in self.turns.iter_mut().zip(turns) {
            if let Some(answer) = turn.answer {
                sticks = view.answer.sync(ui, answer);
                writes = answer.end == super::TextEnd::Writing;
            } else {
                writes = true;
            }
        }
        if writes && !self.was_writing {
            self.follows = true;
        }
        self.was_writing = writes;
        let is_scrolled =
            ui.ui_contains_pointer() && ui.input(|input| input.smooth_scroll_delta().y.abs() > 0.0);
        self.follows &= writes && !is_scrolled;
        sticks
    }

    /// Draws the turns, except those far out of view, in a scroll area that shows `viewport`.
    fn list_ui(
        &mut self,
        ui: &mut Ui,
        viewport: Rect,
        turns: &[TurnInput<'_>],
        (mut edit, mut message_edit): (Option<&mut InPlaceEdit>, Option<&mut MessageEdit>),
    ) -> TurnsResponse {
        // A scroll area leaves this space before what it scrolls to the top.
        let scroll_space = ui.spacing().item_spacing.y;
        ui.spacing_mut().item_spacing.y = 0.0;
        let shown = self.shown;
        let mut response = TurnsResponse::default();
        let top = ui.max_rect().top();
        let width = ui.available_width();
        let edited = message_edit.as_ref().map(|edit| edit.at.turn);
        let far = self.far_heights(turns, viewport, width, edited);
        for (index, turn) in turns.iter().enumerate() {
            if let Some(height) = far.get(index).copied().flatten() {
                ui.add_space(height);
                // The next turns keep their ids, and so the focus.
                ui.skip_ahead_auto_ids(1);
                continue;
            }
            let start = ui.next_widget_position().y;
            let is_edited = |edit: &MessageEdit| edit.at.turn == index;
            let message_edit = message_edit.take_if(|edit| is_edited(edit));
            let edit = edit.take_if(|_| index == shown);
            ui.push_id(index, |ui| {
                let view = self.turns.get_mut(index);
                let view = view.unwrap_or(&mut self.spare);
                let seen = viewport.translate(vec2(0.0, top - ui.next_widget_position().y));
                let block = turn.block_ui(ui, seen, view, (edit, message_edit));
                let action = block.action.map(|action| (index, action));
                response.action = response.action.or(action);
                let nothing = TokenTextResponse::default();
                let is_first = index == shown && response.text == nothing;
                if block.text != nothing || is_first {
                    response.turn = index;
                    response.text = block.text;
                }
                let above = space_above(viewport, block.above) - scroll_space;
                let top = block.head.top() - above;
                self.scroll_ui(ui, index, turns.len(), top);
            });
            let height = ui.next_widget_position().y - start;
            let key = turn.drawn_key(width);
            if let Some(view) = self.turns.get_mut(index) {
                view.drawn = Some(DrawnTurn { key, height });
            }
        }
        response
    }

    /// Returns the heights of the turns that need not be drawn: those that are neither in view nor next
    /// to one that is, so that the Tab key reaches all. The shown turn, the last one and the edited one
    /// are always drawn. Empty until all heights are known.
    fn far_heights(
        &self,
        turns: &[TurnInput<'_>],
        viewport: Rect,
        width: f32,
        edited: Option<usize>,
    ) -> Vec<Option<f32>> {
        let last = turns.len().saturating_sub(1);
        let views = self.turns.iter().zip(turns).enumerate();
        let heights: Option<Vec<f32>> = views
            .map(|(index, (view, turn))| {
                let height = view.height(turn.drawn_key(width));
                height.or((index == last).then_some(0.0))
            })
            .collect();
        let heights = heights.unwrap_or_default();
        let mut bottom = 0.0;
        let is_visible: Vec<bool> = heights
            .iter()
            .map(|height| {
                let top = bottom;
                bottom += height;
                top < viewport.bottom() && bottom > viewport.top()
            })
            .collect();
        let is_near = |index: usize| {
            let around = index.saturating_sub(1)..=index + 1;
            let mut around = around.filter_map(|index| is_visible.get(index));
            around.any(|is_visible| *is_visible)
        };
        let is_kept = |index: usize| index == self.shown || index == last || Some(index) == edited;
        let heights = heights.into_iter().enumerate();
        heights
            .map(|(index, height)| (!is_near(index) && !is_kept(index)).then_some(height))
            .collect()
    }

    /// Scrolls so that a turn's head is in view, with `top` at the top, if it is due.
    fn scroll_ui(&mut self, ui: &Ui, index: usize, n_turns: usize, top: f32) {
        let is_followed = self.follows && n_turns > 1 && index + 1 == n_turns;
        let is_sought = self.seeks_shown && index == self.shown;
        if is_sought {
            self.seeks_shown = false;
        }
        if is_followed || is_sought {
            let x = Rangef::point(ui.min_rect().left());
            let target = Rect::from_x_y_ranges(x, Rangef::point(top));
            ui.scroll_to_rect_animation(target, Some(Align::TOP), ScrollAnimation::none());
        }
    }
}

/// Returns how much of what is above a turn stays in view while its answer grows, in points. `above` is
/// the height of its head and its message.
fn space_above(viewport: Rect, above: f32) -> f32 {
    let answer = super::TOP + MIN_LINES * Face::Read.row();
    let rest = viewport.height() - above - answer;
    rest.clamp(0.0, STOPS_AT * viewport.height())
}

/// What was drawn of a turn, and what the user did with it.
struct BlockResponse {
    head: Rect,
    /// The height of the head and the message, in points.
    above: f32,
    text: TokenTextResponse,
    action: Option<TurnAction>,
}

impl TurnInput<'_> {
    fn drawn_key(&self, width: f32) -> DrawnKey {
        let answer = self.answer.map(|answer| answer.generation);
        DrawnKey {
            answer: answer.map(|answer| answer.lineage.id),
            n_steps: answer.map_or(0, |answer| answer.steps.len()),
            n_message_bytes: self.message.len(),
            width,
        }
    }

    /// Draws the turn.
    fn block_ui(
        &self,
        ui: &mut Ui,
        viewport: Rect,
        view: &mut TurnView,
        (edit, message_edit): (Option<&mut InPlaceEdit>, Option<&mut MessageEdit>),
    ) -> BlockResponse {
        let start = ui.next_widget_position().y;
        let (head, mut action) = self.head_ui(ui);
        let is_edited = message_edit.is_some();
        match message_edit {
            Some(edit) => action = message_edit_ui(ui, edit).or(action),
            None => view.message.ui(ui, self.message),
        }
        ui.add_space(MESSAGE_GAP - super::TOP);
        let above = ui.next_widget_position().y - start;
        let text = self.answer.map(|answer| {
            let answer = if is_edited { dimmed(answer) } else { answer };
            let view = &mut view.answer;
            view.block_ui(ui, viewport.translate(vec2(0.0, -above)), answer, edit)
        });
        BlockResponse {
            head,
            above,
            text: text.unwrap_or_default(),
            action,
        }
    }
}

/// Draws the field of the message that is being edited. Returns how editing ended, if it did.
fn message_edit_ui(ui: &mut Ui, edit: &mut MessageEdit) -> Option<TurnAction> {
    let theme = Theme::of(ui);
    let id = ui.scope_id().with("message");
    // Another field takes its own keys.
    let focused = ui.memory(egui::Memory::focused);
    let has_keys = focused.is_none_or(|focused| focused == id);
    let ended = has_keys.then(|| end_keys(ui)).flatten();
    let line = line_span(ui.available_width());
    ui.horizontal(|ui| {
        ui.add_space(line.min - 5.0);
        let frame = Frame::new()
            .fill(theme.accent_bg)
            .corner_radius(6)
            .inner_margin(Margin::symmetric(5, 3));
        let framed = frame.show(ui, |ui| {
            let field = TextEdit::multiline(&mut edit.text)
                .id(id)
                .frame(Frame::NONE)
                .margin(Margin::ZERO)
                .font(Face::Read.font())
                .desired_rows(1)
                .desired_width(line.span());
            let field = ui.add(field).accessible_name("Edit the message");
            if std::mem::take(&mut edit.is_new) {
                field.request_focus();
                field.scroll_to_me(None);
            }
        });
        let ring = Stroke::new(1.5, theme.accent);
        let rect = framed.response.rect;
        ui.painter().rect_stroke(rect, 6, ring, StrokeKind::Inside);
    });
    ended
}

/// Returns how the user ended editing by a key. Call it before the field takes the keys.
fn end_keys(ui: &Ui) -> Option<TurnAction> {
    let pressed = |modifiers, key| ui.input_mut(|input| input.consume_key(modifiers, key));
    if pressed(Modifiers::COMMAND, Key::Enter) {
        Some(TurnAction::FinishEdit(EditScope::AllPanes))
    } else if take_plain_enter(ui) {
        Some(TurnAction::FinishEdit(EditScope::Pane))
    } else if pressed(Modifiers::NONE, Key::Escape) {
        Some(TurnAction::CancelEdit)
    } else {
        None
    }
}

/// Returns the answer to a message that is being edited: dimmed, and without marks.
fn dimmed(answer: TokenTextInput<'_>) -> TokenTextInput<'_> {
    TokenTextInput {
        n_dimmed: answer.generation.steps.len(),
        tint: crate::state::Tint::None,
        what_ifs: None,
        kind: None,
        looping: None,
        has_cards: false,
        ..answer
    }
}
