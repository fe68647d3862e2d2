//! The keys of SynthID-Text, typed as numbers.

use egui::{Id, TextEdit, Ui};

use super::number_line::{INDENT, error_ui};
use crate::decoding::watermark::LayerKeys;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::design::widgets::field_frame;

const TIP: &str = "The secret keys, one for each layer of the tournament. A detector needs them too. \
                   An empty list has no effect; 9 to 30 keys are usual.";

/// The text of the field, and the keys that it was last parsed to.
#[derive(Debug, Clone)]
struct Typed {
    text: String,
    keys: LayerKeys,
    error: Option<String>,
}

/// Draws the field with the keys. Returns whether they were changed.
pub(in crate::ui) fn layer_keys_ui(ui: &mut Ui, id: Id, keys: &mut LayerKeys) -> bool {
    let before = *keys;
    let typed = ui.data(|data| data.get_temp::<Typed>(id));
    // The keys may have been changed in another way, such as by an undo.
    let mut typed = typed.filter(|typed| typed.keys == before).unwrap_or(Typed {
        text: before.to_string(),
        keys: before,
        error: None,
    });
    ui.horizontal(|ui| {
        ui.set_min_height(32.0);
        ui.add_space(INDENT);
        let label = Face::Small.text("Keys").color(Theme::of(ui).text_2);
        let label = ui.label(label).on_hover_text(TIP);
        let edit = TextEdit::singleline(&mut typed.text)
            .font(Face::Body.font())
            .hint_text("Whole numbers, separated by spaces")
            .frame(field_frame(ui))
            .desired_width(f32::INFINITY);
        let response = ui.add(edit).labelled_by(label.id).on_hover_text(TIP);
        if response.changed() {
            match parse_keys(&typed.text) {
                Ok(edited) => (*keys, typed.keys, typed.error) = (edited, edited, None),
                Err(error) => typed.error = Some(error),
            }
        }
    });
    if let Some(error) = &typed.error {
        error_ui(ui, error);
    }
    ui.data_mut(|data| data.insert_temp(id, typed));
    *keys != before
}

/// Parses whole numbers that are separated by spaces or commas.
fn parse_keys(text: &str) -> Result<LayerKeys, String> {
    let words = text.split([' ', ',', '\n']).filter(|word| !word.is_empty());
    let keys = words.map(|word| {
        let wrong = |_| format!("{word:?} is not a whole number up to {}", u32::MAX);
        word.parse().map_err(wrong)
    });
    let keys: Vec<u32> = keys.collect::<Result<_, String>>()?;
    let most = LayerKeys::MAX;
    LayerKeys::new(&keys).ok_or_else(|| format!("At most {most} keys are supported"))
}

#[cfg(test)]
mod tests {
    use super::parse_keys;

    #[test]
    fn keys_are_numbers_separated_by_spaces_or_commas() {
        let keys = |text: &str| parse_keys(text).map(|keys| keys.as_slice().to_vec());
        assert_eq!(keys("1, 2 3\n4"), Ok(vec![1, 2, 3, 4]));
        assert_eq!(keys(""), Ok(vec![]));
        assert!(keys("1 two").unwrap_err().contains("\"two\""));
        assert!(keys(&"1 ".repeat(33)).unwrap_err().contains("32"));
    }
}
