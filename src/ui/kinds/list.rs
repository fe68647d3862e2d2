//! The tokens of the chosen kind in Numbers: where they are, and a list of them beside the
//! explanation of the held one.

use egui::{
    Color32, Id, Label, Rect, Role, ScrollArea, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2,
    vec2,
};

use super::strip::StripTokens;
use super::{INDENT, line, put};
use crate::analysis::token_kinds::{TokenKind, coin_of, without_settings};
use crate::decoding::{FinalProb, TokenId, WhatIf};
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{ControlColors, focus_ring, paint_fill};
use crate::generation::formatting::{counted, grouped, pane_letter, percent, token_word};
use crate::generation::{Generation, Step};
use crate::state::{AppState, Command, Pane, PaneId, Pin, no_token_words};
use crate::ui::why;

const ROW: f32 = 21.0;
const HEADS: f32 = 20.0;

/// How many tokens before a token are shown with it.
const N_BEFORE: usize = 4;

const COLUMNS: [&str; 7] = [
    "token",
    "in its place",
    "model",
    "after settings",
    "rank",
    "coin",
    "without the settings",
];

/// Draws the tokens of a kind in the text that the dock shows. A click or Enter holds one.
pub(in crate::ui) fn kind_list_ui(
    ui: &mut Ui,
    body: Rect,
    kind: TokenKind,
    state: &AppState,
    commands: &mut Vec<Command>,
) {
    let shown = state.shown_step();
    let pane = shown.and_then(|(place, _)| state.panes.get(place));
    let Some((pane, text)) = pane.and_then(|pane| Some((pane, pane.generation()?))) else {
        return;
    };
    let (left, right) = why::split(body);
    if let Some(right) = right {
        why::why_ui(ui, right, state, commands);
    }
    let inside = Rect::from_min_max(
        left.min + vec2(14.0 - INDENT, 8.0),
        left.max - vec2(10.0, 2.0),
    );
    let mut ui = child_ui(ui, inside, "tokens of a kind");
    ui.spacing_mut().item_spacing.y = 0.0;
    let steps: Vec<usize> = pane.kinds().steps(Some(kind)).collect();
    let held = state
        .pin
        .filter(|pin| pin.pane == pane.id && state.pinned().is_some());
    let list = KindList {
        kind,
        state,
        pane,
        text,
        steps: &steps,
        held: held.map(|pin| pin.step),
    };
    let step = list.ui(&mut ui);
    // Pinning the held token would unpin it.
    let step = step.filter(|step| Some(*step) != list.held);
    let pane = pane.id;
    commands.extend(step.map(|step| Command::Pin(Pin { pane, step })));
}

/// The tokens of a kind in one text.
struct KindList<'a> {
    kind: TokenKind,
    state: &'a AppState,
    pane: &'a Pane,
    text: &'a Generation,
    steps: &'a [usize],
    held: Option<usize>,
}

