//! Why a token was chosen, in plain words derived from the record.

mod grammar;
mod margin;
mod smallest_change;
#[cfg(test)]
pub(super) mod tests;

use crate::decoding::{Filter, KnownStageNumbers, Selector, StageReport, TokenId, Trace};
use crate::generation::formatting::{counted, grouped, ordinal, pane_letter, percent, quoted};
use crate::generation::{Generation, Step, in_sentence, listed};

use self::grammar::{grammar_words, legal_prob, mask};
use self::margin::margin_words;
use super::suspects::{Suspect, suspects};

pub use smallest_change::smallest_change_words;

/// The explanation of one choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    /// "Why ‘nest’?"
    pub title: String,
    /// What the model, the settings and the coin did.
    pub story: String,
    /// How far the model's first choice was ahead of its second, compared with the size of rounding
    /// errors; empty if it was not recorded.
    pub margin: String,
    /// What the other panes did at the same place, and why; empty if there are none.
    pub others: String,
}

impl Why {
    /// Explains a step of the text at `place`. The other texts are compared with it.
    pub fn of(texts: &[Option<&Generation>], place: usize, step_index: usize) -> Option<Self> {
        let generation = texts.get(place).copied().flatten()?;
        let step = generation.steps.get(step_index)?;
        let mut story = vec![ranked(step)];
        story.extend(lacking_words(generation));
        story.extend(grammar_words(generation, step));
        story.extend(stage_verdicts(step));
        story.push(draw_words(generation.config.chain.selector, step));
        story.extend(runner_up(generation, step));
        Some(Self {
            title: format!("Why {}?", quoted(&step.piece)),
            story: story.join(" "),
            margin: margin_words(generation, step),
            others: others(texts, place, step_index).join(" "),
        })
    }

    /// Returns the whole explanation as text, with the sentence about the smallest change.
    pub fn text(&self, smallest_change: &str) -> String {
        let parts: Vec<&str> = [
            &self.title,
            &self.story,
            smallest_change,
            &self.margin,
            &self.others,
        ]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
        parts.join("\n")
    }
}

/// Says what the server did not apply, so that the stages below say what they would have done.
fn lacking_words(generation: &Generation) -> Option<String> {
    let lacking = listed(&generation.not_applied);
    (!lacking.is_empty()).then(|| format!("The server did not apply {lacking}."))
}

/// Says how the model ranked the token: "The model ranked it 3rd of 6,144 tokens, at 11 %." A
/// server may not report how many there are.
fn ranked(step: &Step) -> String {
    let trace = &step.trace;
    let of_all = trace
        .n_known_candidates()
        .map(|n| format!(" of {} tokens", grouped(f64::from(n))))
        .unwrap_or_default();
    let Some(prob) = trace.known_raw_prob().map(percent) else {
        return "The server reported no probability for it.".to_owned();
    };
    let rank = match trace.known_rank() {
        Some(1) => "first".to_owned(),
        Some(rank) => ordinal(rank),
        None => {
            let n_named = counted(trace.raw.head.len(), "token");
            return format!(
                "It is not among the {n_named} that the server named; it was at {prob}."
            );
        }
    };
    match &trace.mixture {
        None => format!("The model ranked it {rank}{of_all}, at {prob}."),
        Some(mixture) => {
            let [own, other] = mixture.subjects();
            let [own_prob, other_prob] =
                [&mixture.own, &mixture.other].map(|row| percent(row.prob));
            format!(
                "{own} gave it {own_prob}, {other} {other_prob}. Their mixture ranked it \
                 {rank}{of_all}, at {prob}."
            )
        }
    }
}

