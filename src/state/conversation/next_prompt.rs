//! What the model of each pane reads next, as far as it is known before the message is sent.

use std::sync::Arc;

use crate::generation::{Generation, ModelSource, PromptText, PromptToken};
use crate::state::pane_models::OwnModel;
use crate::state::prompt::text_of;
use crate::state::{Effect, Models, Pane, Panes, PromptLength};
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

impl Pane {
    /// Returns the tokens that its model reads next. `None` without an answer.
    pub fn next_tokens(&self) -> Option<NextTokens<'_>> {
        let answer = self.answer()?;
        let typed = self
            .next_prompt
            .as_ref()
            .and_then(|next| next.tokens.as_ref());
        Some(match typed {
            Some(tokens) => NextTokens::Typed(tokens.as_ref().map_err(String::as_str)),
            None => NextTokens::SoFar(answer),
        })
    }

    /// Returns how many tokens its model reads next, as far as they are known.
    pub fn next_length(&self, models: &Models) -> Option<PromptLength> {
        let n_tokens = match self.next_tokens()? {
            NextTokens::Typed(tokens) => tokens.ok()?.len(),
            NextTokens::SoFar(answer) => answer.prompt.tokens.len() + answer.steps.len(),
        };
        Some(PromptLength {
            n_tokens,
            n_max: models.of(self)?.info.n_context,
        })
    }

    /// Copies what its model reads next, special tokens included.
    pub(in crate::state) fn copy_next_prompt(&self) -> Option<Effect> {
        let tokens = self.next_tokens()?.listed().ok()?;
        Some(Effect::CopyText(text_of(&tokens)))
    }

    /// Returns whether its next prompt can be tokenized before it is sent: a server is not asked for
    /// its tokens.
    pub(in crate::state) fn can_read_next(&self, models: &Models) -> bool {
        let model = models.chosen(&self.settings);
        let is_server = model.is_some_and(|model| model.served().is_some());
        !self.is_left_out && !is_server && self.answer().is_some() && models.of(self).is_some()
    }
}

impl Panes {
    /// Returns the pane whose conversation leaves the least room in its model's context, of those that
    /// are counted.
    pub(in crate::state) fn fullest(
        &self,
        models: &Models,
        is_counted: impl Fn(&Pane) -> bool,
    ) -> Option<&Pane> {
        let room = |pane: &Pane| match pane.next_length(models) {
            Some(length) => length.n_max as i128 - length.n_tokens as i128,
            None => i128::MAX,
        };
        let counted = self.iter().filter(|pane| is_counted(pane));
        let answered = counted.filter(|pane| pane.answer().is_some());
        answered.min_by_key(|pane| (pane.is_left_out, room(pane)))
    }

    /// Notes what each pane reads next. Returns the requests for the tokens that are not known yet.
    pub(in crate::state) fn read_next(&mut self, all: Vec<Option<NextPrompt>>) -> Vec<Request> {
        let mut requests: Vec<Request> = Vec::new();
        for (pane, next) in self.iter_mut().zip(all) {
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
        requests
    }

    /// Stores the tokens for each pane that reads them next.
    pub(in crate::state) fn on_next_prompt(
        &mut self,
        prompt: &PromptText,
        model: Option<&ModelSource>,
        tokens: &Result<Vec<PromptToken>, String>,
    ) {
        let is_it = |next: &&mut NextPrompt| next.prompt == *prompt && next.model.as_ref() == model;
        let next = self.iter_mut().filter_map(|pane| pane.next_prompt.as_mut());
        let mut shared = None;
        for next in next.filter(is_it) {
            let tokens = shared.get_or_insert_with(|| tokens.clone().map(Arc::from));
            next.tokens = Some(tokens.clone());
        }
    }
}

impl NextPrompt {
    /// A prompt that this model reads, with its tokens if they are known.
    pub(in crate::state) fn new(
        prompt: PromptText,
        own: Option<&OwnModel>,
        tokens: Option<Result<Arc<[PromptToken]>, String>>,
    ) -> Self {
        Self {
            prompt,
            model: OwnModel::local(own),
            tokens,
        }
    }

    /// Returns the request for its tokens.
    pub(in crate::state) fn request(&self) -> Request {
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
    use crate::state::tests::{answer_waiting, chat_written, pane_model_loaded};
    use crate::state::{AppState, Command, ConversationCommand, Effect, PaneModelCommand};
    use crate::worker::{Event, ModelSource, Request};

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
        let info = ModelInfo {
            n_context: 40,
            ..(*text.model).clone()
        };
        state.on_event(Event::PaneModel {
            source: other(),
            update: pane_model_loaded(info, text.vocabulary, ChatSupport::ready()),
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
        let so_far = pane(&state, 0).next_tokens().map(|next| match next {
            NextTokens::SoFar(answer) => answer.prompt.tokens.len() + answer.steps.len(),
            NextTokens::Typed(_) => 0,
        });
        let length = pane(&state, 0).next_length(&state.models).unwrap();
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
            pane.next_length(&state.models).unwrap().n_tokens
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
            pane(&state, 1).next_length(&state.models).unwrap().n_tokens,
            lengths[1]
        );
        type_message(&mut state, "");
        let next = state.panes[1].next_tokens();
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
