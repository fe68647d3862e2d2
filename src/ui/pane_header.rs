//! The header of a pane: its letter, name, sampler chain and menu.

use egui::text::{CCursor, CCursorRange, LayoutJob, TextWrapping};
use egui::text_edit::TextEditState;
use egui::{
    Align, Align2, Color32, Key, Layout, Popup, Rect, Sense, SetOpenCommand, TextEdit, Ui, vec2,
};

use super::chain_editor::{arrive_at, chain_editor_ui};
use super::keys::{is_mac, key_words};
use super::lessons::ring_ui;
use super::order_menu::{order_words, sentences_ui};
use super::pane::PaneFrame;
use crate::analysis::dialects::spoken;
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::{
    BADGE, Chip, badge, focus_ring, low_menu_item, low_submenu, scrolled,
};
use crate::generation::formatting::pane_letter;
use crate::generation::{Generation, PaneSettings};
use crate::lessons::Ring;
use crate::state::{
    Action, AppState, ChainToEdit, Command, Pane, PaneAction, PaneId, PaneMenuEntry,
};

const MENU_WIDTH: f32 = 228.0;

/// The width of the menu of other tools.
const SUBMENU_WIDTH: f32 = 190.0;

/// Draws the header in its frame. `card` is the full pane, beside which the chain editor opens.
pub(super) fn header_ui(
    ui: &mut Ui,
    frame: PaneFrame,
    card: Rect,
    state: &mut AppState,
    commands: &mut Vec<Command>,
) {
    let PaneFrame { rect, place, .. } = frame;
    // Clickable but not focusable: keyboard focus would show nothing and do nothing here.
    let area = ui.interact(rect, ui.scope_id().with("head"), Sense::CLICK);
    // A right-click anywhere in the pane opens the menu.
    let opens_menu = ui.rect_contains_pointer(card) && ui.input(|i| i.pointer.secondary_clicked());
    Popup::menu(&area)
        .open_memory(opens_menu.then_some(SetOpenCommand::Bool(true)))
        .at_pointer_fixed()
        .width(MENU_WIDTH)
        .show(|ui| scrolled(ui, |ui| menu_ui(ui, state, place, commands)));
    let running = state.panes.get(place).is_some_and(is_running);
    let inside = Rect::from_min_max(rect.min + vec2(12.0, 0.0), rect.max - vec2(6.0, 0.0));
    let mut ui = child_ui(ui, inside, "header");
    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
        badge(ui, place, BADGE);
        let available = ui.available_width() - MENU_BUTTON;
        if let Some(pane) = state.panes.get_mut(place) {
            let max_width = max_name_width(ui, pane, available);
            let asked = &mut state.dialogs.pane_to_rename;
            let begins = asked.take_if(|id| *id == pane.id).is_some();
            name_ui(ui, (place, pane), max_width, begins);
        }
        chain_ui(ui, frame, card, state, commands);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let id = state.panes.get(place).map(|pane| pane.id);
            if let Some(id) = id.filter(|_| running) {
                stop_ui(ui, place, id, commands);
            } else {
                let name = format!("More actions for pane {}", pane_letter(place));
                let response = icon_button(ui, Icon::More, &name);
                Popup::menu(&response)
                    .width(MENU_WIDTH)
                    .gap(4.0)
                    .accessible_name(name)
                    .show(|ui| scrolled(ui, |ui| menu_ui(ui, state, place, commands)));
            }
        });
    });
}

fn is_running(pane: &Pane) -> bool {
    pane.status.running().is_some()
}

/// The width of the button on the right, with the space before it.
const MENU_BUTTON: f32 = 34.0;

/// Returns the width that the name may take: what the chain's chip leaves, but at least 40 %.
fn max_name_width(ui: &Ui, pane: &Pane, available: f32) -> f32 {
    let chain = &pane.settings.chain;
    let words = spoken(chain).unwrap_or_else(|| chip_words(&chain.to_string()));
    let chip = Face::Small.width(ui, &words) + CHIP_PADDING;
    (available - chip).clamp(available * 0.4, available * 0.7)
}

/// The width of a chip without its text, plus the gap before it.
const CHIP_PADDING: f32 = 44.0;

