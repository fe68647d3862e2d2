//! The head of the chain editor: the pane's letter, the presets, and the commands for the whole
//! chain.

use egui::{Align, Label, Layout, RectAlign, Ui};

use crate::analysis::dialects::spoken;
use crate::decoding::ChainConfig;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::{Chip, SMALL_BADGE, badge, inner_menu, menu_item, submenu};
use crate::generation::formatting::{grouped, pane_letter};
use crate::interop::tools::Tool;
use crate::state::{Action, AppState, Command, Pane, PasteCommand};
use crate::ui::chain_panel::ChainList;
use crate::ui::keys::key_words;

/// The widths of the menu and of its submenu, in points.
const MENU: f32 = 228.0;
const SUBMENU: f32 = 180.0;

/// Draws the title of the editor, the presets and the commands for the whole chain.
pub(super) fn head_ui(
    ui: &mut Ui,
    place: usize,
    list: &mut ChainList,
    state: &AppState,
    commands: &mut Vec<Command>,
) {
    let Some(pane) = state.panes.get(place) else {
        return;
    };
    let order = spoken(&pane.settings.chain);
    ui.horizontal(|ui| {
        ui.set_min_height(40.0);
        ui.add_space(4.0);
        badge(ui, place, SMALL_BADGE + 4.0);
        let title = format!("How {} chooses", pane_letter(place));
        ui.label(Face::Strong.text(title).color(Theme::of(ui).text_1));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 4.0;
            if icon_button(ui, Icon::Close, "Close the editor").clicked() {
                ui.close();
            }
            chain_menu_ui(ui, pane, list, state, commands);
            let is_open = *list == ChainList::Presets;
            let presets = Chip::new("Presets").chevron().quiet().open(is_open);
            if ui.add(presets).clicked() {
                list.toggle(ChainList::Presets);
            }
            let is_open = *list == ChainList::Order;
            if order.is_some() || is_open {
                let order = order.as_deref().unwrap_or("Quartet");
                let chip = Chip::new(order).label("Order").name("Order").chevron();
                let chip = chip.open(is_open).max_width(ui.available_width());
                if ui.add(chip).clicked() {
                    list.toggle(ChainList::Order);
                }
            }
        });
    });
}

fn chain_menu_ui(
    ui: &mut Ui,
    pane: &Pane,
    list: &mut ChainList,
    state: &AppState,
    commands: &mut Vec<Command>,
) {
    let button = icon_button(ui, Icon::More, "More commands for the chain");
    inner_menu(&button, "The chain", (RectAlign::BOTTOM_END, MENU), |ui| {
        if menu_item(ui, "Order…", "", *list == ChainList::Order).clicked() {
            list.toggle(ChainList::Order);
        }
        for (verb, edit, action, command) in [
            ("Undo", state.undo.undo_label(), Action::Undo, Command::Undo),
            ("Redo", state.undo.redo_label(), Action::Redo, Command::Redo),
        ] {
            let name = edit.map_or_else(|| verb.to_owned(), |edit| format!("{verb}: {edit}"));
            let keys = key_words(ui, action);
            let item = ui.add_enabled_ui(edit.is_some(), |ui| menu_item(ui, &name, &keys, false));
            if item.inner.clicked() {
                commands.push(command);
            }
        }
        let reset = menu_item(ui, "Reset", "", false);
        let tip = "Resets this pane to the settings it has in a new window";
        if reset.on_hover_text(tip).clicked() {
            commands.push(Command::ResetSettings(pane.id));
        }
        submenu(ui, "Copy settings as", "", SUBMENU, |ui| {
            for tool in Tool::ALL {
                if menu_item(ui, tool.name(), "", false).clicked() {
                    commands.push(Command::CopySettings(pane.id, tool));
                    ui.close();
                }
            }
        });
        if menu_item(ui, "Paste settings…", "", false).clicked() {
            commands.push(Command::Paste(PasteCommand::Open(pane.id)));
        }
        ui.separator();
        all_stages_ui(ui, pane, commands);
    });
}

/// A command that changes all stages.
type ActOnAll = fn(&mut ChainConfig);

/// Draws the commands that change all stages.
fn all_stages_ui(ui: &mut Ui, pane: &Pane, commands: &mut Vec<Command>) {
    let chain = &pane.settings.chain;
    let muted = chain.stages.iter().any(|stage| !stage.enabled);
    let active = chain.active().next().is_some();
    let rows: [(&str, bool, ActOnAll); 3] = [
        ("Set all to neutral", active, |chain| {
            for stage in &mut chain.stages {
                stage.filter.neutralize();
            }
        }),
        ("Unmute all", muted, |chain| {
            for stage in &mut chain.stages {
                stage.enabled = true;
            }
        }),
        ("Remove all stages", !chain.stages.is_empty(), |chain| {
            chain.stages.clear();
        }),
    ];
    for (label, possible, act) in rows {
        ui.add_enabled_ui(possible, |ui| {
            if menu_item(ui, label, "", false).clicked() {
                let mut chain = chain.clone();
                act(&mut chain);
                commands.push(Command::SetChain(pane.id, chain));
            }
        });
    }
}

/// Draws the token that "here" in the rows below refers to, and the number of candidates that the
/// model passes to the chain.
pub(super) fn model_row_ui(ui: &mut Ui, n_candidates: usize, here: Option<&str>) {
    let theme = Theme::of(ui);
    ui.horizontal(|ui| {
        ui.set_min_height(24.0);
        ui.add_space(super::number_line::INDENT);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.add_space(10.0);
            let words = format!("{} candidates", grouped(n_candidates as f64));
            ui.label(Face::Small.text(words).color(theme.text_3));
            if let Some(token) = here {
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    let words = Face::Small.text(format!("At {token}"));
                    ui.add(Label::new(words.color(theme.text_3)).truncate());
                });
            }
        });
    });
}
