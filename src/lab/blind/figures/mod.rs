//! Blind comparison: estimates how strong settings are from votes between texts whose settings were
//! hidden, and chooses which texts to compare next.

mod matrix;
mod next;
mod posterior;
mod strengths;
mod vote;

pub use next::next_shown;
pub use strengths::{Choice, PRIOR_SPREAD, Strength, Strengths};
pub use vote::{BlindText, BlindVote};
