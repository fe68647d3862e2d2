//! The progress in the lessons, which persists across restarts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::LessonRun;
use crate::lessons::{Lesson, Prediction, mean_excess};

/// The progress in the lessons, by their ids.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LessonProgress {
    /// The predictions of each finished lesson.
    finished: BTreeMap<String, Vec<Prediction>>,
    /// The place in each lesson that was begun.
    begun: BTreeMap<String, LessonPlace>,
}

/// A place in a lesson that was left before its end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct LessonPlace {
    /// The index of the step.
    pub step: usize,
    /// The predictions before it.
    pub predictions: Vec<Prediction>,
}

impl LessonProgress {
    /// Returns the mean cost of a prediction in bits, if the lesson was finished.
    pub fn score_of(&self, id: &str) -> Option<f64> {
        let scores = self.finished.get(id)?.iter().map(|made| made.score);
        mean_excess(&scores.collect::<Vec<_>>())
    }

    /// Returns the number of the step at which a lesson resumes, counted from 1, if it was begun.
    pub fn begun_at(&self, id: &str) -> Option<usize> {
        let place = self.begun.get(id).filter(|place| place.step > 0)?;
        Some(place.step + 1)
    }

    /// Returns the predictions of each lesson, by its id, if any were made.
    pub(super) fn predictions(&self) -> BTreeMap<String, Vec<Prediction>> {
        let begun = self
            .begun
            .iter()
            .map(|(id, place)| (id, &place.predictions));
        // If a lesson was finished and begun again, its newer predictions count.
        let all = self.finished.iter().chain(begun);
        all.filter(|(_, made)| !made.is_empty())
            .map(|(id, made)| (id.clone(), made.clone()))
            .collect()
    }

    pub(super) fn place_of(&self, lesson: &Lesson) -> LessonPlace {
        let place = self.begun.get(&lesson.id);
        // A new version of a lesson may have fewer steps.
        let place = place.filter(|place| place.step < lesson.steps.len());
        place.cloned().unwrap_or_default()
    }

    pub(super) fn keep_place(&mut self, run: &LessonRun) {
        let id = run.lesson.id.clone();
        if run.is_over() {
            self.begun.remove(&id);
            self.finished.insert(id, run.predictions.clone());
            return;
        }
        self.begun.insert(id, run.place());
    }
}
