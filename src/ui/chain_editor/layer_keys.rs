//! The keys of SynthID-Text, typed as numbers.

use egui::{Id, Ui};

use super::number_list::{ListWords, number_list_ui};
use crate::decoding::watermark::LayerKeys;

const WORDS: ListWords = ListWords {
    label: "Keys",
    hint: "Whole numbers, separated by spaces",
    tip: "The secret keys, one for each layer of the tournament. A detector needs them too. An empty \
          list has no effect; 9 to 30 keys are usual.",
};

/// Draws the field with the keys. Returns whether they were changed.
pub(in crate::ui) fn layer_keys_ui(ui: &mut Ui, id: Id, keys: &mut LayerKeys) -> bool {
    number_list_ui(ui, id, &WORDS, keys, |numbers| checked(&numbers))
}

/// Returns the keys, or an error if they are too many.
fn checked(numbers: &[u32]) -> Result<LayerKeys, String> {
    let most = LayerKeys::MAX;
    LayerKeys::new(numbers).ok_or_else(|| format!("At most {most} keys are supported"))
}

#[cfg(test)]
mod tests {
    use super::checked;

    #[test]
    fn there_are_at_most_32_keys() {
        assert_eq!(checked(&[1, 2]).unwrap().as_slice(), [1, 2]);
        assert!(checked(&[1; 33]).unwrap_err().contains("32"));
    }
}
