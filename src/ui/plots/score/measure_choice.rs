//! The choice of what the score shows, as a row of chips.

use egui::Ui;

use crate::state::{ScoreMeasure, ViewChoices};
use crate::ui::widgets::Chip;

/// Shows the measures side by side, with the selected one filled, and the choice between a staff for
/// each pane and one plot. Returns whether the user selected another measure.
pub fn score_measure_ui(ui: &mut Ui, view: &mut ViewChoices) -> bool {
    let measure = &mut view.score;
    let before = *measure;
    let in_one = Chip::new("In one plot")
        .quiet()
        .open(view.score_layout.is_one_plot());
    let response = ui.add(in_one);
    if response
        .on_hover_text("Draw all panes as lines in one plot instead of a staff each")
        .clicked()
    {
        view.score_layout = view.score_layout.other();
    }
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
            if ui.add(chip.open(*measure == choice)).clicked() {
                *measure = choice;
            }
        }
    });
    *measure != before
}

const fn accessible_name(measure: ScoreMeasure) -> &'static str {
    match measure {
        ScoreMeasure::Surprise => "Score shows surprise",
        ScoreMeasure::Probability => "Score shows probability",
        ScoreMeasure::Entropy => "Score shows entropy",
        ScoreMeasure::Rank => "Score shows rank",
        ScoreMeasure::Kept => "Score shows tokens kept",
    }
}
