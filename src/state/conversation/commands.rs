//! What the user does with conversations: reply, answer again, edit a message, go back to another
//! version, and begin anew.

use std::sync::Arc;

use super::{
    Ask, ConversationCommand, EditScope, FullConversation, MessageEdit, NextPrompt, TurnAt,
};
use crate::generation::formatting::pane_letter;
use crate::generation::{
    ChatMessage, ChatSettings, ChatTools, FinishReason, Generation, GenerationId, Origin,
    OriginChange, PromptForm, PromptRecord, PromptText,
};
use crate::interop::Messages;
use crate::state::panes::pane::NewText;
use crate::state::panes::undo::TextSwap;
use crate::state::{
    AppState, Effect, Notice, Page, Pane, PaneId, PaneStatus, PromptLength, PromptMode,
};

impl AppState {
    pub(in crate::state) fn apply_to_conversation(
        &mut self,
        command: ConversationCommand,
    ) -> Vec<Effect> {
        match command {
            ConversationCommand::New => self.begin_conversation(),
            ConversationCommand::LeaveOut(id, is_left_out) => {
                if let Some(pane) = self.panes.pane_mut(id) {
                    pane.is_left_out = is_left_out;
                }
                Vec::new()
            }
            ConversationCommand::Again(at) => self.answer_again(at),
            ConversationCommand::Edit(at) => {
                self.edit_message(at);
                Vec::new()
            }
            ConversationCommand::FinishEdit(scope) => self.finish_message(scope),
            ConversationCommand::ShowVersion(pane, id) => self.show_version(pane, id),
            ConversationCommand::ShowTurn(turn) => {
                self.show_turn(turn);
                Vec::new()
            }
            ConversationCommand::LeaveOutOldest(id) => {
                if let Some(pane) = self.panes.pane_mut(id) {
                    pane.leave_out_oldest();
                }
                self.follow_conversation()
            }
        }
    }

    /// Returns whether a message that is typed now follows an answer on screen.
    pub fn is_replying(&self) -> bool {
        self.prompt.mode == PromptMode::Chat
            && self.runs.opened.is_none()
            && self.lessons.run().is_none()
            && self.panes.iter().any(|pane| pane.answer().is_some())
    }

    /// Returns the pane whose conversation leaves the least room in its model's context.
    pub fn fullest_pane(&self) -> Option<&Pane> {
        self.panes.fullest(&self.models, |_| true)
    }

    /// Returns how long the fullest conversation is.
    pub fn conversation_length(&self) -> Option<PromptLength> {
        self.fullest_pane()?.next_length(&self.models)
    }

    /// Returns the conversation that does not fit into its model's context with the message as typed.
    pub fn full_conversation(&self) -> Option<FullConversation> {
        let pane = self.fullest_pane().filter(|_| self.is_replying())?;
        let length = pane.next_length(&self.models)?;
        let letter = pane_letter(pane.place);
        let history = pane.history();
        (!length.fits()).then(|| FullConversation {
            pane: pane.id,
            words: format!("The conversation of {letter} has {length}"),
            can_leave_out: history.is_some_and(|history| !history.is_empty()),
        })
    }

    /// Returns whether a pane was refused an answer, and could try again with one turn less.
    pub fn can_leave_out_oldest(&self, pane: &Pane) -> bool {
        let is_refused = matches!(
            pane.status,
            PaneStatus::Refused {
                message: Some(_),
                ..
            }
        );
        let has_history = pane.history().is_some_and(|history| !history.is_empty());
        is_refused && has_history && self.is_replying()
    }

    /// Returns what a pane writes next: an answer to the message as typed, after its own turns, or a
    /// continuation of the prompt.
    pub(in crate::state) fn next_turn(&self, pane: &Pane) -> Ask {
        let PromptText { text, form } = self.prompt.to_text();
        let PromptForm::Chat(settings) = form else {
            let prompt = PromptText::raw(text);
            return Ask {
                pane: pane.id,
                prompt,
                new: NewText::default(),
            };
        };
        let follows = self.is_replying();
        let history = if follows {
            // A pane without an answer begins where the others began.
            pane.history().unwrap_or_else(|| self.given_history())
        } else {
            settings.history
        };
        Ask {
            pane: pane.id,
            new: NewText {
                message: Some(text.clone()),
                previous_turn: pane.previous_turn().filter(|_| follows),
                origin: None,
            },
            prompt: PromptText::chat_with(
                text,
                ChatSettings {
                    history,
                    ..settings
                },
            ),
        }
    }

