//! The menu of stage orders: Quartet's own and those of other engines, with their differences.

use egui::{Frame, Id, Margin, RectAlign, Response, Tooltip, Ui};

use super::pane_header::chip_words;
use crate::analysis::dialects::{Numbers, ReorderedChain, departure, in_order_of};
use crate::decoding::ChainConfig;
use crate::decoding::dialect::Dialect;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{Chip, Choice};
use crate::state::{AppState, divergence_reasons_of};

/// Draws the menu for the pane at this position. Returns its chain in the chosen order.
pub(super) fn order_ui(ui: &mut Ui, place: usize, state: &AppState) -> Option<ChainConfig> {
    let chain = &state.panes.get(place)?.settings.chain;
    let numbers = numbers_ui(ui);
    let engines = Dialect::ALL.into_iter().map(Some);
    let mut chosen = None;
    for dialect in std::iter::once(None).chain(engines) {
        let in_order = in_order_of(dialect, numbers, chain);
        if row_ui(ui, dialect, &in_order, chain).clicked() {
            chosen = Some(in_order.chain);
        }
    }
    traps_ui(ui, chain, &divergence_reasons_of(state, place));
    chosen
}

/// Draws the choice between the pane's numbers and the engine's defaults.
fn numbers_ui(ui: &mut Ui) -> Numbers {
    let id = Id::unique("numbers of an order");
    let mut numbers: Numbers = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    ui.horizontal(|ui| {
        ui.add_space(10.0);
        ui.label(Face::Small.text("With").color(Theme::of(ui).text_3));
        ui.spacing_mut().item_spacing.x = 4.0;
        for (choice, label, tooltip) in [
            (
                Numbers::Kept,
                "my numbers",
                "Keeps your values for every stage that the engine has, and uses its defaults for \
                 the others",
            ),
            (
                Numbers::Defaults,
                "its defaults",
                "Uses the engine’s defaults for every stage",
            ),
        ] {
            let chip = Chip::new(label).open(choice == numbers);
            if ui.add(chip).on_hover_text(tooltip).clicked() {
                numbers = choice;
            }
        }
    });
    ui.add_space(4.0);
    ui.data_mut(|data| data.insert_temp(id, numbers));
    numbers
}

fn row_ui(
    ui: &mut Ui,
    dialect: Option<Dialect>,
    in_order: &ReorderedChain,
    chain: &ChainConfig,
) -> Response {
    let name = dialect.map_or("Quartet", Dialect::name);
    let words = chip_words(&in_order.chain.to_string());
    let selected = chain.dialect == dialect;
    let response = Choice::new(name).aside(&words).selected(selected).show(ui);
    // Show the tooltip beside the menu, so that it does not cover the rows below.
    let mut tooltip = Tooltip::for_enabled(&response);
    tooltip.popup = tooltip
        .popup
        .align(RectAlign::LEFT_START)
        .align_alternatives(&[RectAlign::RIGHT_START])
        .gap(16.0);
    tooltip.show(|ui| {
        let mut sentences = in_order.sentences();
        match dialect {
            Some(dialect) => sentences.extend(dialect.traps().iter().map(ToString::to_string)),
            None => sentences.push(
                "Your own stages: penalties first, then the stages that reshape the distribution, \
                 then those that drop tokens. Ties go to the lower token id"
                    .to_owned(),
            ),
        }
        sentences_ui(ui, &sentences);
    });
    response
}

/// Draws the caveats of the pane's current order.
fn traps_ui(ui: &mut Ui, chain: &ChainConfig, reasons: &[String]) {
    let mut sentences: Vec<String> = reasons.to_vec();
    if let Some(dialect) = chain.dialect {
        sentences.extend(departure(chain).map(|departure| departure.sentence().to_owned()));
        sentences.extend(dialect.traps().iter().map(ToString::to_string));
    }
    if sentences.is_empty() {
        return;
    }
    ui.add_space(4.0);
    ui.separator();
    Frame::new()
        .inner_margin(Margin::symmetric(10, 6))
        .show(ui, |ui| sentences_ui(ui, &sentences));
}

/// Draws each sentence on its own row.
pub(super) fn sentences_ui(ui: &mut Ui, sentences: &[String]) {
    let theme = Theme::of(ui);
    ui.spacing_mut().item_spacing.y = 4.0;
    for sentence in sentences {
        let sentence = format!("{}.", sentence.trim_end_matches('.'));
        ui.label(Face::Small.text(sentence).color(theme.text_2));
    }
}

/// Returns what the chain chip's tooltip says about the order of a pane's stages; may be empty.
pub(super) fn order_words(state: &AppState, place: usize) -> Vec<String> {
    let Some(pane) = state.panes.get(place) else {
        return Vec::new();
    };
    let chain = &pane.settings.chain;
    let Some(dialect) = chain.dialect else {
        return divergence_reasons_of(state, place);
    };
    // The chip rarely has space for more than the engine's name.
    let mut sentences = vec![chain.to_string()];
    sentences.push(match departure(chain) {
        Some(departure) => format!("{}: {}", dialect.name(), departure.sentence()),
        None => format!("Uses the order and rules of {}", dialect.name()),
    });
    sentences.extend(divergence_reasons_of(state, place));
    sentences.extend(dialect.traps().iter().map(ToString::to_string));
    sentences
}
