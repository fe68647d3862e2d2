//! The verdict of `quartet replay` as JSON. `assets/docs/VERIFY.md` describes its fields.

use serde::Serialize;

use super::replay_report::Report;
use crate::analysis::contradictions::{Contradiction, ContradictionKind, RunPlace, WrittenBy};
use crate::analysis::replay::{Comparison, Fact, TextReplay, Verdict, WordsCheck};
use crate::decoding::TokenId;
use crate::generation::Generation;
use crate::generation::formatting::pane_letter;

/// The result of a run that can’t be replayed.
pub(super) const NOT_REPLAYED: &str = "not_replayed";

/// Returns the verdict as JSON.
pub(super) fn verdict(report: &Report) -> Vec<u8> {
    let verdict = &report.verdict;
    let written = verdict.written();
    let findings = verdict
        .findings(&report.facts)
        .into_iter()
        .filter(|(name, _)| *name != "Not covered");
    let texts = 0..report.then.len();
    json_bytes(&VerdictRecord {
        verdict: verdict.to_string(),
        exit_status: verdict.exit_status(),
        result: result_name(verdict),
        n_tokens: written.n_tokens(),
        n_chosen: written.n_by_settings,
        n_given: GivenRecord::of(written),
        same: SameRecord::of(report),
        contradiction: verdict.contradiction.as_ref().map(ContradictionRecord::of),
        first_difference: first_difference(report),
        panes: texts.filter_map(|text| text_record(report, text)).collect(),
        not_covered: verdict.not_covered(),
        cause: report.cause(),
        findings: findings
            .map(|(name, words)| Finding { name, words })
            .collect(),
        facts: report.facts.iter().map(FactRecord::of).collect(),
    })
}

/// Returns what is printed as JSON if the run can't be replayed.
pub(super) fn failure(error: &str) -> Vec<u8> {
    json_bytes(&FailureRecord {
        verdict: "This run can’t be replayed.".to_owned(),
        exit_status: 2,
        result: NOT_REPLAYED,
        error,
    })
}

pub(super) fn json_bytes(record: &impl Serialize) -> Vec<u8> {
    // Serializing plain data to memory can't fail.
    let mut bytes = serde_json::to_vec_pretty(record).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

#[derive(Serialize)]
struct VerdictRecord<'a> {
    /// The sentence.
    verdict: String,
    exit_status: u8,
    result: &'static str,
    n_tokens: usize,
    n_chosen: usize,
    n_given: GivenRecord,
    same: SameRecord,
    contradiction: Option<ContradictionRecord<'a>>,
    first_difference: Option<DifferenceRecord>,
    panes: Vec<TextRecord<'a>>,
    not_covered: Vec<&'static str>,
    cause: Option<String>,
    findings: Vec<Finding>,
    facts: Vec<FactRecord<'a>>,
}

/// How many tokens the settings did not choose.
#[derive(Serialize)]
struct GivenRecord {
    by_hand: usize,
    scored: usize,
    by_server: usize,
}

/// Whether the files that wrote the run are those that repeated it. None if that is not known.
#[derive(Serialize)]
struct SameRecord {
    model: Option<bool>,
    second_model: Option<bool>,
    tokenizer: Option<bool>,
    template: Option<bool>,
}

#[derive(Serialize)]
struct ContradictionRecord<'a> {
    pane: Option<String>,
    /// The number of a text that no pane showed, from 1.
    branch: Option<usize>,
    /// From 1; none if it is about the last text of a pane or branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<usize>,
    /// From 1; none if it is about the whole text.
    token: Option<usize>,
    about: &'static str,
    statement: &'a str,
}

#[derive(Serialize)]
pub(super) struct DifferenceRecord {
    #[serde(flatten)]
    place: PlaceRecord,
    /// From 1.
    pub token: usize,
    pub then: Option<String>,
    pub now: Option<String>,
    pub logit_gap: Option<f32>,
}

/// Where a text is.
#[derive(Serialize)]
struct PlaceRecord {
    /// None if no pane shows its conversation.
    pane: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<usize>,
    /// Its number in its conversation, from 1; none if it is the only turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<usize>,
}

/// What was compared of a text. None if it was not generated again.
#[derive(Serialize)]
struct TextRecord<'a> {
    #[serde(flatten)]
    place: PlaceRecord,
    name: &'a str,
    n_tokens: usize,
    n_chosen: usize,
    n_given: GivenRecord,
    words: Option<&'static str>,
    same_tokens: Option<bool>,
    identical: Option<bool>,
    computed_alike: Option<bool>,
    /// The numbers, from 1, of the tokens at which something differs.
    different_tokens: Option<Vec<usize>>,
    largest_difference: Option<f32>,
    difference_of: Option<&'static str>,
    /// At how many tokens all logits were compared, by their hashes.
    n_whole_rows: Option<usize>,
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

impl GivenRecord {
    const fn of(written: WrittenBy) -> Self {
        Self {
            by_hand: written.n_by_hand,
            scored: written.n_scored,
            by_server: written.n_by_server,
        }
    }
}

