//! A grid of cells, each filled with the color of its value, with its number if there is room.

use egui::{
    Align2, Color32, Id, Pos2, Rect, Role, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo, pos2,
    vec2,
};

use super::data::SweepMap;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, paint_badge};
use crate::plots::{
    AROUND, MapResponse, PicturePlot, Target, TextRun, count, heat_legend, heat_step, paint_text,
    paint_text_within,
};

/// The height of the title row, of the row of column labels and of the names of the numbers.
const TITLE: f32 = 26.0;
const LABELS: f32 = 20.0;
const NAMES: f32 = 20.0;

/// The gap between cells. A cell that is narrower than `MIN_NUMBER` shows no number.
const GAP: f32 = 2.0;
const MIN_NUMBER: Vec2 = vec2(34.0, 15.0);

/// Returns the height of a map whose cells are this high.
pub(crate) fn map_height(n_rows: usize, cell: f32) -> f32 {
    TITLE + n_rows as f32 * (cell + GAP) + LABELS + NAMES
}

/// Shows a map in this rectangle. `selected` is ringed. In a picture, nothing can be clicked.
pub(crate) fn map_ui(
    ui: &Ui,
    rect: Rect,
    map: &SweepMap,
    selected: Option<usize>,
    target: Target,
) -> MapResponse {
    let theme = Theme::of(ui);
    let (title, body) = rect.split_top_bottom_at_y(rect.top() + TITLE);
    title_ui(ui, title, map);
    let layout = Layout::of(ui, body, map);
    layout.labels_ui(ui, map);
    let mut response = MapResponse::default();
    for cell in 0..map.values.len() {
        let rect = layout.cell(cell);
        paint_cell(ui, rect, map, cell);
        if target == Target::Screen {
            let id = cell_id(ui, map, cell);
            let here = ui.interact(rect, id, Sense::CLICK | Sense::HOVER);
            here.widget_info(|| {
                let sentence = map.sentences.get(cell).map_or("", String::as_str);
                WidgetInfo::selected(Role::Cell, true, selected == Some(cell), sentence)
            });
            if here.hovered() {
                response.hovered = Some(cell);
            }
            if here.clicked() {
                response.clicked = Some(cell);
            }
        }
    }
    for mark in &map.marks {
        let center = layout.center(mark.at);
        let badge = Rect::from_center_size(center, Vec2::splat(SMALL_BADGE));
        paint_badge(ui.painter(), theme, badge, mark.pane);
    }
    if let Some(cell) = selected.filter(|cell| *cell < map.values.len()) {
        let ink = match map.values.get(cell).copied().flatten() {
            Some(value) => theme.heat_ink(heat_step(map.place_of(value))),
            None => theme.text_1,
        };
        let inner = layout.cell(cell).shrink(2.0);
        ui.painter()
            .rect_stroke(inner, 1, Stroke::new(2.0, ink), StrokeKind::Inside);
    }
    response
}

fn cell_id(ui: &Ui, map: &SweepMap, cell: usize) -> Id {
    ui.scope_id().with((&map.title, cell))
}

fn paint_cell(ui: &Ui, rect: Rect, map: &SweepMap, cell: usize) {
    let theme = Theme::of(ui);
    let Some(value) = map.values.get(cell).copied().flatten() else {
        let edge = Stroke::new(1.0, theme.stroke_2);
        ui.painter().rect_stroke(rect, 2, edge, StrokeKind::Inside);
        return;
    };
    let step = heat_step(map.place_of(value));
    ui.painter().rect_filled(rect, 2, theme.heat(step));
    if rect.width() >= MIN_NUMBER.x && rect.height() >= MIN_NUMBER.y {
        let label = map.labels.get(cell).map_or("", String::as_str);
        let run = TextRun::new(label, Face::Small, theme.heat_ink(step));
        paint_text(ui, rect.center(), Align2::CENTER_CENTER, run);
    }
}

/// Draws the title, a description of the numbers if there is room, and the legend on the right.
fn title_ui(ui: &Ui, rect: Rect, map: &SweepMap) {
    let theme = Theme::of(ui);
    let middle = rect.top() + 9.0;
    let legend = heat_legend(ui, pos2(rect.right(), middle), &map.ends);
    let run = TextRun::new(&map.title, Face::SmallMedium, theme.text_1);
    let width = legend.left() - 12.0 - rect.left();
    let at = pos2(rect.left(), middle);
    let title = paint_text_within(ui, at, Align2::LEFT_CENTER, run, width);
    let left = title.right() + 8.0;
    let room = legend.left() - 16.0 - left;
    let mut subtitles = map.subtitles.iter();
    if let Some(words) = subtitles.find(|words| Face::Small.width(ui, words) <= room) {
        let run = TextRun::new(words, Face::Small, theme.text_3);
        paint_text(ui, pos2(left, middle), Align2::LEFT_CENTER, run);
    }
}

