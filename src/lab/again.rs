//! Running again what made the results from the history: with everything that made them, whatever the
//! form says.

use super::LabTab;
use crate::analysis::replay::format_change;
use crate::generation::ModelInfo;
use crate::state::{AppState, Command, Effect, ModelStatus};

/// Why results can't be made again now.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AgainRefusal {
    /// A sentence, or what is needed.
    pub words: String,
    /// Loads the model that is needed, if its location is known.
    pub load: Option<Command>,
}

impl From<String> for AgainRefusal {
    fn from(words: String) -> Self {
        let load = None;
        Self { words, load }
    }
}

impl AppState {
    /// Runs again what made the results from the history in a tab. Does nothing if that is not
    /// possible now.
    pub(super) fn run_again(&mut self, tab: LabTab) -> Vec<Effect> {
        let kept = self.lab.kept.as_ref();
        let is_shown = kept.is_some_and(|kept| kept.tab == tab);
        if !is_shown || self.lab.is_running(tab) || self.again_refusal(tab).is_some() {
            return Vec::new();
        }
        tab.run_again(self)
    }

    /// Returns why what made the results of a tab can't run again now, or `None` if it can.
    pub(super) fn again_refusal(&self, tab: LabTab) -> Option<AgainRefusal> {
        let missing = self.lab.made_by(tab).and_then(|made_by| {
            let model = self.needed_model(made_by.model);
            model.or_else(|| self.needed_second(made_by.second?))
        });
        missing.or_else(|| Some(tab.again_refusal(self)?.into()))
    }

    /// Says in which number formats the model would make the results of a tab again, if those are not
    /// the ones that they were made in.
    pub(super) fn other_formats(&self, tab: LabTab) -> Option<String> {
        let then = self.lab.made_by(tab)?.model;
        let now = self.models.main.ready()?;
        format_change(then, &now.info)
    }

    /// Returns why this model can't make its results again now: "Needs `SmolLM2` 135M".
    fn needed_model(&self, then: &ModelInfo) -> Option<AgainRefusal> {
        let main = &self.models.main;
        if let ModelStatus::Loading { .. } | ModelStatus::Lost = main {
            let reason = main.blocking_reason()?;
            return Some(reason.to_owned().into());
        }
        let now = main.ready().map(|model| &*model.info);
        let is_open = |now: &ModelInfo| now.has_weights_of(then) && now.n_vocab == then.n_vocab;
        if now.is_some_and(is_open) {
            return None;
        }
        let words = if now.is_some_and(|now| now.name == then.name) {
            format!("Needs {}, {}", then.name, then.quantization)
        } else {
            format!("Needs {}", then.name)
        };
        let load = self.models.load_command(then);
        Some(AgainRefusal { words, load })
    }

    /// Returns why the second model can't guide again now.
    fn needed_second(&self, then: &ModelInfo) -> Option<AgainRefusal> {
        let now = self.models.second.info();
        if now.is_some_and(|now| now.has_weights_of(then)) {
            return None;
        }
        Some(format!("Needs the second model {}", then.name).into())
    }
}
