//! Renders comparisons of two models as pictures.

use crate::lab::models::ModelComparisonRecord;
use crate::ui::pictures::{Look, lab_drawing, model_words, shortened};

/// Renders a comparison as SVG.
pub(crate) fn model_comparison_drawing(record: ModelComparisonRecord<'_>, look: Look) -> String {
    lab_drawing(record.compared, &caption(record), look)
}

/// Names both models and the text, and states the findings.
fn caption(record: ModelComparisonRecord<'_>) -> String {
    let models = record.compared.models.iter().zip(["A", "B"]);
    let models = models.map(|(model, letter)| format!("{letter} {}", model_words(model)));
    let text = format!("text ‘{}’", shortened(record.text));
    let parts = models.chain([text]).chain(record.compared.sentences());
    parts.collect::<Vec<_>>().join(" · ")
}
