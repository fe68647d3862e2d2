//! Whether a recorded run can be reproduced: how to run it again, how the two runs compare, and what
//! that proves.

mod comparison;
mod description;
mod facts;
mod plan;
mod second;
mod step;
mod text;
mod verdict;
mod words;

pub use comparison::{Comparison, logit_gap};
pub use facts::{Fact, Models, computed_alike, facts, facts_of_all, format_change, likely_cause};
pub use plan::replay_of;
pub use second::SecondNeeded;
pub use step::Unit;
pub use text::{Difference, TextContradiction, TextReplay};
pub use verdict::{Replayed, TextPlaces, Verdict, contradiction_words};
pub use words::WordsCheck;
