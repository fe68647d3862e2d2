//! Requests to all kinds of servers, and their responses, in common terms.

use serde_json::Value;

use super::distribution::{Reported, ReportedToken};
use super::served::Served;
use crate::decoding::TokenId;
use crate::generation::{PromptRecord, PromptToken};

/// The position in a text at which a token is requested.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub prompt: &'a PromptRecord,
    /// The prompt's tokens, then those of the text. Servers without ids use the text instead.
    pub tokens: &'a [TokenId],
    /// The text after the prompt.
    pub text: &'a [u8],
    /// Which of the server's slots holds the text, if one can be chosen.
    pub slot: Option<usize>,
}

impl Place<'_> {
    /// Returns the number of the requested token in the text, from 1.
    pub(super) fn number(&self) -> usize {
        self.tokens.len().saturating_sub(self.prompt.tokens.len()) + 1
    }

    /// Returns the text that the model has read, or `None` if it ends within a character.
    pub(super) fn whole_text(&self) -> Option<String> {
        let text = std::str::from_utf8(self.text).ok()?;
        let chat = self.prompt.chat.as_ref();
        let prompt = chat.map_or(self.prompt.text.as_str(), |chat| chat.rendered.as_str());
        Some(format!("{prompt}{text}"))
    }
}

/// One step of a text.
#[derive(Debug, Clone, Default)]
pub(super) struct Answer {
    pub reported: Reported,
    /// How long the server itself took, if it reports that.
    pub server_secs: Option<f64>,
    /// The model that responded, if the server reports it.
    pub model: Option<String>,
    /// Why the server's own sampler ended the text here, if it did and reported nothing.
    pub end: Option<StreamEnd>,
}

/// A part of a streamed text.
#[derive(Debug, Clone, Default)]
pub(super) struct StreamPart {
    pub tokens: Vec<StreamedToken>,
    pub end: Option<StreamEnd>,
    pub model: Option<String>,
    /// How long the server has decoded so far, if it reports that.
    pub server_secs: Option<f64>,
    /// How many tokens the server has chosen so far, if it reports that.
    pub n_chosen: Option<usize>,
}

impl StreamPart {
    /// Returns how many tokens of this part's text are not listed. `n_chosen` counts the tokens chosen
    /// so far.
    ///
    /// llama-server holds back a token that ends within a character. It then lists only the
    /// character's last token, with the text of all of them.
    pub(super) fn n_unlisted(&self, n_chosen: &mut usize) -> usize {
        let n_listed = self.tokens.len();
        let now = self.n_chosen.unwrap_or(*n_chosen);
        let n_new = now.saturating_sub(std::mem::replace(n_chosen, now));
        if n_listed == 0 || self.tokens.iter().all(|token| token.bytes.is_ascii()) {
            return 0;
        }
        n_new.saturating_sub(n_listed)
    }

    /// Makes each listed token stand for several. Its reported probability is the last one's, not the
    /// text's, so it is dropped.
    pub(super) fn merge_unlisted(&mut self) {
        for token in &mut self.tokens {
            token.is_last_of_several = true;
            token.reported.top.clear();
            if let Some(sampled) = &mut token.reported.sampled {
                (sampled.bytes, sampled.log_prob) = (None, None);
            }
        }
    }

    /// Lists all tokens of this part's text. What the server reported for the last one stays.
    /// Does nothing and returns `false` if `all` are not the tokens that the server counted, or not
    /// those of the text.
    pub(super) fn list_all(&mut self, all: &[PromptToken], n_unlisted: usize) -> bool {
        let ([listed], Some((last, earlier))) = (self.tokens.as_mut_slice(), all.split_last())
        else {
            return false;
        };
        let bytes = all.iter().flat_map(|token| &token.piece.bytes);
        let id = listed.reported.sampled.as_ref().and_then(|token| token.id);
        if earlier.len() != n_unlisted
            || id != Some(i128::from(last.id.0))
            || !bytes.eq(&listed.bytes)
        {
            return false;
        }
        listed.bytes.clone_from(&last.piece.bytes);
        if let Some(sampled) = &mut listed.reported.sampled {
            sampled.bytes = Some(last.piece.bytes.clone());
        }
        let earlier = earlier.iter().map(|token| StreamedToken {
            reported: Reported {
                top: Vec::new(),
                sampled: Some(ReportedToken {
                    id: Some(token.id.0.into()),
                    bytes: None,
                    log_prob: None,
                }),
            },
            bytes: token.piece.bytes.clone(),
            is_last_of_several: false,
        });
        self.tokens.splice(..0, earlier);
        true
    }
}

