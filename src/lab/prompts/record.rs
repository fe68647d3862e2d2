//! Tasks and their answers as JSON, and as a CSV table: one row per answer.

use serde_json::{Value, json};

use super::figures::checks::{Check, Verdict};
use super::figures::statistics::{Interval, ShareEstimate};
use super::figures::tasks::{TaskMessage, TaskPrompt};
use super::figures::{
    DrawnSettings, JudgedAnswer, JudgedPane, SweepReading, TaskResults, TaskSweep, TasksReading,
};
use super::plan::task_seed;
use crate::export::csv::{as_text, push_row};
use crate::generation::{Limits, ModelInfo, PaneSettings};

/// The version of the JSON.
const FORMAT_VERSION: u32 = 1;

/// The columns of the table.
const COLUMNS: [&str; 17] = [
    "task",
    "line",
    "prompt",
    "expected",
    "pane",
    "name",
    "settings",
    "seed",
    "right",
    "why_wrong",
    "n_tokens",
    "n_thought_tokens",
    "finish",
    "surprise_bits",
    "exact_at_least",
    "exact_at_most",
    "answer",
];

/// Tasks and their answers, with the model that wrote them.
#[derive(Debug, Clone, Copy)]
pub struct TasksRecord<'a> {
    pub results: &'a TaskResults,
    pub reading: &'a TasksReading,
    /// The main model, or the first other one if that answers nothing. `None` if none is known.
    pub model: Option<&'a ModelInfo>,
    pub limits: &'a Limits,
    /// What was varied, and what that shows.
    pub sweep: Option<(&'a TaskSweep, &'a SweepReading)>,
}

