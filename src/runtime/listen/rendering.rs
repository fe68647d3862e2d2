//! Chats that programs want rendered through the model’s template, without an answer.

use super::asked::{Reply, ReplySender};
use crate::generation::{FinishReason, GenerationId, PromptText};
use crate::interop::api::{ApiError, template_answer};
use crate::worker::{Progress, Request};

/// A chat to render.
pub(super) struct AskedTemplate {
    pub chat: PromptText,
    pub reply: ReplySender,
}

/// The chats that the worker renders.
#[derive(Default)]
pub(super) struct Renderings(Vec<(GenerationId, ReplySender)>);

impl Renderings {
    /// Returns what the worker must do.
    pub(super) fn begin(&mut self, id: GenerationId, asked: AskedTemplate) -> Request {
        self.0.push((id, asked.reply));
        Request::Render {
            id,
            chat: asked.chat,
        }
    }

    /// Passes on what the worker reports. Returns whether it is about one of these chats.
    pub(super) fn note(&mut self, progress: &Progress) -> bool {
        let (id, answer) = match progress {
            Progress::Started { ids, prompt } => {
                let rendered = prompt.chat.as_ref().map_or("", |chat| &chat.rendered);
                (ids.first(), Ok(template_answer(rendered)))
            }
            Progress::Finished { id, reason } => {
                let error = match reason {
                    FinishReason::Failed { error } => ApiError::invalid(error.clone()),
                    _ => ApiError::failed("The chat was not rendered"),
                };
                (Some(id), Err(error))
            }
            Progress::Prefilling { .. } | Progress::Stepped { .. } | Progress::Compared { .. } => {
                return false;
            }
        };
        let Some(index) = (self.0.iter()).position(|(own, _)| Some(own) == id) else {
            return false;
        };
        let (_, reply) = self.0.swap_remove(index);
        // A program that has left needs no answer.
        reply.send(Reply::Whole(answer)).ok();
        true
    }

    /// Forgets all, because the worker is gone. Their programs are told that the endpoint is closed.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns whether there are none.
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
