//! What the model of each pane reads next, as far as it is known before the message is sent.

use std::sync::Arc;

use crate::generation::{Generation, ModelSource, PromptText, PromptToken};
use crate::state::pane_models::OwnModel;
use crate::state::prompt::text_of;
use crate::state::{AppState, Effect, Pane, PaneId, PromptLength};
use crate::worker::Request;

/// The prompt that a pane's model reads if the message is sent as typed.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::state) struct NextPrompt {
    prompt: PromptText,
    /// The model that reads it; `None` for the main one.
    model: Option<ModelSource>,
    /// Its tokens. While they are counted, those of what was typed before.
    tokens: Option<Result<Arc<[PromptToken]>, String>>,
}

/// The tokens that a pane's model reads next.
#[derive(Debug, Clone, Copy)]
pub enum NextTokens<'a> {
    /// Those of the conversation with the message as typed, or why it has none.
    Typed(Result<&'a Arc<[PromptToken]>, &'a str>),
    /// Those of the conversation so far, as the model has read and written them.
    SoFar(&'a Generation),
}

impl NextTokens<'_> {
    /// Returns the tokens, or why there are none.
    pub fn listed(self) -> Result<Arc<[PromptToken]>, String> {
        match self {
            Self::Typed(tokens) => tokens.cloned().map_err(str::to_owned),
            Self::SoFar(answer) => Ok(tokens_so_far(answer)),
        }
    }
}

/// Returns the tokens of a prompt and of the answer to it.
fn tokens_so_far(answer: &Generation) -> Arc<[PromptToken]> {
    let prompt = &answer.prompt;
    let read = prompt.tokens.iter().zip(&prompt.pieces);
    let read = read.map(|(id, piece)| PromptToken {
        id: *id,
        piece: piece.clone(),
    });
    let written = answer.steps.iter().map(|step| PromptToken {
        id: step.token,
        piece: step.piece.clone(),
    });
    read.chain(written).collect()
}

