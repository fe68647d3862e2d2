//! The kinds of servers. To add one, write a type with [`ServerApi`] and add its line to the list.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::error::Broken;
use super::http::Http;
use super::llama_server::LlamaServer;
use super::ollama::Ollama;
use super::openai::OpenAi;
use super::request::{Answer, Place, StreamPart};
use super::served::Served;
use super::vllm::Vllm;
use super::{Connection, ServerError, ServerInfo, StopFlag};
use crate::decoding::TokenId;
use crate::generation::{ChatSettings, GenerationConfig, Piece, PromptToken};
use crate::interop::tools::{RequestFormat, RequestSettings, request_settings};

/// Generates the list of kinds. Each is named like the type that talks to it.
macro_rules! server_kinds {
    ($($(#[$doc:meta])* $kind:ident,)*) => {
        /// The program that serves a model.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "&'static str")]
        pub enum ServerKind {
            $($(#[$doc])* $kind,)*
        }

        impl ServerKind {
            /// All kinds, in menu order. A server is of the first kind that recognizes it.
            pub const ALL: [Self; [$(stringify!($kind)),*].len()] = [$(Self::$kind,)*];

            /// Returns what talks to servers of this kind.
            pub(super) const fn api(self) -> &'static dyn ServerApi {
                match self {
                    $(Self::$kind => &$kind,)*
                }
            }
        }
    };
}

server_kinds! {
    LlamaServer,
    Vllm,
    Ollama,
    /// Anything else with OpenAI's completions API.
    OpenAi,
}

/// What is known about a kind of server before one is contacted.
#[derive(Debug)]
pub(super) struct ServerSpec {
    /// Its name, as shown and recorded.
    pub name: &'static str,
    /// Its name on the command line and in files.
    pub word: &'static str,
    /// Whether it identifies tokens by ids, so that a text is continued token by token.
    pub has_ids: bool,
    /// How many log-probabilities to request by default. Most kinds refuse more unless they were
    /// configured otherwise at startup.
    pub default_n_probs: usize,
    /// Whether it reports the whole distribution on request, impossible tokens last.
    pub reports_all: bool,
    /// Whether it reports the texts of drafted tokens only as parts of the stream.
    pub streams_drafted_texts: bool,
    /// How its sampler takes settings.
    pub format: RequestFormat,
    /// Sentences about what to expect from it.
    pub remarks: &'static [&'static str],
}

/// How servers of one kind are asked.
pub(super) trait ServerApi: Sync {
    fn spec(&self) -> &'static ServerSpec;

    /// Returns whether a server is of this kind. `owner` is the owner of its model, according to
    /// `/v1/models`.
    fn recognizes(&self, owner: &str, http: &Http, stop: &StopFlag) -> Result<bool, Broken>;

    /// Returns whether it always lists the models that it serves. Otherwise the user may name one.
    fn lists_models(&self) -> bool {
        true
    }

    /// Reads the properties of the server and its model. `model` is an entry of `/v1/models`.
    fn find(&self, http: &Http, model: &Value, stop: &StopFlag) -> Result<ServerInfo, Broken>;

    /// Renders a message with the model's chat template. Returns `None` if it can't.
    fn render_chat(
        &self,
        _connection: &Connection,
        _message: &str,
        _settings: &ChatSettings,
        _stop: &StopFlag,
    ) -> Result<Option<String>, Broken> {
        Ok(None)
    }

    /// Returns the tokens of a prompt, including those that the model adds. There are none without
    /// ids.
    fn tokenize(
        &self,
        _connection: &Connection,
        _prompt: &str,
        _stop: &StopFlag,
    ) -> Result<Vec<PromptToken>, Broken> {
        Ok(Vec::new())
    }

    /// Returns the tokens of a part of a text, in which nothing stands for a special token. There are
    /// none if it can't.
    fn tokenize_part(
        &self,
        _connection: &Connection,
        _text: &str,
        _stop: &StopFlag,
    ) -> Result<Vec<PromptToken>, Broken> {
        Ok(Vec::new())
    }

    /// Requests the text of a token. Returns `None` if it can't.
    fn name_token(
        &self,
        _connection: &Connection,
        _token: TokenId,
        _stop: &StopFlag,
    ) -> Result<Option<Piece>, Broken> {
        Ok(None)
    }

    /// Requests the joined text of tokens that are parts of characters. Returns `None` if the text
    /// of each is known by itself.
    fn join_parts(
        &self,
        _connection: &Connection,
        _tokens: &[TokenId],
        _stop: &StopFlag,
    ) -> Result<Option<String>, Broken> {
        Ok(None)
    }

    /// Requests the distribution of the next token.
    fn ask_step(
        &self,
        connection: &Connection,
        place: Place<'_>,
        n_probs: usize,
        stop: &StopFlag,
    ) -> Result<Answer, Broken>;

    /// Reads the response to a request for the token with this number.
    fn answer_of(
        &self,
        served: &Served,
        number: usize,
        answer: &Value,
    ) -> Result<Answer, ServerError>;

    /// Reads a part of a stream, or a whole response from a server that does not stream.
    fn stream_part(&self, served: &Served, part: &Value) -> StreamPart;

    /// Returns the settings as its sampler takes them.
    fn translated(&self, _info: &ServerInfo, config: GenerationConfig) -> RequestSettings {
        request_settings(self.spec().format, &config)
    }

    /// Returns fields that switch off what the settings in `fields` do not use.
    fn neutral_fields(&self, _fields: &Map<String, Value>) -> Vec<(&'static str, Value)> {
        Vec::new()
    }

    /// Returns the path and the body of a request for up to `n_max` tokens, with the settings in
    /// `fields`.
    fn sampler_request(
        &self,
        connection: &Connection,
        place: Place<'_>,
        fields: Map<String, Value>,
        n_max: usize,
    ) -> Result<(&'static str, Value), ServerError>;
}

impl ServerKind {
    /// Returns its name, as shown and recorded.
    pub fn name(self) -> &'static str {
        self.api().spec().name
    }

    /// Returns its name on the command line.
    pub fn word(self) -> &'static str {
        self.api().spec().word
    }

    /// Returns whether it identifies tokens by ids, so that a text is continued token by token.
    pub fn has_ids(self) -> bool {
        self.api().spec().has_ids
    }

    /// Returns how many log-probabilities to request by default.
    pub fn default_n_probs(self) -> usize {
        self.api().spec().default_n_probs
    }
}

impl FromStr for ServerKind {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let mut kinds = Self::ALL.into_iter();
        kinds.find(|kind| kind.word() == word).ok_or_else(|| {
            let words = Self::ALL.map(Self::word).join(", ");
            format!("{word:?} is not a kind of server; choose one of {words}")
        })
    }
}

impl TryFrom<String> for ServerKind {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        word.parse()
    }
}

impl From<ServerKind> for &'static str {
    fn from(kind: ServerKind) -> Self {
        kind.word()
    }
}

#[cfg(test)]
mod tests {
    use super::ServerKind;

    #[test]
    fn a_kind_is_found_by_its_word() {
        for kind in ServerKind::ALL {
            assert_eq!(kind.word().parse(), Ok(kind));
            let stored = serde_json::to_value(kind).unwrap();
            assert_eq!(stored, kind.word());
            let kept: ServerKind = serde_json::from_value(stored).unwrap();
            assert_eq!(kept, kind);
        }
        let error = "lm-studio".parse::<ServerKind>().unwrap_err();
        let expected = "\"lm-studio\" is not a kind of server; choose one of llama-server, vllm, \
                        ollama, openai";
        assert_eq!(error, expected);
    }
}
