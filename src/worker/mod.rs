//! The engine's thread: requests in, events out.
//!
//! The window and the command line know the engine only through this border.

mod protocol;

pub use protocol::{Event, GenerationId, ModelSource, PaneRequest, Request};
