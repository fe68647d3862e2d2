//! Renders comparisons of two models as pictures.

use crate::lab::models::ModelComparisonRecord;
use crate::state::PictureStyle;
use crate::ui::pictures::{Palette, lab_svg, model_words, shortened};

/// Renders a comparison as SVG.
pub(crate) fn model_comparison_drawing(
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
