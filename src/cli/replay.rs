//! `quartet replay`: repeats a recorded run and compares it with its record.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use super::console;
use super::count::at_least_one;
use super::device::DeviceArgument;
use super::failure::Failure;
use super::files::{check_file, write_file};
use super::model::DraftModelArgument;
use super::named_value::parse_by_name;
use super::pane_run::{Console, Engine};
use super::replay_models::RunModels;
use crate::analysis::replay::{
    Difference, Fact, Models, SecondNeeded, TextReplay, Verdict, facts_of_all, likely_cause,
    logit_gap, replay_of,
};
use crate::decoding::TokenId;
use crate::export::read_run;
use crate::generation::formatting::{pane_letter, quoted};
use crate::generation::{FinishReason, Generation, GenerationId, ModelInfo, Steps};
use crate::plots::GapData;
use crate::state::{PictureFormat, recorded_formats};
use crate::ui::pictures::{Palette, View, encode, gap_drawing};
use crate::worker::{CacheType, ComputeChoice, InputBits, PaneRequest, Precision, Request};

/// The arguments of `quartet replay`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 if all tokens are the same, 1 if a token differs, 2 if the \
                        run can't be replayed."
)]
pub(super) struct Arguments {
    /// A run file
    #[arg(value_name = "FILE")]
    run: PathBuf,

    /// The model's file or folder; not needed for the built-in model. Repeat it for a run with
    /// texts of several models
    #[arg(long = "model", value_name = "PATH")]
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

    /// Also draw how far apart the logits are at each token, as an .svg or .png file
    #[arg(long, value_name = "FILE", value_parser = picture_path)]
    picture: Option<PathBuf>,
}

/// Runs `quartet replay`. Whatever keeps the run from being replayed is a usage error, whose exit
/// code is 2.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(path) = &arguments.picture {
        check_file(path).map_err(Failure::usage)?;
    }
    let path = arguments.run.display();
    let then = read_run(&arguments.run)
        .map_err(|error| Failure::usage(format!("{error}\nFile: {path}")))?;
    let needed = SecondNeeded::by(&then.panes);
    let loads_second = arguments.check_second(&needed)?;
    let mut models = RunModels::of(&then.panes, &arguments.models)?;
    let mut console = Console::quiet();
    let mut engine = arguments.engine(&models, &mut console)?;
    models.match_hashes(&engine);
    models.check_vocabularies(&engine)?;
    if loads_second {
        let loaded = arguments.draft_model.load(&mut engine, &mut console);
        loaded.map_err(Failure::into_usage)?;
    }
    let second = engine
        .second
        .clone()
        .filter(|_| needed != SecondNeeded::None);
    let now = replayed(engine, &then.panes, &models, &mut console);
    if console.interrupt.is_raised() {
        return Err(Failure::Interrupted);
    }
    check_completed(&then.panes, &now)?;
    let pairs = then.panes.iter().zip(&now).map(|(then, now)| {
        let then = Models {
            model: &then.model,
            second: needed.named(),
        };
        let now = Models {
            model: &now.model,
            second: second.as_deref(),
        };
        (then, now)
    });
    let facts = facts_of_all(&pairs.collect::<Vec<_>>());
    let report = Report::new(&then.panes, &now, facts);
    console::print(report.text(&then.panes, &now).as_bytes())?;
    if let Some(path) = &arguments.picture {
        write_picture(path, &report, &then.panes, &now).map_err(Failure::usage)?;
    }
    if report.verdict.has_same_tokens() {
        Ok(())
    } else {
        Err(Failure::Reported)
    }
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
            (SecondNeeded::Unnamed, None) => "this run also needs its second model, which an early \
                                              version did not record: pass its path with --draft-model"
                .to_owned(),
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
        Generation {
            model: Arc::clone(info),
            second_model: second.filter(|_| source.is_none()),
            vocabulary: Arc::clone(vocabulary),
            steps: Steps::default(),
            finish: None,
            grammar_complete: None,
            beams: Arc::default(),
            ..text.clone()
        }
    });
    let now = now.collect();
    engine.run(requests, now, console)
}

