//! The bar between the prompt and the panes: where the panes diverge, and the token tint.

use egui::{Align, Layout, Popup, Sense, Ui, vec2};

use super::fonts::Face;
use super::icons::Icon;
use super::layout::Breakpoint;
use super::order_menu::sentences_ui;
use super::theme::Theme;
use super::widgets::{Chip, legend, menu_item};
use crate::state::{AppState, DivergenceSummary, Tint, ViewChoices, divergence_reasons};

/// Draws the bar. Returns whether the sentence was clicked, which scrolls the panes to the point
/// where they diverge.
pub(super) fn view_bar_ui(
    ui: &mut Ui,
    breakpoint: Breakpoint,
    divergence: &DivergenceSummary,
    state: &mut AppState,
) -> bool {
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        if breakpoint > Breakpoint::Tight {
            legend(ui, state.view.tint);
        }
        tint_ui(ui, &mut state.view);
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            sentence_ui(ui, breakpoint, divergence, state)
        })
        .inner
    })
    .inner
}

fn sentence_ui(
    ui: &mut Ui,
    breakpoint: Breakpoint,
    divergence: &DivergenceSummary,
    state: &AppState,
) -> bool {
    let theme = Theme::of(ui);
    // The prompt card already shows why the prompt can't be used.
    let refusal = state.prompt_refusal();
    let is_new = |blocking_reason: &String| Some(blocking_reason) != refusal.as_ref();
    let blocking_reason = state.blocking_reason().filter(is_new);
    let blocking_reason = blocking_reason.filter(|_| !state.is_running());
    let sentence = if breakpoint >= Breakpoint::Normal {
        &divergence.long
    } else {
        &divergence.short
    };
    let (icon, sentence, color) = match &blocking_reason {
        Some(blocking_reason) if state.model.ready().is_some() => {
            (Some(Icon::Warning), blocking_reason, theme.error)
        }
        Some(blocking_reason) => (None, blocking_reason, theme.text_2),
        None => (divergence.step.map(|_| Icon::Fork), sentence, theme.text_2),
    };
    ui.add_space(2.0);
    if let Some(icon) = icon {
        let (rect, _) = ui.allocate_exact_size(vec2(14.0, 14.0), Sense::hover());
        icon.paint(ui.painter(), rect, color);
        ui.add_space(4.0);
    }
    let clickable = blocking_reason.is_none() && divergence.step.is_some();
    let sense = if clickable {
        Sense::click()
    } else {
        Sense::hover()
    };
    let text = Face::Small.text(sentence).color(color);
    let label = egui::Label::new(text).truncate().sense(sense);
    let response = ui.add(label);
    super::widgets::focus_ring(ui, &response, 4);
    if !clickable {
        return false;
    }
    let response = response.on_hover_ui(|ui| {
        let mut sentences = vec!["Scroll all panes to this token".to_owned()];
        sentences.extend(divergence_reasons(state));
        sentences_ui(ui, &sentences);
    });
    response.clicked()
}

fn tint_ui(ui: &mut Ui, view: &mut ViewChoices) {
    let chip = Chip::new(view.tint.name()).label("Tint").name("Tint");
    let response = ui.add(chip.chevron().quiet());
    Popup::menu(&response)
        .width(220.0)
        .gap(4.0)
        .accessible_name("Tint")
        .show(|ui| {
            for tint in Tint::ALL {
                if menu_item(ui, tint.name(), "", tint == view.tint).clicked() {
                    view.tint = tint;
                }
            }
            ui.separator();
            let marks = "Show spaces and line breaks";
            if menu_item(ui, marks, "", view.show_marks).clicked() {
                view.show_marks = !view.show_marks;
            }
        });
}