    /// Returns the messages with which the conversation on screen began: those before its first turn.
    pub(in crate::state) fn given_history(&self) -> Vec<ChatMessage> {
        if !self.is_replying() {
            return self.prompt.history.clone();
        }
        let first = self.fullest_pane().and_then(|pane| pane.answer()?.turn(0));
        let chat = first.and_then(|first| first.prompt.chat.as_ref());
        chat.map(|chat| chat.settings.history.clone())
            .unwrap_or_default()
    }

    /// Empties the field when the first pane begins to answer its message: it is on screen as part of
    /// the turn, and the next message is typed in its place.
    pub(in crate::state) fn take_message(&mut self, prompt: &PromptRecord) {
        let is_sent = prompt.chat.is_some()
            && self.prompt.mode == PromptMode::Chat
            && self.prompt.text == prompt.text
            && self.lessons.run().is_none();
        if is_sent {
            self.prompt.text.clear();
            self.prompt.tools.answered_call = None;
            self.prompt.reading = None;
        }
    }

    /// Lets the prompt count the tokens of the fullest conversation, once nothing is written.
    pub(in crate::state) fn follow_conversation(&mut self) -> Vec<Effect> {
        if self.is_running() || !self.is_replying() {
            return Vec::new();
        }
        // The prompt is that of the main model, if a pane uses it.
        let uses_main = |pane: &Pane| self.models.chosen(&pane.settings).is_none();
        let main = self.panes.fullest(&self.models, uses_main);
        let history = main.or_else(|| self.fullest_pane()).and_then(Pane::history);
        let Some(history) = history.filter(|history| *history != self.prompt.history) else {
            return Vec::new();
        };
        self.prompt.history = history;
        self.prompt.tokenize(&self.models.main)
    }

    /// Asks for the tokens of what each pane reads next, if a message is typed.
    pub(in crate::state) fn read_next_prompts(&mut self) -> Vec<Effect> {
        if self.is_running() {
            return Vec::new();
        }
        let is_typed = self.is_replying() && !self.prompt.text.is_empty();
        let next = |pane: &Pane| {
            (is_typed && pane.can_read_next(&self.models)).then(|| {
                let own = self.models.own(pane);
                let prompt = self.next_turn(pane).prompt;
                let is_read = own.is_none() && self.prompt.reads(&prompt);
                let read = self.prompt.reading.as_ref().filter(|_| is_read);
                NextPrompt::new(prompt, own.as_ref(), read.map(|read| read.tokens.clone()))
            })
        };
        let all: Vec<Option<NextPrompt>> = self.panes.iter().map(next).collect();
        let mut requests = self.panes.read_next(all);
        // The prompt's own tokens are asked for by itself.
        let own = NextPrompt::new(self.prompt.to_text(), None, None).request();
        requests.retain(|request| *request != own);
        requests.into_iter().map(Effect::Send).collect()
    }

    /// Returns the turn that is answered again on request: the shown one of the pinned pane, or of the
    /// only one.
    pub fn turn_to_answer(&self) -> Option<TurnAt> {
        let pinned = self.pin.and_then(|pin| self.pane(pin.pane));
        self.turn_of(pinned.or_else(|| self.panes.first().filter(|_| self.panes.len() == 1))?)
    }

    /// Returns the turn of a pane that the views show.
    pub fn turn_of(&self, pane: &Pane) -> Option<TurnAt> {
        let last = pane.last_turn()?;
        let shown = self.panes.shown_turn();
        Some(TurnAt {
            turn: shown.unwrap_or(last.turn).min(last.turn),
            ..last
        })
    }

    /// Returns the turn after the shown one, or before it.
    pub fn neighboring_turn(&self, is_after: bool) -> Option<usize> {
        let last = self.panes.n_turns().checked_sub(1)?;
        let shown = self.panes.shown_turn().unwrap_or(last);
        if is_after {
            (shown < last).then_some(shown + 1)
        } else {
            shown.checked_sub(1)
        }
    }

    /// Lets the views show a turn. The pinned token stays only if it is of that turn.
    fn show_turn(&mut self, turn: Option<usize>) {
        let n_turns = self.panes.n_turns();
        let turn = turn.filter(|turn| turn + 1 < n_turns);
        if turn != self.panes.shown_turn() {
            self.pin = None;
            self.branches.edit = None;
            self.panes.show_turn(turn);
        }
    }

