//! What the tab shows before the first sweep: the picture that will come, without its values.

use egui::{Rect, Ui, vec2};

use super::pictures::fitted;
use crate::analysis::sweep::{Axis, Metric, SweepResults, positions};
use crate::design::child_ui::child_ui;
use crate::generation::formatting::{counted, pane_letter};
use crate::lab::frame::{Columns, empty};
use crate::lab::sweep::plot::{Curve, Mark, SweepMap, curve_ui, map_ui};
use crate::lab::sweep::state::{sweep_prompts, sweep_setup};
use crate::plots::Target;
use crate::state::AppState;

/// Draws both columns.
pub(super) fn empty_ui(ui: &mut Ui, columns: Columns, state: &AppState) {
    empty::texts_ui(ui, columns.right, "The texts of the cell you select");
    let Ok(setup) = sweep_setup(state) else {
        let words = "Choose one or two numbers to vary, and run the sweep.";
        return empty::about_ui(ui, columns.middle, words);
    };
    let keep = state.lab.sweep.form.keep;
    let results = SweepResults::new(setup, sweep_prompts(state).len(), keep);
    let marks = marks(&results, state);
    let area = fitted(columns.middle, &results);
    let metric = state.lab.sweep.metric;
    let what = if results.setup.columns.is_some() {
        "One cell for each pair"
    } else {
        "One point for each value"
    };
    picture_ui(
        &mut child_ui(ui, area, "empty"),
        area,
        &results,
        (metric, &marks),
    );
    let texts = counted(results.n_texts_per_cell(), "text");
    let words = format!("{what}, {texts} in each.{}", marks_words(&marks));
    let row = Rect::from_center_size(
        area.left_top() + area.size() * vec2(0.5, 0.76),
        vec2(area.width(), 0.0),
    );
    empty::about_ui(ui, row, &words);
}

fn picture_ui(ui: &mut Ui, area: Rect, results: &SweepResults, (metric, marks): (Metric, &[Mark])) {
    if results.setup.columns.is_some() {
        let map = SweepMap {
            marks: marks.to_vec(),
            ends: ["least".to_owned(), "most".to_owned()],
            ..SweepMap::of(results, metric)
        };
        // Nothing can be selected yet.
        map_ui(ui, area, &map, None, Target::Picture);
    } else {
        let curve = Curve::of(results, metric);
        curve_ui(ui, area, &curve, None, Target::Picture);
    }
}

/// Returns the panes that the sweep will have on its map.
fn marks(results: &SweepResults, state: &AppState) -> Vec<Mark> {
    let setup = &results.setup;
    let Some(columns) = &setup.columns else {
        return Vec::new();
    };
    let axes: [&Axis; 2] = [&setup.rows, columns];
    let panes = state.panes.placed();
    let on_map = panes.filter_map(|(pane, settings)| {
        let at = positions(&axes, &setup.base, &settings.settings.chain)?;
        let at = <[f64; 2]>::try_from(at).ok()?;
        Some(Mark { pane, at })
    });
    on_map.collect()
}

/// " B and D mark your panes’ settings."
fn marks_words(marks: &[Mark]) -> String {
    let letters: Vec<String> = marks.iter().map(|mark| pane_letter(mark.pane)).collect();
    match letters.as_slice() {
        [] => String::new(),
        [one] => format!(" {one} marks the settings of that pane."),
        [first @ .., last] => {
            let first = first.join(", ");
            format!(" {first} and {last} mark your panes’ settings.")
        }
    }
}
