//! The switches of a chat template, such as whether the model thinks before it answers.

use egui::{Popup, RectAlign, Ui};

use crate::design::widgets::{Chip, menu_item};
use crate::generation::TemplateSwitch;
use crate::state::AppState;

/// Draws a menu for each switch that the model's chat template reads. Returns whether one was
/// changed.
pub(super) fn switches_ui(ui: &mut Ui, state: &mut AppState) -> bool {
    let switches = state.prompt.switches(&state.models.main).to_vec();
    let mut changed = false;
    for switch in switches {
        changed |= switch_ui(ui, switch, state);
    }
    changed
}

fn switch_ui(ui: &mut Ui, switch: TemplateSwitch, state: &mut AppState) -> bool {
    const UNSET: &str = "as usual";

    let kwargs = &mut state.prompt.template_kwargs;
    let values = switch.values();
    let set = kwargs.get(switch.variable());
    let label = set.map_or(UNSET, |set| {
        let known = values.iter().find(|(_, value)| value == set);
        known.map_or("otherwise", |(label, _)| label)
    });
    let label = format!("{} {label}", switch.name());
    let response = ui.add(Chip::new(&label).name(switch.name()).chevron().quiet());
    let response = response.on_hover_text(format!(
        "Sets {} for the chat template; as usual, the template decides",
        switch.variable()
    ));
    let mut changed = false;
    Popup::menu(&response)
        .align(RectAlign::BOTTOM_START)
        .width(220.0)
        .gap(4.0)
        .accessible_name(switch.name())
        .show(|ui| {
            let is_unset = !kwargs.contains_key(switch.variable());
            if menu_item(ui, UNSET, "the template decides", is_unset).clicked() {
                changed |= kwargs.remove(switch.variable()).is_some();
                ui.close();
            }
            for (label, value) in values {
                let is_set = kwargs.get(switch.variable()) == Some(&value);
                if menu_item(ui, label, "", is_set).clicked() {
                    kwargs.insert(switch.variable().to_owned(), value);
                    changed = !is_set;
                    ui.close();
                }
            }
        });
    changed
}
