//! A pane before its first generation: the prompt, a sketch of what the chain keeps, and a sentence
//! about it.

use egui::text::{LayoutJob, TextFormat};
use egui::{Rect, Stroke, StrokeKind, Ui, pos2, vec2};

use super::token_text::line_span;
use crate::decoding::{
    ChainConfig, Coins, Filter, History, RankedCandidate, SamplerChain, Selector,
};
use crate::design::child_ui::child_ui;
use crate::design::fonts::Face;
use crate::design::theme::Theme;
use crate::state::describe;

const N_BARS: usize = 12;

/// The number of example candidates per bar, so that the bars span more than the usual cutoffs.
const STRIDE: usize = 5;

/// How far each example candidate's logit is below the previous one.
const DECAY: f32 = 0.066;

/// The share of the pane that a long prompt may take before it is truncated.
const PROMPT_SHARE: f32 = 0.4;

/// Draws the prompt, and below it how the chain would choose the next token.
pub(super) fn empty_pane_ui(
    ui: &mut Ui,
    rect: Rect,
    prompt: &str,
    chain: &ChainConfig,
    place: usize,
) {
    let theme = Theme::of(ui);
    // The text's column, so that the prompt does not move when the first token arrives.
    let line = line_span(rect.width());
    let text = Rect::from_min_max(
        pos2(rect.left() + line.min, rect.top() + 2.0),
        pos2(rect.left() + line.max, rect.bottom() - 2.0),
    );
    let mut child = child_ui(ui, text, "prompt");
    if !prompt.is_empty() {
        let text = format!("{} …", prompt.trim_end());
        child.set_clip_rect(rect.intersect(ui.clip_rect()));
        let mut job = LayoutJob::simple(
            text,
            Face::Read.font(),
            theme.prompt_text,
            child.available_width(),
        );
        for section in &mut job.sections {
            section.format.line_height = Some(Face::Read.row());
        }
        #[expect(clippy::cast_sign_loss, reason = "it is 1 or more")]
        let max_rows = (rect.height() * PROMPT_SHARE / Face::Read.row()).max(1.0) as usize;
        job.wrap.max_rows = max_rows;
        child.add(egui::Label::new(job));
    }
    let used = child.min_rect().bottom();

    let height = 44.0 + 26.0 + 40.0;
    let top = (rect.top() + rect.height() * 0.40).max(used + 16.0);
    if top + height > rect.bottom() {
        return;
    }
    let bars = Rect::from_min_size(pos2(text.left() + 2.0, top), vec2(248.0, 44.0));
    bars_ui(ui, bars.intersect(text), &example_bars(chain), place);
    let sentence = Rect::from_min_max(pos2(text.left(), bars.bottom() + 16.0), text.max);
    let format = TextFormat {
        line_height: Some(Face::Body.row()),
        ..TextFormat::simple(Face::Body.font(), theme.text_2)
    };
    let mut job = LayoutJob::single_section(describe(chain), format);
    #[expect(clippy::cast_sign_loss, reason = "it is 1 or more")]
    let max_rows = (sentence.height() / Face::Body.row()).max(1.0) as usize;
    job.wrap.max_rows = max_rows;
    child_ui(ui, sentence, "description").add(egui::Label::new(job).wrap());
}

/// Draws solid bars for candidates that can be sampled and hollow bars for those that can't.
fn bars_ui(ui: &Ui, rect: Rect, bars: &[Bar], place: usize) {
    let theme = Theme::of(ui);
    let highest = bars.iter().map(|bar| bar.prob).fold(0.0, f32::max);
    let step = (rect.width() / N_BARS as f32).min(21.0);
    for (index, bar) in bars.iter().enumerate() {
        let height = (rect.height() * bar.prob / highest.max(f32::MIN_POSITIVE)).max(3.0);
        let left = rect.left() + index as f32 * step;
        let shape = Rect::from_min_max(
            pos2(left, rect.bottom() - height),
            pos2(left + step - 5.0, rect.bottom()),
        );
        if bar.kept {
            ui.painter().rect_filled(shape, 2, theme.pane(place));
        } else {
            let edge = Stroke::new(1.0, theme.stroke_3);
            ui.painter().rect_stroke(shape, 2, edge, StrokeKind::Inside);
        }
    }
}

/// One candidate of the example.
struct Bar {
    /// Its probability, before any stage drops candidates.
    prob: f32,
    /// Whether the chain could sample it.
    kept: bool,
}

/// Applies the chain to an example in which each token is a little less likely than the previous
/// one. Penalties have no effect, because the history is empty.
fn example_bars(chain: &ChainConfig) -> Vec<Bar> {
    let logits: Vec<f32> = (0..N_BARS * STRIDE)
        .map(|rank| -DECAY * rank as f32)
        .collect();
    let kept = example_of(chain.active(), &logits);
    // The same filters, without those that drop candidates.
    let reshaping = chain.active().filter(|filter| !drops(filter));
    let uncut = example_of(reshaping, &logits);
    let n_kept = match chain.selector {
        Selector::Greedy => 1,
        _ => kept.len(),
    };
    let shown = uncut.iter().enumerate().step_by(STRIDE);
    shown
        .map(|(rank, candidate)| Bar {
            prob: candidate.prob as f32,
            kept: rank < n_kept,
        })
        .collect()
}

/// Returns whether a filter drops candidates, as a temperature of 0 does.
fn drops(filter: &Filter) -> bool {
    let is_cold = matches!(filter, Filter::Temperature(heat) if heat.temperature <= 0.0);
    is_cold || filter.cuts()
}

/// Applies filters to an example, and returns the candidates that they leave.
fn example_of<'a>(
    filters: impl Iterator<Item = &'a Filter>,
    logits: &[f32],
) -> Vec<RankedCandidate> {
    let coins = Coins {
        seed: 0,
        position: 0,
    };
    let chain = SamplerChain::new(ChainConfig::sampled(filters.cloned()));
    let left = chain.distribution(logits, History::empty(), coins);
    left.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::example_bars;
    use crate::generation::PaneSettings;

    #[test]
    fn the_sketch_shows_how_many_candidates_each_classic_keeps() {
        let n_kept: Vec<usize> = PaneSettings::classics()
            .iter()
            .map(|pane| {
                example_bars(&pane.chain)
                    .iter()
                    .filter(|bar| bar.kept)
                    .count()
            })
            .collect();
        assert_eq!(n_kept, [1, 12, 8, 5]);
    }
}
