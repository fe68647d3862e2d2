//! One rule a file: what it does, its paper, its edges, a table of tests.

mod min_p;
mod penalties;
mod temperature;
mod top_k;
mod top_p;

pub use min_p::MinP;
pub use penalties::{FrequencyPenalty, PresencePenalty, RepetitionPenalty, Window};
pub use temperature::Temperature;
pub use top_k::TopK;
pub use top_p::TopP;
