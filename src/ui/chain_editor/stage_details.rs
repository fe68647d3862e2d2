//! The other settings of a stage: its remaining parameters, its window and its lists of tokens.

use egui::{DragValue, Id, Ui};

use super::Shown;
use super::bias::bias_ui;
use super::breakers::breakers_ui;
use super::layer_keys::layer_keys_ui;
use super::number_line::{INDENT, number_lines_ui};
use super::thought_phrases::thought_phrases_ui;
use crate::decoding::Filter;
use crate::decoding::filters::Window;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{checkbox, focus_ring};
use crate::state::PaneId;

/// The id under which the editor remembers whether a stage is unfolded.
pub(super) fn details_id(pane: PaneId, filter: &Filter) -> Id {
    Id::unique(("stage details", pane, filter.name()))
}

/// Returns whether a stage has settings besides its first parameter.
pub(super) fn has_details(filter: &Filter) -> bool {
    let spec = filter.spec();
    let has_more = matches!(filter, Filter::SynthId(_) | Filter::ThinkingBudget(_));
    spec.params.len() != 1 || spec.looks_back || has_more
}

/// Draws the other settings. Returns whether one was changed.
pub(super) fn details_ui(ui: &mut Ui, shown: &Shown<'_>, filter: &mut Filter) -> bool {
    let spec = filter.spec();
    let name = spec.name;
    let others = spec.params.get(1..).unwrap_or_default();
    let mut changed = number_lines_ui(ui, name, others, filter);
    if let Some(window) = filter.window_mut() {
        changed |= window_ui(ui, name, window);
    }
    let list = Id::unique(("list of tokens", shown.pane, name));
    changed
        | match filter {
            Filter::LogitBias(filter) => bias_ui(ui, list, filter, shown.vocabulary),
            Filter::Dry(filter) => breakers_ui(ui, list, &mut filter.breakers, shown.vocabulary),
            Filter::ThinkingBudget(filter) => {
                thought_phrases_ui(ui, list, filter, shown.vocabulary)
            }
            Filter::SynthId(filter) => layer_keys_ui(ui, list, &mut filter.keys),
            _ => false,
        }
}

/// Draws the window of a penalty. Returns whether it was changed.
fn window_ui(ui: &mut Ui, name: &str, window: &mut Window) -> bool {
    let before = *window;
    let small = |ui: &Ui, words| Face::Small.text(words).color(Theme::of(ui).text_2);
    ui.horizontal(|ui| {
        ui.set_min_height(32.0);
        ui.add_space(INDENT);
        let mut limited = window.last_n.is_some();
        let words = small(ui, "Only the last");
        let response = checkbox(ui, &mut limited, words).on_hover_text(
            "Limits how far this stage looks back. If off, it looks at all tokens; 64 is usual.",
        );
        if response.changed() {
            window.last_n = limited.then_some(64);
        }
        match &mut window.last_n {
            Some(last_n) => {
                let field = ui
                    .add(DragValue::new(last_n).speed(1.0).update_while_editing(false))
                    .on_hover_text("How many tokens this stage looks back. 0 has no effect; 64 is usual.");
                focus_ring(ui, &field, 6);
                field.accessible_name(format!("{name}, window in tokens"));
                ui.label(small(ui, "tokens"));
            }
            None => {
                ui.label(small(ui, "tokens (off: all tokens)"));
            }
        }
        ui.add_space(8.0);
        let words = small(ui, "Include prompt");
        checkbox(ui, &mut window.prompt_counted, words).on_hover_text(
            "Counts the tokens of the prompt as well as the generated ones. Usually on for a repetition \
             penalty; many servers leave the prompt out for frequency and presence penalties.",
        );
    });
    *window != before
}
