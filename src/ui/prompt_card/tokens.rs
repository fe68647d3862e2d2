//! The token popup: the prompt as the model reads it, token by token.

use std::ops::Range;
use std::sync::Arc;

use egui::text::{LayoutJob, TextFormat};
use egui::{
    Align, EventFilter, Id, Key, Label, Layout, Modifiers, Rect, Response, Role, ScrollArea, Sense,
    Stroke, StrokeKind, TextWrapMode, Tooltip, Ui, Vec2, WidgetInfo, pos2, vec2,
};

use super::lines::{CHIP_PADDING, Fragment, Line, Look, lines_of};
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::{Button, focus_ring, switch_part};
use crate::generation::formatting::{mark, pane_letter, token_word};
use crate::generation::{GenerationId, Piece, PromptToken};
use crate::state::{AppState, Command, NextTokens, Pane, PaneId, PromptLength, capitalize};

/// The height of a line, in points.
const ROW: f32 = 23.0;

/// The height of a token within its line, in points.
const HEIGHT: f32 = 18.0;

/// The margin beside the lines, which leaves space for the ring of the touched token, in points.
const SIDE: f32 = 2.0;

/// The popup's state between frames, with the cached layout of the last prompt.
#[derive(Debug, Default)]
pub(super) struct TokensView {
    tokens: Arc<[PromptToken]>,
    /// What the layout in `lines` depends on besides the tokens; `None` before the first layout.
    key: Option<LayoutKey>,
    lines: Vec<Line>,
    /// The index of the token that has the keyboard focus.
    focused: usize,
    /// In a conversation, the pane whose tokens were asked for.
    pane: Option<PaneId>,
    /// The tokens of a conversation so far, and the answer that ends it, with the answer's length.
    so_far: Option<(GenerationId, usize, Arc<[PromptToken]>)>,
}

/// What the popup shows.
struct Shown {
    tokens: Result<Arc<[PromptToken]>, String>,
    length: Option<PromptLength>,
    /// A sentence below the title; may be empty.
    note: &'static str,
    /// The pane whose tokens they are, in a conversation.
    pane: Option<PaneId>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct LayoutKey {
    width: f32,
    pixels_per_point: f32,
}

/// A token of the prompt and its index.
#[derive(Clone, Copy)]
struct IndexedToken<'a> {
    index: usize,
    token: &'a PromptToken,
}

