//! The scales by which tokens are tinted: five steps each, from expected to unexpected.

use crate::generation::Step;

/// What a tint shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenScale {
    /// The token's probability before the chain.
    Probability,
    /// The token's rank before the chain.
    Rank,
    /// The entropy of the distribution before the chain.
    Entropy,
    /// The token's surprise, in bits.
    Surprise,
}

impl TokenScale {
    /// All scales, in menu order.
    pub const ALL: [Self; 4] = [Self::Probability, Self::Rank, Self::Entropy, Self::Surprise];

    /// Returns the label in a menu.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Probability => "Probability",
            Self::Rank => "Rank",
            Self::Entropy => "Entropy",
            Self::Surprise => "Surprise",
        }
    }

    /// Returns the label of each step, from expected to unexpected.
    pub const fn legend(self) -> [&'static str; 5] {
        match self {
            Self::Probability => ["≥ 50 %", "20–50", "5–20", "1–5", "< 1 %"],
            Self::Rank => ["1", "2–10", "11–100", "101–1,000", "> 1,000"],
            Self::Entropy => ["< 0.5 bits", "0.5–1.5", "1.5–3", "3–5", "> 5"],
            Self::Surprise => ["< 1 bit", "1–3", "3–5", "5–8", "> 8"],
        }
    }

    /// Returns a token's step, 0 to 4.
    pub fn step(self, step: &Step) -> usize {
        let trace = &step.trace;
        let (value, thresholds) = match self {
            Self::Probability => (
                -trace.known_raw_prob().unwrap_or(1.0),
                [-0.5, -0.2, -0.05, -0.01],
            ),
            Self::Rank => (
                trace.known_rank().map_or(1.0, f64::from),
                [1.0, 10.0, 100.0, 1000.0],
            ),
            Self::Entropy => (
                trace.known_entropy_nats().unwrap_or(0.0) / std::f64::consts::LN_2,
                [0.5, 1.5, 3.0, 5.0],
            ),
            Self::Surprise => (
                trace.known_surprise_bits().unwrap_or(0.0),
                [1.0, 3.0, 5.0, 8.0],
            ),
        };
        let is_above = |threshold: &&f64| value > **threshold;
        thresholds.iter().filter(is_above).count()
    }
}
