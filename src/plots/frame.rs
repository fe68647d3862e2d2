//! What all plots share: the title row, the placeholder of an empty plot, and the style of axes.

use egui::{
    Align2, Color32, Pos2, Rect, Response, Role, Sense, Ui, UiBuilder, Vec2, WidgetInfo, pos2, vec2,
};
use egui_plot::{AxisHints, GridMark, Plot};

use super::Target;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{SMALL_BADGE, paint_badge};
use crate::generation::formatting::grouped;
use crate::glossary::term;

/// The height of a plot's title row, with the space below it.
pub const TITLE_ROW: f32 = 24.0;

/// Allocates a row of this height, including the spacing that a `Ui` adds after each item.
pub(super) fn row_rect(ui: &mut Ui, height: f32) -> (Rect, Response) {
    let size = vec2(ui.available_width(), height - ui.spacing().item_spacing.y);
    ui.allocate_exact_size(size, Sense::hover())
}

/// A legend, filled from left to right.
pub(super) struct Legend {
    row: f32,
    /// The current row.
    pub rect: Rect,
    /// Where the next entry begins.
    pub x: f32,
}

impl Legend {
    pub(super) fn new(ui: &mut Ui, row: f32) -> Self {
        let (rect, _) = row_rect(ui, row);
        let x = rect.left();
        Self { row, rect, x }
    }

    /// Starts another row if an entry of this width does not fit into the current one.
    pub(super) fn make_room(&mut self, ui: &mut Ui, width: f32) {
        if self.x > self.rect.left() && self.x + width > self.rect.right() {
            *self = Self::new(ui, self.row);
        }
    }
}

/// Shows a plot's title, the badge of its pane, and the first of `subtitles` that fits. Returns the
/// rest of the row.
pub fn title_ui(ui: &mut Ui, title: &str, badge: Option<usize>, subtitles: &[String]) -> Rect {
    let theme = Theme::of(ui);
    let (rect, response) = row_rect(ui, TITLE_ROW);
    response.widget_info(|| {
        let subtitle = subtitles.first().map_or("", String::as_str);
        WidgetInfo::labeled(Role::Label, true, format!("{title}, {subtitle}"))
    });
    if let Some(term) = term(title) {
        response.on_hover_text(term.explanation());
    }
    let painter = ui.painter();
    let middle = rect.top() + 8.0;
    let set =
        |text: &str, face: Face, color| painter.layout_no_wrap(text.to_owned(), face.font(), color);
    let place = |galley: std::sync::Arc<egui::Galley>, x: f32| {
        let at = Align2::LEFT_CENTER.anchor_size(pos2(x, middle), galley.size());
        painter.galley(at.min, galley, theme.text_1);
        at.right()
    };
    let mut x = place(set(title, Face::SmallMedium, theme.text_1), rect.left()) + 8.0;
    if let Some(pane) = badge {
        let side = SMALL_BADGE;
        let at = Rect::from_min_size(pos2(x, middle - side / 2.0), vec2(side, side));
        paint_badge(painter, theme, at, pane);
        x = at.right() + 8.0;
    }
    let mut subtitles = subtitles
        .iter()
        .map(|subtitle| set(subtitle, Face::Small, theme.text_3));
    if let Some(subtitle) = subtitles.find(|galley| x + galley.size().x <= rect.right()) {
        x = place(subtitle, x);
    }
    rect.with_min_x(x).with_max_y(middle * 2.0 - rect.top())
}

/// The least room for the unit after a title.
const MIN_UNIT: f32 = 24.0;

/// Draws a title with its unit at the top of a plot, and names the plot for screen readers.
pub fn unit_title_ui(ui: &Ui, rect: Rect, [title, unit]: [&str; 2], words: &str) {
    let theme = Theme::of(ui);
    let middle = rect.top() + 9.0;
    let run = TextRun::new(title, Face::SmallMedium, theme.text_1);
    let name = paint_text(ui, pos2(rect.left(), middle), Align2::LEFT_CENTER, run);
    let left = name.right() + 8.0;
    if rect.right() - left >= MIN_UNIT {
        let run = TextRun::new(unit, Face::Small, theme.text_3);
        let at = pos2(left, middle);
        paint_text_within(ui, at, Align2::LEFT_CENTER, run, rect.right() - left);
    }
    let response = ui.interact(rect, ui.scope_id().with(title), Sense::hover());
    let name = format!("{title}, {unit}. {words}");
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &name));
}