impl TokensView {
    /// Draws the content of the popup, `size.x` points wide, with its tokens at most `size.y` high.
    pub(super) fn popup_ui(
        &mut self,
        ui: &mut Ui,
        size: Vec2,
        state: &AppState,
        commands: &mut Vec<Command>,
    ) {
        let Some(shown) = self.shown(state) else {
            return;
        };
        ui.set_width(size.x);
        ui.spacing_mut().item_spacing.y = 8.0;
        let title = ui.horizontal(|ui| self.title_ui(ui, state, &shown, commands));
        let theme = Theme::of(ui);
        if !shown.note.is_empty() {
            ui.add(Label::new(Face::Small.text(shown.note).color(theme.text_2)).wrap());
        }
        let tokens = match &shown.tokens {
            Ok(tokens) => tokens,
            Err(error) => {
                let words = Face::Body.text(capitalize(error)).color(theme.error);
                ui.add(Label::new(words).wrap());
                return;
            }
        };
        let height = (size.y - title.response.rect.height()).max(ROW);
        ui.scope(|ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            self.tokens_ui(ui, tokens, height);
        });
        let hint = "Each token is underlined. Point at one to see its id.";
        ui.label(Face::Micro.text(hint).color(Theme::of(ui).text_3));
    }

    /// Returns what to show: the tokens of the prompt, or in a conversation those of the chosen pane
    /// or of the fullest one.
    fn shown(&mut self, state: &AppState) -> Option<Shown> {
        if !state.is_replying() {
            return Some(Shown {
                tokens: Ok(Arc::clone(state.prompt.tokens()?)),
                length: state.prompt.length(&state.models.main),
                note: "",
                pane: None,
            });
        }
        let chosen = self.pane.and_then(|id| state.pane(id));
        let pane = chosen.filter(|pane| pane.answer().is_some());
        let pane = pane.or_else(|| state.fullest_pane())?;
        let next = pane.next_tokens()?;
        let (tokens, note) = match next {
            NextTokens::Typed(_) => (next.listed(), ""),
            NextTokens::SoFar(answer) => {
                let key = (answer.lineage.id, answer.steps.len());
                let known = self.so_far.take().filter(|known| (known.0, known.1) == key);
                let tokens = known.map(|known| Ok(known.2));
                let tokens = tokens.unwrap_or_else(|| next.listed());
                if let Ok(tokens) = &tokens {
                    self.so_far = Some((key.0, key.1, Arc::clone(tokens)));
                }
                (tokens, so_far_words(state, pane))
            }
        };
        Some(Shown {
            tokens,
            length: pane.next_length(&state.models),
            note,
            pane: Some(pane.id),
        })
    }

    /// Draws the title with the length, the choice of a pane in a conversation, and a button to copy.
    fn title_ui(
        &mut self,
        ui: &mut Ui,
        state: &AppState,
        shown: &Shown,
        commands: &mut Vec<Command>,
    ) {
        let theme = Theme::of(ui);
        let title = Face::Strong.text("As the model reads it");
        ui.label(title.color(theme.text_1));
        if let Some(length) = shown.length {
            let color = if length.fits() {
                theme.text_3
            } else {
                theme.error
            };
            ui.label(Face::Small.text(length.to_string()).color(color));
        }
        let answered = state.panes.iter().filter(|pane| pane.answer().is_some());
        let answered: Vec<&Pane> = answered.collect();
        if shown.pane.is_some() && answered.len() > 1 {
            ui.scope(|ui| {
                ui.spacing_mut().item_spacing.x = 0.0;
                for pane in answered {
                    let chosen = shown.pane == Some(pane.id);
                    if switch_part(ui, &pane_letter(pane.place), chosen).clicked() {
                        self.pane = Some(pane.id);
                    }
                }
            });
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let button = Button::new("Copy").name("Copy the prompt as the model reads it");
            if ui.add(button.icon(Icon::Copy).quiet()).clicked() {
                commands.push(Command::CopyPrompt(shown.pane));
            }
        });
    }

    fn tokens_ui(&mut self, ui: &mut Ui, tokens: &Arc<[PromptToken]>, max_height: f32) {
        let width = (ui.available_width() - 2.0 * SIDE - 6.0).floor();
        self.lay_out(ui, tokens, width);
        let shown = ScrollArea::vertical()
            .id_salt("prompt tokens")
            .auto_shrink([false, true])
            .max_height(max_height)
            .show_rows(ui, ROW, self.lines.len(), |ui, rows| self.rows_ui(ui, rows));
        let height = max_height.min(self.lines.len() as f32 * ROW);
        let ring = shown.inner_rect;
        let ring = ring.with_max_y(ring.top() + height);
        focus_ring(ui, &shown.inner.with_new_rect(ring), 4);
    }

    /// Lays out the tokens again if they, the width or the scale have changed.
    fn lay_out(&mut self, ui: &Ui, tokens: &Arc<[PromptToken]>, width: f32) {
        let key = Some(LayoutKey {
            width,
            pixels_per_point: ui.pixels_per_point(),
        });
        if self.key == key && Arc::ptr_eq(&self.tokens, tokens) {
            return;
        }
        self.key = key;
        self.tokens = Arc::clone(tokens);
        self.focused = 0;
        let (text, chip) = (Face::Code.font(), Face::Special.font());
        self.lines = ui.fonts_mut(|fonts| {
            lines_of(tokens, width, |c, look| match look {
                Look::Text => fonts.glyph_width(&text, shown(c)),
                Look::Sign | Look::Bytes => fonts.glyph_width(&chip, c),
            })
        });
    }

    fn rows_ui(&mut self, ui: &mut Ui, rows: Range<usize>) -> Response {
        let size = vec2(ui.available_width(), rows.len() as f32 * ROW);
        let (_, rect) = ui.allocate_space(size);
        // The id does not depend on the scroll position, so scrolling keeps the keyboard focus.
        let response = ui.interact(rect, Id::unique("prompt tokens"), Sense::click());
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, self.accessible_text()));
        let moved = response.has_focus() && self.handle_keys(ui, &response);
        let hovered = self.hovered(&response, &rows);
        let touched = hovered.or(response.has_focus().then_some(self.focused));

        let mut touched_rect = None;
        for (row, line) in (0..).zip(self.lines.get(rows.clone()).unwrap_or_default()) {
            let top = rect.top() + row as f32 * ROW;
            for fragment in line {
                let rect = Rect::from_min_size(
                    pos2(rect.left() + SIDE + fragment.x, top + 2.0),
                    vec2(fragment.width, HEIGHT),
                );
                fragment_ui(ui, rect, fragment, touched == Some(fragment.token));
                if touched == Some(fragment.token) {
                    touched_rect = touched_rect.or(Some(rect));
                }
            }
        }
        if moved {
            self.scroll_to_focused(ui, rect, rows.start);
        }
        let token = touched.and_then(|index| {
            let token = self.tokens.get(index)?;
            Some(IndexedToken { index, token })
        });
        if let Some((token, rect)) = token.zip(touched_rect) {
            card_ui(ui, &response, rect, token);
        }
        response
    }

    /// Returns the index of the token under the pointer.
    fn hovered(&self, response: &Response, rows: &Range<usize>) -> Option<usize> {
        let pos = response.hover_pos()? - response.rect.min - vec2(SIDE, 0.0);
        let mut lines = (1..).zip(self.lines.get(rows.clone())?);
        let (_, line) = lines.find(|(n_rows, _)| pos.y < *n_rows as f32 * ROW)?;
        let end = |fragment: &Fragment| fragment.x + fragment.width;
        let is_hovered = |fragment: &&Fragment| fragment.x <= pos.x && pos.x < end(fragment);
        line.iter().find(is_hovered).map(|fragment| fragment.token)
    }

    /// Moves the focus from token to token with the arrow keys. Returns whether it moved.
    fn handle_keys(&mut self, ui: &Ui, response: &Response) -> bool {
        let filter = EventFilter {
            horizontal_arrows: true,
            ..EventFilter::default()
        };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let before = self.focused;
        let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        if pressed(Key::ArrowLeft) {
            self.focused = self.focused.saturating_sub(1);
        }
        if pressed(Key::ArrowRight) && self.focused + 1 < self.tokens.len() {
            self.focused += 1;
        }
        self.focused != before
    }

    fn scroll_to_focused(&self, ui: &Ui, rect: Rect, first_row: usize) {
        let is_focused = |fragment: &Fragment| fragment.token == self.focused;
        let contains_focused = |line: &Line| line.iter().any(is_focused);
        if let Some(row) = self.lines.iter().position(contains_focused) {
            let top = rect.top() + (row as f32 - first_row as f32) * ROW;
            let row = Rect::from_min_size(pos2(rect.left(), top), vec2(1.0, ROW));
            ui.scroll_to_rect(row, None);
        }
    }

    fn accessible_text(&self) -> String {
        let pieces = self.tokens.iter().map(|token| token.piece.to_string());
        pieces.collect()
    }
}

