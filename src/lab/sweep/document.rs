//! The results of a sweep as files.

use crate::lab::LabTab;
use crate::lab::sweep::{SweepPicture, SweepRecord, sweep_drawing};
use crate::state::{AppState, DocumentKind, PictureFormat, Unsaved};
use crate::ui::documents::{Render, RenderedDocument};
use crate::ui::pictures::Look;

/// The results of the sweep on screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SweepDocument {
    Picture(SweepPicture, PictureFormat),
    /// One row per cell.
    Cells,
    /// One row per text.
    Texts,
    /// Everything.
    Json,
}

impl DocumentKind for SweepDocument {
    fn name(&self) -> &'static str {
        "the sweep"
    }

    fn file_name(&self) -> String {
        match self {
            Self::Picture(SweepPicture::Metric(metric), format) => {
                let name = metric.name().to_lowercase().replace(' ', "-");
                format!("quartet-sweep-{name}.{}", format.extension())
            }
            Self::Picture(SweepPicture::Scatter, format) => {
                format!("quartet-sweep-quality.{}", format.extension())
            }
            Self::Cells => "quartet-sweep-cells.csv".to_owned(),
            Self::Texts => "quartet-sweep-texts.csv".to_owned(),
            Self::Json => "quartet-sweep.json".to_owned(),
        }
    }

    fn unsaved(&self) -> Unsaved {
        Unsaved {
            title: "The sweep was not saved",
            kept: "It is still on screen",
        }
    }
}

impl RenderedDocument for SweepDocument {
    fn gather(&self, state: &AppState, look: Look) -> Result<Render, String> {
        let look = look.of_results(LabTab::Sweep, state);
        let document = *self;
        let run = state.lab.sweep.run.clone().ok_or("there is no sweep")?;
        Ok(Box::new(move || {
            let record = SweepRecord {
                results: &run.results,
                model: &run.model,
                second_model: run.second_model.as_deref(),
                prompts: &run.prompts,
                prompt_tokens: &run.prompt_tokens,
            };
            Ok(match document {
                Self::Picture(picture, format) => {
                    let drawing = sweep_drawing(record, picture, look);
                    return look.encode(&drawing, format);
                }
                Self::Cells => look.table(record.cells_csv()),
                Self::Texts => look.table(record.texts_csv()),
                Self::Json => look.json(record.json()),
            })
        }))
    }
}