impl TasksRecord<'_> {
    /// Renders everything.
    pub fn json(&self) -> Vec<u8> {
        let results = self.results;
        let curve = self.sweep.filter(|(sweep, _)| sweep.columns.is_none());
        let panes = results.panes.iter().enumerate();
        let settings = panes.map(|(index, pane)| self.settings_json(index, pane));
        let pairs = self.reading.pairs.iter().map(|pair| {
            json!({
                "first": letter(results, pair.first),
                "second": letter(results, pair.second),
                "difference": pair.paired.difference,
                "interval": ends(pair.paired.interval),
                "p_value": pair.paired.p_value,
                "n_wins": pair.paired.n_wins,
                "n_losses": pair.paired.n_losses,
                "n_ties": pair.paired.n_ties,
            })
        });
        let tasks = (0..results.tasks().len()).map(|task| self.task_json(task));
        let document = json!({
            "format": "quartet prompts",
            "format_version": FORMAT_VERSION,
            "model": self.model,
            "seed": results.seed,
            "n_answers": results.n_answers,
            "limits": self.limits,
            "settings": settings.collect::<Vec<_>>(),
            "pairs": pairs.collect::<Vec<_>>(),
            "sentences": self.sentences(),
            "curve": curve.map(|(sweep, _)| self.curve_json(sweep)),
            "sweep": self.sweep.map(|(sweep, reading)| sweep_json(sweep, reading)),
            "tasks": tasks.collect::<Vec<_>>(),
        });
        let mut bytes = serde_json::to_vec_pretty(&document).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Returns the models that answer, each once.
    pub fn models(&self) -> Vec<&ModelInfo> {
        let own = self.results.panes.iter();
        let own = own.filter_map(|pane| pane.model.as_deref());
        let mut models: Vec<&ModelInfo> = Vec::new();
        for model in self.model.into_iter().chain(own) {
            if !models.contains(&model) {
                models.push(model);
            }
        }
        models
    }

    /// Says what the answers show.
    pub fn sentences(&self) -> Vec<String> {
        let swept = self.sweep.map(|(_, reading)| reading.verdict.clone());
        let verdicts = [self.reading.verdict.clone(), swept.flatten()];
        let sentences = verdicts
            .into_iter()
            .flatten()
            .flat_map(|verdict| std::iter::once(verdict.sentence).chain(verdict.limits));
        let variety = self
            .sweep
            .and_then(|(sweep, reading)| reading.variety(sweep));
        sentences.chain(variety).collect()
    }

    fn curve_json(&self, curve: &TaskSweep) -> Value {
        let tasks = curve.exact_tasks(self.results);
        let points = curve.points(self.results, &tasks).into_iter().map(|point| {
            json!({
                "value": point.value,
                "at_least": point.share.at_least,
                "at_most": point.share.at_most,
            })
        });
        json!({
            "setting": curve.axis.parameter.key(),
            "n_tasks": tasks.len(),
            "share_right": points.collect::<Vec<_>>(),
        })
    }

    fn settings_json(&self, index: usize, pane: &JudgedPane) -> Value {
        let share = self.reading.shares.get(index).and_then(Option::as_ref);
        json!({
            "pane": pane.letter,
            "name": pane.name,
            "settings": words(pane),
            "model": pane.model,
            "not_applied": pane.not_applied,
            "share_right": share.map(|share| share.share),
            "interval": share.and_then(|share| share.interval).map(ends),
            "n_tokens": self.reading.overview.get(index).map(|row| row.n_tokens),
            "n_different": self.reading.overview.get(index).map(|row| row.n_different),
            "secs": self.reading.overview.get(index).map(|row| row.secs),
            "cut_off": self.reading.overview.get(index).map(|row| row.cut),
            "self_consistency": self.results.self_consistency(index),
            "pass_at": self.results.pass_at(index),
        })
    }

    fn task_json(&self, task: usize) -> Value {
        let results = self.results;
        let Some(own) = results.tasks().get(task) else {
            return Value::Null;
        };
        let expected: Vec<String> = own.checks.iter().map(Check::spec).collect();
        let n_settings = results.settings().count();
        let is_known = (0..n_settings).any(|index| results.exact(task, index).is_some());
        let shares = is_known.then(|| {
            let shares = (0..n_settings).map(|index| {
                let share = results.exact_share(task, index);
                share.map(|share| {
                    json!({
                        "at_least": share.at_least,
                        "at_most": share.at_most,
                        "is_exact": share.is_exact(),
                    })
                })
            });
            shares.collect::<Vec<_>>()
        });
        let answers = (0..n_settings).map(|pane| {
            let answers = results.answers(task, pane).iter().map(answer_json);
            answers.collect::<Vec<_>>()
        });
        let missing = results.unanswered(task).iter().map(|(settings, error)| {
            let pane = results.settings_at(*settings);
            json!({
                "pane": pane.map(|pane| &pane.letter),
                "error": error,
            })
        });
        json!({
            "line": own.line,
            "prompt": prompt_json(&own.prompt),
            "expected": expected,
            "is_judged": own.is_judged,
            "seed": task_seed(results.seed, task),
            "error": results.error(task),
            "unanswered": missing.collect::<Vec<_>>(),
            "exact": shares,
            "answers": answers.collect::<Vec<_>>(),
        })
    }

    /// Renders one row per answer.
    pub fn csv(&self) -> Vec<u8> {
        let mut table = String::new();
        push_row(&mut table, COLUMNS.map(str::to_owned));
        for (task, own) in self.results.tasks().iter().enumerate() {
            for (index, pane) in self.results.settings().enumerate() {
                let exact = self.results.exact_share(task, index);
                for answer in self.results.answers(task, index) {
                    let number = |value: Option<f64>| value.map(|value| value.to_string());
                    let is_right = own.is_judged.then(|| answer.is_right().to_string());
                    let fields = [
                        (task + 1).to_string(),
                        own.line.to_string(),
                        as_text(&self.results.prompt_words(task)),
                        as_text(&self.results.expected_words(task)),
                        pane.letter.clone(),
                        as_text(&pane.name),
                        as_text(&words(pane)),
                        answer.seed.to_string(),
                        is_right.unwrap_or_default(),
                        as_text(why(answer).unwrap_or_default()),
                        answer.tokens.len().to_string(),
                        answer.answer.n_thought.to_string(),
                        as_text(&answer.finish_words(&pane.chain)),
                        number(answer.surprise_bits).unwrap_or_default(),
                        number(exact.map(|share| share.at_least)).unwrap_or_default(),
                        number(exact.map(|share| share.at_most)).unwrap_or_default(),
                        as_text(&answer.answer.text),
                    ];
                    push_row(&mut table, fields);
                }
            }
        }
        table.into_bytes()
    }
}

