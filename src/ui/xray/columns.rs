//! The columns of the X-ray: their widths, heads and feet.

use egui::text::{LayoutJob, TextWrapping};
use egui::{Align2, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use super::Xray;
use super::folding::{ShownColumn, fold_ui, fold_width, shown_columns};
use super::labels::{
    foot_label, foot_sentence, head_labels, is_muted, score_label, settings_label,
};
use crate::analysis::xray::{XrayCell, XrayColumn, XrayPlace};
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::generation::formatting::grouped;
use crate::plots::{TokenStyle, token_galley};

/// The limits of the width of the column with the candidates' names.
const NAMES: std::ops::RangeInclusive<f32> = 76.0..=168.0;

/// The minimum widths of a stage's column and of a compact one.
const MIN_WIDTH: f32 = 132.0;
const MIN_COMPACT_WIDTH: f32 = 112.0;

/// The maximum width of a stage's name in a compact head.
const MAX_COMPACT_NAME: f32 = 84.0;

/// The width of the number beside a bar, and of the gap between two columns.
const NUMBER: f32 = 62.0;
const GAP: f32 = 14.0;

/// The width of the mute button.
const EYE: f32 = 26.0;

/// The head of the column with the logits.
const SCORE: &str = "Logit";

/// The horizontal layout of the table, in points from its left edge.
pub(super) struct Columns {
    /// The width of the column with the candidates' names.
    pub names: f32,
    /// The part of it that the ranks before the names take; 0 if there are none.
    pub ranks: f32,
    /// The columns on the screen, from left to right.
    pub spans: Vec<Span>,
    /// The length of a bar for probability 1.
    pub unit: f32,
    /// The index in the table of the last column on the screen that is not muted.
    pub last: usize,
    /// Whether the heads are shortened because the columns would not fit otherwise.
    compact: bool,
}

/// A column on the screen and its left and right edge.
pub(super) struct Span {
    pub shown: ShownColumn,
    pub from: f32,
    pub to: f32,
}

impl Columns {
    /// Distributes `width` among the columns. Each is at least as wide as its head, which is
    /// shortened if the columns would not fit otherwise. Names can have their ranks before them.
    pub(super) fn of(ui: &Ui, width: f32, xray: &Xray<'_>, has_ranks: bool) -> Self {
        let ranks = if has_ranks {
            ranks_width(ui, xray)
        } else {
            0.0
        };
        let names = names_width(ui, xray) + ranks;
        let shown = shown_columns(ui, xray);
        let min_widths = |compact| -> Vec<f32> {
            let columns = shown.iter();
            let widths = columns.map(|shown| min_width(ui, xray, shown, compact));
            widths.collect()
        };
        let full = min_widths(false);
        let compact = names + full.iter().sum::<f32>() > width;
        let least = if compact { min_widths(true) } else { full };
        let grows = |shown: &ShownColumn| flexible(xray, shown).is_some();
        let (flexible_widths, fixed_widths): (Vec<_>, Vec<_>) = shown
            .iter()
            .zip(&least)
            .partition(|(shown, _)| grows(shown));
        let fixed: f32 = fixed_widths.into_iter().map(|(_, width)| width).sum();
        let flexible_widths: Vec<f32> = flexible_widths.into_iter().map(|(_, w)| *w).collect();
        let share = equal_share(width - names - fixed, &flexible_widths);
        let mut left = names;
        let spans: Vec<Span> = shown
            .into_iter()
            .zip(least)
            .map(|(shown, least)| {
                let from = left;
                left += if grows(&shown) {
                    share.max(least).floor()
                } else {
                    least
                };
                Span {
                    shown,
                    from,
                    to: left,
                }
            })
            .collect();
        let wide = || spans.iter().filter(|span| grows(&span.shown));
        let narrowest = wide()
            .map(|span| span.to - span.from)
            .fold(f32::INFINITY, f32::min);
        let last = wide()
            .filter_map(|span| flexible(xray, &span.shown))
            .next_back();
        Self {
            names,
            ranks,
            unit: (narrowest - NUMBER - GAP) / largest_prob(xray) as f32,
            last: last.unwrap_or(0),
            compact,
            spans,
        }
    }

    /// Returns the width of the table.
    pub(super) fn width(&self) -> f32 {
        self.spans.last().map_or(self.names, |span| span.to)
    }
}

fn names_width(ui: &Ui, xray: &Xray<'_>) -> f32 {
    let style = TokenStyle::plain(Theme::of(ui).text_1);
    let pieces = xray.table.rows.iter().map(|row| (xray.piece)(row.token));
    let names = pieces.map(|piece| token_galley(ui, &piece, style, *NAMES.end()));
    let widest = names.map(|galley| galley.size().x).fold(0.0, f32::max);
    (widest + 20.0).ceil().clamp(*NAMES.start(), *NAMES.end())
}

/// Formats a rank, with the space between it and the name.
pub(super) fn rank_label(rank: u32) -> String {
    format!("{} ", grouped(f64::from(rank)))
}

fn ranks_width(ui: &Ui, xray: &Xray<'_>) -> f32 {
    let ranks = xray.table.rows.iter().filter_map(|row| row.rank);
    let widths = ranks.map(|rank| Face::Micro.width(ui, &rank_label(rank)));
    widths.fold(0.0, f32::max).ceil()
}

/// Returns the index in the table of a column that has bars, whose width is flexible.
fn flexible(xray: &Xray<'_>, shown: &ShownColumn) -> Option<usize> {
    match shown {
        ShownColumn::Table(index) => {
            let column = xray.table.columns.get(*index)?;
            (!is_muted(column)).then_some(*index)
        }
        ShownColumn::Score | ShownColumn::Neutral { .. } => None,
    }
}

fn largest_prob(xray: &Xray<'_>) -> f64 {
    let cells = xray.table.rows.iter().flat_map(|row| &row.cells);
    let probs = cells.map(|cell| match cell {
        XrayCell::Kept(prob) | XrayCell::Between(_, prob) | XrayCell::Cut(Some(prob)) => *prob,
        _ => 0.0,
    });
    probs.fold(1e-9, f64::max)
}

/// Returns the width of each flexible column. A column whose minimum width exceeds the equal share
/// takes its minimum, and the others share the rest.
fn equal_share(width: f32, min_widths: &[f32]) -> f32 {
    let mut flexible: Vec<f32> = min_widths.to_vec();
    let mut remaining = width;
    loop {
        let share = remaining / flexible.len().max(1) as f32;
        let n_before = flexible.len();
        flexible.retain(|min_width| {
            let fits = *min_width <= share;
            remaining -= if fits { 0.0 } else { *min_width };
            fits
        });
        if flexible.len() == n_before {
            return share;
        }
    }
}

/// Returns the width that a column's head, foot and numbers need.
fn min_width(ui: &Ui, xray: &Xray<'_>, shown: &ShownColumn, compact: bool) -> f32 {
    match shown {
        ShownColumn::Score => {
            let scores = xray.table.rows.iter().map(score_label);
            let widths = scores.map(|score| Face::Small.width(ui, &score));
            let head = Face::SmallMedium.width(ui, SCORE);
            (widths.fold(head, f32::max) + GAP).ceil()
        }
        ShownColumn::Table(index) => {
            let column = xray.table.columns.get(*index);
            column.map_or(0.0, |column| table_column_width(ui, column, compact))
        }
        ShownColumn::Neutral { stages, folded } => fold_width(ui, stages.len(), *folded) + GAP,
    }
}

fn table_column_width(ui: &Ui, column: &XrayColumn, compact: bool) -> f32 {
    let head = Head::of(column, compact);
    let name = Face::SmallMedium.width(ui, &head.name);
    let mut width = name.min(head.max_name_width);
    if !head.settings.is_empty() {
        width += Face::Small.width(ui, &head.settings) + 20.0;
    }
    if !head.left.is_empty() {
        width += Face::Small.width(ui, &head.left) + 8.0;
    }
    if matches!(column.at, XrayPlace::Stage { .. }) {
        width += EYE;
    }
    let foot = Face::Micro.width(ui, &foot_label(column, compact));
    let floor = match (is_muted(column), compact) {
        (true, _) => 0.0,
        (false, true) => MIN_COMPACT_WIDTH,
        (false, false) => MIN_WIDTH,
    };
    (width.max(foot) + GAP).max(floor).ceil()
}

/// The words of a column's head.
struct Head {
    name: String,
    settings: String,
    /// How many candidates are left; a compact table shows this in the foot instead.
    left: String,
    max_name_width: f32,
}

impl Head {
    fn of(column: &XrayColumn, compact: bool) -> Self {
        let (name, left) = head_labels(column);
        Self {
            name,
            settings: settings_label(column),
            left: if compact { String::new() } else { left },
            max_name_width: if compact {
                MAX_COMPACT_NAME
            } else {
                f32::INFINITY
            },
        }
    }
}

/// What the user clicked in the heads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeadClick {
    /// Mute or unmute the stage at this index of the chain.
    Mute(usize),
    /// Fold or unfold the neutral stages.
    Fold,
}

