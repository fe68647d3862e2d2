//! Which loaded models can repeat an opened run, or what is missing.

use crate::generation::{Generation, Implementation, ModelInfo, ModelSource};
use crate::state::{
    Command, Models, ModelsCommand, Notice, Pane, PaneModelCommand, Panes, PathPurpose, ReadyModel,
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
                refusal(&reason, &text.model, pane)
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

/// Says that a model is missing, and how to load it: for one pane if the run has several models.
pub(super) fn refusal(reason: &str, model: &ModelInfo, pane: Option<&Pane>) -> Notice {
    let notice = Notice::error("This run can’t be verified", reason);
    if model.implementation == Implementation::Server {
        return notice;
    }
    match (model.file.as_str(), pane) {
        ("embedded", None) => {
            notice.with_action("Load the built-in model", Command::LoadEmbeddedModel)
        }
        ("embedded", Some(pane)) => {
            let choose = PaneModelCommand::Choose(pane.id, Some(ModelSource::Embedded.into()));
            notice.with_action("Load the built-in model", Command::PaneModel(choose))
        }
        (_, None) => {
            let show = Command::Models(ModelsCommand::ShowDialog);
            notice.with_action("Find the model", show)
        }
        (_, Some(pane)) => {
            let ask = Command::AskPath(PathPurpose::PaneModel(pane.id));
            notice.with_action("Find the model", ask)
        }
    }
}
