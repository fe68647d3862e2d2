//! The prompts of a cell of the map: those that change most first, each with its share in the cell.

use egui::{Align2, Role, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2};

use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::focus_ring;
use crate::lab::prompts::{PromptShare, SweepRun};
use crate::plots::{TextRun, heat_step, paint_text, paint_text_within};

const ROW: f32 = 24.0;

/// The height of the list: at most this many rows.
const N_ROWS: usize = 8;

/// The room for the share.
const SHARE: f32 = 52.0;

/// Draws the list. Returns the task that was clicked.
pub(super) fn cell_tasks_ui(ui: &mut Ui, run: &SweepRun, cell: usize) -> Option<usize> {
    let tasks = &run.reading.deciding;
    if tasks.is_empty() {
        let words = "No prompt changes by more than two points.";
        ui.label(Face::Small.text(words).color(Theme::of(ui).text_2));
        return None;
    }
    let mut clicked = None;
    let shown = run.shown_task();
    ui.spacing_mut().item_spacing.y = 0.0;
    ScrollArea::vertical()
        .id_salt("prompts of the cell")
        .max_height(ROW * tasks.len().min(N_ROWS) as f32)
        .auto_shrink([false, true])
        .show_rows(ui, ROW, tasks.len(), |ui, rows| {
            for task in tasks.get(rows).unwrap_or_default() {
                if row_ui(ui, run, (*task, cell), shown == Some(*task)) {
                    clicked = Some(*task);
                }
            }
        });
    clicked
}

/// Draws a prompt and its share. Returns whether it was clicked.
fn row_ui(ui: &mut Ui, run: &SweepRun, (task, cell): (usize, usize), is_selected: bool) -> bool {
    let theme = Theme::of(ui);
    let size = vec2(ui.available_width(), ROW);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let share = run.sweep.share(&run.results, task, cell);
    let share = share.map(PromptShare::value);
    let percent = share.map_or("–".to_owned(), |share| format!("{:.0} %", share * 100.0));
    let prompt = run.results.prompt_words(task);
    response.widget_info(|| {
        let name = format!("Task {}, {percent}: {prompt}", task + 1);
        WidgetInfo::selected(Role::Button, true, is_selected, name)
    });
    if is_selected {
        ui.painter().rect_filled(rect, 4, theme.surface_3);
    }
    let (words, number) = rect.split_left_right_at_x(rect.right() - SHARE);
    let run = TextRun::new(&prompt, Face::Candidate, theme.text_2);
    let at = pos2(words.left() + 4.0, words.center().y);
    paint_text_within(ui, at, Align2::LEFT_CENTER, run, words.width() - 12.0);
    let number = number.shrink2(vec2(0.0, 2.0));
    let ink = match share.map(heat_step) {
        Some(step) => {
            ui.painter().rect_filled(number, 2, theme.heat(step));
            theme.heat_ink(step)
        }
        None => theme.text_3,
    };
    let run = TextRun::new(&percent, Face::Small, ink);
    paint_text(ui, number.center(), Align2::CENTER_CENTER, run);
    focus_ring(ui, &response, 4);
    response.clicked()
}