/// Draws the heads. Returns what was clicked.
pub(super) fn heads_ui(
    ui: &mut Ui,
    xray: &Xray<'_>,
    columns: &Columns,
    scrolled: f32,
) -> Option<HeadClick> {
    let theme = Theme::of(ui);
    let rect = ui.max_rect();
    let (label, color) = if xray.table.what_if {
        ("What if", theme.changed)
    } else {
        ("Candidate", theme.text_3)
    };
    let names = Rect::from_min_size(rect.min, vec2(columns.names, rect.height()));
    let response = ui.interact(names, ui.scope_id().with("names"), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, label));
    let at = pos2(rect.left(), rect.center().y);
    ui.painter()
        .text(at, Align2::LEFT_CENTER, label, Face::Small.font(), color);
    if xray.table.what_if {
        response.on_hover_text(
            "What the current settings would do at this step. The text was generated with other \
             settings; the tokens before this one are unchanged.",
        );
    }
    let right_of_names = Rect::from_min_max(pos2(names.right(), rect.top()), rect.max);
    let mut clicked = None;
    for (index, span) in columns.spans.iter().enumerate() {
        let left = rect.left() - scrolled;
        let at = Rect::from_min_max(
            pos2(left + span.from, rect.top()),
            pos2(left + span.to - GAP, rect.bottom()),
        );
        let mut head = child_ui(ui, at, index);
        head.shrink_clip_rect(right_of_names);
        clicked = span_head_ui(&mut head, xray, span, columns.compact).or(clicked);
    }
    clicked
}

