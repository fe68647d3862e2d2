//! What `quartet replay` prints: the verdict in words, or as JSON.

use serde::Serialize;

use super::console;
use crate::analysis::contradictions::{Contradiction, RunPlace};
use crate::analysis::replay::{
    Comparison, Difference, Fact, Models, Replayed, TextReplay, Verdict, WordsCheck, facts_of_all,
    likely_cause, logit_gap,
};
use crate::decoding::TokenId;
use crate::generation::Generation;
use crate::generation::formatting::{counted, pane_letter, quoted};

/// The result of a replay.
pub(super) struct Report {
    pub then: Vec<Generation>,
    /// Empty if the texts were not generated again.
    pub now: Vec<Generation>,
    pub verdict: Verdict,
    facts: Vec<Fact>,
}

/// A run and its replay.
pub(super) struct RepeatedRun {
    pub then: Vec<Generation>,
    pub now: Vec<Generation>,
    /// What the models make of the words, one per text.
    pub words: Vec<WordsCheck>,
    /// Whether the user asked for another model than that of the file.
    pub allows_others: bool,
    /// Whether the file also has texts that no pane showed.
    pub has_branches: bool,
}

impl Report {
    /// Reports a file that contradicts itself, whatever its model says.
    pub(super) fn contradicted(then: Vec<Generation>, found: Contradiction) -> Self {
        let verdict = Verdict::contradicted(&then.iter().collect::<Vec<_>>(), found);
        Self {
            then,
            now: Vec::new(),
            verdict,
            facts: Vec::new(),
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
            words: &run.words,
            allows_others: run.allows_others,
            has_branches: run.has_branches,
        });
        Self {
            then,
            now,
            verdict,
            facts,
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
            json_bytes(&self.record())
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
            let panes = 0..self.verdict.texts.len();
            lines.extend(panes.filter_map(|pane| self.pane_line(pane)));
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

    /// Describes a text: "A Greedy, 24 tokens: identical".
    fn pane_line(&self, pane: usize) -> Option<String> {
        let (replay, then) = (self.verdict.texts.get(pane)?, self.then.get(pane)?);
        let letter = pane_letter(pane);
        let result = match (replay.first_difference, &self.verdict.contradiction) {
            (_, Some(found)) if found.place == RunPlace::Pane(pane) => {
                "contradicts itself".to_owned()
            }
            (Some(difference), _) => difference_words(difference, then, self.now.get(pane)?),
            (None, _) if replay.is_identical => "identical".to_owned(),
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

    fn record(&self) -> Record<'_> {
        let verdict = &self.verdict;
        let first = verdict
            .comparison
            .as_ref()
            .and_then(|comparison| match comparison {
                Comparison::Different { panes, .. } => {
                    let pane = *panes.first()?;
                    self.first_difference(pane)
                }
                Comparison::Identical | Comparison::SameTokens { .. } => None,
            });
        let findings = verdict.findings(&self.facts).into_iter();
        let findings = findings.filter(|(name, _)| *name != "Not covered");
        Record {
            verdict: verdict.to_string(),
            exit_status: verdict.exit_status(),
            result: result_name(verdict),
            panes: (0..self.then.len())
                .filter_map(|pane| self.pane_record(pane))
                .collect(),
            first_difference: first,
            contradiction: verdict.contradiction.as_ref().map(ContradictionRecord::of),
            not_of_the_file: &verdict.others,
            cause: self.cause(),
            findings: findings
                .map(|(name, words)| Finding { name, words })
                .collect(),
            facts: self.facts.iter().map(FactRecord::of).collect(),
            not_covered: verdict.not_covered(),
        }
    }

    fn pane_record(&self, pane: usize) -> Option<PaneRecord<'_>> {
        let (then, written) = (self.then.get(pane)?, self.verdict.written.get(pane)?);
        let replay = self.verdict.texts.get(pane);
        Some(PaneRecord {
            pane: pane_letter(pane),
            name: &then.name,
            n_tokens: written.n_tokens(),
            n_by_settings: written.n_by_settings,
            n_by_hand: written.n_by_hand,
            n_scored: written.n_scored,
            n_by_server: written.n_by_server,
            same_tokens: replay.map(|replay| replay.first_difference.is_none()),
            identical: replay.map(|replay| replay.is_identical),
            largest_difference: replay.map(TextReplay::largest_gap),
            difference_of: replay.map(|replay| replay.unit.name()),
            n_whole_rows: replay.map(|replay| replay.n_hashed),
        })
    }

    fn first_difference(&self, pane: usize) -> Option<DifferenceRecord> {
        let difference = self.verdict.texts.get(pane)?.first_difference?;
        let piece = |text: &Generation, token: Option<TokenId>| {
            token.map(|token| text.vocabulary.piece(token).to_string())
        };
        Some(DifferenceRecord {
            pane: pane_letter(pane),
            token: difference.step + 1,
            then: piece(self.then.get(pane)?, difference.then),
            now: piece(self.now.get(pane)?, difference.now),
            logit_gap: difference.logit_gap,
        })
    }
}

/// The verdict as JSON.
#[derive(Serialize)]
struct Record<'a> {
    /// The sentence.
    verdict: String,
    exit_status: u8,
    /// `identical`, `same_tokens`, `different` or `contradiction`.
    result: &'static str,
    panes: Vec<PaneRecord<'a>>,
    first_difference: Option<DifferenceRecord>,
    contradiction: Option<ContradictionRecord<'a>>,
    /// "model", "second model", "tokenizer", "template".
    not_of_the_file: &'a [&'static str],
    cause: Option<String>,
    findings: Vec<Finding>,
    facts: Vec<FactRecord<'a>>,
    not_covered: Vec<&'static str>,
}

