//! `--pane-model`: panes that do not use the run's model.

use std::sync::Arc;

use clap::Args;

use super::compute::cpu_fallback_note;
use super::console;
use super::failure::Failure;
use super::model::{model_path, named_source};
use super::pane_run::{Console, Engine, Pane, SIGNAL_PAUSE, warn};
use crate::generation::formatting::pane_letter;
use crate::generation::{ModelInfo, ModelSource, Vocabulary};
use crate::worker::{Event, PaneModelUpdate, Request};

/// The argument, for commands whose panes can use several models.
#[derive(Debug, Clone, Args)]
pub(crate) struct PaneModelArgument {
    /// Another model for one pane, such as B=PATH: the letter of the pane, and a GGUF file, a folder
    /// or `built-in`. Repeat it for more panes; panes with the same model share its memory
    #[arg(
        long = "pane-model",
        value_name = "PANE=PATH",
        value_parser = pane_model,
        conflicts_with = "server"
    )]
    pane_models: Vec<PaneModel>,
}

/// A pane's own model, as written on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PaneModel {
    /// "B".
    letter: String,
    source: ModelSource,
}

/// A model that panes use besides the run's.
#[derive(Debug, Clone)]
pub(crate) struct OtherModel {
    pub source: ModelSource,
    pub info: Arc<ModelInfo>,
    pub vocabulary: Arc<Vocabulary>,
}

impl PaneModelArgument {
    /// Assigns each named pane its model. `main` is the run's model.
    pub(super) fn apply(&self, main: &ModelSource, panes: &mut [Pane]) -> Result<(), Failure> {
        let sources = self.sources(main, panes.len())?;
        for (pane, source) in panes.iter_mut().zip(sources) {
            pane.model = source;
        }
        Ok(())
    }

    /// Returns the model of each pane, `None` for `main`, the run's model.
    pub(crate) fn sources(
        &self,
        main: &ModelSource,
        n_panes: usize,
    ) -> Result<Vec<Option<ModelSource>>, Failure> {
        let mut sources = vec![None; n_panes];
        for (index, PaneModel { letter, source }) in self.pane_models.iter().enumerate() {
            let before = self.pane_models.iter().take(index);
            if before.into_iter().any(|other| other.letter == *letter) {
                return Err(Failure::usage(format!(
                    "--pane-model names pane {letter} twice, but a pane has one model"
                )));
            }
            let place = index_of(letter, n_panes, "--pane-model")?;
            if let Some(of_pane) = sources.get_mut(place) {
                *of_pane = Some(source.clone()).filter(|source| source != main);
            }
        }
        Ok(sources)
    }

    /// Fails if a pane that has its own model also runs on a server.
    pub(crate) fn check_hosts(&self, of_panes: &[Option<usize>]) -> Result<(), Failure> {
        for PaneModel { letter, .. } in &self.pane_models {
            let place = index_of(letter, of_panes.len(), "--pane-model")?;
            if of_panes.get(place).is_some_and(Option::is_some) {
                return Err(Failure::usage(format!(
                    "pane {letter} has a model and a server; leave out --pane-model or --pane-server"
                )));
            }
        }
        Ok(())
    }
}

fn pane_model(argument: &str) -> Result<PaneModel, String> {
    let Some((letter, path)) = letter_and_value(argument) else {
        return Err("expected the letter of a pane and a path, such as B=model.gguf".to_owned());
    };
    Ok(PaneModel {
        letter,
        source: named_source(&model_path(path)?),
    })
}

/// Splits "b=value" into the letter of a pane, "B", and the value.
pub(super) fn letter_and_value(argument: &str) -> Option<(String, &str)> {
    let (letter, value) = argument.split_once('=')?;
    let letter = letter.trim().to_uppercase();
    (!value.is_empty()).then_some((letter, value))
}

/// Returns the index of the pane with this letter. `option` names it: "--pane-model".
pub(super) fn index_of(letter: &str, n_panes: usize, option: &str) -> Result<usize, Failure> {
    let letters: Vec<String> = (0..n_panes).map(pane_letter).collect();
    let index = letters.iter().position(|other| other == letter);
    index.ok_or_else(|| {
        let known = match letters.as_slice() {
            [only] => format!("this run has only pane {only}"),
            [.., last] => format!("the panes of this run are A to {last}"),
            [] => "this run has no panes".to_owned(),
        };
        Failure::usage(format!("{option} names pane {letter}, but {known}"))
    })
}

