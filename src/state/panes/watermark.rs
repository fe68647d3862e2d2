//! The search for a watermark in a pane's text, continued only when the text has changed.

use crate::analysis::watermark::WatermarkScan;
use crate::decoding::TokenId;
use crate::decoding::watermark::Watermark;
use crate::generation::Generation;
use crate::state::TextMark;

/// The result of the search in a text, and the text that it belongs to.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::state) struct PaneScan {
    mark: TextMark,
    /// `None` if there is no watermark to look for, or no text.
    scan: Option<WatermarkScan>,
}

impl PaneScan {
    /// Returns the result, or `None` if there is no watermark to look for.
    pub(in crate::state) const fn found(&self) -> Option<&WatermarkScan> {
        self.scan.as_ref()
    }

    /// Looks for a watermark in the tokens that were added since the last call.
    pub(in crate::state) fn update(
        &mut self,
        watermark: Option<Watermark>,
        generation: Option<&Generation>,
    ) {
        let (Some(watermark), Some(generation)) = (watermark, generation) else {
            *self = Self::default();
            return;
        };
        let is_same = |scan: &WatermarkScan| scan.watermark() == watermark;
        if self.mark.is_all_of(generation) && self.scan.as_ref().is_some_and(is_same) {
            return;
        }
        self.mark = TextMark::of_all(generation);
        let n_vocab = generation.model.n_vocab as u32;
        let text: Vec<TokenId> = generation.steps.iter().map(|step| step.token).collect();
        self.scan
            .get_or_insert_with(|| WatermarkScan::new(watermark, n_vocab))
            .follow(watermark, n_vocab, &text);
    }
}
