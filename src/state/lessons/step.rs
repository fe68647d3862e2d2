//! One step of a lesson: predict, do, see, why.

use super::judge::{Answer, seen};
use super::run::{Guess, LessonPhase};
use crate::lab::LabTab;
use crate::lessons::{Act, LessonStep, Prediction, Question, Scene};
use crate::state::{AppState, Effect, Notice};

/// The texts of a step, filled from the run. Those of later parts are empty until then.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepTexts {
    pub ask: String,
    /// What is predicted: the token of a probability and those next to it, or the options.
    pub labels: Vec<String>,
    /// The probabilities before, one for each label, if there are any.
    pub before: Vec<Option<f64>>,
    pub task: String,
    /// The answer; `None` before it is seen.
    pub answer: Option<Answer>,
    /// What the prediction was and what it cost.
    pub verdict: String,
    pub see: String,
    pub why: String,
    pub more: Option<String>,
}

impl AppState {
    /// Lets the lesson perform its next acts, and checks whether the task is done. Nothing happens
    /// while texts are being generated or times are measured.
    pub(in crate::state) fn follow_lesson(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        while !self.lesson_waits() {
            let Some(run) = self.lessons.run_mut() else {
                return effects;
            };
            let Some(act) = run.queue.front().cloned() else {
                break;
            };
            if !self.can_act(&act) {
                return effects;
            }
            if let Some(run) = self.lessons.run_mut() {
                run.queue.pop_front();
            }
            effects.extend(self.act(act));
        }
        if self.lesson_waits() {
            return effects;
        }
        match self.lessons.run().map(super::LessonRun::phase) {
            // The learner can generate as soon as there is a question.
            Some(LessonPhase::Preparing) if self.can_act(&Act::Generate) => {
                effects.extend(self.ask());
            }
            Some(LessonPhase::Predict) => self.mark_pinned(),
            Some(LessonPhase::Do) => self.see(),
            _ => {}
        }
        effects
    }

    /// Returns whether the engine is busy with the lesson.
    pub fn lesson_waits(&self) -> bool {
        self.is_running() || self.lab.is_running(LabTab::Cache)
    }

    /// Returns whether the task is done, so that the answer can be shown.
    pub fn lesson_is_done(&self) -> bool {
        let run = self.lessons.run();
        let run = run.filter(|run| run.phase() == LessonPhase::Do && !self.lesson_waits());
        run.and_then(|run| {
            let scene = self.lesson_scene();
            seen(run.step()?, &run.guess, &scene, run.lesson.bits)
        })
        .is_some()
    }

    /// Asks for the prediction of the step.
    fn ask(&mut self) -> Vec<Effect> {
        let scene = self.lesson_scene();
        let Some(step) = self.lessons.run().and_then(super::LessonRun::step) else {
            return Vec::new();
        };
        let texts = asked(step, &scene);
        let Some(texts) = texts else {
            if self.lessons.run().is_some_and(|run| run.again().is_some()) {
                return self.skip_again();
            }
            let error = "The model did not generate what the lesson’s texts refer to";
            let mut effects = self.leave_lesson();
            effects.extend(self.notify(Notice::error("The lesson can’t continue", error)));
            return effects;
        };
        if matches!(step.question, Question::Mark { .. }) {
            // From now on, the pinned token is the mark.
            self.pin = None;
        }
        if let Some(run) = self.lessons.run_mut() {
            run.texts = texts;
            run.guess = Guess::default();
            if let Some(Question::Match { panes, .. }) = run.step().map(|step| &step.question) {
                run.guess.matched = vec![None; panes.len()];
            }
            run.reads_on = false;
            run.phase = LessonPhase::Predict;
        }
        Vec::new()
    }

