//! What was written before the token that is drawn, for the stages that look back.

use egui::{DragValue, Popup, ScrollArea, Ui};

use crate::decoding::TokenId;
use crate::state::ByHand;
use crate::ui::fonts::Face;
use crate::ui::icons::{Icon, icon_button};
use crate::ui::theme::Theme;
use crate::ui::widgets::{Chip, menu_item};

/// Draws the tokens before, which go when they are pressed; one is added from a menu.
pub(super) fn written_ui(ui: &mut Ui, by_hand: &mut ByHand) {
    let theme = Theme::of(ui);
    ui.label(Face::Small.text("Written before").color(theme.text_3))
        .on_hover_text(
            "The tokens before the one that is drawn, oldest first. Penalties and other stages that \
             look back look at these.",
        );
    ui.add_space(2.0);
    add_ui(ui, by_hand);
    if by_hand.n_history() > 0 {
        ui.add_space(4.0);
        prompt_ui(ui, by_hand);
    }
    ui.add_space(4.0);
    let mut forgotten = None;
    ScrollArea::horizontal()
        .id_salt("written before")
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.x = 2.0;
            for (at, token) in by_hand.history().enumerate() {
                let label = by_hand.label(token);
                let name = format!("‘{label}’ was written before, take it out");
                let of_prompt = at < by_hand.n_prompt();
                let chip = Chip::new(&label).name(&name).open(of_prompt);
                let tip = if of_prompt {
                    "In the prompt. Press to take it out"
                } else {
                    "Written after the prompt. Press to take it out"
                };
                if ui.add(chip).on_hover_text(tip).clicked() {
                    forgotten = Some(at);
                }
            }
        });
    if let Some(at) = forgotten {
        by_hand.forget(at);
    }
}

fn add_ui(ui: &mut Ui, by_hand: &mut ByHand) {
    let room = by_hand.history_has_room();
    let response = ui
        .add_enabled_ui(room, |ui| {
            icon_button(ui, Icon::Plus, "Write a token before")
        })
        .inner;
    Popup::menu(&response)
        .width(160.0)
        .gap(4.0)
        .close_behavior(egui::PopupCloseBehavior::CloseOnClickOutside)
        .accessible_name("Write a token before")
        .show(|ui| {
            let most = ui.content_rect().height() * 0.5;
            ScrollArea::vertical().max_height(most).show(ui, |ui| {
                for id in 0..by_hand.tokens().len() as u32 {
                    let label = by_hand.label(TokenId(id));
                    if menu_item(ui, &label, "", false).clicked() {
                        by_hand.write_before(TokenId(id));
                    }
                }
            });
        });
}

fn prompt_ui(ui: &mut Ui, by_hand: &mut ByHand) {
    let mut n_prompt = by_hand.n_prompt();
    let most = by_hand.n_history();
    let field = DragValue::new(&mut n_prompt).range(0..=most).speed(0.05);
    let response = ui
        .add(field)
        .accessible_name("How many of them are the prompt’s");
    if response.changed() {
        by_hand.set_n_prompt(n_prompt);
    }
    response.on_hover_text("How many of them, from the first on, are the prompt’s.");
    let theme = Theme::of(ui);
    ui.label(Face::Small.text("in the prompt").color(theme.text_3));
}
