//! Sets the window up for a step of a lesson, also after the learner did something else.

use super::run::{LessonPhase, acts_before};
use super::{LessonRun, mode_of};
use crate::generation::{GenerationConfig, Limits, PaneSettings};
use crate::lessons::{Act, Lesson};
use crate::state::{AppState, Effect, PromptMode};

/// What acts lead to: the settings, and what wrote the text of each pane.
struct Expected {
    prompt: String,
    mode: PromptMode,
    seed: u64,
    limits: Limits,
    panes: Vec<ExpectedPane>,
}

struct ExpectedPane {
    settings: PaneSettings,
    /// The prompt and the settings of its text, or `None` if it has none, was scored, or was
    /// generated token by token.
    wrote: Option<(String, GenerationConfig)>,
    is_given: bool,
}

impl Expected {
    /// Returns what the setup and the first `n_steps` steps of a lesson lead to.
    fn after(lesson: &Lesson, n_steps: usize) -> Self {
        let setup = &lesson.setup;
        let panes = setup.panes.iter().map(|settings| ExpectedPane {
            settings: settings.clone(),
            wrote: None,
            is_given: false,
        });
        let mut expected = Self {
            prompt: setup.prompt.clone(),
            mode: mode_of(setup),
            seed: setup.seed,
            limits: Limits {
                max_new_tokens: setup.tokens,
                ..Limits::default()
            },
            panes: panes.collect(),
        };
        let steps = lesson.steps.iter().take(n_steps);
        let steps = steps.flat_map(|step| step.prepare.iter().chain(&step.solution));
        for act in setup.acts.iter().chain(steps) {
            expected.follow(act);
        }
        expected
    }

    fn follow(&mut self, act: &Act) {
        match act {
            Act::Prompt(prompt) => self.prompt.clone_from(prompt),
            Act::Seed(seed) => self.seed = *seed,
            Act::Tokens(n) => self.limits.max_new_tokens = *n,
            Act::Stop(stop) => {
                let stops = Some(stop).filter(|stop| !stop.is_empty());
                self.limits.stop_strings = stops.cloned().into_iter().collect();
            }
            Act::Settings(place, settings) => {
                if let Some(pane) = self.panes.get_mut(*place) {
                    pane.settings = PaneSettings::clone(settings);
                }
            }
            Act::Generate => (0..self.panes.len()).for_each(|place| self.write(place)),
            Act::GenerateIn(place) => self.write(*place),
            Act::Score(place, _) => {
                if let Some(pane) = self.panes.get_mut(*place) {
                    (pane.wrote, pane.is_given) = (None, true);
                }
            }
            Act::Step | Act::StepBack | Act::Pick(_) => {
                for pane in &mut self.panes {
                    pane.wrote = None;
                }
            }
            Act::StepMode
            | Act::FullSpeed
            | Act::Pin(..)
            | Act::Tab(_)
            | Act::Tint(_)
            | Act::Prices(..)
            | Act::Toss(_)
            | Act::MeasureCache(_) => {}
        }
    }

    fn write(&mut self, place: usize) {
        let (prompt, limits, seed) = (self.prompt.clone(), self.limits.clone(), self.seed);
        // A given text may be kept; its settings then say nothing.
        if let Some(pane) = self.panes.get_mut(place).filter(|pane| !pane.is_given) {
            let config = GenerationConfig {
                chain: pane.settings.chain.clone(),
                seed: pane.settings.seed.unwrap_or(seed),
                limits,
            };
            pane.wrote = Some((prompt, config));
        }
    }

    /// Returns whether the window shows this.
    fn is_shown_by(&self, state: &AppState) -> bool {
        let is_same = self.prompt == state.prompt
            && state.prompt_mode == self.mode
            && self.seed == state.seed
            && self.limits == state.limits
            && self.panes.len() == state.panes.len();
        let mut panes = self.panes.iter().zip(&state.panes);
        is_same
            && panes.all(|(expected, pane)| {
                let settings = &expected.settings;
                let is_same = settings.chain == pane.settings.chain
                    && settings.seed == pane.settings.seed
                    && settings.model == pane.settings.model;
                let wrote = expected.wrote.as_ref();
                is_same
                    && pane.reads.is_none()
                    && wrote.is_none_or(|(prompt, config)| {
                        pane.generation().is_some_and(|text| {
                            text.prompt.text == *prompt && text.config == *config
                        })
                    })
            })
    }
}

impl LessonRun {
    /// Returns the lesson that the current question is from, and the index of its step.
    fn question(&self) -> (&Lesson, usize) {
        match &self.again {
            Some(again) => (&again.lesson, again.step),
            None => (&self.lesson, self.step),
        }
    }
}

impl AppState {
    /// Returns whether the learner changed something that the first `n_steps` steps of the lesson
    /// would have left otherwise.
    pub(super) fn deviates_after(&self, n_steps: usize) -> bool {
        let run = self.lessons.run();
        run.is_some_and(|run| !Expected::after(&run.lesson, n_steps).is_shown_by(self))
    }

    /// Sets the window up for the current step, whatever it shows, and lets the lesson do again what
    /// leads there. With `solves`, it then does the step's task.
    pub(super) fn set_up_step(&mut self, solves: bool) -> Vec<Effect> {
        let Some(run) = self.lessons.run_mut() else {
            return Vec::new();
        };
        let (lesson, step) = run.question();
        let setup = lesson.setup.clone();
        let mut queue = acts_before(lesson, step);
        if solves && let Some(step) = lesson.steps.get(step) {
            queue.extend(step.solution.iter().cloned());
        }
        run.queue = queue;
        run.solves = solves;
        run.is_set_up = true;
        let mut effects = self.stop_all();
        effects.extend(self.set_up(&setup));
        effects.extend(self.tokenize_prompt());
        effects
    }

    /// Sets the window up again if the lesson can't go on from what it shows and did not do so
    /// already.
    pub(super) fn recover_lesson(&mut self) -> Vec<Effect> {
        let Some(run) = self.lessons.run_mut() else {
            return Vec::new();
        };
        let needs_it = run.phase == LessonPhase::Preparing || run.solves;
        if needs_it && !run.is_set_up {
            let solves = run.solves;
            return self.set_up_step(solves);
        }
        // What can't be done now never can.
        run.queue.clear();
        Vec::new()
    }

    /// Returns whether the lesson only has to wait before it can act: for the model, or until the
    /// prompt has been read.
    pub(super) fn lesson_can_wait(&self) -> bool {
        let is_reading = self.prompt_reading.is_none() && self.prompt_blocking_reason().is_none();
        self.model.ready().is_none() || is_reading
    }
}
