//! The acts of a lesson's setup and of a step's solution, as written in a lesson file:
//! `pane B: temp 0.5`, `generate`, `pin B 4`.

use super::path::PaneName;
use super::task_fields::TASK_LISTS;
use crate::generation::PaneSettings;

/// Something that a learner can do.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    Generate,
    /// Generate in the pane at this place only.
    GenerateIn(usize),
    /// Enter step mode.
    StepMode,
    /// Enter step mode if necessary, and generate one token.
    Step,
    /// Take back the last token, in step mode.
    StepBack,
    /// Pick the candidate of this rank by hand, in step mode.
    Pick(usize),
    /// Leave step mode.
    FullSpeed,
    /// Replace a pane's chain and its seed.
    Settings(usize, Box<PaneSettings>),
    Prompt(String),
    /// The token limit.
    Tokens(usize),
    Seed(u64),
    /// The stop sequence; empty for none.
    Stop(String),
    /// Score a text in the pane at this place, under its settings.
    Score(usize, String),
    /// Pin the token with this number, from 1, of the pane at this place.
    Pin(usize, usize),
    /// Show a tab of the dock.
    Tab(&'static str),
    /// Show a tint of the texts.
    Tint(&'static str),
    /// Type the prices of a million tokens of input and of output, in dollars.
    Prices(f64, f64),
    /// Show Lab, By hand, and toss this many coins there.
    Toss(u32),
    /// Measure the times of a text of this many tokens with the KV cache and without it.
    MeasureCache(usize),
    /// Show Lab, Prompts, and compute how the share of right answers to this list depends on the
    /// temperature.
    Judge(&'static str),
}

/// The tabs of the dock, by their names in lower case.
pub const TABS: [&str; 6] = ["plots", "x-ray", "loop", "branches", "compare", "numbers"];

/// The tints, by their names in lower case.
pub const TINTS: [&str; 6] = [
    "none",
    "probability",
    "rank",
    "entropy",
    "surprise",
    "watermark",
];

/// The maximum length of a text that a lesson measures, in tokens: measuring keeps the learner
/// waiting.
const MAX_MEASURED: usize = 400;

/// The most coins that a lesson tosses at once.
const MAX_TOSSED: u32 = 10_000;

impl Act {
    /// Reads an act; the error says what is wrong with it.
    pub(super) fn read(words: &str) -> Result<Self, String> {
        let words = words.trim_start();
        // Only the first space is part of the notation: further spaces and line breaks belong to
        // the text.
        let text_after = |name: &str| {
            let text = words.strip_prefix(name)?;
            Some(text.strip_prefix(' ').unwrap_or(text).to_owned())
        };
        if let Some(prompt) = text_after("prompt:") {
            return Ok(Self::Prompt(prompt));
        }
        if let Some(stop) = text_after("stop:") {
            return Ok(Self::Stop(stop));
        }
        if let Some(rest) = words.strip_prefix("score ") {
            let (pane, text) = rest
                .split_once(": ")
                .ok_or("write the text after a colon, as in \"score B: A fox ran.\"")?;
            return Ok(Self::Score(place(pane.trim())?, text.to_owned()));
        }
        if let Some(rest) = words.strip_prefix("pane ") {
            let (pane, settings) = rest
                .split_once(':')
                .ok_or("write the settings after a colon, as in \"pane B: temp 0.5\"")?;
            let settings = settings
                .parse::<PaneSettings>()
                .map_err(|error| error.to_string())?;
            return Ok(Self::Settings(place(pane.trim())?, Box::new(settings)));
        }
        let parts: Vec<&str> = words.split_whitespace().collect();
        match *parts.as_slice() {
            ["generate"] => Ok(Self::Generate),
            ["generate", pane] => Ok(Self::GenerateIn(place(pane)?)),
            ["step", "mode"] => Ok(Self::StepMode),
            ["step"] => Ok(Self::Step),
            ["step", "back"] => Ok(Self::StepBack),
            ["pick", rank] => positive(rank).map(Self::Pick),
            ["full", "speed"] => Ok(Self::FullSpeed),
            ["tokens", n] => Ok(Self::Tokens(positive(n)?)),
            ["seed", n] => n
                .parse()
                .map(Self::Seed)
                .map_err(|_not_a_number| not_a_number(n)),
            ["pin", pane, n] => Ok(Self::Pin(place(pane)?, positive(n)?)),
            ["tab", name] => one_of(&TABS, name).map(Self::Tab),
            ["measure", "cache", n] => match positive(n)? {
                n @ 8..=MAX_MEASURED => Ok(Self::MeasureCache(n)),
                _ => Err(format!("measure a text of 8 to {MAX_MEASURED} tokens")),
            },
            ["prices", input, output] => Ok(Self::Prices(price(input)?, price(output)?)),
            ["toss", n] => match n.parse() {
                Ok(n @ 1..=MAX_TOSSED) => Ok(Self::Toss(n)),
                _ => Err(format!("toss 1 to {MAX_TOSSED} coins")),
            },
            ["tint", name] => one_of(&TINTS, name).map(Self::Tint),
            ["judge", name] => one_of(&TASK_LISTS, name).map(Self::Judge),
            _ => Err(format!(
                "{words:?} is not an act: use generate, step, step back, pick, step mode, full \
                 speed, pane, prompt, tokens, seed, stop, score, pin, tab, tint, prices, toss, \
                 measure cache or judge"
            )),
        }
    }
}

pub(super) fn place(word: &str) -> Result<usize, String> {
    match PaneName::read(word) {
        Some(PaneName::At(place)) => Ok(place),
        _ => Err(format!("{word:?} is not a pane: use a letter from A to H")),
    }
}

/// Reads a price: a number that is not negative.
fn price(word: &str) -> Result<f64, String> {
    let number = word.parse().ok();
    let number = number.filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| format!("{word:?} is not a price"))
}

fn positive(word: &str) -> Result<usize, String> {
    let number = word.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| not_a_number(word))
}

