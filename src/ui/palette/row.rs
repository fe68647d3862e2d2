//! A row of the palette: the name with what was typed in bold, the panes’ values of a setting, and
//! on the right the place and the keys.

use std::ops::Range;
use std::sync::Arc;

use egui::text::{LayoutJob, TextFormat, TextWrapping};
use egui::{
    Color32, Galley, Rect, Response, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2,
};

use super::{PADDING, ROW};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, paint_badge};
use crate::generation::formatting::pane_letter;
use crate::state::{AppState, PaletteRow, PaletteRun, Pane};
use crate::ui::keys::key_words;

/// The gaps between a badge and its value, between two panes, and before the first of them.
const VALUE_GAP: f32 = 5.0;
const PANE_GAP: f32 = 14.0;
const NARROW_PANE_GAP: f32 = 8.0;

/// The gap between the parts of a row.
const GAP: f32 = 16.0;

/// What a row shows besides what was found.
pub(super) struct RowFrame {
    pub is_selected: bool,
    /// The place of the pane that rows are about.
    pub place: usize,
}

/// The result of drawing a row.
pub(super) struct RowResponse {
    pub row: Response,
    /// The place of the pane whose value was clicked.
    pub pane: Option<usize>,
}

/// Draws a row.
pub(super) fn row_ui(
    ui: &mut Ui,
    row: &PaletteRow,
    frame: &RowFrame,
    state: &AppState,
) -> RowResponse {
    let theme = Theme::of(ui);
    let size = vec2(ui.available_width(), ROW);
    // The field keeps the focus: the arrow keys select a row.
    let (rect, response) = ui.allocate_exact_size(size, Sense::CLICK);
    let values = values(row, state);
    let aside = aside(ui, row, frame);
    tell(ui, &response, row, frame, (&values, &aside));
    if !ui.is_rect_visible(rect) {
        return RowResponse {
            row: response,
            pane: None,
        };
    }
    if frame.is_selected {
        ui.painter().rect_filled(rect, 6, theme.surface_3);
    } else if response.hovered() {
        ui.painter().rect_filled(rect, 6, theme.surface_2);
    }
    let inside = rect.shrink2(vec2(PADDING, 0.0));
    let aside = text(ui, &aside, Face::Micro, theme.text_3);
    let mut right = paint_right(ui, inside, inside.right(), aside);
    let place = text(ui, &row.place, Face::Small, theme.text_3);
    let name = name(ui, row, right - inside.left());
    let left = inside.left() + name.size().x + GAP;
    let cells = Cells::of(ui, &values, right - left);
    let needed = cells.width() + if values.is_empty() { 0.0 } else { GAP };
    if left + needed + place.size().x <= right {
        right = paint_right(ui, inside, right, place);
    }
    let at = pos2(inside.left(), rect.center().y - name.size().y / 2.0);
    ui.painter().galley(at, name, theme.text_1);
    let shown = Rect::from_min_max(pos2(left, rect.top()), pos2(right + GAP, rect.bottom()));
    let chosen = frame.is_selected.then_some(frame.place);
    let rects = cells.paint(ui, shown, chosen);
    let pointer = response
        .interact_pointer_pos()
        .filter(|_| response.clicked());
    let pane = pointer.and_then(|at| {
        let (place, _) = rects.iter().find(|(_, rect)| rect.contains(at))?;
        Some(*place)
    });
    RowResponse {
        row: response,
        pane,
    }
}

/// Something about the pane at a place.
type Placed<T> = (usize, T);

/// Returns a setting’s value in each pane; empty for other rows.
fn values(row: &PaletteRow, state: &AppState) -> Vec<Placed<String>> {
    let PaletteRun::Setting(setting) = row.run else {
        return Vec::new();
    };
    let value = |pane: &Pane| setting.value(&pane.settings.chain, state.seed_of(pane));
    let panes = state.panes.placed();
    panes.map(|(place, pane)| (place, value(pane))).collect()
}

/// Returns why the row is not possible, the keys that do the same, or the key that runs it.
fn aside(ui: &Ui, row: &PaletteRow, frame: &RowFrame) -> String {
    if let Some(reason) = &row.blocked {
        return reason.clone();
    }
    match row.run {
        PaletteRun::Action(action) => key_words(ui, action),
        _ if frame.is_selected => "↵".to_owned(),
        _ => String::new(),
    }
}

/// Tells a screen reader the row’s name, its place, and its values or keys.
fn tell(
    ui: &Ui,
    response: &Response,
    row: &PaletteRow,
    frame: &RowFrame,
    (values, aside): (&[Placed<String>], &str),
) {
    let panes = values.iter();
    let mut parts = vec![row.name.clone()];
    parts.extend(panes.map(|(place, value)| format!("{} {value}", pane_letter(*place))));
    if !values.is_empty() {
        parts.push(format!("opens in {}", pane_letter(frame.place)));
    }
    parts.push(row.place.clone());
    if aside != "↵" {
        parts.push(aside.to_owned());
    }
    parts.retain(|part| !part.is_empty());
    let name = parts.join(", ");
    let is_possible = row.blocked.is_none();
    let is_selected = frame.is_selected;
    response
        .widget_info(|| WidgetInfo::selected(Role::ListBoxOption, is_possible, is_selected, &name));
    ui.ctx()
        .accesskit_node_builder(response.id, |node| node.set_selected(is_selected));
}

