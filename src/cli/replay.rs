//! `quartet replay`: repeats a recorded run and compares it with its record.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use super::console;
use super::count::at_least_one;
use super::device::DeviceArgument;
use super::export_style::PictureArguments;
use super::failure::Failure;
use super::files::{check_file, write_file};
use super::model::{DraftModelArgument, model_parser};
use super::named_value::parse_by_name;
use super::pane_run::{Console, Engine, SIGNAL_PAUSE};
use super::replay_json;
use super::replay_models::RunModels;
use super::replay_report::{RepeatedRun, Report, RunPlaces};
use crate::analysis::replay::{SecondNeeded, WordsCheck, replay_of};
use crate::export::json::{RunFile, by_place};
use crate::export::read_run;
use crate::generation::{
    FinishReason, Generation, GenerationId, ModelInfo, PromptCheck, PromptRecord, TextModels,
};
use crate::plots::VerifiedData;
use crate::state::{PictureFormat, PictureStyle, recorded_formats};
use crate::ui::pictures::{Look, caption, dated, encode, verified_drawing};
use crate::worker::{
    CacheType, ComputeChoice, Event, InputBits, ModelSource, PaneRequest, Precision, Request,
};

/// What the exit status means, and the fields of the verdict as JSON.
const HELP: &str = "\
Exit status:
  0  the same: all tokens, and all numbers if they were computed in the same way. Tokens that the
     settings did not choose (by hand, typed, scored, by a server) are counted
  1  different: a token, a number that was computed in the same way, or another model, tokenizer or
     template than the file names without --other-model
  2  the run can’t be replayed
  3  the file contradicts itself. It wins over 1 and 2, and as far as possible it is found before
     the model is loaded

Fields of --json:
  verdict, exit_status, result     The sentence, the status, and its kind: identical, same_tokens,
                                   different, contradiction or not_replayed
  n_tokens, n_chosen, n_given      How many tokens there are, how many the settings chose, and how
                                   many were given by_hand, scored or by_server
  same                             Whether model, second_model, tokenizer and template are the
                                   file’s
  contradiction                    The first: pane or branch, turn, token, about, statement
  first_difference                 The first different token: pane, turn, token, then, now, logit_gap
  panes                            The same counts for each pane, then for the turns before them,
                                   each with its turn in a conversation, words, same_tokens,
                                   identical, computed_alike, different_tokens,
                                   largest_difference, difference_of and n_whole_rows
  not_covered                      What was not verified
  cause, findings, facts           What explains a difference, and what was compared";

/// The arguments of `quartet replay`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Arguments {
    /// A run file
    #[arg(value_name = "FILE")]
    run: PathBuf,

    /// The model’s file or folder; not needed for the built-in model. Repeat it for a run with
    /// texts of several models
    #[arg(long = "model", value_name = "PATH", value_parser = model_parser())]
    models: Vec<PathBuf>,

    #[command(flatten)]
    draft_model: DraftModelArgument,

    #[command(flatten)]
    device: DeviceArgument,

    /// Number of CPU threads; by default as in the run
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    threads: Option<NonZeroUsize>,

    /// Number format of GPU computation; by default as in the run
    #[arg(long, value_name = "FORMAT", value_parser = parse_by_name(Precision::ALL, Precision::name))]
    precision: Option<Precision>,

    /// Number format of the KV cache; by default as in the run
    #[arg(long, value_name = "FORMAT", value_parser = parse_by_name(CacheType::ALL, CacheType::name))]
    cache: Option<CacheType>,

    /// Bits that the inputs of quantized weights are rounded to on the CPU; by default as in the
    /// run
    #[arg(long, value_name = "BITS", value_parser = parse_by_name(InputBits::ALL, InputBits::name))]
    inputs: Option<InputBits>,

    /// Replay with another model, tokenizer or template than the file names, and compare the texts
    #[arg(long)]
    other_model: bool,

    /// Print the verdict as JSON: its sentence, exit status, counts, and everything that was compared
    #[arg(long)]
    json: bool,

    /// Also draw what was proven about each token, or how far apart the logits are at each token if
    /// they differ, as a .pdf, .svg or .png file
    #[arg(long, value_name = "FILE", value_parser = picture_path)]
    picture: Option<PathBuf>,

    #[command(flatten)]
    pictures: PictureArguments,
}

/// Runs `quartet replay`. Whatever keeps the run from being replayed is a usage error, whose exit
/// code is 2.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let report = match drawn(arguments) {
        Err(Failure::Usage(error)) if arguments.json => {
            console::error(&error);
            console::print(&replay_json::failure(&error))?;
            return Err(Failure::Status(2));
        }
        report => report?,
    };
    console::print(&report.bytes(arguments.json))?;
    match report.verdict.exit_status() {
        0 => Ok(()),
        status => Err(Failure::Status(status)),
    }
}