/// Renders what was found in each cell.
fn sweep_json(sweep: &TaskSweep, reading: &SweepReading) -> Value {
    let axes = std::iter::once(&sweep.axis).chain(&sweep.columns);
    let settings = axes.map(|axis| axis.parameter.key());
    let cells = (0..sweep.n_cells()).map(|cell| {
        let values = sweep.values_of(cell).map(|(_, value)| value);
        let exact = reading.points.get(cell).map(|point| {
            json!({
                "at_least": point.share.at_least,
                "at_most": point.share.at_most,
            })
        });
        json!({
            "values": values.collect::<Vec<_>>(),
            "share_right": reading.shares.get(cell).map(estimate_json),
            "exact": exact,
            "drawn": reading.drawn_cells().nth(cell).map(drawn_json),
        })
    });
    json!({
        "settings": settings.collect::<Vec<_>>(),
        "n_exact_tasks": reading.n_tasks,
        "n_drawn_tasks": reading.n_drawn_tasks(),
        "cells": cells.collect::<Vec<_>>(),
    })
}

fn estimate_json(estimate: &ShareEstimate) -> Value {
    json!({
        "n_tasks": estimate.n_prompts,
        "share": estimate.share,
        "interval": estimate.interval.map(ends),
    })
}

fn drawn_json(drawn: &DrawnSettings) -> Value {
    json!({
        "share_right": drawn.share.as_ref().map(estimate_json),
        "n_tokens": drawn.overview.n_tokens,
        "n_thought_tokens": drawn.overview.n_thought,
        "n_different": drawn.overview.n_different,
        "secs": drawn.overview.secs,
        "cut_off": drawn.overview.cut,
    })
}

fn answer_json(answer: &JudgedAnswer) -> Value {
    json!({
        "seed": answer.seed,
        "text": answer.answer.text,
        "is_complete": answer.answer.is_complete,
        "is_right": answer.is_right(),
        "why_wrong": why(answer),
        "finish": answer.finish,
        "n_tokens": answer.tokens.len(),
        "n_thought_tokens": answer.answer.n_thought,
        "surprise_bits": answer.surprise_bits,
    })
}

/// Returns a text, or messages in the form of `OpenAI`.
fn prompt_json(prompt: &TaskPrompt) -> Value {
    match prompt {
        TaskPrompt::Text { text, .. } => json!(text),
        TaskPrompt::Messages { messages, .. } => messages.iter().map(message_json).collect(),
    }
}

fn message_json(message: &TaskMessage) -> Value {
    let mut json = json!({"role": message.role.name(), "content": message.content});
    if let Some(fields) = json.as_object_mut() {
        let calls = Some(&message.tool_calls).filter(|calls| !calls.is_empty());
        fields.extend(calls.map(|calls| ("tool_calls".to_owned(), json!(calls))));
        let id = message.call.tool_call_id.as_ref();
        fields.extend(id.map(|id| ("tool_call_id".to_owned(), json!(id))));
    }
    json
}

fn why(answer: &JudgedAnswer) -> Option<&str> {
    match &answer.verdict {
        Verdict::Right => None,
        Verdict::Wrong { why } => Some(why),
    }
}

fn ends(interval: Interval) -> [f64; 2] {
    [interval.low, interval.high]
}

fn letter(results: &TaskResults, pane: usize) -> &str {
    results.panes.get(pane).map_or("", |pane| &pane.letter)
}

fn words(pane: &JudgedPane) -> String {
    PaneSettings::from(pane.chain.clone()).to_string()
}
