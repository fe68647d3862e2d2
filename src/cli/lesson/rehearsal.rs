//! Takes a lesson as a learner would, with its own solutions and the built-in model, but without a
//! window.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::mistakes::Mistake;
use crate::lessons::{Lesson, Question};
use crate::state::{
    AppState, Command, Effect, LessonCommand, LessonPhase, LessonRun, Settings, StepTexts,
};
use crate::worker::{ModelSource, Worker};

/// How long a step may take: far longer than any step needs.
const TIMEOUT: Duration = Duration::from_mins(5);

/// Returns whether a step's task is done, or nothing that could complete it is still running.
fn is_done(state: &AppState) -> bool {
    let run = state.lessons.run();
    let is_seen = run.is_none_or(|run| run.phase() != LessonPhase::Do);
    is_seen || is_idle(state)
}

/// Returns whether the lesson has nothing left to do.
pub(super) fn is_idle(state: &AppState) -> bool {
    let is_acting = state.lessons.run().is_some_and(LessonRun::is_acting);
    !(is_acting || state.lesson_waits())
}

/// The state and the engine, without a window.
pub(super) struct Rehearsal {
    pub(super) state: AppState,
    worker: Worker,
}

impl Rehearsal {
    /// Loads the built-in model.
    pub(super) fn new() -> Result<Self, String> {
        Self::with(Worker::start(|| {}))
    }

    /// Loads the model that this worker loads in place of the built-in one.
    pub(super) fn with(worker: Worker) -> Result<Self, String> {
        let (state, effects) = AppState::new(Settings::default(), ModelSource::Embedded);
        let mut rehearsal = Self { state, worker };
        rehearsal.carry_out(effects);
        rehearsal.wait("the model", |state| state.models.main.ready().is_some())?;
        Ok(rehearsal)
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            if let Effect::Send(request) = effect {
                self.worker.send(request);
            }
        }
    }

    pub(super) fn send(&mut self, command: Command) {
        let effects = self.state.apply(command);
        self.carry_out(effects);
    }

    pub(super) fn lesson(&mut self, command: LessonCommand) {
        self.send(Command::Lesson(command));
    }

    /// Handles events until a condition holds.
    pub(super) fn wait(
        &mut self,
        what: &str,
        condition: impl Fn(&AppState) -> bool,
    ) -> Result<(), String> {
        let start = Instant::now();
        while !condition(&self.state) {
            if start.elapsed() > TIMEOUT {
                return Err(format!("timed out waiting for {what}"));
            }
            let event = self.worker.wait_at_most(Duration::from_secs(1));
            let event = event.ok_or("the engine has stopped")?;
            if let Some(event) = event {
                let effects = self.state.on_event(event);
                self.carry_out(effects);
            }
        }
        Ok(())
    }

    pub(super) fn phase(&self) -> Option<LessonPhase> {
        self.state.lessons.run().map(LessonRun::phase)
    }

    pub(super) fn texts(&self) -> StepTexts {
        let run = self.state.lessons.run();
        run.map(LessonRun::texts).cloned().unwrap_or_default()
    }

    /// Waits until the lesson asks for a prediction.
    pub(super) fn wait_for_question(&mut self) -> Result<(), String> {
        self.wait("the question", |state| {
            let run = state.lessons.run();
            run.is_none_or(|run| run.phase() != LessonPhase::Preparing)
        })?;
        if self.phase() == Some(LessonPhase::Predict) {
            return Ok(());
        }
        let notice = self.state.notices.first();
        Err(notice.map_or_else(
            || "it asks no question".to_owned(),
            |notice| notice.body.clone(),
        ))
    }

    fn expect(&self, phase: LessonPhase, problem: &str) -> Result<(), String> {
        let is_right = self.phase() == Some(phase);
        is_right.then_some(()).ok_or_else(|| problem.to_owned())
    }

    /// Takes the lesson's current step, with a mistake that the learner makes before asking to be
    /// shown the solution. Returns its texts as the learner reads them.
    pub(super) fn take_step(&mut self, mistake: Option<Mistake>) -> Result<String, String> {
        self.wait_for_question()?;
        self.lesson(LessonCommand::Next);
        self.lesson(LessonCommand::ShowMe);
        self.expect(LessonPhase::Predict, "the prediction can be skipped")?;
        let asked = self.texts();
        if asked.answer.is_some() || !asked.see.is_empty() {
            return Err("the answer is known before the prediction".to_owned());
        }
        self.guess();
        self.lesson(LessonCommand::Next);
        self.expect(LessonPhase::Do, "its check passes before the task is done")?;
        if let Some(mistake) = mistake {
            self.make(mistake)?;
        }
        self.lesson(LessonCommand::ShowMe);
        self.wait("the task", is_done)?;
        self.expect(
            LessonPhase::See,
            "its solution does not pass its check, or a text can’t be filled in",
        )?;
        let texts = self.texts();
        let mut read = String::new();
        for (name, text) in [
            ("Predict", asked.ask.clone()),
            ("", asked.labels.join(" | ")),
            ("Do", asked.task.clone()),
            ("See", texts.verdict.clone()),
            ("", texts.see.clone()),
            ("Why", texts.why.clone()),
            ("More", texts.more.clone().unwrap_or_default()),
        ] {
            // Writing to a string can't fail.
            writeln!(read, "  {name:<8}{text}").ok();
        }
        self.lesson(LessonCommand::Next);
        self.expect(LessonPhase::Why, "it does not say why")?;
        if let Some(mistake) = mistake {
            self.make(mistake)?;
        }
        self.lesson(LessonCommand::Next);
        Ok(read)
    }

    /// Makes an arbitrary prediction.
    pub(super) fn guess(&mut self) {
        if let Some(run) = self.state.lessons.run_mut()
            && let Some(step) = run.step()
        {
            match &step.question {
                Question::Probability { .. } => run.guess.say(0.5),
                Question::Token { .. } | Question::Choice { .. } => run.guess.option = Some(0),
                Question::Order { items, .. } => run.guess.order = (0..items.len()).collect(),
                Question::Mark { .. } => run.guess.mark = Some(1),
                Question::Match { panes, .. } => {
                    run.guess.matched = (0..panes.len()).map(Some).collect();
                }
            }
        }
    }

    /// Takes a whole lesson. Returns its texts.
    pub(super) fn take(&mut self, lesson: &Arc<Lesson>) -> Result<String, String> {
        self.take_with(lesson, None)
    }

    /// Takes a whole lesson and makes the same mistake at each step. Returns its texts.
    pub(super) fn take_with(
        &mut self,
        lesson: &Arc<Lesson>,
        mistake: Option<Mistake>,
    ) -> Result<String, String> {
        if let Some(reason) = self.state.lesson_blocked(lesson) {
            return Err(uncapitalized(&reason));
        }
        let list = &mut self.state.lessons.list;
        let index = list.iter().position(|other| Arc::ptr_eq(other, lesson));
        let index = index.unwrap_or_else(|| {
            list.push(Arc::clone(lesson));
            list.len() - 1
        });
        self.lesson(LessonCommand::Start(index));
        let mut read = format!("{}\n", lesson.title);
        for number in 1..=lesson.steps.len() {
            let step = self.take_step(mistake);
            let step = step.map_err(|problem| format!("step {number}: {problem}"))?;
            writeln!(read, " {number}.\n{step}").ok();
        }
        self.expect(LessonPhase::Ending, "it does not end")?;
        writeln!(read, "  {}", lesson.ending).ok();
        self.lesson(LessonCommand::Next);
        Ok(read)
    }
}

