//! Brings a chain into an engine's order, with the engine's rules.

use super::short_name;
use super::stage::{list, plain, same_stage, with_window};
use crate::decoding::dialect::Dialect;
use crate::decoding::filters::LogitBias;
use crate::decoding::{ChainConfig, Filter, Rules, Stage};
use crate::generation::listed;

/// Whose numbers a chain has after it was brought into an engine's order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Numbers {
    /// Its own, where the engine has the stage; the engine's where the chain lacks it, because that
    /// is what the engine does with what nobody set. It is the default: whoever asks for another
    /// order wants to see the same settings elsewhere, and loses no number by trying it.
    #[default]
    Kept,
    /// The engine's own, for all.
    Defaults,
}

/// A chain in another order, and what that changed in it.
#[derive(Debug, Clone, PartialEq)]
pub struct InOrder {
    /// The chain.
    pub chain: ChainConfig,
    /// What acts in it and was not there before: what the engine does unless told otherwise.
    pub added: Vec<Filter>,
    /// What acted before, and the engine does not have.
    pub left_out: Vec<Filter>,
    /// The least number of candidates that was set, where the engine has none to set.
    pub min_keep_left_out: Option<u32>,
}

impl InOrder {
    /// What was changed beside the order, a sentence for each.
    pub fn sentences(&self) -> Vec<String> {
        let name = self.chain.dialect.map_or("Quartet", short_name);
        let mut sentences = Vec::new();
        if !self.added.is_empty() {
            let is_are = if self.added.len() == 1 { "is" } else { "are" };
            sentences.push(format!(
                "Adds {}, which {is_are} on in {name} unless switched off",
                list(&self.added)
            ));
        }
        let (again, foreign): (Vec<&Filter>, Vec<&Filter>) = self
            .left_out
            .iter()
            .partition(|filter| self.has_kind(filter));
        let again: Vec<String> = again.into_iter().map(Filter::to_string).collect();
        if !again.is_empty() {
            let words = listed(&again);
            let each = if again.len() == 1 { "it" } else { "each" };
            sentences.push(format!("Leaves out {words}: {name} applies {each} once"));
        }
        let filters = foreign.into_iter().map(Filter::to_string);
        let min_keep = self.min_keep_left_out.map(|n| format!("min-keep {n}"));
        let words: Vec<String> = filters.chain(min_keep).collect();
        if !words.is_empty() {
            sentences.push(format!(
                "Leaves out {}, which {name} does not have",
                listed(&words)
            ));
        }
        sentences
    }

    /// Whether the chain has such a stage.
    fn has_kind(&self, filter: &Filter) -> bool {
        let kind = std::mem::discriminant(filter);
        let mut stages = self.chain.stages.iter();
        stages.any(|stage| std::mem::discriminant(&stage.filter) == kind)
    }
}

/// Brings a chain into the order of an engine, or into Quartet's own where none is named.
///
/// Windows are the engine's: they are a rule of its penalties and not a number that one sets.
pub fn in_order_of(dialect: Option<Dialect>, numbers: Numbers, chain: &ChainConfig) -> InOrder {
    let min_keep = Some(chain.rules.min_keep).filter(|n| *n > 1);
    let carried = min_keep.filter(|_| dialect.is_none_or(has_min_keep));
    let mut result = match (dialect, numbers) {
        (None, _) => quartets_own(chain),
        (Some(dialect), Numbers::Defaults) => dialect.chain(),
        (Some(dialect), Numbers::Kept) => ChainConfig {
            stages: with_own_numbers(dialect.chain().stages, chain),
            selector: chain.selector,
            ..dialect.chain()
        },
    };
    if numbers == Numbers::Defaults && dialect.is_some() {
        // Nothing of the old chain was to stay, so nothing of it is missed.
        return InOrder {
            chain: result,
            added: Vec::new(),
            left_out: Vec::new(),
            min_keep_left_out: None,
        };
    }
    if let Some(n) = carried {
        result.rules.min_keep = n;
    }
    InOrder {
        added: lacking(&chain.stages, &result),
        left_out: left_out(chain, &result),
        min_keep_left_out: min_keep.filter(|_| carried.is_none()),
        chain: result,
    }
}

