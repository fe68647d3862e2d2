//! The Prompts tab: a list of prompts on the left, the text of each pane for each prompt in the
//! middle, the selected text on the right.

use egui::{Align, Label, Layout, Popup, Rect, ScrollArea, Sense, TextEdit, Ui, vec2};

use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::style::reserve_scroll_bars;
use crate::design::theme::Theme;
use crate::design::widgets::{
    Button, SMALL_BADGE, field_frame, menu_item, paint_badge, progress_bar,
};
use crate::generation::formatting::grouped;
use crate::lab::frame::bar::note_ui;
use crate::lab::frame::setup::FOOT;
use crate::lab::frame::{Columns, Selection, Tab, TabPage};
use crate::lab::prompts::PromptsDocument;
use crate::lab::prompts::state::batch_blocking_reason;
use crate::lab::prompts::state::batch_prompts;
use crate::lab::prompts::{BatchRun, PromptsCommand};
use crate::lab::{LabCommand, LabTab};
use crate::state::{Action, AppState, Command, RunStatus};
use crate::ui::keys::key_words;

const ROW: f32 = 62.0;
const GAP: f32 = 10.0;

/// The minimum width of a column. If the columns don't fit, the table scrolls sideways.
const MIN_COLUMN: f32 = 90.0;

/// The room for the scroll bar beside the table.
const SCROLL_BAR: f32 = 12.0;

/// The maximum length of the part of a text that a cell shows, in bytes.
const N_SHOWN: usize = 160;

pub(in crate::lab) const TAB: Tab = Tab {
    bar: |ui, state, commands| batch_bar_ui(ui, state, commands),
    page: TabPage::ThreeColumns(batch_tab_ui),
    selection: Some(Selection {
        step: |lab, rows, columns| {
            if let Some(run) = &mut lab.prompts.run {
                run.move_selection(rows, columns);
            }
        },
        open: |lab| {
            let (prompt, pane) = lab.prompts.run.as_ref()?.selected?;
            Some(LabCommand::Prompts(PromptsCommand::Open { prompt, pane }))
        },
    }),
    keys: None,
};

/// Draws the three columns.
fn batch_tab_ui(
    ui: &mut Ui,
    Columns {
        left,
        middle,
        right,
        ..
    }: Columns,
    state: &mut AppState,
    commands: &mut Vec<Command>,
) {
    let (body, foot) = left.split_top_bottom_at_y(left.bottom() - FOOT);
    prompts_ui(&mut child_ui(ui, body, "prompts"), state);
    foot_ui(&mut child_ui(ui, foot, "foot"), state, commands);
    let Some(run) = &mut state.lab.prompts.run else {
        let color = Theme::of(ui).text_3;
        let words = "Type or paste prompts on the left. Each is continued in every pane.";
        ui.put(
            middle,
            Label::new(Face::Body.text(words).color(color)).wrap(),
        );
        return;
    };
    table_ui(&mut child_ui(ui, middle, "table"), run);
    text_ui(&mut child_ui(ui, right, "text"), run, commands);
}

/// Draws the summary of the list of prompts, and its export menu.
fn batch_bar_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let run = state.lab.prompts.run.as_ref();
    let is_there = run.is_some_and(|run| run.n_done().0 > 0);
    let response = ui
        .add_enabled_ui(is_there, |ui| {
            icon_button(ui, Icon::Export, "Export the texts")
        })
        .inner;
    Popup::menu(&response)
        .width(200.0)
        .gap(4.0)
        .accessible_name("Export the texts")
        .show(|ui| {
            for document in PromptsDocument::ALL {
                let label = format!("Texts as {}…", document.format_name());
                if menu_item(ui, &label, "", false).clicked() {
                    commands.push(Command::save(document));
                }
            }
        });
    if let Some(run) = run {
        note_ui(ui, &run.summary());
    }
}

fn prompts_ui(ui: &mut Ui, state: &mut AppState) {
    let theme = Theme::of(ui);
    ui.spacing_mut().item_spacing.y = 8.0;
    ui.label(Face::SmallMedium.text("Prompts").color(theme.text_1));
    let n_panes = state.panes.len();
    let n_tokens = state.limits.max_new_tokens;
    let height = (ui.available_height() - 60.0).max(60.0);
    ScrollArea::vertical().max_height(height).show(ui, |ui| {
        let edit = TextEdit::multiline(&mut state.lab.prompts.typed)
            .hint_text("One prompt per line")
            .frame(field_frame(ui))
            .desired_rows(10)
            .desired_width(f32::INFINITY);
        ui.add(edit).accessible_name("Prompts, one per line");
    });
    let n = batch_prompts(state).len();
    let words = format!(
        "{} prompts × {n_panes} panes = {} texts of up to {} tokens. Each pane keeps its settings and \
         its seed.",
        grouped(n as f64),
        grouped((n * n_panes) as f64),
        grouped(n_tokens as f64)
    );
    ui.add(Label::new(Face::Small.text(words).color(theme.text_2)).wrap());
}