fn text(ui: &Ui, text: &str, face: Face, color: Color32) -> Arc<Galley> {
    ui.painter()
        .layout_no_wrap(text.to_owned(), face.font(), color)
}

/// Paints words that end at `right`. Returns where the words to their left may end.
fn paint_right(ui: &Ui, inside: Rect, right: f32, words: Arc<Galley>) -> f32 {
    let width = words.size().x;
    if width <= 0.0 {
        return right;
    }
    let at = pos2(right - width, inside.center().y - words.size().y / 2.0);
    ui.painter().galley(at, words, Theme::of(ui).text_3);
    right - width - GAP
}

/// Lays out a row’s name, with what was typed in bold.
fn name(ui: &Ui, row: &PaletteRow, max_width: f32) -> Arc<Galley> {
    let theme = Theme::of(ui);
    let color = if row.blocked.is_none() {
        theme.text_1
    } else {
        theme.text_2
    };
    let mut job = LayoutJob::default();
    for (part, is_bold) in parts(&row.name, &row.matched) {
        let face = if is_bold { Face::Strong } else { Face::Body };
        job.append(part, 0.0, TextFormat::simple(face.font(), color));
    }
    job.wrap = TextWrapping::truncate_at_width(max_width.max(0.0));
    ui.painter().layout_job(job)
}

/// Splits a name where what was typed begins and ends. Returns each part, and whether it was typed.
fn parts<'a>(name: &'a str, matched: &[Range<usize>]) -> Vec<(&'a str, bool)> {
    let mut sorted = matched.to_vec();
    sorted.sort_by_key(|range| range.start);
    let mut parts = Vec::new();
    let mut end = 0;
    for range in sorted {
        let start = range.start.max(end);
        parts.push((name.get(end..start).unwrap_or_default(), false));
        parts.push((name.get(start..range.end).unwrap_or_default(), true));
        end = range.end.max(end);
    }
    parts.push((name.get(end..).unwrap_or_default(), false));
    parts.retain(|(part, _)| !part.is_empty());
    parts
}

/// The values of a setting, each after the badge of its pane.
struct Cells {
    values: Vec<Placed<Arc<Galley>>>,
    gap: f32,
}

impl Cells {
    /// Lays out the values closely, or only the badges, if they would not fit otherwise.
    fn of(ui: &Ui, values: &[Placed<String>], max_width: f32) -> Self {
        let color = Theme::of(ui).text_3;
        let lay_out =
            |(place, value): &Placed<String>| (*place, text(ui, value, Face::Micro, color));
        let mut cells = Self {
            values: values.iter().map(lay_out).collect(),
            gap: PANE_GAP,
        };
        if cells.width() > max_width {
            cells.gap = NARROW_PANE_GAP;
        }
        if cells.width() > max_width {
            let none = text(ui, "", Face::Micro, color);
            for (_, value) in &mut cells.values {
                *value = Arc::clone(&none);
            }
        }
        cells
    }

    fn width(&self) -> f32 {
        let widths = self.values.iter().map(|(_, value)| cell_width(value));
        widths.sum::<f32>() + self.gap * self.values.len().saturating_sub(1) as f32
    }

    /// Paints the cells from the left of `rect`, and a ring around the chosen pane’s. Returns where
    /// each is.
    fn paint(&self, ui: &Ui, rect: Rect, chosen: Option<usize>) -> Vec<Placed<Rect>> {
        let theme = Theme::of(ui);
        let painter = ui.painter().with_clip_rect(rect.expand2(vec2(8.0, 0.0)));
        let mut left = rect.left();
        let mut rects = Vec::new();
        for (place, value) in &self.values {
            let size = vec2(cell_width(value), SMALL_BADGE);
            let cell = Rect::from_min_size(pos2(left, rect.center().y - size.y / 2.0), size);
            let around = cell.expand2(vec2(5.0, 4.0));
            if chosen == Some(*place) {
                let ring = Stroke::new(1.5, theme.accent);
                painter.rect(around, 5, theme.accent_bg, ring, StrokeKind::Middle);
            }
            let badge = Rect::from_min_size(cell.min, vec2(SMALL_BADGE, SMALL_BADGE));
            paint_badge(&painter, theme, badge, *place);
            let at = pos2(
                badge.right() + VALUE_GAP,
                cell.center().y - value.size().y / 2.0,
            );
            painter.galley(at, Arc::clone(value), theme.text_3);
            rects.push((*place, around));
            left = cell.right() + self.gap;
        }
        rects
    }
}

fn cell_width(value: &Galley) -> f32 {
    let width = value.size().x;
    SMALL_BADGE + if width > 0.0 { VALUE_GAP + width } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn what_was_typed_stands_out() {
        let name = "Dynamic temperature";
        assert_eq!(
            parts(name, &[8..12, 0..3]),
            [
                ("Dyn", true),
                ("amic ", false),
                ("temp", true),
                ("erature", false)
            ]
        );
        assert_eq!(parts(name, &[]), [(name, false)]);
        assert_eq!(
            parts(name, &[0..7, 0..3]),
            [("Dynamic", true), (" temperature", false)]
        );
    }
}
