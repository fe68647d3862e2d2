//! What the tab shows before there are tasks: where to get them, and what the table will look like.

use egui::{
    Align2, Rect, Response, Role, Sense, Stroke, StrokeKind, Ui, Vec2, ViewportCommand, WidgetInfo,
    pos2, vec2,
};

use super::setup::{ask_file, list_field_ui};
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::design::widgets::{ControlColors, SMALL_BADGE, focus_ring, paint_badge, paint_fill};
use crate::lab::LabCommand;
use crate::lab::frame::empty;
use crate::lab::frame::setup::number_ui;
use crate::lab::prompts::state::{EXAMPLES, N_MAX_ANSWERS};
use crate::lab::prompts::{PromptsCommand, PromptsTab};
use crate::plots::{TextRun, count, paint_text, paint_text_within};
use crate::state::{Action, Command};
use crate::ui::keys::key_words;

/// The heights of a way to get tasks and of a list of ours.
const WAY: f32 = 46.0;
const EXAMPLE: f32 = 40.0;

const TABLE: &str = "One row per task, one cell per setting: the share of right answers.";

/// Draws the ways to get tasks.
pub(super) fn sources_ui(ui: &mut Ui, prompts: &mut PromptsTab, commands: &mut Vec<Command>) {
    let theme = Theme::of(ui);
    ui.spacing_mut().item_spacing.y = 4.0;
    ui.label(Face::SmallMedium.text("Tasks").color(theme.text_1));
    // Opening a run has the same shortcut on other pages.
    let keys = key_words(ui, Action::OpenRun);
    let words = ["Open a file…", "CSV, JSON Lines or plain lines", &keys];
    if way_ui(ui, Icon::File, words).clicked() {
        commands.push(ask_file());
    }
    let words = ["Paste a list", "from a table or a text", &paste_keys(ui)];
    if way_ui(ui, Icon::Copy, words).clicked() {
        ui.send_viewport_cmd(ViewportCommand::RequestPaste);
    }
    list_field_ui(ui, &mut prompts.form.typed);
    ui.add_space(6.0);
    let words = Face::SmallMedium.text("Or try one of these");
    ui.label(words.color(theme.text_1));
    for (index, example) in EXAMPLES.iter().enumerate() {
        if example_ui(ui, example.name, example.suits).clicked() {
            let command = PromptsCommand::UseExample(index);
            commands.push(Command::Lab(LabCommand::Prompts(command)));
        }
    }
    ui.add_space(6.0);
    let form = &mut prompts.form;
    number_ui(
        ui,
        "Answers to each",
        &mut form.n_answers,
        1..=N_MAX_ANSWERS,
    );
}

fn paste_keys(ui: &Ui) -> String {
    let paste = egui::KeyboardShortcut::new(egui::Modifiers::COMMAND, egui::Key::V);
    ui.format_shortcut(&paste).replace('+', " ")
}

/// Draws a row with an icon, a name, what it does and its keys.
fn way_ui(ui: &mut Ui, icon: Icon, [name, about, keys]: [&str; 3]) -> Response {
    let theme = Theme::of(ui);
    let size = vec2(ui.available_width(), WAY);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), name));
    let filled = response.clone().with_new_rect(rect.expand2(vec2(8.0, 0.0)));
    let color = paint_fill(ui, &filled, ControlColors::quiet(theme), 8);
    let center = pos2(rect.left() + 8.0, rect.center().y);
    let square = Rect::from_center_size(center, Vec2::splat(16.0));
    icon.paint(ui.painter(), square, color);
    let run = TextRun::new(keys, Face::Micro, theme.text_3);
    let keys = paint_text(ui, rect.right_center(), Align2::RIGHT_CENTER, run);
    let left = rect.left() + 28.0;
    let room = keys.left() - 8.0 - left;
    let lines = [
        (-9.0, TextRun::new(name, Face::Medium, theme.text_1)),
        (9.0, TextRun::new(about, Face::Small, theme.text_3)),
    ];
    for (offset, run) in lines {
        let at = pos2(left, rect.center().y + offset);
        paint_text_within(ui, at, Align2::LEFT_CENTER, run, room);
    }
    focus_ring(ui, &filled, 8);
    response
}

