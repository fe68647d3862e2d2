//! The command palette: a field, and below it the actions, settings, presets and pages that match
//! what was typed.

mod row;
#[cfg(test)]
mod tests;

use egui::{
    Align, Align2, Color32, FontSelection, Frame, Id, Key, Layout, Margin, Modal, Modifiers,
    Response, ScrollArea, Sense, TextEdit, Ui, vec2,
};

use self::row::{RowFrame, row_ui};
use super::help::show_page;
use crate::decoding::Selector;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::generation::formatting::counted;
use crate::reference::Page;
use crate::state::{
    AppState, Command, Palette, PaletteCommand, PaletteRow, PaletteRun, PaneSetting,
};

const WIDTH: f32 = 560.0;

/// The distance from the top of the window, in points.
const TOP: f32 = 96.0;

const ROW: f32 = 32.0;

/// The maximum number of visible rows.
const MAX_ROWS: usize = 8;

/// The height of the field with the space around it, the line below the list, and the space below
/// that, in points.
const HEIGHT_AROUND_LIST: f32 = 84.0;

/// The height of the line that says what the keys do.
const KEYS: f32 = 24.0;

const PADDING: f32 = 10.0;

/// Draws the palette, if it is open.
pub(super) fn palette_ui(ui: &Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let Some(mut palette) = state.dialogs.palette.take() else {
        return;
    };
    let mut rows = palette.rows(state);
    if pane_keys_ui(ui, &mut palette, &rows, state) {
        rows = palette.rows(state);
    }
    let moved = keys_ui(ui, &mut palette, &rows, state, commands);
    let theme = Theme::of(ui);
    let frame = Frame::window(ui.style()).inner_margin(6);
    let id = Id::unique("palette");
    let area = Modal::default_area(id)
        .anchor(Align2::CENTER_TOP, vec2(0.0, top(ui)))
        .fade_in(false);
    let modal = Modal::new(id)
        .area(area)
        .frame(frame)
        .backdrop_color(Color32::TRANSPARENT);
    let response = modal.show(ui, |ui| {
        ui.set_width(WIDTH.min(ui.content_rect().width() - 48.0));
        ui.spacing_mut().item_spacing.y = 0.0;
        let field = field_ui(ui, &mut palette);
        let line = ui.min_rect().bottom() + 5.0;
        let stroke = (1.0, theme.stroke_1);
        ui.painter().hline(ui.max_rect().x_range(), line, stroke);
        ui.add_space(11.0);
        let shown = list_ui(ui, &mut palette, &rows, (state, moved), commands);
        key_line_ui(ui, &palette, &rows);
        announce(ui, &field, shown.as_ref(), rows.len());
    });
    if response.should_close() {
        commands.push(Command::Palette(PaletteCommand::Close));
    }
    state.dialogs.palette = Some(palette);
}

/// Returns the distance from the top of the window; less if the window is short.
fn top(ui: &Ui) -> f32 {
    TOP.min(ui.content_rect().height() * 0.12)
}

/// Lets the left and right arrow keys choose the pane that the selected row is about. Returns
/// whether another one was chosen.
fn pane_keys_ui(ui: &Ui, palette: &mut Palette, rows: &[PaletteRow], state: &AppState) -> bool {
    let selected = rows.get(palette.selected.min(rows.len().saturating_sub(1)));
    if !selected.is_some_and(|row| row.run.is_of_pane()) {
        return false;
    }
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let place = palette.place(state);
    let mut panes = state.panes.placed();
    let chosen = if pressed(Key::ArrowRight) {
        panes.find(|(other, _)| *other > place)
    } else if pressed(Key::ArrowLeft) {
        panes.rfind(|(other, _)| *other < place)
    } else {
        None
    };
    palette.pane = chosen.map(|(_, pane)| pane.id).or(palette.pane);
    chosen.is_some()
}

/// Moves the selection and runs the selected row. Call it before the field consumes the keys.
/// Returns whether the selection moved.
fn keys_ui(
    ui: &Ui,
    palette: &mut Palette,
    rows: &[PaletteRow],
    state: &AppState,
    commands: &mut Vec<Command>,
) -> bool {
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let last = rows.len().saturating_sub(1);
    let before = palette.selected;
    let selected = before.min(last);
    let page = MAX_ROWS - 1;
    palette.selected = if pressed(Key::ArrowDown) {
        if selected == last { 0 } else { selected + 1 }
    } else if pressed(Key::ArrowUp) {
        selected.checked_sub(1).unwrap_or(last)
    } else if pressed(Key::PageDown) {
        (selected + page).min(last)
    } else if pressed(Key::PageUp) {
        selected.saturating_sub(page)
    } else {
        selected
    };
    if pressed(Key::Enter)
        && let Some(row) = rows.get(palette.selected)
    {
        run(ui, row, palette.place(state), state, commands);
    }
    palette.selected != before
}

/// Runs a row for the pane at this place, if it is possible now.
fn run(ui: &Ui, row: &PaletteRow, place: usize, state: &AppState, commands: &mut Vec<Command>) {
    let Some(pane) = state.panes.get(place).filter(|_| row.blocked.is_none()) else {
        return;
    };
    let command = match &row.run {
        PaletteRun::Action(action) => PaletteCommand::Run(*action),
        PaletteRun::Setting(setting) => PaletteCommand::Edit(pane.id, *setting),
        PaletteRun::Preset(chain) => PaletteCommand::UsePreset(pane.id, chain.clone()),
        PaletteRun::Help(setting) => {
            if let Some(page) = page_of(*setting) {
                show_page(ui.ctx(), page, commands);
            }
            PaletteCommand::Close
        }
    };
    commands.push(Command::Palette(command));
}

