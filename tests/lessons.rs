//! A robot takes every lesson that ships, with the built-in model and without a window: each check
//! is false before its task and true after it, no step passes early, no prediction is skipped, and
//! every text is filled from the run.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails should fail its test"
)]

use std::time::{Duration, Instant};

use quartet::lessons::Question;
use quartet::state::{
    Answer, AppState, Command, Effect, LessonCommand, LessonPhase, LessonRun, Page, Settings,
};
use quartet::worker::{ModelSource, Worker};

/// How long to wait for anything, far longer than it takes.
const TIMEOUT: Duration = Duration::from_mins(2);

/// A state with the real engine, and no window.
struct Robot {
    state: AppState,
    worker: Worker,
}

impl Robot {
    fn new() -> Self {
        let (state, effects) = AppState::new(Settings::default(), ModelSource::Embedded);
        let worker = Worker::start(|| {});
        let mut robot = Self { state, worker };
        robot.carry_out(effects);
        robot.wait("the model", |state| state.model.ready().is_some());
        robot
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            if let Effect::Send(request) = effect {
                self.worker.send(request);
            }
        }
    }

    fn send(&mut self, command: Command) {
        let effects = self.state.apply(command);
        self.carry_out(effects);
    }

    fn lesson(&mut self, command: LessonCommand) {
        self.send(Command::Lesson(command));
    }

    #[track_caller]
    fn wait(&mut self, what: &str, condition: impl Fn(&AppState) -> bool) {
        let start = Instant::now();
        while !condition(&self.state) {
            assert!(start.elapsed() < TIMEOUT, "timed out waiting for {what}");
            let event = self.worker.wait_at_most(Duration::from_secs(1)).unwrap();
            if let Some(event) = event {
                let effects = self.state.on_event(event);
                self.carry_out(effects);
            }
        }
    }

    #[track_caller]
    fn wait_for(&mut self, phase: LessonPhase, place: &str) {
        self.wait(&format!("{phase:?} in {place}"), |state| {
            state.lessons.run().is_none_or(|run| run.phase() == phase)
        });
        let notice = self.state.notices.first().map(|notice| notice.body.clone());
        assert_eq!(self.phase(), Some(phase), "{place}: {notice:?}");
    }

    fn run(&self) -> &LessonRun {
        self.state.lessons.run().unwrap()
    }

    fn phase(&self) -> Option<LessonPhase> {
        self.state.lessons.run().map(LessonRun::phase)
    }

    /// Predicts something.
    fn guess(&mut self) {
        let question = self.run().step().unwrap().question.clone();
        let run = self.state.lessons.run_mut().unwrap();
        match question {
            Question::Probability { .. } => run.guess.say(0.5),
            Question::Token { .. } | Question::Choice { .. } => run.guess.option = Some(0),
        }
    }

    /// Takes one step of a lesson.
    fn take_step(&mut self, place: &str) {
        self.wait_for(LessonPhase::Predict, place);
        self.lesson(LessonCommand::Next);
        self.lesson(LessonCommand::ShowMe);
        assert_eq!(
            self.phase(),
            Some(LessonPhase::Predict),
            "{place}: no guess"
        );
        let texts = self.run().texts();
        assert!(texts.answer.is_none() && texts.see.is_empty(), "{place}");
        println!(
            "{place}\n  asks: {}\n  {:?} {:?}",
            texts.ask, texts.labels, texts.before
        );
        println!("  does: {}", texts.task);
        self.guess();
        self.lesson(LessonCommand::Next);
        assert_eq!(self.phase(), Some(LessonPhase::Do), "{place}: passes early");
        self.lesson(LessonCommand::Next);
        assert_eq!(self.phase(), Some(LessonPhase::Do), "{place}: passes early");
        self.lesson(LessonCommand::ShowMe);
        self.wait_for(LessonPhase::See, place);
        let texts = self.run().texts();
        for text in [
            &texts.ask,
            &texts.task,
            &texts.verdict,
            &texts.see,
            &texts.why,
        ] {
            assert!(
                !text.is_empty() && !text.contains(['{', '}']),
                "{place}: {text}"
            );
        }
        println!(
            "  sees: {} {:?}\n        {}",
            texts.verdict, texts.answer, texts.see
        );
        println!(
            "  why: {}\n       {}",
            texts.why,
            texts.more.as_deref().unwrap_or("–")
        );
        if let Some(Answer::Probability(prob)) = texts.answer {
            assert!((0.0..=1.0).contains(&prob), "{place}: {prob}");
        }
        self.lesson(LessonCommand::Next);
        assert_eq!(self.phase(), Some(LessonPhase::Why), "{place}");
        self.lesson(LessonCommand::Next);
    }
}