    /// Sets all texts aside. Undo brings them back.
    fn begin_conversation(&mut self) -> Vec<Effect> {
        let mut effects = self.panes.stop_all();
        let was_running = self.is_running();
        if was_running {
            for pane in &mut self.panes {
                pane.status.finish(FinishReason::Cancelled);
            }
            effects.extend(self.end_run());
        }
        self.show_turn(None);
        self.pin = None;
        self.branches.message = None;
        let panes: Vec<PaneId> = self.panes.iter().map(|pane| pane.id).collect();
        let swaps: Vec<TextSwap> = panes
            .into_iter()
            .filter_map(|pane| self.set_text_aside(pane))
            .collect();
        self.undo.note_swaps(swaps);
        self.prompt.history.clear();
        self.prompt.tools = ChatTools::default();
        effects.extend(self.prompt.tokenize(&self.models.main));
        effects
    }

    /// Begins a conversation with the messages of a file. The last one, if it is the user's, is yet to
    /// be sent.
    pub(in crate::state) fn open_messages(
        &mut self,
        name: &str,
        messages: Result<Messages, String>,
    ) -> Vec<Effect> {
        let Messages {
            system,
            history,
            last,
            tools,
        } = match messages {
            Ok(messages) => messages,
            Err(error) => {
                let title = format!("{name} can’t be opened");
                return self.notify(Notice::error(title, error));
            }
        };
        let mut effects = self.close_run();
        effects.extend(self.leave_lesson());
        effects.extend(self.begin_conversation());
        self.prompt.set_form(PromptForm::Chat(ChatSettings {
            system,
            history,
            tools,
            ..ChatSettings::default()
        }));
        self.prompt.text = last.unwrap_or_default();
        self.page = Page::Write;
        effects.extend(self.prompt.tokenize(&self.models.main));
        effects
    }

    /// Empties a pane. Returns the change, for undo.
    pub(in crate::state) fn set_text_aside(&mut self, id: PaneId) -> Option<TextSwap> {
        let pane = self.panes.pane_mut(id)?;
        pane.n_to_leave_out = 0;
        pane.upcoming = None;
        let status = std::mem::replace(&mut pane.status, PaneStatus::Ready);
        let text = status.into_generation()?;
        let before = Some(text.lineage.id);
        self.branches.keep(id, text, self.memory);
        Some(TextSwap {
            pane: id,
            before,
            after: None,
        })
    }

    /// Returns whether the message of a turn can be answered again, and edited.
    pub fn can_ask_again(&self, at: TurnAt) -> bool {
        let Some(pane) = self.pane(at.pane) else {
            return false;
        };
        let is_chat = |text: &Generation| text.prompt.chat.is_some();
        self.runs.opened.is_none()
            && self.lessons.run().is_none()
            && pane.status.running().is_none()
            && pane.settings.chain.validate().is_ok()
            && self.models.of(pane).is_some()
            && pane
                .latest()
                .and_then(|text| text.turn(at.turn))
                .is_some_and(is_chat)
    }

    /// Returns whether a pane can answer its last message again now, because no other one is typed.
    pub fn can_answer_again(&self, pane: &Pane) -> bool {
        let is_possible = |at| self.can_ask_again(at);
        self.is_replying()
            && self.prompt.text.is_empty()
            && pane.last_turn().is_some_and(is_possible)
    }

    fn answer_again(&mut self, at: TurnAt) -> Vec<Effect> {
        let turn = self
            .pane(at.pane)
            .and_then(|pane| pane.latest()?.turn(at.turn));
        let Some(turn) = turn.filter(|_| self.can_ask_again(at)).cloned() else {
            return Vec::new();
        };
        let config = self.pane(at.pane).map(|pane| self.config_of(pane));
        let is_same = config.as_ref() == Some(&turn.config);
        if is_same && let Some(pane) = self.panes.pane_mut(at.pane) {
            pane.settings.seed = Some(turn.config.seed.wrapping_add(1));
        }
        let change = if is_same {
            OriginChange::Seed
        } else {
            OriginChange::Settings
        };
        let message = turn.prompt.text.clone();
        self.answer_in_place(vec![(at.pane, turn, message)], change)
    }

    /// Answers a message in one pane only: the one that it was refused, or else, if nothing is typed,
    /// the last one again. `None` if it answers what is typed, or has no answer yet.
    pub(in crate::state) fn answer_one(&mut self, id: PaneId) -> Option<Vec<Effect>> {
        let pane = self.pane(id).filter(|_| self.is_replying())?;
        if let PaneStatus::Refused {
            message: Some(message),
            ..
        } = &pane.status
        {
            let mut ask = self.next_turn(pane);
            ask.prompt.text.clone_from(message);
            ask.new.message = Some(message.clone());
            return Some(self.request_texts(vec![ask], None));
        }
        if !self.prompt.text.is_empty() {
            return None;
        }
        let last = pane.last_turn()?;
        Some(self.answer_again(last))
    }

