//! The tokens of earlier requests, with which later prompts are compared.

use std::collections::VecDeque;

use super::client::Client;
use super::limits::{MAX_EARLIER, MAX_EARLIER_TOKENS};
use crate::decoding::TokenId;
use crate::generation::{Generation, PromptRecord, Vocabulary};
use crate::interop::api::EarlierRequest;

/// The latest requests, the newest first.
#[derive(Debug, Default)]
pub(super) struct EarlierRequests(VecDeque<Earlier>);

#[derive(Debug)]
struct Earlier {
    number: u64,
    /// In seconds since 1970.
    asked_at: u64,
    /// Of its prompt, and of its first text once that is written.
    tokens: Vec<TokenId>,
}

impl EarlierRequests {
    /// Compares the prompt of a request with all earlier ones, and then lists it.
    pub(super) fn begin(
        &mut self,
        client: &Client,
        prompt: &PromptRecord,
        vocabulary: &Vocabulary,
    ) -> Option<EarlierRequest> {
        let earlier = self.0.iter();
        let earlier = earlier.map(|one| (one.asked_at, one.tokens.as_slice()));
        let found = EarlierRequest::find(prompt, vocabulary, earlier);
        self.0.push_front(Earlier {
            number: client.number,
            asked_at: client.asked_at,
            tokens: prompt.tokens.clone(),
        });
        self.forget_oldest();
        found
    }

    /// Appends what was written: the next message of a conversation follows it.
    pub(super) fn end(&mut self, number: u64, text: &Generation) {
        if let Some(one) = self.0.iter_mut().find(|one| one.number == number) {
            one.tokens.extend(text.steps.iter().map(|step| step.token));
        }
        self.forget_oldest();
    }

    /// Forgets all, because another model has other tokens.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    fn forget_oldest(&mut self) {
        let n_tokens = |all: &Self| all.0.iter().map(|one| one.tokens.len()).sum::<usize>();
        while self.0.len() > MAX_EARLIER || n_tokens(self) > MAX_EARLIER_TOKENS {
            self.0.pop_back();
        }
    }
}
