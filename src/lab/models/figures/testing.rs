//! Comparisons with round numbers, for tests.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a helper that fails fails the test that called it"
)]

use std::sync::Arc;

use crate::decoding::TokenId;
use crate::generation::{ModelInfo, Piece};
use crate::lab::models::{
    ComparedModels, ComparedToken, ComparisonFacts, DistributionGap, PredictedToken,
};

/// A token to which a model assigned this probability.
pub(crate) fn predicted(text: &str, prob: f64, top: u32) -> PredictedToken {
    PredictedToken {
        token: TokenId(7),
        piece: Piece::text(text),
        ln_prob: prob.ln(),
        rank: if top == 7 { 1 } else { 3 },
        top: TokenId(top),
        top_piece: Piece::text(if top == 7 { text } else { " cat" }),
        margin: 0.25,
    }
}

fn models() -> [Arc<ModelInfo>; 2] {
    ["Q8_0", "Q4_0"].map(|quantization| {
        Arc::new(ModelInfo {
            name: "Tiny".to_owned(),
            quantization: quantization.to_owned(),
            ..ModelInfo::default()
        })
    })
}

/// Two models that split " the fox ran" into the same tokens and disagree about the last one.
pub(crate) fn compared() -> ComparedModels {
    let facts = ComparisonFacts {
        n_tokens: [3, 3],
        n_bytes: [12, 12],
        has_same_tokens: true,
    };
    let settings = vec!["greedy".to_owned(), "T 0.7, seed 42".to_owned()];
    let mut compared = ComparedModels::new(models(), settings, facts);
    for (text, probs, tops, kl, noise) in [
        (" the", [0.5, 0.5], [7, 7], 0.0, 0.0),
        (" fox", [0.25, 0.125], [7, 7], 0.04, 0.125),
        (" ran", [0.5, 0.25], [7, 5], 0.4, 0.5),
    ] {
        let [a, b] = [0, 1].map(|model: usize| predicted(text, probs[model], tops[model]));
        let choices = vec![[TokenId(7), TokenId(tops[1])], [TokenId(7); 2]];
        compared.add(ComparedToken::Both {
            predicted: Box::new([a, b]),
            gap: DistributionGap { kl, noise, choices },
        });
    }
    compared
}

/// Two models that split " the fox" differently.
pub(crate) fn apart() -> ComparedModels {
    let facts = ComparisonFacts {
        n_tokens: [3, 2],
        n_bytes: [8, 9],
        has_same_tokens: false,
    };
    let mut compared = ComparedModels::new(models(), Vec::new(), facts);
    let tokens = [
        (0, " the", 0.5),
        (0, " f", 0.25),
        (0, "ox", 0.5),
        (1, "  the", 0.25),
        (1, " fox", 0.125),
    ];
    for (model, text, prob) in tokens {
        let predicted = Box::new(predicted(text, prob, 7));
        compared.add(ComparedToken::One { model, predicted });
    }
    compared
}
