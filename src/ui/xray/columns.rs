//! The columns of the X-ray: how wide they are, their heads and their feet.

use egui::{Align2, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::Xray;
use super::words::{foot, head_words, long_foot, value_words};
use crate::analysis::xray::{XrayCell, XrayColumn, XrayPlace};
use crate::ui::fonts::Face;
use crate::ui::icons::{Icon, icon_button};
use crate::ui::part::part;
use crate::ui::plots::word_galley;
use crate::ui::theme::Theme;

/// The words of the candidates are at least so wide, and at most.
const NAMES: std::ops::RangeInclusive<f32> = 76.0..=168.0;

/// A column is at least so wide, and grows no wider than this.
const LEAST: f32 = 132.0;
const MOST: f32 = 320.0;

/// What stands beside a bar, and between two columns.
const FIGURE: f32 = 62.0;
const GAP: f32 = 14.0;

const EYE: f32 = 26.0;

/// Where the columns stand, in points from the table's left edge.
pub(super) struct Columns {
    /// The width of the candidates' words.
    pub names: f32,
    /// From where to where each column goes.
    pub spans: Vec<(f32, f32)>,
    /// The length of the bar of probability 1.
    pub unit: f32,
    /// The last column in which something is done.
    pub last: usize,
}

impl Columns {
    /// Shares `width` among the columns, each at least as wide as its head.
    pub(super) fn of(ui: &Ui, width: f32, xray: &Xray<'_>) -> Self {
        let color = Theme::of(ui).text_1;
        let pieces = xray.table.rows.iter().map(|row| (xray.piece)(row.token));
        let words = pieces.map(|piece| word_galley(ui, &piece, (color, false), *NAMES.end()));
        let widest = words.map(|galley| galley.size().x).fold(0.0, f32::max);
        let names = (widest + 20.0).ceil().clamp(*NAMES.start(), *NAMES.end());

        let columns = &xray.table.columns;
        let needed = columns.iter().map(|column| needed(ui, column));
        let least: Vec<f32> = needed.collect();
        let fair = shared(width - names, &least);
        let mut left = names;
        let spans: Vec<(f32, f32)> = least
            .iter()
            .zip(columns)
            .map(|(least, column)| {
                let most = if is_muted(column) {
                    *least
                } else {
                    MOST.max(*least)
                };
                let from = left;
                left += fair.clamp(*least, most).floor();
                (from, left)
            })
            .collect();
        let narrowest = spans
            .iter()
            .zip(columns)
            .filter(|(_, column)| !is_muted(column))
            .map(|((from, to), _)| to - from)
            .fold(MOST, f32::min);
        Self {
            names,
            spans,
            unit: (narrowest - FIGURE - GAP) / largest(xray) as f32,
            last: columns
                .iter()
                .rposition(|column| !is_muted(column))
                .unwrap_or(0),
        }
    }

    /// How wide the whole table is.
    pub(super) fn width(&self) -> f32 {
        self.spans.last().map_or(self.names, |(_, to)| *to)
    }
}

/// Whether the stage is switched off.
pub(super) const fn is_muted(column: &XrayColumn) -> bool {
    matches!(&column.at, XrayPlace::Stage { stage, .. } if !stage.enabled)
}

fn largest(xray: &Xray<'_>) -> f64 {
    let cells = xray.table.rows.iter().flat_map(|row| &row.cells);
    let probs = cells.map(|cell| match cell {
        XrayCell::Kept(prob) | XrayCell::Between(_, prob) | XrayCell::Cut(Some(prob)) => *prob,
        _ => 0.0,
    });
    probs.fold(1e-9, f64::max)
}

/// What each column gets where those that need more than that get what they need.
fn shared(width: f32, least: &[f32]) -> f32 {
    let mut open: Vec<f32> = least.to_vec();
    let mut left = width;
    loop {
        let fair = left / open.len().max(1) as f32;
        let n_before = open.len();
        open.retain(|least| {
            let fits = *least <= fair;
            left -= if fits { 0.0 } else { *least };
            fits
        });
        if open.len() == n_before {
            return fair;
        }
    }
}

/// The width of a column's head, or of its foot where that is wider.
fn needed(ui: &Ui, column: &XrayColumn) -> f32 {
    let (name, left) = head_words(column);
    let value = value_words(column);
    let mut width = Face::SmallMedium.width(ui, &name);
    if !value.is_empty() {
        width += Face::Small.width(ui, &value) + 20.0;
    }
    if !left.is_empty() {
        width += Face::Small.width(ui, &left) + 8.0;
    }
    if matches!(column.at, XrayPlace::Stage { .. }) {
        width += EYE;
    }
    let foot = Face::Micro.width(ui, &foot(column));
    let least = if is_muted(column) { 0.0 } else { LEAST };
    (width.max(foot) + GAP).max(least).ceil()
}

/// Draws the heads; gives the place in the chain of the stage whose eye was pressed.
pub(super) fn heads_ui(
    ui: &mut Ui,
    xray: &Xray<'_>,
    columns: &Columns,
    scrolled: f32,
) -> Option<usize> {
    let theme = Theme::of(ui);
    let rect = ui.max_rect();
    let (words, color) = if xray.table.what_if {
        ("What if", theme.changed)
    } else {
        ("Candidate", theme.text_3)
    };
    let names = Rect::from_min_size(rect.min, vec2(columns.names, rect.height()));
    let response = ui.interact(names, ui.scope_id().with("names"), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, words));
    let at = pos2(rect.left(), rect.center().y);
    ui.painter()
        .text(at, Align2::LEFT_CENTER, words, Face::Small.font(), color);
    if xray.table.what_if {
        response.on_hover_text(
            "What these settings would do here. The text was written under others, and every token \
             before this one is as it was written.",
        );
    }
    let right_of_names = Rect::from_min_max(pos2(names.right(), rect.top()), rect.max);
    let mut toggled = None;
    for (index, (column, (from, to))) in xray.table.columns.iter().zip(&columns.spans).enumerate() {
        let left = rect.left() - scrolled;
        let at = Rect::from_min_max(
            pos2(left + from, rect.top()),
            pos2(left + to - GAP, rect.bottom()),
        );
        let mut head = part(ui, at, index);
        head.shrink_clip_rect(right_of_names);
        if head_ui(&mut head, column) {
            toggled = match &column.at {
                XrayPlace::Stage { index, .. } => Some(*index),
                _ => None,
            };
        }
    }
    toggled
}

