//! The models of panes that do not use the main one, each with its own session.

use std::sync::Arc;

use crate::engine::{JobPriority, JobUpdate, Progress, Session};
use crate::generation::{
    ChatSupport, GenerationId, ModelInfo, ModelSource, RecommendedSampling, Vocabulary,
};

/// What happened to the model of a pane.
#[derive(Debug, Clone, PartialEq)]
pub enum PaneModelUpdate {
    /// It is being loaded. Other panes pause meanwhile.
    Loading {
        /// The fraction loaded so far, between 0 and 1.
        fraction: f32,
    },
    /// Panes can use it.
    Loaded {
        info: Arc<ModelInfo>,
        vocabulary: Arc<Vocabulary>,
        chat: ChatSupport,
        recommended_sampling: Option<Arc<RecommendedSampling>>,
        /// Why an optional file could not be loaded, if there was such a problem.
        load_warning: Option<String>,
    },
    /// It could not be loaded. If it was loaded before, it stays loaded.
    Failed {
        /// Can be shown to the user.
        error: String,
    },
    /// Loading was cancelled. If it was loaded before, it stays loaded.
    Cancelled,
    /// It is no longer loaded, and its memory is free.
    Unloaded,
}

/// The sessions of all loaded models: the main one, which may be missing, and those of panes.
///
/// While several of them have work, they take turns in rounds of one forward pass each.
#[derive(Default)]
pub(super) struct Sessions {
    pub main: Option<Session>,
    others: Vec<(ModelSource, Session)>,
    /// The place in the round of the session that is next: the main one has place 0.
    next_place: usize,
    /// The same for the sessions that have jobs.
    next_job_place: usize,
}

impl Sessions {
    /// Returns the session of a pane's model, or of the main model if `model` is `None`. Returns
    /// `None` if it is not loaded.
    pub(super) fn of(&self, model: Option<&ModelSource>) -> Option<&Session> {
        match model {
            None => self.main.as_ref(),
            Some(model) => {
                let mut others = self.others.iter();
                let found = others.find(|(source, _)| source == model);
                found.map(|(_, session)| session)
            }
        }
    }

    /// Like [`Self::of`], but mutable.
    pub(super) fn of_mut(&mut self, model: Option<&ModelSource>) -> Option<&mut Session> {
        match model {
            None => self.main.as_mut(),
            Some(model) => {
                let mut others = self.others.iter_mut();
                let found = others.find(|(source, _)| source == model);
                found.map(|(_, session)| session)
            }
        }
    }

    /// Adds the model of a pane, or replaces it if it is already loaded.
    pub(super) fn insert(&mut self, model: ModelSource, session: Session) {
        self.others.retain(|(source, _)| *source != model);
        self.others.push((model, session));
    }

    /// Drops the model of a pane. Returns whether it was loaded.
    pub(super) fn remove(&mut self, model: &ModelSource) -> bool {
        let n_before = self.others.len();
        self.others.retain(|(source, _)| source != model);
        self.others.len() < n_before
    }

    /// Returns all sessions, the main one first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Session> {
        self.main
            .iter()
            .chain(self.others.iter().map(|(_, session)| session))
    }

    /// Returns all sessions, the main one first.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Session> {
        let others = self.others.iter_mut().map(|(_, session)| session);
        self.main.iter_mut().chain(others)
    }

    /// Returns whether any pane is busy.
    pub(super) fn any_busy(&self) -> bool {
        self.iter().any(Session::is_busy)
    }

    /// Returns whether a round ends here and the next one can only run decode steps.
    pub(super) fn only_decodes_next(&self) -> bool {
        let busy = || self.iter().filter(|session| session.is_busy());
        let in_round = self.busy_places().any(|place| place >= self.next_place);
        let begins = self.next_place == 0 || !in_round;
        begins && self.any_busy() && busy().all(Session::only_decodes)
    }

    /// Runs one forward pass of the session whose turn it is. Returns whether any was busy.
    pub(super) fn advance(&mut self, progress: &mut Vec<Progress>) -> bool {
        let in_round = self.busy_places().find(|place| *place >= self.next_place);
        let Some(place) = in_round.or_else(|| self.busy_places().next()) else {
            self.next_place = 0;
            return false;
        };
        self.next_place = place + 1;
        if let Some(session) = self.at_place(place) {
            session.advance(progress);
        }
        true
    }

    /// Runs one forward pass of the job that is next: jobs of the same priority take turns. Returns
    /// what happened.
    pub(super) fn advance_job(&mut self) -> Option<(GenerationId, JobUpdate)> {
        let priorities = self.places().filter_map(|(place, session)| {
            let priority = session?.job_priority()?;
            Some((priority, place))
        });
        let priorities: Vec<(JobPriority, usize)> = priorities.collect();
        let (first, _) = priorities.iter().min()?;
        let places = priorities.iter();
        let places = places.filter_map(|(priority, place)| (priority == first).then_some(*place));
        let place = places
            .clone()
            .find(|place| *place >= self.next_job_place)
            .or_else(|| places.clone().next())?;
        self.next_job_place = place + 1;
        self.at_place(place)?.advance_job()
    }

    /// Divides the memory limit of the prefix cache equally among all sessions.
    pub(super) fn share_prefix_cache(&mut self, n_max_bytes: u64) {
        let n_sessions = self.iter().count().max(1) as u64;
        for session in self.iter_mut() {
            session.set_prefix_cache_limit(n_max_bytes / n_sessions);
        }
    }

    fn busy_places(&self) -> impl Iterator<Item = usize> {
        let places = self.places();
        places.filter_map(|(place, session)| session?.is_busy().then_some(place))
    }

    fn places(&self) -> impl Iterator<Item = (usize, Option<&Session>)> {
        let main = std::iter::once(self.main.as_ref());
        let others = self.others.iter().map(|(_, session)| Some(session));
        main.chain(others).enumerate()
    }

    fn at_place(&mut self, place: usize) -> Option<&mut Session> {
        match place.checked_sub(1) {
            None => self.main.as_mut(),
            Some(index) => self.others.get_mut(index).map(|(_, session)| session),
        }
    }
}
