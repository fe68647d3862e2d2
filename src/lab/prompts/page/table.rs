//! The middle of the Table view: the rows, of which only the visible ones are drawn, and what they
//! show.

use egui::{Label, Rect, Role, ScrollArea, Sense, Stroke, Ui, WidgetInfo, vec2};

use super::sorting;
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::style::reserve_scroll_bars;
use crate::design::theme::Theme;
use crate::design::widgets::{Button, focus_ring};
use crate::generation::formatting::counted;
use crate::lab::prompts::TasksRun;
use crate::lab::prompts::figures::{TaskResults, TasksReading};
use crate::lab::prompts::plot::{
    TableColumns, all_row_ui, better_by_height, better_by_ui, cell_words, heads_ui, row_ui,
    title_ui,
};
use crate::lab::{LabCommand, LabTab};
use crate::state::Command;

/// The heights of the names of the columns and of the row of totals.
const HEADS: f32 = 38.0;
const ALL: f32 = 44.0;

/// The room for the scroll bar beside the rows, and for the fill of the selected row.
const SCROLL_BAR: f32 = 14.0;
const FILL: f32 = 6.0;

/// The width of the differences, and the height of the part below the table: at least, and at most as
/// a share.
const BETTER_BY: f32 = 232.0;
const BELOW: f32 = 118.0;
const MOST_BELOW: f32 = 0.42;

/// The distance of a column's content to the lines around it.
const MARGIN: f32 = 14.0;

/// Draws the table, and what it shows below it.
pub(super) fn show(ui: &mut Ui, run: &mut TasksRun, commands: &mut Vec<Command>) {
    let area = ui.max_rect();
    let is_judged = run.results.is_judged();
    let mut table = title_ui(ui, area, &run.results, &run.reading);
    if is_judged && run.reading.verdict.is_some() {
        let height = (better_by_height(&run.reading) + MARGIN).max(BELOW);
        let height = height.min(area.height() * MOST_BELOW);
        let (above, below) = table.split_top_bottom_at_y(table.bottom() - height);
        table = above;
        below_ui(&mut child_ui(ui, below, "below"), run, commands);
    }
    let least = TableColumns::min_width(&run.results) + SCROLL_BAR;
    let width = table.width().max(least);
    let mut ui = child_ui(ui, table, "table");
    reserve_scroll_bars(&mut ui);
    ScrollArea::horizontal()
        .auto_shrink(false)
        .show(&mut ui, |ui| {
            let size = vec2(width, ui.available_height());
            let (area, _) = ui.allocate_exact_size(size, Sense::hover());
            let columns = TableColumns::new(area.left(), width - SCROLL_BAR, &run.results);
            let (heads, mut rows) = area.split_top_bottom_at_y(area.top() + HEADS);
            heads_ui(ui, heads, columns, &run.results);
            if let Some(order) = sorting::show(ui, heads, columns, run) {
                run.reading.sort_by(order, &run.results);
            }
            if is_judged {
                let (all, rest) = rows.split_top_bottom_at_y(rows.top() + ALL);
                let all = all.with_max_x(all.right() - SCROLL_BAR);
                all_row_ui(ui, all, columns, &run.results, &run.reading);
                if all_ui(ui, all, &run.results) {
                    run.selected = None;
                }
                rows = rest;
            }
            rows_ui(
                &mut child_ui(ui, rows.with_min_x(rows.left() - FILL), "rows"),
                columns,
                run,
            );
        });
}

/// Lets the user point at the row of all tasks. Returns whether it was clicked.
fn all_ui(ui: &Ui, row: Rect, results: &TaskResults) -> bool {
    let response = ui.interact(row, ui.scope_id().with("all"), Sense::click());
    response.widget_info(|| {
        let tasks = counted(results.n_comparable(), "task");
        WidgetInfo::labeled(Role::Button, true, format!("All {tasks}"))
    });
    focus_ring(ui, &response, 3);
    response.clicked()
}

/// Draws the visible rows. A click selects a cell.
fn rows_ui(ui: &mut Ui, columns: TableColumns, run: &mut TasksRun) {
    let width = ui.max_rect().width() - SCROLL_BAR;
    let height = TableColumns::row_height(&run.results);
    let order = &run.reading.order;
    let mut clicked = None;
    ui.spacing_mut().item_spacing.y = 0.0;
    let id = ui.scope_id().with("selected row");
    let selected_row = shown_row(ui, run, id);
    let mut scroll = ScrollArea::vertical().auto_shrink(false);
    if let Some(row) = selected_row {
        let view = ui.available_height();
        let top = row as f32 * height;
        let before: f32 = ui
            .data(|data| data.get_temp(id.with("offset")))
            .unwrap_or(0.0);
        let offset = before.clamp((top + height - view).max(0.0), top.max(0.0));
        scroll = scroll.vertical_scroll_offset(offset);
    }
    let shown = scroll.show_rows(ui, height, order.len(), |ui, rows| {
        for task in order.get(rows).unwrap_or_default() {
            let (row, _) = ui.allocate_exact_size(vec2(width, height), Sense::hover());
            let row = row.with_min_x(row.left() + FILL);
            let pane = run.selected.filter(|(selected, _)| selected == task);
            let pane = pane.map(|(_, pane)| pane);
            row_ui(ui, row, columns, &run.results, (*task, pane));
            clicked = clicked.or(cells_ui(ui, row, columns, &run.results, (*task, pane)));
        }
    });
    ui.data_mut(|data| data.insert_temp(id.with("offset"), shown.state.clamped_offset().y));
    if let Some((task, pane)) = clicked {
        let pane = pane.or(run.selected.map(|(_, pane)| pane));
        run.select(task, pane.unwrap_or(0));
    }
}

