//! Prints settings as a `--pane` description that reads back the same, and the help of the grammar.

use std::sync::LazyLock;

use super::words::quoted_line;
use crate::decoding::dialect::Dialect;
use crate::decoding::filters::{LogitBias, Phrase, ThinkingBudget, Window};
use crate::decoding::{Against, ChainConfig, Filter, FilterKind, Rules, Selector, TokenId};

/// The help for describing a pane on the command line, from the specs of filters and selectors.
pub static GRAMMAR: LazyLock<String> = LazyLock::new(|| {
    let mut help = BEGINNING.to_owned();
    for kind in FilterKind::by_usage() {
        let spec = kind.spec();
        if let (Some(key), false) = (spec.keys.first(), spec.params.is_empty()) {
            let example = words_after(key, &(spec.usual)());
            push_entry(&mut help, &example, &spec.tooltip());
        }
    }
    help += OPTIONS;
    for spec in Selector::SPECS {
        push_entry(&mut help, &spec.usual.to_string(), spec.help);
    }
    help += RULES;
    for spec in Against::SPECS {
        let [example, explanation] = spec.example;
        push_entry(&mut help, example, explanation);
    }
    help + END
});

const BEGINNING: &str = "\
Describe a pane by settings separated by commas. The stages of the chain apply in the order in which
they are written.

";

const OPTIONS: &str = "  \
  bias 13 -2.5 14 1    Adds -2.5 to the logit of token 13, and 1 to that of token 14.
  ban 13 14            Never samples these tokens.
    … last 64          Filters that look back see the last 64 tokens (the default),
    … last all         or all tokens,
    … generated only   or only generated tokens.
    … breakers 13 5+6  For DRY, no repetition reaches across token 13, or 5 followed by 6.
    … message \"Stop.\"  For think, what is written before a thought is closed; \\n is a line break.
    … open 5 close 6+7 The tags around a thought, as tokens or in quotes. Without them, the model’s own
                       are used.
    … off              The stage keeps its place and has no effect.
";

const RULES: &str = "  \
  dialect llama.cpp    Treats ties and edge cases as this engine does; also transformers, vllm,
                       mistral.rs, candle, ollama, ollama-mlx and openai.
  drafts 4 ngram 2     Speculative decoding: guesses up to 4 tokens from where the last 2 occurred
                       before, and verifies them in one forward pass. The text stays the same.
  drafts 4 model       The same with guesses by the model of --draft-model,
  drafts 4 layers 2    by the model’s own first two layers,
  drafts 2 mtp         or by the multi-token-prediction head in its file.
    … ratio            Accepts guesses by the rule min(1, p/q): more of them, but another text.
";

const END: &str = "  \
  grammar json         Allows only tokens that keep the text within a grammar: any JSON, or
                       schema \"…\", regex \"…\", choices \"yes|no\", lark \"…\" or gbnf \"…\"; file NAME
                       in place of the quotes reads it from a file.
    … check json       Draws first, and again with a mask if the token is illegal (llama.cpp).
  beam-scores log-probs
                       The stages of a beam search act on log-probs, which are not normalized again,
                       as in transformers; also logits (Quartet) and renormalized.
  min-keep 2           Top-p, min-p, typical-p, XTC, tail-free, epsilon and eta leave at least two
                       tokens.
  seed 7               Sets the seed of this pane; without it, the pane uses the seed of the run.
  name \"My pane\"       Names the pane.

Without a selector, a pane uses sample. Example: \"temp 0.7, top-p 0.9, seed 7\"";

/// The column at which explanations begin, and the one at which they wrap.
const INDENT: usize = 23;
const WIDTH: usize = 100;

/// Adds an example and its explanation, which starts on the next line if the example is too long.
fn push_entry(help: &mut String, example: &str, explanation: &str) {
    let mut line = format!("  {example}");
    if line.chars().count() > INDENT - 2 {
        *help += &line;
        help.push('\n');
        line.clear();
    }
    let mut column = line.chars().count();
    for word in explanation.split(' ') {
        let is_first = column <= INDENT;
        if !is_first && column + 1 + word.chars().count() > WIDTH {
            *help += &line;
            help.push('\n');
            (line, column) = (String::new(), 0);
        }
        let gap = INDENT.saturating_sub(column).max(1);
        line += &" ".repeat(gap);
        line += word;
        column += gap + word.chars().count();
    }
    *help += &line;
    help.push('\n');
}

