//! What a lesson does to the window: its setup, its acts, and what it brings back.

use std::sync::Arc;

use super::lab_aside::{LabAside, clear_tasks, show_tasks};
use super::run::{Again, LessonPhase, SetAside};
use super::scene::{tab_named, tint_named};
use super::setup::{mode_of, setup_of};
use super::{LessonCommand, LessonRun, restored_view};
use crate::analysis::Prices;
use crate::generation::{Limits, PaneSettings};
use crate::lab::cache::cache_blocking_reason;
use crate::lab::{LabCommand, LabTab};
use crate::lessons::{Act, Lesson, LessonProblem, Scene, Setup, draft};
use crate::state::{
    AppState, BranchCommand, Command, Effect, ModelStatus, Notice, Pace, Page, PaneId, Pin, Tint,
    ViewChange,
};
use crate::worker::ModelSource;

impl AppState {
    pub(in crate::state) fn apply_to_lessons(&mut self, command: LessonCommand) -> Vec<Effect> {
        match command {
            LessonCommand::Start(index) => self.start_lesson(index),
            LessonCommand::Opened(name, source) => self.open_lesson(&name, source),
            LessonCommand::Next => self.go_on(),
            LessonCommand::Back => {
                if let Some(run) = self.lessons.run_mut() {
                    run.go_back();
                }
                Vec::new()
            }
            LessonCommand::ShowMe => {
                if let Some(run) = self.lessons.run_mut() {
                    run.solve_step();
                }
                self.panes.stop_all()
            }
            LessonCommand::SetBack
                if self.lessons.run().map(LessonRun::phase) == Some(LessonPhase::Do) =>
            {
                self.set_up_step(false)
            }
            LessonCommand::Do(acts) => {
                if let Some(run) = self.lessons.run_mut() {
                    run.do_acts(acts);
                }
                Vec::new()
            }
            // Every command is followed by the check that `Look` asks for.
            LessonCommand::SetBack | LessonCommand::Look => Vec::new(),
            LessonCommand::Mark(number) => {
                if let Some(run) = self.lessons.run_mut() {
                    run.mark_token(number, &self.panes, &mut self.pin);
                }
                Vec::new()
            }
            LessonCommand::SkipAgain => self.skip_again(),
            LessonCommand::Leave => self.leave_lesson(),
        }
    }

    /// Returns why a lesson can't be taken now, or `None` if it can.
    pub fn lesson_blocked(&self, lesson: &Lesson) -> Option<String> {
        if self.runs.opened.is_some() {
            return Some("Close the opened run first".to_owned());
        }
        if !lesson.any_model && self.models.source != ModelSource::Embedded {
            return Some("This lesson needs the built-in model".to_owned());
        }
        if lesson.setup.chat && self.models.main.chat_unavailable_reason().is_some() {
            return Some("This lesson needs a chat model".to_owned());
        }
        // A lesson waits for a model that is loading.
        let reason = self.models.main.blocking_reason();
        let is_loading = matches!(self.models.main, ModelStatus::Loading { .. });
        reason.filter(|_| !is_loading).map(str::to_owned)
    }

    /// Returns a lesson file with the window's current setup, as a starting point for a new lesson.
    pub fn lesson_draft(&self) -> String {
        let setup = setup_of(&self.prompt, &self.panes, (self.seed, &self.limits));
        let tab = self.view.dock_tab.name().to_lowercase();
        let stop = self.limits.stop_strings.first();
        let any_model = self.models.source != ModelSource::Embedded;
        draft(&setup, &tab, stop.map(String::as_str), any_model)
    }

