//! Detects a watermark in a text: the score of each token, and how likely chance is to match the
//! key at least as well, as the text grows. It needs the key and the tokens, but no model.

mod p_value;

pub use p_value::PValue;

use crate::decoding::watermark::{MarkScorer, TokenMark, Watermark};
use crate::decoding::{ChainConfig, Filter, TokenId};
use crate::generation::Generation;

/// A text with fewer scored tokens than this is too short for a verdict.
const MIN_SCORED: usize = 20;

/// Up to this p-value, a watermark counts as found: one unmarked text in a thousand gets there.
pub const FOUND_AT: f64 = 0.001;

/// The search for a watermark in one text, which can grow.
#[derive(Debug, Clone, PartialEq)]
pub struct WatermarkScan {
    scorer: MarkScorer,
    n_scored: usize,
    n_repeated: usize,
    /// The sum of the scores.
    score: f64,
    /// The p-value after each token, if they are kept.
    p_values: Option<Vec<PValue>>,
}

/// What a scan has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Chance hardly ever produces such a match.
    Found,
    /// Chance often produces such a match.
    NotFound,
    /// There are too few tokens to tell.
    TooShort,
}

impl WatermarkScan {
    /// Starts at the beginning of a text over a vocabulary of this size.
    pub fn new(mark: Watermark, n_vocab: u32) -> Self {
        Self {
            scorer: MarkScorer::new(mark, n_vocab),
            n_scored: 0,
            n_repeated: 0,
            score: 0.0,
            p_values: Some(Vec::new()),
        }
    }

    /// Starts a scan for the verdict alone: without the p-values on the way, each of which takes the
    /// longer, the longer the text is.
    pub fn for_verdict(mark: Watermark, n_vocab: u32) -> Self {
        Self {
            p_values: None,
            ..Self::new(mark, n_vocab)
        }
    }

    /// Scans a whole text.
    pub fn of(mark: Watermark, n_vocab: u32, text: &[TokenId]) -> Self {
        let mut scan = Self::new(mark, n_vocab);
        scan.extend(text);
        scan
    }

    /// Scans the tokens that follow.
    pub fn extend(&mut self, tokens: &[TokenId]) {
        for token in tokens {
            self.push(*token);
        }
    }

    /// Scans the generated tokens of a text.
    pub fn of_text(mark: Watermark, text: &Generation) -> Self {
        let tokens: Vec<TokenId> = text.steps.iter().map(|step| step.token).collect();
        Self::of(mark, text.model.n_vocab as u32, &tokens)
    }

    /// Scans the tokens that were added to the text, or all of it if it is a different text or if
    /// `mark` is a different watermark.
    pub fn follow(&mut self, mark: Watermark, n_vocab: u32, text: &[TokenId]) {
        let is_same = self.scorer.watermark() == mark && self.scorer.n_vocab() == n_vocab;
        if !is_same || !text.starts_with(self.scorer.text()) {
            *self = Self::new(mark, n_vocab);
        }
        self.extend(text.get(self.scorer.text().len()..).unwrap_or_default());
    }

    fn push(&mut self, token: TokenId) {
        let mark = self.scorer.push(token);
        match mark {
            TokenMark::NoContext => {}
            TokenMark::Repeated => self.n_repeated += 1,
            TokenMark::Scored(score) => {
                self.n_scored += 1;
                self.score += score;
            }
        }
        let p_value = match (mark, &self.p_values) {
            (TokenMark::Scored(_), Some(_)) => self.p_value_of_scores(),
            (TokenMark::NoContext | TokenMark::Repeated, Some(_)) => self.p_value(),
            (_, None) => return,
        };
        self.p_values.get_or_insert_default().push(p_value);
    }

    fn p_value_of_scores(&self) -> PValue {
        match self.scorer.watermark() {
            Watermark::GreenList(_) => {
                PValue::of_count(self.n_scored, self.score, self.scorer.green_share())
            }
            Watermark::GumbelMark(_) => PValue::of_sum(self.n_scored, self.score),
            Watermark::SynthId(synth) => {
                PValue::of_count(self.n_scored * synth.keys.len(), self.score, 0.5)
            }
        }
    }

    /// Returns the watermark that the scan looks for.
    pub const fn watermark(&self) -> Watermark {
        self.scorer.watermark()
    }

    /// Returns what each token contributes to the score.
    pub fn marks(&self) -> &[TokenMark] {
        self.scorer.marks()
    }

    /// Returns how many tokens were scored.
    pub const fn n_scored(&self) -> usize {
        self.n_scored
    }

    /// Returns how many tokens were not scored because their context had occurred before.
    pub const fn n_repeated(&self) -> usize {
        self.n_repeated
    }

    /// Returns the sum of all scores.
    pub const fn score(&self) -> f64 {
        self.score
    }

    /// Returns the mean score of a token in unmarked text.
    pub fn expected_score(&self) -> f64 {
        match self.watermark() {
            Watermark::GreenList(_) => self.scorer.green_share(),
            Watermark::GumbelMark(_) => 1.0,
            Watermark::SynthId(synth) => synth.keys.len() as f64 / 2.0,
        }
    }