/// Draws the progress, and the button that starts or stops the run.
fn foot_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let column = ui.max_rect();
    let width = column.width();
    let theme = Theme::of(ui);
    let run = state.lab.prompts.run.as_ref();
    let is_running = run.is_some_and(BatchRun::is_running);
    if let Some(run) = run.filter(|run| run.is_running()) {
        let (done, all) = run.n_done();
        progress_bar(ui, done as f32 / all.max(1) as f32);
        let label = ui.label(Face::Small.text(run.summary()).color(theme.text_2));
        label.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Status, true, run.summary()));
    } else if let Some(RunStatus::Failed { error }) = run.map(|run| &run.status) {
        let words = Face::Small.text(crate::state::capitalize(error));
        ui.add(Label::new(words.color(theme.error)).truncate());
    }
    let button = Rect::from_min_max(column.left_bottom() - vec2(0.0, 36.0), column.max);
    let mut ui = child_ui(ui, button, "run");
    if is_running {
        let stop = Button::run("Stop and keep texts", false)
            .icon(Icon::Stop)
            .hint("Esc");
        if ui.add(stop.width(width)).clicked() {
            commands.push(Command::Lab(LabCommand::Stop(LabTab::Prompts)));
        }
        return;
    }
    let reason = batch_blocking_reason(state);
    let hint = key_words(&ui, Action::Generate);
    let run = Button::run("Continue all prompts", true)
        .icon(Icon::Play)
        .hint(&hint);
    let response = ui
        .add_enabled(reason.is_none(), run.width(width))
        .on_disabled_hover_text(reason.unwrap_or_default());
    if response.clicked() {
        commands.push(Command::Lab(LabCommand::Run(LabTab::Prompts)));
    }
}

/// The horizontal layout of the table.
#[derive(Clone, Copy)]
struct TableColumns {
    left: f32,
    /// The distance from one column to the next.
    width: f32,
}

impl TableColumns {
    fn cell(self, column: usize, top: f32, height: f32) -> Rect {
        let left = self.left + column as f32 * self.width;
        Rect::from_min_size(egui::pos2(left, top), vec2(self.width - GAP, height))
    }
}

/// Draws the table: a row for each prompt, a column for each pane.
fn table_ui(ui: &mut Ui, run: &mut BatchRun) {
    let n_columns = (run.panes.len() + 1) as f32;
    let least = n_columns * MIN_COLUMN + SCROLL_BAR;
    let width = ui.available_width().max(least);
    reserve_scroll_bars(ui);
    ScrollArea::horizontal().auto_shrink(false).show(ui, |ui| {
        let size = vec2(width, ui.available_height());
        let (area, _) = ui.allocate_exact_size(size, Sense::hover());
        let (head, body) = area.split_top_bottom_at_y(area.top() + 26.0);
        let columns = TableColumns {
            left: area.left(),
            width: (width - SCROLL_BAR) / n_columns,
        };
        heads_ui(ui, head.top(), columns, run);
        rows_ui(&mut child_ui(ui, body, "rows"), columns, run);
    });
}

/// Draws the badge and the name of each pane above its column.
fn heads_ui(ui: &mut Ui, top: f32, columns: TableColumns, run: &BatchRun) {
    let theme = Theme::of(ui);
    for (place, pane) in run.panes.iter().enumerate() {
        let rect = columns.cell(place + 1, top, 18.0);
        let center = egui::pos2(rect.left() + SMALL_BADGE / 2.0, rect.center().y);
        let badge = Rect::from_center_size(center, vec2(SMALL_BADGE, SMALL_BADGE));
        paint_badge(ui.painter(), theme, badge, place);
        let words = Face::Small.text(&pane.name).color(theme.text_2);
        let name = rect.with_min_x(badge.right() + 6.0);
        child_ui(ui, name, ("name", place)).with_layout(
            Layout::left_to_right(Align::Center),
            |ui| {
                ui.add(Label::new(words).truncate());
            },
        );
    }
}

