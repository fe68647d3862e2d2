//! What a prediction costs, in bits. The more a learner was surprised, the more it costs; points
//! are not given.

/// The lowest and the highest probability that a learner can say. Certainty about something that
/// does not happen would cost infinitely many bits.
pub const SAYABLE: [f64; 2] = [0.01, 0.99];

/// The bits above which a prediction was far off.
pub const FAR_OFF: f64 = 0.5;

/// The cost of a prediction.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Score {
    pub bits: f64,
    /// The lowest possible cost.
    pub best: f64,
    /// For a choice, the probability that was given to it and whether it was right.
    pub belief: Option<Belief>,
}

/// How sure a learner was of a choice, and whether it was right.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Belief {
    pub prob: f64,
    pub right: bool,
}

/// How sure a learner is of a choice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Confidence {
    /// Every option is as likely.
    Guess,
    #[default]
    Fair,
    Sure,
}

impl Confidence {
    /// All of them, from the least sure to the surest.
    pub const ALL: [Self; 3] = [Self::Guess, Self::Fair, Self::Sure];

    /// Returns the label.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Guess => "A guess",
            Self::Fair => "Fairly sure",
            Self::Sure => "Sure",
        }
    }

    /// Returns the probability that it gives to the chosen one of `n` options.
    pub fn prob(self, n: usize) -> f64 {
        let even = 1.0 / n.max(1) as f64;
        match self {
            Self::Guess => even,
            Self::Fair => f64::midpoint(even, SAYABLE[1]),
            Self::Sure => 0.95_f64.max(even),
        }
    }
}

impl Score {
    /// Scores a guessed probability: the Kullback-Leibler divergence of the guess "it happens, or
    /// it does not" from the truth. 0 is perfect.
    pub fn of_probability(guess: f64, truth: f64) -> Self {
        let guess = guess.clamp(SAYABLE[0], SAYABLE[1]);
        let truth = truth.clamp(0.0, 1.0);
        let part = |truth: f64, guess: f64| {
            if truth > 0.0 {
                truth * (truth / guess).log2()
            } else {
                0.0
            }
        };
        let best = truth.clamp(SAYABLE[0], SAYABLE[1]);
        let cost = |guess: f64| (part(truth, guess) + part(1.0 - truth, 1.0 - guess)).max(0.0);
        Self {
            bits: cost(guess),
            best: cost(best),
            belief: None,
        }
    }

    /// Scores a token that was predicted to come: its surprise under the model's distribution. The
    /// best possible is that of the most likely token.
    pub fn of_token(prob: f64, top_prob: f64) -> Self {
        let surprise = |prob: f64| -prob.max(f64::MIN_POSITIVE).log2();
        Self {
            bits: surprise(prob),
            best: surprise(top_prob),
            belief: None,
        }
    }

    /// Scores one of `n` options: the surprise of the right one, if the chosen one was given the
    /// probability of this confidence and the others share the rest.
    pub fn of_choice(right: bool, confidence: Confidence, n: usize) -> Self {
        let prob = confidence.prob(n);
        let other = (1.0 - prob) / n.saturating_sub(1).max(1) as f64;
        Self {
            bits: -(if right { prob } else { other }).log2(),
            best: 0.0,
            belief: Some(Belief { prob, right }),
        }
    }

    /// Returns the bits above the best possible.
    pub fn excess(self) -> f64 {
        (self.bits - self.best).max(0.0)
    }

    /// Says how close the prediction was.
    pub fn words(self) -> &'static str {
        match self.excess() {
            ..=0.1 => "very close",
            ..=FAR_OFF => "close",
            _ => "far off",
        }
    }
}

/// Returns the mean cost above the best possible, in bits per prediction.
pub fn mean_excess(scores: &[Score]) -> Option<f64> {
    let total: f64 = scores.iter().map(|score| score.excess()).sum();
    (!scores.is_empty()).then(|| total / scores.len() as f64)
}

/// Says what the choices of a lesson show about how well the learner knows what they know.
pub fn calibration_words(scores: &[Score]) -> Option<String> {
    let beliefs: Vec<Belief> = scores.iter().filter_map(|score| score.belief).collect();
    if beliefs.is_empty() {
        return None;
    }
    let n = beliefs.len();
    let n_right = beliefs.iter().filter(|belief| belief.right).count();
    let expected: f64 = beliefs.iter().map(|belief| belief.prob).sum();
    let verdict = match n_right as f64 - expected {
        ..-0.5 => "you were surer than you had reason to be",
        0.5.. => "you knew more than you thought",
        _ => "you were about as sure as you had reason to be",
    };
    let choices = if n == 1 { "choice" } else { "choices" };
    Some(format!(
        "{n_right} of {n} {choices} right, where your confidence called for {expected:.1}: {verdict}."
    ))
}

#[cfg(test)]
mod tests {
    use super::{Confidence, Score, calibration_words, mean_excess};

    #[test]
    fn a_guessed_probability_costs_its_divergence_from_the_truth() {
        for (guess, truth, bits) in [
            (0.5, 0.5, 0.0),
            (0.5, 1.0, 1.0),
            (0.65, 0.52, 0.0508),
            (0.25, 0.5, 0.2075),
            // A guess of 0 counts as 1 %.
            (0.0, 1.0, 6.6439),
        ] {
            let score = Score::of_probability(guess, truth);
            assert!(
                (score.bits - bits).abs() < 1e-3,
                "{guess} {truth}: {score:?}"
            );
        }
        let certain = Score::of_probability(1.0, 1.0);
        assert!(certain.excess().abs() < 1e-12, "{certain:?}");
        assert_eq!(Score::of_probability(0.65, 0.52).words(), "very close");
        assert_eq!(Score::of_probability(0.01, 0.9).words(), "far off");
    }

    #[test]
    fn the_most_likely_token_is_the_best_prediction() {
        let score = Score::of_token(0.25, 0.5);
        assert!((score.bits - 2.0).abs() < 1e-12 && (score.best - 1.0).abs() < 1e-12);
        assert!(Score::of_token(0.5, 0.5).excess().abs() < 1e-12);
        assert!(Score::of_token(0.0, 0.5).bits.is_finite());
    }

    #[test]
    fn being_sure_pays_only_if_right() {
        let bits = |right, confidence| Score::of_choice(right, confidence, 4).bits;
        assert!((bits(true, Confidence::Guess) - 2.0).abs() < 1e-12);
        assert!((bits(false, Confidence::Guess) - 2.0).abs() < 1e-12);
        assert!(bits(true, Confidence::Sure) < bits(true, Confidence::Fair));
        assert!(bits(false, Confidence::Sure) > bits(false, Confidence::Fair));
    }

    #[test]
    fn a_lesson_ends_with_a_mean_and_what_it_shows() {
        let sure = |right| Score::of_choice(right, Confidence::Sure, 2);
        assert_eq!(mean_excess(&[]), None);
        let even = [Score::of_probability(0.5, 1.0), Score::of_token(0.5, 0.5)];
        assert!((mean_excess(&even).unwrap() - 0.5).abs() < 0.02);
        assert_eq!(calibration_words(&even), None);
        let words = calibration_words(&[sure(false), sure(true), sure(false)]).unwrap();
        assert!(words.starts_with("1 of 3 choices right"), "{words}");
        assert!(
            words.ends_with("surer than you had reason to be."),
            "{words}"
        );
        let words = calibration_words(&[sure(true)]).unwrap();
        assert!(words.contains("about as sure"), "{words}");
    }
}
