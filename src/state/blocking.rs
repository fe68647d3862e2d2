//! Why texts can't be generated now, and whether generating could change any.

use super::{AppState, ModelStatus, Pane, PromptMode, Repetition};
use crate::decoding::SettingError;
use crate::generation::formatting::{grouped, pane_letter};
use crate::generation::{N_MAX_TURNS, in_sentence};

impl AppState {
    /// Returns why no pane can generate now, or `None` if at least one can.
    pub fn blocking_reason(&self) -> Option<String> {
        if self.uses_several_models() {
            return self.common_blocking_reason().or_else(|| {
                let first = self.panes.first()?;
                let reason = self.blocking_reason_of(first)?;
                let is_blocked = |pane: &Pane| self.blocking_reason_of(pane).is_some();
                let are_all = self.panes.iter().all(is_blocked);
                are_all.then(|| format!("{}: {reason}", pane_letter(first.place)))
            });
        }
        let all_invalid = || {
            let mut invalid = self.invalid_panes();
            let (place, error) = invalid.next()?;
            let are_all = invalid.count() + 1 == self.panes.len();
            are_all.then(|| format!("{}: {error}", pane_letter(place)))
        };
        self.shared_blocking_reason().or_else(all_invalid)
    }

    /// Returns which pane will be left out because of an invalid value or its model, and why.
    pub fn skipped_pane_words(&self) -> Option<String> {
        let mut panes = self.panes.placed();
        let (place, reason) = panes.find_map(|(place, pane)| {
            let reason = if self.uses_several_models() {
                self.blocking_reason_of(pane)
            } else {
                let invalid = pane.settings.chain.validate().err();
                invalid.map(|error| error.to_string())
            };
            Some((place, reason?))
        })?;
        let reason = in_sentence(&reason);
        Some(format!("{} will not run: {reason}", pane_letter(place)))
    }

    /// Returns whether all panes that can't generate only wait for their own models.
    pub fn waits_for_pane_model(&self) -> bool {
        let is_blocked = |pane: &&Pane| self.blocking_reason_of(pane).is_some();
        let mut blocked = self.panes.iter().filter(is_blocked).peekable();
        blocked.peek().is_some() && blocked.all(|pane| self.models.is_awaited_by(pane))
    }

    fn invalid_panes(&self) -> impl Iterator<Item = (usize, SettingError)> {
        let panes = self.panes.placed();
        panes.filter_map(|(place, pane)| Some((place, pane.settings.chain.validate().err()?)))
    }

    /// Returns why this pane can't generate now, or `None` if it can.
    pub fn blocking_reason_of(&self, pane: &Pane) -> Option<String> {
        let shared = if self.models.chosen(&pane.settings).is_some() {
            let common = self.common_blocking_reason();
            common.or_else(|| self.models.own_blocking_reason(pane, self.prompt.mode))
        } else {
            self.shared_blocking_reason()
        };
        shared.or_else(|| {
            let invalid = pane.settings.chain.validate().err();
            invalid.map(|error| error.to_string())
        })
    }

    /// Returns why no pane that uses the main model can generate now.
    fn shared_blocking_reason(&self) -> Option<String> {
        if self.runs.opened.is_some() {
            return Some("Close this run or use its settings first".to_owned());
        }
        if let Some(reason) = self.models.main.blocking_reason() {
            return Some(reason.to_owned());
        }
        let reason = self.lessons.question_reason();
        let reason = reason.or_else(|| self.prompt.blocking_reason(&self.models.main));
        let reason = reason.or_else(|| self.limit_blocking_reason());
        reason.or_else(|| self.turn_blocking_reason())
    }

    /// Returns why no pane can generate now, whatever its model.
    fn common_blocking_reason(&self) -> Option<String> {
        if self.runs.opened.is_some() || self.models.main == ModelStatus::Lost {
            return self.shared_blocking_reason();
        }
        let reason = self.lessons.question_reason();
        let reason = reason.or_else(|| self.prompt.empty_reason());
        reason.or_else(|| self.limit_blocking_reason())
    }

    fn turn_blocking_reason(&self) -> Option<String> {
        let is_full = self.is_replying() && self.panes.n_turns() >= N_MAX_TURNS;
        let n_turns = grouped(N_MAX_TURNS as f64);
        is_full.then(|| format!("A conversation can have at most {n_turns} turns"))
    }

    fn limit_blocking_reason(&self) -> Option<String> {
        let is_zero = self.limits.max_new_tokens == 0;
        is_zero.then(|| "The token limit must be at least 1".to_owned())
    }

    /// Returns whether generating now could produce a text that the panes don't show yet: the
    /// prompt, the settings or the model changed since the last run.
    pub fn output_is_stale(&self) -> bool {
        if self.prompt.mode == PromptMode::Chat && self.panes.iter().any(Pane::has_turns) {
            // What is on screen is part of the conversation; only a message can add to it.
            return !self.prompt.text.is_empty();
        }
        let mut panes = self.panes.iter();
        panes.any(|pane| {
            let model = self.models.of(pane).map(|model| &model.info);
            let written = !self.panes.keeps_given_text(pane);
            written
                && pane.generation().is_none_or(|generation| {
                    !self.prompt.is_of(&generation.prompt)
                        || generation.config != self.config_of(pane)
                        || Some(&generation.model) != model
                })
        })
    }

    /// Returns why the last run changed nothing, until something changes.
    pub fn repetition(&self) -> Option<Repetition> {
        let is_current = !self.is_running() && !self.output_is_stale();
        self.runs.repetition.filter(|_| is_current)
    }

    /// Returns why the main model can't stand in for these panes, if one of them has another model.
    pub(crate) fn several_models_reason<'a>(
        &self,
        panes: impl IntoIterator<Item = &'a Pane>,
    ) -> Option<String> {
        let own = self.models.first_with_own(panes)?;
        let letter = self.place_of(own.id).map(pane_letter).unwrap_or_default();
        Some(format!(
            "This runs with the main model only, but {letter} uses another model"
        ))
    }
}
