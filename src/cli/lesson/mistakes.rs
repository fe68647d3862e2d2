//! What learners do instead of a step's task, so that a rehearsal finds dead ends.

use super::rehearsal::{Rehearsal, is_idle};
use crate::lessons::Act;
use crate::state::{Command, LessonCommand, LessonRun, Pace, PromptMode};

/// A mistake that a learner makes at each step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mistake {
    /// Generates, or steps, twice before doing anything else.
    TooMuch,
    /// Leaves out the first part of the task.
    WithoutFirst,
    /// Leaves out the last part of the task.
    WithoutLast,
    /// Does the parts of the task in the reverse order.
    Backwards,
    /// Changes what the task says nothing about: the prompt, the panes, the seed and the limit.
    Elsewhere,
}

impl Mistake {
    /// All mistakes.
    pub(super) const ALL: [Self; 5] = [
        Self::TooMuch,
        Self::WithoutFirst,
        Self::WithoutLast,
        Self::Backwards,
        Self::Elsewhere,
    ];

    /// Returns what the learner did, for an error.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::TooMuch => "after a step too many",
            Self::WithoutFirst => "without the first part of a solution",
            Self::WithoutLast => "without the last part of a solution",
            Self::Backwards => "after a solution in the wrong order",
            Self::Elsewhere => "after other changes",
        }
    }

    /// Returns what is done instead of this solution.
    fn instead_of(self, solution: &[Act], is_stepping: bool) -> Vec<Act> {
        match self {
            Self::TooMuch if is_stepping => vec![Act::Step, Act::Step],
            Self::TooMuch => vec![Act::Seed(3), Act::Generate, Act::Generate],
            Self::WithoutFirst => solution.iter().skip(1).cloned().collect(),
            Self::WithoutLast => {
                let n_done = solution.len().saturating_sub(1);
                solution.iter().take(n_done).cloned().collect()
            }
            Self::Backwards => solution.iter().rev().cloned().collect(),
            Self::Elsewhere => vec![
                Act::Prompt("The".to_owned()),
                Act::Stop("e".to_owned()),
                Act::Tokens(3),
                Act::Seed(5),
                Act::Generate,
            ],
        }
    }
}

impl Rehearsal {
    /// Makes a mistake at the current step, and waits until what it started has ended.
    pub(super) fn make(&mut self, mistake: Mistake) -> Result<(), String> {
        let is_stepping = self.state.is_step_mode();
        let step = self.state.lessons.run().and_then(LessonRun::step);
        let solution = step.map(|step| step.solution.clone()).unwrap_or_default();
        let acts = mistake.instead_of(&solution, is_stepping);
        self.lesson(LessonCommand::Do(acts));
        self.wait("what the learner did", is_idle)?;
        if mistake == Mistake::Elsewhere {
            let last = self.state.panes.last().map(|pane| pane.id);
            if let Some(last) = last.filter(|_| self.state.panes.len() > 1) {
                self.send(Command::Remove(last));
            }
            self.send(Command::SetPace(Pace::Step));
            self.state.prompt.text.clear();
            self.state.prompt.mode = PromptMode::Chat;
            self.send(Command::PromptEdited);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Mistake;
    use crate::cli::lesson::lessons_without_chat;
    use crate::cli::lesson::rehearsal::Rehearsal;
    use crate::lessons::Lesson;
    use crate::state::{Command, LessonCommand, LessonPhase, LessonProgress};

    /// Takes a lesson. Returns what it asked.
    fn asked(
        robot: &mut Rehearsal,
        lesson: &std::sync::Arc<Lesson>,
        mistake: Option<Mistake>,
    ) -> Result<Vec<String>, String> {
        robot.state.lessons.progress = LessonProgress::default();
        let taken = robot.take_with(lesson, mistake);
        if taken.is_err() {
            robot.lesson(LessonCommand::Leave);
        }
        let made = robot.state.lessons.predictions();
        taken.map(|_| {
            made[&lesson.id]
                .iter()
                .map(|made| made.asked.clone())
                .collect()
        })
    }

    #[test]
    fn no_mistake_is_a_dead_end_and_the_next_question_is_the_same() {
        let mut robot = Rehearsal::new().unwrap();
        let mut problems = Vec::new();
        for lesson in lessons_without_chat() {
            let right = asked(&mut robot, lesson, None).unwrap();
            for mistake in Mistake::ALL {
                match asked(&mut robot, lesson, Some(mistake)) {
                    Err(problem) => problems.push(format!("{}, {mistake:?}, {problem}", lesson.id)),
                    Ok(other) => {
                        for (other, right) in other.iter().zip(&right) {
                            if other != right {
                                problems.push(format!("{}, {mistake:?}: {other}", lesson.id));
                            }
                        }
                    }
                }
            }
        }
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }

    #[test]
    fn the_text_can_be_set_back_before_the_task() {
        let mut robot = Rehearsal::new().unwrap();
        robot.lesson(LessonCommand::Start(0));
        robot.wait_for_question().unwrap();
        robot.guess();
        robot.lesson(LessonCommand::Next);
        let panes = |robot: &Rehearsal| -> Vec<_> {
            let panes = robot.state.panes.iter();
            panes.map(|pane| pane.settings.clone()).collect()
        };
        let before = (
            robot.state.prompt.text.clone(),
            robot.state.seed,
            panes(&robot),
        );
        robot.state.prompt.text = "Something else".to_owned();
        robot.state.seed = 7;
        robot.send(Command::AddPane);
        robot.lesson(LessonCommand::SetBack);
        robot.wait("the text", super::is_idle).unwrap();
        assert_eq!(robot.phase(), Some(LessonPhase::Do));
        let after = (
            robot.state.prompt.text.clone(),
            robot.state.seed,
            panes(&robot),
        );
        assert_eq!(after, before);
        assert!(robot.state.is_step_mode());
    }
}