/// Fails if a text could not be generated again.
fn check_completed(then: &[Generation], now: &[Generation]) -> Result<(), Failure> {
    for (place, (then, now)) in then.iter().zip(now).enumerate() {
        if let Some(FinishReason::Failed { error }) = &now.finish
            && then.finish != now.finish
        {
            let letter = pane_letter(place);
            let message = format!("pane {letter} can't be replayed: {error}");
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
        None => Err("a picture is an .svg or a .png file".to_owned()),
    }
}

fn picture_format(path: &Path) -> Option<PictureFormat> {
    let extension = path.extension()?;
    let mut formats = PictureFormat::ALL.into_iter();
    formats.find(|format| extension.eq_ignore_ascii_case(format.extension()))
}

/// Draws how far the logits of a replay are from the recorded ones.
fn write_picture(
    path: &Path,
    report: &Report,
    then: &[Generation],
    now: &[Generation],
) -> Result<(), String> {
    let data = GapData::of(&report.verdict, &report.texts, then.iter().zip(now));
    let view = View {
        palette: Palette::Light,
        ..View::default()
    };
    let panes: Vec<Option<&Generation>> = then.iter().map(Some).collect();
    let drawing = gap_drawing(&data, report.cause().as_deref(), &panes, view);
    let format = picture_format(path).unwrap_or(PictureFormat::Svg);
    let bytes = encode(&drawing, format, view.style).map_err(|error| error.to_string())?;
    write_file(path, &bytes)
}

/// The result of a replay.
struct Report {
    texts: Vec<TextReplay>,
    verdict: Verdict,
    facts: Vec<Fact>,
}

impl Report {
    fn new(then: &[Generation], now: &[Generation], facts: Vec<Fact>) -> Self {
        let pairs = then.iter().zip(now);
        let texts: Vec<TextReplay> = pairs.map(|(then, now)| TextReplay::of(then, now)).collect();
        Self {
            verdict: Verdict::of(&texts),
            texts,
            facts,
        }
    }

    /// Explains a difference, or returns `None` if there is none.
    fn cause(&self) -> Option<String> {
        (self.verdict != Verdict::Identical).then(|| likely_cause(&self.facts))
    }

    fn text(&self, then: &[Generation], now: &[Generation]) -> String {
        let mut lines = vec![self.verdict.to_string()];
        lines.extend(self.cause());
        lines.push(String::new());
        let texts = self.texts.iter().zip(then.iter().zip(now)).enumerate();
        for (place, (replay, (then, now))) in texts {
            let letter = pane_letter(place);
            let n_tokens = then.steps.len();
            let result = match replay.first_difference {
                Some(difference) => difference_words(difference, then, now),
                None if replay.is_identical => "identical".to_owned(),
                None => "same tokens".to_owned(),
            };
            let gap = match replay.largest_gap() {
                0.0 => String::new(),
                gap => format!(", logits differ by up to {}", logit_gap(gap)),
            };
            let name = &then.name;
            lines.push(format!("{letter} {name}, {n_tokens} tokens: {result}{gap}"));
        }
        lines.push(String::new());
        for fact in &self.facts {
            let (name, then, now) = (fact.name, &fact.then, &fact.now);
            let values = match (fact.differs(), then.is_empty(), now.is_empty()) {
                (true, ..) => format!("{then} then, {now} now"),
                (false, true, _) => format!("not recorded then, {now} now"),
                (false, _, true) => format!("{then} then, unknown now"),
                (false, false, false) => format!("{now}, same"),
            };
            lines.push(format!("{name:<13} {values}"));
        }
        console::escape_control(&(lines.join("\n") + "\n"))
    }
}

/// Formats a difference: "first different at token 41, ‘house’ then and ‘home’ now, whose logits
/// were 0.0004 apart".
fn difference_words(difference: Difference, then: &Generation, now: &Generation) -> String {
    let word = |text: &Generation, token: Option<TokenId>| {
        token.map_or("no token".to_owned(), |token| {
            quoted(&text.vocabulary.piece(token))
        })
    };
    let apart = difference.logit_gap.map_or(String::new(), |gap| {
        format!(", whose logits were {} apart", logit_gap(gap))
    });
    format!(
        "first different at token {}, {} then and {} now{apart}",
        difference.step + 1,
        word(then, difference.then),
        word(now, difference.now)
    )
}
