//! What a lesson does by itself: its setup, and a step that the learner asks to be shown.

use super::scene::{tab_named, tint_named};
use crate::generation::PaneSettings;
use crate::lab::{LabCommand, LabTab};
use crate::lessons::Act;
use crate::state::{AppState, BranchCommand, Command, Effect, Pace, PaneId, Pin, ViewChange};

impl AppState {
    /// Returns whether this act can be done now. Generating waits for the model and the prompt.
    pub(super) fn can_act(&self, act: &Act) -> bool {
        if matches!(act, Act::MeasureCache(_))
            && crate::lab::cache::cache_blocking_reason(self).is_some()
        {
            return false;
        }
        if let Act::Pick(rank) = act {
            return self.lesson_pick(*rank).is_some();
        }
        let generates = matches!(
            act,
            Act::Generate | Act::GenerateIn(_) | Act::Step | Act::Score(..) | Act::MeasureCache(_)
        );
        !generates || (self.prompt_reading.is_some() && self.blocking_reason().is_none())
    }

    pub(super) fn act(&mut self, act: Act) -> Vec<Effect> {
        match act {
            Act::Generate => self.dispatch(Command::GenerateAll),
            Act::GenerateIn(place) => {
                let generate = |id| Command::Generate(id);
                self.act_on(place, generate)
            }
            Act::StepMode => self.dispatch(Command::SetPace(Pace::Step)),
            Act::Step => {
                let mut effects = self.dispatch(Command::SetPace(Pace::Step));
                effects.extend(self.dispatch(Command::Branch(BranchCommand::Step)));
                effects
            }
            Act::StepBack => self.dispatch(Command::Branch(BranchCommand::StepBack)),
            Act::Pick(rank) => {
                let command = self.lesson_pick(rank).map(Command::Branch);
                command.map_or_else(Vec::new, |command| self.dispatch(command))
            }
            Act::FullSpeed => self.dispatch(Command::SetPace(Pace::FullSpeed)),
            Act::Settings(place, settings) => self.act_on_settings(place, *settings),
            Act::Prompt(prompt) => {
                self.prompt = prompt;
                self.dispatch(Command::PromptEdited)
            }
            Act::Tokens(n) => {
                self.limits.max_new_tokens = n;
                Vec::new()
            }
            Act::Seed(seed) => {
                self.seed = seed;
                Vec::new()
            }
            Act::Stop(stop) => {
                let stops = Some(stop).filter(|stop| !stop.is_empty());
                self.limits.stop_strings = stops.into_iter().collect();
                Vec::new()
            }
            Act::Score(place, text) => {
                // A text has at most one token per byte, and one for its beginning.
                let n_max = text.len() + 1;
                self.score_in(place, text, n_max)
            }
            Act::Pin(place, number) => {
                let pane = self.panes.get(place).map(|pane| pane.id);
                self.pin = pane.map(|pane| Pin {
                    pane,
                    step: number - 1,
                });
                Vec::new()
            }
            Act::Tab(name) => {
                let change = tab_named(name).map(ViewChange::Tab);
                change.map_or_else(Vec::new, |change| self.change_view(change))
            }
            Act::MeasureCache(n_tokens) => {
                self.lab.cache.n_tokens = n_tokens;
                self.dispatch(Command::Lab(LabCommand::Run(LabTab::Cache)))
            }
            Act::Tint(name) => {
                let change = tint_named(name).map(ViewChange::Tint);
                change.map_or_else(Vec::new, |change| self.change_view(change))
            }
        }
    }

    /// Returns the command that picks the candidate of this rank as the next token.
    fn lesson_pick(&self, rank: usize) -> Option<BranchCommand> {
        let place = self.sampler_place()?;
        let head = &self.upcoming(place)?.trace.raw.head;
        let candidate = head.get(rank.checked_sub(1)?)?;
        let pane = self.panes.get(place)?.id;
        Some(BranchCommand::Pick(pane, vec![candidate.token]))
    }

    fn act_on(&mut self, place: usize, command: impl Fn(PaneId) -> Command) -> Vec<Effect> {
        let pane = self.panes.get(place).map(|pane| pane.id);
        pane.map_or_else(Vec::new, |pane| self.dispatch(command(pane)))
    }

    fn act_on_settings(&mut self, place: usize, settings: PaneSettings) -> Vec<Effect> {
        if let Some(pane) = self.panes.get_mut(place) {
            pane.settings.name = settings.name;
        }
        let mut effects = self.act_on(place, |id| Command::SetChain(id, settings.chain.clone()));
        effects.extend(self.act_on(place, |id| Command::SetSeed(id, settings.seed)));
        effects
    }
}