impl SameRecord {
    fn of(report: &Report) -> Self {
        let verdict = &report.verdict;
        let has_second = report.then.iter().any(|text| text.second_model.is_some());
        let mut models = report.then.iter().map(|text| &text.model);
        let knows_hashes = models.all(|model| !model.provenance.is_unknown());
        Self {
            model: verdict.is_same("model"),
            second_model: verdict.is_same("second model").filter(|_| has_second),
            tokenizer: verdict.is_same("tokenizer").filter(|_| knows_hashes),
            template: verdict.is_same("template").filter(|_| knows_hashes),
        }
    }
}

impl<'a> ContradictionRecord<'a> {
    fn of(found: &'a Contradiction) -> Self {
        let PlaceRecord { pane, branch, turn } = PlaceRecord::of(found.place);
        Self {
            pane,
            branch,
            turn,
            token: found.step.map(|step| step + 1),
            about: kind_name(found.kind),
            statement: &found.words,
        }
    }
}

impl DifferenceRecord {
    /// Returns the letter of its pane, if it is in one.
    pub(super) fn pane(&self) -> Option<&str> {
        self.place.pane.as_deref()
    }
}

impl PlaceRecord {
    fn of(place: RunPlace) -> Self {
        let (pane, branch, turn) = match place {
            RunPlace::File => (None, None, None),
            RunPlace::Turn { pane, turn } => (Some(pane), None, Some(turn)),
            RunPlace::TurnOfBranch { branch, turn } => (None, Some(branch), Some(turn)),
            RunPlace::Pane(pane) => (Some(pane), None, None),
            RunPlace::Branch(branch) => (None, Some(branch), None),
        };
        Self {
            pane: pane.map(pane_letter),
            branch: branch.map(|branch| branch + 1),
            turn: turn.map(|turn| turn + 1),
        }
    }

    /// Returns the place of the text at this index in a report. The last text of a conversation has
    /// its number, too.
    fn of_text(report: &Report, index: usize) -> Self {
        let text = report.then.get(index);
        let n_turns = text.map_or(1, Generation::n_turns);
        let place = Self::of(report.verdict.place_of(index));
        Self {
            turn: place.turn.or((n_turns > 1).then_some(n_turns)),
            ..place
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

fn text_record(report: &Report, index: usize) -> Option<TextRecord<'_>> {
    let verdict = &report.verdict;
    let (then, written) = (report.then.get(index)?, *verdict.written.get(index)?);
    let replay = verdict.texts.get(index);
    let numbers = |replay: &TextReplay| replay.different.iter().map(|step| step + 1).collect();
    Some(TextRecord {
        place: PlaceRecord::of_text(report, index),
        name: &then.name,
        n_tokens: written.n_tokens(),
        n_chosen: written.n_by_settings,
        n_given: GivenRecord::of(written),
        words: verdict.words.get(index).map(words_name),
        same_tokens: replay.map(|replay| replay.first_difference.is_none()),
        identical: replay.map(TextReplay::is_identical),
        computed_alike: replay.map(|replay| replay.is_alike),
        different_tokens: replay.map(numbers),
        largest_difference: replay.map(TextReplay::largest_gap),
        difference_of: replay.map(|replay| replay.unit.name()),
        n_whole_rows: replay.map(|replay| replay.n_hashed),
    })
}

/// Describes the first difference of the first text that diverges.
pub(super) fn first_difference(report: &Report) -> Option<DifferenceRecord> {
    let Some(Comparison::Different { places, .. }) = &report.verdict.comparison else {
        return None;
    };
    let first = *places.first()?;
    let index = report
        .verdict
        .all_places()
        .position(|place| place == first)?;
    let difference = report.verdict.texts.get(index)?.first_difference?;
    let piece = |text: &Generation, token: Option<TokenId>| {
        token.map(|token| text.vocabulary.piece(token).to_string())
    };
    Some(DifferenceRecord {
        place: PlaceRecord::of_text(report, index),
        token: difference.step + 1,
        then: piece(report.then.get(index)?, difference.then),
        now: piece(report.now.get(index)?, difference.now),
        logit_gap: difference.logit_gap,
    })
}

pub(super) const fn result_name(verdict: &Verdict) -> &'static str {
    match &verdict.comparison {
        _ if verdict.contradiction.is_some() => "contradiction",
        None => NOT_REPLAYED,
        Some(Comparison::Identical) => "identical",
        Some(Comparison::SameTokens { .. }) => "same_tokens",
        Some(Comparison::Different { .. }) => "different",
    }
}

const fn kind_name(kind: ContradictionKind) -> &'static str {
    match kind {
        ContradictionKind::Prompt => "words",
        ContradictionKind::Choice => "choice",
        ContradictionKind::Settings => "settings",
        ContradictionKind::Model => "model",
        ContradictionKind::Figures => "figures",
        ContradictionKind::Ending => "ending",
        ContradictionKind::Lineage => "lineage",
        ContradictionKind::Repeated => "repetition",
    }
}

const fn words_name(words: &WordsCheck) -> &'static str {
    match words {
        WordsCheck::Equal => "equal",
        WordsCheck::Dated => "equal_but_date",
        WordsCheck::Contradicted(_) => "different",
        WordsCheck::ListedContradicted(_) => "different_alternatives",
        WordsCheck::NotCompared(_) => "not_compared",
    }
}
