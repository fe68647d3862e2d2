//! Findings about guidance whose scale has no effect or an unexpected one.

use super::{Importance, Lint, sentence};
use crate::decoding::ChainConfig;

pub(super) fn lints(chain: &ChainConfig) -> Vec<Lint> {
    let Some(guidance) = &chain.guidance else {
        return Vec::new();
    };
    let Some(scale) = guidance.scale else {
        return Vec::new();
    };
    let spec = guidance.against.spec();
    let found = if guidance.is_neutral() {
        let words = format!(
            "guidance with a scale of 1 changes nothing, but {}",
            spec.cost
        );
        Some((Importance::Idle, words))
    } else if scale < 1.0 {
        let words = format!(
            "a guidance scale below 1 moves the text towards {}",
            spec.noun
        );
        Some((Importance::Mistaken, words))
    } else if scale > STRONG && guidance.cutoff <= 0.0 {
        let words = format!(
            "a guidance scale of {scale} without a cutoff favors tokens that {} find unlikely",
            spec.both
        );
        Some((Importance::Notable, words))
    } else {
        None
    };
    let lint = found.map(|(importance, words)| Lint {
        importance,
        message: sentence(&words),
        stage: None,
        remedy: None,
    });
    lint.into_iter().collect()
}

/// Above this scale, small differences between the log-probs of unlikely tokens can outweigh the
/// likely tokens.
const STRONG: f32 = 3.0;

#[cfg(test)]
mod tests {
    use crate::analysis::lint_chain;

    #[test]
    fn guidance_that_does_nothing_or_the_opposite_is_reported() {
        for (settings, expected) in [
            ("guide 1.5, T 0.8", None),
            ("guide 4 cutoff 0.1, T 0.8", None),
            (
                "guide 1, T 0.8",
                Some("Guidance with a scale of 1 changes nothing, but runs every step twice."),
            ),
            (
                "guide 0.5 against \"A sad story:\", T 0.8",
                Some("A guidance scale below 1 moves the text towards the other prompt."),
            ),
            (
                "guide 4, T 0.8",
                Some(
                    "A guidance scale of 4 without a cutoff favors tokens that both runs find \
                     unlikely.",
                ),
            ),
        ] {
            let parsed = settings.parse::<crate::generation::PaneSettings>();
            let lints = lint_chain(&parsed.unwrap().chain, None, None);
            let messages: Vec<&str> = lints.iter().map(|lint| lint.message.as_str()).collect();
            let expected: Vec<&str> = expected.into_iter().collect();
            assert_eq!(messages, expected, "{settings}");
        }
    }
}