/// Shows a note at the right end of the title row, if it fits.
pub(super) fn note_ui(ui: &Ui, rest: Rect, note: &str) {
    if Face::Micro.width(ui, note) <= rest.width() - 24.0 {
        let run = TextRun::new(note, Face::Micro, Theme::of(ui).text_3);
        paint_text(ui, rest.right_center(), Align2::RIGHT_CENTER, run);
    }
}

/// Shows what an empty plot will contain. Returns the space below the sentence.
pub(super) fn empty_ui(ui: &mut Ui, title: &str, sentence: &str) -> Rect {
    let theme = Theme::of(ui);
    title_ui(ui, title, None, &[]);
    ui.scope(|ui| {
        ui.set_max_width(ui.available_width().min(320.0));
        ui.add(egui::Label::new(Face::Small.text(sentence).color(theme.text_3)).wrap());
    });
    ui.add_space(8.0);
    ui.available_rect_before_wrap()
}

/// Returns a plot in the common style, which can be neither dragged nor zoomed.
pub(super) fn still_plot<'a>(name: &str, theme: &Theme) -> Plot<'a> {
    Plot::new(name)
        .grid_spacing(8.0..=8.01)
        .grid_color(theme.stroke_1)
        .set_margin_fraction(Vec2::ZERO)
        .show_background(false)
        .show_x(false)
        .show_y(false)
        .allow_zoom(false)
        .allow_drag(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_axis_zoom_drag(false)
}

/// Shows a plot in the rest of `ui`, except for these margins at its left and right, and allocates
/// all of the rest.
pub(super) fn between<R>(ui: &mut Ui, margins: [f32; 2], show: impl FnOnce(&mut Ui) -> R) -> R {
    let whole = ui.available_rect_before_wrap();
    let mut area = whole;
    area.min.x += margins[0];
    area.max.x -= margins[1];
    let shown = show(&mut ui.new_child(UiBuilder::new().max_rect(area)));
    ui.advance_cursor_after_rect(whole);
    shown
}

/// Styles an axis: the color and face of its labels, without fading.
pub(super) fn axis<'a>(hints: AxisHints<'a>, theme: &Theme) -> AxisHints<'a> {
    hints
        .tick_label_color(theme.text_3)
        .tick_label_font(Face::Micro.font())
        .label_spacing(1.0..=1.01)
}

/// Returns the horizontal axis of tokens, which are counted from 1. Only pictures have room for
/// its title.
pub(super) fn token_axis<'a>(theme: &Theme, target: Target) -> AxisHints<'a> {
    let hints = axis(AxisHints::new_x(), theme)
        .min_thickness(20.0)
        .formatter(|mark: GridMark, _| {
            if mark.value < 0.5 {
                String::new()
            } else {
                grouped(mark.value)
            }
        });
    match target {
        Target::Screen => hints,
        Target::Picture => hints.label(axis_title("Token", theme)),
    }
}

/// Styles the title of an axis.
pub(super) fn axis_title(title: &str, theme: &Theme) -> egui::RichText {
    Face::Micro.text(title).color(theme.text_2)
}

/// A short text in one face and color.
#[derive(Clone, Copy)]
pub struct TextRun<'a> {
    text: &'a str,
    face: Face,
    color: Color32,
}

impl<'a> TextRun<'a> {
    pub const fn new(text: &'a str, face: Face, color: Color32) -> Self {
        Self { text, face, color }
    }
}

/// Paints a short text and returns its rectangle.
pub fn paint_text(ui: &Ui, at: Pos2, align: Align2, run: TextRun<'_>) -> Rect {
    let font = run.face.font();
    ui.painter().text(at, align, run.text, font, run.color)
}

/// Paints a short text, truncated with "…" if it is wider than `width`. Returns its rectangle.
pub fn paint_text_within(ui: &Ui, at: Pos2, align: Align2, run: TextRun<'_>, width: f32) -> Rect {
    let TextRun { text, face, color } = run;
    let mut job = egui::text::LayoutJob::simple_singleline(text.to_owned(), face.font(), color);
    job.wrap = egui::text::TextWrapping::truncate_at_width(width);
    let galley = ui.painter().layout_job(job);
    let rect = align.anchor_size(at, galley.size());
    ui.painter().galley(rect.min, galley, color);
    rect
}