impl Engine {
    /// Loads the models of panes that do not use the run's model.
    pub(super) fn load_pane_models(
        &mut self,
        panes: &[Pane],
        console: &mut Console,
    ) -> Result<(), Failure> {
        for source in panes.iter().filter_map(|pane| pane.model.as_ref()) {
            if self.other(source).is_none() {
                self.load_pane_model(source, console)?;
            }
        }
        Ok(())
    }

    /// Loads another model besides the run's.
    pub(crate) fn load_pane_model(
        &mut self,
        source: &ModelSource,
        console: &mut Console,
    ) -> Result<(), Failure> {
        self.worker.send(Request::LoadPaneModel(source.clone()));
        let name = source.name();
        console.progress.milestone(&format!("Loading {name}"));
        let loaded = self.wait_for_pane_model(source, console);
        console.progress.clear();
        self.others.push(loaded?);
        Ok(())
    }

    fn wait_for_pane_model(
        &mut self,
        source: &ModelSource,
        console: &mut Console,
    ) -> Result<OtherModel, Failure> {
        let name = source.name();
        loop {
            if console.interrupt.is_raised() {
                return Err(Failure::Interrupted);
            }
            let update = match self.worker.wait_at_most(SIGNAL_PAUSE) {
                Some(Some(Event::PaneModel { update, .. })) => update,
                Some(Some(Event::DeviceUnavailable { reason, .. })) => {
                    console.progress.clear();
                    console::note(&cpu_fallback_note(&reason));
                    continue;
                }
                Some(Some(Event::Panicked { message })) => {
                    let message = format!("the engine stopped unexpectedly: {message}");
                    return Err(Failure::run(message));
                }
                Some(_) => continue,
                None => return Err(Failure::run("the engine stopped unexpectedly")),
            };
            match update {
                PaneModelUpdate::Loading { fraction } => console.progress.update(|| {
                    let percent = 100.0 * fraction;
                    format!("Loading {name}, {percent:.0} %")
                }),
                PaneModelUpdate::Loaded {
                    info,
                    vocabulary,
                    load_warning,
                    ..
                } => {
                    console.progress.clear();
                    warn(load_warning.as_deref());
                    return Ok(OtherModel {
                        source: source.clone(),
                        info,
                        vocabulary,
                    });
                }
                PaneModelUpdate::Failed { error } => return Err(Failure::run(error)),
                PaneModelUpdate::Cancelled | PaneModelUpdate::Unloaded => {}
            }
        }
    }

    /// Returns the model of a pane.
    pub(super) fn model_of(
        &self,
        source: Option<&ModelSource>,
    ) -> (&Arc<ModelInfo>, &Arc<Vocabulary>) {
        let other = source.and_then(|source| self.other(source));
        other.map_or((&self.info, &self.vocabulary), |other| {
            (&other.info, &other.vocabulary)
        })
    }

    /// Returns a model that panes use besides the run's, if it is loaded.
    pub(crate) fn other(&self, source: &ModelSource) -> Option<&OtherModel> {
        self.others.iter().find(|other| other.source == *source)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Pane, PaneModel, PaneModelArgument, pane_model};
    use crate::cli::failure::Failure;
    use crate::generation::{GenerationConfig, Limits, ModelSource, PaneSettings};

    #[test]
    fn a_pane_is_named_at_most_once() {
        let pane_models = ["b=one.gguf", "B=built-in"].map(|text| pane_model(text).unwrap());
        let argument = PaneModelArgument {
            pane_models: pane_models.to_vec(),
        };
        let refused = argument
            .apply(&ModelSource::Embedded, &mut panes())
            .unwrap_err();
        let Failure::Usage(message) = refused else {
            panic!("a wrong argument is a usage error");
        };
        assert_eq!(
            message,
            "--pane-model names pane B twice, but a pane has one model"
        );
    }

    fn panes() -> Vec<Pane> {
        let pane = |settings: PaneSettings| Pane {
            model: None,
            name: settings.name,
            config: GenerationConfig {
                chain: settings.chain,
                seed: 42,
                limits: Limits::default(),
            },
        };
        PaneSettings::classics().into_iter().map(pane).collect()
    }

    #[test]
    fn a_pane_model_is_a_letter_and_a_path() {
        let model = |letter: &str, source| {
            let letter = letter.to_owned();
            Ok(PaneModel { letter, source })
        };
        let path = ModelSource::Path(PathBuf::from("a=b.gguf"));
        assert_eq!(pane_model("b=a=b.gguf"), model("B", path));
        assert_eq!(pane_model("C=built-in"), model("C", ModelSource::Embedded));
        for wrong in ["B", "B=", "model.gguf"] {
            assert!(pane_model(wrong).unwrap_err().contains("B=model.gguf"));
        }
    }
}
