//! The models dialog, and files dropped onto the window.

mod compute;
mod drop;
mod hub_row;
mod row;
mod row_frame;
mod servers;
#[cfg(test)]
mod tests;
mod words;

use egui::{Align, Id, Label, Layout, Modal, ScrollArea, Sense, TextEdit, Ui, vec2};

use self::compute::compute_ui;
use self::hub_row::hub_rows_ui;
use self::row::row_ui;
use self::servers::servers_ui;
use super::dock::tab_ui;
use super::keys::entered;
use super::layout::TABS;
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::{Button, field_frame};
use crate::state::{
    AppState, Command, HubCommand, HubState, ModelsCommand, ModelsTab, PathPurpose,
};

pub(super) use compute::choices_ui;
pub(super) use drop::drop_ui;
pub(super) use words::count_words;

/// The dialog's outer size in points, if the window is large enough.
const SIZE: egui::Vec2 = vec2(760.0, 540.0);

/// The dialog's inner margin in points.
const MARGIN: f32 = 22.0;

/// The padding on each side of a tab's label, in points.
const TAB_PADDING: f32 = 10.0;

/// The width reserved for the scroll bar, to the right of the rows, in points.
const SCROLL_BAR: f32 = 14.0;

/// The height of the footer below the list, in points.
const FOOT: f32 = 56.0;

/// Draws the dialog, if it is open.
pub(super) fn models_dialog_ui(ui: &Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    if !state.models.dialog_open {
        return;
    }
    let theme = Theme::of(ui);
    let available = ui.content_rect().size() - vec2(24.0, 24.0);
    let size = SIZE.min(available) - vec2(2.0 * MARGIN, 2.0 * MARGIN);
    let frame = egui::Frame::window(ui.style()).inner_margin(MARGIN);
    let modal = Modal::new(Id::unique("models"))
        .frame(frame)
        .backdrop_color(theme.backdrop);
    let response = modal.show(ui, |ui| {
        ui.set_width(size.x);
        ui.set_height(size.y);
        head_ui(ui, commands);
        ui.add_space(8.0);
        search_ui(ui, &mut state.models.hub, commands);
        ui.add_space(4.0);
        tabs_ui(ui, state);
        let (above, foot) = ui
            .max_rect()
            .split_top_bottom_at_y(ui.max_rect().bottom() - FOOT);
        let mut list = above.with_min_y(ui.cursor().top());
        list.max.x += SCROLL_BAR;
        list_ui(&mut child_ui(ui, list, "list"), state, commands);
        compute_ui(&mut child_ui(ui, foot, "foot"), state, commands);
    });
    if response.should_close() {
        commands.push(Command::Models(ModelsCommand::CloseDialog));
    }
}

fn head_ui(ui: &mut Ui, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        ui.set_min_height(28.0);
        let title = Face::Title.text("Models").color(Theme::of(ui).text_1);
        ui.label(title);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if icon_button(ui, Icon::Close, "Close").clicked() {
                commands.push(Command::Models(ModelsCommand::CloseDialog));
            }
            let folder = Button::new("Open a folder…");
            let folder = ui
                .add(folder)
                .on_hover_text("A folder with safetensors and config.json");
            if folder.clicked() {
                commands.push(Command::AskPath(PathPurpose::ModelFolder));
            }
            let file = Button::new("Open a file…").icon(Icon::File);
            let file = ui.add(file).on_hover_text("A GGUF file");
            if file.clicked() {
                commands.push(Command::AskPath(PathPurpose::ModelFile));
            }
        });
    });
}

/// Draws the search field. It sends nothing until Enter is pressed.
fn search_ui(ui: &mut Ui, hub: &mut HubState, commands: &mut Vec<Command>) {
    let hint = "Search Hugging Face, or paste an address or owner/name:Q8_0";
    let edit = TextEdit::singleline(&mut hub.query)
        .hint_text(hint)
        .frame(field_frame(ui))
        .desired_width(f32::INFINITY);
    let field = ui.add(edit).accessible_name("Search Hugging Face");
    if entered(ui, &field) {
        commands.push(Command::Hub(HubCommand::Search));
    }
}

fn tabs_ui(ui: &mut Ui, state: &mut AppState) {
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), TABS), Sense::hover());
    // Align the first tab's label, rather than its padding, with the title.
    let mut row = child_ui(ui, rect.translate(vec2(-TAB_PADDING, 0.0)), "tabs");
    row.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        for tab in ModelsTab::ALL {
            if tab_ui(ui, tab.name(), tab == state.models.hub.tab) {
                state.models.hub.tab = tab;
            }
            if tab == ModelsTab::OnThisComputer {
                let n = state.models.n_local().to_string();
                let color = Theme::of(ui).text_3;
                ui.add(Label::new(Face::Small.text(n).color(color)).selectable(false));
            }
        }
    });
    let stroke = (1.0, Theme::of(ui).stroke_1);
    ui.painter().hline(rect.x_range(), rect.bottom(), stroke);
}

fn list_ui(ui: &mut Ui, state: &mut AppState, commands: &mut Vec<Command>) {
    let area = ScrollArea::vertical()
        .id_salt(state.models.hub.tab.name())
        .auto_shrink(false);
    area.show(ui, |ui| {
        ui.set_max_width(ui.available_width() - SCROLL_BAR);
        ui.spacing_mut().item_spacing.y = 0.0;
        match state.models.hub.tab {
            ModelsTab::Recommended => hub_rows_ui(ui, &state.recommended_rows(), commands),
            ModelsTab::OnThisComputer => computer_ui(ui, state, commands),
            ModelsTab::HuggingFace => found_ui(ui, state, commands),
            ModelsTab::Servers => servers_ui(ui, state, commands),
        }
    });
}

fn found_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    hub_rows_ui(ui, &state.models.hub.kept_rows(), commands);
    let theme = Theme::of(ui);
    let (words, failed) = state.models.hub.search_words();
    if !words.is_empty() {
        let color = if failed { theme.error } else { theme.text_2 };
        ui.add_space(10.0);
        ui.label(Face::Small.text(words).color(color));
    }
    let rows = state.models.hub.found_rows();
    hub_rows_ui(ui, &rows, commands);
    if rows.iter().any(|row| row.openness.is_some()) {
        ui.add_space(12.0);
        let hint = "The marks come from the search itself and, once a result’s files are shown, from \
                    its configuration. No model is downloaded unless you ask.";
        ui.label(Face::Small.text(hint).color(theme.text_3));
    }
}

fn computer_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let theme = Theme::of(ui);
    for group in &state.models.groups() {
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 8.0;
            ui.label(Face::Small.text(group.title).color(theme.text_2));
            let folder = Face::Code.text(&group.folder).color(theme.text_3);
            ui.add(Label::new(folder).truncate());
        });
        for row in &group.rows {
            row_ui(ui, row, commands);
        }
    }
    ui.add_space(12.0);
    let words = state.models.search_words();
    if !words.is_empty() {
        ui.label(Face::Small.text(words).color(theme.text_2));
    }
    let hint = "Models are read in place, never copied or changed. Quartet also opens other \
                GGUF files and folders with safetensors and config.json: drop one onto the window, or \
                use the buttons above.";
    ui.label(Face::Small.text(hint).color(theme.text_3));
}
