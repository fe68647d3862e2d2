//! A pane's settings, and the words in which people write them: "top-p 0.9, temp 0.7, seed 7".

mod stages;
mod words;

use std::str::FromStr;

pub use self::words::PaneSpecError;

use self::stages::Head;
use self::words::Words;

use crate::decoding::{ChainConfig, Filter, Selector, Stage};
use crate::generation::{PaneSettings, default_name};

/// How a pane is described on the command line.
pub const GRAMMAR: &str = "\
A pane is described by settings with commas between them. The stages of the chain are applied in the
order in which they are written.

  temp 0.7             divide the scores by 0.7; 0 always takes the most likely token
  dyn-temp 1 range 0.5 exponent 1
                       a temperature between 0.5 and 1.5 that rises with the entropy
  smooth 0.3 curve 1   let the scores fall with the square of their distance from the best
  top-k 40             keep the 40 most likely tokens
  top-p 0.9            keep the fewest tokens that hold 90 % of the probability
  min-p 0.05           keep tokens at least 0.05 times as likely as the best
  typical-p 0.9        keep the most typical tokens that hold 90 % of the probability
  top-nσ 1             keep tokens at most 1 standard deviation of the scores below the best
  epsilon 0.0003       cut tokens less likely than 0.0003
  eta 0.0003           the same with a bar that falls as the entropy rises
  xtc 0.5 threshold 0.1
                       half of the time, cut all tokens from 0.1 on but the least likely of them
  top-a 0.2            cut tokens less likely than 0.2 times the square of the best
  tail-free 0.95       cut the flat tail of the sorted probabilities
  repeat 1.1           divide the scores above 0 of tokens that occurred by 1.1, and
                       multiply their other scores by it
  frequency 0.5        subtract 0.5 for each time that a token occurred
  presence 0.5         subtract 0.5 if a token occurred
  no-repeat 3          write no three tokens again that it looks back on
  dry 0.8 base 1.75 allowed 2 breakers 13 5+6
                       subtract 0.8 · 1.75^(n - 2) from what would lengthen a repetition of n
                       tokens; none reaches over token 13, or 5 followed by 6
    … last 64          these look at the last 64 tokens (this is the default),
    … last all         or at all of them,
    … generated only   and not at the prompt
  bias 13 -2.5 14 1    add -2.5 to the score of token 13, and 1 to that of token 14
  ban 13 14            never take these tokens
  … off                the stage stays in its place and does nothing
  greedy               take the most likely token
  sample               draw by chance (this is the default)
  gumbel               draw by chance, with a coin for each token
  mirostat 5 eta 0.1   draw so that the surprise stays near 5 bits; mirostat-1 for version 1
  adaptive-p 0.5 decay 0.9
                       draw tokens whose probability lies near 0.5
  dialect llama.cpp    treat ties and edges as this engine does; also transformers, vllm,
                       mistral.rs, candle, ollama, openai
  min-keep 2           top-p, min-p, typical-p, xtc, tail-free, epsilon and eta leave at
                       least two tokens
  seed 7               what the draws depend on; without it, that of the run
  name \"My pane\"       how the pane is called

Example: \"temp 0.7, top-p 0.9, seed 7\"";

impl FromStr for PaneSettings {
    type Err = PaneSpecError;

    /// Reads what [`GRAMMAR`] describes.
    fn from_str(description: &str) -> Result<Self, PaneSpecError> {
        let mut settings = Self::from(ChainConfig::sampled([]));
        let (mut name, mut min_keep) = (None, None);
        for mut words in words::split(description)? {
            match stages::head(&mut words)? {
                Head::Filter(parse) => settings.chain.stages.push(stage(parse, &mut words)?),
                Head::Selector(parse) => settings.chain.selector = selector(parse, &mut words)?,
                Head::Dialect => {
                    let dialect = stages::dialect(&mut words)?;
                    settings.chain.rules = dialect.rules();
                    settings.chain.dialect = Some(dialect);
                }
                Head::MinKeep => min_keep = Some(stages::min_keep(&mut words)?),
                Head::Seed => settings.seed = Some(seed(&mut words)?),
                Head::Name => name = Some(pane_name(&mut words)?),
            }
            words.end()?;
        }
        // A dialect may stand behind it, and sets all rules.
        if let Some(min_keep) = min_keep {
            settings.chain.rules.min_keep = min_keep;
        }
        settings.name = name.unwrap_or_else(|| default_name(&settings.chain));
        Ok(settings)
    }
}