/// Draws the rows. A click selects a text.
fn rows_ui(ui: &mut Ui, columns: TableColumns, run: &mut BatchRun) {
    let theme = Theme::of(ui);
    let width = ui.max_rect().width();
    let mut clicked = None;
    let n_rows = run.prompts.len();
    ui.spacing_mut().item_spacing.y = 0.0;
    ScrollArea::vertical()
        .auto_shrink(false)
        .show_rows(ui, ROW, n_rows, |ui, rows| {
            for prompt in rows {
                let (row, _) = ui.allocate_exact_size(vec2(width, ROW), Sense::hover());
                let edge = egui::Stroke::new(1.0, theme.stroke_1);
                ui.painter().hline(row.x_range(), row.top(), edge);
                let cell = |column: usize| columns.cell(column, row.top() + 6.0, ROW - 12.0);
                let words = run.prompts.get(prompt).map_or("", |p| p.text.as_str());
                cell_ui(ui, cell(0), words, theme.text_2);
                for pane in 0..run.panes.len() {
                    let rect = cell(pane + 1);
                    let (words, color) = match run.text(prompt, pane) {
                        Some(text) => (text.text.as_str(), theme.text_1),
                        None => ("…", theme.text_3),
                    };
                    if run.selected == Some((prompt, pane)) {
                        let ring = rect.expand2(vec2(4.0, 3.0));
                        ui.painter().rect_filled(ring, 5, theme.surface_3);
                    }
                    cell_ui(ui, rect, words, color);
                    let id = ui.scope_id().with(("cell", prompt, pane));
                    let response = ui.interact(rect, id, Sense::click());
                    let letter = run.panes.get(pane).map_or("", |pane| pane.letter.as_str());
                    response.widget_info(|| {
                        let name = format!("Prompt {}, pane {letter}: {words}", prompt + 1);
                        let is_selected = run.selected == Some((prompt, pane));
                        egui::WidgetInfo::selected(egui::Role::Cell, true, is_selected, name)
                    });
                    crate::design::widgets::focus_ring(ui, &response, 4);
                    if response.clicked() {
                        clicked = Some((prompt, pane));
                    }
                }
            }
        });
    if clicked.is_some() {
        run.selected = clicked;
    }
}

/// Draws the beginning of a text in a cell.
fn cell_ui(ui: &mut Ui, rect: Rect, words: &str, color: egui::Color32) {
    let end = words.floor_char_boundary(N_SHOWN);
    let words = words.get(..end).unwrap_or_default();
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut job = egui::text::LayoutJob::simple(words, Face::Small.font(), color, rect.width());
    job.wrap.max_rows = 3;
    let galley = ui.painter().layout_job(job);
    ui.painter().galley(rect.min, galley, color);
}

/// Draws the selected text in full.
fn text_ui(ui: &mut Ui, run: &BatchRun, commands: &mut Vec<Command>) {
    let theme = Theme::of(ui);
    ui.spacing_mut().item_spacing.y = 8.0;
    let Some((prompt, pane)) = run.selected else {
        let words = "Select a text to read it in full.";
        ui.label(Face::Small.text(words).color(theme.text_3));
        return;
    };
    let (Some(text), Some(owner)) = (run.text(prompt, pane), run.panes.get(pane)) else {
        ui.label(Face::Small.text("Not written yet.").color(theme.text_3));
        return;
    };
    ui.horizontal(|ui| {
        let title = format!("Prompt {}, pane {}", prompt + 1, owner.letter);
        ui.label(Face::Strong.text(title).color(theme.text_1));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let open = Button::new("Open as pane").icon(Icon::Plus).hint("↵");
            if ui.add(open).clicked() {
                commands.push(Command::Lab(LabCommand::Prompts(PromptsCommand::Open {
                    prompt,
                    pane,
                })));
            }
        });
    });
    let n = grouped(text.figures.n_tokens as f64);
    let end = text.finish_words(&owner.chain);
    let facts = format!("Seed {} · {n} tokens · {end}", owner.seed);
    ui.label(Face::Small.text(facts).color(theme.text_3));
    ScrollArea::vertical()
        .id_salt((prompt, pane))
        .auto_shrink(false)
        .show(ui, |ui| {
            ui.set_max_width(ui.available_width() - 12.0);
            let before = run.prompts.get(prompt).map_or("", |p| p.text.as_str());
            let words = Face::Why.text(before).color(theme.text_3);
            ui.add(Label::new(words).wrap());
            let words = Face::Why.text(&text.text).color(theme.text_1);
            ui.add(Label::new(words).wrap());
        });
}