/// Returns one sentence per stage that can have an effect.
fn stage_verdicts(step: &Step) -> Vec<String> {
    let trace = &step.trace;
    let head = &trace.raw.head;
    let place = head.iter().position(|known| known.token == step.token);
    // A single suspect did cut the token.
    let (cut_at, unknown_from) = match suspects(trace).as_slice() {
        [] => (None, None),
        [only] => (Some(*only), None),
        [first, ..] => (None, Some(*first)),
    };
    let (mut n_before, mut prob) = match mask(step) {
        Some(report) => (Some(report.n_legal()), legal_prob(report, step)),
        None => (trace.n_known_candidates(), trace.known_raw_prob()),
    };
    let mut sentences = Vec::new();
    for (index, report) in trace.stages.iter().enumerate() {
        let here = Suspect::Stage(index);
        let after = place.and_then(|place| report.head_probs.get(place).copied().flatten());
        let KnownStageNumbers {
            n_kept,
            entropy_nats,
            ..
        } = trace.known_stage(index);
        // If the distribution is not known, nor are the probabilities.
        let after = after.map(f64::from).filter(|_| entropy_nats.is_some());
        if cut_at.is_some_and(|cut_at| cut_at < here) {
            break;
        }
        let words = if cut_at == Some(here) {
            Some(format!(
                "{} and cut this one.",
                kept_words(report, [n_kept, n_before])
            ))
        } else if unknown_from.is_some_and(|first| first <= here) {
            let cuts = report.filter.cuts() && n_kept != n_before;
            cuts.then(|| format!("{}.", kept_words(report, [n_kept, n_before])))
        } else {
            Some(verdict(report, [n_kept, n_before], [prob, after]))
        };
        sentences.extend(words.filter(|_| !report.filter.is_neutral()));
        n_before = n_kept;
        prob = after;
    }
    sentences
}

/// Says how many tokens a stage kept: "Top-k 40 kept 40 of 6,144 tokens". The counts are those after
/// and before it, or `None` if they depend on tokens that a server did not name.
fn kept_words(report: &StageReport, counts: [Option<u32>; 2]) -> String {
    let name = stage_name(&report.filter);
    match counts {
        [Some(n_kept), Some(n)] => {
            let [n_kept, n] = [n_kept, n].map(|n| grouped(f64::from(n)));
            format!("{name} kept {n_kept} of {n} tokens")
        }
        [Some(n_kept), None] => format!("{name} kept {}", counted(n_kept as usize, "token")),
        [None, _] => format!("{name} cut some tokens"),
    }
}

/// Describes a stage's effect: "Top-p 0.9 kept 8 of 6,144 tokens and raised it to 12 %."
fn verdict(
    report: &StageReport,
    [n_kept, n_before]: [Option<u32>; 2],
    [before, after]: [Option<f64>; 2],
) -> String {
    let name = stage_name(&report.filter);
    let is_forced = n_kept == Some(1) && n_before != n_kept;
    if is_forced && matches!(*report.filter, Filter::ThinkingBudget(_)) {
        return format!("{name} was used up and forced this token.");
    }
    let change = change_words(before, after);
    if n_kept == n_before && (n_kept.is_some() || !report.filter.cuts()) {
        return match (report.filter.cuts(), change) {
            (true, _) => format!("{name} cut nothing."),
            (false, Some(change)) => format!("{name} {change}."),
            (false, None) => format!("{name} left it in."),
        };
    }
    let kept = match (n_kept, n_before) {
        (Some(1), Some(n)) => {
            let n = grouped(f64::from(n));
            format!("{name} kept only this one of {n} tokens")
        }
        (Some(1), None) => format!("{name} kept only this one"),
        counts => kept_words(report, counts.into()),
    };
    match change {
        Some(change) if n_kept != Some(1) => format!("{kept} and {change}."),
        _ => format!("{kept}."),
    }
}

fn change_words(before: Option<f64>, after: Option<f64>) -> Option<String> {
    let (before, after) = (before?, after?);
    let (shown_before, shown_after) = (percent(before), percent(after));
    Some(if shown_before == shown_after {
        format!("left it at {shown_after}")
    } else if after > before {
        format!("raised it to {shown_after}")
    } else {
        format!("lowered it to {shown_after}")
    })
}

/// Returns a stage's name with its first value: "Top-p 0.9", "Repetition penalty 1.1".
fn stage_name(filter: &Filter) -> String {
    let spec = filter.spec();
    match spec.params.first().and_then(|param| param.text(filter)) {
        Some(value) => format!("{} {value}", spec.name),
        None => spec.name.to_owned(),
    }
}

