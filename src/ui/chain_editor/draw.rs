//! The selector with its parameters, the drafts, and the seed of the coins.

use egui::{RectAlign, Ui};

use super::Edit;
use super::arrival::arrive_ui;
use super::number_line::{INDENT, error_ui, number_lines_ui};
use super::ways::{Way, way_row_ui};
use crate::decoding::rules::BeamScores;
use crate::decoding::{ChainConfig, DraftRule, Drafts, ModelDrafts, PromptLookup, Selector};
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::{Chip, inner_menu, menu_item};
use crate::reference::Page;
use crate::state::{Command, Pane};
use crate::ui::seed_field::seed_field_ui;

/// Draws the menu of selectors and the parameters of the chosen one.
pub(super) fn draw_ui(ui: &mut Ui, selector: &mut Selector, edit: &mut Edit) {
    let before = *selector;
    title_line_ui(ui, "Draw", |ui| {
        let label = selector.spec().label;
        let name = format!("Draw: {label}");
        let chip = ui.add(Chip::new(label).name(&name).chevron());
        arrive_ui(ui, "Draw", &chip);
        inner_menu(&chip, "Draw", (RectAlign::BOTTOM_START, 180.0), |ui| {
            for spec in Selector::SPECS {
                let chosen = spec.name == before.name();
                let item = menu_item(ui, spec.label, "", chosen);
                if item.on_hover_text(spec.help_with_source()).clicked() && !chosen {
                    *selector = spec.usual;
                }
            }
        });
        chip.on_hover_text(selector.spec().help_with_source());
        let about = format!("About {}", selector.name());
        if icon_button(ui, Icon::Info, &about).clicked() {
            edit.asked = Some(Page::of_draw(*selector));
        }
    });
    edit.edited |= *selector != before;
    let (spec, validated) = (selector.spec(), selector.validate());
    edit.edited |= number_lines_ui(ui, spec.name, spec.params, selector);
    if let Err(error) = validated {
        error_ui(ui, &error.to_string());
    }
}

/// Draws the choice of the scores that a beam search adds up, if the chain has one. Returns whether
/// it was changed.
pub(super) fn beam_scores_ui(ui: &mut Ui, chain: &mut ChainConfig) -> bool {
    let before = chain.rules.beam_scores;
    if chain.selector.beam_search().is_some() {
        title_line_ui(ui, "Scores", |ui| {
            for scores in BeamScores::ALL {
                let name = format!("Scores: {}", scores.name());
                let chip = Chip::new(scores.name()).name(&name).open(before == scores);
                if ui.add(chip).on_hover_text(scores.help()).clicked() {
                    chain.rules.beam_scores = scores;
                }
            }
        });
    }
    chain.rules.beam_scores != before
}

/// Draws the choice of how tokens are drafted, and its parameters. Returns whether either was
/// changed.
pub(super) fn drafts_ui(ui: &mut Ui, chain: &mut ChainConfig) -> bool {
    let before = chain.drafts;
    let way = Way::Drafts;
    way_row_ui(ui, way, way.summary(), |ui| source_ui(ui, chain));
    if let Some(Drafts::Model(drafts)) = &mut chain.drafts {
        title_line_ui(ui, "Rule", |ui| rule_ui(ui, drafts));
    }
    let mut changed = chain.drafts != before;
    match &mut chain.drafts {
        Some(Drafts::Lookup(lookup)) => {
            changed |= number_lines_ui(ui, PromptLookup::NAME, PromptLookup::PARAMS, lookup);
        }
        Some(Drafts::Model(drafts)) => {
            let name = drafts.name();
            changed |= number_lines_ui(ui, name, ModelDrafts::PARAMS, drafts);
            changed |= number_lines_ui(ui, name, ModelDrafts::LAYERS, drafts);
        }
        None => {}
    }
    if let Some(Err(error)) = chain.drafts.map(|drafts| drafts.validate(chain)) {
        error_ui(ui, &error.to_string());
    }
    changed
}

/// Draws the menu of draft sources.
fn source_ui(ui: &mut Ui, chain: &mut ChainConfig) {
    let chosen = chain.drafts.map(|drafts| drafts.name());
    let label = chosen.unwrap_or("Off");
    let name = format!("Drafts: {label}");
    let chip = ui.add(Chip::new(label).name(&name).chevron());
    arrive_ui(ui, "Drafts", &chip);
    inner_menu(&chip, "Drafts", (RectAlign::BOTTOM_END, 180.0), |ui| {
        let tip = "Each forward pass writes one token. This is the usual way.";
        let off = menu_item(ui, "Off", "", chosen.is_none());
        if off.on_hover_text(tip).clicked() {
            chain.drafts = None;
        }
        for drafts in Drafts::USUAL {
            let is_chosen = chosen == Some(drafts.name());
            let item = menu_item(ui, drafts.name(), "", is_chosen);
            let tip = format!("{}\n\n{}", drafts.help(), drafts.source());
            if item.on_hover_text(tip).clicked() && !is_chosen {
                chain.drafts = Some(drafts);
            }
        }
    });
    let tip = chain.drafts.map_or_else(
        || "How tokens are drafted before a pass verifies them".to_owned(),
        |drafts| format!("{}\n\n{}", drafts.help(), drafts.source()),
    );
    chip.on_hover_text(tip);
}

/// Draws the choice of the rule by which a model's drafts are accepted.
fn rule_ui(ui: &mut Ui, drafts: &mut ModelDrafts) {
    for rule in DraftRule::ALL {
        let chip = Chip::new(rule.name()).open(drafts.rule == rule);
        let tip = format!("{}\n\n{}", rule.help(), rule.source());
        if ui.add(chip).on_hover_text(tip).clicked() {
            drafts.rule = rule;
        }
    }
}

/// Draws the choice between the shared seed and the pane's own.
pub(super) fn own_seed_ui(ui: &mut Ui, pane: &Pane, shared: u64, commands: &mut Vec<Command>) {
    let own = pane.settings.seed;
    let mut seed = own;
    title_line_ui(ui, "Seed", |ui| {
        let words = format!("{shared}, shared");
        let chip = Chip::new(&words).name("Shared seed").open(own.is_none());
        let tip = "Panes that share a seed toss the same coins, so their texts diverge only because of \
                   their settings. This is the usual choice.";
        let chip = ui.add(chip);
        arrive_ui(ui, "Seed", &chip);
        if chip.on_hover_text(tip).clicked() {
            seed = None;
        }
        let chip = Chip::new("Own").name("Own seed").open(own.is_some());
        let tip =
            "This pane uses its own seed. Use it to sample several texts from the same settings.";
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

/// Draws a line with a title before its content.
pub(super) fn title_line_ui(ui: &mut Ui, title: &str, content: impl FnOnce(&mut Ui)) {
    ui.horizontal(|ui| {
        ui.set_min_height(28.0);
        ui.spacing_mut().item_spacing.x = 4.0;
        ui.add_space(INDENT);
        let text = Face::Small.text(title).color(Theme::of(ui).text_3);
        let width = ui.label(text).rect.width();
        ui.add_space((62.0 - width).max(8.0));
        content(ui);
    });
}