#[derive(Serialize)]
struct PaneRecord<'a> {
    pane: String,
    name: &'a str,
    n_tokens: usize,
    n_by_settings: usize,
    n_by_hand: usize,
    n_scored: usize,
    n_by_server: usize,
    same_tokens: Option<bool>,
    identical: Option<bool>,
    largest_difference: Option<f32>,
    /// "logit" or "log-probability".
    difference_of: Option<&'static str>,
    /// At how many tokens all logits were compared, by their hashes.
    n_whole_rows: Option<usize>,
}

#[derive(Serialize)]
struct DifferenceRecord {
    pane: String,
    /// From 1.
    token: usize,
    then: Option<String>,
    now: Option<String>,
    logit_gap: Option<f32>,
}

#[derive(Serialize)]
struct ContradictionRecord<'a> {
    pane: Option<String>,
    /// The number of a text that no pane showed, from 1.
    branch: Option<usize>,
    /// From 1; none if it is about the whole text.
    token: Option<usize>,
    words: &'a str,
}

#[derive(Serialize)]
struct Finding {
    name: &'static str,
    words: String,
}

#[derive(Serialize)]
struct FactRecord<'a> {
    name: &'static str,
    then: &'a str,
    now: &'a str,
    differs: bool,
}

#[derive(Serialize)]
struct FailureRecord<'a> {
    verdict: String,
    exit_status: u8,
    result: &'static str,
    error: &'a str,
}

impl<'a> ContradictionRecord<'a> {
    fn of(found: &'a Contradiction) -> Self {
        let (pane, branch) = match found.place {
            RunPlace::File => (None, None),
            RunPlace::Pane(pane) => (Some(pane_letter(pane)), None),
            RunPlace::Branch(branch) => (None, Some(branch + 1)),
        };
        Self {
            pane,
            branch,
            token: found.step.map(|step| step + 1),
            words: &found.words,
        }
    }
}

impl<'a> FactRecord<'a> {
    fn of(fact: &'a Fact) -> Self {
        Self {
            name: fact.name,
            then: &fact.then,
            now: &fact.now,
            differs: fact.differs(),
        }
    }
}

/// Returns what is printed as JSON if the run can't be replayed.
pub(super) fn failure_json(error: &str) -> Vec<u8> {
    json_bytes(&FailureRecord {
        verdict: "This run can’t be replayed.".to_owned(),
        exit_status: 2,
        result: "not_replayed",
        error,
    })
}

fn json_bytes(record: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(record).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

fn result_name(verdict: &Verdict) -> &'static str {
    match &verdict.comparison {
        _ if verdict.contradiction.is_some() => "contradiction",
        None => "not_replayed",
        Some(Comparison::Identical) => "identical",
        Some(Comparison::SameTokens { .. }) => "same_tokens",
        Some(Comparison::Different { .. }) => "different",
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
