//! Which columns the X-ray shows: the stages without effect are folded into one.

use egui::Ui;

use super::Xray;
use crate::analysis::xray::{XrayColumn, XrayPlace};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::Chip;

/// The minimum number of neutral stages to fold: a single one takes no more space than the column
/// that would replace it.
const MIN_FOLDED: usize = 2;

/// A column on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ShownColumn {
    /// The logits before the chain.
    Score,
    /// The column of the table at this index.
    Table(usize),
    /// The neutral stages, by their index in the table.
    Neutral { stages: Vec<usize>, folded: bool },
}

/// Which stages were neutral when the pointer was last up. A stage whose slider passes its neutral
/// value must not fold while it is dragged.
#[derive(Debug, Clone, Default, PartialEq)]
struct Folding {
    /// The id of the pane and the number of columns that this applies to.
    table: (u32, usize),
    neutral: Vec<usize>,
    unfolded: bool,
}

/// Returns the columns to show, from left to right.
pub(super) fn shown_columns(ui: &Ui, xray: &Xray<'_>) -> Vec<ShownColumn> {
    let id = folding_id(ui);
    let columns = &xray.table.columns;
    let mut folding: Folding = ui.data(|data| data.get_temp(id).unwrap_or_default());
    let table = (xray.step.0, columns.len());
    if folding.table != table || !ui.input(|input| input.pointer.any_down()) {
        let neutral = columns.iter().enumerate();
        let neutral = neutral.filter(|(_, column)| is_neutral(column));
        folding.neutral = neutral.map(|(index, _)| index).collect();
        folding.table = table;
        ui.data_mut(|data| data.insert_temp(id, folding.clone()));
    }
    let Folding {
        neutral, unfolded, ..
    } = folding;
    let can_fold = neutral.len() >= MIN_FOLDED;
    let mut shown = vec![ShownColumn::Score];
    let in_table =
        (0..columns.len()).filter(|index| unfolded || !can_fold || !neutral.contains(index));
    shown.extend(in_table.map(ShownColumn::Table));
    if can_fold {
        // After the softmax, so that the button stays in view when the columns overflow.
        let place = shown.len().min(2);
        let folded = !unfolded;
        let stages = neutral;
        shown.insert(place, ShownColumn::Neutral { stages, folded });
    }
    shown
}

/// Returns whether the column's stage is on and changes nothing.
fn is_neutral(column: &XrayColumn) -> bool {
    matches!(&column.at, XrayPlace::Stage { stage, .. }
        if stage.enabled && stage.filter.is_neutral())
}

/// Returns the label of the folded column's button.
pub(super) fn fold_label(n_stages: usize, folded: bool) -> String {
    if folded {
        format!("{n_stages} neutral")
    } else {
        "Fold neutral".to_owned()
    }
}

/// Returns the width of the folded column.
pub(super) fn fold_width(ui: &Ui, n_stages: usize, folded: bool) -> f32 {
    Face::Small.width(ui, &fold_label(n_stages, folded)) + 24.0
}

/// Draws the button that folds and unfolds the neutral stages, in place of a column's head. Returns
/// whether it was clicked.
pub(super) fn fold_ui(ui: &mut Ui, xray: &Xray<'_>, stages: &[usize], folded: bool) -> bool {
    let label = fold_label(stages.len(), folded);
    let verb = if folded { "Show" } else { "Fold" };
    let name = format!("{verb} {} neutral stages", stages.len());
    let names: Vec<&str> = stages
        .iter()
        .filter_map(|index| match &xray.table.columns.get(*index)?.at {
            XrayPlace::Stage { stage, .. } => Some(stage.filter.name()),
            _ => None,
        })
        .collect();
    let tip = format!("These change nothing here: {}", names.join(", "));
    if xray.is_picture {
        ui.label(Face::Small.text(label).color(Theme::of(ui).text_3));
        return false;
    }
    let chip = Chip::new(&label).name(&name).quiet();
    ui.add(chip).on_hover_text(tip).clicked()
}

/// Folds or unfolds the neutral stages of the table drawn in `table_ui`.
pub(super) fn toggle_folding(table_ui: &Ui) {
    let id = folding_id(table_ui);
    table_ui.data_mut(|data| {
        let folding: &mut Folding = data.get_temp_mut_or_default(id);
        folding.unfolded = !folding.unfolded;
    });
}

fn folding_id(table_ui: &Ui) -> egui::Id {
    table_ui.scope_id().with("folding")
}
