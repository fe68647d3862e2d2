//! The measurement of the KV cache as a file.

use crate::lab::LabTab;
use crate::lab::cache::{CacheRecord, CacheRun, cache_drawing};
use crate::state::{AppState, DocumentKind, ResultFormat, Unsaved};
use crate::ui::documents::{Render, RenderedDocument};
use crate::ui::pictures::Look;

/// The measurement of the KV cache on screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheDocument(pub ResultFormat);

impl DocumentKind for CacheDocument {
    fn name(&self) -> &'static str {
        "the measurement"
    }

    fn file_name(&self) -> String {
        format!("quartet-cache.{}", self.0.extension())
    }

    fn unsaved(&self) -> Unsaved {
        Unsaved {
            title: "The measurement was not saved",
            kept: "It is still on screen",
        }
    }
}

impl RenderedDocument for CacheDocument {
    fn gather(&self, state: &AppState, look: Look) -> Result<Render, String> {
        let look = look.of_results(LabTab::Cache, state);
        let format = self.0;
        let Some(CacheRun {
            lab: Some(lab),
            model,
            prompt,
            ..
        }) = state.lab.cache.run.clone()
        else {
            return Err("nothing was measured".to_owned());
        };
        Ok(Box::new(move || {
            let record = CacheRecord {
                lab: &lab,
                model: &model,
                prompt: &prompt,
            };
            look.render_result(format, || record.csv(), || cache_drawing(record, look))
        }))
    }
}
