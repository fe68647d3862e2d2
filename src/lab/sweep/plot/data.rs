//! The map of one metric over the cells of a sweep.

use crate::analysis::sweep::{Axis, Metric, SweepResults};

/// The map of one metric.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SweepMap {
    /// The name of the metric: "Surprise".
    pub title: String,
    /// What the numbers are: "bits per token, mean of 8 texts".
    pub subtitles: Vec<String>,
    /// What varies from row to row, and its values.
    pub row_name: String,
    pub rows: Vec<String>,
    /// What varies from column to column, and its values.
    pub column_name: String,
    pub columns: Vec<String>,
    /// The value of each cell, row by row; `None` if it is not known yet.
    pub values: Vec<Option<f64>>,
    /// The values as shown.
    pub labels: Vec<String>,
    /// A sentence about each cell.
    pub sentences: Vec<String>,
    /// The ends of the scale and how they are shown.
    pub scale: Option<[f64; 2]>,
    pub ends: [String; 2],
    /// Whether equal steps of color stand for equal ratios.
    pub is_logarithmic: bool,
    /// The panes to mark.
    pub marks: Vec<Mark>,
}

/// A pane whose settings lie on the map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mark {
    /// The place of the pane, which determines its letter and color.
    pub pane: usize,
    /// The row and the column, with a fraction between two of them.
    pub at: [f64; 2],
}

impl SweepMap {
    /// Returns the map of a metric over two numbers. A sweep over one number has a single column.
    pub(crate) fn of(results: &SweepResults, metric: Metric) -> Self {
        let setup = &results.setup;
        let summaries = results.cells().iter().map(|cell| cell.summary(metric));
        let values: Vec<Option<f64>> = summaries.map(|s| s.map(|s| s.mean)).collect();
        let shown = |value: &Option<f64>| value.map_or_else(String::new, |v| metric.format(v));
        let scale = results.scale(metric);
        let n = results.n_texts_per_cell();
        let of_texts = match (metric, n) {
            (Metric::Similarity, _) | (_, 1) => String::new(),
            (_, n) => format!(", mean of {n} texts"),
        };
        let explanation = metric.explanation();
        let columns = setup.columns.as_ref();
        Self {
            title: results.title(metric),
            subtitles: vec![format!("{explanation}{of_texts}"), explanation.to_owned()],
            row_name: setup.rows.parameter.name(),
            rows: setup.rows.labels(),
            column_name: columns.map_or_else(String::new, |axis| axis.parameter.name()),
            columns: columns.map_or_else(|| vec![String::new()], Axis::labels),
            labels: values.iter().map(shown).collect(),
            sentences: (0..values.len())
                .map(|cell| results.sentence(cell, metric))
                .collect(),
            values,
            scale,
            ends: scale.map_or([const { String::new() }; 2], |ends| {
                ends.map(|end| metric.format(end))
            }),
            is_logarithmic: metric == Metric::Perplexity,
            marks: Vec::new(),
        }
    }

    /// Returns where a value lies on the scale, from 0 to 1.
    pub(crate) fn place_of(&self, value: f64) -> f64 {
        let Some([from, to]) = self.scale else {
            return 0.0;
        };
        let (value, from, to) = if self.is_logarithmic {
            (value.ln(), from.ln(), to.ln())
        } else {
            (value, from, to)
        };
        if to - from > 1e-12 {
            ((value - from) / (to - from)).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }
}
