//! Writes the result of one of the Lab's commands: as a report, JSON, CSV or pictures.

use std::path::{Path, PathBuf};

use clap::Args;

use super::export_style::ExportStyleArguments;
use super::failure::Failure;
use super::files::{NewFolder, check_file, export_folder, new_folder};
use super::outputs::{OutputFile, check_outputs, write_outputs};
use crate::export::{dated_json, dated_table};
use crate::state::{PictureFormat, PictureStyle, unix_time_secs};
use crate::ui::pictures::encode;

/// The arguments that say where the result goes.
#[derive(Debug, Args)]
pub(crate) struct OutputArguments {
    /// Write everything to this file as JSON; `-` writes it to standard output instead of the report
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Write the table to this file as CSV; `-` writes it to standard output instead of the report
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    /// Export everything to this folder: the JSON, the table, and the picture as PDF, SVG and PNG
    #[arg(long, value_name = "FOLDER")]
    export: Option<PathBuf>,

    #[command(flatten)]
    style: ExportStyleArguments,
}

/// A result in every format. Its files get the date of now.
pub(crate) struct Output<'a> {
    /// The base name of the exported files.
    pub name: &'a str,
    pub report: &'a str,
    pub json: &'a [u8],
    pub csv: &'a [u8],
    /// Draws the picture as SVG.
    pub drawing: &'a dyn Fn(PictureStyle) -> String,
}

impl OutputArguments {
    /// Fails early if the files can't be written, before the model is loaded. Returns the
    /// export folder if it was missing. `name` is the base name of the exported files.
    pub(crate) fn check(&self, name: &str) -> Result<Option<NewFolder>, Failure> {
        let mut new = None;
        if let Some(folder) = &self.export {
            new = new_folder(folder).map_err(Failure::run)?;
            check_file(&folder.join(format!("{name}.json"))).map_err(Failure::run)?;
        }
        check_outputs([
            ("--json", self.json.as_deref()),
            ("--csv", self.csv.as_deref()),
        ])?;
        Ok(new)
    }

    /// Prints the report and writes the files. A failure of one output does not prevent the others.
    pub(crate) fn write(&self, output: &Output<'_>) -> Result<(), Failure> {
        let finished_at = unix_time_secs();
        let json = dated_json(output.json.to_vec(), finished_at);
        let csv = dated_table(output.csv, finished_at);
        let output = &Output {
            json: &json,
            csv: &csv,
            ..*output
        };
        let files = [
            OutputFile {
                path: self.json.as_deref(),
                render: &|| output.json.to_vec(),
            },
            OutputFile {
                path: self.csv.as_deref(),
                render: &|| self.style.csv_reader().table(output.csv.to_vec()),
            },
        ];
        let folder = self.export.as_deref();
        let style = self.style;
        let export = folder.map(|folder| move || export(folder, output, style));
        let export = export.as_ref().map(|export| export as &dyn Fn() -> _);
        write_outputs(&files, || output.report.to_owned(), export)
    }
}

/// Writes the JSON, the table and the picture: all files or none.
fn export(folder: &Path, output: &Output<'_>, style: ExportStyleArguments) -> Result<(), String> {
    let name = output.name;
    let mut files = vec![
        (format!("{name}.json"), output.json.to_vec()),
        (
            format!("{name}.csv"),
            style.csv_reader().table(output.csv.to_vec()),
        ),
    ];
    let style = style.pictures.style();
    let drawing = (output.drawing)(style);
    for format in PictureFormat::ALL {
        let bytes = encode(&drawing, format, style).map_err(|error| error.to_string())?;
        files.push((format!("{name}.{}", format.extension()), bytes));
    }
    export_folder(folder, "the result", &files)
}
