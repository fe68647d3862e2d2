//! One step of a lesson: predict, do, see, why.

use super::run::{Guess, LessonPhase};
use crate::generation::formatting::percent;
use crate::lessons::{Act, LessonStep, Prediction, Question, Scene, Score, Template, all_hold};
use crate::state::{AppState, Effect, Notice};

/// The texts of a step, filled from the run. Those of later parts are empty before them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepTexts {
    pub ask: String,
    /// What is predicted: the token of a probability and those beside it, or the options.
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

/// The answer to a question, as the run gave it.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The probability that was asked for, and those beside it.
    Probability(Vec<f64>),
    /// The probability of each word.
    Token { probs: Vec<f64>, top: f64 },
    /// The index of the right option.
    Choice(usize),
}

impl AppState {
    /// Lets the lesson do its next act, and sees whether the task is done. Nothing happens while
    /// texts are being generated.
    pub(in crate::state) fn follow_lesson(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        while !self.is_running() {
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
        if self.is_running() {
            return effects;
        }
        match self.lessons.run().map(super::LessonRun::phase) {
            // The learner can generate as soon as there is a question.
            Some(LessonPhase::Preparing) if self.can_act(&Act::Generate) => {
                effects.extend(self.ask());
            }
            Some(LessonPhase::Do) => self.see(),
            _ => {}
        }
        effects
    }

    /// Asks for the prediction of the step.
    fn ask(&mut self) -> Vec<Effect> {
        let scene = self.lesson_scene();
        let Some(step) = self.lessons.run().and_then(super::LessonRun::step) else {
            return Vec::new();
        };
        let texts = asked(step, &scene);
        let Some(texts) = texts else {
            let error = "The model did not write what its texts refer to";
            let mut effects = self.leave_lesson();
            effects.extend(self.notify(Notice::error("The lesson can’t go on", error)));
            return effects;
        };
        if let Some(run) = self.lessons.run_mut() {
            run.texts = texts;
            run.guess = Guess::default();
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
        let Some(seen) = run.step().and_then(|step| seen(step, &run.guess, &scene)) else {
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
                ..seen.prediction
            };
            run.predictions.push(prediction);
            run.phase = LessonPhase::See;
        }
    }

    /// Says the prediction, or goes on to the next part.
    pub(super) fn go_on(&mut self) -> Vec<Effect> {
        let Some(run) = self.lessons.run_mut() else {
            return Vec::new();
        };
        match run.phase {
            LessonPhase::Predict if run.can_say() => run.phase = LessonPhase::Do,
            LessonPhase::See => run.phase = LessonPhase::Why,
            LessonPhase::Why => {
                run.step += 1;
                run.texts = StepTexts::default();
                run.reads_on = false;
                run.phase = if run.step < run.lesson.steps.len() {
                    LessonPhase::Preparing
                } else {
                    LessonPhase::Ending
                };
            }
            LessonPhase::Ending => return self.end_lesson(),
            LessonPhase::Preparing | LessonPhase::Predict | LessonPhase::Do => {}
        }
        Vec::new()
    }

    fn end_lesson(&mut self) -> Vec<Effect> {
        let effects = self.leave_lesson();
        self.page = crate::state::Page::Lessons;
        self.lessons.select_unfinished();
        effects
    }

    /// Does what the step asks for, in place of the learner.
    pub(super) fn solve_step(&mut self) -> Vec<Effect> {
        if let Some(run) = self.lessons.run_mut()
            && run.phase == LessonPhase::Do
            && run.queue.is_empty()
            && let Some(step) = run.lesson.steps.get(run.step)
        {
            run.queue.extend(step.solution.iter().cloned());
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
        Question::Choice { options } => {
            let labels = options.iter().map(|option| option.text.fill(scene));
            (labels.collect::<Option<_>>()?, Vec::new())
        }
    };
    Some(StepTexts {
        ask: step.ask.fill(scene)?,
        task: step.task.fill(scene)?,
        labels,
        before,
        ..StepTexts::default()
    })
}

struct Seen {
    texts: StepTexts,
    prediction: Prediction,
}

/// Returns the answer and the texts about it, or `None` as long as the task is not done.
fn seen(step: &LessonStep, guess: &Guess, scene: &Scene<'_>) -> Option<Seen> {
    if !all_hold(&step.check, scene) {
        return None;
    }
    let answer = answer(&step.question, scene)?;
    let (prediction, verdict) = judged(&step.question, guess, &answer, scene)?;
    let fill = |template: &Template| template.fill(scene);
    let more = match &step.more {
        Some(more) => Some(fill(more)?),
        None => None,
    };
    let texts = StepTexts {
        answer: Some(answer),
        verdict,
        see: fill(&step.see)?,
        why: fill(&step.why)?,
        more,
        ..StepTexts::default()
    };
    Some(Seen { texts, prediction })
}

fn answer(question: &Question, scene: &Scene<'_>) -> Option<Answer> {
    let number = |path: &crate::lessons::Path| path.value(scene, None)?.number();
    Some(match question {
        Question::Probability { asked, beside } => {
            let bars = std::iter::once(asked).chain(beside);
            let probs = bars.map(|bar| number(&bar.answer));
            Answer::Probability(probs.collect::<Option<_>>()?)
        }
        Question::Token { probs, top, .. } => Answer::Token {
            probs: probs.iter().map(number).collect::<Option<_>>()?,
            top: number(top)?,
        },
        Question::Choice { .. } => Answer::Choice(question.right_option(scene)?),
    })
}

/// Returns the prediction with its cost, and a sentence about it.
fn judged(
    question: &Question,
    guess: &Guess,
    answer: &Answer,
    scene: &Scene<'_>,
) -> Option<(Prediction, String)> {
    match (question, answer) {
        (_, Answer::Probability(probs)) => Some(judged_probability(guess.prob?, *probs.first()?)),
        (Question::Token { words, .. }, Answer::Token { probs, top }) => {
            let option = guess.option?;
            Some(judged_token(words.get(option)?, *probs.get(option)?, *top))
        }
        (Question::Choice { options }, Answer::Choice(right)) => {
            let option = guess.option?;
            let said = options.get(option)?.text.fill(scene)?;
            let answer = options.get(*right)?.text.fill(scene)?;
            let n = options.len();
            let score = Score::of_choice(option == *right, guess.confidence, n);
            let prediction = prediction(said, answer, score);
            let confidence = percent(guess.confidence.prob(n));
            let verdict = choice_words(&prediction, option == *right, &confidence);
            Some((prediction, verdict))
        }
        _ => None,
    }
}

fn judged_probability(said: f64, truth: f64) -> (Prediction, String) {
    let score = Score::of_probability(said, truth);
    let (said, truth) = (percent(said), percent(truth));
    let words = format!(
        "You said {said}; it is {truth}. That cost {:.2} bits: {}.",
        score.excess(),
        score.words()
    );
    (prediction(said, truth, score), words)
}

fn judged_token(word: &str, prob: f64, top: f64) -> (Prediction, String) {
    let score = Score::of_token(prob, top);
    let prob = percent(prob);
    let words = format!(
        "You said ‘{word}’, which has {prob}. That costs {:.2} bits; the best guess costs {:.2}.",
        score.bits, score.best
    );
    (prediction(word.to_owned(), prob, score), words)
}

fn choice_words(prediction: &Prediction, right: bool, confidence: &str) -> String {
    let Prediction { answer, score, .. } = prediction;
    let bits = format!("That cost {:.2} bits.", score.bits);
    if right {
        format!("Right, and you were {confidence} sure. {bits}")
    } else {
        format!("No, and you were {confidence} sure. {bits} The answer: {answer}")
    }
}

fn prediction(said: String, answer: String, score: Score) -> Prediction {
    Prediction {
        // Added by the caller, who has its text.
        asked: String::new(),
        said,
        answer,
        score,
    }
}
