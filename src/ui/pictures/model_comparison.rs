//! Renders comparisons of two models as pictures.

use super::caption::{model_words, shortened};
use super::{Palette, lab_svg};
use crate::export::ModelComparisonRecord;
use crate::state::PictureStyle;

/// Renders a comparison as SVG.
pub fn model_comparison_drawing(
    record: ModelComparisonRecord<'_>,
    palette: Palette,
    style: PictureStyle,
) -> String {
    lab_svg(record.compared, &caption(record), palette, style)
}

/// Names both models and the text, and states the findings.
fn caption(record: ModelComparisonRecord<'_>) -> String {
    let models = record.compared.models.iter().zip(["A", "B"]);
    let models = models.map(|(model, letter)| format!("{letter} {}", model_words(model)));
    let text = format!("text ‘{}’", shortened(record.text));
    let parts = models.chain([text]).chain(record.compared.sentences());
    parts.collect::<Vec<_>>().join(" · ")
}
