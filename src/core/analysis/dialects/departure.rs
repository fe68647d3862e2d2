//! Which engine a chain is modeled on, and how it departs from it.

use super::stage::same_stage;
use crate::decoding::dialect::Dialect;
use crate::decoding::rules::BeamScores;
use crate::decoding::{ChainConfig, Filter, FilterKind, Rules, Selector, Stage};

/// How a chain departs from the engine that it is modeled on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Departure {
    /// Its stages are in a different order.
    Reordered,
    /// It has a stage or selector that the engine lacks.
    Extended,
    /// A penalty has a different window.
    Windows,
    /// Ties or edge cases are treated differently.
    Rules,
}

impl Departure {
    /// The word added to the engine's name.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Reordered => "reordered",
            Self::Extended => "extended",
            Self::Windows => "other window",
            Self::Rules => "other rules",
        }
    }

    /// A sentence that explains the word.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Reordered => "The stages are not in this engine’s order",
            Self::Extended => "It has a stage or draw that this engine lacks",
            Self::Windows => "A penalty looks at different tokens than in this engine",
            Self::Rules => "Ties or edge cases are treated differently than in this engine",
        }
    }
}

/// Returns an engine's name for tight spaces.
pub const fn short_name(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Transformers => "transformers",
        Dialect::OpenAi => "OpenAI",
        dialect => dialect.name(),
    }
}

/// Returns the engine that a chain is modeled on, and how it departs from it: "llama.cpp,
/// reordered". Returns `None` for Quartet's own chains.
pub fn spoken(chain: &ChainConfig) -> Option<String> {
    let name = short_name(chain.dialect?);
    Some(match departure(chain) {
        Some(departure) => format!("{name}, {}", departure.word()),
        None => name.to_owned(),
    })
}

/// Returns how the chain departs from the engine that it is modeled on, if it does. Stages without
/// effect are ignored, wherever they are.
pub fn departure(chain: &ChainConfig) -> Option<Departure> {
    let dialect = chain.dialect?;
    let engine = dialect.chain();
    let indices: Vec<Option<usize>> = chain
        .active()
        .map(|filter| index_of(filter, &engine.stages))
        .collect();
    let known: Vec<usize> = indices.iter().flatten().copied().collect();
    if known.windows(2).any(|pair| pair.first() > pair.last()) {
        return Some(Departure::Reordered);
    }
    // Several logit biases act as one.
    let bias = engine
        .stages
        .iter()
        .position(|stage| stage.filter.kind() == FilterKind::LogitBias);
    let repeated = known
        .windows(2)
        .any(|pair| pair.first() == pair.last() && pair.first() != bias.as_ref());
    if repeated || indices.contains(&None) || !has_selector(dialect, chain.selector) {
        return Some(Departure::Extended);
    }
    let has_other_window = |filter: &Filter| {
        let of_engine = engine
            .stages
            .iter()
            .find(|stage| same_stage(&stage.filter, filter))
            .and_then(|stage| stage.filter.window());
        filter.window() != of_engine
    };
    if chain.active().any(has_other_window) {
        return Some(Departure::Windows);
    }
    (rules_in(dialect, chain) != dialect.rules()).then_some(Departure::Rules)
}

/// Returns the chain's rules, without a setting that the engine has: a beam search of transformers
/// can normalize its scores, and any other chain has none.
fn rules_in(dialect: Dialect, chain: &ChainConfig) -> Rules {
    let searches = chain.selector.beam_search().is_some();
    if searches && chain.rules.beam_scores == BeamScores::Logits {
        return chain.rules;
    }
    Rules {
        beam_scores: dialect.rules().beam_scores,
        ..chain.rules
    }
}

/// Returns the index of the engine's stage for this filter, if it has one. A temperature that
/// depends on the entropy needs a dynamic one.
fn index_of(filter: &Filter, stages: &[Stage]) -> Option<usize> {
    stages.iter().position(|stage| {
        let plain_only = stage.filter.kind() == FilterKind::Temperature;
        let follows = matches!(filter, Filter::DynamicTemperature(heat) if !heat.is_plain());
        same_stage(&stage.filter, filter) && !(plain_only && follows)
    })
}

/// Returns whether the engine can pick tokens in this way.
fn has_selector(dialect: Dialect, selector: Selector) -> bool {
    let engines = selector.spec().engines;
    engines.is_none_or(|engines| engines.contains(&dialect))
}

#[cfg(test)]
mod tests {
    use super::{Departure, departure, spoken};
    use crate::decoding::dialect::Dialect;
    use crate::generation::PaneSettings;

    #[test]
    fn an_engines_own_chain_does_not_depart_from_it() {
        for dialect in Dialect::ALL {
            assert_eq!(departure(&dialect.chain()), None, "{dialect:?}");
        }
    }

    #[test]
    fn a_departure_is_named_after_the_engine() {
        for (pane, expected) in [
            ("temp 0.7, top-p 0.9", None),
            (
                "top-k 40, top-p 0.9, temp 0.7, dialect llama.cpp",
                Some("llama.cpp"),
            ),
            (
                "temp 0.7, top-k 40, top-p 0.9, dialect llama.cpp",
                Some("llama.cpp, reordered"),
            ),
            // A stage without effect may be anywhere.
            (
                "temp 1, top-k 40, top-p 0.9, dialect llama.cpp",
                Some("llama.cpp"),
            ),
            (
                "temp 0.5 off, top-k 40, top-p 0.9, dialect llama.cpp",
                Some("llama.cpp"),
            ),
            (
                "temp 0.7, top-k 40, dialect transformers",
                Some("transformers"),
            ),
            (
                "temp 0.7, top-k 40, top-a 0.2, dialect transformers",
                Some("transformers, extended"),
            ),
            (
                "temp 0.7, temp 0.8, dialect candle",
                Some("candle, extended"),
            ),
            ("bias 13 1, ban 5, dialect llama.cpp", Some("llama.cpp")),
            (
                "bias 13 1, temp 0.7, ban 5, dialect llama.cpp",
                Some("llama.cpp, reordered"),
            ),
            ("dyn-temp 1 range 0.5, dialect vllm", Some("vLLM, extended")),
            ("dyn-temp 1 range 0.5, dialect llama.cpp", Some("llama.cpp")),
            ("mirostat 5, dialect llama.cpp", Some("llama.cpp")),
            ("mirostat 5, dialect openai", Some("OpenAI, extended")),
            ("gumbel, dialect openai", Some("OpenAI")),
            ("beams 4, dialect transformers", Some("transformers")),
            (
                "beams 4, dialect transformers, beam-scores renormalized",
                Some("transformers"),
            ),
            (
                "beams 4, dialect transformers, beam-scores logits",
                Some("transformers, other rules"),
            ),
            (
                "top-k 40, temp 0.8, top-p 0.9, dialect ollama-mlx",
                Some("Ollama (MLX)"),
            ),
            (
                "repeat 1.1 last all, dialect llama.cpp",
                Some("llama.cpp, other window"),
            ),
            (
                "repeat 1.1 last all, dialect transformers",
                Some("transformers"),
            ),
        ] {
            let settings: PaneSettings = pane.parse().unwrap();
            assert_eq!(spoken(&settings.chain).as_deref(), expected, "{pane}");
        }
        let mut chain = Dialect::MistralRs.chain();
        chain.rules = Dialect::Vllm.rules();
        assert_eq!(departure(&chain), Some(Departure::Rules));
    }
}
