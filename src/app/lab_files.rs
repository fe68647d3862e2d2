//! The results of the Lab, and futures, as files.

use super::documents::{Content, Look, Render, file};
use crate::export;
use crate::export::PaneFutures;
use crate::generation::formatting::pane_letter;
use crate::lab::blind::{BlindResults, VotesRecord};
use crate::lab::cache::{CacheRecord, CacheRun, cache_drawing};
use crate::lab::fit::{FitRecord, fit_drawing};
use crate::lab::models::{ModelComparisonRecord, ModelsRun, model_comparison_drawing};
use crate::lab::prompts::BatchRun;
use crate::lab::stability::StabilityPlot;
use crate::lab::stability::stability_drawing;
use crate::lab::sweep::SweepRecord;
use crate::lab::sweep::sweep_drawing;
use crate::state::{AppState, FuturesFormat, FuturesRun, SweepFile, TableFormat, VotesFormat};
use crate::ui::futures::picture::{FuturesPicture, futures_drawing};

/// Renders the picture in its format, or the table for CSV.
fn rendered(
    format: FuturesFormat,
    look: Look,
    table: impl FnOnce() -> Vec<u8>,
    drawing: impl FnOnce() -> String,
) -> Result<Content, String> {
    match format {
        FuturesFormat::Picture(format) => look.encode(&drawing(), format),
        FuturesFormat::Csv => Ok(Content::File(table())),
    }
}

/// Returns what renders the futures of the panes that still exist.
pub(super) fn futures(state: &AppState, format: FuturesFormat, look: Look) -> Render {
    let runs = state.futures.runs().iter();
    let shown: Vec<(usize, FuturesRun)> = runs
        .filter_map(|run| Some((state.place_of(run.pane)?, run.clone())))
        .collect();
    Box::new(move || {
        let picture = FuturesPicture {
            panes: shown.iter().map(|(place, run)| (*place, run)).collect(),
        };
        rendered(
            format,
            look,
            || futures_table(&picture),
            || futures_drawing(&picture, look.palette),
        )
    })
}

fn futures_table(futures: &FuturesPicture<'_>) -> Vec<u8> {
    let panes = futures.panes.iter().map(|(place, run)| PaneFutures {
        pane: pane_letter(*place),
        plan: run.plan(),
        futures: run.futures(),
        vocabulary: &run.vocabulary,
    });
    export::render_futures(&panes.collect::<Vec<_>>())
}

/// Returns what renders the sweep on screen.
pub(super) fn sweep(state: &AppState, file: SweepFile, look: Look) -> Result<Render, String> {
    let run = state
        .lab
        .sweep
        .run
        .as_ref()
        .cloned()
        .ok_or("there is no sweep")?;
    Ok(Box::new(move || {
        let record = SweepRecord {
            results: &run.results,
            model: &run.model,
            second_model: run.second_model.as_deref(),
            prompts: &run.prompts,
            prompt_tokens: &run.prompt_tokens,
        };
        let table = match file {
            SweepFile::Picture(picture, format) => {
                let drawing = sweep_drawing(record, picture, look.palette, look.style);
                return look.encode(&drawing, format);
            }
            SweepFile::Cells => record.cells_csv(),
            SweepFile::Texts => record.texts_csv(),
            SweepFile::Json => record.json(),
        };
        Ok(Content::File(table))
    }))
}

/// Returns what renders the stability map on screen.
pub(super) fn stability(
    state: &AppState,
    format: FuturesFormat,
    look: Look,
) -> Result<Render, String> {
    let Some(run) = state.lab.stability.run.clone() else {
        return Err("there is no stability map".to_owned());
    };
    let pane = state.place_of(run.pane);
    Ok(Box::new(move || {
        let token = run.held_step().map(|step| run.token_words(step));
        let plot = StabilityPlot {
            map: &run.map,
            n_tokens: run.n_mapped(),
            token: token.as_deref(),
            pane,
            selected: None,
        };
        rendered(
            format,
            look,
            || crate::lab::stability::render_stability(&run.map),
            || stability_drawing(&run.text, plot, look.palette, look.style),
        )
    }))
}

/// Returns what renders the texts of the list of prompts.
pub(super) fn prompts(state: &AppState, format: TableFormat) -> Render {
    let batch = state.lab.prompts.run.as_ref();
    let rows = batch.map(BatchRun::rows).unwrap_or_default();
    file(move || match format {
        TableFormat::Csv => export::texts_csv(&rows),
        TableFormat::Jsonl => export::texts_jsonl(&rows),
    })
}

/// Returns what renders the fit on screen.
pub(super) fn fit(state: &AppState, format: FuturesFormat, look: Look) -> Result<Render, String> {
    let run = state.lab.fit.run.clone().ok_or("there is no fit")?;
    let base = crate::lab::fit::fit_base(state).and_then(|pane| state.place_of(pane.id));
    Ok(Box::new(move || {
        let record = FitRecord {
            fit: &run.fit,
            model: &run.model,
            vocabulary: &run.vocabulary,
        };
        rendered(
            format,
            look,
            || record.csv(),
            || fit_drawing(record, base, look.palette, look.style),
        )
    }))
}

/// Returns what renders the measurement of the KV cache on screen.
pub(super) fn cache(state: &AppState, format: FuturesFormat, look: Look) -> Result<Render, String> {
    let Some(CacheRun {
        lab: Some(lab),
        model,
        prompt,
        ..
    }) = state.lab.cache.run.clone()
    else {
        return Err("nothing was measured".to_owned());
    };
    Ok(Box::new(move || {
        let record = CacheRecord {
            lab: &lab,
            model: &model,
            prompt: &prompt,
        };
        rendered(
            format,
            look,
            || record.csv(),
            || cache_drawing(record, look.palette, look.style),
        )
    }))
}

/// Returns what renders the comparison of two models.
pub(super) fn models(
    state: &AppState,
    format: FuturesFormat,
    look: Look,
) -> Result<Render, String> {
    let Some(ModelsRun {
        compared: Some(compared),
        text,
        ..
    }) = state.lab.models.run.clone()
    else {
        return Err("nothing was compared".to_owned());
    };
    Ok(Box::new(move || {
        let record = ModelComparisonRecord {
            compared: &compared,
            text: &text,
        };
        rendered(
            format,
            look,
            || record.csv(),
            || model_comparison_drawing(record, look.palette, look.style),
        )
    }))
}

/// Returns what renders the votes of the blind test.
pub(super) fn votes(state: &AppState, format: VotesFormat) -> Render {
    let votes = state.lab.blind.votes().to_vec();
    file(move || {
        let results = BlindResults::of(&[], &votes);
        let record = VotesRecord {
            votes: &votes,
            settings: &results.settings,
            strengths: &results.strengths,
        };
        match format {
            VotesFormat::Csv => record.csv(),
            VotesFormat::Json => record.json(),
        }
    })
}
