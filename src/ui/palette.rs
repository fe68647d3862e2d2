//! The command palette: a field, and below it the actions that match what was typed.

use egui::text::{LayoutJob, TextWrapping};
use egui::{
    Align, Align2, Color32, FontSelection, Frame, Id, Key, Layout, Margin, Modal, Modifiers,
    Response, Role, ScrollArea, Sense, TextEdit, Ui, WidgetInfo, pos2, vec2,
};

use super::keys::key_words;
use crate::design::fonts::Face;
use crate::design::icons::Icon;
use crate::design::theme::Theme;
use crate::state::{AppState, Command, Palette, PaletteCommand, PaletteRow};

const WIDTH: f32 = 560.0;

/// The distance from the top of the window, in points.
const TOP: f32 = 96.0;

const ROW: f32 = 32.0;

/// The maximum number of visible rows.
const MAX_ROWS: usize = 10;

/// The height of the field with the space around it, and the space below the list, in points.
const HEIGHT_AROUND_LIST: f32 = 84.0;

const PADDING: f32 = 10.0;

/// Draws the palette, if it is open.
pub(super) fn palette_ui(ui: &Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let Some(mut palette) = state.dialogs.palette.take() else {
        return;
    };
    let rows = PaletteRow::found(&palette.query, state);
    let moved = keys_ui(ui, &mut palette, &rows, commands);
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
        let shown = list_ui(ui, &mut palette, &rows, moved, commands);
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

/// Moves the selection and runs the selected action. Call it before the field consumes the keys.
/// Returns whether the selection moved.
fn keys_ui(
    ui: &Ui,
    palette: &mut Palette,
    rows: &[PaletteRow],
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
        && row.blocked.is_none()
    {
        commands.push(Command::Palette(PaletteCommand::Run(row.action)));
    }
    palette.selected != before
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
        let hint = Face::Run.text("Find an action").color(theme.text_3);
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

/// Draws the actions. Returns the selected row.
fn list_ui(
    ui: &mut Ui,
    palette: &mut Palette,
    rows: &[PaletteRow],
    moved: bool,
    commands: &mut Vec<Command>,
) -> Option<Response> {
    if rows.is_empty() {
        let words = Face::Body.text("No matching actions");
        ui.horizontal(|ui| {
            ui.add_space(PADDING);
            ui.set_min_height(ROW);
            ui.label(words.color(Theme::of(ui).text_3));
        });
        return None;
    }
    let room = ui.content_rect().height() - top(ui) - HEIGHT_AROUND_LIST;
    let height = room.min(MAX_ROWS as f32 * ROW).max(ROW);
    let mut selected = None;
    ScrollArea::vertical()
        .max_height(height)
        .min_scrolled_height(height)
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            for (index, row) in rows.iter().enumerate() {
                let is_selected = index == palette.selected;
                let response = row_ui(ui, row, is_selected);
                if response.clicked() && row.blocked.is_none() {
                    commands.push(Command::Palette(PaletteCommand::Run(row.action)));
                }
                if is_selected {
                    if moved {
                        response.scroll_to_me(None);
                    }
                    selected = Some(response);
                }
            }
        });
    selected
}

