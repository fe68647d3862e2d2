//! Renders tasks and their answers as pictures.

use super::plot::TasksPlot;
use super::record::TasksRecord;
use crate::ui::pictures::{Look, lab_drawing, model_words};

/// Renders the table, or the sweep if there is one, as SVG.
pub(crate) fn tasks_drawing(record: &TasksRecord<'_>, look: Look) -> String {
    let plot = TasksPlot {
        results: record.results,
        reading: record.reading,
        sweep: record.sweep,
    };
    lab_drawing(&plot, &caption(record), look)
}

/// Names the models, and says what was found.
fn caption(record: &TasksRecord<'_>) -> String {
    let mut parts: Vec<String> = record.models().into_iter().map(model_words).collect();
    parts.extend(record.sentences());
    parts.join(" · ")
}
