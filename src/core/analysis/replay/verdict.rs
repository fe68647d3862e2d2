//! What a replay proves about a run, as data and in words.

use std::fmt;

use super::{Comparison, Fact, Models, TextContradiction, TextReplay, Unit, WordsCheck};
use crate::analysis::contradictions::{Contradiction, RunPlace, WrittenBy};
use crate::decoding::Picked;
use crate::generation::formatting::grouped;
use crate::generation::{Generation, Implementation, ModelInfo, listed};

/// What a replay proves about a run.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts about a run"
)]
pub struct Verdict {
    /// `None` if the texts were not generated again, because the file contradicts itself.
    pub comparison: Option<Comparison>,
    /// The first place at which the file contradicts itself.
    pub contradiction: Option<Contradiction>,
    /// What is not that of the file: "model", "tokenizer", "template", in this order.
    pub others: Vec<&'static str>,
    /// Whether the user asked for another model than that of the file.
    pub allows_others: bool,
    /// Who wrote the tokens of each text: those of the panes, then those of the turns before them.
    pub written: Vec<WrittenBy>,
    pub words: Vec<WordsCheck>,
    pub texts: Vec<TextReplay>,
    /// The places of the panes.
    places: Vec<usize>,
    turns: Vec<RunPlace>,
    has_coins: bool,
    is_served: bool,
    has_branches: bool,
}

/// Where the texts of a run are.
#[derive(Debug, Clone, Copy, Default)]
pub struct TextPlaces<'a> {
    /// The places of the panes, which determine their letters. Empty if they are A, B, C and so on.
    pub panes: &'a [usize],
    /// The turns before them, whose texts follow those of the panes.
    pub turns: &'a [RunPlace],
}

/// A run and its replay.
#[derive(Debug, Clone, Copy)]
pub struct Replayed<'a> {
    /// The texts of the panes, then those of the turns before them.
    pub then: &'a [&'a Generation],
    pub now: &'a [&'a Generation],
    pub places: TextPlaces<'a>,
    /// What the models make of the prompts, one per text.
    pub words: &'a [WordsCheck],
    /// Whether the user asked for another model than that of the file.
    pub allows_others: bool,
    /// Whether the file also has texts that no pane showed, which are not generated again.
    pub has_branches: bool,
}

impl Verdict {
    /// The verdict on a file that contradicts itself, whatever its model says.
    pub fn contradicted(
        then: &[&Generation],
        places: TextPlaces<'_>,
        contradiction: Contradiction,
    ) -> Self {
        Self {
            contradiction: Some(contradiction),
            ..Self::unproven(then, places)
        }
    }

    /// Judges a run by its replay.
    pub fn of(run: Replayed<'_>) -> Self {
        let pairs = run.then.iter().zip(run.now);
        let texts: Vec<TextReplay> = pairs.map(|(then, now)| TextReplay::of(then, now)).collect();
        let others = other_files(run);
        let texts_with_words = run.words.iter().zip(&texts).enumerate();
        let is_own_model = others.is_empty();
        let unproven = Self::unproven(run.then, run.places);
        let found = texts_with_words.filter_map(|(pane, (words, text))| {
            first_contradiction(words, text, is_own_model)
                .map(|found| found.at(unproven.place_of(pane)))
        });
        // A contradiction about a whole text comes before those about its steps. One about tokens
        // that are only listed comes last: the word may be wrong in the text of another pane.
        let first = found.min_by_key(|found| (found.step, found.place));
        let listed = || first_listed(run.words, &texts, is_own_model);
        let contradiction =
            first.or_else(|| listed().map(|(pane, found)| found.at(unproven.place_of(pane))));
        Self {
            comparison: Some(Comparison::of(&texts, unproven.all_places())),
            contradiction,
            others,
            allows_others: run.allows_others,
            words: run.words.to_vec(),
            texts,
            has_branches: run.has_branches,
            ..unproven
        }
    }

    fn unproven(then: &[&Generation], places: TextPlaces<'_>) -> Self {
        let mut steps = then.iter().flat_map(|text| &text.steps);
        Self {
            comparison: None,
            contradiction: None,
            others: Vec::new(),
            allows_others: false,
            written: then.iter().map(|text| WrittenBy::of(text)).collect(),
            words: Vec::new(),
            texts: Vec::new(),
            places: match places.panes {
                [] => (0..then.len().saturating_sub(places.turns.len())).collect(),
                panes => panes.to_vec(),
            },
            turns: places.turns.to_vec(),
            has_branches: false,
            has_coins: steps.any(|step| {
                let draw = &step.trace.draw;
                draw.coin.is_some() || draw.picked == Picked::ByRatio
            }),
            is_served: then
                .iter()
                .any(|text| text.model.implementation == Implementation::Server),
        }
    }

