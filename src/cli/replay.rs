//! `quartet replay`: repeats a recorded run and compares it with its record.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;

use super::count::at_least_one;
use super::device::DeviceArgument;
use super::export_style::PictureArguments;
use super::failure::Failure;
use super::files::{check_file, write_file};
use super::model::{DraftModelArgument, model_parser};
use super::named_value::parse_by_name;
use super::replay_report::Report;
use super::replayer::Replayer;
use super::{console, replay_json, replay_set};
use crate::export::json::by_place;
use crate::generation::Generation;
use crate::plots::VerifiedData;
use crate::state::{PictureFormat, PictureStyle};
use crate::ui::pictures::{Look, caption, dated, encode, verified_drawing};
use crate::worker::{CacheType, InputBits, Precision};

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
  Of several runs, the highest

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
  cause, findings, facts           What explains a difference, and what was compared

Fields of --json for several runs:
  verdict, exit_status             The sentence, and the highest status
  n_runs, n_same                   How many runs there are, and how many have the same tokens
  runs                             For each run: file, and of the fields above verdict, exit_status,
                                   result, n_tokens, n_chosen and first_difference, or error";

/// The arguments of `quartet replay`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Arguments {
    /// A run file. Several files, or folders with run files, are replayed one after the other, each
    /// with a line; at most 10,000
    #[arg(value_name = "FILE", required = true)]
    runs: Vec<PathBuf>,

    /// The model’s file or folder; not needed for the built-in model. Repeat it for a run with
    /// texts of several models
    #[arg(long = "model", value_name = "PATH", value_parser = model_parser())]
    pub(super) models: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) draft_model: DraftModelArgument,

    #[command(flatten)]
    pub(super) device: DeviceArgument,

    /// Number of CPU threads; by default as in the run
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(super) threads: Option<NonZeroUsize>,

    /// Number format of GPU computation; by default as in the run
    #[arg(long, value_name = "FORMAT", value_parser = parse_by_name(Precision::ALL, Precision::name))]
    pub(super) precision: Option<Precision>,

    /// Number format of the KV cache; by default as in the run
    #[arg(long, value_name = "FORMAT", value_parser = parse_by_name(CacheType::ALL, CacheType::name))]
    pub(super) cache: Option<CacheType>,

    /// Bits that the inputs of quantized weights are rounded to on the CPU; by default as in the
    /// run
    #[arg(long, value_name = "BITS", value_parser = parse_by_name(InputBits::ALL, InputBits::name))]
    pub(super) inputs: Option<InputBits>,

    /// Replay with another model, tokenizer or template than the file names, and compare the texts
    #[arg(long)]
    pub(super) other_model: bool,

    /// Print the verdict as JSON: its sentence, exit status, counts, and everything that was compared.
    /// For several runs, a summary of each
    #[arg(long)]
    pub(super) json: bool,

    /// Write the results of several runs as a table
    #[arg(long, value_name = "FILE")]
    pub(super) csv: Option<PathBuf>,

    /// Also draw what was proven about each token, or how far apart the logits are at each token if
    /// they differ, as a .pdf, .svg or .png file. For several runs, draw a strip for each
    #[arg(long, value_name = "FILE", value_parser = picture_path)]
    pub(super) picture: Option<PathBuf>,

    #[command(flatten)]
    pub(super) pictures: PictureArguments,
}

/// Runs `quartet replay`. Whatever keeps the run from being replayed is a usage error, whose exit
/// code is 2.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let path = match arguments.runs.as_slice() {
        [path] if !path.is_dir() => path,
        paths => return replay_set::run(arguments, paths),
    };
    if arguments.csv.is_some() {
        return Err(Failure::usage("--csv is for several runs"));
    }
    let report = match drawn(arguments, path) {
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
fn drawn(arguments: &Arguments, run: &Path) -> Result<Report, Failure> {
    if let Some(path) = &arguments.picture {
        check_file(path).map_err(Failure::usage)?;
    }
    let report = Replayer::new(arguments).replay(run)?;
    if let Some(path) = &arguments.picture {
        write_picture(path, &report, arguments.pictures.style()).map_err(Failure::usage)?;
    }
    Ok(report)
}

/// Accepts the path of a picture, whose extension determines its format.
fn picture_path(path: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(path);
    match picture_format(&path) {
        Some(_) => Ok(path),
        None => Err("a picture is a .pdf, an .svg or a .png file".to_owned()),
    }
}

pub(super) fn picture_format(path: &Path) -> Option<PictureFormat> {
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
