//! Futures as a file.

use super::picture::{FuturesPicture, futures_drawing};
use crate::export::{self, PaneFutures};
use crate::generation::formatting::pane_letter;
use crate::state::{AppState, DocumentKind, FuturesRun, ResultFormat, Unsaved};
use crate::ui::documents::{Render, RenderedDocument};
use crate::ui::pictures::Look;

/// The futures on screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FuturesDocument(pub ResultFormat);

impl DocumentKind for FuturesDocument {
    fn name(&self) -> &'static str {
        "the futures"
    }

    fn file_name(&self) -> String {
        format!("quartet-futures.{}", self.0.extension())
    }

    fn unsaved(&self) -> Unsaved {
        Unsaved {
            title: "The futures were not saved",
            kept: "They are still on screen",
        }
    }
}

impl RenderedDocument for FuturesDocument {
    /// Copies the futures of the panes that still exist.
    fn gather(&self, state: &AppState, look: Look) -> Result<Render, String> {
        let format = self.0;
        let runs = state.futures.runs().iter();
        let shown: Vec<(usize, FuturesRun)> = runs
            .filter_map(|run| Some((state.place_of(run.pane)?, run.clone())))
            .collect();
        Ok(Box::new(move || {
            let picture = FuturesPicture {
                panes: shown.iter().map(|(place, run)| (*place, run)).collect(),
            };
            look.render_result(
                format,
                || table(&picture),
                || futures_drawing(&picture, look),
            )
        }))
    }
}

fn table(futures: &FuturesPicture<'_>) -> Vec<u8> {
    let panes = futures.panes.iter().map(|(place, run)| PaneFutures {
        pane: pane_letter(*place),
        plan: run.plan(),
        futures: run.futures(),
        vocabulary: &run.vocabulary,
    });
    export::render_futures(&panes.collect::<Vec<_>>())
}
