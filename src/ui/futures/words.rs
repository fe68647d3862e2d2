//! How often words appear in a pane's futures: a field to type them, and a row for each.

use egui::{Align2, Rect, Role, Sense, TextEdit, Ui, WidgetInfo, pos2, vec2};

use super::Shown;
use super::sentence::share_words;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::field_frame;
use crate::plots::paint_marker;
use crate::state::{Command, FuturesCommand, FuturesRun, WordRow};
use crate::ui::keys::entered;

/// The height of a row, and the widths of its word, its numbers and its button.
const ROW: f32 = 24.0;
const WORD: f32 = 84.0;
const NUMBERS: f32 = 92.0;
const BUTTON: f32 = 26.0;

/// Draws the field in which words are typed.
pub(super) fn field_ui(ui: &mut Ui, typed: &mut String, commands: &mut Vec<Command>) {
    let theme = Theme::of(ui);
    let hint = egui::RichText::new("a word or /pattern/").color(theme.text_3);
    let edit = TextEdit::singleline(typed)
        .font(Face::Body.font())
        .frame(field_frame(ui))
        .hint_text(hint)
        .desired_width(f32::INFINITY);
    let field = ui.add(edit);
    field.widget_info(|| {
        let mut info = WidgetInfo::labeled(Role::TextInput, true, "Word to count in the futures");
        info.current_text_value = Some(typed.clone());
        info
    });
    if entered(ui, &field) {
        commands.push(Command::Futures(FuturesCommand::AddWord(typed.clone())));
        // Several words can be typed one after another.
        field.request_focus();
    }
    ui.add_space(4.0);
}

/// Returns the height of all rows.
pub(super) fn rows_height(run: &FuturesRun) -> f32 {
    ROW * run.words.len() as f32
}

/// Draws a row for each word.
pub(super) fn rows_ui(ui: &mut Ui, shown: Shown<'_>, commands: &mut Vec<Command>) {
    let between = std::mem::take(&mut ui.spacing_mut().item_spacing.y);
    for row in &shown.run.words {
        if row_ui(ui, row, shown.place) {
            let word = row.word.clone();
            commands.push(Command::Futures(FuturesCommand::RemoveWord(word)));
        }
    }
    ui.spacing_mut().item_spacing.y = between;
}

/// Draws one word. Returns whether its Remove button was clicked.
fn row_ui(ui: &mut Ui, row: &WordRow, place: usize) -> bool {
    let size = vec2(ui.available_width(), ROW);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, sentence(row)));
    paint_row(ui, rect, row, place);
    let button = rect.with_min_x(rect.right() - BUTTON);
    let mut button = super::child_ui(ui, button, ("remove", row.word.as_str()));
    let name = format!("Remove ‘{}’", row.word);
    icon_button(&mut button, Icon::Close, &name).clicked()
}

/// Paints a word, its share on a rail from 0 to 1, the interval around it, and the numbers.
pub(super) fn paint_row(ui: &Ui, rect: Rect, row: &WordRow, place: usize) {
    let theme = Theme::of(ui);
    let middle = rect.center().y;
    let clip = rect.with_max_x(rect.left() + WORD - 6.0);
    let painter = ui.painter();
    painter.with_clip_rect(clip.intersect(ui.clip_rect())).text(
        rect.left_center(),
        Align2::LEFT_CENTER,
        &row.word,
        Face::Candidate.font(),
        theme.text_1,
    );
    let rail = Rect::from_min_max(
        pos2(rect.left() + WORD, middle - 1.0),
        pos2(rect.right() - NUMBERS - BUTTON - 10.0, middle + 1.0),
    );
    let words = |x: f32, text: &str, color| {
        let at = pos2(x, middle);
        painter.text(at, Align2::LEFT_CENTER, text, Face::Small.font(), color);
    };
    match &row.share {
        Ok(share) => {
            let x = |share: f64| rail.left() + rail.width() * share as f32;
            let (low, high) = share.interval();
            painter.rect_filled(rail, 1, theme.surface_3);
            let interval = Rect::from_x_y_ranges(x(low)..=x(high), middle - 2.0..=middle + 2.0);
            painter.rect_filled(interval, 2, theme.surface_4);
            let at = pos2(x(share.value()), middle);
            paint_marker(painter, place, at, theme.pane(place));
            let numbers = share_words(*share);
            words(rail.right() + 10.0, &numbers, theme.text_2);
        }
        Err(error) => words(rail.left(), error, theme.error),
    }
}

fn sentence(row: &WordRow) -> String {
    match &row.share {
        Ok(share) => {
            let (low, high) = share.interval();
            format!(
                "‘{}’ appears in {} of {} texts, 95 % interval {:.0} to {:.0} %",
                row.word,
                share.n_with,
                share.n,
                low * 100.0,
                high * 100.0
            )
        }
        Err(error) => format!("‘{}’: {error}", row.word),
    }
}
