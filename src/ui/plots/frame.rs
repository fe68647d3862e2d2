//! What all plots share: the row with the title, the words of an empty plot, the colours of axes.

use egui::{Align2, Color32, Rect, Response, Role, Sense, Ui, WidgetInfo, pos2, vec2};
use egui_plot::AxisHints;

use crate::ui::fonts::Face;
use crate::ui::theme::Theme;
use crate::ui::widgets::{SMALL_BADGE, paint_badge};

/// The row of a plot's title, with the space below it.
const TITLE_ROW: f32 = 24.0;

/// Takes a row of this height, without the space that a `Ui` puts between its parts.
pub(super) fn row_rect(ui: &mut Ui, height: f32) -> (Rect, Response) {
    let size = vec2(ui.available_width(), height - ui.spacing().item_spacing.y);
    ui.allocate_exact_size(size, Sense::hover())
}

/// Shows a plot's title, the badge of the pane that it is about, and the first of `subtitles` for
/// which there is room. Returns what is left of the row.
pub(super) fn title_ui(
    ui: &mut Ui,
    title: &str,
    badge: Option<usize>,
    subtitles: &[String],
) -> Rect {
    let theme = Theme::of(ui);
    let (rect, response) = row_rect(ui, TITLE_ROW);
    response.widget_info(|| {
        let subtitle = subtitles.first().map_or("", String::as_str);
        WidgetInfo::labeled(Role::Label, true, format!("{title}, {subtitle}"))
    });
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

/// Sets a remark at the end of what is left of a title's row, if it has room there.
pub(super) fn remark(ui: &Ui, rest: Rect, words: &str) {
    let room = rest.width() - 24.0;
    if Face::Micro.width(ui, words) <= room {
        let at = (rest.right_center(), Align2::RIGHT_CENTER);
        text(ui, at, words, Face::Micro, Theme::of(ui).text_3);
    }
}

/// Shows the sentence of a plot that has nothing to show yet, and returns the space left below it.
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

/// An axis with our figures: their colour, their face, no fading.
pub(super) fn axis<'a>(hints: AxisHints<'a>, theme: &Theme) -> AxisHints<'a> {
    hints
        .tick_label_color(theme.text_3)
        .tick_label_font(Face::Micro.font())
        .label_spacing(1.0..=1.01)
}

/// The words beside an axis.
pub(super) fn axis_title(words: &str, theme: &Theme) -> egui::RichText {
    Face::Micro.text(words).color(theme.text_2)
}

/// Sets a short text in its colour and returns where it stands.
pub(super) fn text(
    ui: &Ui,
    (at, align): (egui::Pos2, Align2),
    words: &str,
    face: Face,
    color: Color32,
) -> Rect {
    ui.painter().text(at, align, words, face.font(), color)
}

/// The same, shortened by "…" where it is wider than `width`.
pub(super) fn text_within(
    ui: &Ui,
    (at, align): (egui::Pos2, Align2),
    words: &str,
    (face, color): (Face, Color32),
    width: f32,
) -> Rect {
    let mut job = egui::text::LayoutJob::simple_singleline(words.to_owned(), face.font(), color);
    job.wrap = egui::text::TextWrapping::truncate_at_width(width);
    let galley = ui.painter().layout_job(job);
    let rect = align.anchor_size(at, galley.size());
    ui.painter().galley(rect.min, galley, color);
    rect
}
