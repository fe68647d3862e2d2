//! A field for a seed, with a button that picks another one.

use egui::text::{CCursor, CCursorRange};
use egui::text_edit::TextEditState;
use egui::{Response, TextEdit, Ui};

use crate::decoding::SplitMix64;
use crate::design::fonts::Face;
use crate::design::icons::{Icon, icon_button};
use crate::design::theme::Theme;
use crate::design::widgets::field_frame;

/// Draws a field for a seed, and dice that pick another one. Returns the field.
pub(super) fn seed_field_ui(ui: &mut Ui, name: &str, seed: &mut u64) -> Response {
    let fields = ui.horizontal(|ui| {
        let id = ui.scope_id().with(name);
        // Invalid text stays as typed until the field loses focus.
        let typed: Option<String> = ui.data(|data| data.get_temp(id));
        let mut text = typed.unwrap_or_else(|| seed.to_string());
        let theme = Theme::of(ui);
        let is_valid = parse_seed(&text).is_some();
        let color = if is_valid { theme.text_1 } else { theme.error };
        let width = Face::Body.width(ui, &text).clamp(40.0, 190.0);
        let edit = TextEdit::singleline(&mut text)
            .text_color(color)
            .frame(field_frame(ui))
            .char_limit(MAX_CHARS)
            .desired_width(width);
        let response = ui.add(edit).accessible_name(name);
        if response.gained_focus() {
            // Select everything, so that typing replaces the old seed.
            let mut state = TextEditState::load(ui, response.id).unwrap_or_default();
            let all = CCursorRange::two(CCursor::new(0), CCursor::new(MAX_CHARS));
            state.cursor.set_char_range(Some(all));
            state.store(ui, response.id);
        }
        if let Some(parsed) = parse_seed(&text).filter(|_| response.changed()) {
            *seed = parsed;
        }
        let has_focus = response.has_focus();
        ui.data_mut(|data| {
            if has_focus {
                data.insert_temp(id, text);
            } else {
                data.remove::<String>(id);
            }
        });
        if !is_valid {
            let error = format!("A seed must be a whole number from 0 to {}", u64::MAX);
            response.clone().on_hover_text(error);
        }
        if icon_button(ui, Icon::Dice, "Pick another seed").clicked() {
            *seed = another_seed(*seed);
        }
        response
    });
    fields.inner
}

/// The digits of the largest seed, and a few more for spaces around it.
const MAX_CHARS: usize = 24;

fn parse_seed(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// Returns a seed that looks unrelated to this one, and is small enough to read out.
fn another_seed(seed: u64) -> u64 {
    SplitMix64::new(seed).bits() % 10_000
}
