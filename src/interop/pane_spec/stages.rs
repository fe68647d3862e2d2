//! The words for each stage of a chain: reading them and writing them.

use super::words::{PaneSpecError, Word, Words, nearest, plain};
use crate::decoding::dialect::Dialect;
use crate::decoding::filters::{
    Dry, DynamicTemperature, EpsilonCutoff, EtaCutoff, FrequencyPenalty, LogitBias, MinP,
    NoRepeatNgram, PresencePenalty, QuadraticSmoothing, RepetitionPenalty, TailFree, Temperature,
    TokenBias, TopA, TopK, TopNSigma, TopP, TypicalP, Window, Xtc,
};
use crate::decoding::selector::{AdaptiveP, MirostatV1, MirostatV2};
use crate::decoding::{ChainConfig, Filter, Rule as _, Rules, Selector, TokenId};

/// What a word at the beginning of a part stands for.
#[derive(Clone, Copy)]
pub(super) enum Head {
    Filter(fn(&mut Words) -> Result<Filter, PaneSpecError>),
    Selector(fn(&mut Words) -> Result<Selector, PaneSpecError>),
    Dialect,
    MinKeep,
    Seed,
    Name,
}

/// The words that a part can begin with, and what they stand for; the first spelling is the one that
/// we name in a message.
const HEADS: &[(&[&str], Head)] = &[
    (&["temp", "temperature", "T"], Head::Filter(temperature)),
    (
        &["dyn-temp", "dynamic-temperature"],
        Head::Filter(dynamic_temperature),
    ),
    (
        &["smooth", "smoothing", "quadratic"],
        Head::Filter(quadratic),
    ),
    (&["top-k"], Head::Filter(top_k)),
    (&["top-p", "nucleus"], Head::Filter(top_p)),
    (&["min-p"], Head::Filter(min_p)),
    (&["typical-p", "typical", "typ-p"], Head::Filter(typical_p)),
    (
        &["top-nσ", "top-n-sigma", "n-sigma"],
        Head::Filter(top_n_sigma),
    ),
    (&["epsilon", "epsilon-cutoff"], Head::Filter(epsilon)),
    (&["eta", "eta-cutoff"], Head::Filter(eta)),
    (&["xtc"], Head::Filter(xtc)),
    (&["top-a"], Head::Filter(top_a)),
    (&["tail-free", "tfs"], Head::Filter(tail_free)),
    (
        &[
            "repeat",
            "repeat-penalty",
            "repetition",
            "repetition-penalty",
        ],
        Head::Filter(repetition),
    ),
    (&["frequency", "frequency-penalty"], Head::Filter(frequency)),
    (&["presence", "presence-penalty"], Head::Filter(presence)),
    (
        &["no-repeat", "no-repeat-ngram"],
        Head::Filter(no_repeat_ngram),
    ),
    (&["dry"], Head::Filter(dry)),
    (&["bias", "logit-bias"], Head::Filter(logit_bias)),
    (&["ban", "banned"], Head::Filter(banned)),
    (&["greedy"], Head::Selector(|_| Ok(Selector::Greedy))),
    (
        &["sample", "multinomial"],
        Head::Selector(|_| Ok(Selector::Multinomial)),
    ),
    (
        &["gumbel", "gumbel-max"],
        Head::Selector(|_| Ok(Selector::GumbelMax)),
    ),
    (
        &["mirostat", "mirostat-2", "mirostat-v2"],
        Head::Selector(mirostat_v2),
    ),
    (&["mirostat-1", "mirostat-v1"], Head::Selector(mirostat_v1)),
    (&["adaptive-p", "adaptive"], Head::Selector(adaptive_p)),
    (&["dialect"], Head::Dialect),
    (&["min-keep"], Head::MinKeep),
    (&["seed"], Head::Seed),
    (&["name"], Head::Name),
];

/// Takes the word that a part begins with; a keyword may be written in two words.
pub(super) fn head(words: &mut Words) -> Result<Head, PaneSpecError> {
    for n_words in [2, 1] {
        let Some(keyword) = words.keyword(n_words) else {
            continue;
        };
        let known = HEADS
            .iter()
            .find(|(spellings, _)| spellings.iter().any(|spelling| plain(spelling) == keyword));
        if let Some((_, head)) = known {
            for _ in 0..n_words {
                words.next();
            }
            return Ok(*head);
        }
    }
    let word = words.next().unwrap_or_else(|| words.last.clone());
    Err(word.wrong(unknown(&word.text)))
}