/// Draws an action's name and place, and on the right its keys, or why it is unavailable now.
fn row_ui(ui: &mut Ui, row: &PaletteRow, is_selected: bool) -> Response {
    let theme = Theme::of(ui);
    let size = vec2(ui.available_width(), ROW);
    // The field keeps the focus: the arrow keys select a row.
    let (rect, response) = ui.allocate_exact_size(size, Sense::CLICK);
    let (place, keys) = (row.action.place(), key_words(ui, row.action));
    let aside = row.blocked.as_deref().unwrap_or(&keys);
    let name = [row.name.as_str(), place, aside]
        .into_iter()
        .filter(|words| !words.is_empty())
        .collect::<Vec<_>>()
        .join(", ");
    let is_possible = row.blocked.is_none();
    response
        .widget_info(|| WidgetInfo::selected(Role::ListBoxOption, is_possible, is_selected, &name));
    let id = response.id;
    ui.ctx()
        .accesskit_node_builder(id, |node| node.set_selected(is_selected));
    if !ui.is_rect_visible(rect) {
        return response;
    }
    if is_selected {
        ui.painter().rect_filled(rect, 6, theme.surface_3);
    } else if response.hovered() {
        ui.painter().rect_filled(rect, 6, theme.surface_2);
    }
    let painter = ui.painter();
    let lay_out =
        |text: &str, face: Face, color| painter.layout_no_wrap(text.to_owned(), face.font(), color);
    let aside = lay_out(aside, Face::Micro, theme.text_3);
    let color = if is_possible {
        theme.text_1
    } else {
        theme.text_2
    };
    let right = rect.right() - PADDING - aside.size().x;
    let left = rect.left() + PADDING;
    let mut name = LayoutJob::simple_singleline(row.name.clone(), Face::Body.font(), color);
    name.wrap = TextWrapping::truncate_at_width(right - left - PADDING);
    let name = painter.layout_job(name);
    let place = lay_out(place, Face::Small, theme.text_3);
    let at = |x: f32, height: f32| pos2(x, rect.center().y - height / 2.0);
    let place_left = left + name.size().x + 8.0;
    painter.galley(at(left, name.size().y), name, color);
    if place_left + place.size().x < right - PADDING {
        painter.galley(at(place_left, place.size().y), place, theme.text_3);
    }
    painter.galley(at(right, aside.size().y), aside, theme.text_3);
    response
}

/// Tells a screen reader how many actions match, and which one Enter runs.
fn announce(ui: &Ui, field: &Response, selected: Option<&Response>, n_rows: usize) {
    ui.ctx().accesskit_node_builder(field.id, |node| {
        let noun = if n_rows == 1 { "action" } else { "actions" };
        node.set_description(format!("{n_rows} {noun}"));
        if let Some(selected) = selected {
            node.set_active_descendant(selected.id.accesskit_id());
        }
    });
}

#[cfg(test)]
mod tests {
    use egui::{Event, Key, Modifiers, vec2};
    use egui_kittest::kittest::{NodeT as _, Queryable as _};

    use crate::state::tests::{ready, written};
    use crate::state::{AppState, DockTab, Pace, Tint};
    use crate::ui::testing::{Window, key, press, window_of};

    fn typed(state: AppState, query: &str) -> Window {
        let mut window = window_of(vec2(1280.0, 800.0), state);
        key(&mut window, Modifiers::COMMAND, Key::K);
        window.event(Event::Text(query.to_owned()));
        window.run_steps(3);
        window
    }

    #[test]
    fn an_action_is_found_and_run_with_the_keyboard_alone() {
        let mut window = typed(written(), "x-r");
        key(&mut window, Modifiers::NONE, Key::Enter);
        assert_eq!(window.state().view.dock_tab, DockTab::Xray);
        assert!(window.state().dialogs.palette.is_none());
    }

    #[test]
    fn the_arrow_keys_select_and_a_screen_reader_follows() {
        let mut window = typed(written(), "tint");
        key(&mut window, Modifiers::NONE, Key::ArrowDown);
        // The field keeps the keyboard focus; a screen reader follows its active descendant.
        let chosen = window.get_by_label("Tint: Rank").accesskit_node();
        assert!(chosen.is_focused());
        assert_eq!(chosen.is_selected(), Some(true));
        key(&mut window, Modifiers::NONE, Key::Enter);
        assert_eq!(window.state().view.tint, Tint::Rank);
    }

    #[test]
    fn an_unavailable_action_says_why_and_keeps_the_palette_open() {
        let mut window = typed(ready(), "export everything");
        window.get_by_label("Export everything…, Export, Generate a text first");
        key(&mut window, Modifiers::NONE, Key::Enter);
        assert!(window.state().dialogs.palette.is_some());
        key(&mut window, Modifiers::NONE, Key::Escape);
        assert!(window.state().dialogs.palette.is_none());
    }

    #[test]
    fn the_palette_opens_from_the_top_bar_and_takes_clicks() {
        let mut window = window_of(vec2(900.0, 600.0), ready());
        press(&mut window, "Find an action (Ctrl K)");
        window.event(Event::Text("step by".to_owned()));
        window.run_steps(3);
        press(&mut window, "Step by step, Pace");
        assert_eq!(window.state().pace, Pace::Step);
    }
}
