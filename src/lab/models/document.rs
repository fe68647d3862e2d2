//! The comparison of two models as a file.

use crate::lab::LabTab;
use crate::lab::models::{ModelComparisonRecord, ModelsRun, model_comparison_drawing};
use crate::state::{AppState, DocumentKind, ResultFormat, Unsaved};
use crate::ui::documents::{Render, RenderedDocument};
use crate::ui::pictures::Look;

/// The comparison of two models on screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelsDocument(pub ResultFormat);

impl DocumentKind for ModelsDocument {
    fn name(&self) -> &'static str {
        "the comparison"
    }

    fn file_name(&self) -> String {
        format!("quartet-comparison.{}", self.0.extension())
    }

    fn unsaved(&self) -> Unsaved {
        Unsaved {
            title: "The comparison was not saved",
            kept: "It is still on screen",
        }
    }
}

impl RenderedDocument for ModelsDocument {
    fn gather(&self, state: &AppState, look: Look) -> Result<Render, String> {
        let look = look.of_results(LabTab::Models, state);
        let format = self.0;
        let Some(ModelsRun {
            compared: Some(compared),
            text,
            ..
        }) = state.lab.models.run.clone()
        else {
            return Err("nothing was compared".to_owned());
        };
        Ok(Box::new(move || {
            let record = ModelComparisonRecord {
                compared: &compared,
                text: &text,
            };
            look.render_result(
                format,
                || record.csv(),
                || model_comparison_drawing(record, look),
            )
        }))
    }
}
