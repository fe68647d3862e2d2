//! The X-ray: one step as a table, a row a candidate and a column a stage, and below it the bar on
//! which the coin falls.

mod coin_bar;
mod columns;
mod rows;
mod words;

use egui::{Rect, Ui, pos2, vec2};

use self::coin_bar::coin_bar_ui;
use self::columns::{Columns, feet_ui, heads_ui};
use self::rows::rows_ui;
use super::fonts::Face;
use super::part::part;
use super::theme::Theme;
use crate::analysis::xray::XrayTable;
use crate::decoding::{ChainConfig, TokenId};
use crate::generation::Piece;
use crate::state::{AppState, Command};

/// The heights of the heads, a row, the feet, and the coin bar with its sentence.
const HEADS: f32 = 24.0;
const ROW: f32 = 18.0;
const FEET: f32 = 18.0;
const COIN_BAR: f32 = 46.0;

/// A table, and what is needed to draw it.
pub(super) struct Xray<'a> {
    /// What is drawn.
    pub table: &'a XrayTable,
    /// The place of the pane that it is about, which gives its colour.
    pub pane: usize,
    /// What a token stands for.
    pub piece: &'a dyn Fn(TokenId) -> Piece,
    /// What was written at this step, where the table shows what would have been.
    pub written: Option<TokenId>,
    /// Whether the coin can be moved.
    pub coin_moves: bool,
    /// Which step of which pane it is; where another comes, the chosen candidate is scrolled to.
    pub step: (u32, usize),
}

/// What the user did.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct XrayResponse {
    /// Pressed the eye of the stage at this place in the chain.
    pub toggled: Option<usize>,
    /// Put the coin here.
    pub coin: Option<f64>,
}

/// Shows the step that is pinned, or the newest.
pub(super) fn xray_ui(ui: &mut Ui, body: Rect, state: &AppState, commands: &mut Vec<Command>) {
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
            "How a token was chosen stands here once there is one: the newest, or the one that you click.",
        );
    };
    let chain = &pane.settings.chain;
    if let Err(error) = chain.validate() {
        return sentence_ui(ui, inside, &error.to_string());
    }
    let seed = state.seed_of(pane);
    let Some(table) = XrayTable::of(generation, index, chain, seed) else {
        return sentence_ui(ui, inside, "What was seen at this token was not recorded.");
    };
    let response = table_ui(
        ui,
        inside,
        &Xray {
            table: &table,
            pane: place,
            piece: &|token| generation.vocabulary.piece(token),
            written: table.what_if.then_some(step.token),
            coin_moves: false,
            step: (pane.id.0, index),
        },
    );
    if let Some(index) = response.toggled {
        commands.push(Command::SetChain(pane.id, toggled(chain, index)));
    }
}

/// The chain with the stage at this place switched off, or on again.
pub(super) fn toggled(chain: &ChainConfig, index: usize) -> ChainConfig {
    let mut chain = chain.clone();
    if let Some(stage) = chain.stages.get_mut(index) {
        stage.enabled = !stage.enabled;
    }
    chain
}

/// A sentence where there is no table.
pub(super) fn sentence_ui(ui: &mut Ui, rect: Rect, sentence: &str) {
    let mut ui = part(ui, rect, "x-ray sentence");
    ui.add_space(4.0);
    let text = Face::Small.text(sentence).color(Theme::of(&ui).text_3);
    ui.add(egui::Label::new(text).wrap());
}

/// Draws the table and the bar below it.
pub(super) fn table_ui(ui: &mut Ui, rect: Rect, xray: &Xray<'_>) -> XrayResponse {
    let columns = Columns::of(ui, rect.width(), xray);
    // Whole rows, so that none is half seen.
    let room = rect.height() - HEADS - FEET - COIN_BAR;
    let n_rows = (room / ROW)
        .floor()
        .clamp(2.0, xray.table.rows.len().max(2) as f32);
    let rows = Rect::from_min_size(
        pos2(rect.left(), rect.top() + HEADS),
        vec2(rect.width(), n_rows * ROW),
    );
    let at_top = |top: f32, height: f32| {
        Rect::from_min_size(pos2(rect.left(), top), vec2(rect.width(), height))
    };
    let scrolled = rows_ui(&mut part(ui, rows, "x-ray rows"), xray, &columns);
    let mut heads = part(ui, at_top(rect.top(), HEADS), "x-ray heads");
    let toggled = heads_ui(&mut heads, xray, &columns, scrolled);
    let mut feet = part(ui, at_top(rows.bottom(), FEET), "x-ray feet");
    feet_ui(&mut feet, xray, &columns, scrolled);
    let mut bar = part(ui, at_top(rows.bottom() + FEET, COIN_BAR), "x-ray coin");
    let coin = coin_bar_ui(&mut bar, xray, columns.names);
    XrayResponse { toggled, coin }
}