/// Whether a request to it can say how many candidates the cuts leave at the least: `min_keep` of
/// llama-server.
const fn has_min_keep(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::LlamaCpp)
}

/// The stages that the chain has, in the order in which Quartet lists them. What an engine brought
/// along and does nothing goes with it.
fn quartets_own(chain: &ChainConfig) -> ChainConfig {
    let mut stages = chain.stages.clone();
    if chain.dialect.is_some() {
        stages.retain(|stage| !stage.filter.is_neutral());
        for stage in &mut stages {
            if let Filter::DynamicTemperature(dynamic) = &stage.filter
                && dynamic.range <= 0.0
            {
                stage.filter = plain(dynamic);
            }
        }
    }
    stages.sort_by_key(|stage| rank(&stage.filter));
    ChainConfig {
        stages,
        rules: Rules::default(),
        dialect: None,
        selector: chain.selector,
    }
}

/// What looks back stands before what bends the scores, and that before what cuts.
fn rank(filter: &Filter) -> usize {
    match filter {
        Filter::LogitBias(_) => 0,
        Filter::RepetitionPenalty(_) => 1,
        Filter::FrequencyPenalty(_) => 2,
        Filter::PresencePenalty(_) => 3,
        Filter::NoRepeatNgram(_) => 4,
        Filter::Dry(_) => 5,
        Filter::Temperature(_) => 6,
        Filter::DynamicTemperature(_) => 7,
        Filter::QuadraticSmoothing(_) => 8,
        Filter::TopK(_) => 9,
        Filter::TopP(_) => 10,
        Filter::MinP(_) => 11,
        Filter::TypicalP(_) => 12,
        Filter::TopNSigma(_) => 13,
        Filter::EpsilonCutoff(_) => 14,
        Filter::EtaCutoff(_) => 15,
        Filter::Xtc(_) => 16,
        Filter::TopA(_) => 17,
        Filter::TailFree(_) => 18,
    }
}

fn with_own_numbers(stages: Vec<Stage>, chain: &ChainConfig) -> Vec<Stage> {
    stages
        .into_iter()
        .map(|stage| own_stage(&stage.filter, chain).unwrap_or(stage))
        .collect()
}

/// What the chain has in the place of the engine's stage.
fn own_stage(of_engine: &Filter, chain: &ChainConfig) -> Option<Stage> {
    if let (Filter::LogitBias(_), Some(all)) = (of_engine, all_biases(chain)) {
        return Some(Filter::LogitBias(all).into());
    }
    let own = counterpart(of_engine, &chain.stages)?;
    Some(Stage {
        filter: adapted(&own.filter, of_engine),
        enabled: own.enabled,
    })
}

/// The chain's own stage of this kind; of several, one that acts, or at least is switched on.
fn counterpart<'a>(filter: &Filter, stages: &'a [Stage]) -> Option<&'a Stage> {
    let same = || {
        let stages = stages.iter();
        stages.filter(move |stage| same_stage(&stage.filter, filter))
    };
    let acting = same().find(|stage| stage.enabled && !stage.filter.is_neutral());
    let enabled = acting.or_else(|| same().find(|stage| stage.enabled));
    enabled.or_else(|| same().next())
}

/// All biases and bans that act, as the one list that an engine has for them; nothing where none
/// does.
fn all_biases(chain: &ChainConfig) -> Option<LogitBias> {
    let lists = chain.active().filter_map(|filter| match filter {
        Filter::LogitBias(list) => Some(list.clone()),
        _ => None,
    });
    lists.reduce(|mut all, list| {
        all.biases.extend(list.biases);
        all.banned.extend(list.banned);
        all
    })
}

/// The filter's numbers as the engine's stage can hold them.
fn adapted(own: &Filter, of_engine: &Filter) -> Filter {
    match (own, of_engine) {
        (Filter::DynamicTemperature(dynamic), Filter::Temperature(_)) => plain(dynamic),
        _ => match of_engine.window() {
            Some(window) => with_window(own, window),
            None => own.clone(),
        },
    }
}

/// What acts in a chain and has no counterpart among these stages.
fn lacking(stages: &[Stage], chain: &ChainConfig) -> Vec<Filter> {
    chain
        .active()
        .filter(|filter| counterpart(filter, stages).is_none())
        .cloned()
        .collect()
}

