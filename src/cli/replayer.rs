//! Generates recorded runs again.

use std::path::Path;
use std::sync::Arc;

use super::console;
use super::failure::Failure;
use super::pane_run::{Console, Engine, SIGNAL_PAUSE};
use super::replay::Arguments;
use super::replay_models::RunModels;
use super::replay_report::{RepeatedRun, Report, RunPlaces};
use crate::analysis::replay::{SecondNeeded, WordsCheck, replay_of};
use crate::export::json::RunFile;
use crate::export::read_run;
use crate::generation::{
    FinishReason, Generation, GenerationId, ModelInfo, PromptCheck, PromptRecord, TextModels,
};
use crate::state::recorded_formats;
use crate::worker::{ComputeChoice, Event, ModelSource, PaneRequest, Request};

/// Replays runs, one after the other. The models of a run stay loaded for the next one.
pub(super) struct Replayer<'a> {
    arguments: &'a Arguments,
    console: Console,
    loaded: Option<LoadedModels>,
}

/// The models that are loaded.
struct LoadedModels {
    engine: Engine,
    needed: Needed,
}

/// What a run needs.
#[derive(PartialEq)]
struct Needed {
    /// The models, the main one first, and how they compute.
    models: Vec<(ModelSource, ComputeChoice)>,
    loads_second: bool,
}

impl<'a> Replayer<'a> {
    pub(super) fn new(arguments: &'a Arguments) -> Self {
        Self {
            arguments,
            console: Console::quiet(),
            loaded: None,
        }
    }

    /// Returns whether a signal has asked the command to end.
    pub(super) fn is_interrupted(&self) -> bool {
        self.console.interrupt.is_raised()
    }

    /// Reads a run and generates it again.
    pub(super) fn replay(&mut self, path: &Path) -> Result<Report, Failure> {
        let shown = path.display();
        let then =
            read_run(path).map_err(|error| Failure::usage(format!("{error}\nFile: {shown}")))?;
        let finished_at = then.header.finished_at;
        let report = self.repeat(then)?;
        Ok(Report {
            finished_at,
            ..report
        })
    }

    /// Generates the run again, unless its file contradicts itself.
    fn repeat(&mut self, then: RunFile) -> Result<Report, Failure> {
        let contradiction = then.contradiction.clone();
        let has_branches = !then.branches.is_empty();
        let (then, places) = texts_of(then);
        if let Some(found) = contradiction {
            return Ok(Report::contradicted(then, &places, found));
        }
        let loads_second = self.arguments.check_second(&SecondNeeded::by(&then))?;
        let mut models = RunModels::of(&then, &self.arguments.models)?;
        // After a failure, nothing stays loaded: the engine may have been the reason.
        let mut loaded = self.load(&models, loads_second)?;
        let engine = &mut loaded.engine;
        models.match_hashes(engine);
        models.check_vocabularies(engine)?;
        let words = check_words(engine, &then, &models, &self.console);
        let now = replayed(engine, &then, &models, &mut self.console);
        if self.is_interrupted() {
            return Err(Failure::Interrupted);
        }
        let report = Report::new(RepeatedRun {
            then,
            now,
            places,
            words,
            allows_others: self.arguments.other_model,
            has_branches,
        });
        check_completed(&report)?;
        self.loaded = Some(loaded);
        Ok(report)
    }

    /// Returns the models of a run: those that are loaded, if they are the same.
    fn load(&mut self, models: &RunModels, loads_second: bool) -> Result<LoadedModels, Failure> {
        let of_run = models.iter();
        let needed = Needed {
            models: of_run
                .map(|model| (model.source.clone(), self.arguments.compute(&model.then)))
                .collect(),
            loads_second,
        };
        if let Some(loaded) = self.loaded.take()
            && loaded.needed == needed
        {
            return Ok(loaded);
        }
        let mut engine = load_models(&needed, &mut self.console)?;
        if loads_second {
            let draft_model = &self.arguments.draft_model;
            let loaded = draft_model.load(&mut engine, &mut self.console);
            loaded.map_err(Failure::into_usage)?;
        }
        Ok(LoadedModels { engine, needed })
    }
}

/// Loads the models of a run, the first of them as the main one.
fn load_models(needed: &Needed, console: &mut Console) -> Result<Engine, Failure> {
    let mut models = needed.models.iter();
    let Some((main, choice)) = models.next() else {
        return Err(Failure::usage("this run has no texts"));
    };
    let loaded = Engine::load(main.clone(), *choice, console);
    let mut engine = loaded.map_err(Failure::into_usage)?;
    for (model, choice) in models {
        engine.worker.send(Request::SetCompute(*choice));
        let loaded = engine.load_pane_model(model, console);
        loaded.map_err(Failure::into_usage)?;
    }
    Ok(engine)
}

/// Returns the texts of the panes, then the turns before them, and where all of them are.
fn texts_of(run: RunFile) -> (Vec<Generation>, RunPlaces) {
    let turns = run.turns();
    let places = RunPlaces {
        panes: run.places.clone(),
        turns: (turns.iter())
            .map(|(place, _)| place.with_panes(|pane| run.place(pane)))
            .collect(),
    };
    let answers: Vec<Generation> = (turns.iter())
        .map(|(_, turn)| (**turn.answer).clone())
        .collect();
    let texts = run.panes.into_iter().chain(answers);
    (texts.collect(), places)
}

