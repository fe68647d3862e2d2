//! Renders measurements of influence as pictures.

use super::plot::InfluencePlot;
use super::record::InfluenceRecord;
use crate::ui::pictures::{Look, lab_drawing, model_words};

/// Renders a measurement as SVG.
pub(crate) fn influence_drawing(record: InfluenceRecord<'_>, look: Look) -> String {
    let plot = InfluencePlot {
        results: record.results,
        selected: None,
    };
    lab_drawing(&plot, &caption(record), look)
}

/// Names the model and what is looked at, and says what was found.
fn caption(record: InfluenceRecord<'_>) -> String {
    let results = record.results;
    let mut parts = vec![format!(
        "{}, {} without each {}",
        model_words(record.model),
        record.target,
        results.unit.name()
    )];
    parts.extend(results.sentences());
    parts.extend(results.notes());
    parts.join(" · ")
}