    fn start_lesson(&mut self, index: usize) -> Vec<Effect> {
        let Some(lesson) = self.lessons.list.get(index).cloned() else {
            return Vec::new();
        };
        let mut effects = self.leave_lesson();
        if self.lesson_blocked(&lesson).is_some() {
            return effects;
        }
        self.lessons.selected = index;
        let place = self.lessons.progress.place_of(&lesson);
        let aside = SetAside {
            view: self.view,
            pace: self.pace,
            step_pane: self.branches.step_pane.take(),
            repetition: self.runs.repetition.take(),
            hidden: self.set_aside(&mut effects),
            lab: LabAside::of(&mut self.lab, &mut effects),
        };
        effects.extend(self.set_up(&lesson.setup));
        self.view.dock_open = Some(true);
        self.page = Page::Write;
        self.lessons.run = Some(LessonRun::new(lesson, place, aside));
        effects.extend(self.prompt.tokenize(&self.models.main));
        effects
    }

    /// Shows the panes, the prompt and the limits of a lesson.
    fn set_up(&mut self, setup: &Setup) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.prompt.text.clone_from(&setup.prompt);
        self.prompt.mode = mode_of(setup);
        self.prompt.system.clear();
        self.prompt.sends_empty_system = false;
        self.prompt.template_kwargs.clear();
        self.limits = Limits {
            max_new_tokens: setup.tokens,
            ..Limits::default()
        };
        self.seed = setup.seed;
        if self.pace != Pace::FullSpeed {
            self.pace = Pace::FullSpeed;
            effects.push(self.pace.request());
        }
        // A task that asks for a tint, prices, coins or a curve must not be done already.
        self.view.tint = Tint::default();
        self.view.prices = Prices::default();
        self.hand_drawn = None;
        clear_tasks(&mut self.lab, &mut effects);
        self.panes.clear();
        self.add_panes(setup.panes.clone());
        self.start_over();
        effects
    }

    /// Adds a lesson that was opened and starts it, or reports the line with its error.
    fn open_lesson(&mut self, name: &str, source: Result<String, String>) -> Vec<Effect> {
        let lesson = source.and_then(|source| {
            let lesson = Lesson::from_toml(&source);
            lesson.map_err(|LessonProblem { line, message }| format!("Line {line}: {message}"))
        });
        let lesson = match lesson {
            Ok(lesson) => Arc::new(lesson),
            Err(error) => {
                return self.notify(Notice::error(format!("{name} can’t be opened"), error));
            }
        };
        let index = self.lessons.add(&lesson);
        if let Some(reason) = self.lesson_blocked(&lesson) {
            self.page = Page::Lessons;
            self.lessons.selected = index;
            return self.notify(Notice::hint(reason));
        }
        self.start_lesson(index)
    }

    /// Leaves the lesson, and brings back what was on screen before it. Its place is kept.
    pub(in crate::state) fn leave_lesson(&mut self) -> Vec<Effect> {
        let Some(run) = self.lessons.run.take() else {
            return Vec::new();
        };
        self.lessons.progress.keep_place(&run);
        let mut effects = self.panes.stop_all();
        let aside = run.into_aside();
        aside.lab.bring_back(&mut self.lab, &mut effects);
        effects.extend(self.bring_back(aside.hidden));
        self.view = restored_view(aside.view, self.view);
        self.branches.step_pane = aside.step_pane;
        self.runs.repetition = aside.repetition;
        if self.pace != aside.pace {
            self.pace = aside.pace;
            effects.push(self.pace.request());
        }
        effects
    }

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
                if !self.lesson_can_wait() {
                    effects.extend(self.recover_lesson());
                }
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
        match self.lessons.run().map(LessonRun::phase) {
            // The learner can generate as soon as there is a question.
            Some(LessonPhase::Preparing) if self.can_act(&Act::Generate) => {
                effects.extend(self.ask());
            }
            Some(LessonPhase::Preparing) if !self.lesson_can_wait() => {
                effects.extend(self.recover_lesson());
            }
            Some(LessonPhase::Predict) => {
                let (pin, panes) = (self.pin, &self.panes);
                if let Some(run) = self.lessons.run_mut() {
                    run.mark_pinned(pin, panes);
                }
            }
            Some(LessonPhase::Do) => {
                self.see();
                let run = self.lessons.run();
                if run.is_some_and(|run| run.phase == LessonPhase::Do && run.solves) {
                    effects.extend(self.recover_lesson());
                }
            }
            _ => {}
        }
        effects
    }

    /// Returns whether the engine is busy with the lesson.
    pub fn lesson_waits(&self) -> bool {
        let mut tabs = [LabTab::Cache, LabTab::Prompts].into_iter();
        self.is_running() || tabs.any(|tab| self.lab.is_running(tab))
    }

    /// Returns whether the task is done, so that the answer can be shown.
    pub fn lesson_is_done(&self) -> bool {
        let run = self.lessons.run();
        let run = run.filter(|run| run.phase() == LessonPhase::Do && !self.lesson_waits());
        run.is_some_and(|run| run.seen(&self.scene_of(run)).is_some())
    }

    fn scene_of<'a>(&'a self, run: &'a LessonRun) -> Scene<'a> {
        Scene {
            hand: self.hand_draws(),
            ..run.scene(&self.panes, self.pin, &self.view, &self.lab)
        }
    }

    /// Asks for the prediction of the step.
    fn ask(&mut self) -> Vec<Effect> {
        let run = self.lessons.run().filter(|run| run.step().is_some());
        let Some(run) = run else {
            return Vec::new();
        };
        let Some(texts) = run.asked(&self.scene_of(run)) else {
            if !run.is_set_up {
                return self.recover_lesson();
            }
            if run.again().is_some() {
                return self.skip_again();
            }
            let error = "The model did not generate what the lesson’s texts refer to";
            let mut effects = self.leave_lesson();
            effects.extend(self.notify(Notice::error("The lesson can’t continue", error)));
            return effects;
        };
        if let Some(run) = self.lessons.run_mut() {
            run.ask(texts);
            if run.marked_pane().is_some() {
                // From now on, the pinned token is the mark.
                self.pin = None;
            }
        }
        self.page = Page::Write;
        Vec::new()
    }

    /// Shows the answer if the task is done.
    fn see(&mut self) {
        let run = self.lessons.run();
        let seen = run.and_then(|run| run.seen(&self.scene_of(run)));
        if let (Some(seen), Some(run)) = (seen, self.lessons.run_mut()) {
            run.see(seen);
        }
    }

    /// Submits the prediction, or goes on to the next part.
    fn go_on(&mut self) -> Vec<Effect> {
        let Some(run) = self.lessons.run_mut() else {
            return Vec::new();
        };
        match run.phase {
            LessonPhase::Predict if run.can_say() => run.phase = LessonPhase::Do,
            LessonPhase::See => run.phase = LessonPhase::Why,
            LessonPhase::Why => {
                if run.end_step() {
                    return self.ask_again();
                }
                let run = self.lessons.run();
                let run = run.filter(|run| run.phase == LessonPhase::Preparing);
                let shared = (self.seed, &self.limits);
                let deviates =
                    run.is_some_and(|run| run.deviates(&self.prompt, &self.panes, shared));
                if deviates {
                    return self.set_up_step(false);
                }
            }
            LessonPhase::Ending => return self.end_lesson(),
            LessonPhase::Preparing | LessonPhase::Predict | LessonPhase::Do => {}
        }
        Vec::new()
    }

    fn skip_again(&mut self) -> Vec<Effect> {
        match self.lessons.run_mut().map(LessonRun::skip_again) {
            Some(true) => self.panes.stop_all(),
            _ => Vec::new(),
        }
    }

    fn end_lesson(&mut self) -> Vec<Effect> {
        let effects = self.leave_lesson();
        self.page = Page::Lessons;
        self.lessons.select_unfinished();
        effects
    }

    /// Sets the window up for a question that was missed in another lesson, if there is one.
    fn ask_again(&mut self) -> Vec<Effect> {
        let missed = self.lessons.missed().into_iter();
        let mut missed = missed.filter_map(|(index, step)| {
            let lesson = Arc::clone(self.lessons.list.get(index)?);
            let can_come = self.lesson_blocked(&lesson).is_none();
            can_come.then_some(Again { lesson, step })
        });
        let Some(again) = missed.next() else {
            return Vec::new();
        };
        if let Some(run) = self.lessons.run_mut() {
            run.come_back(again);
        }
        self.set_up_step(false)
    }

    /// Sets the window up for the current step, whatever it shows, and lets the lesson do again what
    /// leads there. With `solves`, it then does the step's task.
    fn set_up_step(&mut self, solves: bool) -> Vec<Effect> {
        let Some(run) = self.lessons.run_mut() else {
            return Vec::new();
        };
        let setup = run.restart(solves);
        let mut effects = self.panes.stop_all();
        effects.extend(self.set_up(&setup));
        effects.extend(self.prompt.tokenize(&self.models.main));
        effects
    }

    /// Sets the window up again if the lesson can't go on from what it shows and did not do so
    /// already.
    fn recover_lesson(&mut self) -> Vec<Effect> {
        match self.lessons.run_mut().and_then(LessonRun::recovers) {
            Some(solves) => self.set_up_step(solves),
            None => Vec::new(),
        }
    }

    /// Returns whether the lesson only has to wait before it can act: for the model, or until the
    /// prompt has been read.
    fn lesson_can_wait(&self) -> bool {
        let main = &self.models.main;
        let is_reading =
            self.prompt.reading.is_none() && self.prompt.blocking_reason(main).is_none();
        main.ready().is_none() || is_reading
    }

    /// Returns whether this act can be done now. Generating waits for the model and the prompt.
    fn can_act(&self, act: &Act) -> bool {
        if matches!(act, Act::MeasureCache(_)) && cache_blocking_reason(self).is_some() {
            return false;
        }
        if let Act::Pick(rank) = act {
            return self.lesson_pick(*rank).is_some();
        }
        let generates = matches!(
            act,
            Act::Generate
                | Act::GenerateIn(_)
                | Act::Step
                | Act::Score(..)
                | Act::MeasureCache(_)
                | Act::Judge(_)
        );
        !generates || (self.prompt.reading.is_some() && self.blocking_reason().is_none())
    }

    fn act(&mut self, act: Act) -> Vec<Effect> {
        match act {
            Act::Generate => self.dispatch(Command::GenerateAll),
            Act::GenerateIn(place) => self.act_on(place, Command::Generate),
            Act::StepMode => self.dispatch(Command::SetPace(Pace::Step)),
            Act::Step => {
                let mut effects = self.dispatch(Command::SetPace(Pace::Step));
                effects.extend(self.dispatch(Command::Branch(BranchCommand::Step)));
                effects
            }
            Act::StepBack => self.dispatch(Command::Branch(BranchCommand::StepBack)),
            Act::Pick(rank) => self
                .lesson_pick(rank)
                .map_or_else(Vec::new, |pick| self.dispatch(Command::Branch(pick))),
            Act::FullSpeed => self.dispatch(Command::SetPace(Pace::FullSpeed)),
            Act::Settings(place, settings) => self.act_on_settings(place, *settings),
            Act::Prompt(prompt) => {
                self.prompt.text = prompt;
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
            Act::Tab(name) => self.show(tab_named(name).map(ViewChange::Tab)),
            Act::MeasureCache(n_tokens) => {
                self.lab.cache.n_tokens = n_tokens;
                self.dispatch(Command::Lab(LabCommand::Run(LabTab::Cache)))
            }
            Act::Judge(list) => {
                self.page = Page::Lab;
                show_tasks(&mut self.lab, list);
                self.dispatch(Command::Lab(LabCommand::Run(LabTab::Prompts)))
            }
            Act::Prices(input, output) => {
                self.view.prices = Prices { input, output };
                Vec::new()
            }
            Act::Toss(n) => {
                self.page = Page::Lab;
                self.lab.tab = LabTab::ByHand;
                self.dispatch(Command::DrawByHand(n))
            }
            Act::Tint(name) => self.show(tint_named(name).map(ViewChange::Tint)),
        }
    }

    fn show(&mut self, change: Option<ViewChange>) -> Vec<Effect> {
        if let Some(change) = change {
            self.change_view(change);
        }
        Vec::new()
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
