//! The engine's thread: requests in, events out.
//!
//! The window and the command line know the engine only through this border.

mod protocol;

pub use crate::generation::GenerationId;
pub use protocol::{Event, ModelSource, PaneRequest, Request};