/// Returns the row of the selection if it has changed since the last frame, so that it is scrolled
/// into view.
fn shown_row(ui: &Ui, run: &TasksRun, id: egui::Id) -> Option<usize> {
    let before: Option<(usize, usize)> = ui.data(|data| data.get_temp(id));
    let selected = run.selected?;
    if before == Some(selected) {
        return None;
    }
    ui.data_mut(|data| data.insert_temp(id, selected));
    let mut order = run.reading.order.iter();
    order.position(|task| *task == selected.0)
}

/// Lets the user point at the cells of a row, and at its prompt. Returns the task that was clicked,
/// and its pane.
fn cells_ui(
    ui: &Ui,
    row: Rect,
    columns: TableColumns,
    results: &TaskResults,
    (task, selected): (usize, Option<usize>),
) -> Option<(usize, Option<usize>)> {
    let mut clicked = None;
    let prompt = row.with_max_x(columns.cell(0, row).left());
    let id = ui.scope_id().with(("task", task));
    let response = ui.interact(prompt, id, Sense::click());
    response.widget_info(|| {
        let name = format!("Task {}: {}", task + 1, results.prompt_words(task));
        WidgetInfo::labeled(Role::Cell, true, name)
    });
    if response.clicked() {
        clicked = Some((task, None));
    }
    for pane in 0..results.panes.len() {
        let cell = columns.cell(pane, row);
        let id = ui.scope_id().with(("cell", task, pane));
        let response = ui.interact(cell, id, Sense::click());
        response.widget_info(|| {
            let is_selected = selected == Some(pane);
            let name = cell_words(results, (task, pane));
            WidgetInfo::selected(Role::Cell, true, is_selected, name)
        });
        focus_ring(ui, &response, 3);
        if response.clicked() {
            clicked = Some((task, Some(pane)));
        }
    }
    clicked
}

/// Says what the answers show, and by how much the best settings are better.
fn below_ui(ui: &mut Ui, run: &TasksRun, commands: &mut Vec<Command>) {
    let theme = Theme::of(ui);
    let area = ui.max_rect();
    let edge = Stroke::new(1.0, theme.stroke_1);
    let line = area.expand2(vec2(MARGIN, 0.0));
    ui.painter().hline(line.x_range(), area.top(), edge);
    let inside = area.with_min_y(area.top() + 11.0);
    let height = better_by_height(&run.reading);
    let mut words = inside;
    if height > 0.0 && inside.width() > BETTER_BY + 120.0 {
        let (left, right) = inside.split_left_right_at_x(inside.right() - BETTER_BY);
        words = left.with_max_x(left.right() - 20.0);
        let mut ui = child_ui(ui, right, "better by");
        ScrollArea::vertical()
            .auto_shrink(false)
            .show(&mut ui, |ui| {
                let size = vec2(ui.available_width(), height);
                let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
                better_by_ui(ui, rect, &run.reading, &run.results);
            });
    }
    let mut ui = child_ui(ui, words, "verdict");
    ui.spacing_mut().item_spacing.y = 4.0;
    ScrollArea::vertical()
        .auto_shrink(false)
        .show(&mut ui, |ui| {
            ui.set_max_width(ui.available_width() - 8.0);
            decided_ui(ui, run, commands);
            verdict_ui(ui, &run.reading);
        });
}

/// Says that the run can stop because one of the settings is better, beyond doubt.
fn decided_ui(ui: &mut Ui, run: &TasksRun, commands: &mut Vec<Command>) {
    let Some((better, worse)) = run.reading.decided.filter(|_| run.is_running()) else {
        return;
    };
    let letter = |pane: usize| run.results.panes.get(pane).map_or("", |pane| &pane.letter);
    let words = format!(
        "Already decided: {} is better than {}.",
        letter(better),
        letter(worse)
    );
    ui.horizontal_wrapped(|ui| {
        let words = Face::Medium.text(words).color(Theme::of(ui).text_1);
        ui.label(words);
        if ui.add(Button::new("Stop here")).clicked() {
            commands.push(Command::Lab(LabCommand::Stop(LabTab::Prompts)));
        }
    });
}

fn verdict_ui(ui: &mut Ui, reading: &TasksReading) {
    let theme = Theme::of(ui);
    let Some(verdict) = &reading.verdict else {
        return;
    };
    let words = Face::Why.text(&verdict.sentence).color(theme.text_1);
    ui.add(Label::new(words).wrap());
    if let Some(limits) = &verdict.limits {
        let words = Face::Small.text(limits).color(theme.text_2);
        ui.add(Label::new(words).wrap());
    }
}
