//! A trend as a picture of a run.

use std::sync::Arc;

use egui::{Color32, Ui};

use super::{TrendData, TrendFigures};
use crate::analysis::trend::{Trend, TrendShape};
use crate::analysis::watermark::{WatermarkScan, first_mark};
use crate::generation::Generation;
use crate::plots::{PicturePlot, PlottedRun};

/// A trend of a run, with the watermark scans of its texts if it plots them.
#[derive(Debug)]
pub(super) struct TrendPicture<'a> {
    kind: Trend,
    panes: &'a [Option<&'a Generation>],
    scans: Vec<Option<WatermarkScan>>,
    figures: Arc<TrendFigures>,
}

impl<'a> TrendPicture<'a> {
    pub(super) fn of(kind: Trend, run: PlottedRun<'a>) -> Self {
        let panes = run.panes;
        let chains = panes.iter().flatten().map(|text| &text.config.chain);
        let watermark = run.choices.watermark.or_else(|| first_mark(chains));
        let scans = match (&kind.spec().shape, watermark) {
            (TrendShape::PValues, Some(mark)) => {
                let scan = |text: &Generation| WatermarkScan::of_text(mark, text);
                panes.iter().map(|text| text.map(scan)).collect()
            }
            _ => Vec::new(),
        };
        let borrowed: Vec<_> = scans.iter().map(Option::as_ref).collect();
        Self {
            figures: TrendData::with_scans(panes, kind, &borrowed).figures,
            kind,
            panes,
            scans,
        }
    }

    fn data(&self) -> TrendData<'_> {
        let scans: Vec<_> = self.scans.iter().map(Option::as_ref).collect();
        let figures = |_: &[(usize, &Generation)], _: &[&WatermarkScan]| Arc::clone(&self.figures);
        TrendData::with_figures(self.panes, self.kind, &scans, figures)
    }
}

impl PicturePlot for TrendPicture<'_> {
    fn title(&self) -> &str {
        self.kind.spec().name
    }

    fn default_size(&self) -> [f32; 2] {
        self.data().default_size()
    }

    fn draw(&self, ui: &mut Ui, paper: Color32) {
        self.data().draw(ui, paper);
    }
}
