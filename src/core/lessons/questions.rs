//! Reads the question of a step.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use super::act::place;
use super::condition::Condition;
use super::file::{Reader, Text};
use super::lesson::{Bar, ChoiceOption, Direction, OrderItem, Question, Setup};
use super::path::Path;
use super::problem::LessonProblem;

/// The maximum number of items to put in order, to match or to choose from: each has a digit key.
const MAX_OPTIONS: usize = 8;

/// The maximum number of tokens to choose from in a mark.
const MAX_MARKED: usize = 1000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PredictTable {
    pub(super) ask: Text,
    #[serde(default)]
    pub(super) blind: bool,
    #[serde(default)]
    pub(super) curves: Vec<Text>,
    probability: Option<ProbabilityTable>,
    token: Option<TokenTable>,
    order: Option<OrderTable>,
    mark: Option<MarkTable>,
    #[serde(rename = "match")]
    matching: Option<MatchTable>,
    #[serde(default)]
    choice: Vec<OptionTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProbabilityTable {
    label: Text,
    answer: Text,
    before: Option<Text>,
    #[serde(default)]
    beside: Vec<BarTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BarTable {
    label: Text,
    answer: Text,
    before: Option<Text>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenTable {
    at: Text,
    words: Spanned<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OrderTable {
    first: Text,
    items: Spanned<Vec<ItemTable>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ItemTable {
    label: Text,
    value: Text,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MarkTable {
    pane: Text,
    tokens: Spanned<usize>,
    answer: Text,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MatchTable {
    panes: Spanned<Vec<Text>>,
    options: Spanned<Vec<OptionTable>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OptionTable {
    text: Text,
    when: Vec<Text>,
}

impl Reader<'_> {
    pub(super) fn question(
        &self,
        table: &Spanned<PredictTable>,
        allowed: &[String],
        setup: &Setup,
    ) -> Result<Question, LessonProblem> {
        let span = table.span();
        let table = table.get_ref();
        let PredictTable {
            probability,
            token,
            order,
            mark,
            matching,
            choice,
            ..
        } = table;
        match (probability, token, order, mark, matching, choice.as_slice()) {
            (Some(table), None, None, None, None, []) => self.probability_question(table, allowed),
            (None, Some(table), None, None, None, []) => self.token_question(table),
            (None, None, Some(table), None, None, []) => self.order_question(table, allowed),
            (None, None, None, Some(table), None, []) => self.mark_question(table, setup),
            (None, None, None, None, Some(table), []) => self.match_question(table, allowed, setup),
            (None, None, None, None, None, [_, _, ..]) => {
                self.check_count(&span, choice.len())?;
                Ok(Question::Choice {
                    options: self.options(choice, allowed)?,
                })
            }
            _ => Err(self.problem(
                &span,
                "a prediction has one of these: a probability, a token, an order, a mark, a match, \
                 or at least two choices",
            )),
        }
    }

    fn probability_question(
        &self,
        table: &ProbabilityTable,
        allowed: &[String],
    ) -> Result<Question, LessonProblem> {
        let ProbabilityTable {
            label,
            before,
            answer,
            beside,
        } = table;
        let beside = beside
            .iter()
            .map(|bar| self.bar(&bar.label, bar.before.as_ref(), &bar.answer, allowed));
        Ok(Question::Probability {
            asked: self.bar(label, before.as_ref(), answer, allowed)?,
            beside: beside.collect::<Result<_, _>>()?,
        })
    }

    fn bar(
        &self,
        label: &Text,
        before: Option<&Text>,
        answer: &Text,
        allowed: &[String],
    ) -> Result<Bar, LessonProblem> {
        let before = before.map(|path| self.read(path, Path::read));
        Ok(Bar {
            label: self.template(label, allowed)?,
            before: before.transpose()?,
            answer: self.read(answer, one_pane)?,
        })
    }

    fn token_question(&self, table: &TokenTable) -> Result<Question, LessonProblem> {
        let words = table.words.get_ref();
        if words.len() < 2 {
            return Err(self.problem(
                &table.words.span(),
                "a token question needs at least two words",
            ));
        }
        let path = |field: &str| self.read(&table.at, |at| Path::read(&format!("{at}.{field}")));
        Ok(Question::Token {
            words: words.clone(),
            probs: words
                .iter()
                .map(|word| path(&format!("of.{word}.prob")))
                .collect::<Result<_, _>>()?,
            top: path("top.1.prob")?,
        })
    }

    fn order_question(
        &self,
        table: &OrderTable,
        allowed: &[String],
    ) -> Result<Question, LessonProblem> {
        let direction = self.read(&table.first, |first| match first {
            "lowest" => Ok(Direction::LowestFirst),
            "highest" => Ok(Direction::HighestFirst),
            _ => Err(format!("{first:?} is unknown: use lowest or highest")),
        })?;
        let items = table.items.get_ref();
        self.check_count(&table.items.span(), items.len())?;
        let items = items.iter().map(|item| {
            Ok(OrderItem {
                label: self.template(&item.label, allowed)?,
                value: self.read(&item.value, one_pane)?,
            })
        });
        Ok(Question::Order {
            items: items.collect::<Result<_, _>>()?,
            direction,
        })
    }

    fn mark_question(&self, table: &MarkTable, setup: &Setup) -> Result<Question, LessonProblem> {
        let n_tokens = *table.tokens.get_ref();
        if !(2..=MAX_MARKED).contains(&n_tokens) {
            let message = format!("a mark must have 2 to {MAX_MARKED} tokens to choose from");
            return Err(self.problem(&table.tokens.span(), message));
        }
        Ok(Question::Mark {
            pane: self.read(&table.pane, |word| pane(word, setup))?,
            n_tokens,
            answer: self.read(&table.answer, one_pane)?,
        })
    }

    fn match_question(
        &self,
        table: &MatchTable,
        allowed: &[String],
        setup: &Setup,
    ) -> Result<Question, LessonProblem> {
        let panes = table.panes.get_ref();
        self.check_count(&table.panes.span(), panes.len())?;
        let options = table.options.get_ref();
        if options.len() != panes.len() {
            let message = "there must be as many options as panes";
            return Err(self.problem(&table.options.span(), message));
        }
        Ok(Question::Match {
            panes: self.read_all(panes, |word| pane(word, setup))?,
            options: self.options(options, allowed)?,
        })
    }

    fn options(
        &self,
        options: &[OptionTable],
        allowed: &[String],
    ) -> Result<Vec<ChoiceOption>, LessonProblem> {
        let options = options.iter().map(|option| {
            Ok(ChoiceOption {
                text: self.template(&option.text, allowed)?,
                when: self.read_all(&option.when, Condition::read)?,
            })
        });
        options.collect()
    }

    fn check_count(&self, span: &Range<usize>, n: usize) -> Result<(), LessonProblem> {
        let message = || format!("there must be 2 to {MAX_OPTIONS} to choose from");
        (2..=MAX_OPTIONS)
            .contains(&n)
            .then_some(())
            .ok_or_else(|| self.problem(span, message()))
    }
}

/// Reads the letter of a pane of the setup.
pub(super) fn pane(word: &str, setup: &Setup) -> Result<usize, String> {
    let place = place(word)?;
    let exists = place < setup.panes.len();
    exists
        .then_some(place)
        .ok_or_else(|| format!("there is no pane {word}"))
}

/// Reads a name that says which pane it means.
fn one_pane(name: &str) -> Result<Path, String> {
    let path = Path::read(name)?;
    if path.names_any() {
        return Err(format!("{name:?} does not say which pane it means"));
    }
    Ok(path)
}
