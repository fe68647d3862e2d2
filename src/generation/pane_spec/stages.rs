//! The words for each stage of a chain: reading them and writing them.

use super::words::{PaneSpecError, Words, nearest, plain};
use crate::decoding::filters::{
    FrequencyPenalty, MinP, PresencePenalty, RepetitionPenalty, Temperature, TopK, TopP, Window,
};
use crate::decoding::{Filter, Selector};

/// What a word at the beginning of a part stands for.
#[derive(Clone, Copy)]
pub(super) enum Head {
    Filter(fn(&mut Words) -> Result<Filter, PaneSpecError>),
    Selector(fn(&mut Words) -> Result<Selector, PaneSpecError>),
    Seed,
    Name,
}

/// The word for each thing that can be set; the first spelling is the one that we write.
const HEADS: [(&[&str], Head); 11] = [
    (
        &["temp", "temperature", "T"],
        Head::Filter(|words| {
            let temperature = number(words, "temp 0.7")?;
            Ok(Filter::Temperature(Temperature { temperature }))
        }),
    ),
    (
        &["top-k"],
        Head::Filter(|words| {
            let k = words.number("a whole number", "top-k 40")?;
            Ok(Filter::TopK(TopK { k }))
        }),
    ),
    (
        &["top-p", "nucleus"],
        Head::Filter(|words| {
            let p = number(words, "top-p 0.9")?;
            Ok(Filter::TopP(TopP { p }))
        }),
    ),
    (
        &["min-p"],
        Head::Filter(|words| {
            let p = number(words, "min-p 0.05")?;
            Ok(Filter::MinP(MinP { p }))
        }),
    ),
    (
        &[
            "repeat",
            "repeat-penalty",
            "repetition",
            "repetition-penalty",
        ],
        Head::Filter(|words| {
            let penalty = number(words, "repeat 1.1 last 64")?;
            let window = window(words)?;
            let filter = RepetitionPenalty { penalty, window };
            Ok(Filter::RepetitionPenalty(filter))
        }),
    ),
    (
        &["frequency", "frequency-penalty"],
        Head::Filter(|words| {
            let penalty = number(words, "frequency 0.5 last 64")?;
            let window = window(words)?;
            let filter = FrequencyPenalty { penalty, window };
            Ok(Filter::FrequencyPenalty(filter))
        }),
    ),
    (
        &["presence", "presence-penalty"],
        Head::Filter(|words| {
            let penalty = number(words, "presence 0.5 last 64")?;
            let window = window(words)?;
            let filter = PresencePenalty { penalty, window };
            Ok(Filter::PresencePenalty(filter))
        }),
    ),
    (&["greedy"], Head::Selector(|_| Ok(Selector::Greedy))),
    (
        &["sample", "multinomial"],
        Head::Selector(|_| Ok(Selector::Multinomial)),
    ),
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

fn number(words: &mut Words, example: &str) -> Result<f32, PaneSpecError> {
    words.number("a number", example)
}

/// "last 64", "last all", "generated only", in any order; the last 64 tokens where nothing is said.
fn window(words: &mut Words) -> Result<Window, PaneSpecError> {
    let mut window = Window::LAST_64;
    loop {
        if words.take("last") {
            window.last_n = if words.take("all") {
                None
            } else {
                Some(words.number("a whole number or \"all\"", "last 64")?)
            };
        } else if words.take("generated") {
            words.take("only");
            window.prompt_counted = false;
        } else {
            return Ok(window);
        }
    }
}

/// The words that [`head`] and the function it gives read back as this filter.
pub(super) fn filter_words(filter: &Filter) -> String {
    let mut words = filter.to_string();
    match filter {
        Filter::RepetitionPenalty(filter) => words += &window_words(filter.window),
        Filter::FrequencyPenalty(filter) => words += &window_words(filter.window),
        Filter::PresencePenalty(filter) => words += &window_words(filter.window),
        _ => {}
    }
    words
}

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

/// The words that read back as this selector.
pub(super) fn selector_words(selector: Selector) -> &'static str {
    match selector {
        Selector::Greedy => "greedy",
        Selector::Multinomial => "sample",
    }
}