/// Returns every setting of a filter in the words of `--pane`: "repeat 1.1 last 32".
pub fn filter_words(filter: &Filter) -> String {
    words_after(filter.spec().chip, filter)
}

fn words_after(key: &str, filter: &Filter) -> String {
    if let Filter::LogitBias(bias) = filter {
        return bias_words(bias);
    }
    let mut words = key.to_owned();
    for param in filter.spec().params {
        let separator = if param.key.is_empty() { "" } else { " " };
        let value = param.text(filter).unwrap_or_default();
        words = format!("{words}{separator}{} {value}", param.key);
    }
    words += &filter.window().map(window_words).unwrap_or_default();
    if let Filter::Dry(dry) = filter
        && !dry.breakers.is_empty()
    {
        words += " breakers";
        for breaker in &dry.breakers {
            words = words + " " + &ids(breaker);
        }
    }
    if let Filter::ThinkingBudget(budget) = filter {
        words += &thought_words(budget);
    }
    if let Filter::SynthId(synth) = filter {
        words = format!("{words} keys {}", synth.keys);
        words.truncate(words.trim_end().len());
    }
    words
}

/// " open 5 close 6 message \"Time is up.\""; empty for the model's own tags and no message.
fn thought_words(budget: &ThinkingBudget) -> String {
    let mut words = String::new();
    for (key, phrase) in [
        ("open", &budget.opening),
        ("close", &budget.closing),
        ("message", &budget.message),
    ] {
        if !phrase.is_empty() {
            let text = match phrase {
                Phrase::Tokens(tokens) => ids(tokens),
                Phrase::Text(text) => quoted_line(text),
            };
            words = format!("{words} {key} {text}");
        }
    }
    words
}

/// "5+6".
fn ids(tokens: &[TokenId]) -> String {
    let ids: Vec<String> = tokens.iter().map(ToString::to_string).collect();
    ids.join("+")
}

fn bias_words(filter: &LogitBias) -> String {
    let mut words = Vec::new();
    if !filter.biases.is_empty() || filter.banned.is_empty() {
        words.push("bias".to_owned());
    }
    let biases = filter.biases.iter();
    words.extend(biases.map(|entry| format!("{} {}", entry.token, entry.bias)));
    if !filter.banned.is_empty() {
        words.push("ban".to_owned());
    }
    words.extend(filter.banned.iter().map(ToString::to_string));
    words.join(" ")
}

/// " last 32 generated only"; empty for the last 64 tokens, the default.
fn window_words(window: Window) -> String {
    let last = match window.last_n {
        None => " last all".to_owned(),
        n if n == Window::LAST_64.last_n => String::new(),
        Some(n) => format!(" last {n}"),
    };
    let scope = if window.prompt_counted {
        ""
    } else {
        " generated only"
    };
    last + scope
}

/// Returns the words for the rules of a chain: its dialect, and its `beam-scores` and `min-keep` if
/// those are not the dialect's. A chain without a dialect is given the first one that has its
/// other rules, and none if those are Quartet's own.
pub(super) fn rules_words(chain: &ChainConfig) -> Vec<String> {
    let rules = chain.rules;
    let same_but_for_words = |other: Rules| {
        let with_own_words = Rules {
            min_keep: rules.min_keep,
            beam_scores: rules.beam_scores,
            ..other
        };
        with_own_words == rules
    };
    let is_spoken = |dialect: &Dialect| match chain.dialect {
        Some(chosen) => *dialect == chosen,
        None => !same_but_for_words(Rules::default()) && same_but_for_words(dialect.rules()),
    };
    let spoken = Dialect::ALL.into_iter().find(is_spoken);
    let default = spoken.map_or_else(Rules::default, Dialect::rules);
    let dialect = spoken.map(|dialect| format!("dialect {}", dialect.key()));
    let scores = rules.beam_scores;
    let scores = (scores != default.beam_scores).then(|| format!("beam-scores {}", scores.key()));
    let min_keep = rules.min_keep;
    let min_keep = (min_keep != default.min_keep).then(|| format!("min-keep {min_keep}"));
    dialect.into_iter().chain(scores).chain(min_keep).collect()
}