    /// Returns the place of the pane at this index, which determines its letter.
    pub fn place(&self, index: usize) -> usize {
        self.places.get(index).copied().unwrap_or(index)
    }

    /// Returns the places of the panes, in their order.
    pub fn places(&self) -> &[usize] {
        &self.places
    }

    /// Returns where the text at this index is: in a pane, or before it.
    pub fn place_of(&self, index: usize) -> RunPlace {
        let mut places = self.all_places().skip(index);
        places.next().unwrap_or(RunPlace::Pane(index))
    }

    /// Iterates over the places of all texts.
    pub fn all_places(&self) -> impl Iterator<Item = RunPlace> {
        let panes = self.places.iter().map(|place| RunPlace::Pane(*place));
        panes.chain(self.turns.iter().copied())
    }

    /// Returns 0 if the run is the same, 1 if it is different, and 3 if its file contradicts itself.
    pub fn exit_status(&self) -> u8 {
        let is_other = !self.others.is_empty() && !self.allows_others;
        match &self.comparison {
            _ if self.contradiction.is_some() => 3,
            None | Some(Comparison::Different { .. }) => 1,
            // The same computation gives the same numbers.
            Some(Comparison::SameTokens { .. }) if self.texts.iter().any(has_changed_numbers) => 1,
            Some(_) if is_other => 1,
            Some(Comparison::Identical | Comparison::SameTokens { .. }) => 0,
        }
    }

    /// Returns whether this file, such as "tokenizer", is the run's own. Returns `None` if the files
    /// were not compared, or if a server ran the model and names none.
    pub fn is_same(&self, name: &str) -> Option<bool> {
        let is_other = self.others.contains(&name);
        let is_known = self.comparison.is_some() && (is_other || !self.is_served);
        is_known.then_some(!is_other)
    }

    /// Returns whether something differs that the file itself does not explain.
    pub fn is_unexplained(&self) -> bool {
        let comparison = self.comparison.as_ref();
        self.contradiction.is_none()
            && comparison.is_some_and(|found| *found != Comparison::Identical)
    }

    /// Returns who wrote the tokens of all panes.
    pub fn written(&self) -> WrittenBy {
        let panes = self.written.iter().copied();
        panes.fold(WrittenBy::default(), WrittenBy::plus)
    }

    /// Returns what a text's tokens come from, for those with given tokens: "In C, 188 of 200 tokens
    /// were chosen and 12 were given by hand. A, B and D were chosen throughout."
    pub fn pane_words(&self) -> Option<String> {
        let texts = self.all_places().zip(&self.written);
        let (given, chosen): (Vec<_>, Vec<_>) =
            texts.partition(|(_, written)| written.n_given() > 0);
        if given.is_empty() || self.written.len() < 2 || self.contradiction.is_some() {
            return None;
        }
        let mut sentences: Vec<String> = Vec::new();
        for (place, written) in given {
            let name = place.short();
            let n_chosen = number(written.n_by_settings);
            let (all, given) = (number(written.n_tokens()), given_words(*written));
            sentences.push(format!(
                "In {name}, {n_chosen} of {all} tokens were chosen and {given}."
            ));
        }
        if !chosen.is_empty() {
            let names: Vec<String> = chosen.iter().map(|(place, _)| place.short()).collect();
            let verb = if names.len() == 1 { "was" } else { "were" };
            sentences.push(format!("{} {verb} chosen throughout.", listed(&names)));
        }
        Some(sentences.join(" "))
    }

    /// Says how many tokens the settings chose: "740 of 752 tokens were chosen by these settings
    /// from these coins; 12 were given by hand".
    fn written_words(&self) -> String {
        let written = self.written();
        let (n_chosen, n_all) = (written.n_by_settings, written.n_tokens());
        let by = if self.has_coins {
            "by these settings from these coins"
        } else {
            "by these settings"
        };
        let (all, given) = (number(n_all), given_words(written));
        match (n_chosen, n_all) {
            (_, 0) => "It has no tokens".to_owned(),
            (0, 1) => format!("Its token was not chosen {by}: {given}"),
            (0, _) => format!("None of {all} tokens was chosen {by}: {given}"),
            (1, 1) => format!("Its token was chosen {by}"),
            _ if n_chosen == n_all => format!("All {all} tokens were chosen {by}"),
            (1, _) => format!("1 of {all} tokens was chosen {by}; {given}"),
            _ => format!(
                "{} of {all} tokens were chosen {by}; {given}",
                number(n_chosen)
            ),
        }
    }

