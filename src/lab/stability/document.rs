//! The stability map as a file.

use crate::lab::LabTab;
use crate::lab::stability::{StabilityPlot, render_stability, stability_drawing};
use crate::state::{AppState, DocumentKind, ResultFormat, Unsaved};
use crate::ui::documents::{Render, RenderedDocument};
use crate::ui::pictures::Look;

/// The stability map on screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StabilityDocument(pub ResultFormat);

impl DocumentKind for StabilityDocument {
    fn name(&self) -> &'static str {
        "the stability map"
    }

    fn file_name(&self) -> String {
        format!("quartet-stability.{}", self.0.extension())
    }

    fn unsaved(&self) -> Unsaved {
        Unsaved {
            title: "The map was not saved",
            kept: "It is still on screen",
        }
    }
}

impl RenderedDocument for StabilityDocument {
    fn gather(&self, state: &AppState, look: Look) -> Result<Render, String> {
        let look = look.of_results(LabTab::Stability, state);
        let format = self.0;
        let Some(run) = state.lab.stability.run.clone() else {
            return Err("there is no stability map".to_owned());
        };
        Ok(Box::new(move || {
            let token = run.held_step().map(|step| run.token_words(step));
            let plot = StabilityPlot {
                map: &run.map,
                n_tokens: run.n_mapped(),
                token: token.as_deref(),
                pane: Some(run.text.place),
                selected: None,
            };
            look.render_result(
                format,
                || render_stability(&run.map),
                || stability_drawing(&run.text, plot, look),
            )
        }))
    }
}
