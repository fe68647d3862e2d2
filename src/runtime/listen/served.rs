//! The model that answers, which can change while the endpoint is open.

use std::sync::{Arc, Mutex, PoisonError};

use crate::interop::api::{ApiError, ApiModel};

/// The loaded model, or none while there is none.
#[derive(Clone, Default)]
pub(super) struct ServedModel(Arc<Mutex<Option<Arc<ApiModel>>>>);

impl ServedModel {
    /// Returns the model, or the answer to programs that ask while none is loaded.
    pub(super) fn get(&self) -> Result<Arc<ApiModel>, ApiError> {
        let model = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        model.clone().ok_or_else(no_model)
    }

    /// Returns whether this is the loaded model.
    pub(super) fn is(&self, model: &Arc<ApiModel>) -> bool {
        self.get().is_ok_and(|loaded| Arc::ptr_eq(&loaded, model))
    }

    pub(super) fn set(&self, model: Option<ApiModel>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = model.map(Arc::new);
    }
}

/// Returns the answer to programs that ask while no model is loaded.
fn no_model() -> ApiError {
    ApiError::refused(503, "No model is loaded")
}
