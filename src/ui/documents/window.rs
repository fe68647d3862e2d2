//! What the window holds besides runs: presets and lessons.

use super::{Render, RenderedDocument, file};
use crate::interop::presets;
use crate::state::{AnswersDocument, AppState, LessonDocument, PresetsDocument, answers_csv};
use crate::ui::pictures::Look;

impl RenderedDocument for PresetsDocument {
    fn gather(&self, state: &AppState, _look: Look) -> Result<Render, String> {
        let presets = state.presets.clone();
        Ok(file(move || presets::file::render(&presets)))
    }
}

impl RenderedDocument for LessonDocument {
    fn gather(&self, state: &AppState, _look: Look) -> Result<Render, String> {
        let lesson = state.lesson_draft();
        Ok(file(|| lesson.into_bytes()))
    }
}

impl RenderedDocument for AnswersDocument {
    fn gather(&self, state: &AppState, _look: Look) -> Result<Render, String> {
        let predictions = state.lessons.predictions();
        Ok(file(move || answers_csv(&predictions)))
    }
}
