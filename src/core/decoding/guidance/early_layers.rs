//! Contrast with the model's own early layers: which they are, and which of them a token is
//! contrasted with.

use serde::{Deserialize, Serialize};

use super::{Against, AgainstSpec, Guidance};
use crate::decoding::SettingError;

/// The layers before the last one that may guide a token, 1 to 16 of them, all distinct. A layer is
/// counted by how many have run: 0 is the embedding of the token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<u32>", into = "Vec<u32>")]
pub struct EarlyLayers(Vec<u32>);

impl EarlyLayers {
    /// The most layers that may guide. Each costs an output head per token.
    pub const MAX: usize = 16;

    pub(super) const SPEC: AgainstSpec = AgainstSpec {
        name: "Early layers",
        noun: "the early layer",
        run: "early layer",
        both: "both layers",
        cost: "runs the output head twice",
        help: "The output head also reads early layers of the model, and tokens that its last layer \
               prefers more strongly gain: DoLa. Of several layers, the one that is farthest from the \
               last guides each token.",
        source: "Chuang et al. 2023, \"DoLa: Decoding by Contrasting Layers Improves Factuality in \
                 Large Language Models\", arXiv 2309.03883",
        adds: "early layers",
        example: [
            "guide dola cutoff 0.1 against layers 2 4 6",
            "DoLa: subtracts the log-probs that the model has after 2, 4 or 6 layers, whichever are \
             farthest from the final ones; with a number in place of dola, moves away from them.",
        ],
        usual: || Guidance {
            scale: None,
            cutoff: 0.1,
            against: Against::Layers(Self(vec![2, 4, 6])),
        },
    };

    /// Returns these layers. Fails if they are none, too many or not distinct.
    pub fn new(layers: Vec<u32>) -> Result<Self, SettingError> {
        let is_repeated =
            |(index, layer): (usize, &u32)| layers.iter().take(index).any(|other| other == layer);
        let is_wrong = layers.len() > Self::MAX || layers.iter().enumerate().any(is_repeated);
        if layers.is_empty() || is_wrong {
            return Err(SettingError::EarlyLayers);
        }
        Ok(Self(layers))
    }

    /// Returns the layers in the order in which they were given.
    pub const fn as_slice(&self) -> &[u32] {
        self.0.as_slice()
    }
}

impl TryFrom<Vec<u32>> for EarlyLayers {
    type Error = SettingError;

    fn try_from(layers: Vec<u32>) -> Result<Self, SettingError> {
        Self::new(layers)
    }
}

impl From<EarlyLayers> for Vec<u32> {
    fn from(layers: EarlyLayers) -> Self {
        layers.0
    }
}

impl std::fmt::Display for EarlyLayers {
    /// The numbers with spaces between them: "2 4 6".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&numbers.join(" "))
    }
}

/// Returns the index of the early row whose distribution is farthest from that of the last layer, the
/// first among equals.
///
/// With the average M of both distributions, the distance is the mean of KL(M‖last) and
/// KL(M‖early), as in the authors' code and in transformers' `dola_layers`. The paper names the
/// Jensen–Shannon divergence, which is the mean of KL(last‖M) and KL(early‖M). Tokens that the last
/// layer rules out don't count.
///
/// Chuang et al. 2023, "DoLa: Decoding by Contrasting Layers Improves Factuality in Large Language
/// Models", arXiv 2309.03883.
pub fn most_divergent(last: &[f32], early: &[&[f32]]) -> usize {
    if early.len() < 2 {
        return 0;
    }
    let last_sum = log_sum_exp(last);
    let log_probs: Vec<f64> = last
        .iter()
        .map(|logit| f64::from(*logit) - last_sum)
        .collect();
    let mut farthest = (0, f64::NEG_INFINITY);
    for (index, row) in early.iter().enumerate() {
        let distance = distance(&log_probs, row);
        if distance > farthest.1 {
            farthest = (index, distance);
        }
    }
    farthest.0
}

