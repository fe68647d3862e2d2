//! How far a text stays the same as two numbers vary: a fine grid, colored by the first token that
//! differs, with a dot if the record only yields a lower bound.

use egui::{Align2, Color32, Pos2, Rect, Stroke, StrokeKind, Ui, pos2, vec2};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, paint_badge};
use crate::generation::formatting::grouped;
use crate::lab::stability::figures::{Stability, StabilityMap};
use crate::plots::{
    FineGrid, MapResponse, PicturePlot, Target, TextRun, heat_legend, paint_text, paint_text_within,
};

const TITLE: f32 = 26.0;
const LEFT: f32 = 34.0;
const BELOW: f32 = 42.0;

/// A map, and what to mark in it.
#[derive(Debug, Clone, Copy)]
pub struct StabilityPlot<'a> {
    pub map: &'a StabilityMap,
    /// The number of tokens that can stay the same: those of the text, or 1 for a held token.
    pub n_tokens: usize,
    /// The held token in quotes, if only its choice is mapped.
    pub token: Option<&'a str>,
    /// The index of its pane, if it still exists.
    pub pane: Option<usize>,
    /// The selected cell, and what it means.
    pub selected: Option<(usize, &'a str)>,
}

/// Returns the step of the color ramp for a number of tokens that stay the same. Each step stands
/// for twice as many tokens as the one before: 0, 1, 3, 7 and so on. The last is for the whole
/// text.
fn step_of(stability: Stability, n_tokens: usize) -> usize {
    if stability.n_same >= n_tokens {
        return Theme::N_HEAT - 1;
    }
    let doublings = (stability.n_same + 1).ilog2() as usize;
    doublings.min(Theme::N_HEAT - 2)
}

/// Returns the part of a map's rectangle that its cells take.
pub(super) fn grid_rect(rect: Rect) -> Rect {
    Rect::from_min_max(rect.min + vec2(LEFT, TITLE), rect.max - vec2(2.0, BELOW))
}

/// Shows a map in this rectangle. In a picture, nothing can be clicked.
pub(crate) fn stability_ui(
    ui: &Ui,
    rect: Rect,
    plot: StabilityPlot<'_>,
    target: Target,
) -> MapResponse {
    let theme = Theme::of(ui);
    title_ui(ui, rect, plot);
    let area = grid_rect(rect);
    let map = plot.map;
    let grid = FineGrid::new(area, [&map.rows, &map.columns]);
    paint_cells(ui, &grid, plot);
    let meaning = match map.held() {
        Some(_) => "unknown",
        None => "lower bound",
    };
    let bounded = match map.n_bounded() {
        0 => String::new(),
        n => format!(
            "     dot: {meaning} ({} of {} cells)",
            grouped(n as f64),
            grouped(map.n_done() as f64)
        ),
    };
    grid.paint_labels(ui, rect, &bounded);
    let own = plot.map.own_cell();
    if let (Some(cell), Some(pane)) = (own, plot.pane) {
        let ring = grid.cell(cell).expand(2.0);
        ui.painter()
            .rect_stroke(ring, 2, Stroke::new(2.0, theme.text_1), StrokeKind::Outside);
        let center = pos2(ring.center().x, ring.top() - 4.0 - SMALL_BADGE / 2.0);
        let badge = Rect::from_center_size(center, vec2(SMALL_BADGE, SMALL_BADGE));
        paint_badge(ui.painter(), theme, badge, pane);
    }
    if target == Target::Picture {
        return MapResponse::default();
    }
    if let Some((cell, _)) = plot.selected {
        grid.paint_selected(ui, cell);
    }
    let words = plot.selected.map_or("", |(_, words)| words);
    let title = match plot.map.held() {
        Some(step) => format!("Choice of token {}", step + 1),
        None => "Divergence".to_owned(),
    };
    grid.response(ui, &format!("{title}. {words}"))
}