impl AppState {
    /// Returns the tokens that the model of a pane reads next. `None` for a pane without an answer.
    pub fn next_tokens<'a>(&self, pane: &'a Pane) -> Option<NextTokens<'a>> {
        let answer = pane.answer()?;
        let typed = pane
            .next_prompt
            .as_ref()
            .and_then(|next| next.tokens.as_ref());
        let typed = typed.filter(|_| !self.prompt.text.is_empty());
        Some(match typed {
            Some(tokens) => NextTokens::Typed(tokens.as_ref().map_err(String::as_str)),
            None => NextTokens::SoFar(answer),
        })
    }

    /// Returns how many tokens the model of a pane reads next, as far as they are known.
    pub fn next_length(&self, pane: &Pane) -> Option<PromptLength> {
        let n_tokens = match self.next_tokens(pane)? {
            NextTokens::Typed(tokens) => tokens.ok()?.len(),
            NextTokens::SoFar(answer) => answer.prompt.tokens.len() + answer.steps.len(),
        };
        Some(PromptLength {
            n_tokens,
            n_max: self.models.of(pane)?.info.n_context,
        })
    }

    /// Copies what the model of a pane reads next, special tokens included.
    pub(in crate::state) fn copy_next_prompt(&self, id: PaneId) -> Vec<Effect> {
        let next = self.pane(id).and_then(|pane| self.next_tokens(pane));
        let tokens = next.and_then(|next| next.listed().ok());
        let copied = tokens.map(|tokens| Effect::CopyText(text_of(&tokens)));
        copied.into_iter().collect()
    }

    /// Asks for the tokens of what each pane reads next, if a message is typed. A server is not asked
    /// before the message is sent.
    pub(in crate::state) fn read_next_prompts(&mut self) -> Vec<Effect> {
        if self.is_running() {
            return Vec::new();
        }
        let is_typed = self.is_replying() && !self.prompt.text.is_empty();
        let next = |pane: &Pane| is_typed.then(|| self.next_prompt(pane)).flatten();
        let all: Vec<Option<NextPrompt>> = self.panes.iter().map(next).collect();
        let mut requests: Vec<Request> = Vec::new();
        for (pane, next) in self.panes.iter_mut().zip(all) {
            let before = pane.next_prompt.take();
            let is_new = match (&before, &next) {
                (_, None) => false,
                (None, Some(_)) => true,
                (Some(before), Some(next)) => before.request() != next.request(),
            };
            if !is_new {
                pane.next_prompt = next.and(before);
                continue;
            }
            let request = next.as_ref().map(NextPrompt::request);
            requests.extend(request.filter(|request| !requests.contains(request)));
            pane.next_prompt = next.map(|next| NextPrompt {
                tokens: next.tokens.or_else(|| before?.tokens),
                ..next
            });
        }
        // The prompt's own tokens are asked for by itself.
        let own = Request::Tokenize {
            prompt: self.prompt.to_text(),
            model: None,
        };
        requests.retain(|request| *request != own);
        requests.into_iter().map(Effect::Send).collect()
    }

    /// Returns what a pane reads next, if its model is ready to count it.
    fn next_prompt(&self, pane: &Pane) -> Option<NextPrompt> {
        let is_server = || {
            let model = self.models.chosen(&pane.settings);
            model.is_some_and(|model| model.served().is_some())
        };
        if pane.is_left_out || pane.answer().is_none() || is_server() {
            return None;
        }
        self.models.of(pane)?;
        let own = self.models.own(pane);
        let prompt = self.next_turn(pane).prompt;
        let is_read = own.is_none() && self.prompt.reads(&prompt);
        let read = self.prompt.reading.as_ref().filter(|_| is_read);
        Some(NextPrompt {
            prompt,
            model: OwnModel::local(own.as_ref()),
            tokens: read.map(|read| read.tokens.clone()),
        })
    }

    /// Stores the tokens for each pane that reads them next.
    pub(in crate::state) fn on_next_prompt(
        &mut self,
        prompt: &PromptText,
        model: Option<&ModelSource>,
        tokens: &Result<Vec<PromptToken>, String>,
    ) {
        let is_it = |next: &&mut NextPrompt| next.prompt == *prompt && next.model.as_ref() == model;
        let next = self
            .panes
            .iter_mut()
            .filter_map(|pane| pane.next_prompt.as_mut());
        let mut shared = None;
        for next in next.filter(is_it) {
            let tokens = shared.get_or_insert_with(|| tokens.clone().map(Arc::from));
            next.tokens = Some(tokens.clone());
        }
    }
}

