//! The tokens before the one being sampled, for stages that look back at the history.

use egui::{DragValue, Popup, ScrollArea, Ui};

use crate::decoding::TokenId;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::{Chip, menu_item};
use crate::lab::frame::setup::row_ui;
use crate::state::ByHand;

/// Draws the previous tokens. Clicking one removes it; a menu adds one.
pub(super) fn history_ui(ui: &mut Ui, by_hand: &mut ByHand) {
    let row = ui.scope(|ui| {
        row_ui(ui, "Tokens before", |ui| {
            add_ui(ui, by_hand);
            if by_hand.n_history() == 0 {
                ui.label(Face::Body.text("none").color(Theme::of(ui).text_3));
            } else {
                prompt_ui(ui, by_hand);
            }
        });
    });
    row.response.on_hover_text(
        "The tokens before the one being sampled, oldest first. Penalties and other stages that look \
         back use them.",
    );
    let mut removed = None;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = egui::vec2(2.0, 2.0);
        for (index, token) in by_hand.history().enumerate() {
            let label = by_hand.label(token);
            let name = format!("Remove ‘{label}’ from the previous tokens");
            let in_prompt = index < by_hand.n_prompt();
            let chip = Chip::new(&label).name(&name).open(in_prompt);
            let tip = if in_prompt {
                "In the prompt. Click to remove"
            } else {
                "Generated after the prompt. Click to remove"
            };
            if ui.add(chip).on_hover_text(tip).clicked() {
                removed = Some(index);
            }
        }
    });
    if let Some(index) = removed {
        by_hand.forget(index);
    }
}

fn add_ui(ui: &mut Ui, by_hand: &mut ByHand) {
    let can_add = by_hand.history_has_space();
    let response = ui
        .add_enabled_ui(can_add, |ui| {
            icon_button(ui, Icon::Plus, "Add a previous token")
        })
        .inner;
    Popup::menu(&response)
        .width(160.0)
        .gap(4.0)
        .close_behavior(egui::PopupCloseBehavior::CloseOnClickOutside)
        .accessible_name("Add a previous token")
        .show(|ui| {
            let max_height = ui.content_rect().height() * 0.5;
            ScrollArea::vertical()
                .max_height(max_height)
                .show(ui, |ui| {
                    for id in 0..by_hand.tokens().len() as u32 {
                        let label = by_hand.label(TokenId(id));
                        if menu_item(ui, &label, "", false).clicked() {
                            by_hand.push_history(TokenId(id));
                        }
                    }
                });
        });
}

/// Draws how many of the previous tokens are in the prompt, from right to left.
fn prompt_ui(ui: &mut Ui, by_hand: &mut ByHand) {
    let color = Theme::of(ui).text_3;
    ui.label(Face::Small.text("in the prompt").color(color));
    let mut n_prompt = by_hand.n_prompt();
    let n_history = by_hand.n_history();
    let field = DragValue::new(&mut n_prompt)
        .range(0..=n_history)
        .speed(0.05);
    let response = ui
        .add(field)
        .accessible_name("Previous tokens in the prompt");
    if response.changed() {
        by_hand.set_n_prompt(n_prompt);
    }
    response.on_hover_text(
        "How many of the previous tokens, counted from the first, belong to the prompt",
    );
}
