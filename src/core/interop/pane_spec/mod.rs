//! A pane's settings, and the words in which people write them: "top-p 0.9, temp 0.7, seed 7".

mod grammar;
mod print;
mod stages;
#[cfg(test)]
mod tests;
mod vary;
mod words;

use std::str::FromStr;
use std::sync::Arc;

pub use self::grammar::with_grammar_files;
pub use self::print::{GRAMMAR, filter_words};
pub use self::vary::{VARY_GRAMMAR, parse_axis};
pub use self::words::PaneSpecError;

use self::stages::Head;
use self::words::Words;
use crate::decoding::{ChainConfig, Filter, Selector, Stage};
use crate::generation::{PaneSettings, default_name};

impl FromStr for PaneSettings {
    type Err = PaneSpecError;

    /// Reads the grammar that [`GRAMMAR`] describes.
    fn from_str(description: &str) -> Result<Self, PaneSpecError> {
        let mut settings = Self::from(ChainConfig::sampled([]));
        let (mut name, mut min_keep, mut selector) = (None, None, None);
        let (mut drafts, mut guidance, mut beam_scores) = (None, None, None);
        for mut words in words::split(description)? {
            let words = &mut words;
            match stages::head(words)? {
                Head::Filter(spec) => {
                    let filter = |words: &mut Words| stages::filter(spec, words);
                    settings.chain.stages.push(stage(filter, words)?);
                }
                Head::Ban => settings.chain.stages.push(stage(stages::ban, words)?),
                Head::Selector(spec) => {
                    if let Some(first) = &selector {
                        return Err(words.last.wrong(format!(
                            "a pane has one selector, and {first:?} has already been given"
                        )));
                    }
                    selector = Some(words.last.text.clone());
                    settings.chain.selector = stages::selector(spec, words)?;
                }
                Head::Dialect => {
                    let dialect = stages::dialect(words)?;
                    settings.chain.rules = dialect.rules();
                    settings.chain.dialect = Some(dialect);
                }
                Head::Grammar => {
                    let rule = grammar::grammar(words)?;
                    settings.chain.grammar = Some(Arc::new(rule));
                }
                Head::Drafts => {
                    settings.chain.drafts = Some(stages::drafts(words)?);
                    drafts = Some(words.last.clone());
                }
                Head::Guide => {
                    settings.chain.guidance = Some(stages::guidance(words)?);
                    guidance = Some(words.last.clone());
                }
                Head::BeamScores => beam_scores = Some(stages::beam_scores(words)?),
                Head::MinKeep => min_keep = Some(stages::min_keep(words)?),
                Head::Seed => settings.seed = Some(seed(words)?),
                Head::Name => name = Some(pane_name(words)?),
            }
            words.end()?;
        }
        if let (Some(drafts), Some(word)) = (settings.chain.drafts, drafts) {
            let valid = drafts.validate(&settings.chain);
            valid.map_err(|error| word.wrong(error.to_string()))?;
        }
        if let (Some(guidance), Some(word)) = (&settings.chain.guidance, guidance) {
            let valid = guidance.validate(&settings.chain);
            valid.map_err(|error| word.wrong(error.to_string()))?;
        }
        // Set last, because a dialect that follows sets all rules.
        if let Some(min_keep) = min_keep {
            settings.chain.rules.min_keep = min_keep;
        }
        if let Some(beam_scores) = beam_scores {
            settings.chain.rules.beam_scores = beam_scores;
        }
        settings.name = name.unwrap_or_else(|| default_name(&settings.chain));
        Ok(settings)
    }
}

impl std::fmt::Display for PaneSettings {
    /// Prints a description that reads back as these settings.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut parts: Vec<String> = self.chain.stages.iter().map(stage_words).collect();
        let grammar = self.chain.grammar.as_deref();
        parts.splice(0..0, grammar.map(grammar::grammar_words));
        if self.chain.stages.is_empty() || self.chain.selector != Selector::Multinomial {
            parts.push(self.chain.selector.to_string());
        }
        parts.extend(print::rules_words(&self.chain));
        parts.extend(self.chain.drafts.map(|drafts| drafts.to_string()));
        parts.extend(self.chain.guidance.as_ref().map(ToString::to_string));
        parts.extend(self.seed.map(|seed| format!("seed {seed}")));
        if self.name != default_name(&self.chain) {
            parts.push(format!("name {}", words::quoted_text(&self.name)));
        }
        f.write_str(&parts.join(", "))
    }
}

/// Reads a filter, and "off" if it follows.
fn stage(
    filter: impl Fn(&mut Words) -> Result<Filter, PaneSpecError>,
    words: &mut Words,
) -> Result<Stage, PaneSpecError> {
    let filter = filter(words)?;
    let enabled = !words.take("off");
    Ok(Stage { filter, enabled })
}

fn stage_words(stage: &Stage) -> String {
    let off = if stage.enabled { "" } else { " off" };
    filter_words(&stage.filter) + off
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