impl std::fmt::Display for PaneSettings {
    /// The words that read back as these settings.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut parts: Vec<String> = self.chain.stages.iter().map(stage_words).collect();
        if parts.is_empty() || self.chain.selector != Selector::Multinomial {
            parts.push(self.chain.selector.to_string());
        }
        parts.extend(stages::rules_words(&self.chain));
        parts.extend(self.seed.map(|seed| format!("seed {seed}")));
        if self.name != default_name(&self.chain) {
            let escaped = self.name.replace('\\', "\\\\").replace('"', "\\\"");
            parts.push(format!("name \"{escaped}\""));
        }
        f.write_str(&parts.join(", "))
    }
}

fn stage(
    parse: fn(&mut Words) -> Result<Filter, PaneSpecError>,
    words: &mut Words,
) -> Result<Stage, PaneSpecError> {
    let value = words.peek().cloned();
    let filter = parse(words)?;
    if let Some(complaint) = filter.complaint() {
        return Err(value.as_ref().unwrap_or(&words.last).wrong(complaint));
    }
    let enabled = !words.take("off");
    Ok(Stage { filter, enabled })
}

fn selector(
    parse: fn(&mut Words) -> Result<Selector, PaneSpecError>,
    words: &mut Words,
) -> Result<Selector, PaneSpecError> {
    let value = words.peek().cloned();
    let selector = parse(words)?;
    match selector.complaint() {
        Some(complaint) => Err(value.as_ref().unwrap_or(&words.last).wrong(complaint)),
        None => Ok(selector),
    }
}

fn stage_words(stage: &Stage) -> String {
    let off = if stage.enabled { "" } else { " off" };
    stage.filter.rule().words() + off
}

fn seed(words: &mut Words) -> Result<u64, PaneSpecError> {
    words.number("a whole number of 0 or more", "seed 7")
}