/// Draws the name as an editable field, which takes the focus if editing `begins`. Escape restores
/// the name; an empty one becomes the default.
fn name_ui(ui: &mut Ui, (place, pane): (usize, &mut Pane), max_width: f32, begins: bool) {
    let theme = Theme::of(ui);
    let font = Face::Strong.font();
    let name = &mut pane.settings.name;
    let full_width = Face::Strong.width(ui, name) + 1.0;
    let width = full_width.clamp(24.0, max_width.max(24.0)).ceil();
    let id = ui.scope_id().with("name");
    if begins {
        select_all(ui, id, name);
    }
    let is_cut = full_width > width && !ui.memory(|memory| memory.has_focus(id));
    let shown = name.clone();
    let edit = TextEdit::singleline(name)
        .id(id)
        .font(font)
        .text_color(if is_cut {
            Color32::TRANSPARENT
        } else {
            theme.text_1
        })
        .frame(egui::Frame::NONE)
        .margin(egui::Margin::ZERO)
        .align(egui::Align2::LEFT_CENTER)
        .desired_width(width);
    let label = format!("Name of pane {}", pane_letter(place));
    let response = ui.add_sized(vec2(width, 28.0), edit).accessible_name(label);
    focus_ring(ui, &response, 4);
    let response = if is_cut {
        // A field can't truncate its text with "…".
        let mut job =
            LayoutJob::simple_singleline(shown.clone(), Face::Strong.font(), theme.text_1);
        job.wrap = TextWrapping::truncate_at_width(width);
        let galley = ui.painter().layout_job(job);
        let at = Align2::LEFT_CENTER.align_size_within_rect(galley.size(), response.rect);
        ui.painter().galley(at.min, galley, theme.text_1);
        response.on_hover_text(shown)
    } else {
        response
    };
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

/// Gives a field the focus, with its whole text selected.
fn select_all(ui: &Ui, id: egui::Id, text: &str) {
    let end = CCursor::new(text.chars().count());
    let mut field = TextEditState::load(ui.ctx(), id).unwrap_or_default();
    let all = CCursorRange::two(CCursor::new(0), end);
    field.cursor.set_char_range(Some(all));
    field.store(ui.ctx(), id);
    ui.memory_mut(|memory| memory.request_focus(id));
}

/// Opens a pane's chain editor from elsewhere in the window.
pub(super) fn open_chain_editor(ui: &Ui, ChainToEdit { pane, setting }: ChainToEdit) {
    Popup::open_id(ui, editor_id(pane));
    if let Some(setting) = setting {
        arrive_at(ui.ctx(), setting.control());
    }
}

/// The popup id of a pane's chain editor.
pub(crate) fn editor_id(pane: PaneId) -> egui::Id {
    egui::Id::unique(("chain editor of pane", pane.0))
}

/// Draws the chip that shows the pane's chain and opens its editor.
fn chain_ui(
    ui: &mut Ui,
    frame: PaneFrame,
    card: Rect,
    state: &mut AppState,
    commands: &mut Vec<Command>,
) {
    let place = frame.place;
    let Some(pane) = state.panes.get(place) else {
        return;
    };
    if state.lessons.hides_settings() {
        let words = Face::Small.text("settings hidden");
        let label = ui.label(words.color(Theme::of(ui).text_3));
        label.on_hover_text("Shown once you have guessed");
        return;
    }
    let chain = &pane.settings.chain;
    let is_invalid = chain.validate().is_err();
    // The summary of an invalid chain would show another value.
    let summary = if is_invalid {
        "Invalid value".to_owned()
    } else {
        match state
            .models
            .not_applied(pane, &state.config_of(pane))
            .join(", ")
        {
            lacking if lacking.is_empty() => chip_words(&chain.to_string()),
            lacking => format!(
                "not applied: {lacking} · {}",
                chip_words(&chain.to_string())
            ),
        }
    };
    let is_given = pane.generation().is_some_and(Generation::is_scored);
    let dialect = if is_given {
        "a text, scored".to_owned()
    } else {
        spoken(chain).filter(|_| !is_invalid).unwrap_or_default()
    };
    // The text on screen was written with other settings.
    let is_next = pane
        .generation()
        .is_some_and(|text| text.config.chain != *chain);
    let next = if is_next { "next" } else { "" };
    let name = format!("How {} chooses", pane_letter(place));
    let id = editor_id(pane.id);
    let is_open = Popup::is_id_open(ui, id);
    let max_width = (ui.available_width() - MENU_BUTTON).max(60.0);
    let parts = [next, &dialect].into_iter().filter(|part| !part.is_empty());
    let both = parts.collect::<Vec<_>>().join(", ");
    // Without space for both, the dialect's name replaces the chain.
    let is_narrow = Face::Small.width(ui, &both) + MIN_CHAIN_WIDTH > max_width;
    let (label, value) = if is_narrow && !dialect.is_empty() {
        (next, &dialect)
    } else {
        (both.as_str(), &summary)
    };
    let chip = Chip::new(value)
        .label(label)
        .name(&name)
        .chevron()
        .open(is_open)
        .invalid(is_invalid)
        .max_width(max_width);
    let mut response = ui.add(chip);
    if response.hovered() && !is_open {
        let written_with = state.panes.get(place);
        let written_with = written_with.and_then(|pane| state.written_with_words(pane));
        let mut sentences = order_words(state, place);
        sentences.splice(0..0, written_with);
        if !sentences.is_empty() {
            response = response.on_hover_ui(|ui| sentences_ui(ui, &sentences));
        }
    }
    ring_ui(ui, response.rect, state, Ring::Settings(place));
    chain_editor_ui(&response, id, card, (place, state), commands);
}

/// The minimum width at which a chip with a chain is legible.
const MIN_CHAIN_WIDTH: f32 = 90.0;

/// Shortens a chain of more than three stages to its first two: "T 0.8 › top-k 40 › 2 more".
pub(super) fn chip_words(chain: &str) -> String {
    let stages: Vec<&str> = chain.split(" › ").collect();
    match stages.as_slice() {
        [first, second, rest @ ..] if rest.len() > 1 => {
            format!("{first} › {second} › {} more", rest.len())
        }
        _ => chain.to_owned(),
    }
}

fn stop_ui(ui: &mut Ui, place: usize, id: PaneId, commands: &mut Vec<Command>) {
    let name = format!("Stop pane {}", pane_letter(place));
    if icon_button(ui, Icon::Stop, &name).clicked() {
        commands.push(Command::Stop(id));
    }
}

fn menu_ui(ui: &mut Ui, state: &AppState, place: usize, commands: &mut Vec<Command>) {
    let Some(id) = state.panes.get(place).map(|pane| pane.id) else {
        return;
    };
    for (index, group) in PaneMenuEntry::groups(state).into_iter().enumerate() {
        if index > 0 {
            ui.separator();
        }
        for entry in group {
            match entry {
                PaneMenuEntry::Action(action) => action_ui(ui, id, action, state, commands),
                PaneMenuEntry::Submenu { label, actions } => {
                    low_submenu(ui, label, SUBMENU_WIDTH, |ui| {
                        for action in actions {
                            action_ui(ui, id, action, state, commands);
                        }
                    });
                }
            }
        }
    }
}

fn action_ui(
    ui: &mut Ui,
    id: PaneId,
    action: PaneAction,
    state: &AppState,
    commands: &mut Vec<Command>,
) {
    let command = action.command(id, state);
    let keys = match action {
        PaneAction::Score => key_words(ui, Action::Score),
        _ => action
            .shortcut()
            .map_or_else(String::new, |shortcut| shortcut.words(is_mac(ui))),
    };
    let label = action.label(id, state);
    let item = |ui: &mut Ui| low_menu_item(ui, &label, &keys);
    let item = ui.add_enabled_ui(command.is_ok(), item).inner;
    match command {
        Ok(command) if item.clicked() => {
            commands.push(command);
            ui.close();
        }
        Ok(_) => {}
        Err(reason) => {
            item.on_disabled_hover_text(reason);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::chip_words;

    #[test]
    fn a_long_chain_is_shortened_on_its_chip() {
        for (chain, label) in [
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
            assert_eq!(chip_words(chain), label);
        }
    }
}
