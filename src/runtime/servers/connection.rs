//! A connection to a server: what it is, what it serves, and the tokens that it has named.

use serde_json::Value;

use super::error::Broken;
use super::found::{file_name, model_name};
use super::http::Http;
use super::kind::ServerApi;
use super::llama_server::text;
use super::served::Served;
use super::{SampledBy, ServerConfig, ServerError, ServerInfo, ServerKind, StopFlag};
use crate::decoding::TokenId;
use crate::generation::{Piece, Vocabulary};

/// A connection to a server. Several texts can be generated at the same time.
#[derive(Debug)]
pub struct Connection {
    http: Http,
    served: Served,
    sampled_by: SampledBy,
    n_probs: usize,
}

impl Connection {
    /// Asks the server what it is and what it serves. Returns `None` if it was stopped.
    pub fn open(config: &ServerConfig, stop: &StopFlag) -> Result<Option<Self>, ServerError> {
        let http = Http::new(config)?;
        let info = match find(&http, config, stop) {
            Ok(info) => info,
            Err(Broken::Stopped) => return Ok(None),
            Err(Broken::Failed(error)) => return Err(error),
        };
        let n_probs = config
            .n_probs
            .unwrap_or_else(|| info.kind.default_n_probs());
        let n_max = info.n_vocab.unwrap_or(usize::MAX);
        Ok(Some(Self {
            served: Served::new(info, http.peer.clone()),
            http,
            sampled_by: config.sampled_by,
            n_probs: n_probs.clamp(1, n_max.max(1)),
        }))
    }

    /// Returns the properties of the server and its model.
    pub const fn info(&self) -> &ServerInfo {
        &self.served.info
    }

    /// Returns what chooses the tokens.
    pub const fn sampled_by(&self) -> SampledBy {
        self.sampled_by
    }

    /// Returns how many log-probabilities are requested for each token.
    pub const fn n_probs(&self) -> usize {
        self.n_probs
    }

    /// Returns the part of the vocabulary that the server has named so far.
    pub fn vocabulary(&self) -> Vocabulary {
        self.served.vocabulary()
    }

    /// Returns how many tokens the server has named.
    pub fn n_known_tokens(&self) -> usize {
        self.served.n_known_tokens()
    }

    pub(super) const fn http(&self) -> &Http {
        &self.http
    }

    pub(super) const fn served(&self) -> &Served {
        &self.served
    }

    pub(super) const fn kind(&self) -> ServerKind {
        self.served.info.kind
    }

    pub(super) const fn api(&self) -> &'static dyn ServerApi {
        self.served.info.kind.api()
    }

    pub(super) fn host(&self) -> &str {
        self.served.host()
    }

    pub(super) fn piece(&self, token: TokenId) -> Option<Piece> {
        self.served.piece(token)
    }

    /// Requests the texts of any of these tokens that the server has not named yet. Each takes a
    /// request, so only tokens that are shown should be named.
    pub(super) fn name_tokens(
        &self,
        tokens: impl Iterator<Item = TokenId>,
        stop: &StopFlag,
    ) -> Result<(), Broken> {
        for token in tokens {
            if self.piece(token).is_some() {
                continue;
            }
            if let Some(piece) = self.api().name_token(self, token, stop)? {
                self.served.learn(token, piece);
            }
        }
        Ok(())
    }

    /// Checks that the model is the one with which the text began.
    pub(super) fn check_model(&self, now: Option<&str>) -> Result<(), ServerError> {
        let then = &self.served.info.model;
        match now {
            // Some servers report the name from the request, others a longer form of it.
            Some(now) if !now.is_empty() && !now.contains(then.as_str()) => {
                Err(ServerError::ModelChanged {
                    then: then.clone(),
                    now: model_name(now).to_owned(),
                })
            }
            _ => Ok(()),
        }
    }
}

/// Finds out what kind of server it is and which model it serves.
fn find(http: &Http, config: &ServerConfig, stop: &StopFlag) -> Result<ServerInfo, Broken> {
    let listed = match (http.get("/v1/models", stop), config.kind, &config.model) {
        (Err(Broken::Failed(ServerError::NotFound { .. })), Some(kind), Some(model))
            if !kind.api().lists_models() =>
        {
            return Ok(ServerInfo::new(kind, &http.peer.host, model));
        }
        (listed, ..) => listed?,
    };
    let models = listed.get("data").and_then(Value::as_array);
    let models = models.ok_or_else(|| http.peer.unexpected("no list of models"))?;
    let model = chosen(models, config.model.as_deref(), http)?;
    let kind = match config.kind {
        Some(kind) => kind,
        None => recognized(text(model, "owned_by").unwrap_or_default(), http, stop)?,
    };
    kind.api().find(http, model, stop)
}

/// Returns the kind of a server whose model has this owner.
fn recognized(owner: &str, http: &Http, stop: &StopFlag) -> Result<ServerKind, Broken> {
    for kind in ServerKind::ALL {
        if kind.api().recognizes(owner, http, stop)? {
            return Ok(kind);
        }
    }
    Ok(ServerKind::OpenAi)
}

fn chosen<'a>(
    models: &'a [Value],
    wanted: Option<&str>,
    http: &Http,
) -> Result<&'a Value, ServerError> {
    let host = || http.peer.host.clone();
    let named = |model: &&Value| {
        let id = text(model, "id");
        wanted.is_none() || id == wanted || id.map(file_name) == wanted
    };
    match models.iter().find(named) {
        Some(model) => Ok(model),
        None if models.is_empty() => Err(ServerError::NoModel { host: host() }),
        None => Err(ServerError::ModelMissing {
            host: host(),
            model: wanted.unwrap_or_default().to_owned(),
            names: models
                .iter()
                .filter_map(|model| text(model, "id").map(|id| model_name(id).to_owned()))
                .collect(),
        }),
    }
}
