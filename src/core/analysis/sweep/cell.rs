//! One cell of a sweep: its texts and their figures.

use serde::{Deserialize, Serialize};

use super::metric::Metric;
use super::similarity::similarity;
use super::text::TextFigures;
use crate::analysis::futures::WordPattern;
use crate::decoding::TokenId;
use crate::generation::{FinishReason, TokenMeasures};

/// A complete text of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellText {
    /// The index of its prompt.
    pub prompt: usize,
    /// The index of its seed.
    pub seed: usize,
    pub figures: TextFigures,
    pub finish: FinishReason,
    /// The generated tokens. Empty if they were not kept.
    pub tokens: Vec<TokenId>,
    /// Its visible text. Empty if it was not kept.
    pub text: String,
    /// The measures of each token. Empty if they were not kept.
    pub measures: Vec<TokenMeasures>,
    /// Whether it contains the word of the sweep, if there is one and the text is known.
    pub has_word: Option<bool>,
}

/// The mean of a metric, and the spread of its values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub mean: f64,
    /// The 10th and the 90th percentiles.
    pub low: f64,
    pub high: f64,
    /// The number of values.
    pub n: usize,
}

impl Summary {
    /// Summarizes values in any order. Returns `None` if there are none.
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_unstable_by(f64::total_cmp);
        let n = values.len();
        let mean = values.iter().sum::<f64>() / n as f64;
        Some(Self {
            mean,
            low: quantile(&values, 0.1)?,
            high: quantile(&values, 0.9)?,
            n,
        })
    }

    fn map(self, change: fn(f64) -> f64) -> Self {
        Self {
            mean: change(self.mean),
            low: change(self.low),
            high: change(self.high),
            n: self.n,
        }
    }
}

/// Returns a quantile of sorted values, interpolated between neighbors: definition 7 of Hyndman and
/// Fan 1996, "Sample quantiles in statistical packages".
#[expect(clippy::cast_sign_loss, reason = "a place in a list is not negative")]
pub fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * sorted.len().checked_sub(1)? as f64;
    let below = *sorted.get(place.floor() as usize)?;
    let above = *sorted.get(place.ceil() as usize)?;
    Some(below + (above - below) * place.fract())
}

/// The texts of one cell, sorted by prompt and seed, and their figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    pub(super) texts: Vec<CellText>,
    /// How much the texts of each prompt have in common, for the prompts whose texts are complete.
    similarities: Vec<(usize, f64)>,
    /// The summary of each metric, in the order of [`Metric::ALL`].
    summaries: Vec<Option<Summary>>,
}

impl Cell {
    /// Returns its texts so far, sorted by prompt and seed.
    pub fn texts(&self) -> &[CellText] {
        &self.texts
    }

    /// Returns a figure of its texts so far, or `None` if it is not known.
    pub fn summary(&self, metric: Metric) -> Option<Summary> {
        let place = Metric::ALL.iter().position(|other| *other == metric)?;
        self.summaries.get(place).copied().flatten()
    }

    /// Adds a text. A prompt is complete once it has `n_seeds` texts.
    pub(super) fn add(&mut self, text: CellText, n_seeds: usize) {
        let prompt = text.prompt;
        let key = |text: &CellText| (text.prompt, text.seed);
        let place = self.texts.partition_point(|other| key(other) < key(&text));
        self.texts.insert(place, text);
        let of_prompt = self.texts.iter().filter(|text| text.prompt == prompt);
        if of_prompt.count() >= n_seeds {
            self.compare(prompt);
        }
        self.summarize();
    }

    /// Compares the texts of every prompt that is still incomplete.
    pub(super) fn compare_incomplete(&mut self) {
        let mut prompts: Vec<usize> = self.texts.iter().map(|text| text.prompt).collect();
        prompts.dedup();
        for prompt in prompts {
            if self.similarities.iter().all(|(known, _)| *known != prompt) {
                self.compare(prompt);
            }
        }
        self.summarize();
    }

    fn compare(&mut self, prompt: usize) {
        let texts = self.texts.iter().filter(|text| text.prompt == prompt);
        let tokens: Vec<&[TokenId]> = texts.map(|text| text.tokens.as_slice()).collect();
        self.similarities
            .extend(similarity(&tokens).map(|similarity| (prompt, similarity)));
    }

    /// Looks for a word in every text that was kept.
    pub(super) fn find_word(&mut self, word: Option<&WordPattern>) {
        for text in &mut self.texts {
            let is_known = !text.text.is_empty() || text.figures.n_tokens == 0;
            text.has_word = word.filter(|_| is_known).map(|word| word.is_in(&text.text));
        }
        self.summarize();
    }

    fn summarize(&mut self) {
        let metrics = Metric::ALL.into_iter();
        self.summaries = metrics.map(|metric| self.summarized(metric)).collect();
    }

    fn summarized(&self, metric: Metric) -> Option<Summary> {
        let share = |has: bool| f64::from(u8::from(has));
        let values: Vec<f64> = match metric {
            // The worst text would dominate the mean of the perplexities.
            Metric::Perplexity => {
                let bits = self.summarized(Metric::Surprise)?;
                return Some(bits.map(f64::exp2));
            }
            Metric::Similarity => self.similarities.iter().map(|(_, value)| *value).collect(),
            Metric::Word => {
                let known = self.texts.iter().filter_map(|text| text.has_word);
                known.map(share).collect()
            }
            _ => {
                let texts = self.texts.iter();
                texts
                    .filter_map(|text| metric.of_text(&text.figures))
                    .collect()
            }
        };
        Summary::of(values)
    }
}

#[cfg(test)]
mod tests {
    use super::Summary;

    #[test]
    fn quantiles_are_interpolated() {
        let summary = Summary::of((0..=10).rev().map(f64::from).collect()).unwrap();
        assert_eq!((summary.mean, summary.low, summary.high), (5.0, 1.0, 9.0));
        let summary = Summary::of(vec![2.0, 1.0]).unwrap();
        assert!((summary.low - 1.1).abs() < 1e-12 && (summary.high - 1.9).abs() < 1e-12);
        assert_eq!(
            Summary::of(vec![3.0]).map(|summary| summary.high),
            Some(3.0)
        );
        assert_eq!(Summary::of(Vec::new()), None);
    }
}
