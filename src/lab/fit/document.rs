//! The fit as a file.

use crate::lab::LabTab;
use crate::lab::fit::{FitRecord, fit_base, fit_drawing};
use crate::state::{AppState, DocumentKind, ResultFormat, Unsaved};
use crate::ui::documents::{Render, RenderedDocument};
use crate::ui::pictures::Look;

/// The fit on screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FitDocument(pub ResultFormat);

impl DocumentKind for FitDocument {
    fn name(&self) -> &'static str {
        "the fit"
    }

    fn file_name(&self) -> String {
        format!("quartet-fit.{}", self.0.extension())
    }

    fn unsaved(&self) -> Unsaved {
        Unsaved {
            title: "The fit was not saved",
            kept: "It is still on screen",
        }
    }
}

impl RenderedDocument for FitDocument {
    fn gather(&self, state: &AppState, look: Look) -> Result<Render, String> {
        let look = look.of_results(LabTab::Fit, state);
        let format = self.0;
        let run = state.lab.fit.run.clone().ok_or("there is no fit")?;
        let base = fit_base(state).and_then(|pane| state.place_of(pane.id));
        Ok(Box::new(move || {
            let record = FitRecord {
                fit: &run.fit,
                model: &run.model,
                vocabulary: &run.vocabulary,
            };
            look.render_result(format, || record.csv(), || fit_drawing(record, base, look))
        }))
    }
}
