//! A seed to type or to throw.

use egui::text::{CCursor, CCursorRange};
use egui::text_edit::TextEditState;
use egui::{TextEdit, Ui};

use super::fonts::Face;
use super::icons::{Icon, icon_button};
use super::theme::Theme;
use super::widgets::field_frame;

/// A field for a seed, with every digit as it is typed, and dice beside it.
pub(super) fn seed_field_ui(ui: &mut Ui, name: &str, seed: &mut u64) {
    ui.horizontal(|ui| {
        let id = ui.scope_id().with(name);
        // What is no seed stays as it was typed until the field is left.
        let typed: Option<String> = ui.data(|data| data.get_temp(id));
        let mut text = typed.unwrap_or_else(|| seed.to_string());
        let theme = Theme::of(ui);
        let is_seed = read(&text).is_some();
        let color = if is_seed { theme.text_1 } else { theme.error };
        let width = Face::Body.width(ui, &text).clamp(40.0, 190.0);
        let edit = TextEdit::singleline(&mut text)
            .text_color(color)
            .frame(field_frame(ui))
            .char_limit(N_DIGITS)
            .desired_width(width);
        let response = ui.add(edit).accessible_name(name);
        if response.gained_focus() {
            // What is typed takes the place of what stands there.
            let mut state = TextEditState::load(ui, response.id).unwrap_or_default();
            let all = CCursorRange::two(CCursor::new(0), CCursor::new(N_DIGITS));
            state.cursor.set_char_range(Some(all));
            state.store(ui, response.id);
        }
        if let Some(read) = read(&text).filter(|_| response.changed()) {
            *seed = read;
        }
        let is_typed = response.has_focus();
        ui.data_mut(|data| {
            if is_typed {
                data.insert_temp(id, text);
            } else {
                data.remove::<String>(id);
            }
        });
        if !is_seed {
            let words = format!("A seed is a whole number up to {}.", u64::MAX);
            response.on_hover_text(words);
        }
        if icon_button(ui, Icon::Dice, "Another seed").clicked() {
            *seed = another(*seed);
        }
    });
}

/// As many as the largest has, with room for a blank around it.
const N_DIGITS: usize = 24;

fn read(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// A seed that looks unlike the one before, small enough to be read out.
fn another(seed: u64) -> u64 {
    // One step of splitmix64: Steele, Lea, Flood 2014, "Fast splittable pseudorandom number
    // generators".
    let mut mixed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (mixed ^ (mixed >> 31)) % 10_000
}
