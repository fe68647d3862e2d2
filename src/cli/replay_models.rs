//! The models of a recorded run, and the files that replay loads for them.

use std::path::PathBuf;

use super::console;
use super::failure::Failure;
use super::pane_run::Engine;
use crate::generation::{Generation, Implementation, ModelInfo, ModelSource};

/// The models of a run, with the source that is loaded for each.
pub(super) struct RunModels {
    /// The source that is loaded as the main model.
    main: ModelSource,
    models: Vec<ModelOfRun>,
}

/// A model of a run.
#[derive(Debug, Clone)]
pub(super) struct ModelOfRun {
    /// As recorded.
    pub then: ModelInfo,
    /// What is loaded for it.
    pub source: ModelSource,
}

impl RunModels {
    /// Assigns the paths to the models of these texts in order, except that the built-in model
    /// needs none if there are several models.
    pub(super) fn of(texts: &[Generation], paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut recorded: Vec<&ModelInfo> = Vec::new();
        for text in texts {
            let model = &*text.model;
            if !recorded.iter().any(|known| known.has_weights_of(model)) {
                recorded.push(model);
            }
        }
        let is_one = recorded.len() == 1;
        let mut paths = paths.iter();
        let mut models = Vec::new();
        let mut missing = Vec::new();
        for then in recorded {
            let is_embedded = then.file == "embedded";
            let path = if is_embedded && !is_one {
                None
            } else {
                paths.next().cloned()
            };
            let source = match path {
                Some(path) => ModelSource::Path(path),
                None if is_embedded => ModelSource::Embedded,
                None => {
                    missing.push(then);
                    continue;
                }
            };
            let then = then.clone();
            models.push(ModelOfRun { then, source });
        }
        if !missing.is_empty() {
            return Err(Failure::usage(missing_words(&missing)));
        }
        if paths.next().is_some() {
            console::note("This run needs fewer models, so the last --model has no effect");
        }
        let Some(first) = models.first() else {
            return Err(Failure::usage("this run has no texts"));
        };
        let main = first.source.clone();
        Ok(Self { main, models })
    }

    /// Returns the models in the order in which they are loaded, the main one first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &ModelOfRun> {
        self.models.iter()
    }

    /// Assigns each model of the run the loaded one with the same hash, regardless of the order of
    /// the paths. Models whose hash is not loaded stay in order.
    pub(super) fn match_hashes(&mut self, engine: &Engine) {
        let mut loaded: Vec<(String, ModelSource)> = Vec::new();
        for model in &self.models {
            let (info, _) = engine.model_of(self.other(&model.source));
            loaded.push((info.sha256.clone(), model.source.clone()));
        }
        let mut take = |hash: &str| {
            let index = loaded.iter().position(|(other, _)| other == hash)?;
            Some(loaded.remove(index).1)
        };
        let same: Vec<Option<ModelSource>> = (self.models.iter())
            .map(|model| take(&model.then.sha256))
            .collect();
        let mut others = loaded.into_iter().map(|(_, source)| source);
        for (model, same) in self.models.iter_mut().zip(same) {
            if let Some(source) = same.or_else(|| others.next()) {
                model.source = source;
            }
        }
    }

    /// Fails if a model can't have generated the texts that it is loaded for.
    pub(super) fn check_vocabularies(&self, engine: &Engine) -> Result<(), Failure> {
        for ModelOfRun { then, source } in &self.models {
            let now = engine.model_of(self.other(source)).0;
            if now.n_vocab != then.n_vocab {
                let (name, n_now, n_then) = (&now.name, now.n_vocab, then.n_vocab);
                let which = if self.models.len() == 1 {
                    "this model has"
                } else {
                    &format!("{name} has")
                };
                return Err(Failure::usage(format!(
                    "{which} {n_now} tokens, but the model of the run has {n_then}"
                )));
            }
        }
        Ok(())
    }

    /// Returns the source of the model that is loaded for a text, if it is not the main one.
    pub(super) fn other_source(&self, text: &Generation) -> Option<&ModelSource> {
        let mut models = self.models.iter();
        let model = models.find(|model| model.then.has_weights_of(&text.model))?;
        self.other(&model.source)
    }

    fn other<'a>(&self, source: &'a ModelSource) -> Option<&'a ModelSource> {
        Some(source).filter(|source| **source != self.main)
    }
}

/// Says which models are missing, and what identifies them.
fn missing_words(missing: &[&ModelInfo]) -> String {
    let words = missing.iter().map(|model| {
        let (name, file, hash) = (&model.name, &model.file, &model.sha256);
        if model.implementation == Implementation::Server {
            let server = &model.device;
            return format!(
                "this run was generated on a server ({server}): pass a file of {name} with --model \
                 to compare it"
            );
        }
        format!("this run needs {name}: pass its path with --model\nFile: {file}\nSHA-256: {hash}")
    });
    words.collect::<Vec<_>>().join("\n\n")
}
