//! The turns of a conversation in one pane, below each other: a head, the message and the answer.

use egui::emath::Rangef;
use egui::style::ScrollAnimation;
use egui::{
    Align, Frame, Key, Label, Layout, Margin, Modifiers, Rect, Role, Sense, Stroke, StrokeKind,
    TextEdit, TextWrapMode, Ui, WidgetInfo, vec2,
};

use super::message::MessageView;
use super::{TokenTextInput, TokenTextResponse, TokenView, line_span, scroll_area};
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::generation::GenerationId;
use crate::state::{EditScope, InPlaceEdit, MessageEdit};

/// The height of a turn's head, in points.
const HEAD: f32 = 22.0;

/// The space above a turn's head, which has a line on top unless it is the first, in points.
const ABOVE: f32 = 4.0;

/// The space between a message and its answer, in points.
const MESSAGE_GAP: f32 = 5.0;

/// Where the head of a new turn stops while the answer grows, as a fraction of the visible height.
const STOPS_AT: f32 = 1.0 / 3.0;

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
}

impl Default for TurnView {
    fn default() -> Self {
        Self {
            message: MessageView::default(),
            answer: TokenView::without_prompt(),
        }
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
        (mut edit, mut message_edit): (Option<&mut InPlaceEdit>, Option<&mut MessageEdit>),
    ) -> TurnsResponse {
        self.make_views(turns.len().max(1));
        self.turns.truncate(turns.len().max(1));
        let shown = turns.iter().position(|turn| turn.is_shown);
        let shown = shown.unwrap_or_else(|| turns.len().saturating_sub(1));
        if shown != self.shown {
            self.shown = shown;
            self.seeks_shown = true;
        }
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
        let is_alone = turns.len() == 1;
        Frame::new()
            .fill(Theme::of(ui).surface_1)
            .show(ui, |ui| {
                scroll_area(sticks && is_alone)
                    .show_viewport(ui, |ui, viewport| {
                        ui.spacing_mut().item_spacing.y = 0.0;
                        let mut response = TurnsResponse::default();
                        let top = ui.max_rect().top();
                        for (index, turn) in turns.iter().enumerate() {
                            let is_edited = |edit: &MessageEdit| edit.at.turn == index;
                            let message_edit = message_edit.take_if(|edit| is_edited(edit));
                            let edit = edit.take_if(|_| index == shown);
                            ui.push_id(index, |ui| {
                                let block = TurnBlock { index, turn: *turn };
                                let view = self.turns.get_mut(index);
                                let view = view.unwrap_or(&mut self.spare);
                                let seen = viewport
                                    .translate(vec2(0.0, top - ui.next_widget_position().y));
                                let block = block.ui(ui, seen, view, (edit, message_edit));
                                let action = block.action.map(|action| (index, action));
                                response.action = response.action.or(action);
                                let nothing = TokenTextResponse::default();
                                let is_first = index == shown && response.text == nothing;
                                if block.text != nothing || is_first {
                                    response.turn = index;
                                    response.text = block.text;
                                }
                                let top = block.head.top() - STOPS_AT * viewport.height();
                                self.scroll_ui(ui, index, turns.len(), top);
                            });
                        }
                        response
                    })
                    .inner
            })
            .inner
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

/// What was drawn of a turn, and what the user did with it.
struct BlockResponse {
    head: Rect,
    text: TokenTextResponse,
    action: Option<TurnAction>,
}

/// A turn with its index.
struct TurnBlock<'a> {
    index: usize,
    turn: TurnInput<'a>,
}

impl TurnBlock<'_> {
    /// Draws the turn.
    fn ui(
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
            None => view.message.ui(ui, self.turn.message),
        }
        ui.add_space(MESSAGE_GAP - super::TOP);
        let above = ui.next_widget_position().y - start;
        let text = self.turn.answer.map(|answer| {
            let answer = if is_edited { dimmed(answer) } else { answer };
            let view = &mut view.answer;
            view.block_ui(ui, viewport.translate(vec2(0.0, -above)), answer, edit)
        });
        BlockResponse {
            head,
            text: text.unwrap_or_default(),
            action,
        }
    }

    /// Draws the turn's number, its version, and what can be done with it under the pointer or the
    /// focus. Returns its rectangle, and what was asked.
    fn head_ui(&self, ui: &mut Ui) -> (Rect, Option<TurnAction>) {
        let theme = Theme::of(ui);
        let size = vec2(ui.available_width(), ABOVE + HEAD);
        let (rect, area) = ui.allocate_exact_size(size, Sense::hover());
        if self.index > 0 {
            let stroke = Stroke::new(1.0, theme.stroke_1);
            ui.painter().hline(rect.x_range(), rect.top(), stroke);
        }
        let line = line_span(rect.width());
        let x = Rangef::new(rect.left() + line.min, rect.left() + line.max);
        let inside = Rect::from_x_y_ranges(x, Rangef::new(rect.top() + ABOVE, rect.bottom()));
        area.widget_info(|| WidgetInfo::labeled(Role::Label, true, self.turn.name));
        // The buttons cover the row.
        let is_pointed = ui.rect_contains_pointer(rect);
        let mut row = child_ui(ui, inside, "head");
        let mut action = None;
        row.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            action = self.buttons_ui(ui, is_pointed);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.spacing_mut().item_spacing.x = 4.0;
                let color = theme.text_2;
                let words = format!("Turn {}", self.turn.number);
                ui.label(Face::Micro.text(words).color(color));
                if self.turn.is_left_out {
                    let label = Face::Micro.text("· left out").color(theme.text_3);
                    ui.label(label)
                        .on_hover_text("The model no longer reads this turn, to make room");
                }
                action = self.versions_ui(ui).or(action);
            });
        });
        (rect, action)
    }

    fn versions_ui(&self, ui: &mut Ui) -> Option<TurnAction> {
        let TurnInput {
            versions, version, ..
        } = self.turn;
        if versions.len() < 2 {
            return None;
        }
        let theme = Theme::of(ui);
        let words = format!(
            "· seed {}, {} of {}",
            self.turn.seed,
            version + 1,
            versions.len()
        );
        ui.add(
            Label::new(Face::Micro.text(words).color(theme.text_2))
                .wrap_mode(TextWrapMode::Truncate),
        );
        let others = [
            (
                Icon::Left,
                "Show the version before",
                version.checked_sub(1),
            ),
            (Icon::Right, "Show the version after", Some(version + 1)),
        ];
        let mut action = None;
        for (icon, name, other) in others {
            let id = other.and_then(|other| versions.get(other));
            let enabled = id.is_some() && self.turn.can_ask;
            let button = ui.add_enabled_ui(enabled, |ui| icon_button(ui, icon, name));
            if button.inner.clicked() {
                action = id.map(|id| TurnAction::ShowVersion(*id));
            }
        }
        action
    }

    /// Draws the buttons, which are visible while the pointer is over the head or one has the focus.
    fn buttons_ui(&self, ui: &mut Ui, is_pointed: bool) -> Option<TurnAction> {
        if !self.turn.can_ask {
            return None;
        }
        let id = ui.scope_id().with("turn buttons");
        let had_focus = ui.data(|data| data.get_temp::<bool>(id)).unwrap_or(false);
        let opacity = if is_pointed || had_focus { 1.0 } else { 0.0 };
        let buttons = [
            (
                Icon::Fork,
                "Continue differently from its first token",
                TurnAction::Branch,
            ),
            (Icon::Again, "Answer again (R)", TurnAction::Again),
            (Icon::Edit, "Edit the message", TurnAction::Edit),
        ];
        let (mut has_focus, mut pressed) = (false, None);
        ui.scope(|ui| {
            ui.multiply_opacity(opacity);
            for (icon, name, action) in buttons {
                if action == TurnAction::Branch && self.turn.answer.is_none() {
                    continue;
                }
                let button = icon_button(ui, icon, name);
                has_focus |= button.has_focus();
                if button.clicked() {
                    pressed = Some(action);
                }
            }
        });
        ui.data_mut(|data| data.insert_temp(id, has_focus));
        pressed
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
    } else if !ui.input(|input| input.modifiers.shift) && pressed(Modifiers::NONE, Key::Enter) {
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
        looping: None,
        has_cards: false,
        ..answer
    }
}