/// Returns a reason as part of an error: it starts with a small letter.
fn uncapitalized(reason: &str) -> String {
    let mut chars = reason.chars();
    let first = chars.next().map(char::to_lowercase);
    first.into_iter().flatten().chain(chars).collect()
}

#[cfg(test)]
mod tests {
    use super::{Command, LessonCommand, LessonPhase, Rehearsal};
    use crate::cli::lesson::lessons_without_chat;
    use crate::lessons::{Lesson, built_in};
    use crate::state::{BranchCommand, Page};

    #[test]
    fn a_robot_can_take_every_lesson() {
        let mut robot = Rehearsal::new().unwrap();
        let mut problems = Vec::new();
        for lesson in lessons_without_chat() {
            // A question missed in one lesson must not come back in the next.
            robot.state.lessons.progress = crate::state::LessonProgress::default();
            let before = robot.state.settings();
            match robot.take(lesson) {
                Err(problem) => {
                    problems.push(format!("{}, {problem}", lesson.id));
                    robot.lesson(LessonCommand::Leave);
                }
                Ok(texts) => {
                    let filled = !texts.contains(['{', '}']) || lesson.id == "json";
                    assert!(filled, "{texts}");
                    println!("{texts}");
                    assert_eq!(robot.state.page, Page::Lessons);
                    let score = robot.state.lessons.progress.score_of(&lesson.id);
                    assert!(score.is_some_and(f64::is_finite), "{}", lesson.id);
                }
            }
            let after = robot.state.settings();
            assert_eq!(
                (after.prompt, after.panes, after.view),
                (before.prompt, before.panes, before.view)
            );
        }
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }

    #[test]
    fn a_lesson_resumes_where_it_was_left() {
        let mut robot = Rehearsal::new().unwrap();
        let lessons = robot.state.lessons.list.clone();
        let has_more_steps = |lesson: &std::sync::Arc<Lesson>| lesson.steps.len() > 1;
        let index = lessons.iter().position(has_more_steps).unwrap();
        robot.lesson(LessonCommand::Start(index));
        robot.take_step(None).unwrap();
        robot.wait_for_question().unwrap();
        let asked = robot.texts().ask;
        robot.lesson(LessonCommand::Leave);
        assert!(robot.state.lessons.run().is_none());
        robot.lesson(LessonCommand::Start(index));
        robot.wait_for_question().unwrap();
        assert_eq!(robot.texts().ask, asked);
        let run = robot.state.lessons.run().unwrap();
        assert_eq!((run.step_index(), run.scores().len()), (1, 1));
    }