/// The layout of the cells and their labels.
struct Layout {
    origin: Pos2,
    /// The distance from one cell to the next.
    pitch: Vec2,
    n_columns: usize,
    body: Rect,
}

impl Layout {
    fn of(ui: &Ui, body: Rect, map: &SweepMap) -> Self {
        let widths = map.rows.iter().map(|label| Face::Micro.width(ui, label));
        let gutter = widths.fold(0.0, f32::max) + 10.0;
        let n_columns = map.columns.len().max(1);
        let n_rows = map.rows.len().max(1);
        let room = body.size() - vec2(gutter, LABELS + NAMES);
        Self {
            origin: body.min + vec2(gutter, 0.0),
            pitch: vec2(
                ((room.x + GAP) / n_columns as f32).max(3.0),
                ((room.y + GAP) / n_rows as f32).max(3.0),
            ),
            n_columns,
            body,
        }
    }

    fn cell(&self, cell: usize) -> Rect {
        let place = vec2(
            (cell % self.n_columns) as f32,
            (cell / self.n_columns) as f32,
        );
        let corner = self.origin + place * self.pitch;
        let gap = GAP.min(self.pitch.min_elem() / 4.0);
        Rect::from_min_size(corner, self.pitch - Vec2::splat(gap))
    }

    /// Returns the center of a cell, or a point between two of them.
    fn center(&self, [row, column]: [f64; 2]) -> Pos2 {
        self.cell(0).center() + vec2(column as f32, row as f32) * self.pitch
    }

    /// Labels the rows and columns, or only some of them if space is short, and names the numbers.
    fn labels_ui(&self, ui: &Ui, map: &SweepMap) {
        let theme = Theme::of(ui);
        let run = |words| TextRun::new(words, Face::Micro, theme.text_3);
        let every = every_nth(self.pitch.y, 14.0);
        for (row, label) in map.rows.iter().enumerate().step_by(every) {
            let cell = self.cell(row * self.n_columns);
            let at = pos2(cell.left() - 8.0, cell.center().y);
            paint_text(ui, at, Align2::RIGHT_CENTER, run(label));
        }
        let widths = map.columns.iter().map(|label| Face::Micro.width(ui, label));
        let every = every_nth(self.pitch.x, widths.fold(0.0, f32::max) + 8.0);
        let below = self.cell(map.values.len().saturating_sub(1)).bottom();
        for (column, label) in map.columns.iter().enumerate().step_by(every) {
            let at = pos2(self.cell(column).center().x, below + 11.0);
            paint_text(ui, at, Align2::CENTER_CENTER, run(label));
        }
        let y = below + LABELS + 9.0;
        let name = map.row_name.to_lowercase() + " ↓";
        let at = pos2(self.body.left(), y);
        paint_text(ui, at, Align2::LEFT_CENTER, run(&name));
        if !map.column_name.is_empty() {
            let name = map.column_name.to_lowercase() + " →";
            let at = pos2(self.body.right(), y);
            paint_text(ui, at, Align2::RIGHT_CENTER, run(&name));
        }
    }
}

/// Returns how many items at this distance share one label of this size.
fn every_nth(pitch: f32, size: f32) -> usize {
    count(f64::from((size / pitch).ceil())).max(1)
}

impl PicturePlot for SweepMap {
    fn title(&self) -> &str {
        &self.title
    }

    fn default_size(&self) -> [f32; 2] {
        let n_rows = self.rows.len();
        let cell = (480.0 / n_rows.max(1) as f32).clamp(8.0, 44.0);
        [720.0, map_height(n_rows, cell) + AROUND]
    }

    fn size_at(&self, width: f32) -> [f32; 2] {
        let [_, height] = self.default_size();
        [width.max(420.0), height]
    }

    fn draw(&self, ui: &mut Ui, _paper: Color32) {
        map_ui(ui, ui.max_rect(), self, None, Target::Picture);
    }
}
