//! What every row of the models' lists stands in: words at the left, actions at the right, and below
//! them what there is to say.

use egui::{Align, Color32, Label, Layout, Ui, UiBuilder, vec2};

use crate::ui::fonts::Face;

/// The height of a row that says nothing more.
const HEIGHT: f32 = 58.0;

/// Draws a row; its words stand in by so many points.
pub(super) fn row_frame_ui(
    ui: &mut Ui,
    indent: f32,
    actions_ui: impl FnOnce(&mut Ui),
    words_ui: impl FnOnce(&mut Ui),
) {
    let size = vec2(ui.available_width(), HEIGHT);
    ui.allocate_ui_with_layout(size, Layout::right_to_left(Align::Center), |ui| {
        ui.set_min_size(size);
        ui.spacing_mut().item_spacing.x = 6.0;
        actions_ui(ui);
        ui.add_space(6.0);
        let (_, mut words) = ui.allocate_space(vec2(ui.available_width(), 36.0));
        words.min.x += indent;
        let layout = Layout::top_down(Align::Min);
        let builder = UiBuilder::new().max_rect(words).layout(layout);
        ui.scope_builder(builder, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            words_ui(ui);
        });
    });
}

/// What there is to say about a row, below it.
pub(super) fn sentence_ui(ui: &mut Ui, words: &str, color: Color32) {
    let words = Face::Small.text(words).color(color);
    ui.add(Label::new(words).wrap().selectable(true));
    ui.add_space(10.0);
}