/// A token of a streamed text.
#[derive(Debug, Clone, Default)]
pub(super) struct StreamedToken {
    pub reported: Reported,
    pub bytes: Vec<u8>,
    /// Whether the bytes are those of several tokens, of which the server listed only the last.
    pub is_last_of_several: bool,
}

/// Why a server's sampler ended a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StreamEnd {
    EndOfText,
    Limit,
    ContextFull,
    /// The server's own word for another reason.
    Word(String),
}

impl StreamEnd {
    /// Reads a finish reason. Some servers send an empty one until the text ends.
    pub(super) fn of(reason: &Value, served: &Served) -> Option<Self> {
        let word = match reason {
            Value::Null => return None,
            Value::String(word) => served.peer.shown(word),
            other => served.peer.shown(&other.to_string()),
        };
        match word.as_str() {
            "" => None,
            "stop" | "eos" | "eos_token" => Some(Self::EndOfText),
            "length" | "limit" | "max_tokens" => Some(Self::Limit),
            _ => Some(Self::Word(word)),
        }
    }
}

/// Gives each token its part of a joined text: as many bytes as it names, and the last one the rest.
pub(super) fn split_text(content: &str, steps: Vec<Reported>) -> Vec<StreamedToken> {
    let (mut rest, n_steps) = (content.as_bytes(), steps.len());
    let split = |(index, reported): (usize, Reported)| {
        let own = reported.sampled.as_ref();
        let n_own = own.and_then(|token| Some(token.bytes.as_ref()?.len()));
        let n_own = match n_own {
            _ if index + 1 == n_steps => rest.len(),
            n_own => n_own.unwrap_or(0).min(rest.len()),
        };
        let (bytes, left) = rest.split_at(n_own);
        rest = left;
        let bytes = bytes.to_vec();
        StreamedToken {
            reported,
            bytes,
            is_last_of_several: false,
        }
    };
    steps.into_iter().enumerate().map(split).collect()
}

/// Returns the tokens of a text for which the server reported no probabilities: those with these ids,
/// of which the first gets the text, or the text as one token.
pub(super) fn without_probs(content: &str, ids: &Value) -> Vec<StreamedToken> {
    let ids = ids.as_array().map(Vec::as_slice).unwrap_or_default();
    let ids: Vec<i128> = ids.iter().filter_map(id_of).collect();
    if ids.is_empty() && content.is_empty() {
        return Vec::new();
    }
    let n_tokens = ids.len().max(1);
    let mut ids = ids.into_iter();
    let token = |index| {
        let sampled = ids.next().map(|id| ReportedToken {
            id: Some(id),
            bytes: None,
            log_prob: None,
        });
        let top = Vec::new();
        let content = if index == 0 { content } else { "" };
        StreamedToken {
            reported: Reported { top, sampled },
            bytes: content.as_bytes().to_vec(),
            is_last_of_several: false,
        }
    };
    (0..n_tokens).map(token).collect()
}

/// Reads a whole number, as an id of any size.
pub(super) fn id_of(number: &Value) -> Option<i128> {
    let whole = number.as_i64().map(i128::from);
    let whole = whole.or_else(|| number.as_u64().map(i128::from));
    // A float of 2⁵³ or more is no id either, and has no exact text.
    let float = || number.as_f64().filter(|float| float.fract() == 0.0);
    whole.or_else(|| float().map(|float| float as i128))
}
