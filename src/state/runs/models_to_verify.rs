//! Which loaded models can repeat an opened run, or what is missing.

use std::path::PathBuf;

use crate::generation::{Generation, Implementation, ModelInfo, ModelSource};
use crate::state::{
    Command, Models, ModelsCommand, Notice, Pane, PaneModelCommand, Panes, PathPurpose, ReadyModel,
    RecentModel,
};

/// A loaded model, and where it comes from if it is not the main one.
pub(super) type LoadedSource = (Option<ModelSource>, ReadyModel);

impl Models {
    /// Returns the model that can repeat each of these texts, or a notice about one that is
    /// missing.
    pub(super) fn to_verify(
        &self,
        texts: &[Generation],
        panes: &Panes,
    ) -> Result<Vec<LoadedSource>, Notice> {
        let is_one = are_of_one_model(texts);
        let model_of = |text: &Generation| {
            self.to_repeat(&text.model).map_err(|reason| {
                let pane = first_of_model(panes, &text.model).filter(|_| !is_one);
                self.refusal(&reason, &text.model, pane)
            })
        };
        texts.iter().map(model_of).collect()
    }

    /// Returns the loaded model that can repeat a text of this model, or else why there is none.
    pub(super) fn to_repeat(&self, then: &ModelInfo) -> Result<LoadedSource, String> {
        if then.implementation == Implementation::Server {
            let (name, server) = (&then.name, &then.device);
            return Err(format!(
                "{name} ran on {server}, which does not guarantee the same numbers"
            ));
        }
        let is_it = |model: &ReadyModel| {
            model.info.has_weights_of(then) && model.info.n_vocab == then.n_vocab
        };
        if let Some(model) = self.main.ready().filter(|model| is_it(model)) {
            return Ok((None, model.clone()));
        }
        let mut loaded = self.of_panes.all_ready();
        if let Some((source, model)) = loaded.find(|(_, model)| is_it(model)) {
            return Ok((Some(source.clone()), model.clone()));
        }
        if self.main.ready().is_none() {
            return Err("no model is loaded".to_owned());
        }
        Err(format!("it needs the model {}", then.name))
    }

    /// Says that a model is missing, and how to load it: for one pane if the run has several models.
    pub(super) fn refusal(&self, reason: &str, model: &ModelInfo, pane: Option<&Pane>) -> Notice {
        let notice = Notice::error("This run can’t be verified", reason);
        if model.implementation == Implementation::Server {
            return notice;
        }
        let Some(source) = self.source_of(model) else {
            let find = match pane {
                None => Command::Models(ModelsCommand::ShowDialog),
                Some(pane) => Command::AskPath(PathPurpose::PaneModel(pane.id)),
            };
            return notice.with_action("Find the model", find);
        };
        let label = match source {
            ModelSource::Embedded => "Load the built-in model",
            ModelSource::Path(_) => "Load it",
        };
        let load = match pane {
            Some(pane) => {
                let choose = PaneModelCommand::Choose(pane.id, Some(source.into()));
                Command::PaneModel(choose)
            }
            None => load_command(source),
        };
        notice.with_action(label, load)
    }

    /// Returns the command that loads this model as the main one, if its location is known.
    pub(crate) fn load_command(&self, model: &ModelInfo) -> Option<Command> {
        self.source_of(model).map(load_command)
    }

    /// Returns where this model is, if it is built in or was open before.
    pub(crate) fn source_of(&self, model: &ModelInfo) -> Option<ModelSource> {
        match model.file.as_str() {
            "embedded" => Some(ModelSource::Embedded),
            _ => self.path_of(model).map(ModelSource::Path),
        }
    }

    /// Returns where a model was when it was open last. Whether its weights are the same is known
    /// once it is loaded.
    fn path_of(&self, model: &ModelInfo) -> Option<PathBuf> {
        let mut recent = self.recent.iter();
        let is_it = |recent: &&RecentModel| {
            let file = recent.path.file_name();
            recent.n_params == model.n_params
                && recent.name == model.name
                && file.is_some_and(|file| *file == *model.file)
        };
        recent.find(is_it).map(|recent| recent.path.clone())
    }
}

/// Returns the command that loads a main model.
fn load_command(source: ModelSource) -> Command {
    match source {
        ModelSource::Embedded => Command::LoadEmbeddedModel,
        ModelSource::Path(path) => Command::Models(ModelsCommand::Open(path)),
    }
}

/// Returns the first pane with a text of this model.
fn first_of_model<'a>(panes: &'a Panes, model: &ModelInfo) -> Option<&'a Pane> {
    let is_it = |text: &Generation| text.model.has_weights_of(model);
    panes
        .iter()
        .find(|pane| pane.generation().is_some_and(is_it))
}

/// Returns whether one model wrote all of these texts.
pub(super) fn are_of_one_model<'a>(texts: impl IntoIterator<Item = &'a Generation>) -> bool {
    let mut texts = texts.into_iter();
    let first = texts.next();
    first.is_none_or(|first| texts.all(|text| text.model.has_weights_of(&first.model)))
}
