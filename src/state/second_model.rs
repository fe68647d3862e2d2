//! The second model, which drafts for the first or guides it.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use super::Effect;
use crate::decoding::ChainConfig;
use crate::generation::ModelInfo;
use crate::worker::{ModelSource, Request};

/// The second model, as far as the window knows. When the first model is replaced, the one that
/// comes with the new one takes over, if there is one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SecondModel {
    /// The one in use, and where it is from. `None` if it came with the first.
    ready: Option<(Arc<ModelInfo>, Option<PathBuf>)>,
    /// What is being loaded, oldest first.
    pending: VecDeque<Choice>,
    /// The fraction of the first of them that is loaded, between 0 and 1.
    fraction: f32,
    /// Why the last choice can't be used.
    error: Option<String>,
}

/// A file to load, or none, to go back to the model that comes with the first.
#[derive(Debug, Clone, PartialEq)]
struct Choice {
    path: Option<PathBuf>,
    /// Whether it was asked for to verify a run.
    verifies: bool,
}

/// What the user can do with the second model besides choosing one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecondModelCommand {
    /// Stop loading it.
    Cancel,
    /// Free its memory.
    Unload,
}

impl SecondModel {
    /// Returns the model in use.
    pub fn info(&self) -> Option<&Arc<ModelInfo>> {
        self.ready.as_ref().map(|(info, _)| info)
    }

    /// Returns whether the user chose the model in use.
    pub fn is_chosen(&self) -> bool {
        matches!(self.ready, Some((_, Some(_))))
    }

    /// Returns the fraction that is loaded, or `None` if no model is being loaded.
    pub fn loading(&self) -> Option<f32> {
        let mut pending = self.pending.iter();
        let loads = pending.any(|choice| choice.path.is_some());
        loads.then_some(self.fraction)
    }

    /// Returns why the model that was chosen last can't be used.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Returns the model if these settings use it.
    pub(super) fn used_by(&self, chain: &ChainConfig) -> Option<Arc<ModelInfo>> {
        let used = self.info().filter(|_| chain.needs_second_model());
        used.cloned()
    }

    /// Returns the model if these settings are guided by it. A sweep writes without drafts.
    pub(crate) fn guiding(&self, chain: &ChainConfig) -> Option<Arc<ModelInfo>> {
        let used = self.info().filter(|_| chain.is_guided_by_model());
        used.cloned()
    }

    /// Stores the model that comes with a first model. One that was chosen before is loaded again
    /// by [`SecondModel::reload`].
    pub(super) fn on_first_loaded(&mut self, own: Option<Arc<ModelInfo>>) {
        if !self.is_chosen() {
            self.ready = own.map(|info| (info, None));
        }
    }

    pub(super) const fn on_loading(&mut self, fraction: f32) {
        self.fraction = fraction;
    }

    /// Forgets what the engine did not finish loading.
    pub(super) fn forget_pending(&mut self) {
        self.pending.clear();
    }
}

impl SecondModel {
    /// Loads a second model. If `verifies`, the opened run is then verified with it.
    pub(super) fn open(&mut self, path: PathBuf, verifies: bool) -> Vec<Effect> {
        let mut effects: Vec<Effect> = self.cancel().into_iter().collect();
        (self.error, self.fraction) = (None, 0.0);
        let source = Some(ModelSource::Path(path.clone()));
        let path = Some(path);
        self.pending.push_back(Choice { path, verifies });
        effects.push(Effect::Send(Request::LoadSecondModel(source)));
        effects
    }

    pub(super) fn apply(&mut self, command: SecondModelCommand) -> Option<Effect> {
        match command {
            SecondModelCommand::Cancel => self.cancel(),
            SecondModelCommand::Unload if !self.is_chosen() => None,
            SecondModelCommand::Unload => {
                self.pending.push_back(Choice {
                    path: None,
                    verifies: false,
                });
                Some(Effect::Send(Request::LoadSecondModel(None)))
            }
        }
    }

    /// Stops loading a second model, if one is being loaded.
    pub(super) fn cancel(&self) -> Option<Effect> {
        let is_loading = self.loading().is_some();
        is_loading.then_some(Effect::Send(Request::CancelLoading))
    }

    /// Reloads the second model after the first was reloaded.
    pub(super) fn reload(&mut self) -> Vec<Effect> {
        match self.ready.take() {
            Some((_, Some(path))) => self.open(path, false),
            own => {
                self.ready = own;
                Vec::new()
            }
        }
    }

