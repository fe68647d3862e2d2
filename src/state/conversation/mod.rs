//! Conversations: each pane answers the same messages, after its own turns.
//!
//! A pane’s text is its last turn, which knows the turns before it. A message to all panes is typed
//! where the prompt was.

mod commands;
mod given;
mod next_prompt;
#[cfg(test)]
mod tests;
mod versions;

use std::sync::Arc;

pub(in crate::state) use self::given::read_conversation;
pub(in crate::state) use self::next_prompt::NextPrompt;
pub use self::next_prompt::NextTokens;
use super::panes::pane::{NewText, Start};
use super::{Pane, PaneId, PaneStatus};
use crate::analysis::messages_after;
use crate::generation::{ChatMessage, ChatRole, Generation, GenerationId, PromptText};

/// What the user does with conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConversationCommand {
    /// Set all texts aside and begin another conversation.
    New,
    /// Leave a pane out when a message goes to all panes, or include it again.
    LeaveOut(PaneId, bool),
    /// Answer the message of a turn again: with the pane's settings if they have changed, or else
    /// with the next seed.
    Again(TurnAt),
    /// Edit the message of a turn, or stop editing.
    Edit(Option<TurnAt>),
    /// Answer the edited message.
    FinishEdit(EditScope),
    /// Show another version of a turn, with the turns that followed it.
    ShowVersion(PaneId, GenerationId),
    /// Let plots, X-ray and the other views show this turn; `None` for the last one.
    ShowTurn(Option<usize>),
    /// Leave the oldest turn out of what this pane's model reads next.
    LeaveOutOldest(PaneId),
}

/// A turn of a pane, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnAt {
    pub pane: PaneId,
    pub turn: usize,
}

/// Which panes answer an edited message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditScope {
    /// The one in which it was edited.
    Pane,
    /// All that have this turn.
    AllPanes,
}

/// A message that is being edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageEdit {
    pub at: TurnAt,
    /// As typed so far.
    pub text: String,
    /// Whether editing began just now, so that the field takes the focus.
    pub is_new: bool,
}

/// A conversation that does not fit into its model's context with the next message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FullConversation {
    pub pane: PaneId,
    /// A sentence that says so.
    pub words: String,
    /// Whether there is a turn to leave out.
    pub can_leave_out: bool,
}

/// A text that a pane is asked to write.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::state) struct Ask {
    pub pane: PaneId,
    pub prompt: PromptText,
    pub new: NewText,
}

/// A turn that is asked for, and has no answer yet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PendingTurn<'a> {
    pub message: &'a str,
    /// The answer before it.
    pub before: Option<&'a Generation>,
}

impl Pane {
    /// Returns whether it shows a conversation.
    pub fn has_turns(&self) -> bool {
        let is_answer = |text: &Generation| text.prompt.chat.is_some();
        self.pending_turn().is_some() || self.latest().is_some_and(is_answer)
    }

    /// Returns the turn that it is asked for, if it has no answer yet or was refused one.
    pub fn pending_turn(&self) -> Option<PendingTurn<'_>> {
        match &self.status {
            PaneStatus::Waiting { pending } | PaneStatus::Reading { pending, .. } => {
                match &pending.start {
                    Start::Prompt(new) => Some(PendingTurn {
                        message: new.message.as_deref()?,
                        before: new.previous_turn.as_deref(),
                    }),
                    Start::Text(_) => None,
                }
            }
            PaneStatus::Refused {
                before,
                message: Some(message),
                ..
            } => Some(PendingTurn {
                message,
                before: before.as_ref(),
            }),
            _ => None,
        }
    }

    /// Returns the edited message that it is asked to answer, to be edited further if it is refused.
    pub(in crate::state) fn asked_edit(&self) -> Option<MessageEdit> {
        let (PaneStatus::Waiting { pending } | PaneStatus::Reading { pending, .. }) = &self.status
        else {
            return None;
        };
        let (turn, text) = pending.edited_message()?;
        Some(MessageEdit {
            at: TurnAt {
                pane: self.id,
                turn,
            },
            text: text.to_owned(),
            is_new: false,
        })
    }

    /// Returns its last answer, which a message can follow: a text in chat with at least one token that
    /// the pane wrote itself.
    pub fn answer(&self) -> Option<&Generation> {
        let is_answer = |text: &&Generation| {
            text.prompt.chat.is_some() && !text.steps.is_empty() && !text.is_scored()
        };
        self.latest().filter(is_answer)
    }

    /// Returns the turn of its last answer.
    fn last_turn(&self) -> Option<TurnAt> {
        Some(TurnAt {
            pane: self.id,
            turn: self.answer()?.n_turns() - 1,
        })
    }

    /// Returns the messages that its model gets before the next one.
    fn history(&self) -> Option<Vec<ChatMessage>> {
        let mut messages = messages_after(self.answer()?);
        messages.drain(..self.n_to_leave_out.min(messages.len()));
        Some(messages)
    }

    /// Leaves out of the next message's history everything before the second message of the user.
    fn leave_out_oldest(&mut self) {
        let messages = self.answer().map(messages_after).unwrap_or_default();
        let later = messages.iter().enumerate().skip(self.n_to_leave_out + 1);
        let mut of_user = later.filter(|(_, message)| message.role == ChatRole::User);
        self.n_to_leave_out = of_user.next().map_or(messages.len(), |(index, _)| index);
    }

    /// Returns its last answer, to be followed by the next one.
    fn previous_turn(&self) -> Option<Arc<Generation>> {
        self.answer().cloned().map(Arc::new)
    }
}