impl NextPrompt {
    fn request(&self) -> Request {
        Request::Tokenize {
            prompt: self.prompt.clone(),
            model: self.model.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::NextTokens;
    use crate::decoding::TokenId;
    use crate::generation::testing::generation;
    use crate::generation::{ChatSupport, ModelInfo, Piece, PromptForm, PromptText, PromptToken};
    use crate::state::tests::{answer_waiting, chat_written};
    use crate::state::{AppState, Command, ConversationCommand, Effect, PaneModelCommand};
    use crate::worker::{Event, ModelSource, PaneModelUpdate, Request};

    fn other() -> ModelSource {
        ModelSource::Path("other.gguf".into())
    }

    /// Which prompts are tokenized, each with its model.
    fn tokenized(effects: &[Effect]) -> Vec<(PromptText, Option<ModelSource>)> {
        let requests = effects.iter().filter_map(|effect| match effect {
            Effect::Send(Request::Tokenize { prompt, model }) => {
                Some((prompt.clone(), model.clone()))
            }
            _ => None,
        });
        requests.collect()
    }

    fn type_message(state: &mut AppState, text: &str) -> Vec<(PromptText, Option<ModelSource>)> {
        text.clone_into(&mut state.prompt.text);
        tokenized(&state.apply(Command::PromptEdited))
    }

    fn answer(state: &mut AppState, prompt: &PromptText, model: Option<ModelSource>, n: usize) {
        let token = PromptToken {
            id: TokenId(7),
            piece: Piece::text("a"),
        };
        state.on_event(Event::Tokenized {
            prompt: prompt.clone(),
            model,
            tokens: Ok(vec![token; n]),
        });
    }

    /// Four panes that have answered "Hi" and then "Why?"; the second one has a model of its own, with
    /// room for 40 tokens.
    fn conversation() -> AppState {
        let mut state = chat_written("Hi", &[(" Hello", 0.5)]);
        let id = state.panes[1].id;
        let own = Some(other().into());
        state.apply(Command::PaneModel(PaneModelCommand::Choose(id, own)));
        let text = generation(&[]);
        state.on_event(Event::PaneModel {
            source: other(),
            update: PaneModelUpdate::Loaded {
                info: std::sync::Arc::new(ModelInfo {
                    n_context: 40,
                    ..(*text.model).clone()
                }),
                vocabulary: text.vocabulary,
                chat: ChatSupport::ready(),
                recommended_sampling: None,
                load_warning: None,
            },
        });
        state.prompt.text = "Why?".to_owned();
        state.apply(Command::GenerateAll);
        answer_waiting(&mut state, &[" so", " then", " so", " hm"]);
        state
    }

    #[test]
    fn each_pane_reads_its_own_history_with_its_own_model() {
        let mut state = conversation();
        let pane = |state: &AppState, place: usize| state.panes[place].clone();
        let so_far = state.next_tokens(&pane(&state, 0)).map(|next| match next {
            NextTokens::SoFar(answer) => answer.prompt.tokens.len() + answer.steps.len(),
            NextTokens::Typed(_) => 0,
        });
        let length = state.next_length(&pane(&state, 0)).unwrap();
        assert_eq!(so_far, Some(length.n_tokens), "nothing is typed");

        let asked = type_message(&mut state, "More");
        // A and C have the same history, which is that of the prompt.
        let of_other = asked.iter().filter(|(_, model)| *model == Some(other()));
        assert_eq!((asked.len(), of_other.count()), (3, 1), "{asked:?}");
        for (prompt, _) in &asked {
            let PromptForm::Chat(settings) = &prompt.form else {
                panic!("{prompt:?}");
            };
            assert_eq!((settings.history.len(), prompt.text.as_str()), (4, "More"));
        }
        for ((prompt, model), n) in asked.into_iter().zip([11, 12, 13]) {
            answer(&mut state, &prompt, model, n);
        }
        let lengths = [0, 1, 2, 3].map(|place| {
            let pane = pane(&state, place);
            state.next_length(&pane).unwrap().n_tokens
        });
        assert_eq!(lengths[0], lengths[2]);
        assert_eq!(
            lengths
                .iter()
                .collect::<std::collections::BTreeSet<_>>()
                .len(),
            3
        );
        let id = state.panes[1].id;
        let copied = state.apply(Command::CopyPrompt(Some(id)));
        assert_eq!(copied, [Effect::CopyText("a".repeat(lengths[1]))]);
        // While a longer message is counted, the last counts stay.
        type_message(&mut state, "More!");
        assert_eq!(
            state.next_length(&pane(&state, 1)).unwrap().n_tokens,
            lengths[1]
        );
        type_message(&mut state, "");
        let next = state.next_tokens(&state.panes[1]);
        assert!(matches!(next, Some(NextTokens::SoFar(_))));
    }

    #[test]
    fn a_conversation_that_is_too_long_for_a_panes_own_model_is_named() {
        let mut state = conversation();
        let asked = type_message(&mut state, "More");
        for (prompt, model) in asked {
            let n = if model.is_some() { 41 } else { 12 };
            answer(&mut state, &prompt, model, n);
        }
        let full = state.full_conversation().unwrap();
        assert_eq!(
            full.words,
            "The conversation of B has 41 tokens, but the model reads at most 40"
        );
        assert_eq!(full.pane, state.panes[1].id);
        let leave_out = ConversationCommand::LeaveOutOldest(full.pane);
        let asked = tokenized(&state.apply(Command::Conversation(leave_out)));
        let [(prompt, Some(_))] = &asked[..] else {
            panic!("only B reads something else now: {asked:?}");
        };
        let PromptForm::Chat(settings) = &prompt.form else {
            panic!("{prompt:?}");
        };
        assert_eq!(settings.history.len(), 2);
        answer(&mut state, prompt, Some(other()), 30);
        assert_eq!(state.full_conversation(), None);
        assert_eq!(state.conversation_length().unwrap().n_tokens, 30);
    }
}