impl KindList<'_> {
    /// Draws the head, the strip and the rows. Returns the step that was chosen.
    fn ui(&self, ui: &mut Ui) -> Option<usize> {
        let theme = Theme::of(ui);
        let (words, unknown) = (self.words(), self.unknown_words());
        let head = ui.horizontal(|ui| {
            ui.set_height(20.0);
            ui.add_space(INDENT);
            let name = Face::SmallMedium.text(self.kind.name()).color(theme.text_1);
            ui.label(name);
            let words = Face::Small.text(format!("{words}{unknown}"));
            ui.add(Label::new(words.color(theme.text_2)).truncate());
        });
        if !unknown.is_empty() {
            head.response.on_hover_text(self.kind.unknown_reason());
        }
        if self.steps.is_empty() {
            let words = format!("{}.", no_token_words(self.kind, self.pane));
            ui.add_space(6.0);
            ui.horizontal(|ui| {
                ui.add_space(INDENT);
                ui.label(Face::Small.text(words).color(theme.text_3));
            });
            return None;
        }
        ui.add_space(3.0);
        let strip = StripTokens {
            name: &format!("{}: {words}", self.kind.name()),
            place: self.pane.place,
            n_tokens: self.pane.kinds().n_tokens(),
            steps: self.steps,
            held: self.held,
        };
        let clicked = strip.ui(ui);
        let columns = Columns::of(ui.available_width() - 2.0 * INDENT);
        let size = vec2(ui.available_width(), HEADS);
        let (heads, _) = ui.allocate_exact_size(size, Sense::hover());
        for (cell, name) in columns.cells(heads).into_iter().zip(COLUMNS) {
            let galley = line(ui, name, Face::Micro, cell.width());
            put(ui, galley, cell, theme.text_3);
        }
        clicked.or(self.rows_ui(ui, columns))
    }

    /// "13 of 190 in D: the same coin, on the model’s own probabilities, falls on another token".
    fn words(&self) -> String {
        let [n, n_tokens] = [self.steps.len(), self.pane.kinds().n_tokens()];
        let [n, n_tokens] = [n, n_tokens].map(|n| grouped(n as f64));
        let letter = pane_letter(self.pane.place);
        format!("{n} of {n_tokens} in {letter}: {}", self.kind.meaning())
    }

    /// "; 28 tokens can’t be known", or nothing.
    fn unknown_words(&self) -> String {
        match self.pane.kinds().count(Some(self.kind)).n_unknown {
            0 => String::new(),
            n => format!("; {} can’t be known", counted(n, "token")),
        }
    }

    fn rows_ui(&self, ui: &mut Ui, columns: Columns) -> Option<usize> {
        let held = self
            .held
            .and_then(|held| self.steps.binary_search(&held).ok());
        let moved_id = Id::unique("held token of a kind");
        let now = held.map(|row| (self.pane.id, self.kind, row));
        let shown: Option<Option<(PaneId, TokenKind, usize)>> =
            ui.data_mut(|data| data.get_temp(moved_id));
        let has_moved = shown.flatten() != now;
        ui.data_mut(|data| data.insert_temp(moved_id, now));
        let mut chosen = None;
        ScrollArea::vertical().auto_shrink(false).show_rows(
            ui,
            ROW,
            self.steps.len(),
            |ui, visible| {
                let area = ui.max_rect();
                let row_rect = |row: usize| {
                    let top = area.top() + (row as f32 - visible.start as f32) * ROW;
                    Rect::from_min_size(pos2(area.left(), top), vec2(area.width(), ROW))
                };
                if let Some(row) = held.filter(|_| has_moved) {
                    ui.scroll_to_rect(row_rect(row), None);
                }
                for row in visible.clone() {
                    let step = self.steps.get(row).copied();
                    let step = step.filter(|step| self.row_ui(ui, row_rect(row), columns, *step));
                    chosen = chosen.or(step);
                }
            },
        );
        chosen
    }

    /// Draws a row. Returns whether it was chosen.
    fn row_ui(&self, ui: &Ui, rect: Rect, columns: Columns, index: usize) -> bool {
        let Some(step) = self.text.steps.get(index) else {
            return false;
        };
        let is_held = self.held == Some(index);
        let response = ui.interact(
            rect,
            ui.scope_id().with(("token of a kind", index)),
            Sense::click(),
        );
        let values = Values::of(self.text, index, step);
        response.widget_info(|| {
            let spoken = values.spoken(index, step);
            WidgetInfo::selected(Role::ListItem, true, is_held, spoken)
        });
        if response.gained_focus() {
            ui.scroll_to_rect(rect, None);
        }
        if ui.is_rect_visible(rect) {
            let theme = Theme::of(ui);
            let fill = if is_held {
                theme.surface_3
            } else {
                Color32::TRANSPARENT
            };
            let text = theme.text_1;
            paint_fill(ui, &response, ControlColors { fill, text }, 6);
            let [number, place, model, after, rank, coin, without] = columns.cells(rect);
            small(ui, number, &grouped(index as f64 + 1.0), theme.text_2);
            self.place_ui(ui, place, index, step);
            small(ui, model, &values.model, theme.text_1);
            small(ui, after, &values.after, theme.text_1);
            small(ui, rank, &values.rank, theme.text_1);
            small(ui, coin, &values.coin, theme.text_1);
            let (words, is_token) = &values.without;
            if *is_token {
                let galley = line(ui, words, Face::Candidate, without.width());
                put(ui, galley, without, theme.text_1);
            } else {
                small(ui, without, words, theme.text_3);
            }
            focus_ring(ui, &response, 6);
        }
        response.clicked()
    }

    /// Paints a token after the ones before it.
    fn place_ui(&self, ui: &Ui, cell: Rect, index: usize, step: &Step) {
        let theme = Theme::of(ui);
        let token = line(ui, &token_word(&step.piece), Face::Candidate, cell.width());
        let room = cell.width() - token.size().x - 6.0;
        let before = before(self.text, index);
        let mut words = before.as_str();
        let mut galley = line(ui, words, Face::Candidate, f32::INFINITY);
        while galley.size().x > room {
            let Some((_, rest)) = words.split_once(' ') else {
                break;
            };
            words = rest;
            galley = line(ui, words, Face::Candidate, f32::INFINITY);
        }
        let mut left = cell.left();
        if galley.size().x <= room {
            left += galley.size().x + if words.is_empty() { 0.0 } else { 1.0 };
            put(ui, galley, cell, theme.prompt_text);
        }
        let size = token.size();
        let at = pos2(left + 1.0, cell.center().y - size.y / 2.0);
        let rect = Rect::from_min_size(at, size).expand2(vec2(1.0, 0.0));
        let is_held = self.held == Some(index);
        let fill = if is_held {
            theme.accent_bg
        } else {
            let tint = self.state.view.tint;
            theme.tint(tint, tint.step(step))
        };
        ui.painter().rect_filled(rect, 3, fill);
        if is_held {
            let ring = Stroke::new(1.5, theme.accent);
            ui.painter().rect_stroke(rect, 3, ring, StrokeKind::Inside);
        }
        ui.painter()
            .galley_with_override_text_color(at, token, theme.text_1);
    }
}

