//! The layout of a row in the models dialog: text on the left, actions on the right, a sentence
//! below.

use egui::{Align, Color32, Label, Layout, Ui, UiBuilder, vec2};

use crate::design::fonts::Face;

/// The height of a row without a sentence below it, in points.
const HEIGHT: f32 = 58.0;

/// Draws a row whose text is indented by `indent` points.
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

/// Draws the sentence below a row.
pub(super) fn sentence_ui(ui: &mut Ui, sentence: &str, color: Color32) {
    let sentence = Face::Small.text(sentence).color(color);
    ui.add(Label::new(sentence).wrap().selectable(true));
    ui.add_space(10.0);
}