    /// Answers the last message again in all panes, with the next seed.
    pub(in crate::state) fn answer_again_in_all(&mut self) -> Vec<Effect> {
        if self.is_running() {
            return Vec::new();
        }
        let panes = self.panes.iter().filter(|pane| !pane.is_left_out);
        let turns: Vec<(PaneId, Generation, String)> = panes
            .filter_map(|pane| {
                let answer = pane.answer()?;
                let is_possible = self.can_ask_again(pane.last_turn()?);
                let message = answer.prompt.text.clone();
                is_possible.then(|| (pane.id, answer.clone(), message))
            })
            .collect();
        if turns.is_empty() {
            return Vec::new();
        }
        self.seed = self.seed.wrapping_add(1);
        self.answer_in_place(turns, OriginChange::Seed)
    }

    /// Begins to edit the message of a turn, or stops editing.
    fn edit_message(&mut self, at: Option<TurnAt>) {
        let at = at.filter(|at| self.can_ask_again(*at));
        let turn = at.and_then(|at| self.pane(at.pane)?.latest()?.turn(at.turn));
        let edit = at.zip(turn).map(|(at, turn)| MessageEdit {
            at,
            text: turn.prompt.text.clone(),
            is_new: true,
        });
        self.branches.edit = None;
        self.branches.message = edit;
    }

    fn finish_message(&mut self, scope: EditScope) -> Vec<Effect> {
        let edit = self.branches.message.clone();
        let Some(MessageEdit { at, text, .. }) = edit.filter(|edit| !edit.text.is_empty()) else {
            return Vec::new();
        };
        let panes = self.panes.iter().filter(|pane| match scope {
            EditScope::Pane => pane.id == at.pane,
            EditScope::AllPanes => !pane.is_left_out || pane.id == at.pane,
        });
        let asked: Vec<(PaneId, Generation, String)> = panes
            .filter(|pane| {
                self.can_ask_again(TurnAt {
                    pane: pane.id,
                    ..at
                })
            })
            .filter_map(|pane| Some((pane.id, pane.latest()?.turn(at.turn)?.clone(), text.clone())))
            .collect();
        if asked.is_empty() {
            return Vec::new();
        }
        self.branches.message = None;
        self.answer_in_place(asked, OriginChange::Message)
    }

    /// Lets panes answer a message in place of a turn. What they showed stays in Branches, with all
    /// later turns.
    fn answer_in_place(
        &mut self,
        turns: Vec<(PaneId, Generation, String)>,
        change: OriginChange,
    ) -> Vec<Effect> {
        let mut before = Vec::new();
        let mut asks = Vec::new();
        for (pane, turn, message) in turns {
            let shown = self.pane(pane).and_then(Pane::latest);
            before.push((pane, shown.map(|text| text.lineage.id)));
            let form = PromptForm::of(turn.prompt.chat.as_ref());
            asks.push(Ask {
                pane,
                prompt: PromptText {
                    text: message.clone(),
                    form,
                },
                new: NewText {
                    message: Some(message),
                    previous_turn: turn.previous_turn.as_ref().map(Arc::clone),
                    origin: Some(Origin {
                        parent: turn.lineage.id,
                        position: 0,
                        change,
                    }),
                },
            });
        }
        self.show_turn(None);
        let pause_after = self.is_step_mode().then_some(2);
        let effects = self.request_texts(asks, pause_after);
        let swaps = before.into_iter().map(|(pane, before)| TextSwap {
            pane,
            before,
            after: self.pane(pane).and_then(|pane| pane.status.running()),
        });
        self.undo.note_swaps(swaps.collect());
        effects
    }

    fn show_version(&mut self, pane: PaneId, id: GenerationId) -> Vec<Effect> {
        let shown = self.pane(pane).and_then(Pane::latest);
        let before = shown.map(|text| text.lineage.id);
        let Some(text) = self.branches.kept.last_with(pane, id) else {
            return Vec::new();
        };
        let is_idle = |pane: &Pane| pane.status.running().is_none();
        if !self.pane(pane).is_some_and(is_idle) {
            return Vec::new();
        }
        let pin = self.pin.filter(|pin| pin.pane != pane);
        let effects = self.show_text(text);
        self.pin = pin;
        self.undo.note_swaps(vec![TextSwap {
            pane,
            before,
            after: Some(text),
        }]);
        effects
    }
}