fn pane_name(words: &mut Words) -> Result<String, PaneSpecError> {
    let keyword = words.last.clone();
    let name = words.rest();
    if name.is_empty() {
        return Err(keyword.wrong("a name is missing, as in name \"My pane\""));
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::GRAMMAR;
    use crate::decoding::filters::{RepetitionPenalty, Window};
    use crate::decoding::{Filter, Selector};
    use crate::generation::PaneSettings;

    fn parsed(description: &str) -> PaneSettings {
        description
            .parse()
            .unwrap_or_else(|error| panic!("{description}: {error}"))
    }

    #[test]
    fn the_words_of_a_pane_are_understood() {
        for (description, chain, name, seed) in [
            ("greedy", "top token", "Greedy", None),
            ("temp 0", "T 0", "Greedy", None),
            ("sample", "T 1", "Pure sampling", None),
            (
                "top-p 0.9, temp 0.7, seed 7",
                "top-p 0.9 › T 0.7",
                "Top-p",
                Some(7),
            ),
            ("temp 0.7, top-p 0.9", "T 0.7 › top-p 0.9", "Top-p", None),
            ("T=0.7,topk=40", "T 0.7 › top-k 40", "Top-k", None),
            ("temperature 1.5", "T 1.5", "Temperature", None),
            (
                "Top K 40, TOP_P 0.9",
                "top-k 40 › top-p 0.9",
                "Top-k + top-p",
                None,
            ),
            (
                "top-k 40, xtc 0.5",
                "top-k 40 › xtc 0.5",
                "Top-k + XTC",
                None,
            ),
            (
                "min-p 0.05, name Mine and yours",
                "min-p 0.05",
                "Mine and yours",
                None,
            ),
            (
                "repetition penalty 1.1",
                "repeat 1.1",
                "Repetition penalty",
                None,
            ),
            (
                "frequency -0.5, presence 1",
                "frequency -0.5 › presence 1",
                "Frequency penalty + presence penalty",
                None,
            ),
            (
                "top-k 40 off, top-p 0.5, greedy",
                "top-p 0.5 › top token",
                "Greedy",
                None,
            ),
        ] {
            let pane = parsed(description);
            assert_eq!(pane.chain.to_string(), chain, "{description}");
            assert_eq!(pane.name, name, "{description}");
            assert_eq!(pane.seed, seed, "{description}");
        }
    }

    #[test]
    fn a_penalty_says_where_it_looks() {
        let window = |last_n, prompt_counted| Window {
            last_n,
            prompt_counted,
        };
        for (description, expected) in [
            ("repeat 1.1", window(Some(64), true)),
            ("repeat 1.1 last 32", window(Some(32), true)),
            ("repeat 1.1 last all", window(None, true)),
            ("repeat 1.1 generated only", window(Some(64), false)),
            ("repeat 1.1 generated last 0", window(Some(0), false)),
        ] {
            let filter = RepetitionPenalty {
                penalty: 1.1,
                window: expected,
            };
            let stages = parsed(description).chain.stages;
            assert_eq!(
                stages,
                [Filter::RepetitionPenalty(filter).into()],
                "{description}"
            );
        }
    }

    #[test]
    fn options_may_stand_before_a_list_of_breakers_and_behind_it() {
        let expected = parsed("dry 0.8 base 2 last 100 generated only breakers 13 5+6 off");
        for description in [
            "dry 0.8 breakers 13 5+6 last 100 generated only base 2 off",
            "dry 0.8 last 100 breakers 13 generated base 2 breakers 5+6 off",
        ] {
            assert_eq!(parsed(description), expected, "{description}");
        }
    }

    #[test]
    fn what_is_written_reads_back_the_same() {
        for description in [
            "greedy",
            "sample",
            "T 0",
            "T 0.7, top-p 0.9, seed 18446744073709551615",
            "repeat 1.1 last all generated only, frequency 0.5 last 3, presence -1 off, greedy",
            "dyn-temp 1 range 0.5 exponent 2, smooth 0.3 curve 1.5, top-nσ 1, gumbel",
            "typical-p 0.9, epsilon 0.001, eta 0.002, top-a 0.2, tail-free 0.95 off, mirostat 5 eta 0.1",
            "xtc 0.5 threshold 0.2, no-repeat 3 last all, mirostat-1 3 eta 0.2",
            "dry 0.8 base 1.75 allowed 2, adaptive-p 0.5 decay 0.9",
            "dry 1 base 2 allowed 4 last 9 generated only breakers 13 5+6",
            "top-k 5, dialect transformers",
            "top-p 0.9, dialect candle, seed 3",
            "T 1, dialect ollama",
            "top-p 0.9, dialect openai",
            "bias 13 -2.5 14 1 ban 5 6, ban 7, greedy",
            "bias 13 -2.5 off, bias 13 1 ban 5 off, ban 7 8 off, bias off, gumbel",
            "dry 0.8 base 1.75 allowed 2 breakers 13 5+6 off, mirostat 1 eta 0.1",
            "T 1, mirostat 2 eta 0.1",
            "T 1, mirostat-1 2 eta 0.1",
            "top-p 0.9, dialect llama.cpp, min-keep 3",
            "top-p 0.9, dialect transformers, min-keep 0",
            "top-p 0.9, min-keep 1, seed 3",
            "min-p 0.000000001, name \"a \\\"b\\\", c\\\\d\"",
        ] {
            let pane = parsed(description);
            assert_eq!(pane.to_string(), description);
            assert_eq!(parsed(&pane.to_string()), pane);
        }
        let min_keep = |description| parsed(description).chain.rules.min_keep;
        assert_eq!(min_keep("min-keep 3, dialect transformers"), 3);
        assert_eq!(min_keep("dialect transformers"), 1);
        for pane in PaneSettings::classics() {
            assert_eq!(parsed(&pane.to_string()), pane);
        }
    }

    #[test]
    fn an_error_points_at_its_word() {
        for (description, word, message) in [
            (
                "top-pp 0.9",
                "top-pp",
                "\"top-pp\" is not a setting; did you mean \"top-p\"?",
            ),
            (
                "temp 0.7, banana",
                "banana",
                "\"banana\" is not a setting; there are temp, dyn-temp, smooth, top-k, top-p, min-p, typical-p, top-nσ, epsilon, eta, xtc, top-a, tail-free, repeat, frequency, presence, no-repeat, dry, bias, ban, greedy, sample, gumbel, mirostat, mirostat-1, adaptive-p, dialect, min-keep, seed, name",
            ),
            (
                "top-p",
                "top-p",
                "\"top-p\" needs a number, as in \"top-p 0.9\"",
            ),
            (
                "top-p high",
                "high",
                "\"high\" is not a number, as in \"top-p 0.9\"",
            ),
            (
                "top-p 0,9",
                "9",
                "\"9\" has no setting before it; decimals are written with a point",
            ),
            ("temp 1, top-p 1.5", "1.5", "Top-p lies between 0 and 1"),
            ("temp -1", "-1", "Temperature is 0 or more"),
            ("repeat 0 last 5", "0", "Repetition penalty is above 0"),
            ("temp nan", "nan", "Temperature is 0 or more"),
            (
                "top-k 1.5",
                "1.5",
                "\"1.5\" is not a whole number of 0 or more, as in \"top-k 40\"",
            ),
            (
                "top-k -1",
                "-1",
                "\"-1\" is not a whole number of 0 or more, as in \"top-k 40\"",
            ),
            (
                "seed 1.5",
                "1.5",
                "\"1.5\" is not a whole number of 0 or more, as in \"seed 7\"",
            ),
            (
                "repeat 1.1 last",
                "last",
                "\"last\" needs a whole number of 0 or more, or \"all\", as in \"last 64\"",
            ),
            ("top-p 0.9 0.8", "0.8", "\"0.8\" is not understood here"),
            ("greedy 3", "3", "\"3\" is not understood here"),
            ("temp 1, , top-p 1", " ", "a setting is missing here"),
            ("name", "name", "a name is missing, as in name \"My pane\""),
            ("name \"x", "\"x", "this quote is not closed"),
        ] {
            let error = description.parse::<PaneSettings>().unwrap_err();
            assert_eq!(error.message, message, "{description}");
            assert_eq!(&description[error.span], word, "{description}");
        }
        let empty = "".parse::<PaneSettings>().unwrap_err();
        assert_eq!(
            (empty.message.as_str(), empty.span),
            ("a setting is missing here", 0..0)
        );
    }

    #[test]
    fn an_error_is_marked_under_its_word() {
        let description = "näme x, top-q 1";
        let error = "temp 1, top-q 1".parse::<PaneSettings>().unwrap_err();
        let lines = error.pointing_into("temp 1, top-q 1");
        assert!(
            lines.starts_with("temp 1, top-q 1\n        ^^^^^\n\"top-q\""),
            "{lines}"
        );
        let error = description.parse::<PaneSettings>().unwrap_err();
        assert!(error.pointing_into(description).contains("\n^^^^\n"));
    }

    #[test]
    fn the_help_holds_only_what_is_understood() {
        let examples = GRAMMAR
            .lines()
            .filter(|line| {
                line.starts_with("  ") && !line.starts_with("   ") && !line.contains('…')
            })
            .map(|line| line.trim().split("  ").next().unwrap_or_default());
        let mut n_examples = 0;
        for example in examples {
            parsed(example);
            n_examples += 1;
        }
        assert!(n_examples > 25);
        assert_eq!(parsed("greedy").chain.selector, Selector::Greedy);
    }
}
