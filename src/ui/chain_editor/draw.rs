//! What picks the token in the end, with its numbers, and the seed of its coins.

use egui::{RectAlign, Ui};

use super::number_line::{INDENT, complaint_ui, number_lines_ui};
use super::settings::settings_of_selector;
use super::words::{draw_words, long_draw_words};
use crate::decoding::selector::{AdaptiveP, MirostatV1, MirostatV2};
use crate::decoding::{ChainConfig, Filter, Selector};
use crate::state::{Command, Pane};
use crate::ui::fonts::Face;
use crate::ui::seed_field::seed_field_ui;
use crate::ui::theme::Theme;
use crate::ui::widgets::{Chip, inner_menu, menu_item};

/// All ways to draw, set to something usual, in the order of the menu.
pub(super) const SELECTORS: [Selector; 6] = [
    Selector::Multinomial,
    Selector::Greedy,
    Selector::GumbelMax,
    Selector::MirostatV1(MirostatV1 { tau: 5.0, eta: 0.1 }),
    Selector::MirostatV2(MirostatV2 { tau: 5.0, eta: 0.1 }),
    Selector::AdaptiveP(AdaptiveP {
        target: 0.5,
        decay: 0.9,
    }),
];

/// Draws the choice and its numbers; says whether one was changed.
pub(super) fn draw_ui(ui: &mut Ui, selector: &mut Selector) -> bool {
    let before = *selector;
    title_line_ui(ui, "Draw", |ui| {
        let words = draw_words(selector);
        let name = format!("Draw: {words}");
        let chip = ui.add(Chip::new(words).name(&name).chevron());
        inner_menu(&chip, "Draw", (RectAlign::BOTTOM_START, 180.0), |ui| {
            for choice in SELECTORS {
                let chosen = choice.name() == before.name();
                let item = menu_item(ui, draw_words(&choice), "", chosen);
                if item.on_hover_text(long_draw_words(&choice)).clicked() && !chosen {
                    *selector = choice;
                }
            }
        });
        chip.on_hover_text(long_draw_words(selector));
    });
    let mut changed = *selector != before;
    let (name, complaint) = (selector.name(), selector.complaint());
    changed |= number_lines_ui(ui, name, settings_of_selector(selector));
    if let Some(complaint) = complaint {
        complaint_ui(ui, &complaint);
    }
    changed
}

/// Whether anything in the chain tosses a coin.
pub(super) fn needs_seed(chain: &ChainConfig) -> bool {
    let by_chance = |filter: &Filter| filter.rule().acts_by_chance();
    chain.selector != Selector::Greedy || chain.active().any(by_chance)
}

/// The shared seed or the pane's own.
pub(super) fn own_seed_ui(ui: &mut Ui, pane: &Pane, shared: u64, commands: &mut Vec<Command>) {
    let own = pane.settings.seed;
    let mut seed = own;
    title_line_ui(ui, "Seed", |ui| {
        let words = format!("{shared}, shared");
        let chip = Chip::new(&words).name("Shared seed").open(own.is_none());
        let tip = "The coins of all panes that share it are the same, so that they part by their \
                   settings alone. This is the usual way.";
        if ui.add(chip).on_hover_text(tip).clicked() {
            seed = None;
        }
        let chip = Chip::new("Its own").name("Own seed").open(own.is_some());
        let tip = "The coins of this pane are others than those of the panes beside it. It is usual \
                   for drawing from one setting several times.";
        if ui.add(chip).on_hover_text(tip).clicked() {
            seed = own.or(Some(shared));
        }
        if let Some(seed) = &mut seed {
            seed_field_ui(ui, "Seed of this pane", seed);
        }
    });
    if seed != own {
        commands.push(Command::SetSeed(pane.id, seed));
    }
}

fn title_line_ui(ui: &mut Ui, title: &str, content: impl FnOnce(&mut Ui)) {
    ui.horizontal(|ui| {
        ui.set_min_height(28.0);
        ui.spacing_mut().item_spacing.x = 4.0;
        ui.add_space(INDENT);
        let text = Face::Small.text(title).color(Theme::of(ui).text_3);
        let width = ui.label(text).rect.width();
        ui.add_space((48.0 - width).max(8.0));
        content(ui);
    });
}
