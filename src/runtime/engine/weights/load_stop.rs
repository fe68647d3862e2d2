//! Why a load ended before the model was complete: the user cancelled it, or it failed.

use crate::engine::EngineError;

/// Why a load ended before the model was complete.
///
/// Cancelling is not an error. It only travels up the same way, so that `?` passes it on.
#[derive(Debug)]
pub(crate) enum LoadStop {
    /// The progress listener asked to stop.
    Cancelled,
    Failed(EngineError),
}

impl From<EngineError> for LoadStop {
    fn from(error: EngineError) -> Self {
        Self::Failed(error)
    }
}

impl From<candle_core::Error> for LoadStop {
    fn from(error: candle_core::Error) -> Self {
        Self::Failed(error.into())
    }
}
