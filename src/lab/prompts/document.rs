//! The answers to the tasks as a file.

use std::sync::Arc;

use super::figures::{SweepReading, TaskResults, TaskSweep, TasksReading};
use super::picture::tasks_drawing;
use super::record::TasksRecord;
use super::state::{SweepRun, TaskView, TasksRun};
use crate::generation::{Limits, ModelInfo};
use crate::lab::LabTab;
use crate::state::{AppState, DocumentKind, PictureFormat, Unsaved};
use crate::ui::documents::{Render, RenderedDocument};
use crate::ui::pictures::Look;

/// The answers on screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptsDocument {
    Picture(PictureFormat),
    /// One row per answer.
    Csv,
    /// Everything.
    Json,
}

impl PromptsDocument {
    /// All formats, in menu order.
    pub const ALL: [Self; 5] = [
        Self::Picture(PictureFormat::Pdf),
        Self::Picture(PictureFormat::Svg),
        Self::Picture(PictureFormat::Png),
        Self::Csv,
        Self::Json,
    ];

    /// Returns the file extension, without the dot.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Picture(format) => format.extension(),
            Self::Csv => "csv",
            Self::Json => "json",
        }
    }
}

impl DocumentKind for PromptsDocument {
    fn name(&self) -> &'static str {
        "the answers"
    }

    fn file_name(&self) -> String {
        format!("quartet-prompts.{}", self.extension())
    }

    fn unsaved(&self) -> Unsaved {
        Unsaved {
            title: "The answers were not saved",
            kept: "They are still on screen",
        }
    }
}

impl RenderedDocument for PromptsDocument {
    fn gather(&self, state: &AppState, look: Look) -> Result<Render, String> {
        let look = look.of_results(LabTab::Prompts, state);
        let document = *self;
        let prompts = &state.lab.prompts;
        let shown = match prompts.view {
            TaskView::Table => prompts.runs.table.as_ref().map(Shown::table),
            TaskView::AnySetting => prompts.runs.sweep.as_ref().map(Shown::sweep),
        };
        let shown = shown.ok_or("there are no answers")?;
        Ok(Box::new(move || {
            let record = TasksRecord {
                results: &shown.results,
                reading: &shown.reading,
                model: shown.results.first_model(shown.model.as_deref()),
                limits: &shown.limits,
                sweep: shown
                    .sweep
                    .as_ref()
                    .map(|(sweep, reading)| (sweep, reading)),
            };
            match document {
                Self::Picture(format) => {
                    let drawing = tasks_drawing(&record, look);
                    look.encode(&drawing, format)
                }
                Self::Csv => Ok(look.table(record.csv())),
                Self::Json => Ok(look.json(record.json())),
            }
        }))
    }
}

/// What is on screen.
struct Shown {
    results: TaskResults,
    reading: TasksReading,
    /// The main model, if it answers.
    model: Option<Arc<ModelInfo>>,
    limits: Limits,
    sweep: Option<(TaskSweep, SweepReading)>,
}

impl Shown {
    fn table(run: &TasksRun) -> Self {
        Self {
            results: run.results.clone(),
            reading: run.reading.clone(),
            model: run.model.clone(),
            limits: run.limits.clone(),
            sweep: None,
        }
    }

    fn sweep(run: &SweepRun) -> Self {
        Self {
            results: run.results.clone(),
            reading: TasksReading::default(),
            model: run.model.clone(),
            limits: run.limits.clone(),
            sweep: Some((run.sweep.clone(), run.reading.clone())),
        }
    }
}
