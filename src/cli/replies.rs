//! `--reply`: messages that each pane answers after its own answers so far.

use std::collections::VecDeque;
use std::sync::Arc;

use clap::Args;

use super::console;
use super::failure::Failure;
use super::hosts::{OpenHosts, PaneTurn};
use super::pane_run::{Console, Pane};
use super::text_output::error_of;
use crate::analysis::{messages_after, turn_messages};
use crate::generation::formatting::pane_letter;
use crate::generation::{FinishReason, Generation, N_MAX_TURNS, PromptText};

/// The messages after the first answer.
#[derive(Debug, Args)]
pub(super) struct ReplyArguments {
    /// A message that each pane answers next, after its own answer. Repeat it for more turns
    #[arg(
        long = "reply",
        value_name = "TEXT",
        allow_hyphen_values = true,
        requires = "chats",
        conflicts_with = "compare"
    )]
    replies: Vec<String>,
}

/// A conversation that each pane has for itself.
pub(super) struct Conversation {
    panes: Vec<Speaker>,
    /// Whether a pane could not answer a reply. Why is printed.
    pub has_failed: bool,
}

/// A pane with its last answer.
struct Speaker {
    text: Generation,
    /// Whether it answers the next reply.
    goes_on: bool,
}

/// What the user says in a conversation.
pub(super) struct Script {
    pub prompt: PromptText,
    /// The messages after the first answer, in their order.
    pub replies: VecDeque<String>,
}

impl ReplyArguments {
    /// Returns whether there are replies.
    pub(super) const fn is_any(&self) -> bool {
        !self.replies.is_empty()
    }

    /// Returns the replies. Fails if there are too many.
    pub(super) fn list(&self) -> Result<VecDeque<String>, Failure> {
        if self.replies.len() < N_MAX_TURNS {
            return Ok(self.replies.iter().cloned().collect());
        }
        Err(Failure::usage(format!(
            "a conversation can have at most {N_MAX_TURNS} turns"
        )))
    }
}

impl Script {
    /// Lets each pane answer the prompt, and then each reply after its own answers. A pane that can’t
    /// go on keeps its last answer, and the reason is printed.
    pub(super) fn run(
        &self,
        hosts: &mut OpenHosts,
        panes: &[Pane],
        console: &mut Console,
    ) -> Conversation {
        let n_turns = self.replies.len() + 1;
        if n_turns > 1 {
            console.texts.begin_turn(1, &self.prompt.text);
        }
        let first = panes.iter().map(|_| PaneTurn::Writes {
            prompt: self.prompt.clone(),
            previous: None,
        });
        let answers = hosts.run(first.collect(), panes, console);
        let mut conversation = Conversation::of(answers, n_turns);
        for (number, reply) in (2..).zip(&self.replies) {
            if console.interrupt.is_raised() || !conversation.goes_on() {
                break;
            }
            let words = format!("Turn {number} of {n_turns}");
            console.progress.milestone(&words);
            console.texts.begin_turn(number, reply);
            let answers = hosts.run(conversation.turns(reply), panes, console);
            conversation.note(answers, n_turns);
        }
        conversation
    }
}

impl Conversation {
    /// Begins with the first answers. `n_turns` is how many turns there will be.
    fn of(answers: Vec<Generation>, n_turns: usize) -> Self {
        let mut conversation = Self {
            panes: (answers.iter())
                .map(|answer| Speaker {
                    text: answer.clone(),
                    goes_on: true,
                })
                .collect(),
            has_failed: false,
        };
        conversation.note(answers, n_turns);
        conversation
    }

    fn goes_on(&self) -> bool {
        self.panes.iter().any(|pane| pane.goes_on)
    }

    /// Returns what each pane does next.
    fn turns(&self, reply: &str) -> Vec<PaneTurn> {
        let turn = |pane: &Speaker| {
            if pane.goes_on {
                PaneTurn::Writes {
                    prompt: next_prompt(&pane.text, reply),
                    previous: Some(Arc::new(pane.text.clone())),
                }
            } else {
                PaneTurn::Stays(Box::new(pane.text.clone()))
            }
        };
        self.panes.iter().map(turn).collect()
    }

    /// Notes the newest answers, and which panes can’t go on.
    fn note(&mut self, answers: Vec<Generation>, n_turns: usize) {
        let panes = self.panes.iter_mut().enumerate();
        for ((place, pane), answer) in panes.zip(answers) {
            if !pane.goes_on {
                continue;
            }
            let stops = |n_turns: usize, reason: &str| {
                let (letter, name) = (pane_letter(place), &answer.name);
                format!("Pane {letter} ({name}) stops after turn {n_turns}: {reason}")
            };
            let n_answered = answer.n_turns();
            let is_last = n_answered == n_turns;
            pane.goes_on = !is_last;
            if let Some(reason) = reason_to_stop(&answer) {
                pane.goes_on = false;
                let has_failed = error_of(&answer).is_some();
                let is_stopped = matches!(answer.finish, Some(FinishReason::Cancelled));
                if (has_failed || is_stopped) && answer.steps.is_empty() && n_answered > 1 {
                    // It keeps its last answer.
                    if has_failed {
                        self.has_failed = true;
                        console::error(&stops(n_answered - 1, reason));
                    }
                    continue;
                }
                if !(is_last || is_stopped || has_failed) {
                    console::note(&stops(n_answered, reason));
                }
            }
            pane.text = answer;
        }
    }

    /// Returns the last answer of each pane, with those before it.
    pub(super) fn into_texts(self) -> Vec<Generation> {
        self.panes.into_iter().map(|pane| pane.text).collect()
    }
}

/// Returns a message after an answer, with all that the template gets.
fn next_prompt(answer: &Generation, reply: &str) -> PromptText {
    let chat = answer.prompt.chat.as_ref();
    let mut settings = chat.map(|chat| chat.settings.clone()).unwrap_or_default();
    settings.history = messages_after(answer);
    settings.tools.answered_call = None;
    PromptText::chat_with(reply, settings)
}

/// Says why nothing can follow an answer, if so.
fn reason_to_stop(answer: &Generation) -> Option<&str> {
    if let Some(error) = error_of(answer) {
        return Some(error);
    }
    if matches!(answer.finish, Some(FinishReason::Cancelled)) {
        return Some("it was stopped");
    }
    let [_, said] = turn_messages(answer);
    match (said.content.is_empty(), said.thinking) {
        (false, _) => None,
        (true, None) => Some("its answer is empty"),
        (true, Some(_)) => Some("it has only thought, and not answered"),
    }
}
