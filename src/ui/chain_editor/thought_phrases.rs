//! The tags and the message of a thinking budget, typed as text.

use egui::{Id, TextEdit, Ui};

use super::number_line::{INDENT, error_ui};
use crate::decoding::filters::{Phrase, ThinkingBudget};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::field_frame;
use crate::generation::{Vocabulary, escape, unescape};

/// What a field is called, what it shows when it is empty, and what it is for.
struct Words {
    label: &'static str,
    hint: &'static str,
    tip: &'static str,
}

const OPENING: Words = Words {
    label: "Opening tag",
    hint: "The model’s own",
    tip: "The text before a thought. If empty, the model’s own tag is used, as <think>.",
};

const CLOSING: Words = Words {
    label: "Closing tag",
    hint: "The model’s own",
    tip: "The text that ends a thought, forced when the budget is used up. If empty, the model’s own \
          tag is used, as </think>.",
};

const MESSAGE: Words = Words {
    label: "Message",
    hint: "None, \\n for a line break",
    tip: "Forced before the closing tag when the budget is used up, such as ‘Time is up.’ If empty, \
          only the tag is forced.",
};

/// Draws a field for each phrase. Returns whether one was changed.
pub(super) fn thought_phrases_ui(
    ui: &mut Ui,
    id: Id,
    budget: &mut ThinkingBudget,
    vocabulary: Option<&Vocabulary>,
) -> bool {
    let fields = [
        (&OPENING, &mut budget.opening),
        (&CLOSING, &mut budget.closing),
        (&MESSAGE, &mut budget.message),
    ];
    let mut changed = false;
    for (words, phrase) in fields {
        changed |= phrase_ui(ui, id.with(words.label), words, phrase, vocabulary);
    }
    changed
}

/// Draws one field. What is typed takes effect when the field loses the focus.
fn phrase_ui(
    ui: &mut Ui,
    id: Id,
    words: &Words,
    phrase: &mut Phrase,
    vocabulary: Option<&Vocabulary>,
) -> bool {
    let typed: Option<String> = ui.data(|data| data.get_temp(id));
    let mut line = typed.unwrap_or_else(|| escape(&text_of(phrase, vocabulary)));
    let mut changed = false;
    ui.horizontal(|ui| {
        ui.set_min_height(32.0);
        ui.add_space(INDENT);
        let title = Face::Small.text(words.label).color(Theme::of(ui).text_2);
        ui.label(title).on_hover_text(words.tip);
        let edit = TextEdit::singleline(&mut line)
            .font(Face::Body.font())
            .hint_text(words.hint)
            .frame(field_frame(ui))
            .desired_width(ui.available_width());
        let response = ui.add(edit).on_hover_text(words.tip);
        let (is_typed, is_left) = (response.changed(), response.lost_focus());
        response.accessible_name(format!("{}, {}", ThinkingBudget::NAME, words.label));
        if is_typed {
            ui.data_mut(|data| data.insert_temp(id, line.clone()));
        }
        if is_left {
            ui.data_mut(|data| data.remove::<String>(id));
            changed = set(phrase, &unescape(&line), vocabulary);
        }
    });
    if let (Phrase::Text(text), Some(_)) = (&*phrase, vocabulary)
        && !text.is_empty()
    {
        error_ui(ui, &format!("This model has no tokens for ‘{text}’"));
    }
    changed
}

/// Replaces a phrase, in tokens if the model can spell it. Returns whether it became another.
fn set(phrase: &mut Phrase, text: &str, vocabulary: Option<&Vocabulary>) -> bool {
    if text == text_of(phrase, vocabulary) {
        return false;
    }
    let spelled = vocabulary.and_then(|vocabulary| vocabulary.tokenize(text));
    *phrase = spelled.map_or_else(|| Phrase::Text(text.to_owned()), Phrase::Tokens);
    true
}

/// Returns a phrase as text, or its token ids if there is no vocabulary.
fn text_of(phrase: &Phrase, vocabulary: Option<&Vocabulary>) -> String {
    match (phrase, vocabulary) {
        (Phrase::Text(text), _) => text.clone(),
        (Phrase::Tokens(tokens), Some(vocabulary)) => vocabulary.text_with_special(tokens),
        (Phrase::Tokens(tokens), None) => {
            let ids: Vec<String> = tokens.iter().map(ToString::to_string).collect();
            ids.join("+")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{set, text_of};
    use crate::decoding::filters::Phrase;
    use crate::decoding::testing::token_ids;
    use crate::generation::{Piece, Vocabulary};

    #[test]
    fn a_phrase_is_spelled_as_soon_as_it_is_typed() {
        let pieces = [
            Piece::text("Time"),
            Piece::text(" is up."),
            Piece::special("</think>"),
        ];
        let vocabulary = Vocabulary::new(pieces.to_vec());
        let mut phrase = Phrase::default();
        assert!(set(&mut phrase, "Time is up.</think>", Some(&vocabulary)));
        assert_eq!(phrase, Phrase::Tokens(token_ids(&[0, 1, 2])));
        let text = text_of(&phrase, Some(&vocabulary));
        assert_eq!(text, "Time is up.</think>");
        assert!(!set(&mut phrase, &text, Some(&vocabulary)));
        assert_eq!(text_of(&phrase, None), "0+1+2");
        assert!(set(&mut phrase, "?", Some(&vocabulary)));
        assert_eq!(phrase, Phrase::Text("?".to_owned()));
        assert!(set(&mut phrase, "", Some(&vocabulary)));
        assert_eq!(phrase, Phrase::default());
    }
}