fn unknown(word: &str) -> String {
    let known = HEADS
        .iter()
        .flat_map(|(spellings, _)| spellings.iter().copied());
    if word.parse::<f32>().is_ok() {
        return format!("{word:?} has no setting before it; decimals are written with a point");
    }
    if let Some(meant) = nearest(word, known) {
        return format!("{word:?} is not a setting; did you mean {meant:?}?");
    }
    let names = HEADS.iter().filter_map(|(spellings, _)| spellings.first());
    let names: Vec<&str> = names.copied().collect();
    format!("{word:?} is not a setting; there are {}", names.join(", "))
}

fn temperature(words: &mut Words) -> Result<Filter, PaneSpecError> {
    let temperature = number(words, "temp 0.7")?;
    Ok(Filter::Temperature(Temperature { temperature }))
}

fn dynamic_temperature(words: &mut Words) -> Result<Filter, PaneSpecError> {
    let mut filter = DynamicTemperature {
        temperature: number(words, "dyn-temp 1 range 0.5")?,
        range: 0.5,
        exponent: 1.0,
    };
    in_range(filter.complaint(), words)?;
    options(words, |option, words| {
        match option {
            "range" => filter.range = number(words, "range 0.5")?,
            "exponent" => filter.exponent = number(words, "exponent 1")?,
            _ => return Ok(false),
        }
        in_range(filter.complaint(), words)?;
        Ok(true)
    })?;
    Ok(Filter::DynamicTemperature(filter))
}

fn quadratic(words: &mut Words) -> Result<Filter, PaneSpecError> {
    let mut filter = QuadraticSmoothing {
        factor: number(words, "smooth 0.3 curve 1")?,
        curve: 1.0,
    };
    in_range(filter.complaint(), words)?;
    if words.take("curve") {
        filter.curve = number(words, "curve 1")?;
        in_range(filter.complaint(), words)?;
    }
    Ok(Filter::QuadraticSmoothing(filter))
}

fn top_k(words: &mut Words) -> Result<Filter, PaneSpecError> {
    let k = words.number(COUNT, "top-k 40")?;
    Ok(Filter::TopK(TopK { k }))
}

fn top_p(words: &mut Words) -> Result<Filter, PaneSpecError> {
    let p = number(words, "top-p 0.9")?;
    Ok(Filter::TopP(TopP { p }))
}

fn min_p(words: &mut Words) -> Result<Filter, PaneSpecError> {
    let p = number(words, "min-p 0.05")?;
    Ok(Filter::MinP(MinP { p }))
}

fn typical_p(words: &mut Words) -> Result<Filter, PaneSpecError> {
    let p = number(words, "typical-p 0.9")?;
    Ok(Filter::TypicalP(TypicalP { p }))
}

fn top_n_sigma(words: &mut Words) -> Result<Filter, PaneSpecError> {
    let n = number(words, "top-nσ 1")?;
    Ok(Filter::TopNSigma(TopNSigma { n }))
}

fn epsilon(words: &mut Words) -> Result<Filter, PaneSpecError> {
    let epsilon = number(words, "epsilon 0.0003")?;
    Ok(Filter::EpsilonCutoff(EpsilonCutoff { epsilon }))
}

fn eta(words: &mut Words) -> Result<Filter, PaneSpecError> {
    let epsilon = number(words, "eta 0.0003")?;
    Ok(Filter::EtaCutoff(EtaCutoff { epsilon }))
}

fn xtc(words: &mut Words) -> Result<Filter, PaneSpecError> {
    let mut filter = Xtc {
        probability: number(words, "xtc 0.5 threshold 0.1")?,
        threshold: 0.1,
    };
    in_range(filter.complaint(), words)?;
    if words.take("threshold") {
        filter.threshold = number(words, "threshold 0.1")?;
        in_range(filter.complaint(), words)?;
    }
    Ok(Filter::Xtc(filter))
}

fn top_a(words: &mut Words) -> Result<Filter, PaneSpecError> {
    let a = number(words, "top-a 0.2")?;
    Ok(Filter::TopA(TopA { a }))
}

fn tail_free(words: &mut Words) -> Result<Filter, PaneSpecError> {
    let z = number(words, "tail-free 0.95")?;
    Ok(Filter::TailFree(TailFree { z }))
}

fn repetition(words: &mut Words) -> Result<Filter, PaneSpecError> {
    let penalty = number(words, "repeat 1.1 last 64")?;
    let window = window(words)?;
    Ok(Filter::RepetitionPenalty(RepetitionPenalty {
        penalty,
        window,
    }))
}

