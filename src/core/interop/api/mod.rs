//! The HTTP API through which other programs ask for texts: OpenAI's, with llama-server's further
//! fields. A request's JSON becomes a prompt and settings, or an error in the API's form; a text
//! becomes the JSON of a response, whole or in parts.
//!
//! Pure functions. This module knows nothing about sockets, threads or engines.

mod answer;
mod body;
mod delivery;
mod error;
mod log_probs;
mod model;
mod prompt;
mod recorded;
mod request;
#[cfg(test)]
mod tests;
mod text_parts;

pub use answer::{AnswerForm, Usage};
pub use delivery::Delivery;
pub use error::ApiError;
pub use model::{ApiModel, health, models};
pub use prompt::RequestPrompt;
pub use recorded::{EarlierRequest, Parting, RecordedRequest, prompt_fields};
pub use request::{Endpoint, MAX_TEXTS, TextRequest};
pub use text_parts::{TextPart, TextParts, TokenStart};
