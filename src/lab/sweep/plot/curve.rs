//! A metric over the values of one number: the mean, and the band from the 10th to the 90th percentile.

use egui::{Align2, Color32, Rect, Role, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2};

use crate::analysis::sweep::{Metric, Summary, SweepResults};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::plots::{
    Axes, MapResponse, PicturePlot, Scale, Target, TextRun, paint_text, paint_text_within,
};

const TITLE: f32 = 26.0;

/// How far from a point a click selects it.
const REACH: f32 = 14.0;

/// A metric as one number varies.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Curve {
    pub title: String,
    pub subtitle: String,
    /// What is varied, its values and their labels.
    pub name: String,
    pub values: Vec<(f64, String)>,
    /// The figure at each value; `None` if it is not known yet.
    pub summaries: Vec<Option<Summary>>,
    /// A sentence about each value.
    pub sentences: Vec<String>,
    /// The top of the vertical axis.
    pub most: f64,
}

impl Curve {
    /// Returns the curve of a metric.
    pub(crate) fn of(results: &SweepResults, metric: Metric) -> Self {
        let rows = &results.setup.rows;
        let cells = results.cells().iter();
        let summaries: Vec<Option<Summary>> = cells.map(|cell| cell.summary(metric)).collect();
        let tops = summaries.iter().flatten().map(|summary| summary.high);
        let is_share = results.scale(metric) == Some([0.0, 1.0]);
        let spread = match metric {
            Metric::Similarity
            | Metric::Word
            | Metric::Loops
            | Metric::Ended
            | Metric::Complete => "",
            _ => "; the band spans the 10th to the 90th percentile",
        };
        Self {
            title: results.title(metric),
            subtitle: format!("{}{spread}", metric.explanation()),
            name: rows.parameter.name(),
            values: rows.values().iter().copied().zip(rows.labels()).collect(),
            sentences: (0..summaries.len())
                .map(|cell| results.sentence(cell, metric))
                .collect(),
            most: if is_share {
                1.0
            } else {
                tops.fold(0.0, f64::max)
            },
            summaries: match spread {
                // Each text either counts or not, so a band around a share of texts would say
                // nothing.
                "" => summaries
                    .into_iter()
                    .map(|s| s.map(without_spread))
                    .collect(),
                _ => summaries,
            },
        }
    }
}

fn without_spread(summary: Summary) -> Summary {
    Summary {
        low: summary.mean,
        high: summary.mean,
        ..summary
    }
}

/// Shows a curve in this rectangle. `selected` is marked. In a picture, nothing can be clicked.
pub(crate) fn curve_ui(
    ui: &Ui,
    rect: Rect,
    curve: &Curve,
    selected: Option<usize>,
    target: Target,
) -> MapResponse {
    let theme = Theme::of(ui);
    let middle = rect.top() + 9.0;
    let run = TextRun::new(&curve.title, Face::SmallMedium, theme.text_1);
    let title = paint_text(ui, pos2(rect.left(), middle), Align2::LEFT_CENTER, run);
    let left = title.right() + 8.0;
    let run = TextRun::new(&curve.subtitle, Face::Small, theme.text_3);
    let at = pos2(left, middle);
    paint_text_within(ui, at, Align2::LEFT_CENTER, run, rect.right() - left);
    let axes = Axes::new(
        rect.with_min_y(rect.top() + TITLE),
        Scale::of(curve.values.clone()),
        Scale::from_zero(curve.most),
    );
    let known: Vec<(usize, f64, Summary)> = curve
        .values
        .iter()
        .zip(&curve.summaries)
        .enumerate()
        .filter_map(|(cell, ((value, _), summary))| Some((cell, *value, (*summary)?)))
        .collect();
    for pair in known.windows(2) {
        if let [(_, x0, from), (_, x1, to)] = pair {
            // A little overlap, so that no seam shows between two parts of the band.
            let overlap = vec2(0.5, 0.0);
            let corners = vec![
                axes.at(*x0, from.high),
                axes.at(*x1, to.high) + overlap,
                axes.at(*x1, to.low) + overlap,
                axes.at(*x0, from.low),
            ];
            let band = Shape::convex_polygon(corners, theme.surface_3, Stroke::NONE);
            ui.painter().add(band);
        }
    }
    axes.paint(ui, &curve.name.to_lowercase());
    let means: Vec<_> = known.iter().map(|(_, x, s)| axes.at(*x, s.mean)).collect();
    ui.painter().line(means, Stroke::new(2.0, theme.text_1));
    let mut response = MapResponse::default();
    for (cell, x, summary) in &known {
        let center = axes.at(*x, summary.mean);
        ui.painter().circle_filled(center, 3.5, theme.text_1);
        if selected == Some(*cell) {
            ui.painter()
                .circle_stroke(center, 7.0, Stroke::new(2.0, theme.text_1));
        }
        if target == Target::Screen {
            let here = Rect::from_center_size(center, vec2(REACH, REACH) * 2.0);
            let id = ui.scope_id().with((&curve.title, cell));
            let point = ui.interact(here, id, Sense::CLICK | Sense::HOVER);
            point.widget_info(|| {
                let sentence = curve.sentences.get(*cell).map_or("", String::as_str);
                WidgetInfo::selected(Role::Cell, true, selected == Some(*cell), sentence)
            });
            if point.hovered() {
                response.hovered = Some(*cell);
            }
            if point.clicked() {
                response.clicked = Some(*cell);
            }
        }
    }
    response
}

impl PicturePlot for Curve {
    fn title(&self) -> &str {
        &self.title
    }

    fn default_size(&self) -> [f32; 2] {
        [720.0, 420.0]
    }

    fn draw(&self, ui: &mut Ui, _paper: Color32) {
        curve_ui(ui, ui.max_rect(), self, None, Target::Picture);
    }
}
