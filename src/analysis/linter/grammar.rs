//! How a grammar affects the rest of the settings.

use super::{Importance, Lint, active, called, sentence};
use crate::decoding::{ChainConfig, GrammarMode, Selector};
use crate::generation::listed;

pub(super) fn lints(chain: &ChainConfig) -> Vec<Lint> {
    let Some(rule) = &chain.grammar else {
        return Vec::new();
    };
    let checks = rule.mode() == GrammarMode::Check;
    let cuts = active(chain).find(|(_, filter)| filter.cuts());
    let ignored: Vec<String> = rule
        .ignored_formats()
        .iter()
        .map(|name| quoted(name))
        .collect();
    let all = [
        (!ignored.is_empty()).then(|| {
            let formats = if ignored.len() == 1 { "format" } else { "formats" };
            let words = format!(
                "the schema’s {formats} {} {} not known and therefore ignored, as JSON Schema asks",
                listed(&ignored),
                if ignored.len() == 1 { "is" } else { "are" }
            );
            notable(&words, None)
        }),
        (checks && chain.selector.beam_search().is_some()).then(|| {
            notable(
                "beam search makes no draws to check, so the grammar masks instead",
                None,
            )
        }),
        cuts.filter(|_| checks).map(|(stage, filter)| {
            let words = format!(
                "{} cuts before the check, and again after the mask if the token is drawn again, so \
                 the texts differ from those of a mask",
                called(filter)
            );
            notable(&words, Some(stage))
        }),
        matches!(chain.selector, Selector::GumbelMark(_)).then(|| {
            notable(
                "if the grammar allows few tokens, the draw leaves little room for the watermark",
                None,
            )
        }),
    ];
    all.into_iter().flatten().collect()
}

fn quoted(name: &str) -> String {
    format!("‘{name}’")
}

fn notable(words: &str, stage: Option<usize>) -> Lint {
    Lint {
        importance: Importance::Notable,
        message: sentence(words),
        stage,
        remedy: None,
    }
}