fn frequency(words: &mut Words) -> Result<Filter, PaneSpecError> {
    let penalty = number(words, "frequency 0.5 last 64")?;
    let window = window(words)?;
    Ok(Filter::FrequencyPenalty(FrequencyPenalty {
        penalty,
        window,
    }))
}

fn presence(words: &mut Words) -> Result<Filter, PaneSpecError> {
    let penalty = number(words, "presence 0.5 last 64")?;
    let window = window(words)?;
    Ok(Filter::PresencePenalty(PresencePenalty { penalty, window }))
}

fn no_repeat_ngram(words: &mut Words) -> Result<Filter, PaneSpecError> {
    let n = words.number(COUNT, "no-repeat 3")?;
    let window = window(words)?;
    Ok(Filter::NoRepeatNgram(NoRepeatNgram { n, window }))
}

fn dry(words: &mut Words) -> Result<Filter, PaneSpecError> {
    let multiplier = number(words, "dry 0.8")?;
    let mut filter = Dry {
        multiplier,
        ..Dry::default()
    };
    in_range(filter.complaint(), words)?;
    options(words, |option, words| {
        match option {
            "base" => filter.base = number(words, "base 1.75")?,
            "allowed" => filter.allowed_length = words.number(COUNT, "allowed 2")?,
            "breakers" => filter.breakers.extend(breakers(words)?),
            _ => return window_option(option, &mut filter.window, words),
        }
        in_range(filter.complaint(), words)?;
        Ok(true)
    })?;
    Ok(Filter::Dry(filter))
}

/// What may stand behind a list of breakers.
const DRY_OPTIONS: [&str; 5] = ["base", "allowed", "breakers", "last", "generated"];

/// The runs of tokens up to the next option, or up to the end of the part or its "off".
fn breakers(words: &mut Words) -> Result<Vec<Vec<TokenId>>, PaneSpecError> {
    let mut breakers = Vec::new();
    while words.list_goes_on()
        && words
            .keyword(1)
            .is_some_and(|next| !DRY_OPTIONS.contains(&next.as_str()))
        && let Some(breaker) = words.next()
    {
        breakers.push(run_of_tokens(&breaker)?);
    }
    Ok(breakers)
}

fn run_of_tokens(breaker: &Word) -> Result<Vec<TokenId>, PaneSpecError> {
    let ids = breaker.text.split('+').map(|id| id.parse().map(TokenId));
    ids.collect::<Result<_, _>>().map_err(|_not_an_id| {
        breaker.wrong("a breaker is a token id, or several as in \"breakers 13 5+6\"")
    })
}

fn logit_bias(words: &mut Words) -> Result<Filter, PaneSpecError> {
    let mut filter = LogitBias::default();
    while words.list_goes_on() && words.keyword(1).is_some_and(|word| word != "ban") {
        filter.biases.push(TokenBias {
            token: TokenId(words.number("a token id", "bias 13 -2.5")?),
            bias: number(words, "bias 13 -2.5")?,
        });
        in_range(filter.complaint(), words)?;
    }
    if words.take("ban") {
        filter.banned = token_ids(words)?;
    }
    Ok(Filter::LogitBias(filter))
}

fn banned(words: &mut Words) -> Result<Filter, PaneSpecError> {
    Ok(Filter::LogitBias(LogitBias {
        biases: Vec::new(),
        banned: token_ids(words)?,
    }))
}

fn mirostat_v2(words: &mut Words) -> Result<Selector, PaneSpecError> {
    mirostat(words, |tau, eta| {
        Selector::MirostatV2(MirostatV2 { tau, eta })
    })
}

fn mirostat_v1(words: &mut Words) -> Result<Selector, PaneSpecError> {
    mirostat(words, |tau, eta| {
        Selector::MirostatV1(MirostatV1 { tau, eta })
    })
}

fn adaptive_p(words: &mut Words) -> Result<Selector, PaneSpecError> {
    let target = number(words, "adaptive-p 0.5 decay 0.9")?;
    let mut selector = Selector::AdaptiveP(AdaptiveP { target, decay: 0.9 });
    in_range(selector.complaint(), words)?;
    if words.take("decay") {
        let decay = number(words, "decay 0.9")?;
        selector = Selector::AdaptiveP(AdaptiveP { target, decay });
        in_range(selector.complaint(), words)?;
    }
    Ok(selector)
}

fn mirostat(words: &mut Words, with: fn(f32, f32) -> Selector) -> Result<Selector, PaneSpecError> {
    let tau = number(words, "mirostat 5 eta 0.1")?;
    let mut selector = with(tau, 0.1);
    in_range(selector.complaint(), words)?;
    if words.take("eta") {
        selector = with(tau, number(words, "eta 0.1")?);
        in_range(selector.complaint(), words)?;
    }
    Ok(selector)
}