#[test]
fn a_robot_learns_every_lesson() {
    let mut robot = Robot::new();
    let lessons = robot.state.lessons.list.clone();
    assert!(!lessons.is_empty());
    let only = std::env::var("LESSON").ok();
    for (index, lesson) in lessons.iter().enumerate() {
        if only.as_ref().is_some_and(|only| *only != lesson.id) {
            continue;
        }
        println!("== {}", lesson.title);
        let before = robot.state.settings();
        robot.lesson(LessonCommand::Start(index));
        for step in 1..=lesson.steps.len() {
            robot.take_step(&format!("{}, step {step}", lesson.id));
        }
        assert_eq!(robot.phase(), Some(LessonPhase::Ending), "{}", lesson.id);
        assert_eq!(robot.run().scores().len(), lesson.steps.len());
        robot.lesson(LessonCommand::Next);
        assert_eq!(robot.state.page, Page::Lessons);
        let bits = robot.state.lessons.progress.score_of(&lesson.id);
        assert!(bits.is_some_and(f64::is_finite), "{}", lesson.id);
        let after = robot.state.settings();
        assert_eq!(after.prompt, before.prompt);
        assert_eq!((after.panes, after.view), (before.panes, before.view));
    }
}

#[test]
fn a_lesson_goes_on_where_it_was_left() {
    let mut robot = Robot::new();
    let lessons = robot.state.lessons.list.clone();
    let index = lessons
        .iter()
        .position(|lesson| lesson.steps.len() > 1)
        .unwrap();
    robot.lesson(LessonCommand::Start(index));
    robot.take_step("the first step");
    robot.wait_for(LessonPhase::Predict, "the second step");
    let asked = robot.run().texts().ask.clone();
    robot.lesson(LessonCommand::Leave);
    assert_eq!(robot.phase(), None);
    robot.lesson(LessonCommand::Start(index));
    robot.wait_for(LessonPhase::Predict, "the second step again");
    assert_eq!(robot.run().texts().ask, asked);
    assert_eq!(
        (robot.run().step_index(), robot.run().scores().len()),
        (1, 1)
    );
}

#[test]
fn what_was_on_screen_comes_back() {
    let mut robot = Robot::new();
    robot.wait("the prompt", |state| state.prompt_reading.is_some());
    robot.state.limits.max_new_tokens = 12;
    robot.send(Command::GenerateAll);
    robot.wait("the texts", |state| {
        !state.is_running() && state.generations().iter().all(Option::is_some)
    });
    let before = robot.state.clone();
    robot.lesson(LessonCommand::Start(0));
    robot.wait_for(LessonPhase::Predict, "the first lesson");
    assert_ne!(robot.state.panes, before.panes);
    // What is saved meanwhile is what the lesson hides.
    assert_eq!(robot.state.settings().panes, before.settings().panes);
    robot.lesson(LessonCommand::Leave);
    robot.wait("the prompt", |state| state.prompt_reading.is_some());
    let after = &robot.state;
    assert_eq!(after.panes, before.panes);
    assert_eq!(after.view, before.view);
    assert_eq!(after.pin, before.pin);
    assert_eq!(
        (&after.prompt, after.seed, &after.limits, after.pace),
        (&before.prompt, before.seed, &before.limits, before.pace)
    );
}
