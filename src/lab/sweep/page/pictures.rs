//! The middle column: one picture in a narrow window, several in a wide one.

use egui::{Rect, Ui, pos2, vec2};

use crate::analysis::sweep::{Metric, SweepResults};
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::lab::sweep::picture::QUALITY_AND_DIVERSITY;
use crate::lab::sweep::plot::{Curve, Scatter, SweepMap, curve_ui, map_ui, scatter_ui};
use crate::plots::{MapResponse, Target};
use crate::state::AppState;

/// The figures that a wide window shows together.
const SIX: [Metric; 6] = [
    Metric::Surprise,
    Metric::Distinct2,
    Metric::Similarity,
    Metric::Greedy,
    Metric::Repetition,
    Metric::Entropy,
];

/// The gap between pictures, and how much of the height the maps take.
const GAP: f32 = 22.0;
const MAPS: f32 = 0.64;

/// The largest cell of a map, so that a small grid does not fill the window.
const MAX_CELL: egui::Vec2 = vec2(150.0, 78.0);

/// Draws the column. A click on a cell selects it.
pub(super) fn pictures_ui(ui: &mut Ui, is_wide: bool, state: &mut AppState) {
    let area = ui.max_rect();
    let Some(sweep) = state.lab.sweep.run.as_ref() else {
        return;
    };
    let results = &sweep.results;
    let selected = state.lab.sweep.shown_cell();
    let mut clicked = None;
    if is_wide {
        let (maps, below) = area.split_top_bottom_at_fraction(MAPS);
        for (place, metric) in shown_metrics(state.lab.sweep.metric, results)
            .into_iter()
            .enumerate()
        {
            let rect = grid_rect(maps.with_max_y(maps.bottom() - GAP), place);
            let mut ui = child_ui(ui, rect, metric.key());
            clicked = clicked.or(picture_ui(&mut ui, rect, results, metric, selected).clicked);
        }
        let (left, right) = below.split_left_right_at_fraction(0.56);
        let left = left.with_max_x(left.right() - GAP);
        let scatter = Scatter::of(results, QUALITY_AND_DIVERSITY);
        let ui = &mut child_ui(ui, below, "below");
        let response = scatter_ui(ui, left, &scatter, selected, Target::Screen);
        clicked = clicked.or(response.clicked);
        reading_ui(&mut child_ui(ui, right, "reading"), results);
    } else {
        let metric = state.lab.sweep.metric;
        clicked = picture_ui(ui, area, results, metric, selected).clicked;
    }
    if clicked.is_some() {
        state.lab.sweep.selected = clicked;
    }
}

/// Returns the six figures to show, including the chosen one, that of the word if one is counted,
/// and that of the grammar if the settings have one.
fn shown_metrics(chosen: Metric, results: &SweepResults) -> [Metric; 6] {
    let mut six = SIX;
    if results.word().is_some() {
        six[4] = Metric::Word;
    }
    if results.setup.base.grammar.is_some() {
        six[3] = Metric::Complete;
    }
    if !six.contains(&chosen) {
        six[5] = chosen;
    }
    six
}

/// Returns the rectangle of a picture in a grid of three columns and two rows.
fn grid_rect(area: Rect, place: usize) -> Rect {
    let size = vec2(
        (area.width() - 2.0 * GAP) / 3.0,
        (area.height() - GAP) / 2.0,
    );
    let at = vec2((place % 3) as f32, (place / 3) as f32) * (size + vec2(GAP, GAP));
    Rect::from_min_size(area.min + at, size)
}

/// Draws the map of a figure, or its curve if only one number is varied.
fn picture_ui(
    ui: &mut Ui,
    rect: Rect,
    results: &SweepResults,
    metric: Metric,
    selected: Option<usize>,
) -> MapResponse {
    let rect = fitted(rect, results);
    if results.setup.columns.is_some() {
        let map = SweepMap::of(results, metric);
        map_ui(ui, rect, &map, selected, Target::Screen)
    } else {
        let curve = Curve::of(results, metric);
        curve_ui(ui, rect, &curve, selected, Target::Screen)
    }
}

/// Returns the part of a rectangle that the picture takes if its cells are not too large.
pub(super) fn fitted(rect: Rect, results: &SweepResults) -> Rect {
    let setup = &results.setup;
    if setup.columns.is_none() {
        let height = rect.height().min(rect.width() * 0.75);
        return rect.with_max_y(rect.top() + height);
    }
    let n = vec2(setup.n_columns() as f32, setup.rows.values().len() as f32);
    let most = n * MAX_CELL + vec2(48.0, 72.0);
    Rect::from_min_size(rect.min, rect.size().min(most))
}

/// Says where the main figures are lowest and highest.
fn reading_ui(ui: &mut Ui, results: &SweepResults) {
    let theme = Theme::of(ui);
    let at = pos2(ui.max_rect().left(), ui.max_rect().top() + 9.0);
    let font = Face::SmallMedium.font();
    let title = "What this shows";
    ui.painter()
        .text(at, egui::Align2::LEFT_CENTER, title, font, theme.text_1);
    ui.add_space(26.0);
    for sentence in results.reading() {
        let words = Face::Why.text(sentence).color(theme.text_1);
        ui.add(egui::Label::new(words).wrap());
        ui.add_space(4.0);
    }
}