    #[test]
    fn a_missed_question_comes_back_with_its_own_run() {
        let mut robot = Rehearsal::new().unwrap();
        let lessons = robot.state.lessons.list.clone();
        let by_id = |id: &str| lessons.iter().position(|lesson| lesson.id == id).unwrap();
        robot.take(&lessons[by_id("greedy")]).unwrap();
        let missed = robot.state.lessons.missed();
        let (missed_lesson, missed_step) = missed[0];
        assert_eq!(missed_lesson, by_id("greedy"));
        let other = by_id("pieces");
        robot.lesson(LessonCommand::Start(other));
        let mut asked = String::new();
        for _ in 0..=lessons[other].steps.len() {
            asked = robot.take_step(None).unwrap();
        }
        robot
            .expect(LessonPhase::Ending, "it does not end")
            .unwrap();
        println!("{asked}");
        robot.lesson(LessonCommand::Next);
        let made = robot.state.lessons.predictions();
        let again = made["pieces"].last().unwrap();
        let from = again.from.as_ref().unwrap();
        assert_eq!((&*from.lesson, from.step), ("greedy", missed_step));
        let first = &made["greedy"][missed_step];
        assert_eq!((&again.asked, &again.answer), (&first.asked, &first.answer));
        let score = robot.state.lessons.progress.score_of("pieces");
        assert!(score.is_some_and(f64::is_finite));
    }

    #[test]
    fn a_step_too_many_is_no_dead_end() {
        let mut robot = Rehearsal::new().unwrap();
        let lessons = robot.state.lessons.list.clone();
        let is_loop = |lesson: &std::sync::Arc<Lesson>| lesson.id == "loop";
        let index = lessons.iter().position(is_loop).unwrap();
        robot.lesson(LessonCommand::Start(index));
        robot.wait_for_question().unwrap();
        robot.guess();
        robot.lesson(LessonCommand::Next);
        for _ in 0..4 {
            robot.send(Command::Branch(BranchCommand::Step));
            robot.wait("a token", |state| !state.is_running()).unwrap();
        }
        robot.expect(LessonPhase::See, "it is not done").unwrap();
        robot.lesson(LessonCommand::Next);
        robot.lesson(LessonCommand::Next);
        for _ in 1..lessons[index].steps.len() {
            robot.take_step(None).unwrap();
        }
        robot
            .expect(LessonPhase::Ending, "it does not end")
            .unwrap();
    }

    #[test]
    fn leaving_a_lesson_restores_what_was_on_screen() {
        let mut robot = Rehearsal::new().unwrap();
        let is_read = |state: &crate::state::AppState| state.prompt.reading.is_some();
        robot.wait("the prompt", is_read).unwrap();
        robot.state.limits.max_new_tokens = 12;
        robot.send(Command::GenerateAll);
        robot
            .wait("the texts", |state| !state.is_running())
            .unwrap();
        let before = robot.state.clone();
        robot.lesson(LessonCommand::Start(0));
        robot.wait_for_question().unwrap();
        assert_ne!(robot.state.panes, before.panes);
        assert_eq!(robot.state.settings().panes, before.settings().panes);
        robot.lesson(LessonCommand::Leave);
        robot.wait("the prompt from before", is_read).unwrap();
        let after = &robot.state;
        assert_eq!(after.panes, before.panes);
        assert_eq!((after.view, after.pin), (before.view, before.pin));
        assert_eq!(
            (&after.prompt, after.seed, &after.limits, after.pace),
            (&before.prompt, before.seed, &before.limits, before.pace)
        );
    }

    #[test]
    fn a_lesson_that_can_t_be_taken_says_why() {
        let mut robot = Rehearsal::new().unwrap();
        let chat = built_in().iter().find(|lesson| lesson.setup.chat).unwrap();
        let error = robot.take(chat).unwrap_err();
        assert_eq!(error, "this lesson needs a chat model");
    }

    #[test]
    fn an_error_in_a_lesson_names_the_step() {
        let mut robot = Rehearsal::new().unwrap();
        let good = include_str!("../../../assets/lessons/temperature.toml");
        for (from, to, problem) in [
            (
                "\"B.temperature == 0.5\"",
                "\"B.temperature == 0.25\"",
                "step 1: its solution",
            ),
            (
                "[\"B.finished\",",
                "[\"A.finished\"] #",
                "step 1: its check passes before",
            ),
        ] {
            let lesson = Lesson::from_toml(&good.replace(from, to)).unwrap();
            let error = robot.take(&std::sync::Arc::new(lesson)).unwrap_err();
            assert!(error.starts_with(problem), "{error}");
            robot.lesson(LessonCommand::Leave);
        }
    }
}
