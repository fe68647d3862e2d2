//! What `quartet replay` prints: the verdict in words, or as JSON.

use super::{console, replay_json};
use crate::analysis::contradictions::{Contradiction, RunPlace};
use crate::analysis::replay::{
    Difference, Fact, Models, Replayed, TextPlaces, Verdict, WordsCheck, facts_of_all,
    likely_cause, logit_gap,
};
use crate::decoding::TokenId;
use crate::generation::Generation;
use crate::generation::formatting::{counted, quoted};
use crate::state::capitalize;

/// The result of a replay.
pub(super) struct Report {
    pub then: Vec<Generation>,
    /// Empty if the texts were not generated again.
    pub now: Vec<Generation>,
    pub verdict: Verdict,
    /// What can change the numbers, then and now.
    pub facts: Vec<Fact>,
    /// When the run was finished, in seconds since 1970.
    pub finished_at: Option<u64>,
}

/// Where the texts of a run are.
pub(super) struct RunPlaces {
    /// The places of the panes, as in the file.
    pub panes: Vec<usize>,
    /// The turns, whose texts follow those of the panes.
    pub turns: Vec<RunPlace>,
}

impl RunPlaces {
    fn as_ref(&self) -> TextPlaces<'_> {
        TextPlaces {
            panes: &self.panes,
            turns: &self.turns,
        }
    }
}

/// A run and its replay.
pub(super) struct RepeatedRun {
    /// The texts of the panes, then those of the turns.
    pub then: Vec<Generation>,
    pub now: Vec<Generation>,
    pub places: RunPlaces,
    /// What the models make of the words, one per text.
    pub words: Vec<WordsCheck>,
    /// Whether the user asked for another model than that of the file.
    pub allows_others: bool,
    /// Whether the file also has texts that no pane showed.
    pub has_branches: bool,
}

impl Report {
    /// Reports a file that contradicts itself, whatever its model says.
    pub(super) fn contradicted(
        then: Vec<Generation>,
        places: &RunPlaces,
        found: Contradiction,
    ) -> Self {
        let texts: Vec<&Generation> = then.iter().collect();
        let verdict = Verdict::contradicted(&texts, places.as_ref(), found);
        Self {
            then,
            now: Vec::new(),
            verdict,
            facts: Vec::new(),
            finished_at: None,
        }
    }

    /// Compares a run with its replay.
    pub(super) fn new(run: RepeatedRun) -> Self {
        let RepeatedRun { then, now, .. } = run;
        let pairs = then.iter().zip(&now);
        let models = pairs.map(|(then, now)| (Models::of(then), Models::of(now)));
        let facts = facts_of_all(&models.collect::<Vec<_>>());
        let verdict = Verdict::of(Replayed {
            then: &then.iter().collect::<Vec<_>>(),
            now: &now.iter().collect::<Vec<_>>(),
            places: run.places.as_ref(),
            words: &run.words,
            allows_others: run.allows_others,
            has_branches: run.has_branches,
        });
        Self {
            then,
            now,
            verdict,
            facts,
            finished_at: None,
        }
    }

    /// Explains a difference, or returns `None` if there is none or the file explains it.
    pub(super) fn cause(&self) -> Option<String> {
        self.verdict
            .is_unexplained()
            .then(|| likely_cause(&self.facts))
    }

    /// Returns what is printed.
    pub(super) fn bytes(&self, as_json: bool) -> Vec<u8> {
        if as_json {
            replay_json::verdict(self)
        } else {
            console::escape_control(&self.text()).into_bytes()
        }
    }

    fn text(&self) -> String {
        let mut lines = vec![self.verdict.to_string()];
        lines.extend(self.verdict.pane_words());
        lines.extend(self.cause().map(|cause| format!("{cause}.")));
        if !self.now.is_empty() {
            lines.push(String::new());
            let texts = 0..self.verdict.texts.len();
            lines.extend(texts.filter_map(|text| self.text_line(text)));
        }
        lines.push(String::new());
        for (name, words) in self.verdict.findings(&self.facts) {
            lines.push(format!("{name:<13} {words}"));
        }
        if !self.facts.is_empty() {
            lines.push(String::new());
        }
        lines.extend(self.facts.iter().map(fact_line));
        lines.join("\n") + "\n"
    }

    /// Says where the texts diverge, or returns `None` if they do not.
    pub(super) fn difference(&self) -> Option<String> {
        let texts = self.verdict.texts.iter().zip(&self.then).zip(&self.now);
        let found =
            texts.filter_map(|((replay, then), now)| Some((replay.first_difference?, then, now)));
        let (first, then, now) = found.min_by_key(|(difference, ..)| difference.step)?;
        Some(difference_words(first, then, now))
    }

    /// Describes a text: "A Greedy, 24 tokens: identical", "Turn 1 of A Greedy, 24 tokens: identical".
    fn text_line(&self, text: usize) -> Option<String> {
        let (replay, then) = (self.verdict.texts.get(text)?, self.then.get(text)?);
        let place = self.verdict.place_of(text);
        let letter = capitalize(&place.short());
        let result = match (replay.first_difference, &self.verdict.contradiction) {
            (_, Some(found)) if found.place == place => "contradicts itself".to_owned(),
            (Some(difference), _) => difference_words(difference, then, self.now.get(text)?),
            (None, _) if replay.is_identical() => "identical".to_owned(),
            (None, _) => "same tokens".to_owned(),
        };
        let gap = match replay.largest_gap() {
            0.0 => String::new(),
            gap => {
                let numbers = match replay.unit.name() {
                    "logit" => "logits",
                    _ => "log-probabilities",
                };
                format!(", {numbers} differ by up to {}", logit_gap(gap))
            }
        };
        let (name, tokens) = (&then.name, counted(then.steps.len(), "token"));
        Some(format!("{letter} {name}, {tokens}: {result}{gap}"))
    }
}

/// Lists a fact then and now.
fn fact_line(fact: &Fact) -> String {
    let (name, then, now) = (fact.name, &fact.then, &fact.now);
    let values = match (fact.differs(), then.is_empty(), now.is_empty()) {
        (true, ..) => format!("{then} then, {now} now"),
        (false, true, _) => format!("not recorded then, {now} now"),
        (false, _, true) => format!("{then} then, unknown now"),
        (false, false, false) => format!("{now}, same"),
    };
    format!("{name:<13} {values}")
}

/// Formats a difference: "first different at token 41, ‘house’ then and ‘home’ now, whose logits
/// were 0.0004 apart".
fn difference_words(difference: Difference, then: &Generation, now: &Generation) -> String {
    let word = |text: &Generation, token: Option<TokenId>| {
        token.map_or("no token".to_owned(), |token| {
            quoted(&text.vocabulary.piece(token))
        })
    };
    let apart = difference.logit_gap.map_or(String::new(), |gap| {
        format!(", whose logits were {} apart", logit_gap(gap))
    });
    format!(
        "first different at token {}, {} then and {} now{apart}",
        difference.step + 1,
        word(then, difference.then),
        word(now, difference.now)
    )
}
