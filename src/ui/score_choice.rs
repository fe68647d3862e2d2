//! The choice of what the surprise plot shows and of its cap: chips, or one menu in a narrow window.

use egui::{Popup, Ui};

use super::explained::explained;
use super::layout::Breakpoint;
use crate::design::widgets::{Chip, menu_item};
use crate::state::{ScoreCap, ScoreMeasure, ViewChoices};

/// Draws the choices, in a row or in one menu.
pub(super) fn score_choice_ui(ui: &mut Ui, breakpoint: Breakpoint, view: &mut ViewChoices) {
    if breakpoint < Breakpoint::Normal {
        return menu_ui(ui, view);
    }
    drawing_ui(ui, view);
    measures_ui(ui, &mut view.score);
}

/// Draws the menu that sets the cap and the arrangement of the panes.
fn drawing_ui(ui: &mut Ui, view: &mut ViewChoices) {
    let layout = if view.score_layout.is_one_plot() {
        "One plot"
    } else {
        "Staves"
    };
    let chip = if has_cap(view.score) {
        Chip::new(view.score_cap.name())
            .label("Cap")
            .name("Cap of the surprise plot")
    } else {
        Chip::new(layout).name("Arrangement of the surprise plot")
    };
    let chip = ui.add(chip.chevron().quiet());
    let chip = chip.on_hover_text(
        "The height of a staff, and whether each pane has its own. A taller bar is clipped, with a \
         gap below its top.",
    );
    Popup::menu(&chip)
        .width(180.0)
        .gap(4.0)
        .accessible_name("How the plot is drawn")
        .show(|ui| drawing_items_ui(ui, view));
}

fn drawing_items_ui(ui: &mut Ui, view: &mut ViewChoices) {
    if has_cap(view.score) {
        caps_ui(ui, &mut view.score_cap);
        ui.separator();
    }
    let in_one = view.score_layout.is_one_plot();
    if menu_item(ui, "In one plot", "", in_one).clicked() {
        view.score_layout = view.score_layout.other();
    }
}

/// Returns whether the measure is in bits and so has no maximum.
const fn has_cap(measure: ScoreMeasure) -> bool {
    matches!(measure, ScoreMeasure::Surprise | ScoreMeasure::Entropy)
}

fn menu_ui(ui: &mut Ui, view: &mut ViewChoices) {
    let chip = Chip::new(view.score.name()).name("What the plot shows");
    let chip = ui.add(chip.chevron().quiet());
    Popup::menu(&chip)
        .width(180.0)
        .gap(4.0)
        .accessible_name("What the plot shows")
        .show(|ui| {
            for choice in ScoreMeasure::ALL {
                let item = menu_item(ui, choice.name(), "", view.score == choice);
                if explained(item, choice.name()).clicked() {
                    view.score = choice;
                }
            }
            ui.separator();
            drawing_items_ui(ui, view);
        });
}

fn caps_ui(ui: &mut Ui, cap: &mut ScoreCap) {
    for choice in ScoreCap::ALL {
        let label = match choice {
            ScoreCap::Uncapped => choice.name().to_owned(),
            _ => format!("Cap at {}", choice.name()),
        };
        if menu_item(ui, &label, "", *cap == choice).clicked() {
            *cap = choice;
        }
    }
}

/// Draws the measures side by side, with the selected one filled.
fn measures_ui(ui: &mut Ui, measure: &mut ScoreMeasure) {
    let mut choices = ScoreMeasure::ALL;
    if ui.layout().prefer_right_to_left() {
        choices.reverse();
    }
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        for choice in choices {
            let chip = Chip::new(choice.name())
                .name(accessible_name(choice))
                .quiet();
            let chip = ui.add(chip.open(*measure == choice));
            if explained(chip, choice.name()).clicked() {
                *measure = choice;
            }
        }
    });
}

const fn accessible_name(measure: ScoreMeasure) -> &'static str {
    match measure {
        ScoreMeasure::Surprise => "Plot shows surprise",
        ScoreMeasure::Probability => "Plot shows probability",
        ScoreMeasure::Entropy => "Plot shows entropy",
        ScoreMeasure::Rank => "Plot shows rank",
        ScoreMeasure::Kept => "Plot shows tokens kept",
    }
}