/// Says how the acceptance rule of speculative sampling arrived at a token.
fn ratio_words(step: &Step) -> String {
    let draft = step.draft.unwrap_or_default();
    let [p, q] = [draft.prob, draft.draft_prob].map(|prob| percent(prob.unwrap_or(0.0)));
    let coin = draft.coin.unwrap_or(0.0);
    if draft.token == Some(step.token) {
        format!("It was drafted at {q} and the chain left it at {p}: coin {coin:.3} is below p/q.")
    } else {
        format!(
            "The drafted token was at {q}, the chain left it at {p}, and coin {coin:.3} is not \
             below p/q; so this token was drawn from the chain’s excess over the draft."
        )
    }
}

fn draw_words(selector: Selector, step: &Step) -> String {
    let draw = &step.trace.draw;
    if draw.is_given() {
        return if draw.was_possible() {
            format!(
                "The text was given; these settings would pick the token with a probability of {}.",
                percent(draw.prob)
            )
        } else {
            "The text was given; these settings could not have written this token.".to_owned()
        };
    }
    if draw.is_by_beams() {
        return format!(
            "No coin: the stages left it {}, and its text has the best score of those that beam search \
             compared.",
            percent(draw.prob)
        );
    }
    if draw.is_by_ratio() {
        return ratio_words(step);
    }
    if draw.is_by_server() {
        return format!(
            "No coin: the server’s own sampler took it; {}.",
            match step.trace.known_final_prob() {
                Some(prob) => format!("these settings give it a probability of {}", percent(prob)),
                None =>
                    "how likely these settings make it depends on tokens that the server did not \
                         name"
                        .to_owned(),
            }
        );
    }
    match (selector, draw.coin) {
        (Selector::Greedy, _) | (_, None) if draw.n_kept == 1 => {
            "No coin: the most likely token left is always taken.".to_owned()
        }
        (Selector::GumbelMark(_), _) => {
            "The key and the preceding tokens gave each remaining token a number, and this one won."
                .to_owned()
        }
        (Selector::GumbelMax, _) => {
            "Every remaining token had its own coin, and this one won.".to_owned()
        }
        (_, Some(coin)) if step.trace.known_final_prob().is_none() => format!(
            "The coin {coin:.3} fell on it, if the tokens that the server did not name share the rest \
             evenly."
        ),
        (_, Some(coin)) => {
            let (from, to) = (draw.below, draw.below + draw.prob);
            let adapted = if selector.is_adaptive() {
                let n = grouped(f64::from(draw.n_kept));
                format!("{} left {n} tokens. ", selector.name())
            } else {
                String::new()
            };
            format!(
                "{adapted}The coin {coin:.3} fell on it, between {from:.3} and {:.3}.",
                to.min(1.0)
            )
        }
        (_, None) => "No single coin decided.".to_owned(),
    }
}

/// Names the most likely other token at the draw.
fn runner_up(generation: &Generation, step: &Step) -> Option<String> {
    let trace = &step.trace;
    let mut others = trace.survivors.iter();
    if let Some(other) = others.find(|other| other.token != step.token)
        && trace.draw.n_kept > 1
    {
        let word = quoted(&generation.vocabulary.piece(other.token));
        let prob = percent(other.prob);
        return Some(if other.prob > trace.draw.prob {
            format!("{word} was more likely, at {prob}.")
        } else {
            format!("The runner-up was {word}, at {prob}.")
        });
    }
    if mask(step).is_some() {
        // The model's runner-up was probably illegal.
        return None;
    }
    let mut head = trace.raw.head.iter();
    let other = head.find(|other| other.token != step.token)?;
    let word = quoted(&generation.vocabulary.piece(other.token));
    let prob = percent(other.prob);
    let whose = match trace.mixture {
        Some(_) => "mixture",
        None => "model",
    };
    Some(format!("The {whose}’s runner-up was {word}, at {prob}."))
}

