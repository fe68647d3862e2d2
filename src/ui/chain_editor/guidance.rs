//! The guidance of a pane: what it moves away from, and how far.

use egui::{RectAlign, ScrollArea, Ui};

use super::arrival::arrive_ui;
use super::draw::title_line_ui;
use super::number_line::{INDENT, error_ui, number_lines_ui};
use super::number_list::{ListWords, number_list_ui};
use super::ways::{Way, way_row_ui};
use crate::decoding::{Against, ChainConfig, EarlyLayers, Guidance};
use crate::design::fonts::Face;
use crate::design::widgets::{Chip, field_frame, inner_menu, long_text, menu_item};

/// The initial height of the second prompt in rows, and its maximum height in points.
const ROWS: usize = 2;
const MAX_HEIGHT: f32 = 100.0;

/// Draws the editor of the guidance. Returns whether it was changed.
pub(super) fn guidance_ui(ui: &mut Ui, chain: &mut ChainConfig) -> bool {
    let before = chain.guidance.clone();
    let way = Way::Guidance;
    way_row_ui(ui, way, way.summary(), |ui| against_ui(ui, chain));
    if let Some(guidance) = &mut chain.guidance {
        match &mut guidance.against {
            Against::Prompt(text) => prompt_ui(ui, text),
            Against::Layers(layers) => {
                layers_ui(ui, layers);
                form_ui(ui, &mut guidance.scale);
            }
            Against::Model => {}
        }
        number_lines_ui(ui, Guidance::NAME, Guidance::PARAMS, guidance);
        ui.add_space(4.0);
    }
    let validated = chain.guidance.as_ref().map(|it| it.validate(chain));
    if let Some(Err(error)) = validated {
        error_ui(ui, &error.to_string());
    }
    chain.guidance != before
}

fn against_ui(ui: &mut Ui, chain: &mut ChainConfig) {
    let chosen = chain.guidance.as_ref().map(|it| it.against.spec().name);
    let label = chosen.unwrap_or("Off");
    let name = format!("Guidance: {label}");
    let chip = ui.add(Chip::new(label).name(&name).chevron());
    arrive_ui(ui, "Guidance", &chip);
    inner_menu(&chip, "Guidance", (RectAlign::BOTTOM_END, 190.0), |ui| {
        if menu_item(ui, "Off", "", chosen.is_none()).clicked() {
            chain.guidance = None;
        }
        for spec in Against::SPECS {
            let is_chosen = chosen == Some(spec.name);
            let item = menu_item(ui, spec.name, "", is_chosen);
            if item.on_hover_text(spec.help_with_source()).clicked() && !is_chosen {
                chain.guidance = Some((spec.usual)());
            }
        }
    });
    let tip = chain.guidance.as_ref().map_or_else(
        || Guidance::HELP.to_owned(),
        |guidance| format!("{}\n\n{}", Guidance::HELP, guidance.against.spec().source),
    );
    chip.on_hover_text(tip);
}

/// Draws the field with the layers.
fn layers_ui(ui: &mut Ui, layers: &mut EarlyLayers) {
    let words = ListWords {
        label: "Layers",
        hint: "Whole numbers, separated by spaces",
        tip: "After how many layers the output head also reads; 0 is the embedding. Of several layers, \
              the one that is farthest from the last guides each token. The lower half of the model is \
              usual.",
    };
    let id = ui.scope_id().with("early layers");
    number_list_ui(ui, id, &words, layers, |numbers| {
        EarlyLayers::new(numbers).map_err(|error| error.to_string())
    });
}

/// Draws the choice between the plain difference and a scale.
fn form_ui(ui: &mut Ui, scale: &mut Option<f32>) {
    title_line_ui(ui, "Form", |ui| {
        let chip = Chip::new("Difference").open(scale.is_none());
        let tip = "The log-probs of the last layer minus those of the early one, as in DoLa";
        if ui.add(chip).on_hover_text(tip).clicked() {
            *scale = None;
        }
        let chip = Chip::new("Scaled").open(scale.is_some());
        let tip =
            "The log-probs of the early layer + scale × (the last layer’s − the early layer’s)";
        if ui.add(chip).on_hover_text(tip).clicked() {
            *scale = scale.or(Some(1.5));
        }
    });
}

fn prompt_ui(ui: &mut Ui, text: &mut String) {
    ui.horizontal(|ui| {
        ui.add_space(INDENT);
        let width = ui.available_width() - 10.0;
        let field = ScrollArea::vertical()
            .id_salt("second prompt")
            .max_height(MAX_HEIGHT)
            .show(ui, |ui| {
                let edit = long_text(text)
                    .font(Face::Body.font())
                    .frame(field_frame(ui))
                    .hint_text("Type a prompt to move away from, or leave it empty to use the prompt’s last token")
                    .desired_rows(ROWS)
                    .desired_width(width);
                ui.add(edit)
            });
        field.inner.accessible_name("Second prompt");
    });
}
