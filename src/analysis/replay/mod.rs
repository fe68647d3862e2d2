//! Whether a recorded run can be reproduced: how to run it again, and how the two runs compare.

mod facts;
mod plan;
mod second;
mod text;
mod verdict;

pub use facts::{Fact, Models, facts, facts_of_all, likely_cause};
pub use plan::replay_of;
pub use second::SecondNeeded;
pub use text::{Difference, TextReplay};
pub use verdict::{Verdict, logit_gap};
