//! The metrics of a cell's texts.

use super::text::TextFigures;

/// A figure of the texts of one cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Metric {
    /// How unlikely the tokens are before the chain.
    #[default]
    Surprise,
    /// How undecided the model is.
    Entropy,
    /// Two to the power of the mean surprise.
    Perplexity,
    /// The share of distinct bigrams in a text.
    Distinct2,
    /// How much the texts of different seeds have in common.
    Similarity,
    /// How much of a text repeats itself.
    Repetition,
    /// The share of texts that are caught in a loop.
    Loops,
    /// The number of tokens.
    Length,
    /// The share of texts that ended before the limit.
    Ended,
    /// The share of texts that are complete under their grammar.
    Complete,
    /// How often the most likely token was picked.
    Greedy,
    /// How long a text follows greedy decoding.
    FirstFork,
    /// The share of texts that contain a word.
    Word,
}

/// The unit of a metric, which decides its scale and format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bits, on a scale from the smallest value to the largest.
    Bits,
    /// A plain number, on a scale from the smallest value to the largest.
    Number,
    /// A number of tokens, on a scale from the smallest value to the largest.
    Tokens,
    /// Between 0 and 1.
    Share,
    /// Between 0 and 1, shown as a percentage.
    Percent,
}

impl Metric {
    /// All metrics, in menu order.
    pub const ALL: [Self; 13] = [
        Self::Surprise,
        Self::Entropy,
        Self::Perplexity,
        Self::Distinct2,
        Self::Similarity,
        Self::Repetition,
        Self::Loops,
        Self::Length,
        Self::Ended,
        Self::Complete,
        Self::Greedy,
        Self::FirstFork,
        Self::Word,
    ];

    /// The title of its map.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Surprise => "Surprise",
            Self::Entropy => "Entropy",
            Self::Perplexity => "Perplexity",
            Self::Distinct2 => "Distinct-2",
            Self::Similarity => "Similarity",
            Self::Repetition => "Repetition",
            Self::Loops => "Loops",
            Self::Length => "Length",
            Self::Ended => "Ended",
            Self::Complete => "Grammar complete",
            Self::Greedy => "Greedy",
            Self::FirstFork => "Diverges from greedy",
            Self::Word => "Word",
        }
    }

    /// Its name on the command line and in files.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Surprise => "surprise_bits",
            Self::Entropy => "entropy_bits",
            Self::Perplexity => "perplexity",
            Self::Distinct2 => "distinct_2",
            Self::Similarity => "similarity",
            Self::Repetition => "repetition",
            Self::Loops => "loops",
            Self::Length => "length",
            Self::Ended => "ended",
            Self::Complete => "grammar_complete",
            Self::Greedy => "greedy",
            Self::FirstFork => "first_fork",
            Self::Word => "word",
        }
    }

    /// What the numbers are, after the title: "bits per token, mean of the texts".
    pub const fn explanation(self) -> &'static str {
        match self {
            Self::Surprise => "bits per token",
            Self::Entropy => "bits per token, before the chain",
            Self::Perplexity => "2 to the power of the mean surprise",
            Self::Distinct2 => "share of distinct bigrams",
            Self::Similarity => "share of trigrams that two texts have in common",
            Self::Repetition => "share of 4-grams that occurred before",
            Self::Loops => "share of texts that loop",
            Self::Length => "tokens",
            Self::Ended => "share of texts that end before the limit",
            Self::Complete => "share of texts that are complete under the grammar",
            Self::Greedy => "share of most likely tokens",
            Self::FirstFork => "tokens before the text diverges from greedy decoding",
            Self::Word => "share of texts",
        }
    }

    /// The unit of its values.
    pub const fn unit(self) -> Unit {
        match self {
            Self::Surprise | Self::Entropy => Unit::Bits,
            Self::Perplexity => Unit::Number,
            Self::Distinct2 | Self::Similarity | Self::Repetition => Unit::Share,
            Self::Loops | Self::Ended | Self::Complete | Self::Greedy | Self::Word => Unit::Percent,
            Self::Length | Self::FirstFork => Unit::Tokens,
        }
    }

    /// Formats a value as in a cell: "1.1", "0.76", "13 %".
    pub fn format(self, value: f64) -> String {
        match self.unit() {
            Unit::Number | Unit::Tokens if value >= 99.5 => format!("{value:.0}"),
            Unit::Bits | Unit::Number | Unit::Tokens => format!("{value:.1}"),
            Unit::Share => format!("{value:.2}"),
            Unit::Percent => format!("{:.0} %", value * 100.0),
        }
    }

    /// Formats a value with its unit for a sentence: "1.1 bits", "13 %".
    pub fn phrase(self, value: f64) -> String {
        let number = self.format(value);
        match self.unit() {
            Unit::Bits => format!("{number} bits"),
            Unit::Tokens => format!("{number} tokens"),
            Unit::Number | Unit::Share | Unit::Percent => number,
        }
    }

    /// Returns the value of one text, or `None` if it is a figure of several texts, or of a word.
    pub fn of_text(self, text: &TextFigures) -> Option<f64> {
        let share = |holds: bool| Some(f64::from(u8::from(holds)));
        match self {
            Self::Surprise => text.surprise_bits,
            Self::Entropy => text.entropy_bits,
            Self::Perplexity => text.surprise_bits.map(f64::exp2),
            Self::Distinct2 => text.distinct_2,
            Self::Repetition => text.repetition,
            Self::Loops => share(text.has_loop),
            Self::Length => Some(text.n_tokens as f64),
            Self::Ended => share(text.has_ended),
            Self::Complete => text.grammar_complete.and_then(share),
            Self::Greedy => text.greedy_share,
            Self::FirstFork => Some(text.first_fork as f64),
            Self::Similarity | Self::Word => None,
        }
    }
}