    /// Returns the p-value after each token. It is empty if the scan was only for the verdict.
    pub fn p_values(&self) -> &[PValue] {
        self.p_values.as_deref().unwrap_or_default()
    }

    /// Returns the p-value of the whole text.
    pub fn p_value(&self) -> PValue {
        match &self.p_values {
            Some(p_values) => p_values.last().copied().unwrap_or_default(),
            None => self.p_value_of_scores(),
        }
    }

    /// Returns how many standard deviations the score is above the mean of unmarked text: the
    /// z-score of transformers' detector.
    pub fn z_score(&self) -> f64 {
        let n = self.n_scored as f64;
        let (mean, variance) = match self.watermark() {
            Watermark::GreenList(list) => {
                let ratio = f64::from(list.ratio);
                (ratio, ratio * (1.0 - ratio))
            }
            Watermark::GumbelMark(_) => (1.0, 1.0),
            Watermark::SynthId(synth) => {
                let n_layers = synth.keys.len() as f64;
                (n_layers / 2.0, n_layers / 4.0)
            }
        };
        (self.score - mean * n) / (variance * n).sqrt()
    }

    /// Returns whether the watermark was found.
    pub fn verdict(&self) -> Verdict {
        if self.n_scored < MIN_SCORED {
            Verdict::TooShort
        } else if self.p_value().get() <= FOUND_AT {
            Verdict::Found
        } else {
            Verdict::NotFound
        }
    }

    /// Returns the verdict in words: "Watermarked: p 3e−17", "No watermark found: p 0.02" or "Too
    /// short to tell: 12 tokens".
    pub fn verdict_words(&self) -> String {
        match self.verdict() {
            Verdict::Found => format!("Watermarked: p {}", self.p_value()),
            Verdict::NotFound => format!("No watermark found: p {}", self.p_value()),
            Verdict::TooShort if self.n_scored == 1 => "Too short to tell: 1 token".to_owned(),
            Verdict::TooShort => format!("Too short to tell: {} tokens", self.n_scored),
        }
    }

    /// Returns a token's step on the scale of [`watermark_legend`], 0 to 4. Tokens that were not
    /// scored are on step 0.
    pub fn tint_step(&self, index: usize) -> usize {
        let Some(TokenMark::Scored(score)) = self.marks().get(index) else {
            return 0;
        };
        match self.watermark() {
            Watermark::GreenList(_) if *score > 0.5 => 3,
            Watermark::GreenList(_) => 0,
            Watermark::GumbelMark(_) => [1.5, 2.5, 4.0, 6.0]
                .iter()
                .filter(|limit| *score >= **limit)
                .count(),
            Watermark::SynthId(synth) => [0.55, 0.65, 0.75, 0.85]
                .iter()
                .filter(|limit| *score >= **limit * synth.keys.len() as f64)
                .count(),
        }
    }
}

/// Returns the labels of the steps of a tint that shows scores; an empty label belongs to a step
/// that does not occur.
pub const fn watermark_legend(mark: Option<&Watermark>) -> [&'static str; 5] {
    match mark {
        Some(Watermark::GreenList(_)) => ["other", "", "", "green", ""],
        Some(Watermark::SynthId(_)) => ["< 55 %", "–65", "–75", "–85", "more"],
        _ => ["< 1.5", "–2.5", "–4", "–6", "more"],
    }
}

/// Describes what a watermark does to the distribution of a step.
pub fn cost_words(mark: &Watermark) -> &'static str {
    match mark {
        Watermark::GreenList(_) => "It makes green tokens more likely than the model does",
        Watermark::GumbelMark(_) | Watermark::SynthId(_) => "None on average over all keys",
    }
}

/// Returns the distortion of a green list at one step in bits: the Kullback-Leibler divergence of
/// the distribution after the stage from the one before it. It follows from the probability of any
/// one token before and after the stage. Returns `None` if they do not determine it.
///
/// If g is the probability of all green tokens before the stage, a green token's probability is
/// multiplied by e^δ, and then every token's is divided by z = 1 + g·(e^δ − 1).
pub fn distortion_bits(filter: &Filter, before: f64, after: f64) -> Option<f64> {
    let Filter::GreenList(list) = filter else {
        return None;
    };
    if !(before > 0.0 && after > 0.0) {
        return None;
    }
    let bias = f64::from(list.bias);
    let ratio = (after / before).ln();
    // Green tokens gain at most δ and lose nothing; others only lose, at most δ.
    let ln_z = if ratio > 0.0 { bias - ratio } else { -ratio };
    let share = (ln_z.exp() - 1.0) / (bias.exp() - 1.0);
    let share = share.clamp(0.0, 1.0);
    let nats = share * (bias - ln_z).exp() * bias - ln_z;
    Some((nats / std::f64::consts::LN_2).max(0.0))
}

/// Returns the watermark to look for in several texts: the first that any of these chains leaves.
pub fn first_mark<'a>(chains: impl IntoIterator<Item = &'a ChainConfig>) -> Option<Watermark> {
    chains.into_iter().find_map(Watermark::of)
}

#[cfg(test)]
mod tests;
