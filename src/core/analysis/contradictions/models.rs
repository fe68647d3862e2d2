//! Whether what a text says about its models agrees with its settings and its steps.

use super::ContradictionKind::{Model, Prompt, Settings};
use super::found::Found;
use crate::decoding::{ChainConfig, FilterKind};
use crate::generation::{EndOfText, Generation, GenerationConfig, Implementation, in_sentence};

/// Checks the models of a text, and its earlier settings.
pub(super) fn check(text: &Generation, found: &mut Found) {
    check_earlier(text, found);
    check_second(text, found);
    check_server(text, found);
    let is_hashed = text.steps.iter().any(|step| step.logits_hash.is_some());
    if is_hashed && text.model.provenance.version.is_empty() {
        let words = "its steps have hashes of their logits, and it does not say what computed them";
        found.text(Model, words);
    }
    let n_vocab = text.model.n_vocab;
    let mut tokens = text.prompt.tokens.iter();
    if n_vocab > 0
        && text.model.implementation.is_quartet()
        && let Some(token) = tokens.find(|token| token.index() >= n_vocab)
    {
        let words = format!("its prompt has token {token}, the vocabulary {n_vocab}");
        found.text(Prompt, words);
    }
}

/// Checks that earlier settings are in order, and differ from each other.
fn check_earlier(text: &Generation, found: &mut Found) {
    let is_sorted = text.earlier.windows(2).all(|pair| match pair {
        [a, b] => a.n_steps < b.n_steps && a.config != b.config,
        _ => true,
    });
    if !is_sorted {
        let words = "its earlier settings are not in the order of its tokens";
        found.text(Settings, words);
    }
}

/// Checks that a text names a second model if its settings used one, and only then. Settings that
/// wrote nothing yet, because they failed, used none.
fn check_second(text: &Generation, found: &mut Found) {
    let needs_second = (0..=text.steps.len()).any(|index| {
        let config = text.config_at(index);
        config.chain.needs_second_model()
    });
    if text.second_model.is_some() && !needs_second {
        let words = "it names a second model, and its settings use none";
        found.text(Settings, words);
    }
    let mut steps = text.steps.iter().skip(text.n_under_earlier());
    let used_second = text.config.chain.needs_second_model()
        && steps.any(|step| step.draft.is_some() || step.trace.mixture.is_some());
    if text.second_model.is_none() && used_second {
        let words = "its settings used a second model, and it names none";
        found.text(Settings, words);
    }
}

/// Checks what the settings lacked on a server.
fn check_server(text: &Generation, found: &mut Found) {
    let is_served = text.model.implementation == Implementation::Server;
    if !is_served && !text.not_applied.is_empty() {
        let words = "it says what a server did not apply, and its model ran on this computer";
        found.text(Settings, words);
    }
    let configs: Vec<_> = text
        .earlier
        .iter()
        .map(|earlier| &earlier.config)
        .chain([&text.config])
        .collect();
    let is_set = |words: &str| {
        let mut configs = configs.iter();
        configs.any(|config| has_setting(&config.chain, words) || has_subject(config, words))
    };
    if let Some(words) = text.not_applied.iter().find(|words| !is_set(words)) {
        let words = format!("it says that ‘{words}’ was not applied, which its settings lack");
        found.text(Settings, words);
    }
}

/// Returns whether a chain has a setting with this name.
fn has_setting(chain: &ChainConfig, words: &str) -> bool {
    let mut stages = chain.active();
    stages.any(|filter| filter.to_string() == words)
        || chain.selector.to_string() == words
        || format!("min-keep {}", chain.rules.min_keep) == words
        || (chain.grammar.as_ref()).is_some_and(|grammar| grammar.to_string() == words)
}

