//! A pane before its first text: the prompt, a picture of the choice, and a sentence about it.

use egui::text::{LayoutJob, TextFormat};
use egui::{Rect, Stroke, StrokeKind, Ui, pos2, vec2};

use super::fonts::Face;
use super::part::part;
use super::theme::Theme;
use crate::decoding::{
    Candidates, ChainConfig, Coins, Filter, History, Rules, Selector, StageContext,
};
use crate::state::describe;

const N_BARS: usize = 12;

/// How many candidates of the example lie between two bars, so that the bars span more than the
/// usual cuts.
const STRIDE: usize = 5;

/// The natural logarithm by which a candidate of the example is less likely than the one before.
const DECAY: f32 = 0.066;

/// Draws the prompt as the text will begin, and how it would go on.
pub(super) fn empty_pane_ui(
    ui: &mut Ui,
    rect: Rect,
    prompt: &str,
    chain: &ChainConfig,
    place: usize,
) {
    let theme = Theme::of(ui);
    let text = rect.shrink2(vec2(14.0, 2.0));
    let mut child = part(ui, text, "prompt");
    if !prompt.is_empty() {
        let words = format!("{} …", prompt.trim_end());
        child.set_clip_rect(rect.intersect(ui.clip_rect()));
        let label = Face::Read.text(words).color(theme.prompt_text);
        child.add(egui::Label::new(label).wrap());
    }
    let used = child.min_rect().bottom();

    let height = 44.0 + 26.0 + 40.0;
    let top = (rect.top() + rect.height() * 0.40).max(used + 16.0);
    if top + height > rect.bottom() {
        return;
    }
    let bars = Rect::from_min_size(pos2(text.left() + 2.0, top), vec2(248.0, 44.0));
    bars_ui(ui, bars.intersect(text), &shares(chain), place);
    let words = Rect::from_min_max(pos2(text.left(), bars.bottom() + 16.0), text.max);
    let format = TextFormat {
        line_height: Some(Face::Body.row()),
        ..TextFormat::simple(Face::Body.font(), theme.text_2)
    };
    let mut job = LayoutJob::single_section(describe(chain), format);
    #[expect(clippy::cast_sign_loss, reason = "it is 1 or more")]
    let most_rows = (words.height() / Face::Body.row()).max(1.0) as usize;
    job.wrap.max_rows = most_rows;
    part(ui, words, "how").add(egui::Label::new(job).wrap());
}

/// Solid bars can be drawn, hollow ones can't.
fn bars_ui(ui: &Ui, rect: Rect, bars: &[Bar], place: usize) {
    let theme = Theme::of(ui);
    let highest = bars.iter().map(|bar| bar.share).fold(0.0, f32::max);
    let step = (rect.width() / N_BARS as f32).min(21.0);
    for (index, bar) in bars.iter().enumerate() {
        let height = (rect.height() * bar.share / highest.max(f32::MIN_POSITIVE)).max(3.0);
        let left = rect.left() + index as f32 * step;
        let shape = Rect::from_min_max(
            pos2(left, rect.bottom() - height),
            pos2(left + step - 5.0, rect.bottom()),
        );
        if bar.possible {
            ui.painter().rect_filled(shape, 2, theme.pane(place));
        } else {
            let edge = Stroke::new(1.0, theme.stroke_3);
            ui.painter().rect_stroke(shape, 2, edge, StrokeKind::Inside);
        }
    }
}

struct Bar {
    share: f32,
    possible: bool,
}

/// What the chain makes of an example in which each token is a little less likely than the one
/// before. Penalties have nothing to look back on here.
fn shares(chain: &ChainConfig) -> Vec<Bar> {
    let logits: Vec<f32> = (0..N_BARS * STRIDE)
        .map(|rank| -DECAY * rank as f32)
        .collect();
    let Ok(mut candidates) = Candidates::from_logits(&logits) else {
        return Vec::new();
    };
    let mut before_cuts = candidates.clone();
    let context = StageContext {
        history: History::empty(),
        coins: Coins {
            seed: 0,
            position: 0,
        },
        n_chance_before: 0,
        rules: Rules::default(),
    };
    for filter in chain.active() {
        filter.apply(context, &mut candidates);
        let is_cold = matches!(filter, Filter::Temperature(filter) if filter.temperature <= 0.0);
        if !filter.cuts() && !is_cold {
            filter.apply(context, &mut before_cuts);
        }
    }
    let n_possible = match chain.selector {
        Selector::Greedy => 1,
        _ => candidates.n_kept(),
    };
    let softmax = before_cuts.softmax();
    before_cuts
        .head(N_BARS * STRIDE)
        .iter()
        .enumerate()
        .step_by(STRIDE)
        .map(|(rank, candidate)| Bar {
            share: softmax.prob(candidate.logit) as f32,
            possible: rank < n_possible,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::shares;
    use crate::generation::PaneSettings;

    #[test]
    fn the_picture_shows_how_much_each_classic_leaves() {
        let n_possible: Vec<usize> = PaneSettings::classics()
            .iter()
            .map(|pane| {
                shares(&pane.chain)
                    .iter()
                    .filter(|bar| bar.possible)
                    .count()
            })
            .collect();
        assert_eq!(n_possible, [1, 12, 8, 5]);
    }
}
