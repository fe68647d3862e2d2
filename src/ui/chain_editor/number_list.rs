//! A list of whole numbers, typed as text.

use egui::{Id, TextEdit, Ui};

use super::number_line::{INDENT, error_ui};
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::field_frame;

/// The texts that go with a list.
#[derive(Debug)]
pub(super) struct ListWords {
    pub label: &'static str,
    pub hint: &'static str,
    pub tip: &'static str,
}

/// The text of the field, and the list that it was last parsed to.
#[derive(Debug, Clone)]
struct Typed<T> {
    text: String,
    list: T,
    error: Option<String>,
}

/// Draws the field with a list, which `from_numbers` checks. Returns whether it was changed.
pub(super) fn number_list_ui<T>(
    ui: &mut Ui,
    id: Id,
    words: &ListWords,
    list: &mut T,
    from_numbers: impl FnOnce(Vec<u32>) -> Result<T, String>,
) -> bool
where
    T: ToString + Clone + PartialEq + Send + Sync + 'static,
{
    let before = list.clone();
    let typed = ui.data(|data| data.get_temp::<Typed<T>>(id));
    // The list may have been changed in another way, such as by an undo.
    let mut typed = typed
        .filter(|typed| typed.list == before)
        .unwrap_or_else(|| Typed {
            text: before.to_string(),
            list: before.clone(),
            error: None,
        });
    ui.horizontal(|ui| {
        ui.set_min_height(32.0);
        ui.add_space(INDENT);
        let label = Face::Small.text(words.label).color(Theme::of(ui).text_2);
        let label = ui.label(label).on_hover_text(words.tip);
        let edit = TextEdit::singleline(&mut typed.text)
            .font(Face::Body.font())
            .hint_text(words.hint)
            .frame(field_frame(ui))
            .desired_width(f32::INFINITY);
        let response = ui.add(edit).labelled_by(label.id).on_hover_text(words.tip);
        if response.changed() {
            match parse_numbers(&typed.text).and_then(from_numbers) {
                Ok(edited) => {
                    typed.list.clone_from(&edited);
                    typed.error = None;
                    *list = edited;
                }
                Err(error) => typed.error = Some(error),
            }
        }
    });
    if let Some(error) = &typed.error {
        error_ui(ui, error);
    }
    ui.data_mut(|data| data.insert_temp(id, typed));
    *list != before
}

/// Parses whole numbers that are separated by spaces or commas.
fn parse_numbers(text: &str) -> Result<Vec<u32>, String> {
    let words = text.split([' ', ',', '\n']).filter(|word| !word.is_empty());
    let numbers = words.map(|word| {
        let wrong = |_| format!("{word:?} is not a whole number up to {}", u32::MAX);
        word.parse().map_err(wrong)
    });
    numbers.collect()
}

#[cfg(test)]
mod tests {
    use super::parse_numbers;

    #[test]
    fn numbers_are_separated_by_spaces_or_commas() {
        assert_eq!(parse_numbers("1, 2 3\n4"), Ok(vec![1, 2, 3, 4]));
        assert_eq!(parse_numbers(""), Ok(vec![]));
        assert!(parse_numbers("1 two").unwrap_err().contains("\"two\""));
    }
}