    /// Lists what was compared and how it came out, and what was not compared.
    pub fn findings(&self, facts: &[Fact]) -> Vec<(&'static str, String)> {
        let mut rows = Vec::new();
        if self.comparison.is_some() {
            rows.push(("Model", self.model_words(facts)));
            rows.push(("Words", self.words_words()));
            if self.contradiction.is_none() {
                rows.push(("Coins", self.coins_words()));
            }
            rows.push(("Numbers", self.numbers_words()));
            if self.texts.iter().any(|text| text.has_other_passes) {
                let words = "in other passes than now, as in a text that was written in pieces";
                rows.push(("Drafts", words.to_owned()));
            }
        }
        rows.push(("Not covered", self.not_covered().join(", ")));
        rows
    }

    fn model_words(&self, facts: &[Fact]) -> String {
        if self.is_served {
            return "a server’s, which names no file".to_owned();
        }
        let hash = facts
            .iter()
            .find(|fact| fact.name == "Model file")
            .map_or("", |fact| fact.now.as_str());
        if self.others.is_empty() {
            format!("same file, {hash}")
        } else {
            format!("another {} than the file names", listed(&self.others))
        }
    }

    fn words_words(&self) -> String {
        let reason = self.words.iter().find_map(|words| match words {
            WordsCheck::Contradicted(_) => Some("not those of the tokens".to_owned()),
            WordsCheck::ListedContradicted(_) => {
                Some("prompt and pieces equal the tokens; those of alternatives do not".to_owned())
            }
            WordsCheck::NotCompared(reason) => Some(format!("not compared: {reason}")),
            WordsCheck::Equal | WordsCheck::Dated => None,
        });
        let is_dated = self.words.contains(&WordsCheck::Dated);
        reason.unwrap_or_else(|| {
            if is_dated {
                "prompt and pieces equal the tokens; the template inserts the date".to_owned()
            } else {
                "prompt and pieces equal the tokens".to_owned()
            }
        })
    }

    fn coins_words(&self) -> String {
        if self.has_coins {
            "equal the seed".to_owned()
        } else {
            "none were needed".to_owned()
        }
    }

    fn numbers_words(&self) -> String {
        let n_steps = self.n_compared();
        let n_hashed: usize = self.texts.iter().map(|text| text.n_hashed).sum();
        let is_identical = self.texts.iter().all(TextReplay::is_identical);
        let gap = self
            .texts
            .iter()
            .map(TextReplay::largest_gap)
            .fold(0.0, f32::max);
        match (is_identical, n_hashed) {
            (true, n) if n == n_steps => "largest difference 0, over all logits".to_owned(),
            (true, _) => "largest difference 0, over the logits that the file keeps".to_owned(),
            (false, _) if gap == 0.0 => {
                "other logits than those that the file keeps differ".to_owned()
            }
            (false, _) => format!("largest difference {}", super::logit_gap(gap)),
        }
    }

    /// Returns at how many steps the numbers were compared.
    fn n_compared(&self) -> usize {
        let steps = self.texts.iter();
        steps.map(|text| text.gaps.len() - text.n_unguided).sum()
    }

    /// Lists what this verification does not cover.
    pub fn not_covered(&self) -> Vec<&'static str> {
        let mut all = vec!["times", "names", "notes"];
        let n_hashed: usize = self.texts.iter().map(|text| text.n_hashed).sum();
        let n_unguided: usize = self.texts.iter().map(|text| text.n_unguided).sum();
        if self.comparison.is_some() && n_hashed < self.n_compared() {
            all.push("logits that the file does not keep");
        }
        if n_unguided > 0 {
            all.push("logits under earlier guidance");
        }
        if self.has_branches {
            all.push("the logits of branches that no pane shows");
        }
        if self.comparison.is_none() {
            all.extend(["model", "words", "logits"]);
        }
        all
    }
}

/// Returns whether numbers differ that should be the same.
fn has_changed_numbers(text: &TextReplay) -> bool {
    text.is_alike && !text.is_identical()
}

