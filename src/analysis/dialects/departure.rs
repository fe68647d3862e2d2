//! Which engine a chain speaks like, and whether it still does.

use super::stage::same_stage;
use crate::decoding::dialect::Dialect;
use crate::decoding::{ChainConfig, Filter, Selector, Stage};

/// How a chain is no longer that of the engine whose order it was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Departure {
    /// Its stages stand in another order.
    Reordered,
    /// It has a stage or a draw that the engine lacks.
    Extended,
    /// A penalty looks elsewhere.
    Windows,
    /// Ties or bounds are treated in another way.
    Rules,
}

impl Departure {
    /// What is added to the engine's name.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Reordered => "reordered",
            Self::Extended => "extended",
            Self::Windows => "other window",
            Self::Rules => "other rules",
        }
    }

    /// The sentence that explains the word.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Reordered => "The stages no longer stand in this engine's order",
            Self::Extended => "It has a stage that this engine does not have",
            Self::Windows => "A penalty looks at other tokens than in this engine",
            Self::Rules => "Ties or bounds are treated in another way than in this engine",
        }
    }
}

/// An engine's name where there is little room.
pub const fn short_name(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Transformers => "transformers",
        Dialect::OpenAi => "OpenAI",
        dialect => dialect.name(),
    }
}

/// The engine that a chain speaks like: "llama.cpp", or "llama.cpp, reordered". Nothing where the
/// chain is Quartet's own.
pub fn spoken(chain: &ChainConfig) -> Option<String> {
    let name = short_name(chain.dialect?);
    Some(match departure(chain) {
        Some(departure) => format!("{name}, {}", departure.word()),
        None => name.to_owned(),
    })
}

/// How the chain departs from the engine whose order it was given. Stages that do nothing are
/// passed over: wherever they stand, the chain draws as the engine does.
pub fn departure(chain: &ChainConfig) -> Option<Departure> {
    let dialect = chain.dialect?;
    let engine = dialect.chain();
    let places: Vec<Option<usize>> = chain
        .active()
        .map(|filter| place_of(filter, &engine.stages))
        .collect();
    let known: Vec<usize> = places.iter().flatten().copied().collect();
    if known.windows(2).any(|pair| pair.first() > pair.last()) {
        return Some(Departure::Reordered);
    }
    // Several lists of tokens are one.
    let lists = engine
        .stages
        .iter()
        .position(|stage| matches!(stage.filter, Filter::LogitBias(_)));
    let repeated = known
        .windows(2)
        .any(|pair| pair.first() == pair.last() && pair.first() != lists.as_ref());
    if repeated || places.contains(&None) || !has_selector(dialect, chain.selector) {
        return Some(Departure::Extended);
    }
    let elsewhere = |filter: &Filter| {
        let of_engine = engine
            .stages
            .iter()
            .find(|stage| same_stage(&stage.filter, filter))
            .and_then(|stage| stage.filter.window());
        filter.window() != of_engine
    };
    if chain.active().any(elsewhere) {
        return Some(Departure::Windows);
    }
    (chain.rules != dialect.rules()).then_some(Departure::Rules)
}

/// Where the engine has this stage. A temperature that follows the entropy needs a stage that can.
fn place_of(filter: &Filter, stages: &[Stage]) -> Option<usize> {
    stages.iter().position(|stage| {
        let plain_only = matches!(stage.filter, Filter::Temperature(_));
        let follows = matches!(filter, Filter::DynamicTemperature(heat) if heat.range > 0.0);
        same_stage(&stage.filter, filter) && !(plain_only && follows)
    })
}

/// Gumbel-max draws from the same distribution as one coin, so every engine has it in effect.
const fn has_selector(dialect: Dialect, selector: Selector) -> bool {
    match selector {
        Selector::Greedy | Selector::Multinomial | Selector::GumbelMax => true,
        Selector::MirostatV1(_) | Selector::MirostatV2(_) => {
            matches!(dialect, Dialect::LlamaCpp | Dialect::Ollama)
        }
        Selector::AdaptiveP(_) => matches!(dialect, Dialect::LlamaCpp),
    }
}

#[cfg(test)]
mod tests {
    use super::{Departure, departure, spoken};
    use crate::decoding::dialect::Dialect;
    use crate::generation::PaneSettings;

    #[test]
    fn an_engine_s_own_chain_departs_in_nothing() {
        for dialect in Dialect::ALL {
            assert_eq!(departure(&dialect.chain()), None, "{dialect:?}");
        }
    }

    #[test]
    fn what_is_changed_is_said_beside_the_name() {
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
            // What does nothing may stand anywhere.
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