/// Compares the words of each text with its tokens, under the model that repeats it.
fn check_words(
    engine: &mut Engine,
    then: &[Generation],
    models: &RunModels,
    console: &Console,
) -> Vec<WordsCheck> {
    let mut known: Vec<(&Generation, Option<PromptCheck>)> = Vec::new();
    let mut words = Vec::new();
    for text in then {
        let source = models.other_source(text);
        let same = known.iter().find(|(other, _)| {
            other.prompt == text.prompt && other.model.has_weights_of(&text.model)
        });
        let check = match same {
            Some((_, check)) => check.clone(),
            None => check_prompt(engine, &text.prompt, source.cloned(), console),
        };
        words.push(WordsCheck::of(
            text,
            engine.model_of(source).1,
            check.as_ref(),
        ));
        known.push((text, check));
    }
    words
}

/// Asks what a model makes of a prompt. Returns `None` if a signal arrives first.
fn check_prompt(
    engine: &mut Engine,
    prompt: &Arc<PromptRecord>,
    model: Option<ModelSource>,
    console: &Console,
) -> Option<PromptCheck> {
    let prompt = Arc::clone(prompt);
    engine.worker.send(Request::CheckPrompt { prompt, model });
    while !console.interrupt.is_raised() {
        if let Some(Event::PromptChecked { check, .. }) =
            engine.worker.wait_at_most(SIGNAL_PAUSE)?
        {
            return Some(check);
        }
    }
    None
}

impl Arguments {
    /// Returns the number formats and threads of the run, as far as they are known and not
    /// overridden.
    fn compute(&self, model: &ModelInfo) -> ComputeChoice {
        let recorded = recorded_formats(model);
        ComputeChoice {
            device: self.device.device,
            precision: self.precision.unwrap_or(recorded.precision),
            cache: self.cache.unwrap_or(recorded.cache),
            inputs: self.inputs.unwrap_or(recorded.inputs),
            n_threads: self.threads.or(model.n_threads),
        }
    }

    /// Returns whether the run needs the given second model. Fails if it needs one that is missing.
    fn check_second(&self, needed: &SecondNeeded) -> Result<bool, Failure> {
        let message = match (needed, self.draft_model.path()) {
            (SecondNeeded::Several, _) => {
                "this run has texts of several second models; replay can only load one".to_owned()
            }
            (SecondNeeded::None, path) => {
                if path.is_some() {
                    console::note("This run used no second model, so --draft-model has no effect");
                }
                return Ok(false);
            }
            (SecondNeeded::One(_) | SecondNeeded::Unnamed, Some(_)) => return Ok(true),
            // It comes with the built-in model.
            (SecondNeeded::One(second), None) if second.file == "embedded" => return Ok(false),
            (SecondNeeded::One(second), None) => {
                let (name, file, hash) = (&second.name, &second.file, &second.sha256);
                format!(
                    "this run also needs its second model, {name}: pass its path with --draft-model\n\
                     File: {file}\nSHA-256: {hash}"
                )
            }
            (SecondNeeded::Unnamed, None) => {
                "this run also needs its second model, which its file \
                                              does not name: pass its path with --draft-model"
                    .to_owned()
            }
        };
        Err(Failure::usage(message))
    }
}

/// Generates all texts again. Texts with the same prompt decode together.
fn replayed(
    engine: &mut Engine,
    then: &[Generation],
    models: &RunModels,
    console: &mut Console,
) -> Vec<Generation> {
    let mut requests: Vec<Request> = Vec::new();
    for (id, text) in (0..).map(GenerationId).zip(then) {
        let pane = PaneRequest {
            id,
            config: text.config.clone(),
            model: models.other_source(text).cloned(),
            continuation: replay_of(text),
        };
        let same = requests.iter_mut().find_map(|request| match request {
            Request::Continue { prompt, panes } if prompt.tokens == text.prompt.tokens => {
                Some(panes)
            }
            _ => None,
        });
        match same {
            Some(panes) => panes.push(pane),
            None => requests.push(Request::Continue {
                prompt: text.prompt.clone(),
                panes: vec![pane],
            }),
        }
    }
    let now = then.iter().map(|text| {
        let source = models.other_source(text);
        let (info, vocabulary) = engine.model_of(source);
        let second = engine.second_for(&text.config.chain);
        text.clone().begin_again(TextModels {
            model: Arc::clone(info),
            second_model: second.filter(|_| source.is_none()),
            vocabulary: Arc::clone(vocabulary),
        })
    });
    let now = now.collect();
    engine.run(requests, now, console)
}

/// Fails if a text could not be generated again.
fn check_completed(report: &Report) -> Result<(), Failure> {
    let texts = report.then.iter().zip(&report.now);
    for (place, (then, now)) in report.verdict.all_places().zip(texts) {
        if let Some(FinishReason::Failed { error }) = &now.finish
            && then.finish != now.finish
        {
            let message = format!("{place} can’t be replayed: {error}");
            return Err(Failure::usage(message));
        }
    }
    Ok(())
}