/// What the other panes did here, one sentence per token.
fn others(texts: &[Option<&Generation>], place: usize, index: usize) -> Vec<String> {
    let Some(own) = texts.get(place).copied().flatten() else {
        return Vec::new();
    };
    let mut groups: Vec<(Here, Vec<usize>)> = Vec::new();
    for (other_place, other) in texts.iter().enumerate() {
        let Some(other) = other.filter(|_| other_place != place) else {
            continue;
        };
        let here = Here::of(own, other, index);
        match groups.iter_mut().find(|(known, _)| *known == here) {
            Some((_, places)) => places.push(other_place),
            None => groups.push((here, vec![other_place])),
        }
    }
    groups
        .iter()
        .filter_map(|(here, places)| here.words(own, texts, places, index))
        .collect()
}

/// What another text has at a step.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Here {
    /// It continues a different prompt or comes from a different model.
    Unrelated,
    /// It has no token there.
    Missing,
    /// It diverged at an earlier step.
    Diverged(usize),
    /// It chose this token after the same text, with this coin and selector.
    Chose(TokenId, Option<f64>, Selector),
}

impl Here {
    fn of(own: &Generation, other: &Generation, index: usize) -> Self {
        if !own.shares_prompt_with(other) {
            return Self::Unrelated;
        }
        let pairs = own.steps.iter().zip(&other.steps).take(index);
        let diverged = pairs.into_iter().position(|(a, b)| a.token != b.token);
        match (diverged, other.steps.get(index)) {
            (Some(step), _) => Self::Diverged(step),
            (None, Some(step)) => Self::Chose(
                step.token,
                step.trace.draw.coin,
                other.config.chain.selector,
            ),
            (None, None) => Self::Missing,
        }
    }

    fn words(
        self,
        own: &Generation,
        texts: &[Option<&Generation>],
        places: &[usize],
        index: usize,
    ) -> Option<String> {
        let letters: Vec<String> = places.iter().map(|at| pane_letter(*at)).collect();
        let who = listed(&letters);
        let is_one = places.len() == 1;
        let verb = |one: &'static str, more: &'static str| if is_one { one } else { more };
        let other = texts.get(*places.first()?).copied().flatten()?;
        let step = own.steps.get(index)?;
        Some(match self {
            Self::Unrelated => format!(
                "{who} {} a different prompt or a different model.",
                verb("has", "have")
            ),
            Self::Missing => format!("{who} {} before this token.", verb("stops", "stop")),
            Self::Diverged(at) => format!("{who} diverged at token {}.", at + 1),
            Self::Chose(token, coin, selector) => {
                let word = quoted(&other.steps.get(index)?.piece);
                let how = how_words(coin, selector, step, is_one);
                if token == step.token {
                    format!("{who} {} {word} too{how}.", verb("takes", "take"))
                } else {
                    let standing = standing(&step.trace, token);
                    format!("{who} {} {word}{how}{standing}.", verb("takes", "take"))
                }
            }
        })
    }
}

/// Says how one or several other panes drew.
fn how_words(coin: Option<f64>, selector: Selector, step: &Step, is_one: bool) -> &'static str {
    match (coin, step.trace.draw.coin) {
        (None, _) if selector.has_coin_per_token() => " with a coin for each token",
        (None, _) => " without a coin",
        (Some(other), Some(own)) if other.total_cmp(&own).is_eq() => " with the same coin",
        (Some(_), None) => " with a coin",
        (Some(_), Some(_)) if is_one => " with its own coin",
        (Some(_), Some(_)) => " with their own coins",
    }
}

/// Says how the explained pane treated another pane's token: ": rank 6, cut here by top-p 0.9".
fn standing(trace: &Trace, token: TokenId) -> String {
    let head = &trace.raw.head;
    let Some(place) = head.iter().position(|known| known.token == token) else {
        return String::new();
    };
    let rank = place + 1;
    let is_cut = |report: &&StageReport| {
        let prob = report.head_probs.get(place);
        prob.is_some_and(Option::is_none)
    };
    match trace.stages.iter().find(is_cut) {
        Some(report) => {
            let name = in_sentence(&stage_name(&report.filter));
            format!(": rank {rank}, cut here by {name}")
        }
        None => match trace.head_final_prob(place) {
            Some(prob) => format!(": rank {rank}, kept here too, at {}", percent(prob)),
            None => format!(": rank {rank}"),
        },
    }
}