/// Draws a row with the name of a list and whom it suits.
fn example_ui(ui: &mut Ui, name: &str, suits: &str) -> Response {
    let theme = Theme::of(ui);
    let size = vec2(ui.available_width(), EXAMPLE);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), name));
    let filled = response.clone().with_new_rect(rect.expand2(vec2(8.0, 0.0)));
    paint_fill(ui, &filled, ControlColors::quiet(theme), 8);
    let lines = [
        (-9.0, TextRun::new(name, Face::Body, theme.text_1)),
        (8.0, TextRun::new(suits, Face::Small, theme.text_3)),
    ];
    for (offset, run) in lines {
        let at = rect.left_center() + vec2(0.0, offset);
        paint_text_within(ui, at, Align2::LEFT_CENTER, run, rect.width());
    }
    focus_ring(ui, &filled, 8);
    response
}

/// The measures of the outlined table.
const HEAD: f32 = 64.0;
const ROW: f32 = 25.0;
const CELL: Vec2 = vec2(55.0, 22.0);
const PITCH: f32 = 58.0;
const EXPECTED: f32 = 84.0;
const BAR: f32 = 7.0;

/// Draws the outline of the table and what its cells will be.
pub(super) fn table_ui(ui: &mut Ui, area: Rect, places: &[usize]) {
    let theme = Theme::of(ui);
    let run = TextRun::new("Right answers", Face::SmallMedium, theme.text_1);
    let at = area.left_top() + vec2(0.0, 9.0);
    paint_text(ui, at, Align2::LEFT_CENTER, run);
    let most = count(f64::from((area.width() - 60.0) / PITCH));
    let n_panes = places.len().min(most);
    let cells = area.right() - n_panes as f32 * PITCH;
    let (head, body) = area.split_top_bottom_at_y(area.top() + HEAD);
    for (pane, place) in places.iter().take(n_panes).enumerate() {
        let x = cells + (pane as f32 + 0.5) * PITCH;
        let center = pos2(x, head.bottom() - 14.0);
        let badge = Rect::from_center_size(center, vec2(SMALL_BADGE, SMALL_BADGE));
        paint_badge(ui.painter(), theme, badge, *place);
    }
    let edge = Stroke::new(1.0, theme.stroke_1);
    ui.painter().hline(area.x_range(), body.top(), edge);
    let n_rows = count(f64::from((body.height() - 6.0) / ROW));
    let middle = n_rows / 2;
    for row in (0..n_rows).filter(|row| *row != middle) {
        let top = body.top() + 6.0 + row as f32 * ROW;
        outline_row_ui(ui, area.left(), cells, row, top);
        for pane in 0..n_panes {
            let left = cells + pane as f32 * PITCH + 1.5;
            let cell = Rect::from_min_size(pos2(left, top + 1.5), CELL);
            let stroke = Stroke::new(1.0, theme.stroke_2);
            ui.painter()
                .rect_stroke(cell, 2, stroke, StrokeKind::Inside);
        }
    }
    let top = body.top() + 6.0 + middle as f32 * ROW;
    let row = Rect::from_x_y_ranges(area.x_range(), top..=top + ROW);
    empty::about_ui(ui, row, TABLE);
}

/// Draws the bars for a prompt and what is expected.
fn outline_row_ui(ui: &Ui, left: f32, cells: f32, row: usize, top: f32) {
    let color = Theme::of(ui).stroke_1;
    let bar = |left: f32, width: f32, right: f32| {
        let size = vec2(width.min(right - left), BAR);
        let rect = Rect::from_min_size(pos2(left, top + 9.0), size);
        if rect.width() > 0.0 {
            ui.painter().rect_filled(rect, 3, color);
        }
    };
    // Widths that look like those of words.
    let prompt = 120.0 + ((row * 67) % 84) as f32;
    let expected = 30.0 + ((row * 29) % 34) as f32;
    let has_both = cells - left > EXPECTED + 90.0;
    let end = if has_both { cells - EXPECTED } else { cells };
    bar(left, prompt, end - 12.0);
    if has_both {
        bar(end, expected, cells - 12.0);
    }
}
