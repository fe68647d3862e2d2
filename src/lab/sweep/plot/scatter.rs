//! Two metrics against each other, one point per cell.

use egui::{Align2, Color32, Rect, Role, Sense, Stroke, Ui, Vec2, WidgetInfo, pos2};

use crate::analysis::sweep::{Metric, SweepResults};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::generation::in_sentence;
use crate::plots::{
    Axes, MapResponse, PicturePlot, Scale, Target, TextRun, heat_legend, heat_step, paint_text,
    paint_text_within,
};

const TITLE: f32 = 26.0;

/// The width of the clickable area around a point.
const REACH: f32 = 14.0;

/// Two metrics of every cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scatter {
    pub title: String,
    pub subtitle: String,
    /// The name of the horizontal axis.
    pub x_name: String,
    /// The cell, both values, and the place of its row on the scale from 0 to 1.
    pub points: Vec<(usize, [f64; 2], f64)>,
    pub sentences: Vec<String>,
    /// The ends of the color scale.
    pub ends: [String; 2],
    most: [f64; 2],
}

impl Scatter {
    /// Returns the points of the cells that have both metrics, colored by the value of their row.
    pub(crate) fn of(results: &SweepResults, [x, y]: [Metric; 2]) -> Self {
        let rows = &results.setup.rows;
        let n_columns = results.setup.n_columns();
        let last = rows.values().len().saturating_sub(1).max(1) as f64;
        let mut points = Vec::new();
        for (index, cell) in results.cells().iter().enumerate() {
            if let (Some(x), Some(y)) = (cell.summary(x), cell.summary(y)) {
                let place = (index / n_columns) as f64 / last;
                points.push((index, [x.mean, y.mean], place));
            }
        }
        let most = |metric: Metric, place: usize| {
            if results.scale(metric) == Some([0.0, 1.0]) {
                return 1.0;
            }
            let values = points.iter().filter_map(|(_, at, _)| at.get(place));
            values.copied().fold(0.0, f64::max)
        };
        let labels = rows.labels();
        let end = |label: Option<&String>| label.cloned().unwrap_or_default();
        Self {
            title: "Quality and diversity".to_owned(),
            subtitle: format!(
                "{}, one point per cell, colored by {}",
                in_sentence(y.name()),
                in_sentence(&rows.parameter.name())
            ),
            x_name: format!("{}, {}", in_sentence(x.name()), x.explanation()),
            most: [most(x, 0), most(y, 1)],
            sentences: (0..results.cells().len())
                .map(|cell| results.sentence(cell, y))
                .collect(),
            ends: [end(labels.first()), end(labels.last())],
            points,
        }
    }
}

/// Shows the points in this rectangle. `selected` is ringed. In a picture, nothing can be clicked.
pub(crate) fn scatter_ui(
    ui: &Ui,
    rect: Rect,
    scatter: &Scatter,
    selected: Option<usize>,
    target: Target,
) -> MapResponse {
    let theme = Theme::of(ui);
    let middle = rect.top() + 9.0;
    let legend = heat_legend(ui, pos2(rect.right(), middle), &scatter.ends);
    let run = TextRun::new(&scatter.title, Face::SmallMedium, theme.text_1);
    let title = paint_text(ui, pos2(rect.left(), middle), Align2::LEFT_CENTER, run);
    let left = title.right() + 8.0;
    let run = TextRun::new(&scatter.subtitle, Face::Small, theme.text_3);
    let room = legend.left() - 12.0 - left;
    paint_text_within(ui, pos2(left, middle), Align2::LEFT_CENTER, run, room);
    let [most_x, most_y] = scatter.most;
    let axes = Axes::new(
        rect.with_min_y(rect.top() + TITLE),
        Scale::from_zero(most_x),
        Scale::from_zero(most_y),
    );
    axes.paint(ui, &scatter.x_name);
    let mut response = MapResponse::default();
    for (cell, [x, y], place) in &scatter.points {
        let center = axes.at(*x, *y);
        let edge = Stroke::new(1.0, theme.stroke_3);
        let fill = theme.heat(heat_step(*place));
        ui.painter().circle(center, 4.5, fill, edge);
        if target == Target::Screen {
            let here = Rect::from_center_size(center, Vec2::splat(REACH));
            let id = ui.scope_id().with(("point", cell));
            let point = ui.interact(here, id, Sense::CLICK | Sense::HOVER);
            point.widget_info(|| {
                let sentence = scatter.sentences.get(*cell).map_or("", String::as_str);
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
    let ringed = scatter
        .points
        .iter()
        .find(|(cell, ..)| selected == Some(*cell));
    if let Some((_, [x, y], _)) = ringed {
        let ring = Stroke::new(2.0, theme.text_1);
        ui.painter().circle_stroke(axes.at(*x, *y), 6.5, ring);
    }
    response
}

impl PicturePlot for Scatter {
    fn title(&self) -> &str {
        &self.title
    }

    fn default_size(&self) -> [f32; 2] {
        [720.0, 420.0]
    }

    fn draw(&self, ui: &mut Ui, _paper: Color32) {
        scatter_ui(ui, ui.max_rect(), self, None, Target::Picture);
    }
}
