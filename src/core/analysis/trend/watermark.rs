//! The probability of matching a watermark's key this well by chance.

use super::{TrendShape, TrendSpec};

pub(super) const SPEC: TrendSpec = TrendSpec {
    name: "Watermark",
    subtitle: "p-value of the text so far",
    hint: "No pane leaves a watermark. Add a green list to a chain, choose the Gumbel watermark as its draw, or choose what to look for.",
    file_name: "watermark",
    file_summary: "how likely chance is to match the key of a watermark",
    needs_times: false,
    shape: TrendShape::PValues,
};
