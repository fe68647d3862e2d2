//! The picture of the tab on screen, for the Export menu.

use super::blind::VotesDocument;
use super::cache::CacheDocument;
use super::fit::FitDocument;
use super::influence::InfluenceDocument;
use super::models::ModelsDocument;
use super::prompts::PromptsDocument;
use super::stability::StabilityDocument;
use super::sweep::{SweepDocument, SweepPicture};
use super::{Lab, LabTab};
use crate::state::{Document, PictureDocument, PictureFormat, Plot, ResultFormat};

impl Lab {
    /// Returns the picture of the tab on screen, or `None` if there is nothing to draw.
    pub fn shown_picture(&self, format: PictureFormat) -> Option<Document> {
        let result = ResultFormat::Picture(format);
        Some(match self.tab {
            LabTab::Sweep => {
                let run = self.sweep.run.as_ref();
                run.filter(|run| !run.results.metrics().is_empty())?;
                let metric = SweepPicture::Metric(self.sweep.metric);
                Document::new(SweepDocument::Picture(metric, format))
            }
            LabTab::Prompts => {
                let runs = &self.prompts.runs;
                let is_there = runs.table.is_some() || runs.sweep.is_some();
                is_there.then(|| Document::new(PromptsDocument::Picture(format)))?
            }
            LabTab::Influence => {
                self.influence.run.as_ref()?.results.as_ref()?;
                Document::new(InfluenceDocument::Picture(format))
            }
            LabTab::Stability => {
                self.stability.run.as_ref()?;
                Document::new(StabilityDocument(result))
            }
            LabTab::Fit => {
                let run = self.fit.run.as_ref();
                run.filter(|run| run.fit.n_done() > 0)?;
                Document::new(FitDocument(result))
            }
            LabTab::Cache => {
                self.cache.run.as_ref()?.lab.as_ref()?;
                Document::new(CacheDocument(result))
            }
            LabTab::Models => {
                self.models.run.as_ref()?.compared.as_ref()?;
                Document::new(ModelsDocument(result))
            }
            LabTab::Blind => {
                self.blind.results().are_named().then_some(())?;
                Document::new(VotesDocument::Picture(format))
            }
            LabTab::ByHand => {
                let plot = Plot::ByHand;
                Document::new(PictureDocument { plot, format })
            }
        })
    }
}
