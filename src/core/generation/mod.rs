//! The record of a generation, as plain data: what was requested and what happened.
//!
//! This module knows nothing about models, threads, files or windows; it depends only on
//! `decoding`.

pub mod any_float;
mod beams;
mod byte_size;
mod cache_shape;
mod certain_text;
mod chat_message;
mod checkpoints;
mod config;
mod continuation;
mod conversion;
mod earlier;
mod escape;
mod finish;
mod fit;
pub mod formatting;
mod future;
pub mod hosts;
mod id;
mod implementation;
mod lineage;
mod listing;
mod model;
mod model_source;
mod outline;
mod pane_settings;
mod piece;
mod prompt;
mod prompt_check;
mod recommended_sampling;
mod record;
mod remote_model;
mod steps;
mod stop;
mod sweep;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod text_end;
mod thinking_budget;
mod token_search;
mod tool_call_form;
mod turns;
mod vocabulary;

pub use beams::{BeamNode, BeamPass, BeamPlace, Beams};
pub use byte_size::ByteSize;
pub use cache_shape::CacheShape;
pub use certain_text::{CertainPart, CertainText};
pub use chat_message::{ChatMessage, ChatRole, ChatTools, ToolCallName};
pub use checkpoints::Checkpoints;
pub use config::{EndOfText, GenerationConfig, Limits};
pub use continuation::Continuation;
pub use conversion::Conversion;
pub use earlier::EarlierSettings;
pub use escape::{escape, unescape};
pub use finish::FinishReason;
pub use fit::{FitPlace, FitPlan, FitText, FitTokens, FitUpdate, Likelihood};
pub use future::{DrawnFutures, Future, FuturesPlan};
pub use id::GenerationId;
pub use implementation::Implementation;
pub use lineage::{Lineage, Origin, OriginChange};
pub use listing::{in_sentence, listed};
pub use model::{ModelInfo, Provenance, with_formats};
pub use model_source::{ModelSource, PaneModel, ServedModel};
pub use outline::{ExpertsOutline, MemoryNeed, ModelOutline};
pub use pane_settings::{PaneSettings, chain_words, default_name};
pub use piece::{Piece, PieceKind};
pub use prompt::{
    ChatRecord, ChatSettings, ChatSupport, GIVEN_VARIABLES, PromptForm, PromptText, PromptToken,
    TemplateKwargs, TemplateSwitch,
};
pub use prompt_check::PromptCheck;
pub use recommended_sampling::RecommendedSampling;
pub use record::{Generation, PromptRecord, Step, StepTime, TextModels};
pub use remote_model::{CheckDepth, Openness, RemoteCheck, RemoteFile, RemoteModel};
pub use steps::{Steps, StepsIter, StepsIterMut};
pub use stop::StopMatcher;
pub use sweep::{PaneTextsPlan, ServedText, SweepPlan, SweepText, SweepUpdate, TokenMeasures};
pub use text_end::{LastToken, TextEnd};
pub use thinking_budget::{
    THOUGHT_TAGS, ThoughtTags, UnspelledThought, note_character_parts, spell_thoughts,
    unspell_thoughts,
};
pub use tool_call_form::ToolCallForm;
pub use turns::{EarlierTurn, N_MAX_TURNS, change_turns, turns_before};
pub use vocabulary::{Framing, Vocabulary};
