//! The files and tables that a sweep writes.

use std::path::Path;

use super::Arguments;
use super::run::Swept;
use super::table::tables;
use crate::analysis::sweep::{Metric, SweepResults};
use crate::cli::console;
use crate::cli::export_style::ExportStyleArguments;
use crate::cli::failure::Failure;
use crate::cli::files::{NewFolder, check_file, export_folder, new_folder};
use crate::cli::outputs::{OutputFile, check_outputs, write_outputs};
use crate::export::{dated_json, dated_table};
use crate::generation::ModelInfo;
use crate::generation::formatting::{counted, speed};
use crate::lab::sweep::SweepRecord;
use crate::lab::sweep::picture::{sweep_drawing, sweep_pictures};
use crate::state::{PictureFormat, unix_time_secs};
use crate::ui::pictures::{Look, encode};

impl Arguments {
    /// Fails early if the output files can't be written, before the model is loaded. Returns the
    /// export folder if it was missing.
    pub(super) fn check_output(&self) -> Result<Option<NewFolder>, Failure> {
        let mut new = None;
        if let Some(folder) = &self.export {
            new = new_folder(folder).map_err(Failure::run)?;
            check_file(&folder.join("sweep.json")).map_err(Failure::run)?;
        }
        check_outputs([
            ("--json", self.json.as_deref()),
            ("--csv", self.csv.as_deref()),
        ])?;
        Ok(new)
    }

    /// Prints the tables and writes the files. A failure of one output does not prevent the others.
    /// A sweep without texts overwrites no files.
    pub(super) fn output(
        &self,
        swept: &Swept,
        (info, second): (&ModelInfo, Option<&ModelInfo>),
    ) -> Result<(), Failure> {
        if swept.results.n_texts() == 0 {
            return Ok(());
        }
        let record = SweepRecord {
            results: &swept.results,
            model: info,
            second_model: second.filter(|_| swept.results.setup.base.is_guided_by_model()),
            prompts: &swept.prompts,
            prompt_tokens: &swept.prompt_tokens,
        };
        console::note(&summary(swept));
        let finished_at = unix_time_secs();
        let reader = self.style.csv_reader();
        let table = |table: Vec<u8>| reader.table(dated_table(&table, finished_at));
        let outputs = [
            OutputFile {
                path: self.json.as_deref(),
                render: &|| dated_json(record.json(), finished_at),
            },
            OutputFile {
                path: self.csv.as_deref(),
                render: &|| table(record.cells_csv()),
            },
        ];
        let folder = self.export.as_deref();
        let style = self.style;
        let export = folder.map(|folder| move || export(folder, record, style, finished_at));
        let export = export.as_ref().map(|export| export as &dyn Fn() -> _);
        let shown = self.shown(&swept.results);
        write_outputs(&outputs, || tables(&swept.results, &shown), export)
    }

    /// Returns the figures to print. With a grammar, they include how many texts are complete.
    fn shown(&self, results: &SweepResults) -> Vec<Metric> {
        let mut shown = self.show.clone();
        if results.setup.base.grammar.is_some() && !shown.contains(&Metric::Complete) {
            shown.push(Metric::Complete);
        }
        shown
    }
}

/// Formats a summary: "48 cells, 384 texts, 24,576 tokens in 12.1 s, 2,031 tokens per second".
fn summary(swept: &Swept) -> String {
    let results = &swept.results;
    let (done, all) = (results.n_complete_cells(), results.cells().len());
    let cells = if done == all {
        counted(all, "cell")
    } else {
        format!("{done} of {}", counted(all, "cell"))
    };
    let n_tokens = swept.progress.n_tokens as f64;
    format!(
        "{cells}, {}, {} in {:.1} s, {} tokens per second",
        counted(results.n_texts(), "text"),
        counted(swept.progress.n_tokens, "token"),
        swept.progress.secs,
        speed(n_tokens / swept.progress.secs.max(1e-9)),
    )
}

/// Writes the record, the tables and the pictures: all files or none.
fn export(
    folder: &Path,
    record: SweepRecord<'_>,
    style: ExportStyleArguments,
    finished_at: u64,
) -> Result<(), String> {
    let reader = style.csv_reader();
    let table = |table: Vec<u8>| reader.table(dated_table(&table, finished_at));
    let mut files = vec![
        (
            "sweep.json".to_owned(),
            dated_json(record.json(), finished_at),
        ),
        ("cells.csv".to_owned(), table(record.cells_csv())),
        ("texts.csv".to_owned(), table(record.texts_csv())),
    ];
    let style = style.pictures.style();
    for (name, picture) in sweep_pictures(record.results) {
        let drawing = sweep_drawing(record, picture, Look::of_command(style));
        for format in PictureFormat::ALL {
            let bytes = encode(&drawing, format, style).map_err(|error| error.to_string())?;
            files.push((format!("{name}.{}", format.extension()), bytes));
        }
    }
    export_folder(folder, "the sweep", &files)
}