    /// Shows the answer if the task is done.
    fn see(&mut self) {
        let scene = self.lesson_scene();
        let Some(run) = self.lessons.run() else {
            return;
        };
        let in_bits = run.lesson.bits;
        let seen = run
            .step()
            .and_then(|step| seen(step, &run.guess, &scene, in_bits));
        let Some(seen) = seen else {
            return;
        };
        if let Some(run) = self.lessons.run_mut() {
            run.texts = StepTexts {
                ask: std::mem::take(&mut run.texts.ask),
                task: std::mem::take(&mut run.texts.task),
                labels: std::mem::take(&mut run.texts.labels),
                before: std::mem::take(&mut run.texts.before),
                ..seen.texts
            };
            let prediction = Prediction {
                asked: run.texts.ask.clone(),
                from: run.origin(),
                ..seen.prediction
            };
            run.predictions.push(prediction);
            run.phase = LessonPhase::See;
        }
    }

    /// Submits the prediction, or goes on to the next part.
    pub(super) fn go_on(&mut self) -> Vec<Effect> {
        let Some(run) = self.lessons.run_mut() else {
            return Vec::new();
        };
        match run.phase {
            LessonPhase::Predict if run.can_say() => run.phase = LessonPhase::Do,
            LessonPhase::See => run.phase = LessonPhase::Why,
            LessonPhase::Why => return self.end_step(),
            LessonPhase::Ending => return self.end_lesson(),
            LessonPhase::Preparing | LessonPhase::Predict | LessonPhase::Do => {}
        }
        Vec::new()
    }

    /// Goes on to the next step, to a question that comes back, or to the ending.
    fn end_step(&mut self) -> Vec<Effect> {
        let Some(run) = self.lessons.run_mut() else {
            return Vec::new();
        };
        run.texts = StepTexts::default();
        run.reads_on = false;
        if run.again.is_some() {
            run.phase = LessonPhase::Ending;
            return Vec::new();
        }
        run.step += 1;
        if let Some(step) = run.lesson.steps.get(run.step) {
            run.queue = step.prepare.iter().cloned().collect();
            run.phase = LessonPhase::Preparing;
            return Vec::new();
        }
        run.phase = LessonPhase::Ending;
        self.ask_again()
    }

    fn end_lesson(&mut self) -> Vec<Effect> {
        let effects = self.leave_lesson();
        self.page = crate::state::Page::Lessons;
        self.lessons.select_unfinished();
        effects
    }

    /// Does what the step asks for, on the learner's behalf.
    pub(super) fn solve_step(&mut self) -> Vec<Effect> {
        if let Some(run) = self.lessons.run_mut()
            && run.phase == LessonPhase::Do
            && run.queue.is_empty()
            && let Some(step) = run.step()
        {
            let solution = step.solution.clone();
            run.queue.extend(solution);
        }
        Vec::new()
    }
}

/// Returns the texts of a step before its task is done, or `None` if one can't be filled.
fn asked(step: &LessonStep, scene: &Scene<'_>) -> Option<StepTexts> {
    let (labels, before) = match &step.question {
        Question::Probability { asked, beside } => {
            let bars = std::iter::once(asked).chain(beside);
            let texts = bars.map(|bar| {
                let before = match &bar.before {
                    Some(path) => Some(path.value(scene, None)?.number()?),
                    None => None,
                };
                Some((bar.label.fill(scene)?, before))
            });
            texts.collect::<Option<Vec<_>>>()?.into_iter().unzip()
        }
        Question::Token { words, .. } => (words.clone(), Vec::new()),
        Question::Choice { options } | Question::Match { options, .. } => {
            let labels = options.iter().map(|option| option.text.fill(scene));
            (labels.collect::<Option<_>>()?, Vec::new())
        }
        Question::Order { items, .. } => {
            let labels = items.iter().map(|item| item.label.fill(scene));
            (labels.collect::<Option<_>>()?, Vec::new())
        }
        Question::Mark { .. } => (Vec::new(), Vec::new()),
    };
    Some(StepTexts {
        ask: step.ask.fill(scene)?,
        task: step.task.fill(scene)?,
        labels,
        before,
        ..StepTexts::default()
    })
}