/// Lists the files that are not those of the run, judging by their hashes. A server names no files.
fn other_files(run: Replayed<'_>) -> Vec<&'static str> {
    let local = run
        .then
        .iter()
        .zip(run.now)
        .filter(|(then, _)| then.model.implementation != Implementation::Server);
    let pairs: Vec<(Models<'_>, Models<'_>)> = local
        .map(|(then, now)| (Models::of(then), Models::of(now)))
        .collect();
    let is_any = |differs: &dyn Fn(&ModelInfo, &ModelInfo) -> bool| {
        pairs
            .iter()
            .any(|(then, now)| differs(then.model, now.model))
    };
    let mut others = Vec::new();
    if is_any(&|then, now| then.sha256 != now.sha256) {
        others.push("model");
    }
    let has_other_second = |(then, now): &(Models<'_>, Models<'_>)| {
        let hash = second_hash(*then);
        !hash.is_empty() && hash != second_hash(*now)
    };
    if pairs.iter().any(has_other_second) {
        others.push("second model");
    }
    let hash = |info: &ModelInfo| info.provenance.tokenizer_sha256.clone();
    if is_any(&|then, now| hash(then) != hash(now)) {
        others.push("tokenizer");
    }
    let hash = |info: &ModelInfo| info.provenance.template_sha256.clone();
    if is_any(&|then, now| hash(then) != hash(now)) {
        others.push("template");
    }
    others
}

fn second_hash(models: Models<'_>) -> &str {
    models.second.map_or("", |second| &second.sha256)
}

/// Returns the first contradiction of a text, those about tokens that are only listed left out.
/// Another tokenizer may have other words.
fn first_contradiction(
    words: &WordsCheck,
    text: &TextReplay,
    is_own_model: bool,
) -> Option<TextContradiction> {
    let of_words = match words {
        WordsCheck::Contradicted(found) if is_own_model && !is_served(text) => Some(found),
        _ => None,
    };
    let found = of_words.into_iter().chain(&text.contradiction);
    found.min_by_key(|found| found.step).cloned()
}

/// Returns the first contradiction about tokens that are only listed, and the index of its pane.
fn first_listed(
    words: &[WordsCheck],
    texts: &[TextReplay],
    is_own_model: bool,
) -> Option<(usize, TextContradiction)> {
    let texts = words.iter().zip(texts).enumerate();
    let found = texts.filter_map(|(pane, (words, text))| match words {
        WordsCheck::ListedContradicted(found) if is_own_model && !is_served(text) => {
            Some((pane, found.clone()))
        }
        _ => None,
    });
    found.min_by_key(|(pane, found)| (found.step, *pane))
}

fn is_served(text: &TextReplay) -> bool {
    text.unit == Unit::LogProbs
}

/// Says how tokens were given: "12 were given by hand", "3 were scored and 1 was written by a
/// server".
fn given_words(written: WrittenBy) -> String {
    let kinds = [
        (written.n_by_hand, "given by hand"),
        (written.n_scored, "scored"),
        (written.n_by_server, "chosen by a server"),
    ]
    .into_iter()
    .filter(|(n, _)| *n > 0);
    let words: Vec<String> = kinds
        .map(|(n, how)| {
            let verb = if n == 1 { "was" } else { "were" };
            format!("{} {verb} {how}", number(n))
        })
        .collect();
    listed(&words)
}

fn number(n: usize) -> String {
    grouped(n as f64)
}

/// Says where a file contradicts itself: "first at token 4 of D: its settings …".
pub fn contradiction_words(found: &Contradiction) -> String {
    let (place, words) = (found.place.short(), &found.words);
    match (found.step, found.place) {
        (Some(step), RunPlace::File) => format!("first at token {}: {words}", step + 1),
        (Some(step), _) => format!("first at token {} of {place}: {words}", step + 1),
        (None, RunPlace::File) => format!("first here: {words}"),
        (None, _) => format!("first in {place}: {words}"),
    }
}

impl fmt::Display for Verdict {
    /// Says what was proven, in whole sentences.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(found) = &self.contradiction {
            let words = contradiction_words(found);
            return write!(f, "This file contradicts itself, {words}.");
        }
        let Some(comparison) = &self.comparison else {
            return f.write_str("Not verified.");
        };
        match (self.others.as_slice(), self.allows_others) {
            ([], _) => {}
            (others, false) => write!(f, "Not the {} of this file. ", listed(others))?,
            (others, true) => write!(f, "With another {}, as asked. ", listed(others))?,
        }
        write!(f, "{comparison}.")?;
        if comparison.has_same_tokens() {
            write!(f, " {}.", self.written_words())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
