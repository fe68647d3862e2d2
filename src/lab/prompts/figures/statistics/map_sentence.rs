//! The sentence about two swept settings: which values are best, and how many others are as good as
//! far as the prompts can tell.

use super::axis_sentence::{AxisPoint, against, prompts};
use super::sentence::{Verdict, is_exact, limits};
use super::share::{PromptShare, ShareEstimate};
use super::words::share_words;
use crate::generation::formatting::{counted, grouped};

/// The most prompts of all settings together for which the settings are compared.
const N_MAX_COMPARED: usize = 400_000;

/// Says which of the settings is best. Returns `None` if fewer than two of them were judged.
pub fn map_sentence(points: &[AxisPoint<'_>]) -> Option<Verdict> {
    let judged = points.iter().filter_map(|point| {
        let shares: Vec<PromptShare> = point.shares.iter().flatten().copied().collect();
        Some((*point, ShareEstimate::of(&shares)?))
    });
    let (points, estimates): (Vec<AxisPoint<'_>>, Vec<ShareEstimate>) = judged.unzip();
    let ranked = estimates.iter().enumerate().rev();
    let (best, estimate) = ranked.max_by(|(_, a), (_, b)| a.share.total_cmp(&b.share))?;
    if points.len() < 2 {
        return None;
    }
    let label = points.get(best).map_or("", |point| point.label);
    let share = share_words(estimate.share);
    let of_prompts = prompts(estimate.n_prompts);
    let best_words = format!("On {of_prompts} {label} is best, with {share}");
    let is_compared = estimate.n_prompts.saturating_mul(points.len()) <= N_MAX_COMPARED;
    let comparisons = if is_compared {
        against(&points, best)
    } else {
        Vec::new()
    };
    let alike_words = is_compared.then(|| {
        let alike = comparisons.iter();
        let n_alike = match alike.filter(|it| !it.paired.is_significant()).count() {
            0 => "none".to_owned(),
            n => grouped(n as f64),
        };
        let others = counted(points.len() - 1, "other setting");
        format!("; of the {others}, {n_alike} can’t be told apart from it")
    });
    let are_exact = points.iter().all(|point| is_exact(point.shares));
    Some(Verdict {
        sentence: best_words + &alike_words.unwrap_or_default() + ".",
        limits: limits(estimate.n_prompts, are_exact, &comparisons),
    })
}