fn span_head_ui(ui: &mut Ui, xray: &Xray<'_>, span: &Span, compact: bool) -> Option<HeadClick> {
    match &span.shown {
        ShownColumn::Score => {
            score_head_ui(ui);
            None
        }
        ShownColumn::Table(index) => {
            let column = xray.table.columns.get(*index)?;
            let muted = head_ui(ui, xray, column, compact);
            match &column.at {
                XrayPlace::Stage { index, .. } if muted => Some(HeadClick::Mute(*index)),
                _ => None,
            }
        }
        ShownColumn::Neutral { stages, folded } => {
            fold_ui(ui, xray, stages, *folded).then_some(HeadClick::Fold)
        }
    }
}

fn score_head_ui(ui: &Ui) {
    let rect = ui.max_rect();
    let response = ui.interact(rect, ui.scope_id().with("score"), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::ColumnHeader, true, SCORE));
    ui.painter().text(
        rect.left_center(),
        Align2::LEFT_CENTER,
        SCORE,
        Face::SmallMedium.font(),
        Theme::of(ui).text_1,
    );
    response.on_hover_text(
        "The model’s raw score for each token. Softmax turns logits into probabilities: one \
         more point multiplies a token’s odds by e ≈ 2.72.",
    );
}

/// Draws a head. Returns whether its mute button was clicked.
fn head_ui(ui: &mut Ui, xray: &Xray<'_>, column: &XrayColumn, compact: bool) -> bool {
    let rect = ui.max_rect();
    let muted = is_muted(column);
    let response = ui.interact(rect, ui.scope_id().with("head"), Sense::hover());
    let (name, left) = head_labels(column);
    let settings = settings_label(column);
    let spoken = [name.as_str(), &settings, &left]
        .into_iter()
        .filter(|label| !label.is_empty())
        .collect::<Vec<_>>()
        .join(", ");
    response.widget_info(|| WidgetInfo::labeled(Role::ColumnHeader, true, &spoken));
    paint_head(ui, &Head::of(column, compact), muted);
    let XrayPlace::Stage { stage, .. } = &column.at else {
        return false;
    };
    if xray.is_picture {
        return false;
    }
    response.on_hover_text(format!(
        "{spoken}\n\n{}",
        stage.filter.spec().tooltip_with_source()
    ));
    let eye = Rect::from_min_max(pos2(rect.right() - 24.0, rect.top()), rect.max);
    let (icon, verb) = if muted {
        (Icon::EyeOff, "Unmute")
    } else {
        (Icon::Eye, "Mute")
    };
    icon_button(
        &mut child_ui(ui, eye, "eye"),
        icon,
        &format!("{verb} {name}"),
    )
    .clicked()
}