/// What acted before and acts no more, or with less than it had.
fn left_out(before: &ChainConfig, after: &ChainConfig) -> Vec<Filter> {
    let mut left: Vec<&Stage> = after.stages.iter().collect();
    before
        .active()
        .filter(|filter| {
            let place = left
                .iter()
                .position(|stage| same_stage(&stage.filter, filter));
            // One stage holds all lists of tokens.
            let kept = place.and_then(|place| match filter {
                Filter::LogitBias(_) => left.get(place).copied(),
                _ => Some(left.remove(place)),
            });
            let became_plain = matches!(filter, Filter::DynamicTemperature(heat) if heat.range > 0.0)
                && matches!(kept.map(|stage| &stage.filter), Some(Filter::Temperature(_)));
            kept.is_none() || became_plain
        })
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Numbers, in_order_of};
    use crate::analysis::dialects::departure;
    use crate::decoding::ChainConfig;
    use crate::decoding::dialect::Dialect;
    use crate::generation::PaneSettings;

    fn chain(words: &str) -> ChainConfig {
        words.parse::<PaneSettings>().unwrap().chain
    }

    #[test]
    fn numbers_stay_and_the_engine_adds_what_it_does_unasked() {
        for (words, dialect, expected, sentences) in [
            (
                "temp 0.7, top-p 0.9",
                Dialect::LlamaCpp,
                "top-k 40 › top-p 0.9 › min-p 0.05 › T 0.7",
                &["Adds top-k 40 and min-p 0.05, which are on in llama.cpp unless switched off"][..],
            ),
            (
                "temp 0.7, top-p 0.9",
                Dialect::Transformers,
                "T 0.7 › top-k 50 › top-p 0.9",
                &["Adds top-k 50, which is on in transformers unless switched off"],
            ),
            (
                "temp 0.7, top-p 0.9",
                Dialect::OpenAi,
                "T 0.7 › top-p 0.9",
                &[],
            ),
            (
                "temp 0.7, top-k 40, min-p 0.1",
                Dialect::Vllm,
                "T 0.7 › min-p 0.1 › top-k 40",
                &[],
            ),
            (
                "temp 0.7, min-p 0.1, top-a 0.2",
                Dialect::Candle,
                "T 0.7",
                &["Leaves out min-p 0.1 and top-a 0.2, which candle does not have"],
            ),
            (
                "dyn-temp 1.2 range 0.5",
                Dialect::Vllm,
                "T 1.2",
                &["Leaves out dyn-temp 1.2 range 0.5, which vLLM does not have"],
            ),
            ("temp 1, temp 0.7", Dialect::Candle, "T 0.7", &[]),
            (
                "temp 0.7, top-p 0.9, top-p 0.8, top-a 0.2",
                Dialect::OpenAi,
                "T 0.7 › top-p 0.9",
                &[
                    "Leaves out top-p 0.8: OpenAI applies it once",
                    "Leaves out top-a 0.2, which OpenAI does not have",
                ],
            ),
            (
                "bias 13 1, ban 5",
                Dialect::Candle,
                "T 1",
                &["Leaves out 1 biased and 1 banned, which candle does not have"],
            ),
            (
                "top-k 40, greedy",
                Dialect::Candle,
                "top-k 40 › top token",
                &[],
            ),
        ] {
            let moved = in_order_of(Some(dialect), Numbers::Kept, &chain(words));
            assert_eq!(moved.chain.to_string(), expected, "{words} in {dialect:?}");
            assert_eq!(moved.sentences(), sentences, "{words} in {dialect:?}");
            assert_eq!(moved.chain.rules, dialect.rules());
            assert_eq!(departure(&moved.chain), None, "{words} in {dialect:?}");
        }
    }

    #[test]
    fn the_defaults_are_the_engine_s_own_chain() {
        for dialect in Dialect::ALL {
            let own = chain("temp 0.7, top-a 0.2, mirostat 3");
            let moved = in_order_of(Some(dialect), Numbers::Defaults, &own);
            assert_eq!(moved.chain, dialect.chain());
            assert!(moved.sentences().is_empty());
        }
    }

    #[test]
    fn the_same_numbers_go_from_engine_to_engine() {
        let llama = Dialect::LlamaCpp.chain();
        let moved = in_order_of(Some(Dialect::Transformers), Numbers::Kept, &llama);
        let expected = "T 0.8 › top-k 40 › top-p 0.95 › min-p 0.05";
        assert_eq!(moved.chain.to_string(), expected);
        let back = in_order_of(Some(Dialect::LlamaCpp), Numbers::Kept, &moved.chain);
        let expected = "top-k 40 › top-p 0.95 › min-p 0.05 › T 0.8";
        assert_eq!(back.chain.to_string(), expected);
    }

    #[test]
    fn a_penalty_looks_where_the_engine_lets_it() {
        let own = chain("frequency 0.5 last 9, repeat 1.1 last 9");
        for (dialect, expected) in [
            (Dialect::LlamaCpp, "repeat 1.1, frequency 0.5, presence 0"),
            (
                Dialect::Vllm,
                "repeat 1.1 last all, frequency 0.5 last all generated only, \
                 presence 0 last all generated only",
            ),
        ] {
            let moved = in_order_of(Some(dialect), Numbers::Kept, &own);
            let words = PaneSettings::from(moved.chain).to_string();
            assert!(words.contains(expected), "{words}");
        }
    }

    #[test]
    fn several_lists_of_tokens_become_the_one_that_the_engine_has() {
        let own = chain("bias 13 1, ban 9 off, temp 0.7, ban 5");
        let moved = in_order_of(Some(Dialect::OpenAi), Numbers::Kept, &own);
        let words = PaneSettings::from(moved.chain.clone()).to_string();
        assert!(words.starts_with("bias 13 1 ban 5, "), "{words}");
        assert!(moved.sentences().is_empty(), "{:?}", moved.sentences());
    }

    #[test]
    fn the_least_number_of_candidates_stays_where_it_can_be_set() {
        let own = chain("min-keep 3, top-p 0.9, top-a 0.2");
        for (dialect, expected, sentence) in [
            (None, 3, None),
            (
                Some(Dialect::LlamaCpp),
                3,
                Some("Leaves out top-a 0.2, which llama.cpp does not have"),
            ),
            (
                Some(Dialect::Transformers),
                1,
                Some("Leaves out top-a 0.2 and min-keep 3, which transformers does not have"),
            ),
        ] {
            let moved = in_order_of(dialect, Numbers::Kept, &own);
            assert_eq!(moved.chain.rules.min_keep, expected, "{dialect:?}");
            let last = moved.sentences().pop();
            assert_eq!(last.as_deref(), sentence, "{dialect:?}");
        }
        let anew = in_order_of(Some(Dialect::LlamaCpp), Numbers::Defaults, &own);
        assert_eq!(anew.chain, Dialect::LlamaCpp.chain());
        // One is what transformers has unasked, and no number that anybody set.
        let unasked = in_order_of(None, Numbers::Kept, &Dialect::Transformers.chain());
        assert_eq!(unasked.chain.rules.min_keep, 0);
    }

    #[test]
    fn a_muted_stage_stays_muted() {
        let moved = in_order_of(
            Some(Dialect::Transformers),
            Numbers::Kept,
            &chain("top-k 40 off, temp 0.7"),
        );
        assert_eq!(moved.chain.to_string(), "T 0.7");
    }

    #[test]
    fn quartets_own_order_keeps_all_that_acts() {
        let back = in_order_of(None, Numbers::Kept, &Dialect::LlamaCpp.chain());
        let expected = "T 0.8 › top-k 40 › top-p 0.95 › min-p 0.05";
        assert_eq!(back.chain.to_string(), expected);
        assert_eq!(back.chain.stages.len(), 4);
        assert_eq!(back.chain.dialect, None);
        assert_eq!(back.chain.rules, super::Rules::default());
        assert!(back.sentences().is_empty());

        let own = chain("top-p 0.9, temp 1, repeat 1.1 off");
        let sorted = in_order_of(None, Numbers::Kept, &own).chain;
        let words = PaneSettings::from(sorted).to_string();
        assert_eq!(words, "repeat 1.1 off, T 1, top-p 0.9");
    }
}
