//! The head of a pane: its letter, its name, how it chooses, what can be done with it.

use egui::{Align, Key, Layout, Popup, Rect, Sense, SetOpenCommand, TextEdit, Ui, vec2};

use super::chain_editor::chain_editor_ui;
use super::fonts::Face;
use super::icons::{Icon, icon_button};
use super::layout::Room;
use super::order_menu::{order_words, sentences_ui};
use super::pane::PaneFrame;
use super::part::part;
use super::theme::Theme;
use super::widgets::{BADGE, Chip, badge, letter, menu_item};
use crate::analysis::dialects::spoken;
use crate::generation::PaneSettings;
use crate::interop::tools::Tool;
use crate::state::{AppState, Command, MAX_PANES, PaneId, PasteCommand};

const MENU_WIDTH: f32 = 240.0;

/// Draws the head in its frame; `card` is the whole pane, beside which the editor opens.
pub(super) fn header_ui(
    ui: &mut Ui,
    frame: PaneFrame,
    card: Rect,
    state: &mut AppState,
    commands: &mut Vec<Command>,
) {
    let PaneFrame {
        rect, place, room, ..
    } = frame;
    // A stop of the keyboard would show nothing and do nothing.
    let area = ui.interact(rect, ui.scope_id().with("head"), Sense::CLICK);
    // By the other mouse button wherever in the pane.
    let is_asked = ui.rect_contains_pointer(card) && ui.input(|i| i.pointer.secondary_clicked());
    Popup::menu(&area)
        .open_memory(is_asked.then_some(SetOpenCommand::Bool(true)))
        .at_pointer_fixed()
        .width(MENU_WIDTH)
        .show(|ui| menu_ui(ui, state, place, commands));
    let running = is_running(state, place);
    let inside = Rect::from_min_max(rect.min + vec2(12.0, 0.0), rect.max - vec2(6.0, 0.0));
    let mut ui = part(ui, inside, "header");
    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
        badge(ui, place, BADGE);
        let available = ui.available_width() - button_width(running, room);
        name_ui(ui, place, state, available * name_share(state, place));
        chain_ui(ui, frame, card, state, commands);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if running {
                stop_ui(ui, place, state, commands);
            } else if room >= Room::Normal {
                let name = format!("More for pane {}", letter(place));
                let response = icon_button(ui, Icon::More, &name);
                Popup::menu(&response)
                    .width(MENU_WIDTH)
                    .gap(4.0)
                    .accessible_name(name)
                    .show(|ui| menu_ui(ui, state, place, commands));
            }
        });
    });
}

fn is_running(state: &AppState, place: usize) -> bool {
    let pane = state.panes.get(place);
    pane.is_some_and(|pane| pane.status.running().is_some())
}

/// What the button at the right takes. Where there is little room, the menu behind it opens by a
/// press of the other mouse button.
const fn button_width(running: bool, room: Room) -> f32 {
    match room {
        Room::Tight | Room::Small if !running => 4.0,
        _ => 34.0,
    }
}

/// How much of the head the name may take; an engine's name needs room beside it.
fn name_share(state: &AppState, place: usize) -> f32 {
    let pane = state.panes.get(place);
    match pane.and_then(|pane| pane.settings.chain.dialect) {
        None => 0.6,
        Some(_) => 0.55,
    }
}

/// The name, which can be typed over.
fn name_ui(ui: &mut Ui, place: usize, state: &mut AppState, most: f32) {
    let theme = Theme::of(ui);
    let Some(pane) = state.panes.get_mut(place) else {
        return;
    };
    let font = Face::Strong.font();
    let name = &mut pane.settings.name;
    let galley = ui
        .painter()
        .layout_no_wrap(name.clone(), font.clone(), theme.text_1);
    let width = (galley.size().x + 1.0).clamp(24.0, most.max(24.0)).ceil();
    let edit = TextEdit::singleline(name)
        .font(font)
        .text_color(theme.text_1)
        .frame(egui::Frame::NONE)
        .margin(egui::Margin::ZERO)
        .align(egui::Align2::LEFT_CENTER)
        .desired_width(width);
    let label = format!("Name of pane {}", letter(place));
    let response = ui.add_sized(vec2(width, 28.0), edit).accessible_name(label);
    super::widgets::focus_ring(ui, &response, 4);
    let before = response.id.with("name before");
    if response.gained_focus() {
        ui.data_mut(|data| data.insert_temp(before, name.clone()));
    }
    if response.lost_focus() && ui.input(|input| input.key_pressed(Key::Escape)) {
        *name = ui.data(|data| data.get_temp(before)).unwrap_or_default();
    }
    if response.lost_focus() && name.trim().is_empty() {
        let chain = pane.settings.chain.clone();
        pane.settings.name = PaneSettings::from(chain).name;
    }
}

/// Opens the editor of a pane's chain from elsewhere in the window.
pub(super) fn open_chain_editor(ui: &Ui, pane: PaneId) {
    Popup::open_id(ui, editor_id(pane));
}

/// Under which the editor of a pane's chain is open or not.
fn editor_id(pane: PaneId) -> egui::Id {
    egui::Id::unique(("chain editor of pane", pane.0))
}

