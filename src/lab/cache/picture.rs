//! Renders measurements of the KV cache as pictures.

use crate::lab::cache::CacheRecord;
use crate::ui::pictures::{Look, lab_drawing, model_words, shortened};

/// Renders a measurement as SVG.
pub(crate) fn cache_drawing(record: CacheRecord<'_>, look: Look) -> String {
    lab_drawing(record.lab, &caption(record), look)
}

/// Names the model and the prompt, and says what was measured.
fn caption(record: CacheRecord<'_>) -> String {
    let lab = record.lab;
    let mut parts = vec![format!(
        "{}, prompt ‘{}’, {} tokens",
        model_words(record.model),
        shortened(&record.prompt.text),
        lab.facts.n_tokens
    )];
    parts.extend(lab.sentences());
    parts.extend(lab.agreement_words());
    if let Some(shape) = &lab.facts.shape {
        parts.push(format!("Bytes per token: {}", shape.filled_in()));
    }
    parts.join(" · ")
}

#[cfg(test)]
mod tests {
    use super::cache_drawing;
    use crate::generation::PromptText;
    use crate::generation::testing::generation;
    use crate::lab::cache::CacheRecord;
    use crate::lab::cache::figures::testing::lab;
    use crate::state::{PictureFormat, PictureStyle};
    use crate::ui::pictures::{Look, encode};

    #[test]
    fn the_picture_names_its_curves_and_the_formula() {
        let text = generation(&[]);
        let (lab, prompt) = (lab(), PromptText::raw("Once"));
        let record = CacheRecord {
            lab: &lab,
            model: &text.model,
            prompt: &prompt,
        };
        let style = PictureStyle::default();
        let look = Look {
            finished_at: Some(1_700_000_000),
            ..Look::default()
        };
        let drawing = cache_drawing(record, look);
        for words in [
            ">Time per token</text>",
            ">cache off: rereads everything</text>",
            ">cache on: reads one token</text>",
            ">Cache memory</text>",
            ">Reading a prompt</text>",
            ">Tokens per second</text>",
            "2 × 8 × 4 × 32 × 4 = 8,192",
            "2023-11-14 22:13 UTC",
        ] {
            assert!(drawing.contains(words), "{words}: {drawing}");
        }
        let png = encode(&drawing, PictureFormat::Png, style).unwrap();
        assert!(!png.is_empty());
    }
}
