//! What the window shows of texts and takes long to compute, kept until a text or a setting changes,
//! so that a frame takes the same time for every length of a text and every size of a vocabulary.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use egui::Context;

use crate::analysis::trend::{Trend, TrendShape};
use crate::analysis::watermark::WatermarkScan;
use crate::analysis::xray::XrayTable;
use crate::analysis::{JoinedTurns, TextMetrics};
use crate::decoding::ChainConfig;
use crate::decoding::watermark::Watermark;
use crate::design::memo::remembered;
use crate::generation::Generation;
use crate::plots::{KeptPlot, ScoreValues, TrendFigures, run_picture};
use crate::state::{MAX_PANES, Plot, ScoreMeasure, TextMark};

/// How many X-rays are kept: those of a pinned, a hovered and an edited step.
const N_TABLES: usize = 3;

/// What the X-ray of a step depends on.
#[derive(PartialEq)]
struct TableKey {
    /// Marks the text up to and including the step.
    mark: TextMark,
    /// The chain and the seed that wrote the text.
    run: (ChainConfig, u64),
    /// The chain and the seed that the X-ray shows.
    shown: (ChainConfig, u64),
}

/// Returns the X-ray of a step under a chain and a seed, or `None` if it has none.
pub(super) fn step_table(
    ctx: &Context,
    text: &Generation,
    step: usize,
    chain: &ChainConfig,
    seed: u64,
) -> Option<Arc<XrayTable>> {
    text.steps.get(step)?;
    let key = TableKey {
        mark: TextMark::of(text, step + 1),
        run: (text.config.chain.clone(), text.config.seed),
        shown: (chain.clone(), seed),
    };
    let table = remembered(ctx, "x-rays", N_TABLES, key, || {
        XrayTable::of(text, step, chain, seed).map(Arc::new)
    });
    (*table).clone()
}

/// Returns what was computed from the steps of a text. The name must identify `compute`, which may
/// read nothing that can change while the steps stay.
pub(super) fn of_steps<V: Send + Sync + 'static>(
    ctx: &Context,
    name: &'static str,
    text: &Generation,
    compute: impl FnOnce(&Generation) -> V,
) -> Arc<V> {
    let mark = TextMark::of_all(text);
    remembered(ctx, name, MAX_PANES, mark, || compute(text))
}

/// Returns the mean surprise of a text per character, in bits, before the chain.
pub(super) fn bits_per_character(ctx: &Context, text: &Generation) -> Option<f64> {
    *of_steps(ctx, "bits per character", text, |text| {
        TextMetrics::of(text).bits_per_character
    })
}

/// Returns the values of a measure at the steps of a text.
pub(super) fn score_values(
    ctx: &Context,
    text: &Generation,
    measure: ScoreMeasure,
) -> Arc<ScoreValues> {
    let key = (measure, TextMark::of_all(text));
    remembered(ctx, "score", MAX_PANES, key, || {
        ScoreValues::of(text, measure)
    })
}

/// Returns the answers of a conversation up to this one as one text. Those before it are joined only
/// once, so that an answer that is being written takes the same time in every turn.
pub(super) fn joined_turns(ctx: &Context, last: &Generation) -> Arc<JoinedTurns> {
    let earlier = last.previous_turn.as_deref().map(|before| {
        let mark = TextMark::of_all(before);
        remembered(ctx, "joined turns before", MAX_PANES, mark, || {
            JoinedTurns::of(before)
        })
    });
    of_steps(ctx, "joined turns", last, |last| match earlier {
        Some(earlier) => earlier.followed_by(last),
        None => JoinedTurns::of(last),
    })
}

/// What the figures of a trend depend on.
#[derive(PartialEq)]
struct TrendKey {
    kind: Trend,
    texts: Vec<TextMark>,
    /// What is looked for in each text, and in how many tokens.
    scans: Vec<(Watermark, usize)>,
}

/// Returns the figures of a trend of these texts, whose watermark scans are in `scans`.
pub(super) fn trend_figures(
    ctx: &Context,
    kind: Trend,
    texts: &[(usize, &Generation)],
    scans: &[&WatermarkScan],
) -> Arc<TrendFigures> {
    let scans_count = matches!(kind.spec().shape, TrendShape::PValues);
    let looked_for = scans.iter().filter(|_| scans_count);
    let key = TrendKey {
        kind,
        texts: texts
            .iter()
            .map(|(_, text)| TextMark::of_all(text))
            .collect(),
        scans: looked_for
            .map(|scan| (scan.watermark(), scan.p_values().len()))
            .collect(),
    };
    remembered(ctx, "trend", 1, key, || {
        TrendFigures::of(kind, texts, scans)
    })
}

/// Returns a plot of these panes that has no pins, or `None` if it is drawn otherwise.
pub(super) fn kept_plot(
    ctx: &Context,
    plot: Plot,
    panes: &[Option<&Generation>],
) -> Option<KeptPlot> {
    let texts = panes.iter().map(|text| {
        let text = (*text)?;
        Some((
            TextMark::of_all(text),
            text.shown_name(),
            text.finish.is_some(),
        ))
    });
    let texts: Vec<_> = texts.collect();
    let kept = remembered(ctx, "right plot", 1, (plot, texts), || {
        run_picture(plot).and_then(|picture| picture.kept_plot(panes))
    });
    (*kept).clone()
}