    /// Notes how the oldest load ended. Returns whether the opened run is to be verified now, or
    /// why it can't be; `None` if nothing was requested.
    pub(super) fn on_loaded(
        &mut self,
        loaded: Result<Option<Arc<ModelInfo>>, String>,
    ) -> Option<Result<bool, String>> {
        let choice = self.pending.pop_front();
        let verifies = choice.as_ref().is_some_and(|choice| choice.verifies);
        match loaded {
            Ok(info) => {
                let path = choice?.path;
                self.ready = info.map(|info| (info, path));
                Some(Ok(verifies))
            }
            Err(error) if verifies => Some(Err(error)),
            Err(error) => {
                self.error = Some(error);
                Some(Ok(false))
            }
        }
    }

    /// Notes that the oldest load was cancelled.
    pub(super) fn on_cancelled(&mut self) {
        self.pending.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use super::SecondModelCommand;
    use crate::generation::ModelInfo;
    use crate::state::tests::written;
    use crate::state::{AppState, Command, Effect, PathPurpose};
    use crate::worker::{Event, ModelSource, Request};

    fn load(path: &str) -> Effect {
        let source = ModelSource::Path(PathBuf::from(path));
        Effect::Send(Request::LoadSecondModel(Some(source)))
    }

    fn choose(state: &mut AppState, path: &str) -> Vec<Effect> {
        let purpose = PathPurpose::SecondModel;
        state.apply(Command::PathGiven(purpose, PathBuf::from(path)))
    }

    fn info(name: &str) -> Arc<ModelInfo> {
        Arc::new(ModelInfo {
            name: name.to_owned(),
            ..ModelInfo::default()
        })
    }

    fn name(state: &AppState) -> Option<&str> {
        state.models.second.info().map(|info| info.name.as_str())
    }

    #[test]
    fn a_second_model_is_loaded_from_a_file_and_leaves_with_the_first() {
        let mut state = written();
        assert_eq!(choose(&mut state, "small.gguf"), [load("small.gguf")]);
        state.on_event(Event::SecondModelLoading { fraction: 0.5 });
        assert_eq!(state.models.second.loading(), Some(0.5));
        state.on_event(Event::SecondModel(Ok(Some(info("Small")))));
        assert_eq!(
            (name(&state), state.models.second.loading()),
            (Some("Small"), None)
        );
        state.on_event(Event::ModelUnloaded);
        assert_eq!(name(&state), None);
    }

    #[test]
    fn a_file_that_fails_or_is_cancelled_leaves_the_previous_one() {
        let mut state = written();
        choose(&mut state, "small.gguf");
        state.on_event(Event::SecondModel(Ok(Some(info("Small")))));
        choose(&mut state, "other.gguf");
        state.on_event(Event::SecondModel(Err(
            "it has a different vocabulary".to_owned()
        )));
        assert_eq!(name(&state), Some("Small"));
        assert_eq!(
            state.models.second.error(),
            Some("it has a different vocabulary")
        );

        choose(&mut state, "large.gguf");
        assert_eq!(state.models.second.error(), None);
        let cancel = Effect::Send(Request::CancelLoading);
        let command = Command::SecondModel(SecondModelCommand::Cancel);
        let effects = state.apply(command.clone());
        assert_eq!(effects, std::slice::from_ref(&cancel));
        state.on_event(Event::SecondModelCancelled);
        assert_eq!(
            (name(&state), state.models.second.loading()),
            (Some("Small"), None)
        );
        // Nothing is left to cancel.
        assert_eq!(state.apply(command), []);

        // Choosing again replaces what is still being loaded.
        choose(&mut state, "large.gguf");
        assert_eq!(choose(&mut state, "tiny.gguf"), [cancel, load("tiny.gguf")]);
        state.on_event(Event::SecondModelCancelled);
        state.on_event(Event::SecondModel(Ok(Some(info("Tiny")))));
        assert_eq!(name(&state), Some("Tiny"));

        let unload = Command::SecondModel(SecondModelCommand::Unload);
        let free = Effect::Send(Request::LoadSecondModel(None));
        assert_eq!(state.apply(unload.clone()), [free]);
        state.on_event(Event::SecondModel(Ok(None)));
        assert_eq!(state.apply(unload), []);
        assert_eq!(name(&state), None);
    }
}
