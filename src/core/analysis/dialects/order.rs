//! Reorders a chain as an engine would, and applies the engine's rules to it.

use std::sync::Arc;

use super::short_name;
use super::stage::{list, same_stage, with_window};
use crate::decoding::dialect::Dialect;
use crate::decoding::filters::LogitBias;
use crate::decoding::{ChainConfig, Filter, GrammarMode, GrammarRule, Rules, Stage};
use crate::generation::listed;

/// Where a reordered chain gets its numbers from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Numbers {
    /// Its own for the stages that it has, and the engine's defaults for the others, as if they had
    /// not been set in the engine. This is the default: whoever asks for another order wants to see
    /// the same settings in it, and should not lose a number by trying it.
    #[default]
    Kept,
    /// The engine's defaults for all stages.
    Defaults,
}

/// A reordered chain, and what changed besides the order.
#[derive(Debug, Clone, PartialEq)]
pub struct ReorderedChain {
    pub chain: ChainConfig,
    /// The stages that are on by default in the engine but were missing from the chain.
    pub added: Vec<Filter>,
    /// The stages that had an effect and that the engine lacks.
    pub left_out: Vec<Filter>,
    /// The chain's `min_keep`, if the engine has no such setting.
    pub min_keep_left_out: Option<u32>,
}

impl ReorderedChain {
    /// Returns a sentence for each change other than the order.
    pub fn sentences(&self) -> Vec<String> {
        let name = self.chain.dialect.map_or("Quartet", short_name);
        let mut sentences = Vec::new();
        if !self.added.is_empty() {
            let is_are = if self.added.len() == 1 { "is" } else { "are" };
            sentences.push(format!(
                "Adds {}, which {is_are} on by default in {name}",
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
            sentences.push(format!(
                "Leaves out {words}: {name} applies {each} only once"
            ));
        }
        let filters = foreign.into_iter().map(Filter::to_string);
        let min_keep = self.min_keep_left_out.map(|n| format!("min-keep {n}"));
        let words: Vec<String> = filters.chain(min_keep).collect();
        if !words.is_empty() {
            sentences.push(format!("Leaves out {}, which {name} lacks", listed(&words)));
        }
        sentences
    }

    /// Whether the chain has a stage of this kind.
    fn has_kind(&self, filter: &Filter) -> bool {
        let mut stages = self.chain.stages.iter();
        stages.any(|stage| stage.filter.kind() == filter.kind())
    }
}

/// Reorders a chain as an engine would, or as Quartet does if `dialect` is `None`.
///
/// Windows become the engine's: they are part of its penalties, not numbers to keep.
pub fn in_order_of(
    dialect: Option<Dialect>,
    numbers: Numbers,
    chain: &ChainConfig,
) -> ReorderedChain {
    let min_keep = Some(chain.rules.min_keep).filter(|n| *n > 1);
    let carried = min_keep.filter(|_| dialect.is_none_or(has_min_keep));
    let mut result = match (dialect, numbers) {
        (None, _) => in_quartet_order(chain),
        (Some(dialect), Numbers::Defaults) => dialect.chain(),
        (Some(dialect), Numbers::Kept) => ChainConfig {
            stages: with_own_numbers(dialect.chain().stages, chain),
            selector: chain.selector,
            ..dialect.chain()
        },
    };
    result.grammar = grammar_as_in(dialect, chain);
    if numbers == Numbers::Defaults && dialect.is_some() {
        // Nothing of the old chain was meant to stay, so nothing counts as left out.
        return ReorderedChain {
            chain: result,
            added: Vec::new(),
            left_out: Vec::new(),
            min_keep_left_out: None,
        };
    }
    if let Some(n) = carried {
        result.rules.min_keep = n;
    }
    ReorderedChain {
        added: lacking(&chain.stages, &result),
        left_out: left_out(chain, &result),
        min_keep_left_out: min_keep.filter(|_| carried.is_none()),
        chain: result,
    }
}

/// Returns the chain's grammar, applied the way the engine applies grammars. It always stays, since
/// it is not one of the engine's numbers.
fn grammar_as_in(dialect: Option<Dialect>, chain: &ChainConfig) -> Option<Arc<GrammarRule>> {
    let rule = chain.grammar.as_ref()?;
    let mode = dialect.map_or(rule.mode(), GrammarMode::of);
    Some(Arc::new((**rule).clone().with_mode(mode)))
}

/// Whether the engine has a setting for `min_keep`, as llama-server does.
const fn has_min_keep(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::LlamaCpp)
}

/// Returns the chain in Quartet's own order, without its engine's neutral stages.
fn in_quartet_order(chain: &ChainConfig) -> ChainConfig {
    let mut stages = chain.stages.clone();
    if chain.dialect.is_some() {
        stages.retain(|stage| !stage.filter.is_neutral());
        for stage in &mut stages {
            if let Filter::DynamicTemperature(dynamic) = &stage.filter
                && dynamic.is_plain()
            {
                stage.filter = Filter::Temperature(dynamic.middle());
            }
        }
    }
    stages.sort_by_key(|stage| stage.filter.kind());
    ChainConfig {
        stages,
        rules: Rules::default(),
        grammar: chain.grammar.clone(),
        drafts: None,
        guidance: None,
        dialect: None,
        selector: chain.selector,
    }
}

fn with_own_numbers(stages: Vec<Stage>, chain: &ChainConfig) -> Vec<Stage> {
    stages
        .into_iter()
        .map(|stage| own_stage(&stage.filter, chain).unwrap_or(stage))
        .collect()
}

/// Returns the chain's own version of an engine's stage, if it has one.
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

/// Returns the stage that corresponds to a filter. If there are several, prefers an active one,
/// then an enabled one.
fn counterpart<'a>(filter: &Filter, stages: &'a [Stage]) -> Option<&'a Stage> {
    let same = || {
        let stages = stages.iter();
        stages.filter(move |stage| same_stage(&stage.filter, filter))
    };
    let acting = same().find(|stage| stage.enabled && !stage.filter.is_neutral());
    let enabled = acting.or_else(|| same().find(|stage| stage.enabled));
    enabled.or_else(|| same().next())
}

