//! The X-ray: one step as a table with a row per candidate and a column per stage, and below it the
//! bar on which the coin falls.

mod coin_bar;
mod columns;
mod fitting;
mod folding;
mod hidden;
mod labels;
mod rows;
#[cfg(test)]
mod tests;

use egui::{Rect, Ui, pos2, vec2};

use self::coin_bar::{CoinResponse, coin_bar_ui};
use self::columns::{Columns, HeadClick, feet_ui, heads_ui};
use self::fitting::{Fit, Line};
use self::folding::toggle_folding;
use self::hidden::Unfolded;
use self::rows::{RowsFrame, rows_ui};
use super::figures::step_table;
use super::why::{split, why_ui};
use crate::analysis::xray::XrayTable;
use crate::decoding::{ChainConfig, TokenId};
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::generation::Piece;
use crate::state::{AppState, Command};

/// The heights of the column heads and of the column feet.
pub(crate) const HEADS: f32 = 24.0;
const FEET: f32 = 18.0;

/// The heights of what a table consists of, in points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Heights {
    /// A row.
    pub row: f32,
    /// The bar of a probability.
    pub bar: f32,
    /// The bar on which the coin falls, without the sentence above it.
    pub coin: f32,
    /// The space between the feet and that sentence.
    pub gap: f32,
}

impl Heights {
    /// Those of a table in the dock, in a picture or on the page of a step.
    pub(crate) const USUAL: Self = Self {
        row: 18.0,
        bar: 10.0,
        coin: 18.0,
        gap: 0.0,
    };

    /// The height of a row in a table that has a page to itself.
    const LARGE_ROW: f32 = 48.0;

    /// Returns those of a table with this many rows that has a page of this height to itself.
    pub(crate) fn filling(height: f32, n_rows: usize) -> Self {
        let (coin, gap) = (40.0, 14.0);
        let room = height - HEADS - FEET - COIN_SENTENCE - coin - gap;
        let row = room / n_rows.max(1) as f32;
        if row < Self::USUAL.row {
            return Self::USUAL;
        }
        let row = row.floor().min(Self::LARGE_ROW);
        Self {
            row,
            bar: if row >= 32.0 { 18.0 } else { Self::USUAL.bar },
            coin,
            gap,
        }
    }

    /// The coin's bar with its sentence and the gap above it.
    const fn coin_bar(self) -> f32 {
        self.gap + COIN_SENTENCE + self.coin
    }
}

/// The height of the sentence above the coin's bar, with the space below the bar.
const COIN_SENTENCE: f32 = 28.0;

/// The room for the horizontal scroll bar below the rows.
const SCROLL_BAR: f32 = 8.0;

/// A table of one step, and everything needed to draw it.
pub(crate) struct Xray<'a> {
    pub table: &'a XrayTable,
    /// The index of the pane, which determines the color.
    pub pane: usize,
    /// Looks up the text of a token.
    pub piece: &'a dyn Fn(TokenId) -> Piece,
    /// The token that was generated, if the table shows what other settings would do.
    pub generated: Option<TokenId>,
    /// Whether the user can move the coin.
    pub coin_draggable: bool,
    /// Whether a press on the coin's bar draws many times.
    pub can_draw: bool,
    /// Whether it is drawn for a picture, without buttons.
    pub is_picture: bool,
    pub heights: Heights,
    /// The pane's id and the step. When they change, the table hides what does not fit again.
    pub step: (u32, usize),
}

/// How the user interacted with the table.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct XrayResponse {
    /// The index in the chain of the stage to mute or unmute.
    pub toggled: Option<usize>,
    /// Where the user moved the coin to, from 0 to 1.
    pub coin: Option<f64>,
    /// Whether the user asked for many draws.
    pub drawn: bool,
}