fn not_a_number(word: &str) -> String {
    format!("{word:?} is not a whole number in range")
}

pub(super) fn one_of(names: &[&'static str], word: &str) -> Result<&'static str, String> {
    let found = names.iter().find(|name| **name == word);
    found
        .copied()
        .ok_or_else(|| format!("{word:?} is unknown: use {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::Act;

    #[test]
    fn acts_are_parsed() {
        for (words, act) in [
            ("generate", Act::Generate),
            ("generate B", Act::GenerateIn(1)),
            ("step mode", Act::StepMode),
            ("prompt: Once upon", Act::Prompt("Once upon".to_owned())),
            ("stop: .", Act::Stop(".".to_owned())),
            ("stop: \n\n", Act::Stop("\n\n".to_owned())),
            ("score B: A fox: 1", Act::Score(1, "A fox: 1".to_owned())),
            ("step back", Act::StepBack),
            ("pick 2", Act::Pick(2)),
            ("tokens 12", Act::Tokens(12)),
            ("pin A 4", Act::Pin(0, 4)),
            ("tab x-ray", Act::Tab("x-ray")),
            ("tint rank", Act::Tint("rank")),
            ("measure cache 60", Act::MeasureCache(60)),
            ("prices 1 4.5", Act::Prices(1.0, 4.5)),
            ("toss 1000", Act::Toss(1000)),
            ("judge stories", Act::Judge("stories")),
        ] {
            assert_eq!(Act::read(words), Ok(act), "{words}");
        }
        let settings = Act::read("pane B: temp 0.5, seed 7").unwrap();
        let Act::Settings(1, settings) = settings else {
            panic!("{settings:?}");
        };
        assert_eq!(settings.seed, Some(7));
    }

    #[test]
    fn mistakes_are_reported() {
        for (words, message) in [
            ("dance", "\"dance\" is not an act"),
            ("pane B temp 0.5", "after a colon"),
            ("pane Z: temp 0.5", "\"Z\" is not a pane"),
            ("pane B: warm 0.5", "warm"),
            ("tokens 0", "\"0\" is not a whole number"),
            ("measure cache 4000", "8 to 400 tokens"),
            ("prices 1 -4", "\"-4\" is not a price"),
            ("toss 0", "1 to 10000 coins"),
            ("judge riddles", "use facts, sentiment, stories"),
            ("tab settings", "use plots, x-ray"),
        ] {
            let error = Act::read(words).unwrap_err();
            assert!(error.contains(message), "{words}: {error}");
        }
    }
}
