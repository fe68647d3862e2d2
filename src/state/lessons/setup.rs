//! Sets the window up for a step of a lesson, also after the learner did something else.

use super::LessonRun;
use super::run::{LessonPhase, acts_before};
use crate::generation::{Generation, GenerationConfig, Limits, PaneSettings};
use crate::lessons::{Act, Lesson, Setup};
use crate::state::{Pane, Panes, Prompt, PromptMode};

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
            | Act::MeasureCache(_)
            | Act::Judge(_) => {}
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

    /// Returns whether these panes have its settings and its texts.
    fn is_shown_in(&self, panes: &Panes) -> bool {
        let mut pairs = self.panes.iter().zip(panes.iter());
        self.panes.len() == panes.len() && pairs.all(|(expected, pane)| expected.is_shown_in(pane))
    }
}

impl ExpectedPane {
    fn is_shown_in(&self, pane: &Pane) -> bool {
        let is_same = self.settings.chain == pane.settings.chain
            && self.settings.seed == pane.settings.seed
            && self.settings.model == pane.settings.model
            && pane.reads.is_none();
        let wrote = self.wrote.as_ref();
        is_same
            && wrote.is_none_or(|(prompt, config)| {
                let is_it =
                    |text: &Generation| text.prompt.text == *prompt && text.config == *config;
                pane.generation().is_some_and(is_it)
            })
    }
}

/// Returns how a lesson sends its prompt.
pub(super) const fn mode_of(setup: &Setup) -> PromptMode {
    if setup.chat {
        PromptMode::Chat
    } else {
        PromptMode::Raw
    }
}

/// Returns what the window shows, as the setup of a lesson. `shared` has the seed and the limits of
/// all panes.
pub(super) fn setup_of(prompt: &Prompt, panes: &Panes, shared: (u64, &Limits)) -> Setup {
    let (seed, limits) = shared;
    Setup {
        prompt: prompt.text.clone(),
        chat: prompt.mode == PromptMode::Chat,
        panes: panes.iter().map(|pane| pane.settings.clone()).collect(),
        seed,
        tokens: limits.max_new_tokens,
        acts: Vec::new(),
    }
}

impl LessonRun {
    /// Returns whether the learner changed something that the steps before this one would have left
    /// otherwise. `shared` has the seed and the limits of all panes.
    pub(super) fn deviates(
        &self,
        prompt: &Prompt,
        panes: &Panes,
        (seed, limits): (u64, &Limits),
    ) -> bool {
        let expected = Expected::after(&self.lesson, self.step);
        let is_same = expected.prompt == prompt.text
            && expected.mode == prompt.mode
            && expected.seed == seed
            && expected.limits == *limits;
        !is_same || !expected.is_shown_in(panes)
    }

    /// Begins the current question again: queues what leads to it, and with `solves` its solution.
    /// Returns the setup to begin with.
    pub(super) fn restart(&mut self, solves: bool) -> Setup {
        let (lesson, step) = match &self.again {
            Some(again) => (&again.lesson, again.step),
            None => (&self.lesson, self.step),
        };
        let setup = lesson.setup.clone();
        let mut queue = acts_before(lesson, step);
        if solves && let Some(step) = lesson.steps.get(step) {
            queue.extend(step.solution.iter().cloned());
        }
        self.queue = queue;
        self.solves = solves;
        self.is_set_up = true;
        setup
    }

    /// Returns whether to solve the step after setting the window up again, or `None` if that does
    /// not help or was done already. Then what can't be done now never can, and is left out.
    pub(super) fn recovers(&mut self) -> Option<bool> {
        let needs_it = self.phase == LessonPhase::Preparing || self.solves;
        if needs_it && !self.is_set_up {
            return Some(self.solves);
        }
        self.queue.clear();
        None
    }
}