/// Returns the text of the tokens before a token on one line, with a space at its end if the token
/// begins with one.
fn before(text: &Generation, index: usize) -> String {
    let first = index.saturating_sub(N_BEFORE);
    let pieces = text.steps.iter().skip(first).take(index - first);
    let joined: String = pieces.map(|step| step.piece.to_string()).collect();
    let mut words = joined.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_apart = |text: &str| text.starts_with(char::is_whitespace);
    let piece = text.steps.get(index).map(|step| step.piece.to_string());
    let ends_apart = joined.ends_with(char::is_whitespace);
    if !words.is_empty() && (ends_apart || piece.as_deref().is_some_and(is_apart)) {
        words.push(' ');
    }
    words
}

/// The cells of a row after the first two, in words.
struct Values {
    model: String,
    after: String,
    rank: String,
    coin: String,
    /// What the settings replaced, and whether it is a token.
    without: (String, bool),
}

impl Values {
    fn of(text: &Generation, index: usize, step: &Step) -> Self {
        let trace = &step.trace;
        let unknown = || "–".to_owned();
        let word = |token: TokenId| token_word(&text.vocabulary.piece(token));
        let rank = trace.known_rank();
        let coin = trace.draw.coin.or_else(|| coin_of(text, index));
        Self {
            model: trace.known_raw_prob().map_or_else(unknown, percent),
            after: match trace.known_draw_final() {
                FinalProb::Kept(prob) => percent(prob),
                FinalProb::Cut => "cut".to_owned(),
                FinalProb::Unknown => unknown(),
            },
            rank: rank.map_or_else(unknown, |rank| grouped(f64::from(rank))),
            coin: coin.map_or_else(unknown, |coin| format!("{coin:.3}")),
            without: match without_settings(text, index) {
                Some(WhatIf::Exact(token)) if token == step.token => ("the same".to_owned(), false),
                Some(WhatIf::Exact(token)) => (word(token), true),
                Some(WhatIf::Bounded(token)) => (format!("probably {}", word(token)), false),
                Some(WhatIf::Unrecorded) => ("one that was not recorded".to_owned(), false),
                None => (unknown(), false),
            },
        }
    }

    /// Returns the row for screen readers.
    fn spoken(&self, index: usize, step: &Step) -> String {
        let Self {
            model,
            after,
            rank,
            coin,
            without: (without, _),
        } = self;
        format!(
            "Token {}, {}, model {model}, after settings {after}, rank {rank}, coin {coin}, without \
             the settings {without}",
            index + 1,
            token_word(&step.piece)
        )
    }
}

/// The widths of the columns.
#[derive(Debug, Clone, Copy)]
struct Columns {
    /// The width of the token in its place.
    place: f32,
    last: f32,
}

impl Columns {
    /// The widths of the first column, and of those between the second and the last one.
    const NUMBER: f32 = 64.0;
    const MIDDLE: [f32; 4] = [92.0, 100.0, 60.0, 72.0];

    /// Splits this width.
    fn of(width: f32) -> Self {
        let fixed = Self::NUMBER + Self::MIDDLE.iter().sum::<f32>();
        let free = (width - fixed).max(0.0);
        let place = (free * 0.55).min(420.0);
        Self {
            place,
            last: free - place,
        }
    }

    /// Returns the cells of a row, without the space between them.
    fn cells(self, row: Rect) -> [Rect; COLUMNS.len()] {
        let [model, after, rank, coin] = Self::MIDDLE;
        let widths = [
            Self::NUMBER,
            self.place,
            model,
            after,
            rank,
            coin,
            self.last,
        ];
        let mut left = row.left() + INDENT;
        widths.map(|width| {
            let cell = Rect::from_min_size(
                pos2(left, row.top()),
                vec2((width - 10.0).max(0.0), row.height()),
            );
            left += width;
            cell
        })
    }
}

/// Paints words in the middle of a cell.
fn small(ui: &Ui, cell: Rect, words: &str, color: Color32) {
    put(ui, line(ui, words, Face::Small, cell.width()), cell, color);
}