/// The distance of a row of logits from log-probs.
fn distance(last: &[f64], early: &[f32]) -> f64 {
    let early_sum = log_sum_exp(early);
    let terms = last.iter().zip(early).map(|(last, early)| {
        let early = f64::from(*early) - early_sum;
        let average = f64::midpoint(last.exp(), early.exp());
        if *last > f64::NEG_INFINITY && average > 0.0 {
            average * (average.ln() - f64::midpoint(*last, early))
        } else {
            0.0
        }
    });
    terms.sum()
}

fn log_sum_exp(logits: &[f32]) -> f64 {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let exps = logits.iter().map(|logit| f64::from(logit - largest).exp());
    f64::from(largest) + exps.sum::<f64>().ln()
}

#[cfg(test)]
mod tests {
    use super::{EarlyLayers, distance, most_divergent};
    use crate::decoding::testing::logits_of;
    use crate::decoding::{Against, ChainConfig, Guidance, SettingError};

    #[test]
    fn layers_are_distinct_and_not_too_many() {
        let most: Vec<u32> = (0..16).collect();
        for (layers, is_valid) in [
            (vec![2, 4, 6], true),
            (vec![0], true),
            (most.clone(), true),
            (vec![], false),
            (vec![2, 4, 2], false),
            ([most, vec![16]].concat(), false),
        ] {
            let json = serde_json::to_string(&layers).unwrap();
            let read = serde_json::from_str::<EarlyLayers>(&json);
            let made = EarlyLayers::new(layers);
            assert_eq!(made.is_ok(), is_valid, "{json}");
            assert_eq!(read.ok(), made.ok(), "{json}");
        }
    }

    #[test]
    fn only_early_layers_are_subtracted() {
        let chain = ChainConfig::greedy();
        let dola = Guidance::usual(Against::Layers(EarlyLayers(vec![2])));
        assert_eq!(dola.validate(&chain), Ok(()));
        let other = Guidance {
            against: Against::Model,
            ..dola
        };
        assert_eq!(
            other.validate(&chain),
            Err(SettingError::DifferenceWithoutLayers)
        );
    }

    #[test]
    fn the_difference_keeps_what_is_likely_enough() {
        let dola = Guidance::usual(Against::Layers(EarlyLayers(vec![2])));
        let (last, early) = ([0.7, 0.26, 0.04], [0.6, 0.1, 0.3]);
        let mixed = dola.mix(&logits_of(&last), &logits_of(&early)).unwrap();
        let expected = [(0.7_f32 / 0.6).ln(), (0.26_f32 / 0.1).ln()];
        for (found, expected) in mixed.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{mixed:?}");
        }
        // 0.04 is less than a tenth of 0.7.
        assert!(mixed[2] < 0.0 && mixed[2].is_infinite());
    }

    #[test]
    fn the_farthest_layer_is_chosen() {
        let last = logits_of(&[0.7, 0.2, 0.1]);
        let near = logits_of(&[0.6, 0.3, 0.1]);
        let far = logits_of(&[0.1, 0.2, 0.7]);
        assert_eq!(most_divergent(&last, &[&near]), 0);
        assert_eq!(most_divergent(&last, &[&near, &far]), 1);
        assert_eq!(most_divergent(&last, &[&far, &near, &far]), 0);
    }

    #[test]
    fn the_distance_is_the_mean_divergence_of_the_average_from_both() {
        let (last, early) = ([0.7_f64, 0.2, 0.1], [0.1_f64, 0.2, 0.7]);
        // The average is 0.4, 0.2, 0.4: 0.4 ln(0.4 / 0.7) + 0.4 ln(0.4 / 0.1), for either.
        let expected = 0.4 * (0.4_f64 / 0.7).ln() + 0.4 * 4.0_f64.ln();
        let row = early.map(|prob| (prob.ln() + 3.0) as f32);
        let found = distance(&last.map(f64::ln), &row);
        assert!((found - expected).abs() < 1e-6, "{found}");
    }

    #[test]
    fn a_token_that_the_last_layer_rules_out_does_not_count() {
        let last = [0.0, 1.0, f32::NEG_INFINITY];
        let near = [0.0, 1.0, 0.0];
        let far = [1.0, 0.0, f32::NEG_INFINITY];
        assert_eq!(most_divergent(&last, &[&near, &far]), 1);
    }
}
