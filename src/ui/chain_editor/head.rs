//! The head of the chain editor: the pane's name, and the commands for its whole chain.

use egui::{Align, Label, Layout, RectAlign, Ui};

use crate::decoding::ChainConfig;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::{Button, SMALL_BADGE, badge, inner_menu, menu_item};
use crate::generation::formatting::grouped;
use crate::generation::formatting::pane_letter;
use crate::state::{AppState, Command, Pane};

/// Draws the title of the editor and the commands for the whole chain.
pub(super) fn head_ui(
    ui: &mut Ui,
    place: usize,
    pane: &Pane,
    state: &AppState,
    commands: &mut Vec<Command>,
) {
    ui.horizontal(|ui| {
        ui.set_min_height(36.0);
        ui.add_space(4.0);
        badge(ui, place, SMALL_BADGE + 4.0);
        let title = format!("How {} chooses", pane_letter(place));
        ui.label(Face::Strong.text(title).color(Theme::of(ui).text_1));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 4.0;
            if icon_button(ui, Icon::Close, "Close the editor").clicked() {
                ui.close();
            }
            chain_menu_ui(ui, pane, commands);
            let reset = ui.add(Button::new("Reset").quiet());
            if reset
                .on_hover_text("Resets this pane to the settings it has in a new window")
                .clicked()
            {
                commands.push(Command::ResetSettings(pane.id));
            }
            if history_button_ui(ui, Icon::Redo, "Redo", state.undo.redo_label()) {
                commands.push(Command::Redo);
            }
            if history_button_ui(ui, Icon::Undo, "Undo", state.undo.undo_label()) {
                commands.push(Command::Undo);
            }
        });
    });
}

/// Draws an undo or redo button, disabled if there is no edit for it. Returns whether it was
/// clicked.
fn history_button_ui(ui: &mut Ui, icon: Icon, verb: &str, edit: Option<&str>) -> bool {
    let name = edit.map_or_else(|| verb.to_owned(), |edit| format!("{verb}: {edit}"));
    let button = ui.add_enabled_ui(edit.is_some(), |ui| icon_button(ui, icon, &name).clicked());
    button.inner
}

/// A command that changes all stages.
type ActOnAll = fn(&mut ChainConfig);

fn chain_menu_ui(ui: &mut Ui, pane: &Pane, commands: &mut Vec<Command>) {
    let chain = &pane.settings.chain;
    let button = icon_button(ui, Icon::More, "More commands for the chain");
    inner_menu(&button, "The chain", (RectAlign::BOTTOM_END, 200.0), |ui| {
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
    });
}

/// Draws the number of candidates that the model passes to the chain, and the token that "here" in
/// the rows below refers to.
pub(super) fn model_row_ui(ui: &mut Ui, n_candidates: usize, here: Option<&str>) {
    let theme = Theme::of(ui);
    ui.horizontal(|ui| {
        ui.set_min_height(24.0);
        ui.add_space(super::number_line::INDENT);
        ui.label(Face::Small.text("Model").color(theme.text_3));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.add_space(10.0);
            let words = format!("{} candidates", grouped(n_candidates as f64));
            ui.label(Face::Small.text(words).color(theme.text_3));
            if let Some(token) = here {
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    let words = Face::Small.text(format!("Here: {token}"));
                    ui.add(Label::new(words.color(theme.text_2)).truncate());
                });
            }
        });
    });
}