/// Merges all active biases and bans into one filter, as in engines. Returns `None` if there are
/// none.
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

/// Adapts a filter to what the engine's stage supports.
fn adapted(own: &Filter, of_engine: &Filter) -> Filter {
    match (own, of_engine) {
        (Filter::DynamicTemperature(dynamic), Filter::Temperature(_)) => {
            Filter::Temperature(dynamic.middle())
        }
        _ => match of_engine.window() {
            Some(window) => with_window(own, window),
            None => own.clone(),
        },
    }
}

/// Returns the chain's active filters that have no counterpart among these stages.
fn lacking(stages: &[Stage], chain: &ChainConfig) -> Vec<Filter> {
    chain
        .active()
        .filter(|filter| counterpart(filter, stages).is_none())
        .cloned()
        .collect()
}

/// Returns the filters that were active before and are no longer, or no longer fully, active.
fn left_out(before: &ChainConfig, after: &ChainConfig) -> Vec<Filter> {
    let mut left: Vec<&Stage> = after.stages.iter().collect();
    before
        .active()
        .filter(|filter| {
            let index = left
                .iter()
                .position(|stage| same_stage(&stage.filter, filter));
            // One stage holds all biases.
            let kept = index.and_then(|index| match filter {
                Filter::LogitBias(_) => left.get(index).copied(),
                _ => Some(left.remove(index)),
            });
            let became_plain = matches!(filter, Filter::DynamicTemperature(heat) if !heat.is_plain())
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
    fn numbers_stay_and_the_engine_adds_its_defaults() {
        for (words, dialect, expected, sentences) in [
            (
                "temp 0.7, top-p 0.9",
                Dialect::LlamaCpp,
                "top-k 40 › top-p 0.9 › min-p 0.05 › T 0.7",
                &["Adds top-k 40 and min-p 0.05, which are on by default in llama.cpp"][..],
            ),
            (
                "temp 0.7, top-p 0.9",
                Dialect::Transformers,
                "T 0.7 › top-k 50 › top-p 0.9",
                &["Adds top-k 50, which is on by default in transformers"],
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
                &["Leaves out min-p 0.1 and top-a 0.2, which candle lacks"],
            ),
            (
                "dyn-temp 1.2 range 0.5",
                Dialect::Vllm,
                "T 1.2",
                &["Leaves out dyn-temp 1.2 range 0.5, which vLLM lacks"],
            ),
            ("temp 1, temp 0.7", Dialect::Candle, "T 0.7", &[]),
            (
                "temp 0.7, top-p 0.9, top-p 0.8, top-a 0.2",
                Dialect::OpenAi,
                "T 0.7 › top-p 0.9",
                &[
                    "Leaves out top-p 0.8: OpenAI applies it only once",
                    "Leaves out top-a 0.2, which OpenAI lacks",
                ],
            ),
            (
                "bias 13 1, ban 5",
                Dialect::Candle,
                "T 1",
                &["Leaves out 1 biased and 1 banned, which candle lacks"],
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
    fn numbers_move_from_engine_to_engine() {
        let llama = Dialect::LlamaCpp.chain();
        let moved = in_order_of(Some(Dialect::Transformers), Numbers::Kept, &llama);
        let expected = "T 0.8 › top-k 40 › top-p 0.95 › min-p 0.05";
        assert_eq!(moved.chain.to_string(), expected);
        let back = in_order_of(Some(Dialect::LlamaCpp), Numbers::Kept, &moved.chain);
        let expected = "top-k 40 › top-p 0.95 › min-p 0.05 › T 0.8";
        assert_eq!(back.chain.to_string(), expected);
    }

    #[test]
    fn a_penalty_gets_the_engine_s_window() {
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
    fn several_biases_become_the_one_that_the_engine_has() {
        let own = chain("bias 13 1, ban 9 off, temp 0.7, ban 5");
        let moved = in_order_of(Some(Dialect::OpenAi), Numbers::Kept, &own);
        let words = PaneSettings::from(moved.chain.clone()).to_string();
        assert!(words.starts_with("bias 13 1 ban 5, "), "{words}");
        assert!(moved.sentences().is_empty(), "{:?}", moved.sentences());
    }

    #[test]
    fn min_keep_stays_if_the_engine_has_it() {
        let own = chain("min-keep 3, top-p 0.9, top-a 0.2");
        for (dialect, expected, sentence) in [
            (None, 3, None),
            (
                Some(Dialect::LlamaCpp),
                3,
                Some("Leaves out top-a 0.2, which llama.cpp lacks"),
            ),
            (
                Some(Dialect::Transformers),
                1,
                Some("Leaves out top-a 0.2 and min-keep 3, which transformers lacks"),
            ),
        ] {
            let moved = in_order_of(dialect, Numbers::Kept, &own);
            assert_eq!(moved.chain.rules.min_keep, expected, "{dialect:?}");
            let last = moved.sentences().pop();
            assert_eq!(last.as_deref(), sentence, "{dialect:?}");
        }
        let anew = in_order_of(Some(Dialect::LlamaCpp), Numbers::Defaults, &own);
        assert_eq!(anew.chain, Dialect::LlamaCpp.chain());
        // The 1 in transformers is its default, not a number that the user set.
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
    fn quartets_own_order_keeps_all_active_stages() {
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
