//! A program's request, as the run that answered it keeps it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::decoding::TokenId;
use crate::generation::formatting::one_line;
use crate::generation::{ChatRecord, PromptRecord, Vocabulary};
use crate::interop::message_json;

/// How many tokens before the first different one are kept.
const N_BEFORE: usize = 8;

/// How many characters of a token are shown.
const N_WORD: usize = 24;

/// What a run file keeps of the request that it answers. No header is kept but the program's name,
/// because some hold keys.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedRequest {
    /// What the program calls itself: "curl/8.5.0".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The method and path: "POST /v1/completions".
    pub target: String,
    /// When it arrived, in seconds since 1970.
    pub asked_at: u64,
    /// The fields of its body as they were sent, except the prompt, the messages and the tools, which
    /// the run's prompt holds.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub fields: Map<String, Value>,
    /// Why the program did not get the whole answer, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undelivered: Option<String>,
    /// The earlier request whose text begins like this one’s prompt, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<EarlierRequest>,
}

/// How far the prompt of a request repeats the text of an earlier one. Tokens that are repeated need
/// not be read again while they are in the KV cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EarlierRequest {
    /// When the earlier request arrived, in seconds since 1970.
    pub asked_at: u64,
    /// How many tokens both begin with.
    pub n_common: usize,
    /// Where they part. `None` if one of them is the beginning of the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parting: Option<Parting>,
}

/// The first token at which two prompts differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parting {
    /// The text before it, as far as it is shown.
    pub before: String,
    /// The token of this prompt, as text.
    pub now: String,
    /// The token of the earlier prompt, as text.
    pub then: String,
}

impl RecordedRequest {
    /// Returns the body of the request, with the prompt or the messages that its run holds.
    pub fn body(&self, prompt: &PromptRecord) -> Map<String, Value> {
        let mut body = self.fields.clone();
        body.extend(prompt_fields(prompt));
        body
    }
}

/// Returns the fields of a request that hold its prompt.
pub fn prompt_fields(prompt: &PromptRecord) -> Map<String, Value> {
    let mut fields = Map::new();
    let Some(ChatRecord { settings, .. }) = &prompt.chat else {
        fields.insert("prompt".to_owned(), json!(prompt.text));
        return fields;
    };
    let system = settings.system.as_ref();
    let system = system.map(|system| json!({"role": "system", "content": system}));
    let last = settings.message(&prompt.text);
    let messages = settings.history.iter().chain([&last]).map(message_json);
    let messages: Vec<Value> = system.into_iter().chain(messages).collect();
    fields.insert("messages".to_owned(), Value::Array(messages));
    if !settings.tools.definitions.is_empty() {
        fields.insert("tools".to_owned(), json!(settings.tools.definitions));
    }
    if !settings.kwargs.is_empty() {
        fields.insert("chat_template_kwargs".to_owned(), json!(settings.kwargs));
    }
    fields
}

impl EarlierRequest {
    /// Says where the prompt parts from the earlier text: "broke at ‘Saturday’".
    pub fn broke_words(&self) -> Option<String> {
        let parting = self.parting.as_ref()?;
        Some(format!(
            "broke at ‘{}’",
            one_line(parting.now.trim(), N_WORD)
        ))
    }

    /// Compares a prompt with the tokens of earlier requests, the latest first, each with when it
    /// arrived. Returns the one that it repeats farthest, and the latest of those. `None` if it
    /// repeats none.
    pub fn find<'a>(
        prompt: &PromptRecord,
        vocabulary: &Vocabulary,
        earlier: impl IntoIterator<Item = (u64, &'a [TokenId])>,
    ) -> Option<Self> {
        let mut found: Option<(usize, u64, &[TokenId])> = None;
        for (asked_at, tokens) in earlier {
            let pairs = prompt.tokens.iter().zip(tokens);
            let n_common = pairs.take_while(|(now, then)| now == then).count();
            if n_common > found.map_or(0, |(n_most, ..)| n_most) {
                found = Some((n_common, asked_at, tokens));
            }
        }
        let (n_common, asked_at, tokens) = found?;
        // A template and a tokenizer begin every text alike.
        let common = prompt.tokens.get(..n_common).unwrap_or_default();
        if vocabulary.visible_text(common).trim().is_empty() {
            return None;
        }
        let parting = prompt.tokens.get(n_common).zip(tokens.get(n_common));
        let text = |token: TokenId| vocabulary.piece(token).to_string();
        Some(Self {
            asked_at,
            n_common,
            parting: parting.map(|(now, then)| Parting {
                before: before(prompt, vocabulary, n_common),
                now: text(*now),
                then: text(*then),
            }),
        })
    }
}

/// Returns the text of the last tokens before this one.
fn before(prompt: &PromptRecord, vocabulary: &Vocabulary, index: usize) -> String {
    let shown = index.saturating_sub(N_BEFORE)..index;
    vocabulary.visible_text(prompt.tokens.get(shown).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::{EarlierRequest, Parting};
    use crate::decoding::TokenId;
    use crate::generation::{Piece, PromptRecord, Vocabulary};

    fn tokens(ids: &[u32]) -> Vec<TokenId> {
        ids.iter().copied().map(TokenId).collect()
    }

    fn vocabulary() -> Vocabulary {
        let pieces = ["Now", " it is", " Friday", " Saturday", "."];
        Vocabulary::new(pieces.map(Piece::text).to_vec())
    }

    fn found(now: &[u32], earlier: &[(u64, &[u32])]) -> Option<EarlierRequest> {
        let prompt = PromptRecord {
            tokens: tokens(now),
            ..PromptRecord::default()
        };
        let earlier: Vec<_> = (earlier.iter())
            .map(|(asked_at, ids)| (*asked_at, tokens(ids)))
            .collect();
        let earlier = (earlier.iter()).map(|(asked_at, tokens)| (*asked_at, tokens.as_slice()));
        EarlierRequest::find(&prompt, &vocabulary(), earlier)
    }

    #[test]
    fn a_request_names_the_latest_one_that_it_repeats_farthest_and_where_they_part() {
        let parted = EarlierRequest {
            asked_at: 7,
            n_common: 2,
            parting: Some(Parting {
                before: "Now it is".to_owned(),
                now: " Saturday".to_owned(),
                then: " Friday".to_owned(),
            }),
        };
        let earlier: [(u64, &[u32]); 3] = [(9, &[0]), (7, &[0, 1, 2, 4]), (5, &[0, 1, 2])];
        assert_eq!(found(&[0, 1, 3, 4], &earlier), Some(parted));
        let goes_on = found(&[0, 1, 2, 4, 4], &earlier).unwrap();
        assert_eq!((goes_on.asked_at, goes_on.n_common), (7, 4));
        assert_eq!(goes_on.parting, None);
        assert_eq!(found(&[1, 0], &earlier), None);
    }
}