fn title_ui(ui: &Ui, rect: Rect, plot: StabilityPlot<'_>) {
    let theme = Theme::of(ui);
    let middle = rect.top() + 9.0;
    let legend = if let Some(token) = plot.token {
        choice_legend(ui, pos2(rect.right(), middle), token)
    } else {
        let most = format!("{}, doubling", grouped(plot.n_tokens as f64));
        heat_legend(ui, pos2(rect.right(), middle), &["0".to_owned(), most])
    };
    let number = plot.map.held().map_or(0, |step| step + 1);
    let title = match plot.token {
        Some(_) => format!("Choice of token {number}"),
        None => "Divergence".to_owned(),
    };
    let run = TextRun::new(&title, Face::SmallMedium, theme.text_1);
    let title = paint_text(ui, pos2(rect.left(), middle), Align2::LEFT_CENTER, run);
    let map = plot.map;
    let (done, all) = (map.n_done(), map.n_cells());
    let words = if done < all {
        let (done, all) = (grouped(done as f64), grouped(all as f64));
        let what = if plot.token.is_some() {
            "with the preceding tokens unchanged"
        } else {
            "tokens that stay the same"
        };
        format!("{what}, {done} of {all} cells")
    } else if plot.token.is_some() {
        "with the preceding tokens unchanged".to_owned()
    } else {
        "tokens that stay the same under other settings".to_owned()
    };
    let left = title.right() + 8.0;
    let run = TextRun::new(&words, Face::Small, theme.text_3);
    let room = legend.left() - 12.0 - left;
    paint_text_within(ui, pos2(left, middle), Align2::LEFT_CENTER, run, room);
}

/// Draws the legend of a choice, right-aligned at a point. Returns its rectangle.
fn choice_legend(ui: &Ui, right_center: Pos2, token: &str) -> Rect {
    let theme = Theme::of(ui);
    let mut at = right_center;
    let mut all = Rect::from_min_max(at, at);
    let entries = [
        (Theme::N_HEAT - 1, format!("stays {token}")),
        (0, "another token".to_owned()),
    ];
    for (step, words) in entries {
        let run = TextRun::new(&words, Face::Micro, theme.text_3);
        let label = paint_text(ui, at, Align2::RIGHT_CENTER, run);
        let center = pos2(label.left() - 10.0, at.y);
        let swatch = Rect::from_center_size(center, vec2(9.0, 9.0));
        ui.painter().rect_filled(swatch, 2, theme.heat(step));
        let edge = Stroke::new(1.0, theme.stroke_2);
        ui.painter()
            .rect_stroke(swatch, 2, edge, StrokeKind::Inside);
        all = all.union(label).union(swatch);
        at.x = swatch.left() - 12.0;
    }
    all
}

/// Whether the record can't tell if the held token stays.
const fn is_unknown(plot: StabilityPlot<'_>, stability: Stability) -> bool {
    plot.map.held().is_some() && !stability.exact
}

/// Paints the cells, and a dot on those that are lower bounds.
fn paint_cells(ui: &Ui, grid: &FineGrid<'_>, plot: StabilityPlot<'_>) {
    let theme = Theme::of(ui);
    grid.paint_cells(ui, |cell| {
        let stability = plot.map.shown(cell)?;
        Some(if is_unknown(plot, stability) {
            theme.surface_4
        } else {
            theme.heat(step_of(stability, plot.n_tokens))
        })
    });
    for cell in (0..plot.map.n_cells()).filter(|cell| plot.map.is_known(*cell)) {
        if let Some(stability) = plot.map.shown(cell).filter(|known| !known.exact) {
            let ink = if is_unknown(plot, stability) {
                theme.text_3
            } else {
                theme.heat_ink(step_of(stability, plot.n_tokens))
            };
            ui.painter()
                .circle_filled(grid.cell(cell).center(), 1.0, ink);
        }
    }
}

impl PicturePlot for StabilityPlot<'_> {
    fn title(&self) -> &'static str {
        "Divergence"
    }

    fn default_size(&self) -> [f32; 2] {
        [720.0, 760.0]
    }

    fn draw(&self, ui: &mut Ui, _paper: Color32) {
        stability_ui(ui, ui.max_rect(), *self, Target::Picture);
    }
}

#[cfg(test)]
mod tests {
    use super::step_of;
    use crate::lab::stability::figures::Stability;

    #[test]
    fn colors_double_and_the_last_is_the_whole_text() {
        let step = |n_same| {
            step_of(
                Stability {
                    n_same,
                    exact: true,
                },
                190,
            )
        };
        let steps: Vec<usize> = [0, 1, 2, 3, 6, 7, 127, 189, 190].map(step).to_vec();
        assert_eq!(steps, [0, 1, 1, 2, 2, 3, 7, 7, 8]);
        let long = Stability {
            n_same: 999,
            exact: true,
        };
        assert_eq!(step_of(long, 1000), 7);
    }
}