/// Paints a head's name, its settings in a box, and how many candidates are left.
fn paint_head(ui: &Ui, head: &Head, muted: bool) {
    let theme = Theme::of(ui);
    let rect = ui.max_rect();
    let middle = rect.center().y;
    let color = if muted { theme.text_3 } else { theme.text_1 };
    let font = Face::SmallMedium.font();
    let mut job = LayoutJob::simple_singleline(head.name.clone(), font, color);
    job.wrap = TextWrapping::truncate_at_width(head.max_name_width);
    let galley = ui.painter().layout_job(job);
    let at = Align2::LEFT_CENTER.anchor_size(pos2(rect.left(), middle), galley.size());
    ui.painter().galley(at.min, galley, color);
    let mut x = at.right() + 6.0;
    let paint = |x: f32, text: &str, color| {
        let (at, font) = (pos2(x, middle), Face::Small.font());
        ui.painter()
            .text(at, Align2::LEFT_CENTER, text, font, color);
    };
    if !head.settings.is_empty() {
        let width = Face::Small.width(ui, &head.settings) + 12.0;
        let boxed = Rect::from_min_size(pos2(x, middle - 10.0), vec2(width, 20.0));
        ui.painter().rect_filled(boxed, 5, theme.surface_2);
        let color = if muted { theme.text_3 } else { theme.text_2 };
        paint(x + 6.0, &head.settings, color);
        x = boxed.right() + 8.0;
    }
    paint(x, &head.left, theme.text_3);
}

/// Draws the entropy below each column.
pub(super) fn feet_ui(ui: &mut Ui, xray: &Xray<'_>, columns: &Columns, scrolled: f32) {
    let theme = Theme::of(ui);
    let rect = ui.max_rect();
    let names = pos2(rect.left() + columns.names, rect.top());
    ui.shrink_clip_rect(Rect::from_min_max(names, rect.max));
    for span in &columns.spans {
        let ShownColumn::Table(index) = span.shown else {
            continue;
        };
        let Some(column) = xray.table.columns.get(index) else {
            continue;
        };
        let label = foot_label(column, columns.compact);
        if label.is_empty() {
            continue;
        }
        let left = rect.left() - scrolled;
        let at = Rect::from_min_max(
            pos2(left + span.from, rect.top()),
            pos2(left + span.to - GAP, rect.bottom()),
        );
        let response = ui.interact(at, ui.scope_id().with(("foot", index)), Sense::hover());
        let (name, _) = head_labels(column);
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{name}, {label}")));
        let painter = ui.painter();
        painter.text(
            at.left_center(),
            Align2::LEFT_CENTER,
            &label,
            Face::Micro.font(),
            theme.text_3,
        );
        response.on_hover_text(foot_sentence(column));
    }
}

#[cfg(test)]
mod tests {
    use super::equal_share;

    #[test]
    fn wide_columns_keep_their_minimum_and_the_others_share_the_rest() {
        for (width, min_widths, share) in [
            (600.0, &[100.0, 100.0, 100.0][..], 200.0),
            (600.0, &[300.0, 100.0, 100.0], 150.0),
            (600.0, &[300.0, 100.0, 200.0], 100.0),
            (300.0, &[], 300.0),
        ] {
            let found = equal_share(width, min_widths);
            assert!((found - share).abs() < 1e-3, "{min_widths:?}: {found}");
        }
    }
}