/// Replays the run, and draws the result if a picture is wanted.
fn drawn(arguments: &Arguments) -> Result<Report, Failure> {
    if let Some(path) = &arguments.picture {
        check_file(path).map_err(Failure::usage)?;
    }
    let report = replay(arguments)?;
    if let Some(path) = &arguments.picture {
        write_picture(path, &report, arguments.pictures.style()).map_err(Failure::usage)?;
    }
    Ok(report)
}

/// Reads the run and generates it again.
fn replay(arguments: &Arguments) -> Result<Report, Failure> {
    let path = arguments.run.display();
    let then = read_run(&arguments.run)
        .map_err(|error| Failure::usage(format!("{error}\nFile: {path}")))?;
    let finished_at = then.header.finished_at;
    let report = repeat(arguments, then)?;
    Ok(Report {
        finished_at,
        ..report
    })
}

/// Generates the run again, unless its file contradicts itself.
fn repeat(arguments: &Arguments, then: RunFile) -> Result<Report, Failure> {
    let contradiction = then.contradiction.clone();
    let has_branches = !then.branches.is_empty();
    let (then, places) = texts_of(then);
    if let Some(found) = contradiction {
        return Ok(Report::contradicted(then, &places, found));
    }
    let needed = SecondNeeded::by(&then);
    let loads_second = arguments.check_second(&needed)?;
    let mut models = RunModels::of(&then, &arguments.models)?;
    let mut console = Console::quiet();
    let mut engine = arguments.engine(&models, &mut console)?;
    models.match_hashes(&engine);
    models.check_vocabularies(&engine)?;
    if loads_second {
        let loaded = arguments.draft_model.load(&mut engine, &mut console);
        loaded.map_err(Failure::into_usage)?;
    }
    let words = check_words(&mut engine, &then, &models, &console);
    let now = replayed(engine, &then, &models, &mut console);
    if console.interrupt.is_raised() {
        return Err(Failure::Interrupted);
    }
    let report = Report::new(RepeatedRun {
        then,
        now,
        places,
        words,
        allows_others: arguments.other_model,
        has_branches,
    });
    check_completed(&report)?;
    Ok(report)
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
    /// Loads all models of the run, the first of them as the main one.
    fn engine(&self, models: &RunModels, console: &mut Console) -> Result<Engine, Failure> {
        let mut models = models.iter();
        let Some(main) = models.next() else {
            return Err(Failure::usage("this run has no texts"));
        };
        let choice = self.compute(&main.then);
        let mut engine =
            Engine::load(main.source.clone(), choice, console).map_err(Failure::into_usage)?;
        for model in models {
            let choice = self.compute(&model.then);
            engine.worker.send(Request::SetCompute(choice));
            let loaded = engine.load_pane_model(&model.source, console);
            loaded.map_err(Failure::into_usage)?;
        }
        Ok(engine)
    }

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
    mut engine: Engine,
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

/// Accepts the path of a picture, whose extension determines its format.
fn picture_path(path: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(path);
    match picture_format(&path) {
        Some(_) => Ok(path),
        None => Err("a picture is a .pdf, an .svg or a .png file".to_owned()),
    }
}

fn picture_format(path: &Path) -> Option<PictureFormat> {
    let extension = path.extension()?;
    let mut formats = PictureFormat::ALL.into_iter();
    formats.find(|format| extension.eq_ignore_ascii_case(format.extension()))
}

/// Draws what a replay proved, or how far its numbers are from the recorded ones.
fn write_picture(path: &Path, report: &Report, style: PictureStyle) -> Result<(), String> {
    let n_panes = report.verdict.places().len();
    let then: Vec<&Generation> = report.then.iter().take(n_panes).collect();
    let now: Vec<&Generation> = report.now.iter().take(n_panes).collect();
    let data = VerifiedData::of(&report.verdict, &then, &now);
    let look = Look {
        style,
        ..Look::default()
    };
    let panes = by_place(report.verdict.places().iter().copied().zip(then));
    let caption = dated(&caption(&panes), report.finished_at);
    let drawing = verified_drawing(&data, report.cause().as_deref(), &caption, look);
    let format = picture_format(path).unwrap_or(PictureFormat::Svg);
    let bytes = encode(&drawing, format, look.style).map_err(|error| error.to_string())?;
    write_file(path, &bytes)
}