/// How the pane chooses, and the editor that opens from it.
fn chain_ui(
    ui: &mut Ui,
    frame: PaneFrame,
    card: Rect,
    state: &mut AppState,
    commands: &mut Vec<Command>,
) {
    let PaneFrame { place, room, .. } = frame;
    let button = button_width(is_running(state, place), room);
    let Some(pane) = state.panes.get(place) else {
        return;
    };
    let chain = &pane.settings.chain;
    let words = chip_words(&chain.to_string());
    let dialect = spoken(chain).unwrap_or_default();
    let name = format!("How {} chooses", letter(place));
    let id = editor_id(pane.id);
    let is_open = Popup::is_id_open(ui, id);
    let most = (ui.available_width() - button).max(60.0);
    // Where the chain has no room beside it, the engine stands alone.
    let (label, words) = if width_of(ui, &dialect) + LEAST_CHAIN > most {
        ("", if dialect.is_empty() { &words } else { &dialect })
    } else {
        (dialect.as_str(), &words)
    };
    let chip = Chip::new(words)
        .label(label)
        .name(&name)
        .chevron()
        .open(is_open)
        .max_width(most);
    let mut response = ui.add(chip);
    if response.hovered() && !is_open {
        let sentences = order_words(state, place);
        if !sentences.is_empty() {
            response = response.on_hover_ui(|ui| sentences_ui(ui, &sentences));
        }
    }
    chain_editor_ui(&response, id, card, (place, state), commands);
}

/// What a chain and the chip around it need to say anything.
const LEAST_CHAIN: f32 = 90.0;

fn width_of(ui: &Ui, words: &str) -> f32 {
    let (words, color) = (words.to_owned(), Theme::of(ui).text_3);
    let galley = ui
        .painter()
        .layout_no_wrap(words, Face::Small.font(), color);
    galley.size().x
}

/// A chain of more than three stages names the first two: "T 0.8 › top-k 40 › 2 more".
pub(super) fn chip_words(chain: &str) -> String {
    let stages: Vec<&str> = chain.split(" › ").collect();
    match stages.as_slice() {
        [first, second, rest @ ..] if rest.len() > 1 => {
            format!("{first} › {second} › {} more", rest.len())
        }
        _ => chain.to_owned(),
    }
}

fn stop_ui(ui: &mut Ui, place: usize, state: &AppState, commands: &mut Vec<Command>) {
    let name = format!("Stop pane {}", letter(place));
    if icon_button(ui, Icon::Stop, &name).clicked()
        && let Some(pane) = state.panes.get(place)
    {
        commands.push(Command::Stop(pane.id));
    }
}

fn menu_ui(ui: &mut Ui, state: &AppState, place: usize, commands: &mut Vec<Command>) {
    let Some(pane) = state.panes.get(place) else {
        return;
    };
    let id = pane.id;
    let running = pane.status.running().is_some();
    let complaint = state.complaint_of(pane);
    let has_text = pane.generation().is_some();
    let before = [
        (
            "Run this pane alone",
            complaint.is_none(),
            Command::Generate(id),
        ),
        ("Stop", running, Command::Stop(id)),
        ("Copy the text", has_text, Command::CopyText(id)),
    ];
    let after = [
        ("Reset the settings", true, Command::ResetSettings(id)),
        (
            "Duplicate",
            state.panes.len() < MAX_PANES,
            Command::Duplicate(id),
        ),
        ("Remove", state.panes.len() > 1, Command::Remove(id)),
    ];
    rows_ui(ui, before, commands);
    ui.separator();
    for tool in Tool::ALL {
        let label = format!("Copy as {}", tool.name());
        rows_ui(
            ui,
            [(&*label, true, Command::CopySettings(id, tool))],
            commands,
        );
    }
    let paste = Command::Paste(PasteCommand::Open(id));
    rows_ui(ui, [("Paste settings…", true, paste)], commands);
    ui.separator();
    rows_ui(ui, after, commands);
}

/// Rows of the menu: the words, whether it can be done, what is done.
fn rows_ui<'a>(
    ui: &mut Ui,
    rows: impl IntoIterator<Item = (&'a str, bool, Command)>,
    commands: &mut Vec<Command>,
) {
    for (label, possible, command) in rows {
        let pressed = ui
            .add_enabled_ui(possible, |ui| menu_item(ui, label, "", false).clicked())
            .inner;
        if pressed {
            commands.push(command);
            ui.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::chip_words;

    #[test]
    fn a_long_chain_is_cut_short_on_its_chip() {
        for (chain, words) in [
            ("top token", "top token"),
            ("T 0.7 › top-p 0.9", "T 0.7 › top-p 0.9"),
            (
                "repeat 1.1 › T 0.7 › top-p 0.9",
                "repeat 1.1 › T 0.7 › top-p 0.9",
            ),
            (
                "repeat 1.1 › T 0.7 › top-k 40 › top-p 0.9",
                "repeat 1.1 › T 0.7 › 2 more",
            ),
        ] {
            assert_eq!(chip_words(chain), words);
        }
    }
}
