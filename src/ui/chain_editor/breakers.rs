//! The sequence breakers of DRY, typed as text.

use egui::{Id, TextEdit, Ui, vec2};

use super::number_line::{INDENT, error_ui};
use super::token_words::exact_words;
use crate::decoding::TokenId;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::{Button, Chip, field_frame};
use crate::generation::{Vocabulary, unescape};
use crate::interop::tools::default_breakers;
use crate::ui::keys;

/// The number of breakers shown one by one. Settings from llama.cpp can result in thousands.
const MAX_SHOWN: usize = 24;

const TIP: &str = "Repetitions don’t extend across these texts, and a text of one token is never \
                   penalized itself. An empty list has no effect; usual breakers are all tokens \
                   with a line break, colon, quote or asterisk, as in llama.cpp.";

/// The text of the field, and what is wrong with it.
#[derive(Debug, Clone, Default)]
struct Typed {
    text: String,
    error: Option<String>,
}

/// Draws the list of breakers. Returns whether it was changed.
pub(super) fn breakers_ui(
    ui: &mut Ui,
    id: Id,
    breakers: &mut Vec<Vec<TokenId>>,
    vocabulary: Option<&Vocabulary>,
) -> bool {
    let n_before = breakers.len();
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(4.0, 4.0);
        ui.spacing_mut().interact_size.y = 24.0;
        ui.add_space(INDENT);
        let title = Face::Small.text("Breakers").color(Theme::of(ui).text_2);
        ui.label(title).on_hover_text(TIP);
        let mut n_shown = 0;
        breakers.retain(|breaker| {
            n_shown += 1;
            n_shown > MAX_SHOWN || !breaker_ui(ui, breaker, vocabulary)
        });
        let n_more = breakers.len().saturating_sub(MAX_SHOWN);
        if n_more > 0 {
            let words = format!("and {n_more} more");
            ui.label(Face::Small.text(words).color(Theme::of(ui).text_3));
            if ui.add(Chip::new("Remove all").quiet()).clicked() {
                breakers.clear();
            }
        }
        if breakers.is_empty()
            && let Some(vocabulary) = vocabulary
            && ui
                .add(Chip::new("The usual four").quiet())
                .on_hover_text(TIP)
                .clicked()
        {
            breakers.extend(default_breakers(vocabulary));
        }
    });
    if let Some(vocabulary) = vocabulary {
        breakers.extend(field_ui(ui, id, breakers, vocabulary));
    }
    ui.allocate_space(vec2(0.0, 6.0));
    breakers.len() != n_before
}

/// Draws one breaker. Returns whether it was removed.
fn breaker_ui(ui: &mut Ui, breaker: &[TokenId], vocabulary: Option<&Vocabulary>) -> bool {
    let words = exact_words(breaker, vocabulary);
    let (value, name) = (format!("{words}  ×"), format!("Remove breaker {words}"));
    let tokens: Vec<String> = breaker.iter().map(ToString::to_string).collect();
    let tip = match tokens.as_slice() {
        [only] => format!("Token {only}. Click to remove it."),
        several => format!("Tokens {}. Click to remove them.", several.join(" ")),
    };
    ui.add(Chip::new(&value).name(&name))
        .on_hover_text(tip)
        .clicked()
}

fn field_ui(
    ui: &mut Ui,
    id: Id,
    breakers: &[Vec<TokenId>],
    vocabulary: &Vocabulary,
) -> Option<Vec<TokenId>> {
    let mut typed: Typed = ui.data(|data| data.get_temp(id).unwrap_or_default());
    let mut entered = false;
    ui.horizontal(|ui| {
        ui.add_space(INDENT);
        let edit = TextEdit::singleline(&mut typed.text)
            .font(Face::Body.font())
            .hint_text("Another text, \\n for a line break")
            .frame(field_frame(ui))
            .desired_width(ui.available_width() - 90.0);
        let response = ui.add(edit);
        if response.changed() {
            typed.error = None;
        }
        entered = keys::entered(ui, &response);
        response.accessible_name("Another breaker");
        let button = Button::new("Add").name("Add the breaker");
        entered |= ui.add_enabled(!typed.text.is_empty(), button).clicked();
    });
    if let Some(error) = &typed.error {
        error_ui(ui, error);
    }
    let mut added = None;
    if entered && !typed.text.is_empty() {
        added = vocabulary.spell(&unescape(&typed.text));
        typed.error = added
            .is_none()
            .then(|| format!("This model has no tokens for ‘{}’", typed.text));
        if added.is_some() {
            typed.text.clear();
        }
    }
    ui.data_mut(|data| data.insert_temp(id, typed));
    added.filter(|added| !breakers.contains(added))
}

#[cfg(test)]
mod tests {
    use crate::decoding::testing::token_ids;
    use crate::generation::{Piece, Vocabulary};
    use crate::interop::tools::default_breakers;

    #[test]
    fn the_usual_breakers_are_the_tokens_with_one_of_four_characters() {
        let pieces = ["a", "\n", ".\n", ":", "\"", "**", "User", "User:", "b."];
        let vocabulary = Vocabulary::new(pieces.map(Piece::text).to_vec());
        let expected = [1, 2, 3, 4, 5, 7].map(|id| token_ids(&[id]));
        assert_eq!(default_breakers(&vocabulary), expected);
    }
}