/// Returns the help’s page about a setting, if there is one.
fn page_of(setting: PaneSetting) -> Option<Page> {
    match setting {
        PaneSetting::Filter(kind) => Some(Page::of_filter(kind)),
        PaneSetting::Draw(index) => {
            let spec = Selector::SPECS.get(index)?;
            Some(Page::of_draw(spec.usual))
        }
        PaneSetting::Seed
        | PaneSetting::Guidance(_)
        | PaneSetting::Grammar(_)
        | PaneSetting::Drafts(_) => None,
    }
}

fn field_ui(ui: &mut Ui, palette: &mut Palette) -> Response {
    let theme = Theme::of(ui);
    let size = vec2(ui.available_width(), 40.0);
    let layout = Layout::left_to_right(Align::Center);
    let row = ui.allocate_ui_with_layout(size, layout, |ui| {
        ui.set_min_size(size);
        ui.add_space(PADDING);
        let (square, _) = ui.allocate_exact_size(vec2(16.0, 16.0), Sense::hover());
        Icon::Search.paint(ui.painter(), square, theme.text_3);
        let hint = Face::Run
            .text("Find an action, a setting or a page")
            .color(theme.text_3);
        let edit = TextEdit::singleline(&mut palette.query)
            .font(FontSelection::FontId(Face::Body.font()))
            .hint_text(hint.font(Face::Body.font()))
            .frame(Frame::NONE)
            .margin(Margin::ZERO)
            .align(Align2::LEFT_CENTER)
            .min_size(vec2(0.0, 40.0))
            .desired_width(f32::INFINITY);
        ui.add(edit).accessible_name("Find an action")
    });
    let field = row.inner;
    if field.changed() {
        palette.selected = 0;
    }
    if !field.has_focus() {
        field.request_focus();
    }
    field
}

/// Draws the rows. Returns the selected one.
fn list_ui(
    ui: &mut Ui,
    palette: &mut Palette,
    rows: &[PaletteRow],
    (state, moved): (&AppState, bool),
    commands: &mut Vec<Command>,
) -> Option<Response> {
    if rows.is_empty() {
        let words = Face::Body.text("Nothing found");
        ui.horizontal(|ui| {
            ui.add_space(PADDING);
            ui.set_min_height(ROW);
            ui.label(words.color(Theme::of(ui).text_3));
        });
        return None;
    }
    let place = palette.place(state);
    let below = if has_key_line(rows) { KEYS } else { 0.0 };
    let room = ui.content_rect().height() - top(ui) - HEIGHT_AROUND_LIST - below;
    let height = room.min(MAX_ROWS as f32 * ROW).max(ROW);
    let mut selected = None;
    ScrollArea::vertical()
        .max_height(height)
        .min_scrolled_height(height)
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            for (index, row) in rows.iter().enumerate() {
                let is_selected = index == palette.selected;
                let frame = RowFrame { is_selected, place };
                let response = row_ui(ui, row, &frame, state);
                if response.row.clicked() {
                    run(ui, row, response.pane.unwrap_or(place), state, commands);
                }
                if is_selected {
                    if moved {
                        response.row.scroll_to_me(None);
                    }
                    selected = Some(response.row);
                }
            }
        });
    selected
}

/// Returns whether any row is about one of the panes.
fn has_key_line(rows: &[PaletteRow]) -> bool {
    rows.iter().any(|row| row.run.is_of_pane())
}

/// Draws what the keys do with the selected row.
fn key_line_ui(ui: &mut Ui, palette: &Palette, rows: &[PaletteRow]) {
    if !has_key_line(rows) {
        return;
    }
    let run = rows.get(palette.selected).map(|row| &row.run);
    let enter = match run {
        Some(PaletteRun::Setting(_)) => "↵ opens its editor at that row",
        Some(PaletteRun::Preset(_)) => "↵ uses the preset there",
        Some(PaletteRun::Action(_) | PaletteRun::Help(_)) | None => "",
    };
    let arrows = if run.is_some_and(PaletteRun::is_of_pane) {
        "← → choose the pane"
    } else {
        ""
    };
    ui.horizontal(|ui| {
        ui.set_min_height(KEYS);
        ui.add_space(PADDING);
        ui.spacing_mut().item_spacing.x = 12.0;
        let color = Theme::of(ui).text_3;
        for words in [arrows, enter]
            .into_iter()
            .filter(|words| !words.is_empty())
        {
            ui.label(Face::Micro.text(words).color(color));
        }
    });
}

/// Tells a screen reader how many rows match, and which one Enter runs.
fn announce(ui: &Ui, field: &Response, selected: Option<&Response>, n_rows: usize) {
    ui.ctx().accesskit_node_builder(field.id, |node| {
        node.set_description(counted(n_rows, "result"));
        if let Some(selected) = selected {
            node.set_active_descendant(selected.id.accesskit_id());
        }
    });
}