/// Draws a head; says whether its eye was pressed.
fn head_ui(ui: &mut Ui, column: &XrayColumn) -> bool {
    let theme = Theme::of(ui);
    let rect = ui.max_rect();
    let muted = is_muted(column);
    let (name, left) = head_words(column);
    let value = value_words(column);
    let response = ui.interact(rect, ui.scope_id().with("head"), Sense::hover());
    let spoken = [name.as_str(), &value, &left]
        .into_iter()
        .filter(|words| !words.is_empty())
        .collect::<Vec<_>>()
        .join(", ");
    response.widget_info(|| WidgetInfo::labeled(Role::ColumnHeader, true, &spoken));
    let color = if muted { theme.text_3 } else { theme.text_1 };
    let middle = rect.center().y;
    let put = |x: f32, words: &str, face: Face, color| {
        let at = pos2(x, middle);
        let painter = ui.painter();
        let placed = painter.text(at, Align2::LEFT_CENTER, words, face.font(), color);
        placed.right()
    };
    let mut x = put(rect.left(), &name, Face::SmallMedium, color) + 6.0;
    if !value.is_empty() {
        let width = Face::Small.width(ui, &value) + 12.0;
        let boxed = Rect::from_min_size(pos2(x, middle - 10.0), vec2(width, 20.0));
        ui.painter().rect_filled(boxed, 5, theme.surface_2);
        let color = if muted { theme.text_3 } else { theme.text_2 };
        put(x + 6.0, &value, Face::Small, color);
        x = boxed.right() + 8.0;
    }
    put(x, &left, Face::Small, theme.text_3);
    let XrayPlace::Stage { stage, .. } = &column.at else {
        return false;
    };
    response.on_hover_text(stage.filter.spec().tooltip());
    let eye = Rect::from_min_max(pos2(rect.right() - 24.0, rect.top()), rect.max);
    let (icon, verb) = if muted {
        (Icon::EyeOff, "Unmute")
    } else {
        (Icon::Eye, "Mute")
    };
    icon_button(&mut part(ui, eye, "eye"), icon, &format!("{verb} {name}")).clicked()
}

/// Draws what each column comes to.
pub(super) fn feet_ui(ui: &mut Ui, xray: &Xray<'_>, columns: &Columns, scrolled: f32) {
    let theme = Theme::of(ui);
    let rect = ui.max_rect();
    let names = pos2(rect.left() + columns.names, rect.top());
    ui.shrink_clip_rect(Rect::from_min_max(names, rect.max));
    for (index, (column, (from, to))) in xray.table.columns.iter().zip(&columns.spans).enumerate() {
        let words = foot(column);
        if words.is_empty() {
            continue;
        }
        let left = rect.left() - scrolled;
        let at = Rect::from_min_max(
            pos2(left + from, rect.top()),
            pos2(left + to - GAP, rect.bottom()),
        );
        let response = ui.interact(at, ui.scope_id().with(("foot", index)), Sense::hover());
        let (name, _) = head_words(column);
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{name}, {words}")));
        let painter = ui.painter();
        painter.text(
            at.left_center(),
            Align2::LEFT_CENTER,
            &words,
            Face::Micro.font(),
            theme.text_3,
        );
        response.on_hover_text(long_foot(column));
    }
}

#[cfg(test)]
mod tests {
    use super::shared;

    #[test]
    fn columns_that_need_more_get_what_they_need() {
        for (width, least, fair) in [
            (600.0, &[100.0, 100.0, 100.0][..], 200.0),
            (600.0, &[300.0, 100.0, 100.0], 150.0),
            (600.0, &[300.0, 100.0, 200.0], 100.0),
            (300.0, &[], 300.0),
        ] {
            let found = shared(width, least);
            assert!((found - fair).abs() < 1e-3, "{least:?}: {found}");
        }
    }
}
