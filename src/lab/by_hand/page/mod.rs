//! The By hand tab: editable logits on the left, an X-ray of a pane's chain applied to them in the
//! middle, and repeated draws on the right.

mod draws;
mod history;
mod scores;
mod setup;
mod tab;

use egui::{Rect, Ui};

pub(in crate::lab) use self::tab::TAB;

use self::draws::draws_ui;
use crate::analysis::xray::XrayTable;
use crate::design::child_ui::child_ui;
use crate::generation::Piece;
use crate::lab::frame::Columns;
use crate::state::{AppState, Command};
use crate::ui::xray::{Heights, Xray, sentence_ui, table_ui, toggled};

/// Draws the X-ray and the draws, with rows of the same height.
fn results_ui(ui: &mut Ui, columns: Columns, state: &mut AppState, commands: &mut Vec<Command>) {
    let Columns { middle, right, .. } = columns;
    let table = state.hand_table();
    let n_rows = table.as_ref().map_or(1, |table| table.rows.len());
    let heights = Heights::filling(middle.height(), n_rows);
    let shown = table.is_ok().then_some(heights);
    draws_ui(&mut child_ui(ui, right, "draws"), shown, state, commands);
    let mut area = child_ui(ui, middle, "x-ray");
    xray_ui(&mut area, middle, (&table, heights), state, commands);
}

fn xray_ui(
    ui: &mut Ui,
    rect: Rect,
    (table, heights): (&Result<XrayTable, String>, Heights),
    state: &mut AppState,
    commands: &mut Vec<Command>,
) {
    let table = match table {
        Ok(table) => table,
        Err(error) => return sentence_ui(ui, rect, error),
    };
    let place = state.hand_pane();
    let by_hand = &state.by_hand;
    let response = table_ui(
        ui,
        rect,
        &Xray {
            table,
            pane: place,
            piece: &|token| Piece::text(by_hand.label(token)),
            generated: None,
            coin_draggable: true,
            can_draw: false,
            is_picture: false,
            heights,
            step: (0, 0),
        },
    );
    if response.coin.is_some() {
        state.by_hand.coin = response.coin;
    }
    if let (Some(index), Some(pane)) = (response.toggled, state.panes.get(place)) {
        let chain = toggled(&pane.settings.chain, index);
        commands.push(Command::SetChain(pane.id, chain));
    }
}
