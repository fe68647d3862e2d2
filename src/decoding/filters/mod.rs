//! The filters, one per file: its spec, its paper, its arithmetic and a table of tests.

mod cutoffs;
mod dry;
mod dynamic_temperature;
mod logit_bias;
mod min_p;
mod no_repeat_ngram;
mod penalties;
mod quadratic;
mod tail_free;
mod temperature;
mod top_a;
mod top_k;
mod top_n_sigma;
mod top_p;
mod typical_p;
mod window;
mod xtc;

pub use cutoffs::{EpsilonCutoff, EtaCutoff};
pub use dry::Dry;
pub use dynamic_temperature::DynamicTemperature;
pub use logit_bias::{LogitBias, TokenBias};
pub use min_p::MinP;
pub use no_repeat_ngram::NoRepeatNgram;
pub use penalties::{FrequencyPenalty, PresencePenalty, RepetitionPenalty};
pub use quadratic::QuadraticSmoothing;
pub use tail_free::TailFree;
pub use temperature::Temperature;
pub use top_a::TopA;
pub use top_k::TopK;
pub use top_n_sigma::TopNSigma;
pub use top_p::TopP;
pub use typical_p::TypicalP;
pub use window::Window;
pub use xtc::Xtc;