/// The engine whose small print the filters follow.
pub(super) fn dialect(words: &mut Words) -> Result<Dialect, PaneSpecError> {
    let name: String = words.number("the name of an engine", "dialect llama.cpp")?;
    let known = || DIALECTS.iter().map(|(name, _)| *name);
    let meant = DIALECTS
        .iter()
        .find(|(known, _)| plain(known) == plain(&name));
    meant.map(|(_, dialect)| *dialect).ok_or_else(|| {
        let known: Vec<&str> = known().collect();
        words
            .last
            .wrong(format!("{name:?} is not one of {}", known.join(", ")))
    })
}

/// What the words say of the rules of a chain: the dialect that it speaks, which is the one that was
/// chosen, otherwise the first with its rules, and none for our own; and the least number that its
/// cuts leave, where that is not the dialect's.
pub(super) fn rules_words(chain: &ChainConfig) -> Vec<String> {
    let rules = chain.rules;
    let same_but_for_the_least = |other: Rules| {
        let min_keep = rules.min_keep;
        Rules { min_keep, ..other } == rules
    };
    let is_spoken = |dialect: Dialect| match chain.dialect {
        Some(chosen) => dialect == chosen,
        None => {
            !same_but_for_the_least(Rules::default()) && same_but_for_the_least(dialect.rules())
        }
    };
    let mut dialects = DIALECTS.iter();
    let spoken = dialects.find(|(_, dialect)| is_spoken(*dialect));
    let least = spoken.map_or(0, |(_, dialect)| dialect.rules().min_keep);
    let dialect = spoken.map(|(name, _)| format!("dialect {name}"));
    let min_keep = (rules.min_keep != least).then(|| format!("min-keep {}", rules.min_keep));
    dialect.into_iter().chain(min_keep).collect()
}

/// How many candidates each cut leaves at the least.
pub(super) fn min_keep(words: &mut Words) -> Result<u32, PaneSpecError> {
    words.number(COUNT, "min-keep 2")
}

const DIALECTS: [(&str, Dialect); 7] = [
    ("llama.cpp", Dialect::LlamaCpp),
    ("transformers", Dialect::Transformers),
    ("vllm", Dialect::Vllm),
    ("mistral.rs", Dialect::MistralRs),
    ("candle", Dialect::Candle),
    ("ollama", Dialect::Ollama),
    ("openai", Dialect::OpenAi),
];

/// What is asked for where a count is missing.
const COUNT: &str = "a whole number of 0 or more";

fn number(words: &mut Words, example: &str) -> Result<f32, PaneSpecError> {
    words.number("a number", example)
}

/// Points at the number that was read last where the value that it gave is out of range.
fn in_range(complaint: Option<String>, words: &Words) -> Result<(), PaneSpecError> {
    complaint.map_or(Ok(()), |complaint| Err(words.last.wrong(complaint)))
}

/// At least one token id, up to the end of the part or its "off".
fn token_ids(words: &mut Words) -> Result<Vec<TokenId>, PaneSpecError> {
    let mut ids = vec![TokenId(words.number("a token id", "ban 13 14")?)];
    while words.list_goes_on() {
        ids.push(TokenId(words.number("a token id", "ban 13 14")?));
    }
    Ok(ids)
}

/// Reads options in any order, as long as `read` knows the next word.
fn options(
    words: &mut Words,
    mut read: impl FnMut(&str, &mut Words) -> Result<bool, PaneSpecError>,
) -> Result<(), PaneSpecError> {
    while let Some(option) = words.keyword(1) {
        let mut after = words.clone();
        after.next();
        if !read(&option, &mut after)? {
            break;
        }
        *words = after;
    }
    Ok(())
}

/// "last 64", "last all", "generated only", in any order; the last 64 tokens where nothing is said.
fn window(words: &mut Words) -> Result<Window, PaneSpecError> {
    let mut window = Window::LAST_64;
    options(words, |option, words| {
        window_option(option, &mut window, words)
    })?;
    Ok(window)
}

fn window_option(
    option: &str,
    window: &mut Window,
    words: &mut Words,
) -> Result<bool, PaneSpecError> {
    match option {
        "last" if words.take("all") => window.last_n = None,
        "last" => {
            let kind = format!("{COUNT}, or \"all\"");
            window.last_n = Some(words.number(&kind, "last 64")?);
        }
        "generated" => {
            words.take("only");
            window.prompt_counted = false;
        }
        _ => return Ok(false),
    }
    Ok(true)
}