/// Shows the pinned step, or the latest one.
pub(super) fn xray_ui(ui: &mut Ui, body: Rect, state: &AppState, commands: &mut Vec<Command>) {
    let (body, card) = split(body);
    let inside = Rect::from_min_max(body.min + vec2(14.0, 6.0), body.max - vec2(14.0, 8.0));
    let shown = state.shown_step().and_then(|(place, index)| {
        let pane = state.panes.get(place)?;
        let generation = pane.generation()?;
        Some((place, index, pane, generation, generation.steps.get(index)?))
    });
    let Some((place, index, pane, generation, step)) = shown else {
        return sentence_ui(
            ui,
            inside,
            "Generate text to see how its latest token was sampled, or click any token",
        );
    };
    if let Some(card) = card {
        why_ui(ui, card, state, commands);
    }
    let chain = &pane.settings.chain;
    if let Err(error) = chain.validate() {
        return sentence_ui(ui, inside, &error.to_string());
    }
    let seed = state.seed_of(pane);
    let Some(table) = step_table(ui.ctx(), generation, index, chain, seed) else {
        return sentence_ui(
            ui,
            inside,
            "The probabilities of this token were not recorded",
        );
    };
    let response = table_ui(
        ui,
        inside,
        &Xray {
            table: &table,
            pane: place,
            piece: &|token| generation.vocabulary.piece(token),
            generated: table.what_if.then_some(step.token),
            coin_draggable: false,
            can_draw: !table.what_if && step.trace.draw.coin.is_some(),
            is_picture: false,
            heights: Heights::USUAL,
            step: (pane.id.0, index),
        },
    );
    if let Some(index) = response.toggled {
        commands.push(Command::SetChain(pane.id, toggled(chain, index)));
    }
    if response.drawn {
        commands.push(Command::DrawStep);
    }
}

/// Returns the chain with the stage at this index muted or unmuted.
pub(crate) fn toggled(chain: &ChainConfig, index: usize) -> ChainConfig {
    let mut chain = chain.clone();
    if let Some(stage) = chain.stages.get_mut(index) {
        stage.enabled = !stage.enabled;
    }
    chain
}

/// Shows a sentence in place of the table.
pub(crate) fn sentence_ui(ui: &mut Ui, rect: Rect, sentence: &str) {
    let mut ui = child_ui(ui, rect, "x-ray sentence");
    ui.add_space(4.0);
    let text = Face::Small.text(sentence).color(Theme::of(&ui).text_3);
    ui.add(egui::Label::new(text).wrap());
}

/// Returns the height of a table with this many rows and its coin bar.
pub(super) fn table_height(n_rows: usize) -> f32 {
    let heights = Heights::USUAL;
    HEADS + n_rows as f32 * heights.row + FEET + heights.coin_bar()
}

/// Draws the table and the coin bar below it, as far as they fit.
pub(crate) fn table_ui(ui: &mut Ui, rect: Rect, xray: &Xray<'_>) -> XrayResponse {
    let n_rows = xray.table.rows.len();
    let chosen = xray.table.rows.iter().position(|row| row.chosen);
    let Heights { row, .. } = xray.heights;
    let fit = |height: f32| Fit::of(height, n_rows, xray.coin_draggable, xray.heights);
    let lines = fit(rect.height()).lines(n_rows, chosen);
    // Where rows are skipped, their ranks say so.
    let is_skipping = !matches!(lines.last(), Some(Line::Hidden));
    let has_ranks =
        lines.contains(&Line::Hidden) && (is_skipping || Unfolded::of(ui, xray).is_some());
    let columns = Columns::of(ui, rect.width(), xray, has_ranks);
    let is_scrolled_sideways = columns.width() > rect.width() && !xray.is_picture;
    let scroll_bar = if is_scrolled_sideways {
        SCROLL_BAR
    } else {
        0.0
    };
    let fit = fit(rect.height() - scroll_bar);
    let rows = Rect::from_min_size(
        pos2(rect.left(), rect.top() + HEADS),
        vec2(rect.width(), fit.n_lines as f32 * row),
    );
    let at_top = |top: f32, height: f32| {
        Rect::from_min_size(pos2(rect.left(), top), vec2(rect.width(), height))
    };
    let frame = RowsFrame {
        rect: rows,
        fit,
        scroll_bar,
    };
    let scrolled = rows_ui(ui, xray, &columns, frame);
    let mut heads = child_ui(ui, at_top(rect.top(), HEADS), "x-ray heads");
    let clicked = heads_ui(&mut heads, xray, &columns, scrolled);
    if clicked == Some(HeadClick::Fold) {
        toggle_folding(ui);
    }
    let mut bottom = rows.bottom() + scroll_bar;
    if fit.has_feet {
        let mut feet = child_ui(ui, at_top(bottom, FEET), "x-ray feet");
        feet_ui(&mut feet, xray, &columns, scrolled);
        bottom += FEET;
    }
    let mut coin = CoinResponse::default();
    if fit.has_coin {
        let Heights { gap, .. } = xray.heights;
        let area = at_top(bottom + gap, xray.heights.coin_bar() - gap);
        let mut bar = child_ui(ui, area, "x-ray coin");
        coin = coin_bar_ui(&mut bar, xray, columns.names);
    }
    let toggled = match clicked {
        Some(HeadClick::Mute(index)) => Some(index),
        Some(HeadClick::Fold) | None => None,
    };
    XrayResponse {
        toggled,
        coin: coin.moved,
        drawn: coin.drawn,
    }
}
