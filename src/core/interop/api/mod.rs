//! The HTTP API through which other programs ask for texts: OpenAI's, with llama-server's further
//! fields, and llama-server's own. A request's JSON becomes a prompt and settings, or an error in the API's form; a text
//! becomes the JSON of a response, whole or in parts.
//!
//! Pure functions. This module knows nothing about sockets, threads or engines.

mod answer;
mod answer_stream;
mod body;
mod call_reader;
mod delivery;
mod error;
mod finish;
mod harmless;
mod json_end;
mod llama_answer;
#[cfg(test)]
mod llama_tests;
mod log_probs;
mod model;
mod prompt;
mod recorded;
mod request;
#[cfg(test)]
mod tests;
mod text_parts;
mod tokens;

pub use answer::{AnswerForm, Usage};
pub use answer_stream::AnswerStream;
pub use delivery::Delivery;
pub use error::ApiError;
pub use model::{ApiModel, health, models, props};
pub use prompt::RequestPrompt;
pub use recorded::{EarlierRequest, Parting, RecordedRequest, prompt_fields};
pub use request::{Endpoint, MAX_TEXTS, TextRequest};
pub use tokens::{detokenize, template_answer, template_request, tokenize};
