//! What a prediction costs, in bits. The more surprised a learner was, the higher the cost; no
//! points are awarded.

/// The lowest and the highest probability that a learner can state. Certainty about something that
/// does not happen would cost infinitely many bits.
pub const SAYABLE: [f64; 2] = [0.01, 0.99];

/// The excess cost above which a prediction was off, in bits.
const FAR_OFF: f64 = 0.5;

/// The cost of a prediction.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Score {
    pub bits: f64,
    /// The lowest possible cost.
    pub best: f64,
    /// For choices, the probability that was assigned to each and how many were right.
    pub belief: Option<Belief>,
}

/// How sure a learner was of their choices, and how many were right.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Belief {
    pub prob: f64,
    pub n_right: usize,
    pub n: usize,
}

/// How sure a learner is of a choice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Confidence {
    /// Every option is equally likely.
    Guess,
    #[default]
    Fair,
    Sure,
}

impl Confidence {
    /// All levels, from the least to the most sure.
    pub const ALL: [Self; 3] = [Self::Guess, Self::Fair, Self::Sure];

    /// Returns the label.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Guess => "A guess",
            Self::Fair => "Fairly sure",
            Self::Sure => "Sure",
        }
    }

    /// Returns the probability that it assigns to the chosen one of `n` options.
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
    /// Scores a guessed probability: the Kullback-Leibler divergence of the guess from the truth,
    /// over whether it happens or not. 0 is perfect.
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

    /// Scores a guess of the next token by its surprise under the model's distribution. The lowest
    /// possible cost is the surprise of the most likely token.
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
        Self::of_choices([usize::from(right), 1], confidence, n)
    }

    /// Scores several choices that were made with the same confidence, each among `n_options`: their
    /// mean surprise. `[n_right, n]` of them were right.
    pub fn of_choices([n_right, n]: [usize; 2], confidence: Confidence, n_options: usize) -> Self {
        let prob = confidence.prob(n_options);
        let other = (1.0 - prob) / n_options.saturating_sub(1).max(1) as f64;
        let n_wrong = n.saturating_sub(n_right);
        let bits = n_right as f64 * -prob.log2() + n_wrong as f64 * -other.log2();
        Self {
            bits: bits / n.max(1) as f64,
            best: 0.0,
            belief: Some(Belief { prob, n_right, n }),
        }
    }

    /// Scores a mark at a position from 1 to `n`, as if the learner had given each position a
    /// probability that falls with its distance from the mark: in proportion to 1 / (3 + distance).
    /// The best possible mark is at the right position.
    pub fn of_mark(mark: usize, truth: usize, n: usize) -> Self {
        let weight = |mark: usize, position: usize| 1.0 / (3.0 + mark.abs_diff(position) as f64);
        let cost = |mark: usize| {
            let total: f64 = (1..=n.max(truth)).map(|at| weight(mark, at)).sum();
            -(weight(mark, truth) / total).log2()
        };
        Self {
            bits: cost(mark),
            best: cost(truth),
            belief: None,
        }
    }

    /// Returns the cost above the lowest possible, in bits.
    pub fn excess(self) -> f64 {
        (self.bits - self.best).max(0.0)
    }

    /// Returns whether the prediction was off. A right choice never is, however unsure the
    /// learner was.
    pub fn is_missed(self) -> bool {
        let has_error = |belief: Belief| belief.n_right < belief.n;
        self.excess() > FAR_OFF && self.belief.is_none_or(has_error)
    }

    /// Says how close the prediction was.
    pub fn words(self) -> &'static str {
        closeness(self.excess())
    }
}

/// Says how close a prediction was that cost this much more than the best possible, in bits.
pub fn closeness(excess: f64) -> &'static str {
    match excess {
        ..=0.1 => "very close",
        ..=FAR_OFF => "close",
        _ => "off",
    }
}

/// Returns the mean cost above the best possible, in bits per prediction.
pub fn mean_excess(scores: &[Score]) -> Option<f64> {
    let total: f64 = scores.iter().map(|score| score.excess()).sum();
    (!scores.is_empty()).then(|| total / scores.len() as f64)
}

/// Says how well calibrated the learner's confidence in the choices of a lesson was.
pub fn calibration_words(scores: &[Score]) -> Option<String> {
    let beliefs: Vec<Belief> = scores.iter().filter_map(|score| score.belief).collect();
    if beliefs.is_empty() {
        return None;
    }
    let n: usize = beliefs.iter().map(|belief| belief.n).sum();
    let n_right: usize = beliefs.iter().map(|belief| belief.n_right).sum();
    let expected: f64 = beliefs
        .iter()
        .map(|belief| belief.prob * belief.n as f64)
        .sum();
    let verdict = match n_right as f64 - expected {
        ..-0.5 => "you were surer than you had reason to be",
        0.5.. => "you knew more than you thought",
        _ => "you were about as sure as you had reason to be",
    };
    let choices = if n == 1 { "choice" } else { "choices" };
    Some(format!(
        "{n_right} of {n} {choices} right; your confidence called for {expected:.1}: {verdict}."
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
        assert_eq!(Score::of_probability(0.01, 0.9).words(), "off");
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
        assert!(!Score::of_choice(true, Confidence::Guess, 4).is_missed());
        assert!(Score::of_choice(false, Confidence::Guess, 4).is_missed());
        assert!(Score::of_probability(0.01, 0.9).is_missed());
    }

    #[test]
    fn several_choices_cost_their_mean() {
        let bits = |n_right| Score::of_choices([n_right, 4], Confidence::Sure, 4).bits;
        let one = |right| Score::of_choice(right, Confidence::Sure, 4).bits;
        assert!((bits(4) - one(true)).abs() < 1e-12);
        assert!((bits(2) - f64::midpoint(one(true), one(false))).abs() < 1e-12);
        let guessed = Score::of_choices([1, 6], Confidence::Guess, 2);
        assert!((guessed.bits - 1.0).abs() < 1e-12, "{guessed:?}");
    }

    #[test]
    fn a_mark_costs_more_the_farther_away_it_is() {
        let excess = |mark| Score::of_mark(mark, 15, 40).excess();
        assert!(excess(15).abs() < 1e-12);
        assert_eq!(Score::of_mark(14, 15, 40).words(), "close");
        assert!(excess(14) < excess(12) && excess(12) < excess(1) && excess(16) < excess(40));
        assert!((0.8..1.2).contains(&excess(18)), "{}", excess(18));
        assert!(
            Score::of_mark(40, 90, 40).bits.is_finite(),
            "beyond the end"
        );
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
        let pairs = Score::of_choices([5, 6], Confidence::Fair, 2);
        let words = calibration_words(&[sure(true), pairs]).unwrap();
        assert!(words.starts_with("6 of 7 choices right"), "{words}");
    }
}
