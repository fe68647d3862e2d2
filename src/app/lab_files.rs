//! Renders the Lab's results as files.

use crate::export::{
    self, CacheRecord, FitRecord, ModelComparisonRecord, SweepRecord, VotesRecord,
};
use crate::generation::BlindVote;
use crate::plots::StabilityPlot;
use crate::state::{
    BlindResults, CacheRun, FitRun, FuturesFormat, ModelsRun, PictureFormat, StabilityRun,
    SweepFile, SweepRun, VotesFormat,
};
use crate::ui::pictures::{
    View, cache_drawing, encode, fit_drawing, model_comparison_drawing, stability_drawing,
    sweep_drawing,
};

/// Renders the picture in its format, or the table for CSV.
fn rendered(
    format: FuturesFormat,
    view: View,
    table: impl FnOnce() -> Vec<u8>,
    drawing: impl FnOnce() -> String,
) -> Result<Vec<u8>, String> {
    let format = match format {
        FuturesFormat::Csv => return Ok(table()),
        FuturesFormat::Svg => PictureFormat::Svg,
        FuturesFormat::Png => PictureFormat::Png,
    };
    encode(&drawing(), format, view.style).map_err(|error| error.to_string())
}

/// Renders one of a sweep's files.
pub(super) fn sweep_file(run: &SweepRun, file: SweepFile, view: View) -> Result<Vec<u8>, String> {
    let record = SweepRecord {
        results: &run.results,
        model: &run.model,
        second_model: run.second_model.as_deref(),
        prompts: &run.prompts,
        prompt_tokens: &run.prompt_tokens,
    };
    match file {
        SweepFile::Picture(picture, format) => {
            let View { palette, style, .. } = view;
            let drawing = sweep_drawing(record, picture, palette, style);
            encode(&drawing, format, style).map_err(|error| error.to_string())
        }
        SweepFile::Cells => Ok(record.cells_csv()),
        SweepFile::Texts => Ok(record.texts_csv()),
        SweepFile::Json => Ok(record.json()),
    }
}

/// Renders a stability map. `place` is the index of its pane.
pub(super) fn stability_file(
    (run, place): (&StabilityRun, Option<usize>),
    format: FuturesFormat,
    view: View,
) -> Result<Vec<u8>, String> {
    let token = run.held_step().map(|step| run.token_words(step));
    let plot = StabilityPlot {
        map: &run.map,
        n_tokens: run.n_mapped(),
        token: token.as_deref(),
        pane: place,
        selected: None,
    };
    rendered(
        format,
        view,
        || export::render_stability(&run.map),
        || stability_drawing(&run.text, plot, view.palette, view.style),
    )
}

/// Renders a fit. `place` is the index of the pane that has its other settings.
pub(super) fn fit_file(
    (run, place): (&FitRun, Option<usize>),
    format: FuturesFormat,
    view: View,
) -> Result<Vec<u8>, String> {
    let record = FitRecord {
        fit: &run.fit,
        model: &run.model,
        vocabulary: &run.vocabulary,
    };
    rendered(
        format,
        view,
        || record.csv(),
        || fit_drawing(record, place, view.palette, view.style),
    )
}

/// Renders a measurement of the KV cache.
pub(super) fn cache_file(
    run: &CacheRun,
    format: FuturesFormat,
    view: View,
) -> Result<Vec<u8>, String> {
    let Some(lab) = &run.lab else {
        return Err("nothing was measured".to_owned());
    };
    let record = CacheRecord {
        lab,
        model: &run.model,
        prompt: &run.prompt,
    };
    rendered(
        format,
        view,
        || record.csv(),
        || cache_drawing(record, view.palette, view.style),
    )
}

/// Renders a comparison of two models.
pub(super) fn models_file(
    run: &ModelsRun,
    format: FuturesFormat,
    view: View,
) -> Result<Vec<u8>, String> {
    let Some(compared) = &run.compared else {
        return Err("nothing was compared".to_owned());
    };
    let text = &run.text;
    let record = ModelComparisonRecord { compared, text };
    rendered(
        format,
        view,
        || record.csv(),
        || model_comparison_drawing(record, view.palette, view.style),
    )
}

/// Renders the votes of a blind test.
pub(super) fn votes_file(votes: &[BlindVote], format: VotesFormat) -> Vec<u8> {
    let results = BlindResults::of(&[], votes);
    let record = VotesRecord {
        votes,
        settings: &results.settings,
        strengths: &results.strengths,
    };
    match format {
        VotesFormat::Csv => record.csv(),
        VotesFormat::Json => record.json(),
    }
}
