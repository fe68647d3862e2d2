//! Adds answers as they arrive, and judges them.

use super::{JudgedAnswer, TaskResults};
use crate::generation::{FinishReason, ServedText, SweepText, Vocabulary};
use crate::lab::prompts::figures::answer::AnswerText;
use crate::lab::prompts::figures::checks::{Answer, judge_all};
use crate::lab::prompts::{TaskNews, TaskUpdate, task_seed};

impl TaskResults {
    /// Adds what the engine reports.
    pub fn add(&mut self, update: TaskUpdate) {
        let TaskUpdate { task, part, news } = update;
        let Some(found) = self.found.get_mut(task) else {
            return;
        };
        match news {
            TaskNews::Read(prompt) => {
                if let Some(part) = found.parts.get_mut(part) {
                    part.prompt = Some(prompt);
                }
            }
            TaskNews::Exact(exact) => {
                if let Some(part) = found.parts.get_mut(part) {
                    part.exact = Some(exact);
                }
            }
            TaskNews::Answered(texts) => {
                for text in texts {
                    match text.finish {
                        FinishReason::Failed { error } => self.note_missing(task, text.cell, error),
                        _ => self.judge(task, text),
                    }
                }
            }
            TaskNews::Served(answer) => match answer.finish {
                FinishReason::Failed { error } => self.note_missing(task, answer.settings, error),
                _ => self.judge_served(task, answer),
            },
            TaskNews::Refused { error } if self.hosts.len() > 1 => {
                self.note_part_missing(task, part, &error);
                self.end_part(task);
            }
            TaskNews::Refused { error } => {
                found.error = Some(error);
                self.counts.refused += 1;
                self.end(task);
            }
            TaskNews::Timed {
                settings,
                secs_per_token,
            } => {
                for index in settings {
                    self.note_secs(task, index, secs_per_token);
                }
            }
            TaskNews::Done { .. } => self.end_part(task),
        }
    }

    /// Notes that a part of the run can't answer a task.
    fn note_part_missing(&mut self, task: usize, part: usize, error: &str) {
        let n_settings = self.settings().count();
        let of_part = (0..n_settings).filter(|settings| self.host_index(*settings) == Some(part));
        for settings in of_part.collect::<Vec<_>>() {
            self.note_missing(task, settings, error.to_owned());
        }
    }

    /// Notes that a part of the run has done a task.
    fn end_part(&mut self, task: usize) {
        if let Some(found) = self.found.get_mut(task) {
            found.n_parts_done += 1;
            if found.n_parts_done >= self.hosts.len() {
                self.end(task);
            }
        }
    }

    /// Notes that an answer has failed. The first reason is kept.
    fn note_missing(&mut self, task: usize, settings: usize, error: String) {
        let Some(found) = self.found.get_mut(task) else {
            return;
        };
        let mut known = found.unanswered.iter();
        if known.all(|(other, _)| *other != settings) {
            found.unanswered.push((settings, error));
        }
    }

    /// Returns how many answers to a task an error has prevented.
    pub(super) fn n_missing(&self, task: usize) -> usize {
        let unanswered = self.unanswered(task).iter();
        let missing = unanswered.filter_map(|(settings, _)| {
            let all = self.n_answers_of(self.settings_at(*settings)?);
            Some(all.saturating_sub(self.answers(task, *settings).len()))
        });
        missing.sum()
    }

    /// Marks a task as done.
    fn end(&mut self, task: usize) {
        let (Some(own), Some(found)) = (self.tasks.get(task), self.found.get_mut(task)) else {
            return;
        };
        if !found.is_done {
            found.is_done = true;
            self.counts.done += 1;
            self.counts.comparable += usize::from(own.is_judged && found.error.is_none());
            self.counts.missing += self.n_missing(task);
        }
    }

    /// Judges an answer of the model.
    fn judge(&mut self, index: usize, text: SweepText) {
        let prompt = self.prompt(index, text.cell);
        let rendered = prompt.map_or("", |prompt| &prompt.rendered);
        let answer = AnswerText::of(&text, rendered, self.vocabulary_of(text.cell));
        self.add_answer(index, text, answer);
    }

    /// Judges an answer of a server, and notes how long its tokens took.
    fn judge_served(&mut self, index: usize, served: ServedText) {
        let n_tokens = served.pieces.len();
        let own = Vocabulary::new(served.pieces.clone());
        let mut text = SweepText {
            prompt: 0,
            cell: served.settings,
            seed: served.seed,
            tokens: own.iter().map(|(token, _)| token).collect(),
            measures: served.measures,
            finish: served.finish,
            grammar_complete: None,
        };
        let answer = AnswerText::of_served(&text, &served.rendered, &own);
        let pieces = served.pieces.into_iter();
        text.tokens = pieces.map(|piece| self.served.id_of(piece)).collect();
        self.add_answer(index, text, answer);
        let n_before = self
            .n_tokens(index, served.settings)
            .saturating_sub(n_tokens);
        let secs_before = self.secs_per_token(index, served.settings) * n_before as f64;
        let secs = (secs_before + served.secs) / (n_before + n_tokens).max(1) as f64;
        self.note_secs(index, served.settings, secs);
    }

    /// Notes how long a token of the answers to a task took.
    fn note_secs(&mut self, task: usize, settings: usize, secs: f64) {
        if let Some(found) = self.found.get_mut(task) {
            found.secs_per_token.resize(found.answers.len(), 0.0);
            if let Some(known) = found.secs_per_token.get_mut(settings) {
                *known = secs;
            }
        }
    }

    fn n_tokens(&self, task: usize, settings: usize) -> usize {
        let answers = self.answers(task, settings).iter();
        answers.map(|answer| answer.tokens.len()).sum()
    }

    /// Judges what was found in a text, and adds it.
    fn add_answer(&mut self, index: usize, text: SweepText, answer: AnswerText) {
        let (Some(task), Some(found)) = (self.tasks.get(index), self.found.get_mut(index)) else {
            return;
        };
        let verdict = judge_all(
            &task.checks,
            Answer {
                text: &answer.text,
                is_complete: answer.is_complete,
            },
        );
        let n = text.measures.len();
        let bits = text
            .measures
            .iter()
            .map(|token| f64::from(token.surprise_bits));
        let bits: f64 = bits.sum();
        if let Some(answers) = found.answers.get_mut(text.cell) {
            self.counts.answers += 1;
            answers.push(JudgedAnswer {
                seed: task_seed(self.seed, index).wrapping_add(text.seed as u64),
                tokens: text.tokens,
                answer,
                verdict,
                finish: text.finish,
                grammar_complete: text.grammar_complete,
                // A sum of zeros must not be shown as −0.
                surprise_bits: (n > 0).then(|| bits / n as f64 + 0.0),
            });
            // Texts end in the order of their lengths.
            answers.sort_by_key(|answer| answer.seed);
        }
    }
}