/// Returns whether the settings have what a server applied otherwise, as these words say:
/// "temperature 3 (used: 2)", "top-p after temperature".
fn has_subject(config: &GenerationConfig, words: &str) -> bool {
    let chain = &config.chain;
    let is_about = |name: &str| {
        let rest = words.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with([' ', '’']))
    };
    let has_budget = (chain.active()).any(|filter| filter.kind() == FilterKind::ThinkingBudget);
    (chain.active()).any(|filter| is_about(&in_sentence(filter.name())))
        || (chain.grammar.is_some() && is_about("grammar"))
        || (has_budget && words.starts_with("the ") && words.ends_with(" thought"))
        || is_about(&format!("seed {}", config.seed))
        || (config.limits.end_of_text == EndOfText::Ignored
            && words.starts_with(EndOfText::IGNORED_WORDS))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::check;
    use crate::analysis::contradictions::RunPlace;
    use crate::analysis::contradictions::found::Found;
    use crate::decoding::filters::{Dry, RepetitionPenalty, Temperature, ThinkingBudget, Window};
    use crate::decoding::{
        Against, Filter, GrammarKind, GrammarRule, Guidance, LogitsHash, MixedRow, Mixture, TokenId,
    };
    use crate::generation::testing::generation;
    use crate::generation::{EndOfText, Generation, Implementation, ModelInfo};

    fn found(text: &Generation) -> Vec<String> {
        let mut found = Found::new(RunPlace::Pane(0));
        check(text, &mut found);
        found.all.into_iter().map(|found| found.words).collect()
    }

    #[test]
    fn a_text_that_a_second_model_guided_names_it() {
        let mut text = generation(&[(" fox", 0.5)]);
        let guidance = Guidance::usual(Against::Model);
        text.config.chain.guidance = Some(guidance.clone());
        // It failed before it used one.
        assert_eq!(found(&text), [""; 0]);
        let row = MixedRow {
            layer: None,
            top: TokenId(0),
            top_prob: 0.5,
            prob: 0.5,
            entropy_nats: 1.0,
            head_probs: Vec::new(),
        };
        Arc::make_mut(&mut text.steps[0].trace).mixture = Some(Box::new(Mixture {
            guidance: Arc::new(guidance),
            own: row.clone(),
            other: row,
        }));
        let words = "its settings used a second model, and it names none";
        assert_eq!(found(&text), [words]);
        text.second_model = Some(Arc::new(ModelInfo::default()));
        assert_eq!(found(&text), [""; 0]);
        text.config.chain.guidance = None;
        let words = "it names a second model, and its settings use none";
        assert_eq!(found(&text), [words]);
    }

    #[test]
    fn only_settings_can_be_not_applied_and_only_by_a_server() {
        let mut text = generation(&[(" fox", 0.5)]);
        let temperature = Filter::Temperature(Temperature { temperature: 0.7 });
        text.not_applied = vec![temperature.to_string()];
        let words = "it says what a server did not apply, and its model ran on this computer";
        assert_eq!(found(&text), [words]);
        let mut model = ModelInfo::clone(&text.model);
        model.implementation = Implementation::Server;
        text.model = Arc::new(model);
        assert_eq!(found(&text), [""; 0]);
        text.not_applied.push("eta 0.5".to_owned());
        let words = "it says that ‘eta 0.5’ was not applied, which its settings lack";
        assert_eq!(found(&text), [words]);
    }

    #[test]
    fn what_a_server_applied_otherwise_is_a_setting() {
        let mut text = generation(&[(" fox", 0.5)]);
        let mut model = ModelInfo::clone(&text.model);
        model.implementation = Implementation::Server;
        text.model = Arc::new(model);
        let mut config = text.config.clone();
        config.seed = 7;
        config.chain.stages = vec![
            Filter::Temperature(Temperature { temperature: 3.0 }).into(),
            Filter::RepetitionPenalty(RepetitionPenalty {
                penalty: 1.3,
                window: Window::ALL,
            })
            .into(),
            Filter::Dry(Dry::default()).into(),
            Filter::ThinkingBudget(ThinkingBudget::default()).into(),
        ];
        config.chain.grammar = Some(Arc::new(GrammarRule::new(GrammarKind::Json, "")));
        config.limits.end_of_text = EndOfText::Ignored;
        for words in [
            "temperature 3 (used: 2)",
            "temperature after top-p",
            "repetition penalty over the whole text (used: the last 64 tokens)",
            "DRY’s sequence breakers",
            "grammar before the chain (used: after the draw)",
            "the message at the end of a thought",
            "seed 7 (used: a random one)",
            "going on after the end of text",
        ] {
            text.not_applied = vec![words.to_owned()];
            text.config = config.clone();
            assert_eq!(found(&text), [""; 0], "{words}");
            text.config.seed = 0;
            text.config.chain.stages.clear();
            text.config.chain.grammar = None;
            text.config.limits.end_of_text = EndOfText::Stops;
            let lacks = format!("it says that ‘{words}’ was not applied, which its settings lack");
            assert_eq!(found(&text), [lacks]);
        }
    }

    #[test]
    fn hashes_come_with_what_computed_them() {
        let mut text = generation(&[(" fox", 0.5)]);
        text.steps[0].logits_hash = Some(LogitsHash::of(&[0.5]));
        assert_eq!(found(&text).len(), 1);
        let mut model = ModelInfo::clone(&text.model);
        model.provenance.version = "0.1.0".to_owned();
        text.model = Arc::new(model);
        assert_eq!(found(&text), [""; 0]);
    }
}
