//! The measurement as a file.

use super::picture::influence_drawing;
use super::record::InfluenceRecord;
use super::state::InfluenceRun;
use crate::lab::LabTab;
use crate::state::{AppState, DocumentKind, PictureFormat, Unsaved};
use crate::ui::documents::{Render, RenderedDocument};
use crate::ui::pictures::Look;

/// The measurement on screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InfluenceDocument {
    Picture(PictureFormat),
    /// One row per part.
    Csv,
    /// Everything.
    Json,
}

impl InfluenceDocument {
    /// All formats, in menu order.
    pub(super) const ALL: [Self; 5] = [
        Self::Picture(PictureFormat::Pdf),
        Self::Picture(PictureFormat::Svg),
        Self::Picture(PictureFormat::Png),
        Self::Csv,
        Self::Json,
    ];

    /// Returns the file extension, without the dot.
    pub(super) const fn extension(self) -> &'static str {
        match self {
            Self::Picture(format) => format.extension(),
            Self::Csv => "csv",
            Self::Json => "json",
        }
    }
}

impl DocumentKind for InfluenceDocument {
    fn name(&self) -> &'static str {
        "the measurement"
    }

    fn file_name(&self) -> String {
        format!("quartet-influence.{}", self.extension())
    }

    fn unsaved(&self) -> Unsaved {
        Unsaved {
            title: "The measurement was not saved",
            kept: "It is still on screen",
        }
    }
}

impl RenderedDocument for InfluenceDocument {
    fn gather(&self, state: &AppState, look: Look) -> Result<Render, String> {
        let look = look.of_results(LabTab::Influence, state);
        let document = *self;
        let Some(InfluenceRun {
            results: Some(results),
            model,
            target,
            ..
        }) = state.lab.influence.run.clone()
        else {
            return Err("nothing was measured".to_owned());
        };
        Ok(Box::new(move || {
            let record = InfluenceRecord {
                results: &results,
                model: &model.info,
                target: &target,
            };
            match document {
                Self::Picture(format) => {
                    let drawing = influence_drawing(record, look);
                    look.encode(&drawing, format)
                }
                Self::Csv => Ok(look.table(record.csv())),
                Self::Json => Ok(look.json(record.json())),
            }
        }))
    }
}
