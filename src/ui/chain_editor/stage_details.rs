//! What a stage has beside its number: other numbers, where it looks back, and lists of tokens.

use egui::{DragValue, Id, Ui};

use super::Shown;
use super::bias::bias_ui;
use super::breakers::breakers_ui;
use super::number_line::{INDENT, number_lines_ui};
use super::settings::settings_of;
use crate::decoding::Filter;
use crate::decoding::filters::Window;
use crate::state::PaneId;
use crate::ui::fonts::Face;
use crate::ui::theme::Theme;
use crate::ui::widgets::{checkbox, focus_ring};

/// Under which it is remembered whether the details of this stage are unfolded.
pub(super) fn details_id(pane: PaneId, filter: &Filter) -> Id {
    Id::unique(("stage details", pane, filter.name()))
}

/// Whether there is more than one number.
pub(super) fn has_details(filter: &Filter) -> bool {
    match filter {
        Filter::LogitBias(_)
        | Filter::RepetitionPenalty(_)
        | Filter::FrequencyPenalty(_)
        | Filter::PresencePenalty(_)
        | Filter::NoRepeatNgram(_)
        | Filter::Dry(_)
        | Filter::DynamicTemperature(_)
        | Filter::QuadraticSmoothing(_)
        | Filter::Xtc(_) => true,
        Filter::Temperature(_)
        | Filter::TopK(_)
        | Filter::TopP(_)
        | Filter::MinP(_)
        | Filter::TypicalP(_)
        | Filter::TopNSigma(_)
        | Filter::EpsilonCutoff(_)
        | Filter::EtaCutoff(_)
        | Filter::TopA(_)
        | Filter::TailFree(_) => false,
    }
}

/// Draws them; says whether one was changed.
pub(super) fn details_ui(ui: &mut Ui, shown: &Shown<'_>, filter: &mut Filter) -> bool {
    let name = filter.name();
    let more = settings_of(filter).into_iter().skip(1);
    let mut changed = number_lines_ui(ui, name, more);
    if let Some(window) = filter.window_mut() {
        changed |= window_ui(ui, name, window);
    }
    let list = Id::unique(("list of tokens", shown.pane, name));
    changed
        | match filter {
            Filter::LogitBias(filter) => bias_ui(ui, list, filter, shown.vocabulary),
            Filter::Dry(filter) => breakers_ui(ui, list, &mut filter.breakers, shown.vocabulary),
            _ => false,
        }
}

/// Where a penalty looks; says whether that was changed.
fn window_ui(ui: &mut Ui, name: &str, window: &mut Window) -> bool {
    let before = *window;
    let small = |ui: &Ui, words| Face::Small.text(words).color(Theme::of(ui).text_2);
    ui.horizontal(|ui| {
        ui.set_min_height(32.0);
        ui.add_space(INDENT);
        let mut limited = window.last_n.is_some();
        let words = small(ui, "In the last");
        let response = checkbox(ui, &mut limited, words).on_hover_text(
            "Looks only at so many tokens before the next. Without it, at all of them; 64 is usual.",
        );
        if response.changed() {
            window.last_n = limited.then_some(64);
        }
        match &mut window.last_n {
            Some(last_n) => {
                let field = ui
                    .add(DragValue::new(last_n).speed(1.0).update_while_editing(false))
                    .on_hover_text("How many tokens it looks back on. 0 does nothing, 64 is usual.");
                focus_ring(ui, &field, 6);
                field.accessible_name(format!("{name}, tokens looked back on"));
                ui.label(small(ui, "tokens"));
            }
            None => {
                ui.label(small(ui, "tokens: all count"));
            }
        }
        ui.add_space(8.0);
        let words = small(ui, "prompt too");
        checkbox(ui, &mut window.prompt_counted, words).on_hover_text(
            "Whether the prompt's tokens count as well as the written ones. They usually do for a \
             repetition penalty; for frequency and presence many servers leave them out.",
        );
    });
    *window != before
}
