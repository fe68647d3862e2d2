//! The second model, which drafts for the first or guides it.

use std::path::PathBuf;
use std::sync::Arc;

use super::{AppState, Effect};
use crate::generation::ModelInfo;
use crate::worker::{ModelSource, Request};

/// The second model, as far as the window knows. A new first model has none.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum SecondModel {
    #[default]
    Absent,
    Loading,
    Ready(Arc<ModelInfo>),
    /// It can't be used, with the reason.
    Failed(String),
}

impl AppState {
    pub(super) fn open_second_model(&mut self, path: PathBuf) -> Vec<Effect> {
        self.second_model = SecondModel::Loading;
        let source = Some(ModelSource::Path(path));
        vec![Effect::Send(Request::LoadSecondModel(source))]
    }

    pub(super) fn on_second_model(&mut self, loaded: Result<Option<Arc<ModelInfo>>, String>) {
        self.second_model = match loaded {
            Ok(Some(info)) => SecondModel::Ready(info),
            Ok(None) => SecondModel::Absent,
            Err(error) => SecondModel::Failed(error),
        };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::SecondModel;
    use crate::generation::ModelInfo;
    use crate::state::tests::written;
    use crate::state::{Command, Effect, PathPurpose};
    use crate::worker::{Event, ModelSource, Request};

    #[test]
    fn a_second_model_is_loaded_from_a_file_and_leaves_with_the_first() {
        let mut state = written();
        let path = std::path::PathBuf::from("small.gguf");
        let purpose = PathPurpose::SecondModel;
        let effects = state.apply(Command::PathGiven(purpose, path.clone()));
        let request = Request::LoadSecondModel(Some(ModelSource::Path(path)));
        assert_eq!(effects, [Effect::Send(request)]);
        assert_eq!(state.second_model, SecondModel::Loading);

        state.on_event(Event::SecondModel(Err(
            "it has another vocabulary".to_owned()
        )));
        assert!(matches!(state.second_model, SecondModel::Failed(_)));
        let info = Arc::new(ModelInfo::default());
        state.on_event(Event::SecondModel(Ok(Some(info))));
        assert!(matches!(state.second_model, SecondModel::Ready(_)));
        state.on_event(Event::ModelUnloaded);
        assert_eq!(state.second_model, SecondModel::Absent);
    }
}
