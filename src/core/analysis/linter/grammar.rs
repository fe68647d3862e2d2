//! How a grammar affects the rest of the settings.

use super::{Importance, Lint, active, called, sentence};
use crate::decoding::{ChainConfig, GrammarMode, GrammarRule, Selector};
use crate::generation::listed;

pub(super) fn lints(chain: &ChainConfig) -> Vec<Lint> {
    let Some(rule) = &chain.grammar else {
        return Vec::new();
    };
    let checks = rule.mode() == GrammarMode::Check;
    let cuts = active(chain).find(|(_, filter)| filter.cuts());
    let all = [
        ignored_formats(rule).map(|words| notable(&words, None)),
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

/// Says which formats of a JSON Schema are not checked: "the schema’s format ‘color’ is not known and
/// therefore ignored, as JSON Schema asks".
pub fn ignored_formats(rule: &GrammarRule) -> Option<String> {
    let ignored = rule.ignored_formats();
    let names: Vec<String> = ignored.iter().map(|name| format!("‘{name}’")).collect();
    let (formats, are) = match names.as_slice() {
        [] => return None,
        [_] => ("format", "is"),
        _ => ("formats", "are"),
    };
    let names = listed(&names);
    Some(format!(
        "the schema’s {formats} {names} {are} not known and therefore ignored, as JSON Schema asks"
    ))
}

fn notable(words: &str, stage: Option<usize>) -> Lint {
    Lint {
        importance: Importance::Notable,
        message: sentence(words),
        stage,
        remedy: None,
    }
}
