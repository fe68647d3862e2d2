//! Why a request is refused or failed, in the form in which the API reports it.

use serde_json::{Value, json};

/// An error of the API. The message can be shown to the user of the program that asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// The HTTP status.
    pub status: u16,
    pub message: String,
    /// The field of the request that is at fault, if it is a single one.
    pub param: Option<String>,
    /// A code that programs can check without reading the message.
    pub code: Option<&'static str>,
}

impl ApiError {
    /// The request can't be answered as it is.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self {
            status: 400,
            message: message.into(),
            param: None,
            code: None,
        }
    }

    /// A field of the request has a wrong value, or one that is not supported.
    pub fn invalid_field(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            param: Some(param.into()),
            ..Self::invalid(message)
        }
    }

    /// The request is refused with this status.
    pub fn refused(status: u16, message: impl Into<String>) -> Self {
        Self {
            status,
            ..Self::invalid(message)
        }
    }

    /// The text could not be written, through no fault of the request.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::refused(500, message)
    }

    /// Returns the API's name for the kind of error.
    const fn kind(&self) -> &'static str {
        match self.status {
            403 => "permission_error",
            429 => "rate_limit_error",
            500.. => "server_error",
            _ => "invalid_request_error",
        }
    }

    /// Returns the error as the body of a response. In llama-server's own form, its code is the status.
    pub fn body(&self, is_llama_form: bool) -> Value {
        let code = if is_llama_form {
            json!(self.status)
        } else {
            json!(self.code)
        };
        json!({
            "error": {
                "message": self.message,
                "type": self.kind(),
                "param": self.param,
                "code": code,
            }
        })
    }
}
