//! The results of experiments as files.

mod blind;
mod cache;
mod fit;
mod models;
mod prompts;
mod stability;
mod sweep;

pub use blind::VotesDocument;
pub use cache::CacheDocument;
pub use fit::FitDocument;
pub use models::ModelsDocument;
pub use prompts::PromptsDocument;
pub use stability::StabilityDocument;
pub use sweep::SweepDocument;