/// Says why the tokens of a pane end with its last answer.
fn so_far_words(state: &AppState, pane: &Pane) -> &'static str {
    let model = state.models.chosen(&pane.settings);
    if model.is_some_and(|model| model.served().is_some()) {
        "The conversation so far. The server tokenizes your next message when you send it."
    } else {
        "The conversation so far. The chat template adds your next message once you type it."
    }
}

/// Replaces white space by its visible mark.
fn shown(c: char) -> char {
    if c.is_whitespace() { mark(c) } else { c }
}

fn fragment_ui(ui: &Ui, rect: Rect, fragment: &Fragment, touched: bool) {
    let theme = Theme::of(ui);
    let painter = ui.painter();
    let chip = |fill, color| {
        painter.rect_filled(rect, 3, fill);
        let format = TextFormat::simple(Face::Special.font(), color);
        (
            LayoutJob::single_section(fragment.text.clone(), format),
            CHIP_PADDING,
        )
    };
    let (job, padding) = match fragment.look {
        Look::Text => {
            let line = Stroke::new(1.0, theme.stroke_3);
            painter.hline(rect.x_range(), rect.bottom() - 0.5, line);
            (marked_job(&fragment.text, theme), 0.0)
        }
        Look::Sign => chip(theme.special_bg, theme.special_text),
        Look::Bytes => chip(theme.byte_bg, theme.byte_text),
    };
    let galley = painter.layout_job(job);
    let top = rect.center().y - galley.size().y / 2.0;
    painter.galley(pos2(rect.left() + padding, top), galley, theme.token_text);
    if touched {
        let ring = Stroke::new(1.0, theme.text_2);
        painter.rect_stroke(rect, 3, ring, StrokeKind::Outside);
    }
}

/// Lays out text with the marks of white space in a dimmer color.
fn marked_job(text: &str, theme: &Theme) -> LayoutJob {
    let mut job = LayoutJob::default();
    for run in text
        .chars()
        .collect::<Vec<_>>()
        .chunk_by(|a, b| a.is_whitespace() == b.is_whitespace())
    {
        let white = run.first().is_some_and(|c| c.is_whitespace());
        let color = if white {
            theme.text_3
        } else {
            theme.token_text
        };
        let words: String = run.iter().copied().map(shown).collect();
        job.append(&words, 0.0, TextFormat::simple(Face::Code.font(), color));
    }
    job
}

/// Draws the tooltip beside a token.
fn card_ui(ui: &Ui, response: &Response, rect: Rect, token: IndexedToken<'_>) {
    let IndexedToken { index, token } = token;
    let theme = Theme::of(ui);
    let id = response.id.with("card");
    Tooltip::always_open(ui.ctx().clone(), response.layer_id, id, rect)
        .gap(4.0)
        .show(|ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            ui.style_mut().wrap_mode = Some(TextWrapMode::Extend);
            ui.label(Face::Code.text(name_of(&token.piece)).color(theme.text_1));
            let facts = format!("token {} · id {}", index + 1, token.id);
            ui.label(Face::Code.text(facts).color(theme.text_3));
        });
}

/// Returns a token's text in quotes, or its bytes.
fn name_of(piece: &Piece) -> String {
    match (piece.as_str(), piece.bytes.len()) {
        (Some(_), _) => format!("‘{}’", token_word(piece)),
        (None, 1) => format!("byte {piece}"),
        (None, _) => format!("bytes {piece}"),
    }
}
